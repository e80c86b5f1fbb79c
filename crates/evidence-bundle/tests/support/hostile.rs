//! One bundle for each way to be invalid, and valid bundles that come close.

use evidence_bundle::SigningKey;
use serde_json::{Value, json};

use super::raw::{self, RawEntry};
use super::{File, key, other_key, sha256, small_files, with_documents, with_manifest};

/// A directory of `tests/bundles`.
pub struct Case {
    pub name: &'static str,
    pub bundle: Vec<u8>,
    /// Arguments beside the bundle, with paths relative to the directory.
    pub arguments: &'static [&'static str],
    pub exit: u8,
    pub reason: Option<&'static str>,
    /// Further files of the directory.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

pub(super) const TRUSTED: &[&str] = &["--public-key", "../key.pub.pem"];
pub(super) const PINNED: &[&str] =
    &["--fingerprint", "sha256:cb2ef9e927564fca6717b9bacb8f40716b6fc41da46711d598b63224bd3290c4"];
const PINNED_SSH: &[&str] = &["--fingerprint", "SHA256:iTxzElgBD6JX8H05hY6FSi+vCxgIxTT623MZg29s3wQ"];
const SIGNERS: &[&str] = &["--allowed-signers", "allowed_signers"];

/// A case that must be refused for this reason.
pub(super) fn fail(name: &'static str, reason: &'static str, bundle: Vec<u8>) -> Case {
    Case { name, bundle, arguments: TRUSTED, exit: 7, reason: Some(reason), files: Vec::new() }
}

pub(super) fn ok(name: &'static str, bundle: Vec<u8>) -> Case {
    Case { name, bundle, arguments: TRUSTED, exit: 0, reason: None, files: Vec::new() }
}

pub(super) fn pack(entries: &[RawEntry]) -> Vec<u8> {
    raw::gzip(&raw::tar(entries))
}

fn small() -> Vec<RawEntry> {
    raw::entries(&small_files(), &key())
}

/// The small bundle with a change to its entries after signing.
fn entries(change: impl FnOnce(&mut Vec<RawEntry>)) -> Vec<u8> {
    entries_of(&small_files(), change)
}

/// The bundle of these files with a change to its entries after signing.
pub(super) fn entries_of(files: &[File], change: impl FnOnce(&mut Vec<RawEntry>)) -> Vec<u8> {
    let mut entries = raw::entries(files, &key());
    change(&mut entries);
    pack(&entries)
}

/// The small bundle with a change to its archive.
fn archive(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut tar = raw::tar(&small());
    change(&mut tar);
    raw::gzip(&tar)
}

/// A bundle whose manifest was changed before signing.
pub(super) fn manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut files = small_files();
    let mut document = serde_json::from_slice(&files[0].1).unwrap();
    change(&mut document);
    files[0].1 = serde_json::to_vec_pretty(&document).unwrap();
    pack(&raw::entries(&files, &key()))
}

/// A bundle with these artifacts, correctly described and signed.
fn artifacts(paths: &[&str]) -> Vec<u8> {
    let artifacts: Vec<File> = paths.iter().map(|path| ((*path).to_owned(), b"{}".to_vec())).collect();
    pack(&raw::entries(&with_manifest(with_documents(artifacts), &key()), &key()))
}

/// A bundle whose list was changed before signing.
fn list(change: impl FnOnce(String) -> String) -> Vec<u8> {
    let files = small_files();
    let lines = files.iter().map(|(path, contents)| format!("{}  {path}\n", hex::encode(sha256(contents))));
    pack(&raw::entries_with_list(&files, change(lines.collect()).as_bytes(), &key()))
}

const REVOKED: &[&str] = &["--public-key", "../key.pub.pem", "--revoked-keys", "revoked"];

/// A list that revokes this key long after the bundle claims to be made.
fn revoked(key: &SigningKey) -> Vec<(&'static str, Vec<u8>)> {
    let id = key.public_key().key_id();
    vec![("revoked", format!("# revoked keys\n{id} 2030-01-01 stolen\n").into_bytes())]
}

fn signers(options: &str) -> Vec<(&'static str, Vec<u8>)> {
    let line = format!("release@acme {options} {}\n", key().public_key().to_openssh());
    vec![("allowed_signers", line.into_bytes())]
}

