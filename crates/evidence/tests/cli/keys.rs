//! Files that the tool must not use: a signing key that other users could replace, and anything that is not a regular
//! file. Also: other processes cannot read a run's memory.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::codehost::{Fault, FaultKind};

use crate::common::{Lab, TOKEN, acme, sound};

/// Every refusal must arrive within this time, even on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(15);

fn lab() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

/// `key.pem` at `safe/inner/key.pem`, accessible only to its owner.
fn nested() -> Lab {
    let lab = lab().with(|config| config.signing("private_key_path", "safe/inner/key.pem"));
    fs::create_dir_all(lab.path("safe/inner")).unwrap();
    fs::rename(lab.path("key.pem"), lab.path("safe/inner/key.pem")).unwrap();
    lab.set_mode("safe", 0o755);
    lab.set_mode("safe/inner", 0o700);
    lab
}

/// Changes the owner, if this user may do that.
fn give_away(lab: &Lab, name: &str) -> bool {
    let path = lab.path(name);
    let gave = Command::new("chown").args(["-h", "65534"]).arg(path).stderr(Stdio::null()).status();
    gave.is_ok_and(|status| status.success())
}

#[test]
fn a_signing_key_that_others_could_replace_is_1() {
    type Change = fn(&Lab) -> bool;
    let table: [(&str, Change, &[&str]); 15] = [
        ("file, group", |lab| chmod(lab, "safe/inner/key.pem", 0o620), &["mode 620", "chmod 600"]),
        ("file, others", |lab| chmod(lab, "safe/inner/key.pem", 0o602), &["mode 602", "chmod 600"]),
        (
            "directory, group",
            |lab| chmod(lab, "safe/inner", 0o770),
            &["/safe/inner", "mode 770", "chmod g-w"],
        ),
        (
            "directory, others",
            |lab| chmod(lab, "safe/inner", 0o707),
            &["/safe/inner", "mode 707", "chmod o-w"],
        ),
        ("directory, all", |lab| chmod(lab, "safe/inner", 0o777), &["/safe/inner", "mode 777", "chmod go-w"]),
        ("the directory above, group", |lab| chmod(lab, "safe", 0o775), &["/safe ", "mode 775", "chmod g-w"]),
        (
            "the directory above, others",
            |lab| chmod(lab, "safe", 0o757),
            &["/safe ", "mode 757", "chmod o-w"],
        ),
        ("a group's own bit", |lab| chmod(lab, "safe", 0o2775), &["/safe ", "chmod g-w"]),
        ("the file's owner", |lab| give_away(lab, "safe/inner/key.pem"), &["key.pem belongs to user 65534"]),
        ("the directory's owner", |lab| give_away(lab, "safe/inner"), &["/safe/inner belongs to user 65534"]),
        ("the owner above", |lab| give_away(lab, "safe"), &["/safe belongs to user 65534"]),
        (
            "a link into a directory of others",
            |lab| linked(lab, "/open/key.pem") && chmod(lab, "open", 0o777),
            &["/open ", "mode 777"],
        ),
        (
            "a link in a directory of others",
            |lab| {
                fs::create_dir(lab.path("open")).unwrap();
                symlink(lab.path("safe/inner"), lab.path("open/link")).unwrap();
                symlink("open/link", lab.path("way")).unwrap();
                lab.write("evidence.yaml", config_with(lab, "way/key.pem"));
                chmod(lab, "open", 0o777)
            },
            &["/open ", "mode 777"],
        ),
        (
            "a link of another user in a sticky directory",
            |lab| {
                fs::create_dir(lab.path("open")).unwrap();
                symlink("../safe/inner", lab.path("open/link")).unwrap();
                lab.write("evidence.yaml", config_with(lab, "open/link/key.pem"));
                chmod(lab, "open", 0o1777) && give_away(lab, "open/link")
            },
            // Some systems refuse to follow such a link themselves.
            &["open/link"],
        ),
        (
            "a link that leads nowhere but to itself",
            |lab| {
                symlink("loop", lab.path("loop")).unwrap();
                lab.write("evidence.yaml", config_with(lab, "loop/key.pem"));
                true
            },
            &["loop/key.pem", "symbolic links"],
        ),
    ];
    for (name, change, said) in table {
        let lab = nested();
        if !change(&lab) {
            eprintln!("SKIPPED: {name}: this user cannot give files away");
            continue;
        }
        let run = lab.collect(&[]).exits(1).leaves_nothing();
        for text in said {
            assert!(run.stderr.contains(text), "{name}: {text:?} is not in\n{}", run.stderr);
        }
        assert!(lab.requested().is_empty(), "{name}: asked before the key was known to be good");
    }
    // Passing the configuration for the sake of its key does not bypass the check.
    let lab = nested();
    let bundle = lab.collect(&["--quiet"]).exits(0).stdout.trim().to_owned();
    lab.set_mode("safe", 0o777);
    lab.run(&["verify", &bundle, "--config", "evidence.yaml"]).exits(1).says("mode 777");
}

