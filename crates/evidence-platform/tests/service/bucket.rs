//! A bucket that fails, refuses, hangs, or is accessed through a role.

use std::time::{Duration, Instant};

use evidence_platform::blobs::Blobs;
use evidence_platform::error::Error;
use evidence_platform::principal::Principal;
use evidence_platform::service::{Service, Settings};
use evidence_platform::store::Store;
use hyper::Method;

use crate::support::bucket::{Bucket, Fault};
use crate::support::{Place, Tenant, VirtualTime, bundles, principal, request, tenant, upload};

/// A platform on SQLite and a bucket with configurable faults.
struct Lab {
    bucket: Bucket,
    place: Place,
    service: Service,
    hands: VirtualTime,
    tenant: Tenant,
    admin: Principal,
}

impl Lab {
    async fn new() -> Lab {
        let (bucket, place) = (Bucket::start().await, Place::local());
        let hands = VirtualTime::start();
        let blobs = Blobs::bucket("s3://evidence/here", &bucket.keys()).unwrap();
        let store = Store::open(&place.database, 5).await.unwrap();
        let settings = Settings { retention_days: 0, ..Settings::default() };
        let spool = place.home.path().join("spool");
        let service = Service::new(store, blobs, &spool, hands.clock(), settings).unwrap();
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        Lab { bucket, place, service, hands, tenant, admin }
    }

    async fn stored(&self, number: u32) -> String {
        upload(&self.service, &self.admin, &bundles::bundle(number)).await.unwrap().bundle.id
    }
}

#[tokio::test]
async fn an_upload_takes_over_a_removal_that_failed() {
    let lab = Lab::new().await;
    for (number, fault) in [(1, Fault::Status(500)), (2, Fault::Status(403))] {
        let id = lab.stored(number).await;
        lab.bucket.fail(Method::DELETE, fault);
        lab.service.delete_bundle(&lab.admin, &request(), &id).await.unwrap();
        assert_eq!(lab.service.claims().await.unwrap(), 1, "what could not be removed is remembered");
        // At once, although the bucket still fails.
        assert_eq!(lab.stored(number).await, id);
        assert_eq!(lab.service.claims().await.unwrap(), 0);
        lab.bucket.heal();
        assert!(lab.service.verify(&lab.admin, &request(), &id).await.unwrap().verified);
    }
}

#[tokio::test]
async fn a_removal_without_an_answer_keeps_the_name_for_minutes_not_hours() {
    let lab = Lab::new().await;
    let id = lab.stored(1).await;
    lab.bucket.fail(Method::DELETE, Fault::Hang);
    lab.service.delete_bundle(&lab.admin, &request(), &id).await.unwrap();
    lab.bucket.heal();
    // The service may still remove it, so a new put could be lost.
    let outcome = upload(&lab.service, &lab.admin, &bundles::bundle(1)).await;
    assert!(matches!(outcome, Err(Error::Busy)), "{outcome:?}");
    lab.hands.advance_seconds(301);
    assert_eq!(lab.stored(1).await, id);
    assert!(lab.service.verify(&lab.admin, &request(), &id).await.unwrap().verified);
}

#[tokio::test]
async fn one_claim_that_fails_does_not_end_the_sweep() {
    let lab = Lab::new().await;
    let pool = sqlx::AnyPool::connect(&lab.place.database.reveal_for_tests()).await.unwrap();
    let damaged = "INSERT INTO claims (organization_id, sha256, kind, claim_id, claimed_at) VALUES ('x', 'x', 'put', 'x', 0)";
    sqlx::query(damaged).execute(&pool).await.unwrap();
    lab.bucket.fail(Method::DELETE, Fault::Status(500));
    for number in 0..3 {
        let id = lab.stored(number).await;
        lab.service.delete_bundle(&lab.admin, &request(), &id).await.unwrap();
    }
    let swept = lab.service.sweep().await.unwrap();
    assert_eq!((swept.blobs, swept.failed), (0, 3));
    lab.bucket.heal();
    let swept = lab.service.sweep().await.unwrap();
    assert_eq!((swept.blobs, swept.failed), (3, 0));
    assert_eq!(lab.service.claims().await.unwrap(), 1, "the damaged one");
    assert!(lab.bucket.objects().iter().all(|path| path.ends_with("/ready")), "{:?}", lab.bucket.objects());
}

#[tokio::test]
async fn a_put_without_an_answer_gives_its_place_back() {
    let lab = Lab::new().await;
    lab.bucket.fail(Method::PUT, Fault::Hang);
    let began = Instant::now();
    let outcome = upload(&lab.service, &lab.admin, &bundles::bundle(1)).await;
    assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    // The lab waits 2 s, a platform in operation 20 s.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(lab.bucket.count(&Method::PUT), 1, "it was repeated");
    lab.bucket.heal();
    lab.stored(1).await;
}