/// Every case, in the order of the documentation.
pub fn cases() -> Vec<Case> {
    let long = format!("sources/codehost/repo_{}_{}_codeowners.json", "o".repeat(39), "r".repeat(100));
    let mut cases = wrong_signature();
    cases.extend(wrong_contents());
    cases.extend(super::contradictions::cases());
    cases.extend(super::waivers::cases());
    cases.extend(super::newer::cases());
    cases.extend(wrong_archive(&long));
    cases.extend([
        ok("plain_ok", pack(&small())),
        ok(
            "path_ok",
            artifacts(&["sources/codehost/%2E%2E", "sources/codehost/.github", "sources/codehost/com10"]),
        ),
        ok(
            "case-collision_ok",
            artifacts(&["sources/codehost/a", "sources/codehost/a-b", "sources/codehost/ab"]),
        ),
        ok("tar-pax_ok", artifacts(&[&long])),
        Case {
            arguments: &["--public-key", "../other.pub", "--public-key", "../key.pub"],
            ..ok("two-keys_ok", pack(&small()))
        },
        Case { arguments: SIGNERS, files: signers(WINDOW), ..ok("key-outside-validity_ok", pack(&small())) },
        Case { arguments: REVOKED, files: revoked(&other_key()), ..ok("key-revoked_ok", pack(&small())) },
        Case { arguments: PINNED, ..ok("fingerprint_ok", pack(&small())) },
        Case { arguments: PINNED_SSH, ..ok("fingerprint_openssh_ok", pack(&small())) },
        Case {
            arguments: &["--public-key", "../key.pub.pem", "--expect-org", "acme"],
            ..ok("wrong-org_ok", pack(&small()))
        },
        Case {
            arguments: &["--public-key", "../key.pub.pem", "--max-age", "36500d"],
            ..ok("too-old_ok", pack(&small()))
        },
        Case { arguments: &[], exit: 1, ..ok("not-authenticated_exit1", pack(&small())) },
    ]);
    cases
}