#[test]
fn a_signing_key_that_only_its_owner_could_replace_is_used() {
    type Change = fn(&Lab);
    let table: [(&str, Change); 4] = [
        ("as it is", |_| {}),
        ("a sticky directory", |lab| assert!(chmod(lab, "safe", 0o1777))),
        ("a link", |lab| assert!(linked(lab, "/closed/key.pem"))),
        ("an absolute path", |lab| {
            let path = lab.path("safe/inner/../inner/key.pem");
            lab.write("evidence.yaml", config_with(lab, path.to_str().unwrap()));
        }),
    ];
    for (name, change) in table {
        let lab = nested();
        change(&lab);
        let run = lab.collect(&["--quiet"]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.all());
    }
}

/// `keygen` and `init` warn immediately that `collect` will refuse the new key.
#[test]
fn a_new_key_in_a_place_of_others_is_noted() {
    let lab = lab();
    fs::create_dir(lab.path("open")).unwrap();
    lab.set_mode("open", 0o775);
    lab.run(&["keygen", "--output", "open/new.pem"]).exits(0).says("mode 775").says("chmod g-w");
    let run = lab.run(&["keygen", "--output", "new.pem"]).exits(0);
    assert_eq!(run.stderr, "");
    let init = ["init", "--generate-keys", "--config", "new.yaml", "--key", "open/other.pem"];
    lab.run(&init).exits(0).says("mode 775");
}

fn chmod(lab: &Lab, name: &str, mode: u32) -> bool {
    lab.set_mode(name, mode);
    true
}

/// Replaces the configured key with a link to `target`, a path below the lab.
fn linked(lab: &Lab, target: &str) -> bool {
    let target = lab.path(target.trim_start_matches('/'));
    fs::create_dir(target.parent().unwrap()).unwrap();
    fs::rename(lab.path("safe/inner/key.pem"), &target).unwrap();
    symlink(&target, lab.path("safe/inner/key.pem")).is_ok()
}

fn config_with(lab: &Lab, key: &str) -> String {
    let text = fs::read_to_string(lab.path("evidence.yaml")).unwrap();
    text.replace("safe/inner/key.pem", key)
}

