//! Valid bundles that are changed part by part and signed again with the trusted key, so that the fuzzer gets past the
//! signature.
//!
//! An accepted bundle must be, byte for byte, the archive that the writer makes of the same files; its manifest must
//! describe them correctly; and only a verifier that trusts the key may accept it.

#[path = "../../crates/evidence-bundle/tests/support/sample.rs"]
#[allow(dead_code, reason = "shared with the tests of the format, which use all of it")]
mod sample;

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::LazyLock;

use evidence_bundle::document::{Hints, Manifest, Normalized, RunRecord};
use evidence_bundle::path::{MANIFEST, archive_order};
use evidence_bundle::read::Sink;
use evidence_bundle::{
    Expectations, Failure, Limits, PublicKey, SignedBundle, SigningKey, TrustRoot, UnsignedBundle,
    UntrustedBundle, VerifiedBundle,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::reader::frame;
use sample::{CREATED_AT, File, contents, json, manifest, with_documents};

const LIMITS: Limits = Limits { inflated_bytes: 1 << 22, ..Limits::DEFAULT };

/// The input: a list of changes, each a byte for its kind, followed by its parameters.
pub fn run(changes: &[u8]) -> bool {
    let key = key();
    let mut changes = Changes(changes);
    let mut made = Vec::new();
    while let Some(change) = changes.next() {
        made.push(change);
    }
    let bundle = make(key, &made);
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key.public_key());

    let mut files: Vec<File> = Vec::new();
    let verdict = verify(&bundle, &trust, &mut files);
    assert!(made.is_empty() <= verdict.is_ok(), "an unchanged bundle: {verdict:?}");
    agree(&bundle, &trust, &verdict);
    let Ok(verified) = verdict else { return false };
    // Whoever signed it, judging it again ends with a verdict.
    let judged = evidence_rules::repeat::verify(bundle.as_slice(), &trust, &Expectations::default(), &LIMITS);
    assert!(!matches!(judged, Err(Failure::CannotJudge(_))), "{judged:?}");
    let signed = signed(verified.created_at, &files, key);
    let archive = signed.write_tar(Vec::new(), |entry| contents(&files, entry)).unwrap();
    assert!(inflate(&bundle) == archive, "accepted, and not what the writer writes");
    assert_eq!(<[u8; 32]>::from(Sha256::digest(signed.checksums())), verified.checksums_sha256);
    tells_the_truth(&verified, &files);
    true
}

/// The same question in another form has the same answer. One form for each input, since each takes a pass.
fn agree(bundle: &[u8], trust: &TrustRoot, verdict: &Result<VerifiedBundle, Failure>) {
    match bundle.last().copied().unwrap_or(0) % 4 {
        0 => agree_slowly(bundle, trust, verdict),
        1 => agree_with_nobody(bundle, verdict),
        2 => {
            let mut pinned = TrustRoot::new();
            pinned.add_fingerprint(&key().public_key().key_id().to_string()).unwrap();
            assert_eq!(verify(bundle, &pinned, &mut Vec::new()).is_ok(), verdict.is_ok());
        }
        _ => {
            let mut other = TrustRoot::new();
            static ANOTHER: LazyLock<PublicKey> =
                LazyLock::new(|| SigningKey::from_seed(&[7; 32]).public_key());
            other.add_key("another", *ANOTHER);
            assert!(matches!(verify(bundle, &other, &mut Vec::new()), Err(Failure::NotWhatWasSigned(_))));
        }
    }
}

fn agree_slowly(bundle: &[u8], trust: &TrustRoot, verdict: &Result<VerifiedBundle, Failure>) {
    let slowly = UntrustedBundle::new(Slowly(bundle)).verify(trust, &Expectations::default(), &LIMITS);
    match (verdict, &slowly) {
        (Ok(verified), Ok(other)) => assert_eq!(verified, other),
        (Err(Failure::NotWhatWasSigned(error)), Err(Failure::NotWhatWasSigned(other))) => {
            assert_eq!(error, other);
        }
        (Err(Failure::NewerVersion(newer)), Err(Failure::NewerVersion(other))) => assert_eq!(newer, other),
        other => panic!("{other:?}"),
    }
}

