//! The commands of the checks with stock tools, taken from the documents. The tests of the tool also include this
//! file.
#![allow(dead_code, unreachable_pub, clippy::print_stderr, reason = "each test uses a part of it")]

use std::path::Path;
use std::process::{Command, Output};

use evidence_bundle::by_hand;

/// The name of the bundle in the tests, in the tool's own form.
pub const BUNDLE: &str = "evidence-bundle-20260102-030405.tar.gz";
/// The page of the format, which shows the commands.
pub const FORMAT: &str = "docs/bundle-format.md";

/// The commands as the page of the format shows them.
pub fn documented() -> String {
    block(&read(FORMAT), "```sh\n", "```")
}

/// The only block of a rendered document that checks a signature, with its references replaced and its indentation
/// removed.
pub fn block(document: &str, begin: &str, end: &str) -> String {
    let blocks = document.split(begin).skip(1).filter_map(|rest| rest.split(end).next());
    let found: Vec<&str> = blocks.filter(|block| block.contains("pkeyutl -verify")).collect();
    assert_eq!(found.len(), 1, "blocks with the commands: {found:?}");
    let mut block = found[0].to_owned();
    let references =
        [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&"), ("&amp;", "&")];
    for (reference, character) in references {
        block = block.replace(reference, character);
    }
    block
}

/// The commands in a text that indents them by two columns.
pub fn indented(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("  bundle="));
    lines.map_while(|line| line.strip_prefix("  ")).map(|line| format!("{line}\n")).collect()
}

/// Runs the commands with a bundle and its key in this directory.
pub fn check(shell: &str, commands: &str, tar: Option<&Path>, directory: &Path) -> Output {
    let commands = commands.replace(by_hand::BUNDLE, BUNDLE).replace(by_hand::KEY, "key.pub.pem");
    let commands = tar.map_or(commands.clone(), |tar| with_tar(tar, &commands));
    paste(shell, &commands, directory).unwrap()
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

/// Runs commands like a reader would, in a shell without configuration.
pub fn paste(shell: &str, commands: &str, directory: &Path) -> std::io::Result<Output> {
    let quiet = if shell == "zsh" { "-f" } else { "--norc" };
    let mut command = Command::new("timeout");
    command.args(["10", shell, quiet, "-c", commands]).current_dir(directory);
    command.env_remove("TAR_OPTIONS").env_remove("GREP_OPTIONS").output()
}

/// Whether the output is the documents' good result, and nothing else.
pub fn is_good(output: &Output) -> bool {
    output.status.success() && output.stdout == by_hand::GOOD.as_bytes() && output.stderr.is_empty()
}

/// Whether the commands refused: the exit status alone must say so.
pub fn is_refused(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stdout);
    !output.status.success() && !by_hand::GOOD.lines().last().is_some_and(|line| said.contains(line))
}

/// Whether a program is installed; prints a message if not.
pub fn is_there(program: &str) -> bool {
    let option = if program == "busybox" { "--help" } else { "--version" };
    let there = Command::new(program).arg(option).output().is_ok();
    if !there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    there
}
