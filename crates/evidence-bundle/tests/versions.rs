//! How the format evolves: the verdict for a bundle of each version, and that the fields of a published version do
//! not change.
//!
//! `UPDATE_GOLDEN=1 cargo test -p evidence-bundle --test versions` writes the fields of a new version.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use evidence_bundle::document::{Document, schema};
use evidence_bundle::path::MANIFEST;
use evidence_bundle::read::Sink;
use evidence_bundle::version::{KNOWN, NEWEST};
use evidence_bundle::{BUNDLE_VERSION, Expectations, Failure, Limits, TrustRoot, UntrustedBundle};
use serde_json::{Value, json};
use support::newer::{bundle, changed, with_version};
use support::{File, key, other_key, raw, small_files, with_manifest};

/// The small bundle, of this version, with a change to one of its documents.
fn files(version: &str, document: &str, change: &dyn Fn(&mut Value)) -> Vec<File> {
    let mut files = small_files().split_off(1);
    let format = KNOWN.iter().find(|format| format.version == version).unwrap_or(NEWEST);
    for (path, contents) in &mut files {
        if path.starts_with("derived/") && path.ends_with(".json") {
            *contents = changed(contents, |derived| derived["schema_version"] = json!(format.schema_version));
        }
        if path == document {
            *contents = changed(contents, change);
        }
    }
    let mut files = with_manifest(files, &key());
    files[0].1 = with_version(version, &files[0].1, |manifest| {
        if document == MANIFEST {
            change(manifest);
        }
    });
    files
}

/// Adds an empty field, by the names on the way to it.
fn put(value: &mut Value, names: &[&str]) {
    match (value, names) {
        (Value::Array(items), _) => {
            items.resize(items.len().max(1), json!({}));
            put(&mut items[0], names);
        }
        (value, [name]) => value[*name] = Value::Null,
        (value, [name, rest @ ..]) => put(&mut value[*name], rest),
        (_, []) => {}
    }
}

/// The damage to the bundle.
#[derive(Debug, Clone, Copy)]
enum Damage {
    None,
    Signature,
    /// Another key signed it.
    Signer,
    /// A file after the manifest was changed.
    File,
    Manifest,
    /// Bytes follow the archive.
    Trailing,
}

fn damaged(files: &[File], damage: Damage) -> Vec<u8> {
    let key = if matches!(damage, Damage::Signer) { other_key() } else { key() };
    let mut entries = raw::entries(files, &key);
    match damage {
        Damage::None | Damage::Signer | Damage::Trailing => {}
        Damage::Signature => entries[1].contents[0] ^= 1,
        Damage::File => *entries.last_mut().unwrap().contents.last_mut().unwrap() ^= 1,
        Damage::Manifest => *entries[2].contents.last_mut().unwrap() = b' ',
    }
    let mut bundle = raw::gzip(&raw::tar(&entries));
    if matches!(damage, Damage::Trailing) {
        bundle.push(0);
    }
    bundle
}

/// Panics at a file after the manifest, if it must see none: the manifest is read before its version is known.
struct ManifestOnly(bool);

impl Sink for ManifestOnly {
    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        assert!(!self.0 || path == "manifest.json", "{path} of a newer bundle was shown");
        Ok(true)
    }
}

fn judge(bundle: &[u8], trust: &TrustRoot) -> String {
    let verdict = UntrustedBundle::new(bundle).verify(trust, &Expectations::default(), &Limits::DEFAULT);
    let mut manifest = ManifestOnly(matches!(verdict, Err(Failure::NewerVersion(_))));
    let shown = UntrustedBundle::new(bundle).verify_into(
        trust,
        &Expectations::default(),
        &Limits::DEFAULT,
        &mut manifest,
    );
    match (verdict, shown) {
        (Ok(_), Ok(_)) => "verified".to_owned(),
        (Err(Failure::NotWhatWasSigned(error)), Err(Failure::NotWhatWasSigned(shown))) => {
            assert_eq!(error, shown);
            error.reason.to_string()
        }
        (Err(Failure::NewerVersion(newer)), Err(Failure::NewerVersion(shown))) => {
            assert_eq!(newer, shown);
            assert_eq!(
                (newer.key_id, newer.trusted_by.is_some()),
                (key().public_key().key_id(), !trust.is_empty())
            );
            "newer".to_owned()
        }
        (Err(Failure::IntactNotAuthenticated(_)), Err(Failure::IntactNotAuthenticated(_))) => {
            "intact".to_owned()
        }
        other => panic!("{other:?}"),
    }
}

