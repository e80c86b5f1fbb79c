//! A bucket with Object Lock and a default retention: bundles are stored and locked, and a deletion takes nothing away
//! from the bucket.

use evidence_platform::blobs::{Blobs, BucketAccess};
use evidence_platform::error::Error;
use evidence_platform::service::{Service, Settings};
use evidence_platform::store::Store;

use crate::support::{Place, VirtualTime, bundles, principal, random, request, tenant, upload};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_bucket_keeps_what_the_platform_deletes() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(bucket), Some(endpoint)) =
        (variable("EVIDENCE_TEST_LOCKED_S3"), variable("EVIDENCE_TEST_LOCKED_ENDPOINT"))
    else {
        crate::support::loudly(
            "SKIPPED: a bucket with Object Lock; ci/platform_stores.sh makes one where the package ministack installs",
        );
        return;
    };
    let access = BucketAccess::from_variables(|name| match name {
        "AWS_ENDPOINT_URL" => Some(endpoint.clone().into()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("test".into()),
        _ => None,
    })
    .unwrap();
    let address = format!("{bucket}/{}", random());
    let place = Place::local();
    let hands = VirtualTime::start();
    let store = Store::open(&place.database, 5).await.unwrap();
    let blobs = Blobs::bucket(&address, &access).unwrap();
    let settings = Settings { retention_days: 0, ..Settings::default() };
    let spool = place.home.path().join("spool");
    let service = Service::new(store, blobs, &spool, hands.clock(), settings).unwrap();
    service.ready().await.unwrap();
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    // One by one PUT, one in parts.
    let mut noise = vec![0; 9_000_000];
    fastrand::Rng::with_seed(7).fill(&mut noise);
    for bytes in [bundles::bundle(1), bundles::signed(2, &noise, &bundles::key())] {
        let stored = upload(&service, &admin, &bytes).await.unwrap().bundle;
        assert!(service.verify(&admin, &request(), &stored.id).await.unwrap().verified);
        let versions = async || {
            let (name, prefix) = address.strip_prefix("s3://").unwrap().split_once('/').unwrap();
            let url = format!("{endpoint}/{name}?versions&prefix={prefix}");
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let text = client.get(url).send().await.unwrap().text().await.unwrap();
            let kept = |part: &&str| part.contains(&stored.digest.to_string());
            (
                text.split("<Version>").skip(1).filter(kept).count(),
                text.split("<DeleteMarker>").skip(1).filter(kept).count(),
            )
        };
        assert_eq!(versions().await, (1, 0));
        service.delete_bundle(&admin, &request(), &stored.id).await.unwrap();
        // The platform no longer has it, and the bucket still does.
        assert!(matches!(service.bundle(&admin, &stored.id).await, Err(Error::NotFound(_))));
        assert_eq!(versions().await, (1, 1));
        assert_eq!(service.claims().await.unwrap(), 0);
        // Uploaded again, it is a further version.
        assert!(upload(&service, &admin, &bytes).await.unwrap().created);
        assert!(service.verify(&admin, &request(), &stored.id).await.unwrap().verified);
    }
}
