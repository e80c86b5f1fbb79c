//! The detached signature: OpenSSH accepts it, the documented commands for macOS and Windows detect faults, and it
//! exists only beside a complete bundle.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use evidence_bundle::SigningKey;
use evidence_bundle::detached::ArchiveDigest;
use tempfile::TempDir;

use crate::common::{Lab, acme, sound};
use crate::stock::{BUNDLE, by_hand, is_good_by_hand, is_there, macos, paste, tar};

fn lab() -> Lab {
    let host = acme().repository(sound("web")).repository(sound("api"));
    Lab::new(host).with(|config| config.bundle("detached_signature", "true"))
}

/// An auditor's files: the bundle, its signature, and the line from the signer.
fn received(lab: &Lab) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    lab.collect(&["-q"]).exits(0);
    let [bundle, signature] = &lab.output()[..] else { panic!("{:?}", lab.output()) };
    assert_eq!(*signature, format!("{bundle}.sig"));
    let from = |name: &str| lab.path("evidence-bundles").join(name);
    fs::copy(from(bundle), directory.path().join(BUNDLE)).unwrap();
    fs::copy(from(signature), directory.path().join(format!("{BUNDLE}.sig"))).unwrap();
    fs::copy(lab.path("key.pub.pem"), directory.path().join("acme.pub.pem")).unwrap();
    let line = paste("bash", &by_hand("sh", "openssl pkey"), directory.path()).unwrap();
    fs::write(directory.path().join("allowed_signers"), line.stdout).unwrap();
    directory
}

fn tools_are_there() -> bool {
    ["bash", "tar", "shasum", "openssl"].into_iter().all(is_there) && is_there("ssh-keygen")
}

/// The commands for macOS in a fresh copy of this directory.
fn check(shell: &str, tar: &Path, received: &Path) -> Output {
    let directory = tempfile::tempdir().unwrap();
    for name in [BUNDLE, &format!("{BUNDLE}.sig"), "allowed_signers"] {
        fs::copy(received.join(name), directory.path().join(name)).unwrap();
    }
    macos(shell, tar, directory.path())
}

#[test]
fn the_commands_of_the_page_find_what_is_wrong() {
    if !tools_are_there() {
        return;
    }
    let lab = lab();
    let received = received(&lab);
    let path = |name: &str| received.path().join(name);
    let signature = format!("{BUNDLE}.sig");
    let (good, good_signature) = (fs::read(path(BUNDLE)).unwrap(), fs::read(path(&signature)).unwrap());
    let sign = |bytes: &[u8], key: &SigningKey| {
        let mut digest = ArchiveDigest::default();
        std::io::Write::write_all(&mut digest, bytes).unwrap();
        digest.sign(key).unwrap().into_bytes()
    };
    let own = SigningKey::from_bytes_any(&fs::read(lab.path("key.pem")).unwrap(), None).unwrap();
    let mut changed = good.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let repacked = repacked(&good, &path("work"));
    let cases = [
        ("as it was sent", true, &good, good_signature.clone()),
        ("the signature made again", true, &good, sign(&good, &own)),
        ("one bit", false, &changed, good_signature.clone()),
        ("cut off", false, &good[..good.len() - 1].to_vec(), good_signature.clone()),
        ("another key", false, &good, sign(&good, &SigningKey::from_seed(&[9; 32]))),
        ("no signature", false, &good, Vec::new()),
        ("a signature over something else", false, &good, sign(b"something else", &own)),
        // Archives that the key's holder signs although they are not valid bundles.
        ("a changed file, signed", false, &repacked.changed, sign(&repacked.changed, &own)),
        ("an added file, signed", false, &repacked.added, sign(&repacked.added, &own)),
        ("a removed file, signed", false, &repacked.removed, sign(&repacked.removed, &own)),
        ("a link, signed", false, &repacked.linked, sign(&repacked.linked, &own)),
    ];
    for program in ["tar", "bsdtar"] {
        let Some(tar) = tar(program) else { continue };
        for shell in ["bash", "zsh"].into_iter().filter(|shell| is_there(shell)) {
            for (name, expected, bundle, signed) in &cases {
                fs::write(path(BUNDLE), bundle).unwrap();
                fs::write(path(&signature), signed).unwrap();
                let output = check(shell, tar.path(), received.path());
                assert_eq!(is_good_by_hand(&output), *expected, "{name}, {shell}, {program}: {output:?}");
                let says_so = String::from_utf8_lossy(&output.stdout).contains("unchanged");
                assert_eq!(says_so, *expected, "{name}, {shell}, {program}: {output:?}");
            }
        }
    }
}

/// Archives that differ from the valid one in one file.
struct Repacked {
    changed: Vec<u8>,
    added: Vec<u8>,
    removed: Vec<u8>,
    linked: Vec<u8>,
}

