//! The check with stock tools: every copy of its commands in the documents, against valid and hostile archives.
//! The commands are for Linux and macOS.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

#[path = "support/stock.rs"]
mod stock;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use evidence_bundle::detached::ArchiveDigest;
use stock::{BUNDLE, copies, is_good, is_good_by_hand, is_there, macos, paste};
use support::raw::{self, RawEntry};
use support::{key, other_key, small_files};

/// An archive, and whether it is valid.
struct Case {
    name: &'static str,
    bundle: Vec<u8>,
    good: bool,
}

fn small() -> Vec<RawEntry> {
    raw::entries(&small_files(), &key())
}

fn pack(entries: &[RawEntry]) -> Vec<u8> {
    raw::gzip(&raw::tar(entries))
}

fn entry(kind: u8, path: &str, link: &str) -> RawEntry {
    RawEntry { kind, link: link.to_owned(), ..RawEntry::new(path, b"") }
}

/// Bundles with one file more than the signed list.
fn extra() -> Vec<(&'static str, RawEntry)> {
    let file = |path: &str| RawEntry::new(path, b"{}");
    vec![
        ("a dot as a wildcard, signature", file("signature_sig")),
        ("a dot as a wildcard, list", file("checksums-sha256")),
        ("a symbolic link for a wildcard", entry(b'2', "checksums_sha256", "/etc/hostname")),
        ("a line break between the two own names", file("checksums.sha256\nsignature.sig")),
        ("a line break before an own name", file("x\nsignature.sig")),
        ("a line break between listed names", file("run.json\nmanifest.json")),
        ("a line break at the end", file("manifest.json\n")),
        ("another artifact", file("sources/codehost/zzz.json")),
        ("a hyphen", file("-")),
        ("an option", file("-rf")),
        ("an option of tar", file("--checkpoint-action=exec=sh")),
        ("another case", file("Manifest.json")),
        ("a space before", file(" manifest.json")),
        ("a space behind", file("manifest.json ")),
        ("a backslash", file("manifest.json\\n")),
        ("a carriage return", file("manifest.json\r")),
        ("the same path by way of a dot", file("./manifest.json")),
        ("an escape sequence", file("\u{1b}[2K\u{1b}[1A")),
        ("an absolute path", file("/tmp/evidence-stock-check/x")),
        ("a path out of the directory", file("../x")),
        ("a file on which a script would stumble", file("sources/codehost/$(id)")),
        ("a dangling link", entry(b'2', "derived/x", "nowhere")),
        ("a hard link", entry(b'1', "derived/x", "manifest.json")),
        ("a fifo", entry(b'6', "derived/x", "")),
        ("a device", entry(b'3', "derived/x", "")),
        ("an empty directory", entry(b'5', "empty/", "")),
        ("a contiguous file", entry(b'7', "derived/x", "")),
        ("a set-user-id program", RawEntry { mode: b"0004755\0".to_vec(), ..file("derived/x") }),
    ]
}

