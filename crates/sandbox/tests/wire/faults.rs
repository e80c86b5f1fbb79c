//! Every kind of fault on the wire.

use crate::client::{get, get_with, request, send};
use sandbox::codehost::{CodeHost, File, Organization, Protection, Repository, Token};
use sandbox::{AmbiguousLength, BadLink, Body, Fault, FaultKind, Server};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const TOKEN: &str = "owner";
const PATH: &str = "/repos/acme/web/branches/main/protection";

fn host() -> CodeHost {
    let web = Repository::new("acme", "web")
        .protection("main", Protection::new().reviews(2))
        .file("CODEOWNERS", File::text("* @acme/all\n"));
    CodeHost::new()
        .organization(Organization::new("acme"))
        .repository(web)
        .token(Token::classic(TOKEN).scopes(["repo"]))
}

fn with(kind: FaultKind) -> Server {
    host().fault(Fault::on(PATH).times(1).kind(kind)).serve().unwrap()
}

/// The answer for a client without any protection.
fn wire(server: &Server) -> std::io::Result<(String, Vec<u8>)> {
    let headers = [("User-Agent", "x"), ("Authorization", "token owner")];
    send(server, &request("GET", PATH, &headers))
}

fn length(head: &str) -> usize {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("content-length:")).unwrap();
    line.split(": ").nth(1).unwrap().trim().parse().unwrap()
}

#[test]
fn statuses_as_json_and_as_a_page() {
    for status in [500, 502, 503, 504, 429, 404] {
        for (body, content_type) in [
            (Body::Json, "application/json; charset=utf-8"),
            (Body::Html, "text/html; charset=utf-8"),
            (Body::Empty, "application/json; charset=utf-8"),
            (Body::Text("out of order".into()), "text/plain; charset=utf-8"),
        ] {
            let page = matches!(body, Body::Html);
            let server = with(FaultKind::Status(status, body));
            let answer = get(&server, TOKEN, PATH);
            assert_eq!((answer.status, answer.header("content-type")), (status, Some(content_type)));
            assert_eq!(
                answer.number("x-ratelimit-remaining"),
                4999,
                "they have the limit's headers, and count"
            );
            assert!(answer.header("x-github-request-id").is_some());
            assert_eq!(page, answer.body.len() > 25_000 && answer.text().contains("<title>Unicorn!"));
            assert_eq!(get(&server, TOKEN, PATH).status, 200, "healed");
        }
    }
    let server = with(FaultKind::Status(503, Body::Json));
    assert!(get(&server, TOKEN, PATH).message().starts_with("No server is currently available"));
}

#[test]
fn reset() {
    let server = with(FaultKind::Reset);
    assert_eq!(wire(&server).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(get(&server, TOKEN, PATH).status, 200);
    let requests = server.requests();
    assert_eq!((requests[0].status, requests[0].fault), (None, Some("reset")));
    assert_eq!((requests[1].status, requests[1].fault), (Some(200), None));
}

#[test]
fn refused_and_back() {
    let server = host()
        .fault(Fault::on(PATH).times(1).kind(FaultKind::Refuse))
        .refused_for(Duration::from_millis(400))
        .serve()
        .unwrap();
    assert_eq!(wire(&server).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    // It begins shortly after the reset and lasts a while; then the host is back on the same port.
    let mut refused = 0;
    let back = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        match TcpStream::connect(server.address()) {
            Ok(_) if refused == 0 => None,
            Ok(_) => Some(get(&server, TOKEN, PATH).status),
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
                refused += 1;
                None
            }
        }
    });
    assert_eq!(back, Some(200), "refused {refused} times");
}