fn repacked(good: &[u8], work: &Path) -> Repacked {
    let pack = |change: &str| {
        fs::create_dir(work).unwrap();
        fs::write(work.join("good.tar.gz"), good).unwrap();
        let commands = format!(
            "mkdir b && tar -xzf good.tar.gz -C b && tar -tzf good.tar.gz > names && cd b && {change} &&
             tar -czf ../out.tar.gz --format=ustar --mode=0644 --owner=0 --group=0 --no-recursion -T ../names"
        );
        let output = paste("bash", &commands, work).unwrap();
        assert!(output.status.success(), "{output:?}");
        let bytes = fs::read(work.join("out.tar.gz")).unwrap();
        fs::remove_dir_all(work).unwrap();
        bytes
    };
    Repacked {
        changed: pack("echo >> run.json"),
        added: pack("echo {} > derived/x.json && echo derived/x.json >> ../names"),
        removed: pack("sed -i /run.json/d ../names"),
        linked: pack("mv run.json ../run.json && ln -s /etc/hostname run.json"),
    }
}

/// The line that `keygen` prints, the one that stock tools produce from the public key, and the call in the commands
/// for Windows.
#[test]
fn openssh_accepts_every_form_of_the_key() {
    if !tools_are_there() {
        return;
    }
    let lab = lab();
    fs::remove_file(lab.path("key.pem")).unwrap();
    fs::remove_file(lab.path("key.pub.pem")).unwrap();
    let said = lab.run(&["keygen", "-o", "key.pem"]).exits(0).stdout;
    let line = said.lines().find_map(|line| line.strip_prefix("OpenSSH      ")).unwrap();
    let received = received(&lab);
    let signers = received.path().join("allowed_signers");
    assert_eq!(fs::read_to_string(&signers).unwrap(), format!("{line}\n"));
    let windows = by_hand("powershell", "ssh-keygen");
    let command = windows.lines().find_map(|line| line.trim().strip_prefix("cmd /c \"")).unwrap();
    let command = command.strip_suffix('"').unwrap().replace("$bundle", BUNDLE);
    // Also in the format that Notepad saves.
    for end in ["\n", "\r\n"] {
        fs::write(&signers, format!("{line}{end}")).unwrap();
        let output = paste("bash", &command, received.path()).unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    fs::write(&signers, line.replace("evidence-bundle", "file")).unwrap();
    assert!(!paste("bash", &command, received.path()).unwrap().status.success());
    // `verify` reads the same file.
    fs::write(&signers, format!("{line}\n")).unwrap();
    let (bundle, signers) = (received.path().join(BUNDLE), signers.display().to_string());
    lab.run(&["verify", bundle.to_str().unwrap(), "--allowed-signers", &signers]).exits(0);
}

#[test]
fn it_is_there_only_beside_a_whole_bundle() {
    let lab = lab();
    let run = lab.collect(&[]).exits(0);
    let [bundle, signature] = &lab.output()[..] else { panic!("{:?}", lab.output()) };
    assert_eq!(*signature, format!("{bundle}.sig"));
    assert!(run.stdout.contains(&format!("{signature}  (detached signature, OpenSSH)\n")), "{}", run.stdout);
    for name in [bundle, signature] {
        let mode = fs::metadata(lab.path("evidence-bundles").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    // With `--quiet`, the tool prints only the bundle's path.
    let run = lab.collect(&["-q", "-o", "quiet"]).exits(0);
    assert!(run.stdout.ends_with(".tar.gz\n") && run.stdout.lines().count() == 1, "{}", run.stdout);
    // Without the key, no signature.
    let off = Lab::new(acme().repository(sound("web")));
    off.collect(&["-q"]).exits(0);
    assert_eq!(off.output().len(), 1);
}

/// The tool does not overwrite an existing file of either name: it tries the next second.
#[test]
fn nothing_is_overwritten() {
    for taken in [".tar.gz", ".tar.gz.sig"] {
        let lab = lab().env("SOURCE_DATE_EPOCH", "1795251913");
        let name = |second: u32| format!("evidence-bundle-20261121-0905{second:02}");
        fs::create_dir(lab.path("evidence-bundles")).unwrap();
        let path = lab.path("evidence-bundles").join(format!("{}{taken}", name(13)));
        fs::write(&path, "somebody's").unwrap();
        lab.collect(&["-q", "--reproducible"]).exits(0);
        assert_eq!(fs::read(&path).unwrap(), b"somebody's");
        let mut expected = vec![format!("{}{taken}", name(13))];
        expected.extend([".tar.gz", ".tar.gz.sig"].map(|end| format!("{}{end}", name(14))));
        assert_eq!(lab.output(), expected);
    }
}
