//! A clock that is ahead: nothing is deleted until the operator accepts it, whatever happens meanwhile.

use evidence_platform::error::Error;
use evidence_platform::service::{NewUpload, Settings, Swept};

use crate::support::{Place, bundles, digest, principal, request, tenant, upload};

#[tokio::test]
async fn a_clock_that_jumped_deletes_nothing_until_it_is_accepted() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands) = place.open(Settings::default()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let stored = upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
        let id = stored.bundle.id.clone();
        let delete = async || service.delete_bundle(&admin, &request(), &id).await;

        hands.advance_days(730);
        assert!(matches!(delete().await, Err(Error::ClockAhead(_))));
        // Neither an upload, nor a sign-in, nor time under the same clock, nor a restart make it right.
        assert!(upload(&service, &admin, &bundles::bundle(2)).await.unwrap().created);
        service.sign_in(&request(), &tenant.admin).await.unwrap();
        assert_eq!(service.sweep().await.unwrap(), Swept::default());
        hands.advance_seconds(3_600);
        assert_eq!(service.sweep().await.unwrap(), Swept::default());
        let again = place.open_with(Settings::default(), hands.clock()).await;
        let refused = again.delete_bundle(&admin, &request(), &id).await.unwrap_err();
        assert!(matches!(refused, Error::ClockAhead(_)), "{refused:?}");
        again.close().await;
        assert_eq!(service.bundle(&admin, &id).await.unwrap(), stored.bundle);

        service.accept_clock().await.unwrap();
        delete().await.unwrap();
        assert!(matches!(service.bundle(&admin, &id).await, Err(Error::NotFound(_))));
    }
}

#[tokio::test]
async fn leftovers_are_not_swept_by_a_clock_that_jumped() {
    let place = Place::local();
    let (service, hands) = place.open(Settings::default()).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
    let session = service.sign_in(&request(), &tenant.read).await.unwrap();
    hands.advance_days(730);
    assert_eq!(service.sweep().await.unwrap(), Swept::default());
    // Back in order: the session was not removed as one that expired long ago.
    hands.advance_days(-730);
    service.sweep().await.unwrap();
    assert!(service.session(session.reveal()).await.is_ok());
}

#[tokio::test]
async fn quiet_days_of_a_running_server_need_no_operator() {
    let place = Place::local();
    let settings = Settings { min_retention_days: Some(0), ..Settings::default() };
    let (service, hands) = place.open(settings).await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let bytes = bundles::bundle(1);
    let new = NewUpload { digest: digest(&bytes), tags: Default::default(), retention_days: Some(3) };
    let body = futures_util::stream::iter([Ok::<_, std::io::Error>(bytes.into())]);
    let id = service.upload(&admin, &request(), new, body).await.unwrap().bundle.id;
    for _ in 0..4 * 24 {
        hands.advance_seconds(3_600);
        service.sweep().await.unwrap();
    }
    service.delete_bundle(&admin, &request(), &id).await.unwrap();
}