/// Otherwise this test would take an hour.
#[test]
fn a_host_that_refuses_can_be_stopped() {
    let fault = Fault::on(PATH).times(1).kind(FaultKind::Refuse);
    let server = host().fault(fault).refused_for(Duration::from_secs(3_600)).serve().unwrap();
    assert_eq!(wire(&server).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    while TcpStream::connect(server.address()).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(server);
}

#[test]
fn bodies_that_are_cut_or_lie_about_their_length() {
    let whole = get(&host().serve().unwrap(), TOKEN, PATH).body.len();

    let (head, body) = wire(&with(FaultKind::Truncate(100))).unwrap();
    assert_eq!((length(&head), body.len()), (whole, 100));

    let (head, body) = wire(&with(FaultKind::WrongContentLength)).unwrap();
    assert_eq!((length(&head), body.len()), (whole / 2, whole));

    for (how, lengths, chunked) in [
        (AmbiguousLength::Chunks, 1, true),
        (AmbiguousLength::PackedChunks, 1, true),
        (AmbiguousLength::Repeated, 2, false),
        (AmbiguousLength::Different, 2, false),
    ] {
        let (head, body) = wire(&with(FaultKind::AmbiguousLength(how))).unwrap();
        let head = head.to_lowercase();
        assert_eq!(head.matches("content-length: ").count(), lengths, "{head}");
        assert_eq!(head.contains("transfer-encoding: chunked"), chunked, "{head}");
        let length = if chunked { format!("{whole:x}").len() + 2 + whole + 7 } else { whole };
        assert_eq!(body.len(), length, "{head}");
    }

    let (head, body) = wire(&with(FaultKind::BrokenChunk)).unwrap();
    assert!(head.contains("transfer-encoding: chunked"));
    let text = String::from_utf8(body).unwrap();
    assert!(text.starts_with(&format!("{:x}\r\n", whole / 2)) && text.contains("\r\nno size\r\n"), "{text}");
}

#[test]
fn slow_bodies_and_silence() {
    let started = Instant::now();
    let (head, body) = wire(&with(FaultKind::SlowBody { bytes_per_second: 4000 })).unwrap();
    assert_eq!(length(&head), body.len());
    let expected = Duration::from_millis(body.len() as u64 / 4);
    assert!(started.elapsed() > expected / 2, "{:?} for {expected:?}", started.elapsed());

    // One byte per second: the head arrives at once, the body hardly at all.
    let server = with(FaultKind::SlowBody { bytes_per_second: 1 });
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(1300))).unwrap();
    let headers = [("User-Agent", "x"), ("Authorization", "token owner")];
    stream.write_all(request("GET", PATH, &headers).as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..read]);
        if seen.windows(4).any(|window| window == b"\r\n\r\n") && read == 1 {
            break;
        }
    }
    let end = seen.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    assert!(seen.len() - end - 4 <= 2, "{} bytes of body", seen.len() - end - 4);

    let server = with(FaultKind::Hang);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    stream.write_all(request("GET", PATH, &headers).as_bytes()).unwrap();
    assert_eq!(stream.read(&mut buffer).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(server);
    assert_eq!(
        stream.read(&mut buffer).unwrap_or_default(),
        0,
        "a server that ends takes its connections with it"
    );
}

#[test]
fn limits_in_every_dress() {
    for status in [403, 429] {
        for (retry_after, headers) in [(Some(7), true), (None, true), (Some(7), false), (None, false)] {
            let server = with(FaultKind::SecondaryLimit { retry_after, headers, status });
            let answer = get(&server, TOKEN, PATH);
            assert_eq!(
                (answer.status, answer.json()["status"].as_str()),
                (status, Some(status.to_string().as_str()))
            );
            assert!(answer.message().starts_with("You have exceeded a secondary rate limit."));
            assert_eq!(answer.header("retry-after"), retry_after.map(|_| "7"));
            assert_eq!(answer.header("x-ratelimit-remaining").is_some(), headers);
        }
    }
    let answer = get(&with(FaultKind::AbuseDetection { retry_after: Some(60) }), TOKEN, PATH);
    assert!(answer.message().starts_with("You have triggered an abuse detection mechanism."));
    assert_eq!((answer.header("retry-after"), answer.header("x-ratelimit-limit")), (Some("60"), None));

    for reset_in in [120, -7200] {
        let answer = get(&with(FaultKind::PrimaryLimit { reset_in }), TOKEN, PATH);
        assert_eq!((answer.status, answer.number("x-ratelimit-remaining")), (403, 0));
        assert!(answer.message().starts_with("API rate limit exceeded for user ID "));
        let date = jiff::fmt::rfc2822::parse(answer.header("date").unwrap()).unwrap().timestamp().as_second();
        assert_eq!(answer.number("x-ratelimit-reset") - date, reset_in);
    }

    // A good answer with nothing left, and one whose remaining count has increased.
    let server = with(FaultKind::RateHeaders { limit: 5000, remaining: 0, reset_in: 60 });
    let answer = get(&server, TOKEN, PATH);
    assert_eq!((answer.status, answer.number("x-ratelimit-remaining")), (200, 0));
    assert_eq!(get(&server, TOKEN, PATH).number("x-ratelimit-remaining"), 4998);
}

