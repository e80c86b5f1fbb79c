//! A database that a newer program has changed, and a pooler in front of one.

use evidence_platform::error::Error;
use evidence_platform::service::Settings;
use evidence_platform::store::{DatabaseUrl, Store};

use crate::support::{Place, bundles, principal, tenant, upload};

#[tokio::test]
async fn a_newer_schema_is_no_obstacle_where_it_says_so() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, _) = place.open(Settings::default()).await;
        service.close().await;
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        // As a newer program leaves it.
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     SELECT 99, 'newer', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1";
        sqlx::query(newer).execute(&pool).await.unwrap();
        let (service, _) = place.open(Settings::default()).await;
        let who = principal(&service, &tenant(&service, "acme").await.admin).await;
        assert!(upload(&service, &who, &bundles::bundle(1)).await.unwrap().created);
        service.close().await;

        sqlx::query("UPDATE schema_compatibility SET oldest = 98").execute(&pool).await.unwrap();
        for _ in 0..2 {
            let refused = Store::open(&place.database, 2).await.unwrap_err();
            assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
            let said = refused.to_string();
            assert!(said.contains("schema 99") && said.contains("knows schema 98 or later"), "{said}");
        }
    }
}

/// Through a PgBouncer, which the script starts in each of its modes.
#[tokio::test]
async fn a_pooler_keeps_sessions_or_is_refused_with_what_to_change() {
    for (variable, help) in [
        ("EVIDENCE_TEST_PGBOUNCER_STOCK", Some("ignore_startup_parameters = extra_float_digits")),
        ("EVIDENCE_TEST_PGBOUNCER_TRANSACTION", Some("set pool_mode = session")),
        ("EVIDENCE_TEST_PGBOUNCER_SESSION", None),
    ] {
        let Ok(url) = std::env::var(variable) else {
            crate::support::loudly(
                "SKIPPED: a pooler; ci/platform_stores.sh starts one where pgbouncer is installed",
            );
            return;
        };
        let opened = Store::open(&DatabaseUrl::postgres(&url).unwrap(), 3).await;
        match (opened, help) {
            (Err(error), Some(help)) => assert!(error.to_string().contains(help), "{variable}: {error}"),
            (Ok(store), None) => store.close().await,
            (outcome, _) => panic!("{variable}: {outcome:?}"),
        }
    }
}