fn agree_with_nobody(bundle: &[u8], verdict: &Result<VerifiedBundle, Failure>) {
    let nobody = verify(bundle, &TrustRoot::new(), &mut Vec::new());
    match (verdict, &nobody) {
        (Ok(verified), Err(Failure::IntactNotAuthenticated(intact))) => {
            assert_eq!((intact.files, intact.bytes), (verified.files, verified.bytes));
            assert_eq!(intact.public_key, verified.public_key);
        }
        (Err(Failure::NewerVersion(newer)), Err(Failure::NewerVersion(other))) => {
            assert_eq!((&newer.version, newer.files), (&other.version, other.files));
            assert_eq!(other.trusted_by, None);
        }
        (Err(_), Err(Failure::NotWhatWasSigned(_))) => {}
        other => panic!("{other:?}"),
    }
}

/// The trusted signing key.
fn key() -> &'static SigningKey {
    static KEY: LazyLock<SigningKey> =
        LazyLock::new(|| SigningKey::from_seed(b"a test key, and nothing but that"));
    &KEY
}

/// Checks that an accepted manifest describes the files correctly.
fn tells_the_truth(verified: &VerifiedBundle, files: &[File]) {
    let (path, manifest) = &files[0];
    assert_eq!(path, MANIFEST);
    let manifest: Manifest = reads_one_way(manifest);
    reads_one_way::<RunRecord>(&files[1].1);
    reads_one_way::<Hints>(&files[2].1);
    let normalized: Normalized = reads_one_way(&files[3].1);
    let ids: Vec<&String> = normalized.controls.iter().map(|control| &control.id).collect();
    assert_eq!(ids, manifest.controls.iter().collect::<Vec<_>>());
    assert!(!manifest.complete || manifest.errors.is_empty() && manifest.excluded.is_empty());
    let hex = |contents: &[u8]| hex::encode(Sha256::digest(contents));
    assert_eq!(verified.files, files.len() as u64);
    assert_eq!(verified.bytes, files.iter().map(|(_, contents)| contents.len() as u64).sum::<u64>());
    assert_eq!(manifest.files.len(), files.len() - 1);
    for (record, (path, contents)) in manifest.files.iter().zip(&files[1..]) {
        assert_eq!(
            (&record.path, record.size, &record.sha256),
            (path, contents.len() as u64, &hex(contents))
        );
    }
    let artifacts = files.iter().filter(|(path, _)| path.starts_with("sources/"));
    assert_eq!(manifest.artifacts.len(), artifacts.clone().count());
    for (path, contents) in artifacts {
        let mut records = manifest.artifacts.iter().filter(|record| record.filename == *path);
        let (Some(record), None) = (records.next(), records.next()) else {
            panic!("{path} is not there once")
        };
        assert_eq!((record.size_bytes, &record.checksum), (contents.len() as u64, &hex(contents)));
        assert!(manifest.sources.iter().any(|source| source.id == record.source));
    }
    assert_eq!(verified.organization, manifest.organization);
    assert_eq!(verified.warnings_total, manifest.warnings.len() as u64);
    let paths: BTreeSet<String> = files.iter().map(|(path, _)| path.to_ascii_lowercase()).collect();
    assert_eq!(paths.len(), files.len());
}

/// Checks that an accepted document loses nothing and is not misread: it prints back to the same JSON.
fn reads_one_way<T: Serialize + DeserializeOwned>(document: &[u8]) -> T {
    let read: T = serde_json::from_slice(document).unwrap();
    let mut said: Value = serde_json::from_slice(document).unwrap();
    without_null(&mut said);
    let mut meant = serde_json::to_value(&read).unwrap();
    without_null(&mut meant);
    assert_eq!(meant, said);
    read
}

/// Removes fields that are `null`, which are equivalent to absent ones.
fn without_null(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn verify(bundle: &[u8], trust: &TrustRoot, files: &mut Vec<File>) -> Result<VerifiedBundle, Failure> {
    let mut sink = Files(files);
    UntrustedBundle::new(bundle).verify_into(trust, &Expectations::default(), &LIMITS, &mut sink)
}

/// Keeps every file.
struct Files<'a>(&'a mut Vec<File>);

impl Sink for Files<'_> {
    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        self.0.push((path.to_owned(), Vec::new()));
        Ok(true)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.iter_mut().last().into_iter().for_each(|(_, contents)| contents.extend_from_slice(bytes));
        Ok(())
    }
}