/// Versions by damage by unknown field, for each kind of trust root.
#[test]
fn every_version_has_its_verdict() {
    let (mut trusted, mut pinned) = (TrustRoot::new(), TrustRoot::new());
    trusted.add_key("the test key", key().public_key());
    pinned.add_fingerprint(&key().public_key().key_id().to_string()).unwrap();
    let no_trust = TrustRoot::new();
    let newer = ["1.999", "1.1000", "999.0", "1000.3"];
    let unknown = ["0.9", "0.0", "", "1", "1.0.0", "v1.1", "01.1", "1.1-rc.1", "99999999999.0"];
    let known = KNOWN.iter().map(|format| format.version);
    for version in known.clone().chain(newer).chain(unknown) {
        for surprise in [None, Some(""), Some("/signer"), Some("/artifacts/0"), Some("/warnings/0")] {
            let files = files(version, MANIFEST, &|manifest| {
                let place = surprise.map(|pointer| manifest.pointer_mut(pointer).unwrap());
                place.into_iter().for_each(|place| place["surprise"] = json!(true));
            });
            for damage in [
                Damage::None,
                Damage::Signature,
                Damage::Signer,
                Damage::File,
                Damage::Manifest,
                Damage::Trailing,
            ] {
                let bundle = damaged(&files, damage);
                let form = match surprise {
                    _ if unknown.contains(&version) => "unsupported-format",
                    _ if newer.contains(&version) => "newer",
                    Some(_) => "manifest-format",
                    None => "verified",
                };
                let expected = |whole: &'static str| match (damage, form) {
                    (Damage::Signature | Damage::Signer, _) => "signature-invalid",
                    // A manifest with a wrong checksum is not examined.
                    (Damage::Manifest, _) => "checksum-mismatch",
                    (_, "unsupported-format" | "manifest-format") | (Damage::None, "newer") => form,
                    (Damage::None, _) => whole,
                    (Damage::File, _) => "checksum-mismatch",
                    (Damage::Trailing, _) => "gzip-trailing",
                };
                let case = format!("{version:?} {surprise:?} {damage:?}");
                assert_eq!(judge(&bundle, &trusted), expected("verified"), "{case}");
                // The manifest names the key, so damage in it is found before the signature.
                assert_eq!(judge(&bundle, &pinned), expected("verified"), "{case}, pinned");
                assert_eq!(judge(&bundle, &no_trust), expected("intact"), "{case}, no trust root");
            }
        }
    }
}

/// Earlier versions refuse a field that a later version added, even if the field is empty.
#[test]
fn a_field_is_unknown_before_its_version() {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key().public_key());
    for (since, format) in KNOWN.iter().enumerate() {
        for field in format.added {
            for older in KNOWN.iter().take(since) {
                let files = files(older.version, field.document, &|document| put(document, field.names));
                let verdict = judge(&bundle(&files, &key()), &trust);
                assert!(verdict.ends_with("-format"), "{field:?} in {}: {verdict}", older.version);
            }
        }
    }
}

/// In a bundle of a newer version every document may have another form, and there may be more of them.
#[test]
fn a_newer_bundle_is_not_judged_by_today_s_fields() {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key().public_key());
    assert_eq!(judge(&bundle(&support::newer::files("1.999"), &key()), &trust), "newer");
    // A known version is judged.
    let known = bundle(&support::newer::files(BUNDLE_VERSION), &key());
    assert_eq!(judge(&known, &trust), "manifest-format");
}

#[test]
fn a_newer_bundle_outside_the_validity_of_its_key_is_refused() {
    let line = format!(
        "acme namespaces=\"evidence-bundle\",valid-after=\"20260201Z\" {}",
        key().public_key().to_openssh()
    );
    let mut trust = TrustRoot::new();
    trust.add_allowed_signers("signers", line.as_bytes()).unwrap();
    assert_eq!(judge(&bundle(&support::newer::files("1.999"), &key()), &trust), "key-outside-validity");
}

/// The fields of a document, by the names on the way to them.
fn fields(document: Document) -> BTreeSet<Vec<String>> {
    fn walk(schema: &Value, root: &Value, names: &[String], found: &mut BTreeSet<Vec<String>>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let part = root.pointer(reference.strip_prefix('#').unwrap()).unwrap();
            return walk(part, root, names, found);
        }
        schema["anyOf"].as_array().into_iter().flatten().for_each(|part| walk(part, root, names, found));
        schema.get("items").into_iter().for_each(|items| walk(items, root, names, found));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let names = [names, std::slice::from_ref(name)].concat();
            found.insert(names.clone());
            walk(field, root, &names, found);
        }
    }
    let (schema, mut found) = (schema(document), BTreeSet::new());
    walk(&schema, &schema, &[], &mut found);
    found
}

/// A new field without a row in the table of versions would change the meaning of a published version.
#[test]
fn the_fields_of_a_published_version_stay() {
    for (index, format) in KNOWN.iter().enumerate() {
        let later: BTreeSet<(&str, &[&str])> = KNOWN
            .iter()
            .skip(index + 1)
            .flat_map(|format| format.added)
            .map(|field| (field.document, field.names))
            .collect();
        let mut text = String::new();
        for document in Document::ALL {
            for names in fields(document) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let new = (1..=names.len()).any(|end| later.contains(&(document.path(), &names[..end])));
                if !new {
                    text.push_str(&format!("{} {}\n", document.path(), names.join(".")));
                }
            }
        }
        let name = format!("tests/golden/fields-{}.txt", format.version);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        assert!(
            expected.lines().eq(text.lines()),
            "{name} and the documents differ: a new field needs a row"
        );
    }
    assert!(fields(Document::Manifest).contains(&vec!["signer".to_owned(), "key_id".to_owned()]));
}
