//! How fast the pure rules are. The screen has a benchmark of its own, `screen`; what all of it costs in instructions,
//! whatever else the machine does, says `baselines`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use evidence::http::link;
use evidence::http::retry::verdict;
use evidence::source::codehost::answer::{Answer, classify};
use evidence::source::codehost::codeowners::CodeOwners;

fn main() {
    divan::main();
}

fn owners() -> String {
    let mut text = String::from("* @acme/everyone\n");
    for number in 0..10_000 {
        text.push_str(&format!("/services/service-{number}/**/*.rs @acme/team-{number} owner{number}@example.com # area {number}\n"));
    }
    text
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
