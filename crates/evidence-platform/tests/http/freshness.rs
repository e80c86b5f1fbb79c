//! Late organizations: the status, its metrics, and the pages.

use evidence_platform::role::Role;
use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings, Update};

use crate::running::Running;
use crate::support::{Place, bundles};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_without_news_is_late_everywhere() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        let operator = Operator::of(&running.service);
        let monitor = operator.create_key("acme", Role::Monitor, "alerts").await.unwrap().key;
        let monitor = monitor.reveal();
        let status = async || {
            let answer = running.get("/api/v1/status", monitor).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            answer.json["organizations"][0].clone()
        };
        let late = async || status().await["late"].clone();
        let metrics = async || running.get("/metrics/organizations", monitor).await.text();
        // Nothing is expected, and there is nothing.
        let first = status().await;
        assert_eq!((&first["organization"], &first["late"]), (&"acme".into(), &false.into()));
        assert!(first["age_seconds"].is_null() && first["late_since"].is_null(), "{first}");
        assert!(!metrics().await.contains("newest_bundle_age_seconds{"));
        let session = running.sign_in(&tenant.read).await;
        let page = running.page("/bundles", Some(&session)).await.text();
        assert!(page.contains("no bundle yet</span>") && !page.contains("late since"), "{page}");

        let expecting = |hours| Update { expect_hours: Some(Some(hours)), ..Update::default() };
        operator.update_organization("acme", expecting(26)).await.unwrap();
        assert_eq!(late().await, false);
        running.hands.advance_seconds(27 * 3_600);
        assert_eq!(late().await, true, "never a bundle");

        // Collected 51 hours ago and received now: it is the older time that counts.
        assert_eq!(running.upload(&tenant.upload, &bundles::bundle(1)).await.status, 201);
        let old = status().await;
        assert_eq!(old["late"], true, "{old}");
        let age = old["age_seconds"].as_u64().unwrap();
        assert!((51 * 3_600 - 120..51 * 3_600).contains(&age), "{age}");
        // Dated ten days ahead: it is as old as its arrival.
        assert_eq!(running.upload(&tenant.upload, &bundles::bundle(10 * 1_440)).await.status, 201);
        assert_eq!(late().await, false);
        let answer = running.get("/api/v1/status?max_age=3600", monitor).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(metrics().await.contains("\nevidence_platform_bundle_late{organization=\"acme\"} 0\n"));

        running.hands.advance_seconds(27 * 3_600);
        let now = status().await;
        assert_eq!(now["late"], true);
        let since = now["late_since"].as_str().unwrap();
        let text = metrics().await;
        assert!(text.contains("\nevidence_platform_bundle_late{organization=\"acme\"} 1\n"), "{text}");
        let line = text.lines().find(|line| line.starts_with("evidence_platform_newest_bundle_age_seconds{"));
        let age: u64 = line.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!((97_200..97_320).contains(&age), "{line:?}");
        let answer = running.get("/api/v1/status?max_age=3600", monitor).await;
        assert_eq!((answer.status, answer.problem().as_str()), (503, "late"));
        assert!(answer.json["detail"].as_str().unwrap().contains("more than max_age (3600 s)"));
        // Every page says so, the overview first.
        let session = running.sign_in(&tenant.read).await;
        let day = &since[..10];
        for path in ["/bundles", "/bundles/00000000-0000-4000-8000-000000000001"] {
            let page = running.page(path, Some(&session)).await.text();
            assert!(page.contains(&format!("late since {day}")), "{path}: {page}");
        }
        let page = running.page("/bundles", Some(&session)).await.text();
        let notice = page.find("<h2>Late since ").unwrap();
        assert!(notice < page.find("class=\"card latest\"").unwrap());

        // A monitor key sees nothing else; an uploader does not see this.
        for path in ["/api/v1/bundles", "/api/v1/keys"] {
            assert_eq!(running.get(path, monitor).await.problem(), "forbidden");
        }
        assert_eq!(running.get("/api/v1/status", &tenant.upload).await.problem(), "forbidden");
        assert_eq!(running.get("/api/v1/status?max_age=x", monitor).await.problem(), "invalid-request");
        let nothing = Update { expect_hours: Some(None), ..Update::default() };
        operator.update_organization("acme", nothing).await.unwrap();
        assert_eq!(late().await, false);
    }
}