/// Every option and setting rejects a path that is not a regular file at once: the tool never waits for a writer or
/// reads an endless stream.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let lab = lab();
    let bundle = lab.collect(&["--quiet"]).exits(0).stdout.trim().to_owned();
    fs::rename(lab.path(&bundle), lab.path("b.tar.gz")).unwrap();
    assert!(Command::new("mkfifo").arg(lab.path("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(lab.path("socket")).unwrap();
    assert!(fs::metadata(lab.path("socket")).unwrap().file_type().is_socket());
    fs::create_dir(lab.path("directory")).unwrap();
    let ca = lab.config().source("ca_file", "strange");
    let key = lab.config().signing("private_key_path", "strange");
    let trusted = lab.config().rest("    trusted_keys: [strange]\n");
    let upload = "upload:\n  api_url: http://127.0.0.1:1\n";
    let directory =
        "  altcloud:\n    mode: service_account\n    admin_email: admin@acme.example\nbundle:\n  signing:\n";
    let lab = lab
        .env("EVIDENCE_API_KEY", "evp_CliTestsTrustKeyIsNotARealSecret42")
        .env("ALTCLOUD_APPLICATION_CREDENTIALS", "strange");
    lab.write("ca.yaml", ca.text());
    lab.write("key.yaml", key.text());
    lab.write("trusted.yaml", trusted.text());
    lab.write("upload.yaml", lab.config().rest(upload).text());
    let text = lab.config().text();
    let (before, after) = text.split_once("bundle:\n  signing:\n").unwrap();
    let only = before.split_once("  codehost:").unwrap().0;
    lab.write("directory.yaml", format!("{only}{directory}{after}"));
    let table: [(&str, &[&str], i32); 12] = [
        ("the signing key", &["collect", "-c", "key.yaml"], 1),
        ("the signing key, to verify", &["verify", "b.tar.gz", "-c", "key.yaml"], 1),
        ("the configuration", &["collect", "-c", "strange"], 1),
        ("the configuration, to verify", &["verify", "b.tar.gz", "-c", "strange"], 1),
        ("the configuration, to upload", &["upload", "b.tar.gz", "-c", "strange"], 1),
        ("certificates", &["collect", "-c", "ca.yaml"], 1),
        ("the credentials file", &["collect", "-c", "directory.yaml"], 2),
        ("a trusted key", &["verify", "b.tar.gz", "-c", "trusted.yaml"], 1),
        ("a public key", &["verify", "b.tar.gz", "-k", "strange"], 1),
        ("allowed signers", &["verify", "b.tar.gz", "--allowed-signers", "strange"], 1),
        ("the bundle", &["verify", "strange", "-k", "key.pub.pem"], 1),
        ("the bundle, to upload", &["upload", "strange", "-c", "upload.yaml"], 1),
    ];
    for (kind, target, said) in [
        ("a FIFO", "fifo", "it is a FIFO, not a file"),
        ("a device", "/dev/zero", "it is a device, not a file"),
        ("a terminal", "/dev/ptmx", "it is a device, not a file"),
        ("a socket", "socket", "not a file"),
        ("a directory", "directory", "a directory, not a file"),
    ] {
        let _ = fs::remove_file(lab.path("strange"));
        symlink(target, lab.path("strange")).unwrap();
        for (what, arguments, code) in &table {
            let begun = Instant::now();
            let child = {
                let mut command = lab.command(arguments);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            };
            let output = ended(child).unwrap_or_else(|| panic!("{kind} as {what}: it waits"));
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(*code), "{kind} as {what}: {stderr}");
            // A folder stands for the bundles in it.
            let said = match (*what, kind) {
                ("the bundle", "a directory") => "no bundle in the folder",
                _ => said,
            };
            assert!(stderr.contains(said), "{kind} as {what}: {stderr}");
            assert!(begun.elapsed() < AT_ONCE, "{kind} as {what}: {:?}", begun.elapsed());
        }
        let lab_with = |lab: &Lab| {
            let mut command = lab.command(&["verify", "b.tar.gz"]);
            command.env("EVIDENCE_TRUSTED_KEYS", "strange").stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let output =
            ended(lab_with(&lab)).unwrap_or_else(|| panic!("{kind} in EVIDENCE_TRUSTED_KEYS: it waits"));
        assert_eq!(output.status.code(), Some(1), "{kind} in EVIDENCE_TRUSTED_KEYS");
    }
}

/// The output of a process. Kills a process that does not end in time.
fn ended(mut child: std::process::Child) -> Option<std::process::Output> {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > AT_ONCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(child.wait_with_output().unwrap())
}

/// A run holds tokens and the signing key. It leaves no core dump, whatever the limits of the shell, and other
/// processes of the same user can neither read its memory nor its environment.
#[test]
fn the_memory_of_a_running_collection_is_private() {
    let lab = Lab::new(acme().repository(sound("web")).fault(Fault::everywhere().kind(FaultKind::Hang)));
    let Some(prefix) = lab.unprivileged() else {
        eprintln!("SKIPPED: permissions mean nothing to root, which cannot become another user here");
        return;
    };
    let as_user = |program: &str, arguments: &[&str]| {
        let mut words = prefix.iter().copied().chain([program]).chain(arguments.iter().copied());
        let mut command = Command::new(words.next().unwrap());
        let like = lab.command(&[]);
        command.args(words).current_dir(lab.path("")).env_clear();
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let binary = env!("CARGO_BIN_EXE_evidence");
    let script = "ulimit -c unlimited || exit 99; exec \"$0\" collect --quiet";
    let mut child = as_user("sh", &["-c", script, binary]).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while lab.server.request_count() == 0 {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(matches!(status.code(), Some(99 | 126 | 127)), "{status}");
            eprintln!("SKIPPED: another user cannot run the program here, or core dumps cannot be turned on");
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "the run does not get to its requests");
        std::thread::sleep(Duration::from_millis(5));
    }
    let of = |file: &str| format!("/proc/{}/{file}", child.id());
    let limits = fs::read_to_string(of("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_ascii_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    for file in ["mem", "environ", "maps"] {
        let read = as_user("head", &["-c", "1", &of(file)]).output().unwrap();
        let said = String::from_utf8_lossy(&read.stderr);
        assert!(said.contains("Permission denied"), "{file} of a run can be opened: {read:?}");
    }
    assert!(Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(6), "{status}");
    assert!(!status.core_dumped(), "{status}");
    for name in crate::common::names(&lab.path("")) {
        let content = fs::read(lab.path(&name)).unwrap_or_default();
        let holds = content.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(!holds, "{name} holds the token");
    }
}

/// An Ed25519 key under the passphrase `secret`.
const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj8AoW/QPCNrQICCAAw\n\
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEOOAe3tYtTlIl2AH0Uex108EQJSv\n\
TLazK5a0tHdFxOzhck1IUbXED2rUu659GuUxjGsTkZ6ZR8IIIX4gBtLAWSlnVtD0\n\
/rt1k7sL4YFNhQozh+Y=\n\
-----END ENCRYPTED PRIVATE KEY-----\n";

/// For each problem with a key, the message says how to fix it.
#[test]
fn help_fits_the_key() {
    let lab = Lab::new(acme());
    let pem = fs::read_to_string(lab.path("key.pem")).unwrap();
    let on_one_line = lab.env("EVIDENCE_KEY", &pem.replace('\n', "\\n"));
    let lab = on_one_line.with(|config| config.signing("private_key_env", "EVIDENCE_KEY"));
    let run = lab
        .collect(&[])
        .exits(1)
        .says("variable EVIDENCE_KEY has \\n in place of its line breaks")
        .says("base64 -w0");
    assert!(!run.all().contains(pem.lines().nth(1).unwrap()));
    let lab = lab.env("EVIDENCE_KEY", ENCRYPTED);
    lab.collect(&[]).exits(1).says("is encrypted").says("help: set bundle.signing.passphrase_env");
    let lab = lab.env("EVIDENCE_PASS", "wrong").with(|config| {
        config.signing("private_key_env", "EVIDENCE_KEY").rest("    passphrase_env: EVIDENCE_PASS\n")
    });
    lab.collect(&[]).exits(1).says("help: correct the passphrase");
    let lab = lab.without_env("EVIDENCE_PASS").env("EVIDENCE_PASS_FILE", "passphrase");
    lab.write("passphrase", "secret\n");
    lab.collect(&[]).exits(0);
    lab.write("passphrase", "secret\n\n");
    lab.collect(&[]).exits(1).says("help: correct the passphrase");
    lab.without_env("EVIDENCE_PASS_FILE")
        .collect(&[])
        .exits(1)
        .says("variable EVIDENCE_PASS is not set")
        .says("EVIDENCE_PASS_FILE=<file");
}