fn cases() -> Vec<Case> {
    let files = small_files();
    let mut cases: Vec<Case> = extra()
        .into_iter()
        .map(|(name, entry)| {
            let mut entries = small();
            entries.push(entry);
            Case { name, bundle: pack(&entries), good: false }
        })
        .collect();
    let mut case = |name, good, bundle: Vec<u8>| cases.push(Case { name, bundle, good });
    let changed = |change: &dyn Fn(&mut Vec<RawEntry>)| {
        let mut entries = small();
        change(&mut entries);
        pack(&entries)
    };
    case("the good bundle", true, pack(&small()));
    case("the good bundle of the writer", true, support::bundle(&files));
    case("long paths", true, {
        let paths =
            [format!("sources/codehost/{}", "p".repeat(90)), format!("sources/x/{}", "x".repeat(180))];
        let artifacts = paths.into_iter().map(|path| (path, b"{}".to_vec())).collect();
        support::bundle(&support::with_manifest(support::with_documents(artifacts), &key()))
    });
    case("a stranger's key", false, pack(&raw::entries(&files, &other_key())));
    case("a changed file", false, changed(&|entries| entries[9].contents[3] ^= 1));
    case("a changed list", false, changed(&|entries| entries[0].contents[0] ^= 1));
    case("a missing file", false, changed(&|entries| drop(entries.remove(6))));
    case("another order", false, changed(&|entries| entries.swap(4, 5)));
    // If two files have the same path, the later one stays on the disk.
    case(
        "a changed file that is overwritten",
        false,
        changed(&|entries| {
            let mut first = entries[9].clone();
            first.contents[3] ^= 1;
            entries.insert(2, first);
        }),
    );
    case("a second list", false, changed(&|entries| entries.push(entries[0].clone())));
    // Entries of other types with the name of a listed file; their targets have the right contents.
    for (name, kind, link) in [
        ("a symbolic link in place of a file", b'2', "copy.json"),
        ("a hard link in place of a file", b'1', "derived/copy.json"),
    ] {
        case(
            name,
            false,
            changed(&|entries| {
                let listed = std::mem::replace(&mut entries[4], entry(kind, "derived/hints.json", link));
                entries.insert(4, RawEntry { path: "derived/copy.json".to_owned(), ..listed });
            }),
        );
    }
    for (name, position) in
        [("a fifo as the list", 0), ("a fifo as the signature", 1), ("a fifo as a file", 6)]
    {
        case(name, false, changed(&|entries| entries[position].kind = b'6'));
    }
    case(
        "a file that everybody may write",
        false,
        changed(&|entries| entries[9].mode = b"0000666\0".to_vec()),
    );
    case("a set-user-id file", false, changed(&|entries| entries[9].mode = b"0004644\0".to_vec()));
    case(
        "a link to a directory that is then written through",
        false,
        changed(&|entries| {
            entries.insert(2, entry(b'2', "sources", "/tmp"));
        }),
    );
    case("bytes behind the compressed data", false, [pack(&small()), b"x".to_vec()].concat());
    case("cut off", false, pack(&small())[..400].to_vec());
    case("not compressed", false, raw::tar(&small()));
    case("empty", false, Vec::new());
    // Lists by a trusted key with more files than the archive.
    let contents = fs::read("/etc/hostname").unwrap_or_default();
    let outside = format!("{}  /etc/hostname\n", hex::encode(support::sha256(&contents)));
    let listed = |line: &str, path: &str| {
        let own = raw::entries(&files, &key()).remove(0).contents;
        let list = [own, line.as_bytes().to_vec()].concat();
        let mut entries = raw::entries_with_list(&files, &list, &key());
        entries.push(RawEntry::new(path, b"{}"));
        pack(&entries)
    };
    case("a listed file outside the directory", false, listed(&outside, "etc/hostname"));
    case("a listed absolute path", false, listed(&outside, "/etc/hostname"));
    case("a listed path with a way up", false, listed(&outside.replace("/etc", "../b/../../etc"), "../x"));
    let escaped = format!("\\{}  x\\ny\n", hex::encode(support::sha256(b"{}")));
    case("a listed name that is escaped", false, listed(&escaped, "x\ny"));
    cases
}

/// The installed shells; prints a message for each missing one.
fn shells() -> Vec<&'static str> {
    ["bash", "zsh"].into_iter().filter(|shell| is_there(shell)).collect()
}

/// Runs the check for every case in its own directory. Returns the names of the wrong results.
fn wrong(cases: &[Case], check: impl Fn(&Path, &Case) -> bool + Sync) -> Vec<&'static str> {
    let half = |first: usize| {
        let cases = cases.iter().skip(first).step_by(2);
        let wrong = cases.filter(|case| {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(BUNDLE), &case.bundle).unwrap();
            for name in ["acme.pub.pem", "key.pub.pem"] {
                fs::write(directory.path().join(name), key().public_key().to_spki_pem()).unwrap();
            }
            check(directory.path(), case) != case.good
        });
        wrong.map(|case| case.name).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        [half(0), odd.join().unwrap()].concat()
    })
}

#[test]
fn every_copy_of_the_commands_accepts_the_good_and_refuses_the_hostile() {
    if !["tar", "openssl", "sha256sum", "timeout"].into_iter().all(is_there) {
        return;
    }
    let cases = cases();
    for copy in copies() {
        for shell in shells() {
            let wrong = wrong(&cases, |directory, case| {
                let sha256 = hex::encode(support::sha256(&case.bundle));
                is_good(&paste(shell, &copy.filled_in(&sha256), directory).unwrap())
            });
            assert!(
                wrong.is_empty(),
                "{} in {shell}: {} of {}: {wrong:#?}",
                copy.document,
                wrong.len(),
                cases.len()
            );
        }
    }
}

/// Faults that bsdtar, the `tar` of macOS and Windows, accepts, as the pages say. The files are those that were
/// signed.
const FINE_WITH_BSDTAR: [&str; 2] = ["bytes behind the compressed data", "not compressed"];

