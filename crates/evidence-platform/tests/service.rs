//! The service on every available database and storage, without HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

#[path = "service/bucket.rs"]
mod bucket;
#[path = "service/check.rs"]
mod check;
#[path = "service/clock.rs"]
mod clock;
#[path = "service/disk.rs"]
mod disk;
#[path = "service/locked.rs"]
mod locked;
#[path = "service/retention.rs"]
mod retention;
#[path = "service/schema.rs"]
mod schema;
mod support;
#[path = "service/trust.rs"]
mod trust;
#[path = "service/webhooks.rs"]
mod webhooks;

use std::collections::BTreeSet;
use std::time::Instant;

use evidence_platform::error::Error;
use evidence_platform::principal::Principal;
use evidence_platform::service::{PageRequest, Service, Settings};
use evidence_platform::store::BundleRow;
use evidence_view::{Results, Sink};
use futures_util::TryStreamExt as _;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sha2::{Digest as _, Sha256};
use support::{Place, bundles, principal, request, tenant, upload};

/// Every file of a bundle, by path.
#[derive(Debug, Default)]
struct Files(Vec<(String, Vec<u8>)>);

impl Sink for Files {
    fn file(&mut self, path: &str, _: u64) -> std::io::Result<bool> {
        self.0.push((path.to_owned(), Vec::new()));
        Ok(true)
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.last_mut().unwrap().1.extend_from_slice(bytes);
        Ok(())
    }
}

