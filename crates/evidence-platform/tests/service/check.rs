//! The check of everything that is stored.

use std::time::Duration;

use evidence_platform::blobs::Removal;
use evidence_platform::error::Error;
use evidence_platform::id::{BlobDigest, OrganizationId};
use evidence_platform::principal::Caller;
use evidence_platform::service::{CheckPlan, Settings};
use evidence_platform::spool::Spool;

use crate::support::{Place, bundles, digest, principal, request, tenant, upload};

/// Changes or removes a stored blob behind the platform's back.
async fn tamper(place: &Place, whose: &OrganizationId, blob: &BlobDigest, bytes: Option<&[u8]>) {
    let blobs = place.blobs();
    assert!(matches!(blobs.delete(whose, blob).await, Removal::Done));
    if let Some(bytes) = bytes {
        let spool = Spool::open(&place.home.path().join("blobs/.spool")).unwrap();
        let body = futures_util::stream::iter([Ok::<_, std::io::Error>(bytes.to_vec().into())]);
        let mut spooled = spool.receive(body, Settings::default().patience).await.unwrap();
        spooled.digest = *blob;
        blobs.put(whose, spooled).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stored_byte_is_checked() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let (acme, other) = (tenant(&service, "acme").await, tenant(&service, "other").await);
        let admin = principal(&service, &acme.admin).await;
        let stranger = principal(&service, &other.admin).await;
        let mut stored = Vec::new();
        for number in 0..5 {
            stored.push(upload(&service, &admin, &bundles::bundle(number)).await.unwrap().bundle);
        }
        upload(&service, &stranger, &bundles::bundle(1)).await.unwrap();
        let plan = CheckPlan::default();
        let report = service.check_all(plan).await.unwrap();
        let bytes: u64 = stored.iter().map(|bundle| bundle.size_bytes).sum();
        assert_eq!((report.bundles, report.resumed), (6, false));
        assert_eq!(report.bytes, bytes + stored[1].size_bytes);
        assert!(report.damaged.is_empty() && report.strays.is_empty(), "{report:?}");
        assert_eq!(service.check_if_due(7, plan).await.unwrap(), None, "not due");
        let checked = service.checked(&admin).await.unwrap();
        assert_eq!((checked.bundles, checked.checked, checked.run.finished_at.is_some()), (5, 5, true));

        // Trust does not matter to the bytes.
        let key_id = bundles::key().public_key().key_id().to_string();
        service.remove_trusted_key(&admin, &request(), &key_id).await.unwrap();
        // One byte flipped, one blob lost, one replaced by another signer's bundle of the same id.
        let mut flipped = bundles::bundle(0);
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        tamper(&place, admin.organization(), &stored[0].digest, Some(&flipped)).await;
        tamper(&place, admin.organization(), &stored[1].digest, None).await;
        tamper(
            &place,
            admin.organization(),
            &stored[2].digest,
            Some(&bundles::signed(2, b"{}\n", &bundles::other_key())),
        )
        .await;
        assert_eq!(service.check_if_due(7, plan).await.unwrap(), None, "still not due");
        hands.advance_days(8);
        let report = service.check_if_due(7, plan).await.unwrap().unwrap();
        let reasons = |report: &evidence_platform::service::CheckReport| {
            let one = |damage: &evidence_platform::store::Damage| {
                (damage.slug.clone(), damage.bundle_id.clone(), damage.reason.clone())
            };
            report.damaged.iter().map(one).collect::<Vec<_>>()
        };
        let damaged =
            |number: usize, reason: &str| ("acme".to_owned(), stored[number].id.clone(), reason.to_owned());
        assert_eq!(
            reasons(&report),
            [damaged(0, "digest-mismatch"), damaged(1, "blob-missing"), damaged(2, "digest-mismatch")]
        );
        assert_eq!(service.check_gauges().damaged.get(), 3);
        let held = service.visible(&Caller::Organization(admin.clone())).await.unwrap();
        assert_eq!(service.damaged(&held[0]).await.unwrap(), 3);
        // The other organization sees nothing of it, and its copy is its own.
        assert!(service.checked(&stranger).await.unwrap().damaged.is_empty());

        // Restored: the next check says so.
        tamper(&place, admin.organization(), &stored[0].digest, Some(&bundles::bundle(0))).await;
        let report = service.check_all(CheckPlan { restart: true, ..plan }).await.unwrap();
        assert_eq!(reasons(&report).len(), 2);
        assert_eq!(service.check_gauges().damaged.get(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_check_goes_on() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let second = place.open_with(Settings::default(), hands.clock()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        for number in 0..6 {
            upload(&service, &admin, &bundles::bundle(number)).await.unwrap();
        }
        // At one byte a second, the first bundle takes longer than anyone waits. Dropping is what a kill does.
        let slow = CheckPlan { pace: Some(1), restart: false };
        let first = tokio::time::timeout(Duration::from_secs(20), async {
            let check = service.check_all(slow);
            let mut check = std::pin::pin!(check);
            loop {
                tokio::select! {
                    outcome = &mut check => panic!("{outcome:?}"),
                    () = tokio::time::sleep(Duration::from_millis(100)) => {}
                }
                if service.checked(&admin).await.unwrap().checked > 0 {
                    break;
                }
            }
        });
        first.await.unwrap();
        assert!(service.checked(&admin).await.unwrap().run.finished_at.is_none());
        // Another instance does not check the same at once.
        assert!(matches!(second.check_all(CheckPlan::default()).await, Err(Error::CheckHeld)));
        hands.advance_seconds(16 * 60);
        let report = second.check_all(CheckPlan::default()).await.unwrap();
        assert_eq!((report.bundles, report.resumed), (5, true));
        let checked = service.checked(&admin).await.unwrap();
        assert_eq!((checked.checked, checked.run.finished_at.is_some()), (6, true));
        // A new check begins at the start.
        let report = service.check_all(CheckPlan::default()).await.unwrap();
        assert_eq!((report.bundles, report.resumed), (6, false));
    }
}

#[tokio::test]
async fn blobs_without_a_bundle_are_found_and_nothing_that_is_being_stored() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, _) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
        // As a restore of an older database leaves it: a blob without a row or a claim.
        let left = bundles::bundle(2);
        let spool = Spool::open(&place.home.path().join("blobs/.spool")).unwrap();
        let body = futures_util::stream::iter([Ok::<_, std::io::Error>(left.clone().into())]);
        let spooled = spool.receive(body, service.settings().patience).await.unwrap();
        place.blobs().put(admin.organization(), spooled).await.unwrap();
        let report = service.check_all(CheckPlan::default()).await.unwrap();
        assert_eq!(report.strays.len(), 1, "{report:?}");
        let stray = &report.strays[0];
        assert_eq!((&stray.organization, stray.digest), (admin.organization(), digest(&left)));
        assert_eq!(stray.size_bytes, left.len() as u64);
        assert!(report.damaged.is_empty());
        assert_eq!(service.check_gauges().strays.get(), 1);
        // An upload adopts it.
        upload(&service, &admin, &left).await.unwrap();
        let report = service.check_all(CheckPlan::default()).await.unwrap();
        assert!(report.strays.is_empty() && report.bundles == 2, "{report:?}");
        // A claim names it while it is being stored.
        let pool = sqlx::AnyPool::connect(&place.database.reveal_for_tests()).await.unwrap();
        sqlx::query("DELETE FROM bundles WHERE sha256 = $1")
            .bind(digest(&left).to_string())
            .execute(&pool)
            .await
            .unwrap();
        sqlx::query("INSERT INTO claims VALUES ($1, $2, 'put', 'one', 0)")
            .bind(admin.organization().as_str())
            .bind(digest(&left).to_string())
            .execute(&pool)
            .await
            .unwrap();
        assert!(service.check_all(CheckPlan::default()).await.unwrap().strays.is_empty());
    }
}