#[test]
fn answers_that_are_something_else() {
    let server = with(FaultKind::Redirect("/repos/acme/web".into()));
    let answer = get(&server, TOKEN, PATH);
    let target = format!("{}/repos/acme/web", server.url());
    assert_eq!((answer.status, answer.header("location")), (301, Some(target.as_str())));
    let answer = get(&with(FaultKind::Redirect("http://elsewhere.example/x".into())), TOKEN, PATH);
    assert_eq!(answer.header("location"), Some("http://elsewhere.example/x"));

    let answer = get(&with(FaultKind::LoginPage), TOKEN, PATH);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(answer.header("x-github-request-id"), None, "it is not the host's");

    let answer = get(&with(FaultKind::InvalidUtf8), TOKEN, PATH);
    assert_eq!((answer.status, String::from_utf8(answer.body).is_err()), (200, true));

    let answer = get(&with(FaultKind::DeepJson(10_000)), TOKEN, PATH);
    assert_eq!((answer.status, answer.body.len(), answer.body[9_999]), (200, 20_000, b'['));

    let answer = get(&with(FaultKind::HugeHeader(20_000)), TOKEN, PATH);
    assert_eq!((answer.status, answer.header("x-padding").unwrap().len()), (200, 20_000));

    let odd = serde_json::json!({"size": 1e300, "id": -1});
    let headers = vec![("X-OAuth-Scopes".to_owned(), "admin:org".to_owned())];
    let answer = get(&with(FaultKind::Json(200, headers, odd.clone())), TOKEN, PATH);
    assert_eq!(
        (answer.status, answer.json(), answer.header("x-oauth-scopes")),
        (200, odd, Some("admin:org"))
    );

    let changes =
        vec![("ETag".into(), None), ("X-RateLimit-Reset".into(), Some("99999999999999999999".into()))];
    let answer = get(&with(FaultKind::Headers(changes)), TOKEN, PATH);
    assert_eq!(
        (answer.header("etag"), answer.header("x-ratelimit-reset")),
        (None, Some("99999999999999999999"))
    );
}

#[test]
fn answers_with_impossible_values() {
    let answer = get(&with(FaultKind::Numbers("99999999999999999999".into())), TOKEN, PATH);
    let reviews = &answer.json()["required_pull_request_reviews"]["required_approving_review_count"];
    assert_eq!(reviews.as_f64(), Some(1e20));
    let answer = get(&with(FaultKind::Numbers("1e999".into())), TOKEN, PATH);
    assert!(answer.text().contains("\"required_approving_review_count\":1e999"), "{}", answer.text());

    let listing = "/orgs/acme/repos";
    for name in ["..", "/", "a\0b", "a\nb", "\u{1b}[2J", &"n".repeat(300)] {
        let server = host()
            .repository(Repository::new("acme", "zoo"))
            .fault(Fault::on(listing).times(1).kind(FaultKind::Names(name.to_owned())))
            .serve()
            .unwrap();
        let first = get(&server, TOKEN, listing).json();
        assert_eq!(
            (&first[0]["name"], &first[0]["full_name"]),
            (&name.into(), &format!("acme/{name}").into())
        );
        assert_ne!(first[1]["name"], name, "one of them");
        assert_ne!(get(&server, TOKEN, listing).json()[0]["name"], name);
    }

    let date = |answer: &crate::client::Answer| {
        jiff::fmt::rfc2822::parse(answer.header("date").unwrap()).unwrap().timestamp().as_second()
    };
    for off in [7_200, -7_200] {
        let server = with(FaultKind::Clock(off));
        let (wrong, right) = (get(&server, TOKEN, PATH), get(&server, TOKEN, PATH));
        assert!((date(&wrong) - date(&right) - off).abs() <= 5);
        let resets = (wrong.number("x-ratelimit-reset"), right.number("x-ratelimit-reset"));
        assert_eq!(resets.0 - resets.1, off);
    }
}