async fn files(service: &Service, who: &Principal, bundle: &BundleRow) -> Vec<(String, Vec<u8>)> {
    service.viewer(who).await.unwrap().read(who, bundle, Files::default()).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_is_stored_read_verified_and_kept() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let bytes = bundles::bundle(1);
        let stored = upload(&service, &admin, &bytes).await.unwrap();
        assert!(stored.created);
        let id = stored.bundle.id.clone();
        let again = upload(&service, &admin, &bytes).await.unwrap();
        assert!(!again.created);
        assert_eq!(again.bundle, stored.bundle);

        let facts = &stored.bundle.overview;
        assert_eq!(facts.organization, "acme");
        let judgement = facts.judgement.as_ref().unwrap();
        assert_eq!(judgement.controls[0].checks.fail, 1);
        assert_eq!(judgement.hints.high, 1);

        let download = service.download(&admin, &request(), &id).await.unwrap();
        let read: Vec<_> = download.bytes.try_collect().await.unwrap();
        assert_eq!(read.concat(), bytes);
        assert_eq!(files(&service, &admin, &stored.bundle).await.len(), 8);

        let verification = service.verify(&admin, &request(), &id).await.unwrap();
        assert!(verification.verified, "{verification:?}");
        assert_eq!(verification.key_id.as_deref(), Some(facts.key_id.as_str()));
        service.remove_trusted_key(&admin, &request(), &facts.key_id).await.unwrap();
        let verification = service.verify(&admin, &request(), &id).await.unwrap();
        assert_eq!(verification.reason.as_deref(), Some("no-trusted-key"));
        let pem = bundles::public_pem(&bundles::other_key());
        service.add_trusted_key(&admin, &request(), &pem, "other").await.unwrap();
        let verification = service.verify(&admin, &request(), &id).await.unwrap();
        assert_eq!(verification.reason.as_deref(), Some("signature-invalid"));
        let files = files(&service, &admin, &stored.bundle).await;
        assert_eq!(files[0].0, "manifest.json", "what is stored stays readable");
        assert!(String::from_utf8_lossy(&files[0].1).contains("\"organization\": \"acme\""));

        // Retention and legal hold.
        let outcome = service.delete_bundle(&admin, &request(), &id).await;
        assert!(matches!(outcome, Err(Error::Retained(until)) if until == stored.bundle.retention_until));
        hands.advance_days(366);
        service.set_legal_hold(&admin, &request(), &id, true).await.unwrap();
        let outcome = service.delete_bundle(&admin, &request(), &id).await;
        assert!(matches!(outcome, Err(Error::LegalHold)), "{outcome:?}");
        assert!(!service.set_legal_hold(&admin, &request(), &id, false).await.unwrap().legal_hold);
        let later = stored.bundle.retention_until.plus_days(2);
        let extended = service.extend_retention(&admin, &request(), &id, later).await.unwrap();
        assert_eq!(extended.retention_until, later);
        let outcome = service.extend_retention(&admin, &request(), &id, stored.bundle.retention_until).await;
        assert!(matches!(outcome, Err(Error::RetentionShortened(until)) if until == later), "{outcome:?}");
        assert!(matches!(service.delete_bundle(&admin, &request(), &id).await, Err(Error::Retained(_))));
        hands.advance_days(2);
        // More than a year without an upload, a sign-in or a running server: only the operator knows the time.
        let outcome = service.delete_bundle(&admin, &request(), &id).await;
        assert!(matches!(outcome, Err(Error::ClockAhead(_))), "{outcome:?}");
        service.accept_clock().await.unwrap();
        service.delete_bundle(&admin, &request(), &id).await.unwrap();
        assert!(matches!(service.bundle(&admin, &id).await, Err(Error::NotFound(_))));
        assert_eq!(service.claims().await.unwrap(), 0);

        // A deleted bundle may be uploaded again under the same id.
        let pem = bundles::public_pem(&bundles::key());
        service.add_trusted_key(&admin, &request(), &pem, "ci").await.unwrap();
        let back = upload(&service, &admin, &bytes).await.unwrap();
        assert!(back.created);
        assert_eq!(back.bundle.id, id);

        let log = service.audit_log(&admin, &PageRequest::new(None, Some(100)).unwrap()).await.unwrap().items;
        let said: Vec<String> =
            log.iter().rev().map(|record| format!("{} {}", record.action, record.outcome)).collect();
        assert_eq!(
            said,
            [
                "organization.create done",
                "trust.add done",
                "key.create done",
                "key.create done",
                "key.create done",
                "key.create done",
                "key.revoke done",
                "bundle.upload done",
                "bundle.upload unchanged",
                "bundle.download done",
                "bundle.verify done",
                "trust.remove done",
                "bundle.verify refused",
                "trust.add done",
                "bundle.verify refused",
                "bundle.delete refused",
                "bundle.hold done",
                "bundle.delete refused",
                "bundle.hold done",
                "bundle.retain done",
                "bundle.delete refused",
                "bundle.delete refused",
                "bundle.delete done",
                "trust.add done",
                "bundle.upload done",
            ]
        );
        assert!(log.iter().all(|record| record.actor == "cli" || record.request_id == "test-request"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_bytes_at_once_are_one_bundle() {
    for place in Place::all().await {
        println!("{}", place.name);
        // Two instances on one database and one storage.
        let (one, hands) = place.open(Settings::default()).await;
        let two = place.open_with(Settings::default(), hands.clock()).await;
        let tenant = tenant(&one, "acme").await;
        let who = principal(&one, &tenant.upload).await;
        for round in 0..5 {
            let bytes = bundles::bundle(round);
            let uploads = (0..8).map(|n| upload(if n % 2 == 0 { &one } else { &two }, &who, &bytes));
            let stored: Vec<_> = join_all(uploads).await.into_iter().map(Result::unwrap).collect();
            assert_eq!(stored.iter().filter(|stored| stored.created).count(), 1);
            let ids: BTreeSet<_> = stored.iter().map(|stored| stored.bundle.id.clone()).collect();
            assert_eq!(ids.len(), 1);
        }
        assert_eq!(one.claims().await.unwrap(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_and_uploading_the_same_bytes_never_lists_what_is_not_there() {
    for place in Place::all().await {
        println!("{}", place.name);
        let settings = Settings { retention_days: 0, ..Settings::default() };
        let (service, hands) = place.open(settings.clone()).await;
        let other = place.open_with(settings, hands.clock()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let bytes = bundles::bundle(1);
        let id = upload(&service, &admin, &bytes).await.unwrap().bundle.id;
        for _ in 0..20 {
            let put = upload(&service, &admin, &bytes);
            let request = request();
            let delete = other.delete_bundle(&admin, &request, &id);
            let (put, deleted) = tokio::join!(put, delete);
            assert!(matches!(put, Ok(_) | Err(Error::Busy)), "{put:?}");
            assert!(matches!(deleted, Ok(()) | Err(Error::NotFound(_) | Error::Retained(_))), "{deleted:?}");
            if service.bundle(&admin, &id).await.is_ok() {
                let verification = service.verify(&admin, &request, &id).await.unwrap();
                assert!(verification.verified, "{verification:?}");
            }
        }
        assert_eq!(service.claims().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn what_a_crash_leaves_is_swept_when_it_is_old() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let bytes = bundles::bundle(1);
        let stored = upload(&service, &admin, &bytes).await.unwrap();
        // As if two instances had died: one while putting a new blob, one while putting known bytes again.
        let blobs = place.blobs();
        let left = bundles::bundle(2);
        let spool = evidence_platform::spool::Spool::open(&place.home.path().join("blobs/.spool")).unwrap();
        let body = futures_util::stream::iter([Ok::<_, std::io::Error>(left.clone().into())]);
        let spooled = spool.receive(body, service.settings().patience).await.unwrap();
        let digest = spooled.digest;
        blobs.put(admin.organization(), spooled).await.unwrap();
        let mut claims = vec![(digest, "one"), (stored.bundle.digest, "two")];
        let url = place.database.reveal_for_tests();
        let pool = sqlx::AnyPool::connect(&url).await.unwrap();
        for (digest, id) in claims.drain(..) {
            sqlx::query("INSERT INTO claims (organization_id, sha256, kind, claim_id, claimed_at) VALUES ($1, $2, 'put', $3, $4)")
                .bind(admin.organization().as_str())
                .bind(digest.to_string())
                .bind(id)
                .bind(service.clock().now().0)
                .execute(&pool)
                .await
                .unwrap();
        }
        assert_eq!(service.sweep().await.unwrap().blobs, 0);
        assert_eq!(service.claims().await.unwrap(), 2);
        hands.advance_seconds(80_000);
        assert_eq!(service.sweep().await.unwrap().blobs, 1);
        assert_eq!(service.claims().await.unwrap(), 0);
        assert!(blobs.get(admin.organization(), &digest).await.unwrap().is_none());
        assert!(service.verify(&admin, &request(), &stored.bundle.id).await.unwrap().verified);
        assert!(upload(&service, &admin, &left).await.unwrap().created);
    }
}

#[tokio::test]
async fn the_audit_log_refuses_everything_but_additions() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, _) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        for statement in [
            "UPDATE audit_log SET actor = 'nobody'",
            "DELETE FROM audit_log",
            "UPDATE bundles SET sha256 = 'x'",
            "UPDATE bundles SET facts = '{}'",
        ] {
            let error = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
            assert!(error.contains("append-only") || error.contains("does not change"), "{error}");
        }
        // Migrations of an up-to-date database change nothing.
        let again = place.open(Settings::default()).await.0;
        assert_eq!(
            again.bundles(&admin, &PageRequest::new(None, None).unwrap()).await.unwrap().items.len(),
            1
        );
    }
}

#[tokio::test]
async fn damaged_storage_is_reported() {
    let place = Place::local();
    let (service, _) = place.open(Settings::default()).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let stored = upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
    let file = place.blob_files().pop().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let verification = service.verify(&admin, &request(), &stored.bundle.id).await.unwrap();
    assert_eq!(verification.reason.as_deref(), Some("digest-mismatch"));
    std::fs::remove_file(&file).unwrap();
    let verification = service.verify(&admin, &request(), &stored.bundle.id).await.unwrap();
    assert_eq!(verification.reason.as_deref(), Some("blob-missing"));
    let outcome = service.download(&admin, &request(), &stored.bundle.id).await;
    assert!(matches!(outcome, Err(Error::Damaged { .. })), "{outcome:?}");
}

/// A revoked key: what arrived before counts, what arrives later does not, whatever time the bundles claim.
#[tokio::test]
async fn a_bundle_by_a_revoked_key_counts_if_it_arrived_before() {
    let place = Place::local();
    let revoked = |since: &str| {
        let line = format!("{} {since} laptop stolen\n", bundles::key().public_key().key_id());
        let mut revoked = evidence_bundle::TrustRoot::new();
        revoked.add_revoked_keys("revoked", line.as_bytes()).unwrap();
        Settings { revoked, ..Settings::default() }
    };
    let (service, hands) = place.open(Settings::default()).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let before = upload(&service, &admin, &bundles::bundle(1)).await.unwrap().bundle;
    hands.advance_days(2);
    let after = upload(&service, &admin, &bundles::bundle(2)).await.unwrap().bundle;
    hands.advance_days(2);
    let day = |days: i64| {
        let time = evidence_bundle::time::format(bundles::CREATED_AT + (1 + days) * 86_400).unwrap();
        time[..10].to_owned()
    };
    // Between the two uploads.
    let service = place.open_with(revoked(&day(1)), hands.clock()).await;
    let code = Some("key-revoked");
    for (bundle, verified) in [(&before, true), (&after, false)] {
        let found = service.verify(&admin, &request(), &bundle.id).await.unwrap();
        assert_eq!((found.verified, found.reason.as_deref()), (verified, code.filter(|_| !verified)));
        let read = service.viewer(&admin).await.unwrap().read(&admin, bundle, Files::default()).await;
        assert_eq!(read.is_ok(), verified, "{:?}", read.err());
    }
    let found = service.verify(&admin, &request(), &after.id).await.unwrap();
    let detail = found.detail.unwrap();
    assert!(detail.contains("laptop stolen") && detail.contains("received at"), "{detail}");
    for number in [2, 3] {
        let refused = upload(&service, &admin, &bundles::bundle(number)).await;
        let Err(Error::Refused { reason, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(Some(reason.code()), code);
    }
    assert!(!upload(&service, &admin, &bundles::bundle(1)).await.unwrap().created);
    // Revoked from a later day on: still accepted.
    let service = place.open_with(revoked(&day(100)), hands.clock()).await;
    assert!(upload(&service, &admin, &bundles::bundle(3)).await.unwrap().created);
}

/// A platform that replaces a newer one keeps bundles that it cannot judge.
#[tokio::test]
async fn a_stored_bundle_of_a_newer_version_is_not_judged() {
    let place = Place::local();
    let (service, _) = place.open(Settings::default()).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let stored = upload(&service, &admin, &bundles::bundle(1)).await.unwrap().bundle;
    // The state that the newer platform leaves: the file under its digest, and its row.
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../evidence-bundle/tests/bundles");
    let newer = std::fs::read(format!("{corpus}/newer-version_exit1/bundle.tar.gz")).unwrap();
    let digest = hex::encode(Sha256::digest(&newer));
    let folder = place.blob_files().pop().unwrap().parent().unwrap().with_file_name(&digest[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(&digest), &newer).unwrap();
    let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
    let sql = format!(
        "DROP TRIGGER bundles_same_bytes; UPDATE bundles SET sha256 = '{digest}', size_bytes = {}",
        newer.len()
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();

    let verification = service.verify(&admin, &request(), &stored.id).await.unwrap();
    assert_eq!((verification.verified, verification.reason.as_deref()), (false, Some("newer-version")));
    let row = service.bundle(&admin, &stored.id).await.unwrap();
    let read = service.viewer(&admin).await.unwrap().read(&admin, &row, Files::default()).await;
    assert!(matches!(read, Err(Error::NewerVersion(_))), "{:?}", read.err());
    let download = service.download(&admin, &request(), &stored.id).await.unwrap();
    assert_eq!(download.bytes.try_collect::<Vec<_>>().await.unwrap().concat(), newer);
}

#[tokio::test]
async fn every_bundle_of_the_format_s_corpus_is_judged_as_it_says() {
    let place = Place::local();
    let (service, _) = place.open(Settings::default()).await;
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../evidence-bundle/tests/bundles");
    let mut judged = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(expected) = std::fs::read(folder.join("expect.json")) else { continue };
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        let arguments = expected["args"].to_string() + &expected["arguments"].to_string();
        // Cases with another trust root or with expectations do not concern the platform.
        if ["signers", "revoked", "expect-org", "max-age"].iter().any(|option| arguments.contains(option)) {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // All have the same id, so each organization can have one of them.
        let tenant = tenant(&service, &format!("tenant-{judged}")).await;
        let admin = principal(&service, &tenant.admin).await;
        let outcome = upload(&service, &admin, &std::fs::read(folder.join("bundle.tar.gz")).unwrap()).await;
        match outcome {
            Ok(_) => assert!(!name.ends_with("_fail"), "{name} was accepted"),
            Err(Error::Refused { reason, .. }) => {
                assert!(name.ends_with("_fail"), "{name} was refused: {reason}");
                assert!(name.starts_with(reason.code()), "{name} was refused for {reason}");
            }
            Err(Error::NewerVersion(_)) => assert!(name.starts_with("newer-version"), "{name}"),
            Err(error) => panic!("{name}: {error:?}"),
        }
        judged += 1;
    }
    assert!(judged > 50, "{judged}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_start_at_once_on_nothing_agree() {
    for _ in 0..5 {
        for place in Place::all().await {
            let (clock, settings) = (evidence_platform::time::Clock::system(), Settings::default());
            let starts = (0..6).map(|_| {
                let (place, clock, settings) = (place.clone(), clock.clone(), settings.clone());
                tokio::spawn(async move { place.open_with(settings, clock).await })
            });
            let services: Vec<_> = join_all(starts).await.into_iter().map(Result::unwrap).collect();
            let tenant = tenant(&services[0], "acme").await;
            for service in &services {
                assert_eq!(principal(service, &tenant.admin).await.slug(), "acme");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_ends_when_its_client_leaves() {
    let place = Place::local();
    let (service, _) = place.open(Settings { readers: 1, ..Settings::default() }).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let (small, large, other) = (bundles::bundle(1), bundles::zeros(2, 16), bundles::zeros(3, 16));
    let began = Instant::now();
    let stored = upload(&service, &admin, &large).await.unwrap().bundle;
    let whole = began.elapsed();

    let page = async {
        let viewer = service.viewer(&admin).await.unwrap();
        viewer.read(&admin, &stored, Results::default()).await.map(drop)
    };
    let request = request();
    let verify = async { service.verify(&admin, &request, &stored.id).await.map(drop) };
    let uploading = async { upload(&service, &admin, &other).await.map(drop) };
    let works: [(&str, BoxFuture<'_, _>); 3] =
        [("page", Box::pin(page)), ("verify", Box::pin(verify)), ("upload", Box::pin(uploading))];
    for (name, work) in works {
        assert!(tokio::time::timeout(whole / 8, work).await.is_err(), "{name}");
        let began = Instant::now();
        drop(service.viewer(&admin).await.unwrap());
        let waited = began.elapsed();
        assert!(waited < whole / 2, "{name}: the only turn is free after {waited:?}, all takes {whole:?}");
    }
    upload(&service, &admin, &small).await.unwrap();
    let page = service.bundles(&admin, &PageRequest::new(None, None).unwrap()).await.unwrap();
    assert_eq!(page.items.len(), 2, "what was not verified is not stored");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_waits_for_so_many_verifications_and_no_more() {
    let place = Place::local();
    let (service, _) = place.open(Settings { readers: 1, ..Settings::default() }).await;
    let [one, two] = [tenant(&service, "one").await, tenant(&service, "two").await];
    let [one, two] = [principal(&service, &one.admin).await, principal(&service, &two.admin).await];
    let id = upload(&service, &one, &bundles::zeros(1, 16)).await.unwrap().bundle.id;
    let small = upload(&service, &two, &bundles::bundle(1)).await.unwrap().bundle.id;
    let request = request();
    let mut asked: FuturesUnordered<_> = (0..40).map(|_| service.verify(&one, &request, &id)).collect();
    for _ in 0..8 {
        assert!(matches!(asked.next().await, Some(Err(Error::Busy))));
    }
    // Another organization waits only for the current verification, not for the queue.
    let began = Instant::now();
    let waiting = service.verify(&two, &request, &small);
    let verified = tokio::select! {
        verified = waiting => verified.unwrap().verified,
        () = async { while asked.next().await.is_some() {} } => panic!("all of the other's come first"),
    };
    assert!(verified, "after {:?}", began.elapsed());
    assert!(asked.len() > 28, "{} of the other organization wait still", asked.len());
}