/// A reader that returns a few bytes at a time.
struct Slowly<'a>(&'a [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = buffer.len().min(61);
        self.0.read(&mut buffer[..some])
    }
}

/// A change, by the part that it affects.
enum Change<'a> {
    /// Bytes of a file, before everything else is derived from the files.
    File(usize, Splice<'a>),
    /// The path of a file.
    Path(usize, &'a str),
    /// Another artifact, before everything else is derived from the artifacts.
    Artifact(&'a str, &'a [u8]),
    /// Removes a file.
    Remove(usize),
    /// Bytes of the manifest, which otherwise matches the files.
    Manifest(Splice<'a>),
    /// Bytes of the list, before it is signed.
    List(Splice<'a>),
    /// Bytes of the archive.
    Archive(Splice<'a>),
    /// Bytes of the compressed file.
    Bundle(Splice<'a>),
    /// Corrects a header's checksum, so that other changes of the header take effect.
    Header(usize),
    /// Compresses with the writer instead of storing.
    Compress,
}

/// A replacement of bytes.
struct Splice<'a> {
    at: usize,
    removed: usize,
    bytes: &'a [u8],
}

impl Splice<'_> {
    fn apply(&self, to: &mut Vec<u8>) {
        let at = self.at.min(to.len());
        let end = at.saturating_add(self.removed).min(to.len());
        to.splice(at..end, self.bytes.iter().copied());
    }
}

/// Decodes changes from bytes. Missing bytes at the end are zero.
struct Changes<'a>(&'a [u8]);

impl<'a> Changes<'a> {
    fn next(&mut self) -> Option<Change<'a>> {
        let (kind, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match kind % 10 {
            0 => Change::File(self.byte(), self.splice()),
            1 => Change::Path(self.byte(), self.text()),
            2 => Change::Artifact(self.text(), self.bytes()),
            3 => Change::Remove(self.byte()),
            4 => Change::Manifest(self.splice()),
            5 => Change::List(self.splice()),
            6 => Change::Archive(self.splice()),
            7 => Change::Bundle(self.splice()),
            8 => Change::Header(self.byte()),
            _ => Change::Compress,
        })
    }

    fn byte(&mut self) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*byte)
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = self.byte();
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    fn text(&mut self) -> &'a str {
        let bytes = self.bytes();
        std::str::from_utf8(bytes).unwrap_or("sources/codehost/x")
    }

    fn splice(&mut self) -> Splice<'a> {
        Splice { at: self.byte() << 8 | self.byte(), removed: self.byte(), bytes: self.bytes() }
    }
}

