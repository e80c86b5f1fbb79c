//! Archives that programs could read differently, each made from a good signed bundle, and good ones that come close.
//!
//! An archive is **hostile** if its tar bytes are not the canonical ones of the signed files: then what some program
//! reads from it can differ from what the key signed. `hides` says what it does. **Unjudged** is what a verifier of the
//! format refuses although every program reads what the key signed: another gzip framing of the canonical tar bytes, or
//! a signed list in another form.
#![allow(dead_code, unreachable_pub, reason = "each user takes a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod carriers;
mod ends;
mod entries;
mod extended;
mod fields;

use std::fmt::Write as _;
use std::path::Path;

use crate::support::raw::{self, RawEntry};
use crate::support::{self, File, key, small_files};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Hostile,
    Unjudged,
}

#[derive(Debug, Clone)]
pub struct Archive {
    /// A file name without extension: the family, an underscore, and the case.
    pub name: String,
    pub verdict: Verdict,
    /// What it does that a reader may miss; for a good one, why it comes close.
    pub hides: String,
    /// The file, compressed or not.
    pub bytes: Vec<u8>,
}

/// A list of archives that is being made.
#[derive(Default)]
struct Corpus(Vec<Archive>);

impl Corpus {
    fn add(&mut self, verdict: Verdict, family: &str, case: &str, hides: &str, bytes: Vec<u8>) {
        let plain =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        let case: String = case.chars().map(plain).collect();
        let name = format!("{family}_{}", case.trim_matches('-'));
        self.0.push(Archive { name, verdict, hides: hides.to_owned(), bytes });
    }

    fn hostile(&mut self, family: &str, case: &str, hides: &str, bytes: Vec<u8>) {
        self.add(Verdict::Hostile, family, case, hides, bytes);
    }
}

/// The whole corpus, always the same.
pub fn archives() -> Vec<Archive> {
    let mut corpus = Corpus::default();
    good(&mut corpus);
    entries::add(&mut corpus);
    fields::add(&mut corpus);
    extended::add(&mut corpus);
    carriers::add(&mut corpus);
    ends::add(&mut corpus);
    corpus.0
}

/// Writes the archives, an index and the public key to a folder.
pub fn write(folder: &Path) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let archives = archives();
    let mut index = "file\tverdict\thides\n".to_owned();
    for Archive { name, verdict, hides, bytes } in &archives {
        std::fs::write(folder.join(format!("{name}.tar.gz")), bytes)?;
        let verdict = format!("{verdict:?}").to_lowercase();
        writeln!(index, "{name}.tar.gz\t{verdict}\t{hides}").unwrap();
    }
    std::fs::write(folder.join("index.tsv"), index)?;
    std::fs::write(folder.join("key.pub.pem"), key().public_key().to_spki_pem())?;
    Ok(archives.len())
}

/// The entries of the small bundle: the list, the signature, the files.
fn small() -> Vec<RawEntry> {
    raw::entries(&small_files(), &key())
}

/// The entries of a bundle with a path over 100 bytes, which is the last.
fn long() -> Vec<RawEntry> {
    raw::entries(&files(&[format!("sources/codehost/{}/{}.json", "d".repeat(60), "f".repeat(60))]), &key())
}

/// The files of a bundle with these artifacts.
fn files(paths: &[String]) -> Vec<File> {
    let mut artifacts: Vec<File> = paths.iter().map(|path| (path.clone(), b"{}".to_vec())).collect();
    artifacts.sort();
    support::with_manifest(support::with_documents(artifacts), &key())
}

fn pack(entries: &[RawEntry]) -> Vec<u8> {
    raw::gzip(&raw::tar(entries))
}

/// The small bundle with a change to its entries.
fn changed(change: impl FnOnce(&mut Vec<RawEntry>)) -> Vec<u8> {
    let mut entries = small();
    change(&mut entries);
    pack(&entries)
}

/// The bundle of these entries with raw bytes before the one with this number.
fn with_bytes(entries: &[RawEntry], before: usize, bytes: &[u8]) -> Vec<u8> {
    let (head, tail) = entries.split_at(before);
    let mut tar: Vec<u8> = head.iter().flat_map(RawEntry::blocks).collect();
    tar.extend_from_slice(bytes);
    tar.extend(raw::tar(tail));
    raw::gzip(&tar)
}

/// Other contents of the same length: what an attacker would like a reader to see.
fn forged(contents: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(contents);
    let swaps = [("\"pass\"", "\"fail\""), ("true", "null"), ("acme", "evil"), ("1.0", "6.6"), ("{}", "[]")];
    match swaps.iter().find(|(from, _)| text.contains(from)) {
        Some((from, to)) => text.replace(from, to).into_bytes(),
        None => vec![b'0'; contents.len()],
    }
}

/// A whole archive with forged files, including its end.
fn forged_archive() -> Vec<u8> {
    let mut entries = small();
    entries.iter_mut().skip(2).for_each(|entry| entry.contents = forged(&entry.contents));
    raw::tar(&entries)
}

fn good(corpus: &mut Corpus) {
    let mut add = |case: &str, why: &str, files: &[File]| {
        corpus.add(Verdict::Good, "good", case, why, support::bundle(files));
    };
    add("small", "short paths", &small_files());
    let path = |length: usize, slash: usize| {
        let directory = "d".repeat(slash - "sources/codehost/".len());
        format!("sources/codehost/{directory}/{}", "f".repeat(length - slash - 1))
    };
    for (length, slash) in
        [(100, 40), (101, 40), (101, 99), (102, 100), (155, 99), (156, 20), (240, 40), (240, 200)]
    {
        let case = format!("path of {length} with a slash at {slash}");
        add(&case, "a path at a limit of the header", &files(&[path(length, slash)]));
    }
    let long: Vec<String> = (110..140).map(|length| path(length, 60)).collect();
    add("30 long paths", "a pax header each", &files(&long));
    let many: Vec<String> = (100..700).map(|number| format!("sources/codehost/{number}.json")).collect();
    add("600 files", "many entries", &files(&many));
    let odd = [
        "sources/codehost/-rf",
        "sources/codehost/--checkpoint",
        "sources/codehost/%2E%2E",
        "sources/codehost/.x",
    ];
    add("odd names", "names that a program could take for options", &files(&odd.map(str::to_owned)));
    let sizes = [0, 1, 511, 512, 513, 1024, 100_000];
    let artifacts = sizes.map(|size| (format!("sources/codehost/{size:06}"), vec![b'x'; size]));
    let sized = support::with_manifest(support::with_documents(artifacts.to_vec()), &key());
    add("sizes", "contents at and around the size of a block", &sized);
    let zeros = vec![("sources/codehost/zeros".to_owned(), vec![0; 70_000])];
    let zeros = support::with_manifest(support::with_documents(zeros), &key());
    add("zeros", "contents that a program could store as a hole, or take for the end", &zeros);
    let inner = vec![("sources/codehost/inner.tar".to_owned(), forged_archive())];
    let inner = support::with_manifest(support::with_documents(inner), &key());
    add("an archive in the archive", "contents that are headers themselves", &inner);
}