/// The cases for this `tar`.
fn cases_for(program: &str) -> Vec<Case> {
    let mut cases = cases();
    for case in &mut cases {
        case.good |= program == "bsdtar" && FINE_WITH_BSDTAR.contains(&case.name);
    }
    cases
}

#[test]
fn the_commands_work_with_bsdtar() {
    let Some(tar) = stock::tar("bsdtar") else { return };
    let cases = cases_for("bsdtar");
    for copy in copies() {
        let wrong = wrong(&cases, |directory, case| {
            let commands = copy.filled_in(&hex::encode(support::sha256(&case.bundle)));
            is_good(&paste("bash", &stock::with_tar(tar.path(), &commands), directory).unwrap())
        });
        assert!(wrong.is_empty(), "{}: {} of {}: {wrong:#?}", copy.document, wrong.len(), cases.len());
    }
}

/// The owner of the key can sign any file: a valid detached signature does not make an archive a valid bundle.
#[test]
fn the_commands_for_macos_refuse_what_a_signer_could_hide() {
    if !["bash", "ssh-keygen", "shasum"].into_iter().all(is_there) {
        return;
    }
    let line = format!("signer namespaces=\"evidence-bundle\" {}\n", key().public_key().to_openssh());
    for program in ["tar", "bsdtar"] {
        let Some(tar) = stock::tar(program) else { continue };
        let mut cases = cases_for(program);
        for case in &mut cases {
            // They do not check the signature inside, as the page says.
            case.good |= case.name == "a stranger's key";
        }
        let wrong = wrong(&cases, |directory, case| {
            let mut digest = ArchiveDigest::default();
            digest.write_all(&case.bundle).unwrap();
            fs::write(directory.join(format!("{BUNDLE}.sig")), digest.sign(&key()).unwrap()).unwrap();
            fs::write(directory.join("allowed_signers"), &line).unwrap();
            is_good_by_hand(&macos("bash", tar.path(), directory))
        });
        assert!(wrong.is_empty(), "{program}: {} of {}: {wrong:#?}", wrong.len(), cases.len());
    }
}

#[test]
fn every_copy_of_the_commands_is_the_same() {
    let script = stock::read("crates/evidence-bundle/tests/stock_check.sh");
    let mut known: Option<String> = None;
    for copy in copies() {
        let commands = copy.commands.replace(&format!("../{}", copy.bundle), "\"$bundle\"");
        let commands =
            commands.replace(copy.bundle, "\"$bundle\"").replace(&format!("../{}", copy.key), "\"$key\"");
        let commands = match commands.split_once("sha256sum --quiet -c - &&\n") {
            Some((digest, commands)) => {
                assert_eq!(digest, "echo '{{ sha256 }}  \"$bundle\"' | ", "{}", copy.document);
                commands.to_owned()
            }
            None => commands,
        };
        let commands = commands.trim_end();
        assert_eq!(commands.lines().count(), 4, "{}", copy.document);
        assert!(script.contains(commands), "{} and the script differ:\n{commands}", copy.document);
        assert_eq!(*known.get_or_insert_with(|| commands.to_owned()), commands, "{}", copy.document);
    }
}

/// Runs a script for every case, beside the extracted files of a valid bundle, which it must not mistake for the
/// bundle's.
fn script(program: &str, script: &str, cases: &[Case]) {
    let directory = tempfile::tempdir().unwrap();
    for entry in small() {
        let path = directory.path().join(entry.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, entry.contents).unwrap();
    }
    let run = |bundle: &Path, key: &Path| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
        let mut command = Command::new("timeout");
        command.args(["10", program]).arg(script).args([bundle, key]).current_dir(directory.path());
        command.output().unwrap()
    };
    if !is_there(program) || !is_there("timeout") {
        return;
    }
    let wrong = wrong(cases, |directory, case| {
        let output = run(&directory.join(BUNDLE), &directory.join("key.pub.pem"));
        if output.status.code() == Some(77) {
            eprintln!("SKIPPED: {script}: {}", String::from_utf8_lossy(&output.stdout));
            return case.good;
        }
        output.status.success()
    });
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), cases.len());
}

#[test]
fn the_script_agrees() {
    script("bash", "stock_check.sh", &cases());
}

#[test]
fn the_check_with_python_agrees() {
    // It starts slowly, and compares every name in the same way, so a sample is enough.
    let sample = cases().into_iter().enumerate().filter(|(index, case)| case.good || index % 4 == 0);
    script("python3", "stock_check.py", &sample.map(|(_, case)| case).collect::<Vec<_>>());
}