#[test]
fn too_much() {
    let (_, body) = wire(&with(FaultKind::HugeBody(5_000_000))).unwrap();
    assert_eq!(body.len(), 5_000_000);
    // Two gigabytes, of which the client reads a little before it disconnects.
    let server = with(FaultKind::HugeBody(2 << 30));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let headers = [("User-Agent", "x"), ("Authorization", "token owner")];
    stream.write_all(request("GET", PATH, &headers).as_bytes()).unwrap();
    stream.read_exact(&mut vec![0; 3_000_000]).unwrap();
    drop(stream);
    assert_eq!(get(&server, TOKEN, PATH).status, 200, "and the host goes on");

    let (head, body) = wire(&with(FaultKind::GzipBomb(2 << 30))).unwrap();
    assert!(head.contains("content-encoding: gzip"));
    assert!(body.len() < 4_000_000, "{} bytes on the wire", body.len());
    let mut start = [0; 1000];
    flate2::read::GzDecoder::new(&*body).read_exact(&mut start).unwrap();
    assert_eq!(start, [b' '; 1000]);
}

#[test]
fn links_that_mislead() {
    let listing = |kind| {
        let host =
            (0..40).fold(host(), |host, n| host.repository(Repository::new("acme", format!("r{n:02}"))));
        host.fault(Fault::on("/org*/repos").kind(kind)).serve().unwrap()
    };
    let server = listing(FaultKind::BadLink(BadLink::ToItself));
    let path = "/orgs/acme/repos?per_page=10&page=2";
    let expected = format!("<{}{path}>; rel=\"next\"", server.url());
    assert_eq!(get(&server, TOKEN, path).header("link"), Some(expected.as_str()));

    let server = listing(FaultKind::BadLink(BadLink::OtherHost("http://127.0.0.1:9".into())));
    let link = get(&server, TOKEN, path).header("link").unwrap().to_owned();
    assert_eq!(link, "<http://127.0.0.1:9/orgs/acme/repos?per_page=10&page=3>; rel=\"next\"");

    let server = listing(FaultKind::BadLink(BadLink::Endless));
    for page in [1, 7, 5_000] {
        let answer = get(&server, TOKEN, &format!("/orgs/acme/repos?per_page=10&page={page}"));
        assert_eq!(answer.json().as_array().unwrap().len(), 10);
        assert!(answer.header("link").unwrap().contains(&format!("page={}>; rel=\"next\"", page + 1)));
    }

    let server = listing(FaultKind::ShiftPage(-1));
    let second = get(&server, TOKEN, "/orgs/acme/repos?per_page=10&page=2&sort=full_name").json();
    assert_eq!(second[0]["name"], "r09", "the last of the page before, again");
}

