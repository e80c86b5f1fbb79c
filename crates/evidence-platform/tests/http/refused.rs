//! Refused keys and failed sign-ins: in the platform's own audit log, with the client's address, in bounded number.

use evidence_platform::secret::ApiKey;
use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings};
use evidence_platform::store::AuditRecord;

use crate::running::{Answer, Running};
use crate::support::Place;

/// Authenticates with this header, as a proxy would for this client.
async fn call(running: &Running, authorization: &str, client: &str) -> u16 {
    let request = running.client.get(running.url("/api/v1/whoami")).header("x-forwarded-for", client);
    Answer::of(request.header("authorization", authorization).send().await.unwrap()).await.status
}

/// The platform's log, oldest first.
async fn log(running: &Running) -> Vec<AuditRecord> {
    let mut log = Operator::of(&running.service).audit_log(1_000).await.unwrap();
    log.reverse();
    log
}

fn said(record: &AuditRecord) -> (&str, &str, u64) {
    assert_eq!(record.outcome, "refused");
    (&record.action, &record.actor, record.detail["attempts"].as_u64().unwrap())
}

#[tokio::test]
async fn what_is_refused_is_recorded_with_its_address() {
    for place in Place::all().await {
        let limits = Limits { proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Limits::default() };
        let running = Running::at(place, Settings::default(), limits).await;
        let tenant = running.tenant("acme").await;
        let unknown = ApiKey::random().unwrap();
        let own = running.get("/api/v1/audit-log?limit=100", &tenant.admin).await.json;

        // Requests without a key, and with a valid one, are not failed attempts.
        assert_eq!(running.call(reqwest::Method::GET, "/api/v1/whoami", None, None).await.status, 401);
        assert_eq!(running.page("/bundles", None).await.status, 401);
        assert_eq!(call(&running, &format!("Bearer {}", tenant.read), "192.0.2.1").await, 200);
        running.sign_in(&tenant.read).await;
        assert_eq!(log(&running).await.len(), 0);

        assert_eq!(call(&running, &format!("Bearer {}", tenant.revoked), "192.0.2.1").await, 401);
        for wrong in ["Bearer evp_guess", "Basic dXNlcjpwYXNzd29yZA==", "x"] {
            assert_eq!(call(&running, wrong, "192.0.2.1").await, 401);
        }
        // The address that the client itself claims is further left.
        assert_eq!(
            call(&running, &format!("Bearer {}", unknown.reveal()), "192.0.2.1, 2001:db8::7").await,
            401
        );
        for key in ["hunter2 the password", unknown.reveal(), &tenant.upload] {
            let answer = running.submit("/sign-in", &format!("key={key}&next="), None).await;
            assert!(matches!(answer.status, 401 | 403), "{answer:?}");
        }

        let first = log(&running).await;
        let prefix = |key: &str| ApiKey::parse(key).unwrap().prefix().to_owned();
        assert_eq!(
            first.iter().map(said).collect::<Vec<_>>(),
            [
                ("key.refuse", "address:192.0.2.1", 1),
                ("key.refuse", "address:2001:db8::7", 1),
                ("session.refuse", "address:127.0.0.1", 1),
            ]
        );
        let targets: Vec<_> = first.iter().map(|record| record.target.clone()).collect();
        assert_eq!(targets, [prefix(&tenant.revoked), unknown.prefix().to_owned(), String::new()]);
        assert!(first.iter().all(|record| record.request_id.len() == 24));

        running.service.end_minute().await;
        running.service.end_minute().await;
        let all = log(&running).await;
        let mut rest: Vec<_> = all.iter().skip(3).map(said).collect();
        rest.sort_unstable();
        assert_eq!(
            rest,
            [("key.refuse", "address:192.0.2.1", 3), ("session.refuse", "address:127.0.0.1", 2)]
        );
        let text = format!("{all:?}");
        for secret in [&tenant.revoked, unknown.reveal(), "guess", "dXNl", "hunter2", "password"] {
            assert!(!text.contains(secret.rsplit('_').next().unwrap()), "{text}");
        }
        // The log of the organization does not contain them.
        let now = running.get("/api/v1/audit-log?limit=100", &tenant.admin).await.json;
        let grown = now["items"].as_array().unwrap().len() - own["items"].as_array().unwrap().len();
        assert_eq!(grown, 1, "the session alone: {now}");
        assert!(!now.to_string().contains("refuse\""), "{now}");
    }
}

#[tokio::test]
async fn many_addresses_do_not_fill_the_log() {
    let limits = Limits { proxies: vec!["127.0.0.1/32".parse().unwrap()], ..Limits::default() };
    let running = Running::at(Place::local(), Settings::default(), limits).await;
    for number in 0..300 {
        assert_eq!(call(&running, "Bearer x", &format!("10.1.{}.{}", number / 200, number % 200)).await, 401);
    }
    running.service.end_minute().await;
    let log = log(&running).await;
    assert!(log.len() <= 101, "{}", log.len());
    assert_eq!(said(log.last().unwrap()).1, "address:other");
    assert_eq!(log.iter().map(|record| said(record).2).sum::<u64>(), 300, "every attempt is counted");
}

#[tokio::test]
async fn without_a_trusted_proxy_the_other_end_of_the_connection_counts() {
    let running = Running::local().await;
    assert_eq!(call(&running, "Bearer x", "192.0.2.1").await, 401);
    assert_eq!(said(&log(&running).await[0]).1, "address:127.0.0.1");
}
