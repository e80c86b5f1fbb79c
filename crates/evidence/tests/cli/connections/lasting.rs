//! Which failures of the first request are tried again: those that pass in seconds, and no others.

use std::net::ToSocketAddrs as _;

use sandbox::{Body, Fault, FaultKind};

use super::*;

/// A name that no name server knows (RFC 6761).
const UNKNOWN: &str = "evidence-tests.invalid";

/// What counts the attempts.
enum Counted {
    /// The requests that the lab's host received.
    Requests,
    /// The connections to another server.
    Connections(Host),
    /// Nothing: the message does not name a number of attempts.
    Nothing,
}

/// One line of the table: what fails, the lab, what counts the attempts, their number, and what the message says.
struct Case {
    name: &'static str,
    lab: Lab,
    counted: Counted,
    attempts: usize,
    says: &'static [&'static str],
}

fn case(
    name: &'static str,
    lab: Lab,
    counted: Counted,
    attempts: usize,
    says: &'static [&'static str],
) -> Case {
    Case { name, lab, counted, attempts, says }
}

/// A host that answers every request like this.
fn answering(kind: FaultKind) -> Lab {
    Lab::new(acme().repository(sound("web")).fault(Fault::everywhere().kind(kind)))
}

/// A port where nothing listens.
fn closed() -> SocketAddr {
    StdListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A server that says these bytes, at an address with this scheme.
fn saying(bytes: &'static [u8], scheme: &str) -> (Lab, Counted) {
    let host = Host::new(Does::Says(bytes));
    (lab(&host.url().replace("https", scheme)), Counted::Connections(host))
}

fn proxied(address: &str) -> Lab {
    lab("https://localhost:9").env("HTTPS_PROXY", address)
}

fn cases() -> Vec<Case> {
    let refusing = Host::new(Does::Proxy(&[405]));
    let (plain, plain_host) = saying(b"HTTP/1.1 400 Bad Request\r\n\r\n", "https");
    let (secure, secure_host) = saying(&[21, 3, 1, 0, 2, 2, 70], "http");
    let status = |status, body| answering(FaultKind::Status(status, body));
    let mut cases = vec![
        case(
            "a page",
            answering(FaultKind::LoginPage),
            Counted::Requests,
            1,
            &[
                "HTTP 200 with a page that is not JSON",
                "help: check that sources.codehost.api_url is the address of the API",
                "login page or a proxy",
            ],
        ),
        case(
            "a page that says 404",
            status(404, Body::Html),
            Counted::Requests,
            1,
            &["HTTP 404 with a page that is not JSON", "/api/v3"],
        ),
        case("a port without TLS", plain, plain_host, 1, &["does not speak TLS", "scheme and port"]),
        case("a port with TLS", secure, secure_host, 1, &["does not speak HTTP", "scheme and port"]),
        case(
            "a dead proxy",
            proxied(&format!("http://{}", closed())),
            Counted::Nothing,
            1,
            &[
                "the proxy 127.0.0.1:",
                "(HTTPS_PROXY) refuses connections",
                "help: start the proxy, or correct or unset the variable HTTPS_PROXY",
            ],
        ),
        case(
            "no proxy",
            proxied(&format!("http://{}", refusing.address)),
            Counted::Connections(refusing),
            // The second connection asks for the status.
            2,
            &["refuses to connect to localhost (HTTP 405)", "correct HTTPS_PROXY"],
        ),
        // What passes: asked five times.
        case("503", status(503, Body::Html), Counted::Requests, 5, &["HTTP 503", "after 5 attempts"]),
        case("a reset", answering(FaultKind::Reset), Counted::Requests, 5, &["after 5 attempts"]),
    ];
    // Without a name server, the failure is that of the server.
    match (UNKNOWN, 443).to_socket_addrs() {
        Err(error) if error.to_string().contains("not known") => {
            cases.push(case(
                "a name",
                lab(&format!("https://{UNKNOWN}")),
                Counted::Nothing,
                1,
                &[
                    "the name evidence-tests.invalid does not resolve",
                    "help: check sources.codehost.api_url, and the name server of this machine",
                ],
            ));
            cases.push(case(
                "a proxy's name",
                proxied(&format!("http://{UNKNOWN}:3128")),
                Counted::Nothing,
                1,
                &[
                    "the name of the proxy evidence-tests.invalid:3128 (HTTPS_PROXY) does not resolve",
                    "correct or unset the variable HTTPS_PROXY",
                ],
            ));
        }
        other => println!("not tried, because this machine's name server does not answer: {other:?}"),
    }
    cases
}

#[test]
fn only_what_passes_is_tried_again() {
    std::thread::scope(|scope| {
        for Case { name, lab, counted, attempts, says } in cases() {
            scope.spawn(move || {
                let began = Instant::now();
                let run = lab.collect(&["--quiet"]).exits(2).leaves_nothing().says_not("<html");
                let run = says.iter().fold(run, |run, text| run.says(text));
                let took = began.elapsed().as_secs_f64();
                let asked = match counted {
                    Counted::Requests => usize::try_from(lab.server.request_count()).unwrap(),
                    Counted::Connections(host) => host.connections(),
                    Counted::Nothing => 1,
                };
                println!("{name}: {asked} attempts, {took:.1} s");
                assert_eq!(asked, attempts, "{name}: {}", run.stderr);
                assert_eq!(run.stderr.contains("attempts"), attempts == 5, "{name}: {}", run.stderr);
            });
        }
    });
}

/// After the first good answer, the same faults may be a disturbance: see also the matrix of faults.
#[test]
fn a_page_in_the_middle_of_a_run_is_asked_again() {
    let page = Fault::on("/repos/acme/web/branches/main/protection").kind(FaultKind::LoginPage).times(1);
    let lab = Lab::new(acme().repository(sound("web")).fault(page));
    lab.collect(&[]).exits(0);
}
