//! `notify`: who learns how a collection ended, and what they learn.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use sandbox::codehost::CodeHost;

use crate::common::{Lab, TOKEN, acme, repository, sound};

/// A receiver that answers every request with this status line; the requests, head and body.
fn receiver(answer: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) < 3 {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let _ = seen.send(head + "\n" + &String::from_utf8(body).unwrap());
            let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    (url, requests)
}

fn lab(host: CodeHost, url: &str) -> Lab {
    let section = format!("notify:\n  success_url: {url}/a1b2\n  failure_url: {url}/a1b2/fail\n");
    Lab::new(host).named().with(|config| config.rest(&section))
}

#[test]
fn the_end_of_a_collection_is_reported_once_and_without_secrets() {
    let (url, requests) = receiver("200 OK");
    let lab = lab(acme().repository(sound("web")), &url);
    lab.collect(&["--dry-run"]).exits(0);
    assert!(requests.try_recv().is_err(), "a dry run reports nothing");
    lab.collect(&[]).exits(0).says_not("notification");
    let request = requests.recv_timeout(Duration::from_secs(5)).unwrap();
    assert!(request.starts_with("POST /a1b2 HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\nevidence collect: exit code 0 (success)\n"), "{request}");
    assert!(!request.contains(TOKEN) && !request.to_ascii_lowercase().contains("authorization"), "{request}");
    assert!(requests.try_recv().is_err(), "once");
    // Any other end is a failure.
    let broken = lab.env("CODEHOST_TOKEN", "ghp_wrong");
    broken.collect(&[]).exits(2);
    let request = requests.recv_timeout(Duration::from_secs(5)).unwrap();
    assert!(request.starts_with("POST /a1b2/fail HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\nevidence collect: exit code 2 (connection)\n"), "{request}");
}

#[test]
fn a_receiver_that_fails_changes_no_exit_code() {
    let (refusing, _requests) = receiver("404 Not Found");
    let run = lab(acme().repository(sound("web")), &refusing).collect(&[]).exits(0);
    run.says("did not take the notification of how this run ended: HTTP 404").says_not("a1b2");
    // No one listens there.
    let run = lab(acme().repository(repository("web")), "http://127.0.0.1:9").collect(&[]).exits(0);
    run.says("127.0.0.1 did not take the notification").says_not("a1b2");
    assert!(run_has_bundle(&lab(acme().repository(sound("web")), &refusing)));
}

fn run_has_bundle(lab: &Lab) -> bool {
    lab.collect(&[]).exits(0);
    lab.output().iter().any(|name| name.ends_with(".tar.gz"))
}

#[test]
fn a_configuration_that_was_only_found_notifies_no_one() {
    let (url, requests) = receiver("200 OK");
    let section = format!("notify:\n  success_url: {url}/a1b2\n");
    let lab = Lab::new(acme().repository(sound("web"))).with(|config| config.rest(&section));
    lab.collect(&[]).exits(1).says("name the file with --config if you trust it").leaves_nothing();
    assert!(requests.try_recv().is_err());
    assert_eq!(lab.requested(), Vec::<String>::new());
}
