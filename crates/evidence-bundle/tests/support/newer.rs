//! Bundles of future versions.

use evidence_bundle::SigningKey;
use serde_json::{Value, json};

use super::hostile::{Case, entries_of, fail, pack};
use super::raw::{self, RawEntry};
use super::{File, key, small_files};

/// The small bundle as a later version could write it: an unknown field in every document, and a new file.
pub fn files(version: &str) -> Vec<File> {
    let mut files = small_files();
    files[1].1 = changed(&files[1].1, |run| run["surprise"] = json!({ "deep": [true] }));
    files[2].1 = changed(&files[2].1, |hints| hints["schema_version"] = json!(version));
    files[3].1 = changed(&files[3].1, |normalized| normalized["controls"][0]["surprise"] = json!(null));
    files.insert(7, ("derived/surprise.csv".to_owned(), b"a,b\n".to_vec()));
    files[0].1 = with_version(version, &files[0].1, |manifest| {
        manifest["artifacts"] = json!({ "moved": true });
        manifest["signer"]["surprise"] = json!(1);
        manifest["surprise"] = json!([]);
    });
    files
}

/// The bundle of these files.
pub fn bundle(files: &[File], key: &SigningKey) -> Vec<u8> {
    pack(&raw::entries(files, key))
}

/// A changed manifest of this version. The version is its first field.
pub fn with_version(version: &str, manifest: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let rest = changed(manifest, |manifest| {
        manifest.as_object_mut().unwrap().remove("bundle_version");
        change(manifest);
    });
    let version = json!(version).to_string();
    [format!("{{\n  \"bundle_version\": {version},").as_bytes(), &rest[1..]].concat()
}

/// A JSON document with a change.
pub fn changed(document: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value = serde_json::from_slice(document).unwrap();
    change(&mut value);
    serde_json::to_vec_pretty(&value).unwrap()
}

/// The cases of `tests/bundles`.
pub(super) fn cases() -> Vec<Case> {
    let newer = |name, arguments, version| Case {
        arguments,
        exit: 1,
        reason: Some("newer-version"),
        ..super::hostile::ok(name, bundle(&files(version), &key()))
    };
    let changed =
        |change: &dyn Fn(&mut Vec<RawEntry>)| entries_of(&files("1.999"), |entries| change(entries));
    vec![
        newer("newer-version_exit1", super::hostile::TRUSTED, "1.999"),
        newer("newer-version_major_exit1", super::hostile::TRUSTED, "999.0"),
        newer("newer-version_fingerprint_exit1", super::hostile::PINNED, "1.999"),
        newer("newer-version_not-authenticated_exit1", &[], "1.999"),
        fail(
            "signature-invalid_newer_fail",
            "signature-invalid",
            changed(&|entries| entries[1].contents[9] ^= 1),
        ),
        fail(
            "checksum-mismatch_newer_fail",
            "checksum-mismatch",
            changed(&|entries| entries[9].contents[0] ^= 1),
        ),
        fail("missing-file_newer_fail", "missing-file", changed(&|entries| _ = entries.pop())),
        fail(
            "unlisted-file_newer_fail",
            "unlisted-file",
            changed(&|entries| entries.push(RawEntry::new("sources/codehost/x", b""))),
        ),
    ]
}
