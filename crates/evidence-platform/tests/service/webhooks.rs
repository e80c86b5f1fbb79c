//! Webhooks: what is told, in the transaction of what happened; signed, retried, given up, and never into a private
//! network unless that is allowed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use evidence_platform::event::Event;
use evidence_platform::service::{CheckPlan, Operator, Service, Settings};
use evidence_platform::webhook::sign;
use http::StatusCode;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::{Place, VirtualTime, bundles, principal, tenant, upload};

/// A receiver: what came, and what it answers.
#[derive(Clone)]
struct Receiver {
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<Mutex<StatusCode>>,
    url: String,
}

#[derive(Debug, Clone)]
struct Seen {
    id: String,
    seconds: i64,
    signature: String,
    body: String,
}

impl Receiver {
    async fn start() -> Receiver {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver =
            Receiver { seen: Arc::default(), answer: Arc::new(Mutex::new(StatusCode::NO_CONTENT)), url };
        let taking = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(taking.clone(), stream));
            }
        });
        receiver
    }

    fn answer(&self, status: StatusCode) {
        *self.answer.lock().unwrap() = status;
    }

    /// What came since the last call: type and data.
    fn taken(&self, secret: &str) -> Vec<(String, Value)> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let read = |seen: &Seen| {
            let signature = sign(secret, &seen.id, seen.seconds, &seen.body);
            assert_eq!(signature.as_deref(), Some(seen.signature.as_str()), "{seen:?}");
            let body: Value = serde_json::from_str(&seen.body).unwrap();
            assert_eq!(body["organization"], "acme");
            assert!(body["timestamp"].as_str().unwrap().ends_with('Z'));
            (body["type"].as_str().unwrap().to_owned(), body["data"].clone())
        };
        seen.iter().map(read).collect()
    }
}

/// One request on a connection of its own.
async fn take(receiver: Receiver, stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    let mut first = String::new();
    stream.read_line(&mut first).await.unwrap();
    assert_eq!(first, "POST /hook HTTP/1.1\r\n");
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    assert_eq!(headers["content-type"], "application/json");
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    let seen = Seen {
        id: headers["webhook-id"].clone(),
        seconds: headers["webhook-timestamp"].parse().unwrap(),
        signature: headers["webhook-signature"].clone(),
        body: String::from_utf8(body).unwrap(),
    };
    receiver.seen.lock().unwrap().push(seen);
    let status = receiver.answer.lock().unwrap().as_u16();
    let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
}

fn settings() -> Settings {
    Settings { private_webhooks: true, ..Settings::default() }
}

