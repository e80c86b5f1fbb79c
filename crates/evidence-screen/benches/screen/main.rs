//! The speed of the screen for each form of text. It reads every byte of evidence and of output: the aim is 200 MB/s
//! per core for clean evidence of every form, and 20 MB/s for texts made to be slow.
//!
//! `cargo bench -p evidence-screen`. The relevant column is the rate of the fastest sample: other work on the machine
//! only ever makes a sample slower.

#![allow(clippy::indexing_slicing, reason = "a benchmark")]

mod clean;
mod form;
mod hostile;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use evidence_screen::{ENTANGLED, PATTERNS, Screen};

use form::Form;

fn main() {
    divan::main();
}

/// The secrets of a typical run: a token, a passphrase, the lines of a service account's key.
const OWN: &[&str] = &["0123456789-a-made-up-credential-0123456789", "correct horse battery staple", KEY];

/// As long as an RSA key in PEM form, but not a key.
const KEY: &str = include_str!("key.txt");

fn measure(bencher: Bencher, form: &Form) {
    let (screen, text) = (Screen::new(OWN), (form.make)());
    assert!(
        screen.check(text.as_bytes()).iter().all(|found| !form.clean && found.rule == ENTANGLED),
        "{form}"
    );
    bencher.counter(BytesCount::of_str(&text)).bench(|| screen.check(black_box(text.as_bytes())));
}

#[divan::bench(args = clean::FORMS, sample_count = 30)]
fn clean(bencher: Bencher, form: &Form) {
    measure(bencher, form);
}

#[divan::bench(args = hostile::FORMS, sample_count = 5)]
fn hostile(bencher: Bencher, form: &Form) {
    measure(bencher, form);
}

#[divan::bench]
fn new(bencher: Bencher) {
    bencher.bench(|| Screen::new(black_box(OWN)));
}

/// The cost of the first key words of every rule, when their patterns are compiled.
#[divan::bench(sample_count = 20)]
fn every_pattern_compiled(bencher: Bencher) {
    let keywords = PATTERNS.iter().flat_map(|rule| rule.keywords);
    let text: String = keywords.map(|word| format!("{word}01234567 {word}=\n")).collect();
    bencher.with_inputs(|| Screen::new(OWN)).bench_values(|screen| screen.check(black_box(text.as_bytes())));
}

#[divan::bench]
fn line_of_output(bencher: Bencher) {
    let screen = Screen::new(OWN);
    let line = "GET /repos/acme/service/branches/main/protection 200 in 312 ms, 4,871 of 5,000 left";
    bencher.counter(BytesCount::of_str(line)).bench(|| screen.redact(black_box(line)).len());
}