#[tokio::test]
async fn a_bundle_that_is_deleted_meanwhile_is_not_found() {
    let lab = Lab::new().await;
    let id = lab.stored(1).await;
    let bundle = lab.service.bundle(&lab.admin, &id).await.unwrap();
    // As if the row had been read before the deletion, so that reading the storage is always too late.
    lab.bucket.fail(Method::GET, Fault::Status(500));
    let gets = lab.bucket.count(&Method::GET);
    let late = tokio::spawn({
        let (service, admin, id) = (lab.service.clone(), lab.admin.clone(), id.clone());
        async move { service.download(&admin, &request(), &id).await.map(drop) }
    });
    while lab.bucket.count(&Method::GET) == gets {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    lab.service.delete_bundle(&lab.admin, &request(), &id).await.unwrap();
    lab.bucket.heal();
    let late = late.await.unwrap();
    assert!(matches!(late, Err(Error::NotFound(_))), "{late:?}");
    let viewer = lab.service.viewer(&lab.admin).await.unwrap();
    let read = viewer.read(&lab.admin, &bundle, evidence_view::Results::default()).await;
    assert!(matches!(read, Err(Error::NotFound(_))), "{read:?}");
}

#[tokio::test]
async fn trust_and_key_count_when_a_bundle_is_stored() {
    let lab = Lab::new().await;
    let key = lab.stored(1).await;
    let signer = lab.service.bundle(&lab.admin, &key).await.unwrap().overview.key_id;
    let who = principal(&lab.service, &lab.tenant.upload).await;
    for (number, revoke) in [(2, false), (3, true)] {
        // The failing put is retried until the fault ends, so the revocation happens after the first checks.
        lab.bucket.fail(Method::PUT, Fault::Status(500));
        let puts = lab.bucket.count(&Method::PUT);
        let upload = tokio::spawn({
            let (service, who) = (lab.service.clone(), who.clone());
            async move { upload(&service, &who, &bundles::bundle(number)).await }
        });
        while lab.bucket.count(&Method::PUT) == puts {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if revoke {
            lab.service.revoke_key(&lab.admin, &request(), who.key_prefix()).await.unwrap();
        } else {
            lab.service.remove_trusted_key(&lab.admin, &request(), &signer).await.unwrap();
        }
        lab.bucket.heal();
        let outcome = upload.await.unwrap();
        if revoke {
            assert!(matches!(outcome, Err(Error::Unauthenticated)), "{outcome:?}");
        } else {
            assert!(
                matches!(&outcome, Err(Error::Refused { reason, .. }) if reason.code() == "signature-invalid")
            );
        }
        let pem = bundles::public_pem(&bundles::key());
        lab.service.add_trusted_key(&lab.admin, &request(), &pem, "again").await.unwrap();
    }
    let page = evidence_platform::service::PageRequest::new(None, None).unwrap();
    assert_eq!(lab.service.bundles(&lab.admin, &page).await.unwrap().items.len(), 1);
    // Their blobs are ordinary leftovers.
    lab.hands.advance_seconds(80_000);
    assert_eq!(lab.service.sweep().await.unwrap().blobs, 2);
}

#[tokio::test]
async fn what_the_storage_refuses_is_the_operator_s_error() {
    let lab = Lab::new().await;
    for (status, refused) in [
        (400, true),
        (401, true),
        (403, true),
        (404, true),
        (301, true),
        (500, false),
        (503, false),
        (429, false),
    ] {
        lab.bucket.fail(Method::PUT, Fault::Status(status));
        let outcome = upload(&lab.service, &lab.admin, &bundles::bundle(1)).await;
        assert!(
            matches!(
                (&outcome, refused),
                (Err(Error::StorageRefused), true) | (Err(Error::Unavailable(_)), false)
            ),
            "{status}: {outcome:?}"
        );
    }
    lab.bucket.fail(Method::PUT, Fault::Status(403));
    let ready = lab.service.ready().await.unwrap_err();
    assert!(matches!(ready, Error::NotReady { refused: true, .. }), "{ready:?}");
    assert_eq!(ready.to_string(), "the storage refuses the platform");
}

#[tokio::test]
async fn ready_writes_once_however_many_ask() {
    let lab = Lab::new().await;
    let asked = futures_util::future::join_all((0..500).map(|_| lab.service.ready())).await;
    assert!(asked.into_iter().all(|outcome| outcome.is_ok()));
    assert_eq!(lab.bucket.count(&Method::PUT), 1);
    // A client that disconnects in the middle does not start a new probe either.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    lab.bucket.fail(Method::PUT, Fault::Hang);
    for _ in 0..50 {
        let _ = tokio::time::timeout(Duration::from_millis(2), lab.service.ready()).await;
    }
    assert_eq!(lab.bucket.count(&Method::PUT), 2);
    let failed = lab.service.ready().await.unwrap_err();
    assert_eq!(failed.to_string(), "the storage takes no writes");
}

#[tokio::test]
async fn a_bucket_is_reached_by_the_role_of_the_machine() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, "made-up").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let bucket = Bucket::start().await;
    let here = |path: &str| format!("http://{}{path}", bucket.address);
    let container = vec![
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", here("/container")),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.clone()),
    ];
    let instance = vec![("AWS_EC2_METADATA_SERVICE_ENDPOINT", here(""))];
    // The token service requires https, so nothing answers here.
    let web = vec![
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file),
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/platform".to_owned()),
        ("AWS_ENDPOINT_URL_STS", "https://127.0.0.1:1".to_owned()),
    ];
    for (variables, key) in [(container, Some("CONTAINER")), (instance, Some("INSTANCE")), (web, None)] {
        let access = bucket.access(&variables);
        let blobs = Blobs::bucket("s3://evidence/here", &access).unwrap();
        let before = bucket.seen().len();
        let place = Place::local();
        let store = Store::open(&place.database, 2).await.unwrap();
        let spool = place.home.path().join("spool");
        let service =
            Service::new(store, blobs, &spool, VirtualTime::start().clock(), Settings::default()).unwrap();
        let ready = service.ready().await;
        let seen = bucket.seen().split_off(before);
        let puts: Vec<_> = seen.iter().filter(|seen| seen.path == "/evidence/here/ready").collect();
        let Some(key) = key else {
            assert!(ready.is_err() && puts.is_empty(), "{puts:?}");
            continue;
        };
        assert!(ready.is_ok(), "{key}: {ready:?}");
        assert!(puts[0].authorization.contains(&format!("Credential={key}/")), "{puts:?}");
        assert_eq!(puts[0].token, format!("token-of-{key}"));
    }
}
