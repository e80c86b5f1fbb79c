//! Retention as a policy: what is due, what holds it, and what a purge deletes.

use std::collections::BTreeMap;

use evidence_platform::error::Error;
use evidence_platform::principal::Principal;
use evidence_platform::service::{NewUpload, Operator, PageRequest, Purged, Service, Settings};

use crate::support::{Place, bundles, digest, principal, request, tenant};

async fn upload(service: &Service, who: &Principal, number: u32, tags: &[(&str, &str)], days: u32) -> String {
    let bytes = bundles::bundle(number);
    let tags: BTreeMap<String, String> =
        tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let new = NewUpload { digest: digest(&bytes), tags, retention_days: Some(days) };
    let body = futures_util::stream::iter([Ok::<_, std::io::Error>(bytes.into())]);
    service.upload(who, &request(), new, body).await.unwrap().bundle.id
}

async fn ids(service: &Service, who: &Principal) -> Vec<String> {
    let page = service.bundles(who, &PageRequest::new(None, Some(100)).unwrap()).await.unwrap();
    let mut ids: Vec<String> = page.items.into_iter().map(|bundle| bundle.id).collect();
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_due_is_deleted_unless_something_holds_it() {
    for place in Place::all().await {
        println!("{}", place.name);
        let settings = Settings { min_retention_days: Some(0), ..Settings::default() };
        let (service, hands) = place.open(settings).await;
        let operator = Operator::of(&service);
        let (acme, beta) = (tenant(&service, "acme").await, tenant(&service, "beta").await);
        let (acme, beta) = (principal(&service, &acme.admin).await, principal(&service, &beta.admin).await);
        let free = upload(&service, &acme, 1, &[("case", "4")], 1).await;
        let by_hand = upload(&service, &acme, 2, &[], 1).await;
        let by_tag = upload(&service, &acme, 3, &[("case", "42"), ("env", "prod")], 1).await;
        let later = upload(&service, &acme, 4, &[], 20).await;
        // The same tag in another organization holds nothing here.
        let other = upload(&service, &beta, 5, &[("case", "42")], 1).await;
        service.set_legal_hold(&acme, &request(), &by_hand, true).await.unwrap();
        assert!(operator.hold_tag("acme", "case=42", "litigation").await.unwrap());
        assert!(!operator.hold_tag("acme", "case=42", "litigation").await.unwrap());
        for wrong in ["case", "=42", "a b=c"] {
            assert!(matches!(operator.hold_tag("acme", wrong, "x").await, Err(Error::Invalid(_))), "{wrong}");
        }
        assert_eq!(operator.tag_holds("acme").await.unwrap()[0].bundles, 1);
        assert!(operator.due(None, 0, 100).await.unwrap().is_empty());
        assert_eq!(service.purge(0, "retention").await.unwrap(), Purged::default());

        // Days pass on a running server.
        for _ in 0..3 * 4 {
            hands.advance_seconds(6 * 3_600);
            service.sweep().await.unwrap();
        }
        let due = operator.due(Some("acme"), 0, 100).await.unwrap();
        let shown: Vec<(&str, bool)> = due.iter().map(|due| (due.bundle_id.as_str(), due.held)).collect();
        assert_eq!(shown, [(free.as_str(), false), (by_hand.as_str(), true), (by_tag.as_str(), true)]);
        assert_eq!(operator.due(None, 0, 100).await.unwrap().len(), 4);
        assert_eq!(operator.due(Some("acme"), 30, 100).await.unwrap().len(), 4);
        let state = service.retention(&acme, 30, 100).await.unwrap();
        assert_eq!((state.due.len(), state.holds.len()), (4, 1));
        assert!(service.retention(&beta, 30, 100).await.unwrap().holds.is_empty());

        // A bundle that a tag holds cannot be deleted by hand either, also if it arrives after the hold.
        let refused = service.delete_bundle(&acme, &request(), &by_tag).await;
        assert!(matches!(refused, Err(Error::LegalHold)), "{refused:?}");
        let arrived = upload(&service, &acme, 6, &[("case", "42")], 0).await;
        let refused = service.delete_bundle(&acme, &request(), &arrived).await;
        assert!(matches!(refused, Err(Error::LegalHold)), "{refused:?}");

        // The policy waits as long as it says.
        assert_eq!(service.purge(5, "retention").await.unwrap().bundles, 0);
        let purged = service.purge(1, "retention").await.unwrap();
        assert_eq!(purged.bundles, 2);
        assert!(purged.bytes > 0);
        let mut left = vec![by_hand.clone(), by_tag.clone(), later.clone(), arrived.clone()];
        left.sort();
        assert_eq!(ids(&service, &acme).await, left);
        assert!(ids(&service, &beta).await.is_empty(), "{other}");
        assert_eq!(service.claims().await.unwrap(), 0);
        let log = service.audit_log(&acme, &PageRequest::new(None, Some(100)).unwrap()).await.unwrap().items;
        let deleted: Vec<_> = log
            .iter()
            .filter(|record| record.action == "bundle.delete" && record.outcome == "done")
            .map(|record| (record.actor.as_str(), record.target.as_str()))
            .collect();
        assert_eq!(deleted, [("retention", free.as_str())]);

        // Released, it goes with the next purge. A clock that jumped deletes nothing.
        operator.release_tag("acme", "case=42").await.unwrap();
        assert!(matches!(operator.release_tag("acme", "case=42").await, Err(Error::NotFound(_))));
        hands.advance_days(400);
        assert!(matches!(service.purge(0, "retention").await, Err(Error::ClockAhead(_))));
        assert_eq!(ids(&service, &acme).await, left);
        service.accept_clock().await.unwrap();
        assert_eq!(operator.purge(Some("acme")).await.unwrap().bundles, 3);
        assert_eq!(ids(&service, &acme).await, [by_hand]);
    }
}
