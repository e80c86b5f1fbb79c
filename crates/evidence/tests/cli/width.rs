//! What the tool prints to a terminal: lines break only between words, at any width.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use sandbox::codehost::{Organization, Token};

use crate::common::{Lab, TOKEN, acme, sound};

const WIDTHS: [u16; 3] = [60, 80, 120];

/// What the tool prints to a terminal of this many columns.
fn on_terminal(lab: &Lab, arguments: &[&str], columns: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let other = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let stream = |file: &OwnedFd| Stdio::from(file.try_clone().unwrap());
    let mut command = lab.command(arguments);
    command.env("TERM", "xterm").stdin(stream(&other)).stdout(stream(&other)).stderr(stream(&other));
    let mut child = command.spawn().unwrap();
    drop(command);
    drop(other);
    let mut text = Vec::new();
    // When the last writer closes the terminal, reading fails.
    let _ = File::from(terminal).read_to_end(&mut text);
    child.wait().unwrap();
    String::from_utf8(text).unwrap()
}

/// Asserts that every line fits, unless it is a single word.
#[track_caller]
fn fits(text: &str, columns: u16, arguments: &[&str]) {
    assert!(!text.is_empty(), "{arguments:?}");
    let columns = usize::from(columns);
    let plain = anstream::adapter::strip_str(text).to_string();
    // Progress returns to the beginning of its line.
    for line in plain.split(['\n', '\r']) {
        let is_word = !line.trim().trim_end_matches(" \\").contains(' ');
        assert!(line.chars().count() <= columns || is_word, "{arguments:?} at {columns}: {line:?}\n{plain}");
    }
}

fn at_every_width(lab: &Lab, arguments: &[&str]) -> String {
    let mut all = String::new();
    for columns in WIDTHS {
        let text = on_terminal(lab, arguments, columns);
        fits(&text, columns, arguments);
        all.push_str(&text);
    }
    all
}

#[test]
fn every_help() {
    let lab = Lab::new(acme());
    at_every_width(&lab, &["--help"]);
    for command in evidence::manual::EVERY {
        at_every_width(&lab, &[command, "--help"]);
    }
    at_every_width(&lab, &["collect", "--unknown-option-that-is-long"]);
    at_every_width(&lab, &["sample", "a.tar.gz"]);
}

#[test]
fn every_command() {
    let token = Token::fine_grained(TOKEN).resource_owner("acme").permissions(["metadata:read"]);
    let host = acme()
        .token(token)
        .repository(sound("a-repository-with-a-long-name-that-is-not-protected"))
        .repository(sound("web"))
        .repository(sound("another-repository-with-a-long-name-that-fills-a-line"));
    let lab = Lab::new(host);
    let text = at_every_width(&lab, &["collect", "--dry-run"]);
    assert!(text.contains("not readable"), "{text}");
    let text = at_every_width(&lab, &["collect"]);
    assert!(text.contains("\u{1b}["), "not a terminal: {text}");
    let bundle = format!("evidence-bundles/{}", lab.output()[0]);
    for arguments in [
        &["verify", "--public-key", "key.pub.pem", &bundle][..],
        &["verify", "--public-key", "key.pub.pem", "--verbose", &bundle],
        &["verify", &bundle],
        &["show", "--public-key", "key.pub.pem", &bundle],
        &["show", &bundle],
        &[
            "sample",
            "--public-key",
            "key.pub.pem",
            "--from",
            "checks",
            "--count",
            "3",
            "--seed",
            "s",
            &bundle,
        ],
        &["verify", "absent.tar.gz"],
    ] {
        at_every_width(&lab, arguments);
    }
}

#[test]
fn every_error() {
    let refusing =
        acme().organization(Organization::new("acme").ip_allow_list(true)).repository(sound("web"));
    let lab = Lab::new(refusing);
    let text = at_every_width(&lab, &["collect"]);
    assert!(text.contains("organizations/acme/settings/security"), "{text}");
    // A long line of the file is cut, with the mistake in it.
    let lab =
        lab.with(|config| config.source("exclude", &format!("[{}]", ["acme/one-of-many"; 12].join(", "))));
    let text = at_every_width(&lab, &["collect"]);
    assert!(text.contains("is listed twice"), "{text}");
    let lab = Lab::new(acme()).env("CODEHOST_TOKEN", "<token>");
    at_every_width(&lab, &["collect"]);
    at_every_width(&lab, &["init", "https://github.com/acme"]);
    at_every_width(&lab, &["keygen"]);
    at_every_width(&lab, &["init", "--org", "acme"]);
}

/// Everything that is printed for people goes through the streams that fold.
#[test]
fn nothing_bypasses_the_console() {
    fn visit(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
            } else if std::fs::read_to_string(&path).unwrap().contains("anstream::std") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    visit(&sources, &mut found);
    assert_eq!(found, [sources.join("console.rs")]);
}