async fn lab(place: &Place) -> (Service, VirtualTime, Receiver) {
    let (service, hands) = place.open(settings()).await;
    (service, hands, Receiver::start().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_is_told_once() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands, receiver) = lab(&place).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let operator = Operator::of(&service);
        let made = operator.create_webhook("acme", &receiver.url, &[]).await.unwrap();
        // Another organization's webhook hears nothing of it.
        operator.create_organization("Other", "other").await.unwrap();
        let deaf = Receiver::start().await;
        operator.create_webhook("other", &deaf.url, &[]).await.unwrap();
        let taken = || receiver.taken(&made.secret);
        let names = |taken: &[(String, Value)]| {
            let mut names: Vec<String> = taken.iter().map(|(name, _)| name.clone()).collect();
            names.sort();
            names
        };

        // Number 0 passes, number 1 fails.
        upload(&service, &admin, &bundles::bundle(0)).await.unwrap();
        upload(&service, &admin, &bundles::bundle(0)).await.unwrap();
        assert!(taken().is_empty(), "nothing is sent within a request");
        assert_eq!(service.deliver().await.unwrap(), (1, 0));
        let told = taken();
        assert_eq!(names(&told), ["bundle.stored"]);
        assert_eq!(told[0].1["bundle_id"], "00000000-0000-4000-8000-000000000000");
        upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
        service.deliver().await.unwrap();
        let told = taken();
        assert_eq!(names(&told), ["bundle.stored", "control.failed"]);
        let failed = &told.iter().find(|(name, _)| name == "control.failed").unwrap().1;
        assert_eq!(failed["controls"][0]["id"], "CC6.1");
        assert_eq!(
            (&failed["controls"][0]["from"], &failed["controls"][0]["to"]),
            (&"pass".into(), &"fail".into())
        );
        assert_eq!(failed["previous_bundle_id"], "00000000-0000-4000-8000-000000000000");

        // Refusals.
        let unknown = bundles::signed(2, b"{}\n", &bundles::other_key());
        upload(&service, &admin, &unknown).await.unwrap_err();
        upload(&service, &admin, &bundles::tampered(&bundles::bundle(3))).await.unwrap_err();
        service.deliver().await.unwrap();
        assert_eq!(names(&taken()), ["bundle.refused", "signer.unknown"]);

        // Damage: found twice, told once.
        let blobs = place.blobs();
        blobs.delete(admin.organization(), &crate::support::digest(&bundles::bundle(1))).await;
        for _ in 0..2 {
            service.check_all(CheckPlan { restart: true, pace: None }).await.unwrap();
        }
        service.deliver().await.unwrap();
        let told = taken();
        assert_eq!(names(&told), ["bundle.damaged"]);
        assert_eq!(told[0].1["reason"], "blob-missing");

        // Late: told once, until a bundle arrives and it is late again.
        let update =
            evidence_platform::service::Update { expect_hours: Some(Some(48)), ..Default::default() };
        operator.update_organization("acme", update).await.unwrap();
        hands.advance_days(2);
        for _ in 0..3 {
            service.report_late().await.unwrap();
        }
        service.deliver().await.unwrap();
        let told = taken();
        assert_eq!(names(&told), ["organization.late"]);
        assert_eq!(told[0].1["expect_hours"], 48);
        upload(&service, &admin, &bundles::bundle(3 * 1_440)).await.unwrap();
        service.report_late().await.unwrap();
        hands.advance_days(3);
        service.report_late().await.unwrap();
        service.deliver().await.unwrap();
        let told = names(&taken());
        assert!(told.contains(&"bundle.stored".to_owned()), "{told:?}");
        assert_eq!(told.iter().filter(|name| *name == "organization.late").count(), 1, "{told:?}");
        assert!(deaf.seen.lock().unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_tried_again_and_given_up_after_days() {
    for place in Place::all().await {
        println!("{}", place.name);
        let (service, hands, receiver) = lab(&place).await;
        let second = place.open_with(settings(), hands.clock()).await;
        let tenant = tenant(&service, "acme").await;
        let admin = principal(&service, &tenant.admin).await;
        let operator = Operator::of(&service);
        let events = [Event::BundleStored];
        let made = operator.create_webhook("acme", &receiver.url, &events).await.unwrap();
        receiver.answer(StatusCode::INTERNAL_SERVER_ERROR);
        upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
        upload(&service, &admin, &bundles::bundle(2)).await.unwrap();
        // Two instances at once: each message is sent by one of them.
        let (one, two) = tokio::join!(service.deliver(), second.deliver());
        assert_eq!(one.unwrap().1 + two.unwrap().1, 2);
        let first: Vec<String> = receiver.seen.lock().unwrap().iter().map(|seen| seen.id.clone()).collect();
        receiver.taken(&made.secret);
        assert_eq!(service.deliver().await.unwrap(), (0, 0), "not before five seconds");
        let listed = operator.webhooks("acme").await.unwrap().remove(0);
        assert_eq!((listed.waiting, listed.failure.as_str(), listed.delivered_at), (2, "HTTP 500", None));
        hands.advance_seconds(6);
        receiver.answer(StatusCode::OK);
        assert_eq!(service.deliver().await.unwrap(), (2, 0));
        let mut again: Vec<String> =
            receiver.seen.lock().unwrap().iter().map(|seen| seen.id.clone()).collect();
        again.sort();
        let mut first = first;
        first.sort();
        assert_eq!(first, again, "the id is the same in every attempt");
        receiver.taken(&made.secret);
        let listed = operator.webhooks("acme").await.unwrap().remove(0);
        assert!(listed.delivered_at.is_some() && listed.waiting == 0 && listed.failure.is_empty());

        // No one takes it for days.
        receiver.answer(StatusCode::NOT_FOUND);
        upload(&service, &admin, &bundles::bundle(3)).await.unwrap();
        let mut attempts = 0;
        for _ in 0..40 {
            attempts += service.deliver().await.unwrap().1;
            hands.advance_seconds(25 * 3_600);
        }
        assert_eq!(attempts, 10);
        let listed = operator.webhooks("acme").await.unwrap().remove(0);
        assert_eq!((listed.waiting, listed.failure.as_str()), (0, "HTTP 404"));
        operator.remove_webhook("acme", &listed.id).await.unwrap();
        upload(&service, &admin, &bundles::bundle(4)).await.unwrap();
        assert_eq!(service.deliver().await.unwrap(), (0, 0));
    }
}

#[tokio::test]
async fn a_private_address_is_refused_unless_the_operator_allows_it() {
    let place = Place::local();
    let (service, _) = place.open(Settings::default()).await;
    let receiver = Receiver::start().await;
    let tenant = tenant(&service, "acme").await;
    let admin = principal(&service, &tenant.admin).await;
    let operator = Operator::of(&service);
    operator.create_webhook("acme", &receiver.url, &[]).await.unwrap();
    operator.create_webhook("acme", &receiver.url.replace("http:", "https:"), &[]).await.unwrap();
    operator.create_webhook("acme", "https://localhost/hook", &[]).await.unwrap();
    upload(&service, &admin, &bundles::bundle(1)).await.unwrap();
    assert_eq!(service.deliver().await.unwrap(), (0, 3));
    assert!(receiver.seen.lock().unwrap().is_empty());
    let listed = operator.webhooks("acme").await.unwrap();
    assert!(listed[0].failure.starts_with("plain HTTP is refused"), "{}", listed[0].failure);
    assert!(listed[1..].iter().all(|webhook| webhook.failure.contains("private network")));
    for url in ["", "ftp://x.example/", "https://user:secret@x.example/"] {
        assert!(operator.create_webhook("acme", url, &[]).await.is_err(), "{url}");
    }
}