#[test]
fn which_requests_and_how_often() {
    let fault = |pattern: &str| Fault::on(pattern).kind(FaultKind::Status(500, Body::Json));
    let status = |server: &Server, path: &str| get(server, TOKEN, path).status;

    let server = host().fault(fault("/repos/*").times(2)).serve().unwrap();
    let seen: Vec<u16> = (0..4).map(|_| status(&server, PATH)).collect();
    assert_eq!((seen, status(&server, "/user")), (vec![500, 500, 200, 200], 200));
    assert_eq!(server.faults_injected(), BTreeMap::from([("status-json", 2)]));

    let server = host().fault(fault("*").after(2)).serve().unwrap();
    let seen: Vec<u16> = (0..4).map(|_| status(&server, PATH)).collect();
    assert_eq!(seen, [200, 200, 500, 500]);
    server.update(|host| host.clear_faults());
    assert_eq!(status(&server, PATH), 200);

    let server = host().fault(fault("*").times_per_path(1)).serve().unwrap();
    for path in [PATH, "/user", "/orgs/acme"] {
        assert_eq!((status(&server, path), status(&server, path)), (500, 200), "{path}");
    }

    // A fault that is used up stays used up when the state changes.
    let server = host().fault(fault(PATH).times(1)).serve().unwrap();
    assert_eq!(status(&server, PATH), 500);
    server.update(|host| host.set_latency(Duration::from_millis(1)));
    assert_eq!(status(&server, PATH), 200);
}

#[test]
fn chance_follows_the_seed_and_not_the_order() {
    let paths: Vec<String> = (0..400).map(|n| format!("/orgs/o{n}")).collect();
    let struck = |seed, reversed| {
        let kinds = [FaultKind::Status(500, Body::Json), FaultKind::Status(503, Body::Html)];
        let server = host().fault(Fault::everywhere().chance(0.1, seed).kinds(kinds)).serve().unwrap();
        let mut order: Vec<&String> = paths.iter().collect();
        if reversed {
            order.reverse();
        }
        let mut seen: Vec<(String, u16)> =
            order.into_iter().map(|path| (path.clone(), get(&server, TOKEN, path).status)).collect();
        seen.sort();
        seen.into_iter().filter(|(_, status)| *status >= 500).collect::<Vec<_>>()
    };
    let first = struck(7, false);
    assert_eq!(first, struck(7, true));
    assert_ne!(first, struck(8, false));
    assert!((15..70).contains(&first.len()), "{} of 400", first.len());
    assert!(first.iter().any(|(_, status)| *status == 500) && first.iter().any(|(_, status)| *status == 503));
}

#[test]
fn what_lasts_strikes_the_same_paths_with_the_same_kind() {
    let kinds = [FaultKind::Status(500, Body::Json), FaultKind::Status(503, Body::Html)];
    let server = host().fault(Fault::everywhere().chance(0.3, 7).lasting().kinds(kinds)).serve().unwrap();
    let seen: Vec<Vec<u16>> = (0..60)
        .map(|n| (0..3).map(|_| get(&server, TOKEN, &format!("/orgs/o{n}")).status).collect())
        .collect();
    assert!(seen.iter().all(|statuses| statuses.iter().all(|status| *status == statuses[0])), "{seen:?}");
    for status in [500, 503, 404] {
        assert!(seen.iter().any(|statuses| statuses[0] == status), "{status}");
    }
}

#[test]
fn faults_hold_for_connections_that_stay_open() {
    let server = with(FaultKind::Status(502, Body::Json));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let text = request("GET", PATH, &[("User-Agent", "x"), ("Authorization", "token owner")]);
        stream.write_all(text.replace("Connection: close\r\n", "").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut one = [0];
            stream.read_exact(&mut one).unwrap();
            bytes.push(one[0]);
            if bytes.ends_with(b"\r\n\r\n") {
                break;
            }
        }
        let head = String::from_utf8(bytes).unwrap();
        stream.read_exact(&mut vec![0; length(&head)]).unwrap();
        seen.push(head.split(' ').nth(1).unwrap().to_owned());
    }
    assert_eq!(seen, ["502", "200", "200"]);
    let unknown = get_with(&server, TOKEN, "/user", &[("If-None-Match", "W/\"no\"")]);
    assert_eq!(unknown.status, 200);
}