/// Corrects the checksum of a header.
fn correct(header: &mut [u8]) {
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

const WINDOW: &str = "namespaces=\"evidence-bundle\",valid-after=\"20260101Z\",valid-before=\"20260201Z\"";
const LATER: &str = "namespaces=\"evidence-bundle\",valid-after=\"20260201Z\"";

fn wrong_signature() -> Vec<Case> {
    let stranger =
        pack(&raw::entries(&with_manifest(with_documents(Vec::new()), &other_key()), &other_key()));
    vec![
        Case {
            arguments: REVOKED,
            files: revoked(&key()),
            ..fail("key-revoked_fail", "key-revoked", pack(&small()))
        },
        fail("signature-invalid_fail", "signature-invalid", entries(|entries| entries[1].contents[9] ^= 1)),
        fail("signature-invalid_other-key_fail", "signature-invalid", stranger.clone()),
        Case {
            arguments: PINNED,
            ..fail("signature-invalid_fingerprint_fail", "signature-invalid", stranger)
        },
        fail(
            "signature-invalid_list_fail",
            "signature-invalid",
            entries(|entries| entries[0].contents[0] ^= 1),
        ),
        fail("signature-format_fail", "signature-format", entries(|entries| _ = entries[1].contents.pop())),
        Case {
            arguments: SIGNERS,
            files: signers(LATER),
            ..fail("key-outside-validity_fail", "key-outside-validity", pack(&small()))
        },
        fail("key-id-mismatch_fail", "key-id-mismatch", {
            let files = with_manifest(with_documents(Vec::new()), &other_key());
            pack(&raw::entries(&files, &key()))
        }),
        // Only one of the two forms of the key changed.
        fail("key-id-mismatch_id_fail", "key-id-mismatch", {
            let id = other_key().public_key().key_id().to_string();
            manifest(|manifest| manifest["signer"]["key_id"] = json!(id))
        }),
        fail("key-id-mismatch_key_fail", "key-id-mismatch", {
            let other = other_key().public_key().to_spki_base64();
            manifest(|manifest| manifest["signer"]["public_key"] = json!(other))
        }),
    ]
}

fn wrong_contents() -> Vec<Case> {
    let twice = |list: String| {
        let last = list.lines().last().unwrap().to_owned();
        format!("{list}{last}\n")
    };
    vec![
        fail("checksum-mismatch_fail", "checksum-mismatch", entries(|entries| entries[9].contents[3] ^= 1)),
        fail(
            "checksum-mismatch_manifest_fail",
            "checksum-mismatch",
            entries(|entries| entries[2].contents[3] ^= 1),
        ),
        fail("missing-file_fail", "missing-file", entries(|entries| _ = entries.remove(5))),
        fail("missing-file_last_fail", "missing-file", entries(|entries| _ = entries.pop())),
        fail("unlisted-file_fail", "unlisted-file", {
            entries(|entries| entries.push(RawEntry::new("sources/codehost/zzz.json", b"{}")))
        }),
        fail("unlisted-file_pax_fail", "unlisted-file", {
            let long = format!("sources/codehost/{}.json", "u".repeat(120));
            entries(|entries| entries.push(RawEntry::new(&long, b"{}")))
        }),
        fail("unlisted-file_between_fail", "unlisted-file", {
            entries(|entries| entries.insert(5, RawEntry::new("derived/extra.json", b"{}")))
        }),
        fail("layout_list-twice_fail", "layout", {
            entries(|entries| entries.insert(5, RawEntry::new("checksums.sha256", b"")))
        }),
        fail("layout_list-last_fail", "layout", {
            entries(|entries| entries.push(RawEntry::new("checksums.sha256", b"")))
        }),
        fail("manifest-mismatch_fail", "manifest-mismatch", manifest(|m| m["files"][1]["size"] = json!(1))),
        fail("manifest-mismatch_sizes_fail", "manifest-mismatch", {
            manifest(|manifest| manifest["artifacts"][0]["size_bytes"] = json!(1))
        }),
        ok("previous_ok", {
            let previous = json!({"bundle_id": "the one before", "checksums_sha256": "7".repeat(64)});
            manifest(|manifest| {
                manifest["previous"] = previous.clone();
                // A different id, since a platform refuses a second bundle with the same id.
                manifest["bundle_id"] = json!("00000000-0000-4000-8000-000000000001");
            })
        }),
        fail("manifest-mismatch_artifact_fail", "manifest-mismatch", {
            manifest(|manifest| manifest["artifacts"] = json!([]))
        }),
        fail("manifest-mismatch_row_fail", "manifest-mismatch", {
            manifest(|manifest| _ = manifest["files"].as_array_mut().unwrap().pop())
        }),
        fail("manifest-format_bundle-id_fail", "manifest-format", {
            manifest(|manifest| manifest["bundle_id"] = json!("../the one before"))
        }),
        fail(
            "manifest-format_fail",
            "manifest-format",
            manifest(|manifest| manifest["surprise"] = json!(true)),
        ),
        // A list with the values of the fields in order.
        fail(
            "manifest-format_list_fail",
            "manifest-format",
            manifest(|m| {
                let signer = &m["signer"];
                m["signer"] = json!([signer["algorithm"], signer["public_key"], signer["key_id"]]);
            }),
        ),
        fail("unsupported-format_list_fail", "unsupported-format", {
            let mut files = with_documents(Vec::new());
            let mut run: Value = serde_json::from_slice(&files[0].1).unwrap();
            run["tool"] = json!(["evidence", "0.0.1", null]);
            files[0].1 = serde_json::to_vec_pretty(&run).unwrap();
            pack(&raw::entries(&with_manifest(files, &key()), &key()))
        }),
        fail(
            "unsupported-format_fail",
            "unsupported-format",
            manifest(|m| m["bundle_version"] = json!("0.9")),
        ),
        fail("unsupported-format_form_fail", "unsupported-format", {
            manifest(|m| m["bundle_version"] = json!("v1.1"))
        }),
        // The unknown version takes precedence over fields that it may or may not have.
        fail("unsupported-format_fields_fail", "unsupported-format", {
            manifest(|m| {
                m["bundle_version"] = json!("0.9");
                m["surprise"] = json!(true);
            })
        }),
        fail("checksums-format_fail", "checksums-format", list(|list| list.replacen("  ", " *", 1))),
        fail("path_carriage-return_fail", "path", list(|list| list.replace('\n', "\r\n"))),
        fail("checksums-format_unended_fail", "checksums-format", list(|list| list.trim_end().to_owned())),
        fail("path_fail", "path", artifacts(&["sources/codehost/../../../etc/passwd"])),
        fail("path_device_fail", "path", artifacts(&["sources/codehost/nul.json"])),
        fail(
            "case-collision_fail",
            "case-collision",
            artifacts(&["sources/codehost/A", "sources/codehost/a"]),
        ),
        fail("case-collision_directory_fail", "case-collision", {
            artifacts(&["sources/codehost/a", "sources/codehost/a-b", "sources/codehost/a/c"])
        }),
        fail("layout_fail", "layout", entries(|entries| entries.swap(4, 5))),
        fail("layout_twice_fail", "layout", entries(|entries| entries.push(entries[9].clone()))),
        fail("layout_first_fail", "layout", entries(|entries| entries.swap(0, 1))),
        fail("layout_listed-twice_fail", "layout", list(twice)),
        fail("layout_place_fail", "layout", artifacts(&["extra.json"])),
        fail("mtime_fail", "mtime", manifest(|m| m["created_at"] = json!("2026-01-02T03:04:06Z"))),
        fail("mtime_entry_fail", "mtime", entries(|entries| entries[4].time += 1)),
        Case {
            arguments: &["--public-key", "../key.pub.pem", "--max-age", "1d"],
            ..fail("too-old_fail", "too-old", pack(&small()))
        },
        Case {
            arguments: &["--public-key", "../key.pub.pem", "--expect-org", "other"],
            ..fail("wrong-org_fail", "wrong-org", pack(&small()))
        },
    ]
}

fn wrong_archive(long: &str) -> Vec<Case> {
    let entry =
        |position: usize, change: &dyn Fn(&mut RawEntry)| entries(|entries| change(&mut entries[position]));
    let kind = |kind: u8, link: &str| {
        entry(6, &|entry| {
            entry.kind = kind;
            entry.link = link.to_owned();
        })
    };
    let mut second_member = pack(&small());
    second_member.extend(raw::gzip(b""));
    let mut bad_crc = pack(&small());
    let crc = bad_crc.len() - 8;
    bad_crc[crc] ^= 1;
    let mut with_name = pack(&small());
    with_name[3] = 8;
    with_name.splice(10..10, *b"name\0");
    let mut trailing = pack(&small());
    trailing.push(0);
    vec![
        fail("tar-type_fail", "tar-type", kind(b'2', "/etc/passwd")),
        fail("tar-type_hardlink_fail", "tar-type", kind(b'1', "manifest.json")),
        fail("tar-type_device_fail", "tar-type", kind(b'3', "")),
        fail("tar-type_directory_fail", "tar-type", {
            entries(|entries| {
                entries.insert(4, RawEntry { kind: b'5', ..RawEntry::new("derived/", b"") });
            })
        }),
        fail("tar-pax_fail", "tar-pax", {
            entry(6, &|entry| entry.pax = Some(raw::pax_record("size", "0")))
        }),
        fail("tar-pax_needless_fail", "tar-pax", {
            entry(6, &|entry| entry.pax = Some(raw::pax_record("path", &entry.path)))
        }),
        fail("tar-pax_two-records_fail", "tar-pax", {
            entry(6, &|entry| {
                let mut records = raw::pax_record("path", long);
                records.extend(raw::pax_record("mtime", "1"));
                entry.pax = Some(records);
            })
        }),
        fail("tar-number_fail", "tar-number", {
            let base_256 = [&[0x80_u8; 1][..], &[0; 10], &[54]].concat();
            entry(6, &|entry| entry.size = Some(base_256.clone()))
        }),
        fail("tar-number_spaces_fail", "tar-number", {
            entry(6, &|entry| entry.size = Some(b"         66 \0".to_vec()))
        }),
        fail(
            "tar-noncanonical_fail",
            "tar-noncanonical",
            entry(6, &|entry| entry.mode = b"0000755\0".to_vec()),
        ),
        fail("tar-noncanonical_prefix_fail", "tar-noncanonical", {
            // `run.json` becomes `derived/run.json`: a prefix is never used.
            archive(|tar| {
                let header = tar.chunks_mut(512).find(|block| block.starts_with(b"run.json\0")).unwrap();
                header[345..352].copy_from_slice(b"derived");
                correct(header);
            })
        }),
        fail("tar-pax_device_fail", "tar-pax", {
            let entries = raw::entries(
                &with_manifest(with_documents(vec![(long.to_owned(), b"{}".to_vec())]), &key()),
                &key(),
            );
            let mut tar = raw::tar(&entries);
            let end = tar.len() - 1024;
            let header = &mut tar[end - 2048..end - 1536];
            header[329..345].copy_from_slice(b"0000000\x000000000\0");
            correct(header);
            raw::gzip(&tar)
        }),
        fail("tar-noncanonical_checksum_fail", "tar-noncanonical", archive(|tar| tar[0] ^= 1)),
        fail("tar-padding_fail", "tar-padding", entry(6, &|entry| entry.padding = b'x')),
        fail(
            "checksum-mismatch_padding_fail",
            "checksum-mismatch",
            entry(6, &|entry| (entry.contents[0], entry.padding) = (entry.contents[0] ^ 1, b'x')),
        ),
        fail("tar-truncated_fail", "tar-truncated", archive(|tar| tar.truncate(tar.len() - 1024 - 512))),
        fail("tar-end_fail", "tar-end", archive(|tar| tar.extend([0; 512]))),
        fail("tar-end_hidden_fail", "tar-end", archive(|tar| *tar.last_mut().unwrap() = 1)),
        fail("tar-end_none_fail", "tar-end", archive(|tar| tar.truncate(tar.len() - 1024))),
        fail("tar-end_short_fail", "tar-end", archive(|tar| tar.truncate(tar.len() - 512))),
        fail("gzip_fail", "gzip", bad_crc),
        fail("gzip_name_fail", "gzip", with_name),
        fail("gzip-trailing_fail", "gzip-trailing", trailing),
        fail("gzip-trailing_member_fail", "gzip-trailing", second_member),
        fail("limit_fail", "limit", entry(0, &|entry| entry.size = Some(b"00400000001\0".to_vec()))),
    ]
}
