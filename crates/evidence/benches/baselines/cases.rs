//! The cases: one of each pure part, and every form of text for the screen.

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use evidence::evaluate::checks_alone;
use evidence::source::github::answer::{AnswerParts, classify};
use evidence::source::{CollectionItem, KINDS};
use evidence_bundle::{
    Expectations, Limits, SignedBundle, SigningKey, TrustRoot, UnsignedBundle, UntrustedBundle,
};
use evidence_http::ParseError;
use evidence_http::link;
use evidence_http::retry::decide;
use evidence_rules::codehost::codeowners::CodeOwners;
use evidence_screen::Screen;

use crate::form::repeat;
use crate::sample::{self, File};
use crate::{clean, hostile};

/// The counted work, after the setup.
type Work = Box<dyn FnMut()>;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) make: Box<dyn Fn() -> Work>,
}

fn case(name: impl Into<String>, make: impl Fn() -> Work + 'static) -> Case {
    Case { name: name.into(), make: Box::new(make) }
}

pub(crate) fn all() -> Vec<Case> {
    let mut all = vec![
        case("retry: verdict, 1,000 times", retry_verdict),
        case("Link header, 1,000 times", link_header),
        case("CODEOWNERS: parse, 100 kB", codeowners),
        case("bundle: write, 400 artifacts", write),
        case("bundle: verify, 400 artifacts", verify),
        case("screen: compile", || Box::new(|| drop(black_box(Screen::new(OWN))))),
    ];
    all.extend(judgements());
    for form in clean::FORMS.iter().chain(hostile::FORMS) {
        all.push(case(format!("screen, 100 kB: {form}"), || {
            let (screen, text) = (Screen::new(OWN), (form.make)());
            Box::new(move || drop(black_box(screen.check(black_box(text.as_bytes())))))
        }));
    }
    all
}

const OWN: &[&str] = &["0123456789-a-made-up-credential-0123456789"];

fn retry_verdict() -> Work {
    Box::new(|| {
        for attempt in 0..1_000 {
            let answer = AnswerParts {
                status: 403,
                remaining: Some(4_000),
                reset: Some(1_782_590_558),
                date: Some(1_782_587_558),
                message: Some("Resource not accessible by personal access token"),
                is_json: true,
                ..AnswerParts::default()
            };
            black_box(decide(classify(black_box(&answer)), 1 + attempt % 5, 0.5));
        }
    })
}

fn link_header() -> Work {
    let header = "<https://api.host/organizations/107424/repos?per_page=100&page=2>; rel=\"next\", <https://api.host/organizations/107424/repos?per_page=100&page=23>; rel=\"last\"";
    Box::new(move || (0..1_000).for_each(|_| drop(black_box(link::parse(black_box(header))))))
}

fn codeowners() -> Work {
    let text = repeat(|number| {
        format!("/services/service-{number}/**/*.rs @acme/team-{number} owner{number}@example.com # area\n")
    });
    Box::new(move || {
        black_box(CodeOwners::parse(black_box(text.as_bytes())).default_rule());
    })
}

/// Every rule's judgement of the first fuzzer seed that it applies to.
fn judgements() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/answers");
    let mut seeds: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    let mut known = BTreeSet::new();
    let mut cases = Vec::new();
    for seed in seeds {
        let bytes = fs::read(seed).unwrap();
        // Selected as in the fuzz target.
        let [source, call, bytes @ ..] = bytes.as_slice() else { continue };
        let calls = KINDS[usize::from(*source) % KINDS.len()].calls;
        let read = calls[usize::from(*call) % calls.len()].read;
        for (index, found) in read(bytes).unwrap_or_default().into_iter().enumerate() {
            let CollectionItem::Inspected(inspection) = found else { continue };
            // The rules over the same facts judge together.
            let codes = checks_alone(inspection).into_iter().rev().map(|check| check.rule.code);
            for code in codes.filter(|code| known.insert(*code)) {
                let bytes = bytes.to_vec();
                cases.push(case(format!("read and judge, 1,000 times: {code}"), move || {
                    let bytes = bytes.clone();
                    Box::new(move || (0..1_000).for_each(|_| read_and_judge(read, &bytes, index)))
                }));
            }
        }
    }
    assert_eq!(known.len(), evidence_rules::rules().count(), "every rule is measured: {known:?}");
    cases
}

fn read_and_judge(read: fn(&[u8]) -> Result<Vec<CollectionItem>, ParseError>, bytes: &[u8], index: usize) {
    if let Some(CollectionItem::Inspected(inspection)) =
        read(black_box(bytes)).unwrap().into_iter().nth(index)
    {
        drop(black_box(checks_alone(inspection)));
    }
}

fn key() -> SigningKey {
    SigningKey::from_seed(b"a test key, and nothing but that")
}

/// The files of a bundle: its documents and branch protections.
fn files() -> Vec<File> {
    let text: Vec<u8> =
        repeat(|number| format!("      \"ci/build-{:08x}/linux\",\n", crate::form::noise(number) >> 32))
            .into();
    let artifacts = text.chunks(250).take(400).enumerate().map(|(number, chunk)| {
        let path = format!("sources/codehost/repo_acme_service-{number:04}_branch_protection.json");
        (path, chunk.repeat(10))
    });
    let mut files = sample::with_documents(artifacts.collect());
    let manifest = sample::json(&sample::manifest(&files, &key()));
    files.insert(0, (evidence_bundle::path::MANIFEST.to_owned(), manifest));
    files
}

fn signed(files: &[File]) -> SignedBundle {
    let entries = files.iter().map(sample::entry).collect();
    UnsignedBundle::new(sample::CREATED_AT, entries).unwrap().sign(&key()).unwrap()
}

fn packed(bundle: &SignedBundle, files: &[File]) -> Vec<u8> {
    let mut out = Vec::new();
    bundle.write(&mut out, None, |entry| sample::contents(files, entry)).unwrap();
    out
}

fn write() -> Work {
    let files = files();
    let bundle = signed(&files);
    Box::new(move || drop(black_box(packed(&bundle, &files))))
}

fn verify() -> Work {
    let files = files();
    let bytes = packed(&signed(&files), &files);
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key().public_key());
    Box::new(move || {
        let verified =
            UntrustedBundle::new(bytes.as_slice()).verify(&trust, &Expectations::default(), &Limits::DEFAULT);
        black_box(verified.unwrap());
    })
}
