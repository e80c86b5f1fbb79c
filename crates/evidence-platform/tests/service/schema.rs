//! A database that a newer program has migrated, and a database behind a pooler.

use std::time::{Duration, Instant};

use evidence_platform::error::Error;
use evidence_platform::service::Settings;
use evidence_platform::store::{DatabaseUrl, Store};
use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::support::steps::up_to;
use crate::support::{Place, bundles, principal, tenant, upload};

#[tokio::test]
async fn a_newer_schema_is_no_obstacle_where_it_says_so() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, _) = place.open(Settings::default()).await;
        service.close().await;
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        // The state that a newer program leaves.
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

/// Bundles from before they used the id of their manifest. If two bundles of an organization share it, both keep their
/// names.
#[tokio::test]
async fn stored_bundles_get_the_id_of_their_manifest() {
    for place in Place::all().await {
        println!("{}", place.name);
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        up_to(place.name.starts_with("PostgreSQL"), 4).run(&pool).await.unwrap();
        let run = async |sql: String| sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await;
        for (id, organization, manifest_id) in
            [("p1", "a", "m1"), ("p2", "a", "twice"), ("p3", "a", "twice"), ("p4", "b", "m1")]
        {
            run(format!(
                "INSERT INTO organizations VALUES ('{organization}', '{organization}', '', 0) ON CONFLICT DO NOTHING"
            ))
            .await
            .unwrap();
            run(format!(
                "INSERT INTO bundles VALUES ('{id}', '{organization}', '{id}', 7, '{manifest_id}', 's', 'f', 1, 2, 'k', \
                 'key', 'facts of {id}', 'tags', 3, 1)"
            ))
            .await
            .unwrap();
        }
        Store::open(&place.database, 2).await.unwrap().close().await;

        let rows = sqlx::query("SELECT id, sha256, facts, legal_hold FROM bundles ORDER BY sha256");
        let rows = rows.fetch_all(&pool).await.unwrap();
        let text = |row: &AnyRow, column: &str| row.get::<String, _>(column);
        let found: Vec<_> = rows.iter().map(|row| (text(row, "sha256"), text(row, "id"))).collect();
        let wanted = [("p1", "m1"), ("p2", "p2"), ("p3", "p3"), ("p4", "m1")];
        assert_eq!(found, wanted.map(|(from, to)| (from.to_owned(), to.to_owned())));
        assert!(rows.iter().all(|row| text(row, "facts") == format!("facts of {}", text(row, "sha256"))));
        assert!(rows.iter().all(|row| row.get::<i64, _>("legal_hold") == 1));
        // A stored bundle cannot be changed, as before.
        assert!(run("UPDATE bundles SET id = 'other' WHERE id = 'p2'".to_owned()).await.is_err());
    }
}

/// How many bundles an upgrade is tried with; `EVIDENCE_UPGRADE=50000` for the full size.
const UPGRADED: u32 = 20_000;
/// Statements that are quadratic in the number of bundles take minutes.
const SOON: Duration = Duration::from_secs(30);

/// Half of the bundles have an id of their own, the others share one: both were slow.
#[tokio::test]
async fn an_upgrade_takes_time_in_proportion_to_the_bundles() {
    let count = std::env::var("EVIDENCE_UPGRADE").map_or(UPGRADED, |text| text.parse().unwrap());
    for place in Place::all().await {
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        let postgres = place.name.starts_with("PostgreSQL");
        up_to(postgres, 4).run(&pool).await.unwrap();
        let run = async |sql: String| sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();
        run("INSERT INTO organizations VALUES ('a', 'a', '', 0)".to_owned()).await;
        run(format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO bundles SELECT 'p' || i, 'a', 'sha' || i, 7, \
             CASE WHEN i % 2 = 0 THEN 'm' || i ELSE 'shared' END, 's', 'f', i, i, 'k', 'key', '{facts}', '{{}}', 3, 1 FROM n",
            facts = "x".repeat(2_000)
        ))
        .await;
        // A statement that waits longer than a request may: for a lock here, which costs no time on a large table.
        let locked = Duration::from_secs(32);
        let lock = if postgres {
            let mut lock = pool.begin().await.unwrap();
            sqlx::raw_sql("LOCK TABLE bundles").execute(&mut *lock).await.unwrap();
            Some(tokio::spawn(async move {
                tokio::time::sleep(locked).await;
                lock.rollback().await.unwrap();
            }))
        } else {
            None
        };
        let begun = Instant::now();
        Store::open(&place.database, 2).await.unwrap().close().await;
        let took = begun.elapsed() - if lock.is_some() { locked } else { Duration::ZERO };
        println!("{}: {count} bundles in {took:?}", place.name);
        assert!(took < SOON, "{}: {took:?}", place.name);
        let changed = sqlx::query("SELECT COUNT(*) AS n FROM bundles WHERE id LIKE 'm%'")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(changed.get::<i64, _>("n"), i64::from(count / 2));
    }
}

/// The text of the fifth migration before it was linear, with the same result.
#[tokio::test]
async fn a_database_that_an_earlier_text_of_a_migration_made_is_used() {
    for place in Place::all().await {
        Store::open(&place.database, 2).await.unwrap().close().await;
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        let text = if place.name.starts_with("PostgreSQL") { "db7deea1" } else { "150dc71f" };
        let earlier = include_str!("../../src/store/schema.rs");
        let from = earlier.find(text).unwrap();
        let earlier = hex::decode(&earlier[from..from + 96]).unwrap();
        let set = async |checksum: Vec<u8>| {
            let set = sqlx::query("UPDATE _sqlx_migrations SET checksum = $1 WHERE version = 5");
            set.bind(checksum).execute(&pool).await.unwrap();
        };
        set(earlier).await;
        Store::open(&place.database, 2).await.unwrap().close().await;
        // Any other text is not known to have the same result.
        set(vec![7; 48]).await;
        let refused = Store::open(&place.database, 2).await.unwrap_err();
        assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
        assert!(refused.to_string().starts_with("migration 5 of the database has another text"), "{refused}");
    }
}

/// With a PgBouncer, which the script starts in each of its modes.
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
