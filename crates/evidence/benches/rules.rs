//! How fast the pure rules are. The screen reads every byte of evidence and of output; its aim is 200 MB/s per core
//! on clean evidence.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use evidence::http::link;
use evidence::http::retry::verdict;
use evidence::screen::Screen;
use evidence::source::codehost::answer::{Answer, classify};
use evidence::source::codehost::codeowners::CodeOwners;

fn main() {
    divan::main();
}

/// About a megabyte of what is collected every day.
fn evidence() -> String {
    let mut text = String::new();
    for number in 0..1_000 {
        let url = format!("https://api.host/repos/acme/service-{number}/branches/main/protection");
        text.push_str(&format!(
            r#"{{"url":"{url}","required_pull_request_reviews":{{"url":"{url}/required_pull_request_reviews","dismiss_stale_reviews":true,"require_code_owner_reviews":true,"required_approving_review_count":2,"dismissal_restrictions":{{"users":[],"teams":["platform","security"]}}}},"required_status_checks":{{"strict":true,"contexts":["ci/build ({number})","ci/test","ci/api-key-check: {:012x}","secret-scan"]}},"enforce_admins":{{"url":"{url}/enforce_admins","enabled":true}},"sha256":"{:064x}"}}"#,
            number * 7_919_777,
            number as u128 * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834,
        ));
        text.push('\n');
    }
    text
}

fn owners() -> String {
    let mut text = String::from("* @acme/everyone\n");
    for number in 0..10_000 {
        text.push_str(&format!("/services/service-{number}/**/*.rs @acme/team-{number} owner{number}@example.com # area {number}\n"));
    }
    text
}

#[divan::bench_group(sample_count = 30)]
mod screen {
    use super::*;

    const OWN: &[&str] = &["0123456789-a-made-up-credential-0123456789"];

    #[divan::bench]
    fn new(bencher: Bencher) {
        bencher.bench(|| Screen::new(black_box(OWN)));
    }

    #[divan::bench]
    fn clean_evidence(bencher: Bencher) {
        let (screen, text) = (Screen::new(OWN), evidence());
        bencher.counter(BytesCount::of_str(&text)).bench(|| screen.check(black_box(text.as_bytes())));
    }

    #[divan::bench]
    fn clean_owners_file(bencher: Bencher) {
        let (screen, text) = (Screen::new(OWN), owners());
        bencher.counter(BytesCount::of_str(&text)).bench(|| screen.check(black_box(text.as_bytes())));
    }

    #[divan::bench]
    fn line_of_output(bencher: Bencher) {
        let screen = Screen::new(OWN);
        let line = "GET /repos/acme/service/branches/main/protection 200 in 312 ms, 4,871 of 5,000 left";
        bencher.counter(BytesCount::of_str(line)).bench(|| screen.redact(black_box(line)).len());
    }

    /// Made to be slow: the beginnings of a hundred thousand tokens.
    #[divan::bench(args = ["ghs_", "eyJhbGciOiJ.", "a://a:a@", "token: ", ":A"])]
    fn hostile(bencher: Bencher, unit: &str) {
        let (screen, text) = (Screen::new(OWN), unit.repeat(1_000_000 / unit.len()));
        bencher.counter(BytesCount::of_str(&text)).bench(|| screen.check(black_box(text.as_bytes())));
    }
}

#[divan::bench]
fn codeowners_parse(bencher: Bencher) {
    let text = owners();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| CodeOwners::parse(black_box(text.as_bytes())).default_rule());
}

#[divan::bench]
fn retry_verdict(bencher: Bencher) {
    let answer = Answer {
        status: 403,
        remaining: Some(4_000),
        reset: Some(1_782_590_558),
        date: Some(1_782_587_558),
        message: Some("Resource not accessible by personal access token"),
        is_json: true,
        ..Answer::default()
    };
    bencher.bench(|| verdict(classify(black_box(&answer)), 1, 0.5));
}

#[divan::bench]
fn link_parse(bencher: Bencher) {
    let header = "<https://api.host/organizations/107424/repos?per_page=100&page=2>; rel=\"next\", <https://api.host/organizations/107424/repos?per_page=100&page=23>; rel=\"last\"";
    bencher.counter(BytesCount::of_str(header)).bench(|| link::parse(black_box(header)));
}
