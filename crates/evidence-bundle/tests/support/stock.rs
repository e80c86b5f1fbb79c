//! The commands of the checks with stock tools, taken from the documents. The tests of the tool also include this
//! file.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::path::Path;
use std::process::{Command, Output};

/// A copy of the commands, with its names of the bundle and the key, which are in the working directory.
pub struct Copy {
    /// The document that shows the commands.
    pub document: &'static str,
    /// The commands to paste.
    pub commands: String,
    /// The name of the bundle in the commands.
    pub bundle: &'static str,
    /// The name of the key in the commands.
    pub key: &'static str,
}

impl Copy {
    /// The commands for the bundle with this SHA-256; the page names one bundle.
    pub fn filled_in(&self, sha256: &str) -> String {
        self.commands.replace("{{ file_name }}", BUNDLE).replace("{{ sha256 }}", sha256)
    }
}

/// The name of the bundle in the tests, in the tool's own form.
pub const BUNDLE: &str = "evidence-bundle-20260102-030405.tar.gz";

/// Every page with the commands.
pub fn copies() -> Vec<Copy> {
    let format = "docs/bundle-format.md";
    let shell = between(&read(format), "```sh\n", "```");
    let template = "crates/evidence-platform/templates/bundle.html";
    let page = between(&read(template), "<pre>", "</pre>");
    let page = page.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    vec![
        Copy { document: format, commands: shell, bundle: "evidence-bundle-*.tar.gz", key: "acme.pub.pem" },
        Copy { document: template, commands: page, bundle: "{{ file_name }}", key: "key.pub.pem" },
    ]
}

/// The page for macOS and Windows.
pub const BY_HAND: &str = "docs/check-by-hand.md";

/// The only block of that page in this language that contains this text, for a bundle named [`BUNDLE`].
pub fn by_hand(language: &str, text: &str) -> String {
    let page = read(BY_HAND);
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1).filter_map(|rest| rest.split("```").next());
    let found: Vec<&str> = blocks.filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "blocks with {text}: {found:?}");
    found[0].replace("evidence-bundle-20261121-134244.tar.gz", BUNDLE)
}

/// The commands for macOS, in this directory, with this `tar`; see [`tar`].
pub fn macos(shell: &str, tar: &Path, directory: &Path) -> Output {
    paste(shell, &with_tar(tar, &by_hand("sh", "ssh-keygen -Y verify")), directory).unwrap()
}

/// These commands with this `tar`; see [`tar`].
pub fn with_tar(tar: &Path, commands: &str) -> String {
    format!("PATH={}:{}\n{commands}", tar.display(), std::env::var("PATH").unwrap())
}

/// Whether the output of the commands for macOS and Windows is the page's good result: these two lines, and nothing
/// else.
pub fn is_good_by_hand(output: &Output) -> bool {
    let lines = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = lines.lines().collect();
    let [signed, unchanged] = lines[..] else { return false };
    output.status.success()
        && output.stderr.is_empty()
        && signed.starts_with("Good \"evidence-bundle\" signature for signer with ED25519 key SHA256:")
        && unchanged == "Signed, and every file is listed and unchanged"
}

/// A directory in which `tar` is this program.
pub fn tar(program: &str) -> Option<tempfile::TempDir> {
    let places = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&places).map(|path| path.join(program)).find(|path| path.exists());
    let Some(found) = found else {
        is_there(program);
        return None;
    };
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(found, directory.path().join("tar")).unwrap();
    Some(directory)
}

/// The text of a document of the repository.
pub fn read(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The only block of a document that checks a signature.
fn between(document: &str, begin: &str, end: &str) -> String {
    let blocks = document.split(begin).skip(1).filter_map(|rest| rest.split(end).next());
    let found: Vec<&str> = blocks.filter(|block| block.contains("pkeyutl -verify")).collect();
    assert_eq!(found.len(), 1, "blocks with the commands: {found:?}");
    found[0].to_owned()
}

/// Runs commands like a reader would, in a shell without configuration.
pub fn paste(shell: &str, commands: &str, directory: &Path) -> std::io::Result<Output> {
    let quiet = if shell == "zsh" { "-f" } else { "--norc" };
    let mut command = Command::new("timeout");
    command.args(["10", shell, quiet, "-c", commands]).current_dir(directory);
    command.env_remove("TAR_OPTIONS").env_remove("GREP_OPTIONS").output()
}

/// Whether the output is the documents' good result: this one line, and nothing else.
pub fn is_good(output: &Output) -> bool {
    output.status.success()
        && output.stdout == b"Signature Verified Successfully\n"
        && output.stderr.is_empty()
}

/// Whether a program is installed; prints a message if not.
pub fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    there
}