fn make(key: &SigningKey, changes: &[Change<'_>]) -> Vec<u8> {
    let settings = br#"{"login":"acme"}"#;
    let mut artifacts = vec![("sources/codehost/org_settings.json".to_owned(), settings.to_vec())];
    artifacts.extend(changes.iter().filter_map(|change| match change {
        Change::Artifact(path, contents) => Some(((*path).to_owned(), contents.to_vec())),
        _ => None,
    }));
    // The documents match the artifacts, so only their own changes are wrong.
    change_files(changes, &mut artifacts, DOCUMENTS..usize::MAX);
    let mut files = with_documents(artifacts);
    change_files(changes, &mut files, 0..DOCUMENTS);
    files.sort_by(|(left, _), (right, _)| archive_order(left, right));
    let mut manifest = json(&manifest(&files, key));
    apply(changes, &mut manifest, |change| match change {
        Change::Manifest(splice) => Some(splice),
        _ => None,
    });
    files.insert(0, (MANIFEST.to_owned(), manifest));
    let mut list: Vec<u8> = files
        .iter()
        .flat_map(|(path, contents)| {
            format!("{}  {path}\n", hex::encode(Sha256::digest(contents))).into_bytes()
        })
        .collect();
    apply(changes, &mut list, |change| match change {
        Change::List(splice) => Some(splice),
        _ => None,
    });
    let signature = key.sign(&list).to_vec();
    files.insert(0, ("checksums.sha256".to_owned(), list));
    files.insert(1, ("signature.sig".to_owned(), signature));
    let mut archive: Vec<u8> = files.iter().flat_map(|(path, contents)| entry(path, contents)).collect();
    archive.resize(archive.len() + 1024, 0);
    for change in changes {
        match change {
            Change::Archive(splice) => splice.apply(&mut archive),
            Change::Header(block) => correct(&mut archive, *block),
            _ => {}
        }
    }
    let mut bundle = match changes.iter().any(|change| matches!(change, Change::Compress)) {
        true => compress(&archive),
        false => frame(&archive),
    };
    apply(changes, &mut bundle, |change| match change {
        Change::Bundle(splice) => Some(splice),
        _ => None,
    });
    bundle
}

/// The number of documents before the artifacts.
const DOCUMENTS: usize = 3;

/// Applies the changes to the files of the bundle with these numbers.
fn change_files(changes: &[Change<'_>], files: &mut Vec<File>, numbers: Range<usize>) {
    for change in changes {
        let count = files.len().max(1);
        let number = |index: &usize| {
            let number = index % (numbers.start + count);
            number.checked_sub(numbers.start).filter(|_| numbers.contains(&number) && !files.is_empty())
        };
        match change {
            Change::File(index, splice) => {
                if let Some(number) = number(index) {
                    splice.apply(&mut files[number].1);
                }
            }
            Change::Path(index, path) => {
                if let Some(number) = number(index) {
                    files[number].0 = (*path).to_owned();
                }
            }
            Change::Remove(index) => {
                if let Some(number) = number(index) {
                    files.remove(number);
                }
            }
            _ => {}
        }
    }
}

fn apply<'a>(changes: &'a [Change<'a>], to: &mut Vec<u8>, of: fn(&'a Change<'a>) -> Option<&'a Splice<'a>>) {
    changes.iter().filter_map(of).for_each(|splice| splice.apply(to));
}

/// An entry according to the format's page, without code of the writer. A path of more than 100 bytes takes a pax header.
fn entry(path: &str, contents: &[u8]) -> Vec<u8> {
    let file = block(path, contents, b'0');
    if path.len() <= 100 {
        return file;
    }
    let rest = format!(" path={path}\n");
    let length = (1..).find(|length: &usize| length.to_string().len() + rest.len() == *length);
    let record = format!("{}{rest}", length.unwrap_or_default());
    [block("pax", record.as_bytes(), b'x'), file].concat()
}

/// A header and its contents.
fn block(name: &str, contents: &[u8], kind: u8) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let mut put = |at: usize, length: usize, bytes: &[u8]| {
        let length = length.min(bytes.len());
        header[at..at + length].copy_from_slice(&bytes[..length]);
    };
    put(0, 100, name.as_bytes());
    put(100, 8, b"0000644");
    put(108, 8, b"0000000");
    put(116, 8, b"0000000");
    put(124, 12, format!("{:011o}", contents.len()).as_bytes());
    put(136, 12, format!("{CREATED_AT:011o}").as_bytes());
    put(156, 1, &[kind]);
    put(257, 8, b"ustar\x0000");
    if kind == b'0' {
        put(329, 8, b"0000000");
        put(337, 8, b"0000000");
    }
    let mut entry = header.to_vec();
    entry.extend_from_slice(contents);
    entry.resize(entry.len().next_multiple_of(512), 0);
    correct(&mut entry, 0);
    entry
}

/// Corrects the checksum of the header in this block.
fn correct(archive: &mut [u8], block: usize) {
    let Some(header) = archive.get_mut(block * 512..(block + 1) * 512) else { return };
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn compress(archive: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let stored = frame(archive);
    let mut bundle = stored[..10].to_vec();
    let mut deflate = flate2::write::DeflateEncoder::new(&mut bundle, flate2::Compression::new(6));
    deflate.write_all(archive).and_then(|()| deflate.finish().map(drop)).unwrap();
    bundle.extend_from_slice(&stored[stored.len() - 8..]);
    bundle
}

fn inflate(bundle: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    flate2::bufread::GzDecoder::new(bundle).read_to_end(&mut archive).unwrap();
    archive
}

fn signed(created_at: i64, files: &[File], key: &SigningKey) -> SignedBundle {
    UnsignedBundle::new(created_at, files.iter().map(sample::entry).collect()).unwrap().sign(key).unwrap()
}
