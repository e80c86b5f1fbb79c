//! Trust with dates, judged by the platform's time of receipt; keys that end; both after an upgrade.

use evidence_bundle::Reason;
use evidence_platform::error::Error;
use evidence_platform::role::Role;
use evidence_platform::secret::ApiKey;
use evidence_platform::service::{Operator, Service, Settings, Window};
use evidence_platform::store::Standing;
use evidence_platform::time::Time;
use evidence_view::Results;
use sha2::{Digest as _, Sha256};

use crate::support::steps::up_to;
use crate::support::{Place, bundles, principal, request, tenant, upload};

fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> Reason {
    match outcome {
        Err(Error::Refused { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rotating_a_key_leaves_its_history_verified() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let operator = Operator::of(&service);
        let (old, new) = (bundles::key(), bundles::other_key());
        let old_id = old.public_key().key_id().to_string();
        let verify = async |id: &str| {
            let found = service.verify(&admin, &request(), id).await.unwrap();
            (found.verified, found.reason.unwrap_or_default())
        };
        let shown = async |id: &str| {
            let bundle = service.bundle(&admin, id).await.unwrap();
            let viewer = service.viewer(&admin).await.unwrap();
            viewer.read(&admin, &bundle, Results::default()).await.is_ok()
        };
        let first = upload(&service, &admin, &bundles::bundle(1)).await.unwrap().bundle;

        // The new key counts from tomorrow, the old one until then.
        hands.advance_days(1);
        let change = Time((service.clock().now().0 / 1_000 + 86_400) * 1_000);
        let window = Window { from: Some(change), until: None };
        let pem = bundles::public_pem(&new);
        operator.add_trusted_key_within("acme", &pem, "next", window).await.unwrap();
        let changed = operator.update_trust("acme", "ci", None, Some(Some(change))).await.unwrap();
        assert_eq!((changed.outside, changed.row.valid_until), (0, Some(change)));
        let early = upload(&service, &admin, &bundles::signed(2, b"{}\n", &new)).await;
        assert_eq!(refused(early), Reason::KeyOutsideValidity);
        assert!(upload(&service, &admin, &bundles::bundle(3)).await.unwrap().created);
        assert_eq!(service.trusted_key_ids(&admin).await.unwrap(), [old_id.as_str()]);

        hands.advance_days(2);
        // Whatever time a bundle claims: these two claim the day before the change.
        let late = upload(&service, &admin, &bundles::bundle(4)).await;
        assert_eq!(refused(late), Reason::KeyOutsideValidity);
        let second = upload(&service, &admin, &bundles::signed(5, b"{}\n", &new)).await.unwrap().bundle;
        for bundle in [&first, &second] {
            assert_eq!(verify(&bundle.id).await, (true, String::new()));
        }
        let new_id = new.public_key().key_id().to_string();
        assert_eq!(service.trusted_key_ids(&admin).await.unwrap(), [new_id.as_str()]);

        // Stolen: what arrived before stays verified, what arrived since does not.
        let stolen = second.uploaded_at;
        let fingerprint = new.public_key().ssh_fingerprint();
        let changed = operator.revoke_trust("acme", &fingerprint, stolen, "stolen laptop").await.unwrap();
        assert_eq!(changed.outside, 1, "the second of receipt counts whole");
        let (verified, reason) = verify(&second.id).await;
        assert_eq!((verified, reason.as_str()), (false, "key-revoked"));
        assert!(!shown(&second.id).await && shown(&first.id).await);
        // The same bytes again are no way back in.
        let again = upload(&service, &admin, &bundles::signed(5, b"{}\n", &new)).await;
        assert_eq!(refused(again), Reason::KeyRevoked);
        let fresh = upload(&service, &admin, &bundles::signed(6, b"{}\n", &new)).await;
        assert_eq!(refused(fresh), Reason::KeyRevoked);
        // A second revocation cannot begin later.
        let later = Time(stolen.0 + 10 * 86_400_000);
        let row = operator.revoke_trust("acme", &new_id, later, "not so bad").await.unwrap().row;
        assert_eq!(row.revoked.as_ref().unwrap().0.0, stolen.0 / 1_000 * 1_000);
        assert_eq!(row.standing(Time(stolen.0 - 1_000)), Standing::Counts);
        let before = Time(first.uploaded_at.0 - 1_000);
        operator.revoke_trust("acme", "ci", before, "it was stolen long ago").await.unwrap();
        assert_eq!(verify(&first.id).await.1, "key-revoked");

        // A mistake is removed, and its history is not verified any more.
        operator.remove_trust("acme", "next").await.unwrap();
        assert_eq!(verify(&second.id).await, (false, "signature-invalid".to_owned()));
        for (outcome, said) in [
            (operator.update_trust("acme", "nothing", None, Some(None)).await, "no such trusted key"),
            (operator.revoke_trust("acme", "ci", before, " ").await, "a reason must have"),
            (
                operator.update_trust("acme", "ci", Some(Some(change)), Some(Some(Time(0)))).await,
                "end before it begins",
            ),
        ] {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let log =
            service.audit_log(&admin, &crate::PageRequest::new(None, Some(100)).unwrap()).await.unwrap();
        let count = |action: &str| log.items.iter().filter(|record| record.action == action).count();
        assert_eq!((count("trust.update"), count("trust.revoke"), count("trust.remove")), (1, 3, 1));
    }
}

#[tokio::test]
async fn a_key_ends_and_its_sessions_with_it() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        tenant(&service, "acme").await;
        let operator = Operator::of(&service);
        let made = operator.create_key_until("acme", Role::Read, "auditor", Some(1)).await.unwrap();
        let key = made.key.reveal();
        let row = async || {
            let rows = operator.keys("acme").await.unwrap();
            rows.into_iter().find(|row| row.id == made.row.id).unwrap()
        };
        assert_eq!(row().await.last_used_at, None);
        service.authenticate(key).await.unwrap();
        let used = row().await.last_used_at.unwrap();
        hands.advance_seconds(600);
        service.authenticate(key).await.unwrap();
        assert_eq!(row().await.last_used_at, Some(used), "no write for each request");
        hands.advance_seconds(3_600);
        service.authenticate(key).await.unwrap();
        assert!(row().await.last_used_at.unwrap() > used);

        // A session of twelve hours that begins two hours before the end of its key.
        hands.advance_seconds(21 * 3_600 - 600);
        let session = service.sign_in(&request(), key).await.unwrap();
        assert!(service.session(session.reveal()).await.is_ok());
        hands.advance_seconds(2 * 3_600);
        assert!(matches!(service.authenticate(key).await, Err(Error::Unauthenticated)));
        assert!(matches!(service.session(session.reveal()).await, Err(Error::Unauthenticated)));
        assert!(row().await.has_expired(service.clock().now()));
        // A revoked key ends its sessions at once.
        let made = operator.create_key("acme", Role::Read, "laptop").await.unwrap();
        let session = service.sign_in(&request(), made.key.reveal()).await.unwrap();
        operator.revoke_key("acme", "laptop").await.unwrap();
        assert!(matches!(service.session(session.reveal()).await, Err(Error::Unauthenticated)));
    }
}

/// A platform of the sixth schema: its keys go on without an end, and what it stored stays verified.
#[tokio::test]
async fn what_an_older_platform_trusted_stays_trusted() {
    for place in Place::all().await {
        println!("{}", place.name);
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        up_to(place.name.starts_with("PostgreSQL"), 6).run(&pool).await.unwrap();
        let (key, signer) = (ApiKey::random().unwrap(), bundles::key().public_key());
        let hash = hex::encode(Sha256::digest(key.reveal()));
        let id = evidence_platform::id::OrganizationId::random().unwrap();
        for sql in [
            format!("INSERT INTO organizations VALUES ('{id}', 'acme', 'ACME Corp', 0)"),
            format!(
                "INSERT INTO api_keys VALUES ('key_1', '{id}', '{}', '{hash}', 'admin', 'old', 0, NULL)",
                key.prefix()
            ),
            format!(
                "INSERT INTO trusted_keys VALUES ('{id}', '{}', '{}', '{}', 'ci', 0)",
                signer.key_id(),
                signer.to_spki_base64(),
                signer.ssh_fingerprint()
            ),
        ] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();
        }
        let (service, _): (Service, _) = place.open(Settings::default()).await;
        let admin = principal(&service, key.reveal()).await;
        let stored = upload(&service, &admin, &bundles::bundle(1)).await.unwrap().bundle;
        assert!(service.verify(&admin, &request(), &stored.id).await.unwrap().verified);
        let row = service.trusted_keys(&admin).await.unwrap().remove(0);
        assert_eq!((row.valid_from, row.valid_until, row.revoked.clone()), (None, None, None));
        let key = service.keys(&admin).await.unwrap().remove(0);
        assert!(key.expires_at.is_none() && key.last_used_at.is_some());
        assert!(admin.freshness().is_none());
        // A program of the sixth schema would ignore the dates, so it must not start.
        let oldest = sqlx::query("SELECT oldest FROM schema_compatibility").fetch_one(&pool).await.unwrap();
        assert!(sqlx::Row::get::<i64, _>(&oldest, "oldest") >= 8);
    }
}
