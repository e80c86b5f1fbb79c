//! Reads the configuration file: bounded, and with a message of its own for each way a file can be no text.

use std::io;
use std::path::Path;

use zeroize::Zeroizing;

use super::problem::{Complaint, ConfigError};
use crate::input;
use crate::report::format::shell_path;

/// The largest configuration file, in bytes (1 MiB). Five thousand listed repositories take a quarter of it.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The bytes of the file.
pub(super) fn bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, ConfigError> {
    match input::read(path, MAX_FILE_BYTES) {
        Ok((bytes, _)) => Ok(bytes),
        Err(error) => Err(ConfigError::of_file(path, unreadable(path, &error))),
    }
}

/// The text in the bytes, without a byte-order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Complaint> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Complaint::new("the file is UTF-16 text").help("save it as UTF-8"));
    }
    // YAML allows a UTF-8 mark, and some editors write one.
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = line_of(bytes, at);
        return Err(Complaint::new(format!("the file is binary: it has a NUL byte on line {line}"))
            .help("a configuration is plain UTF-8 text; is this the right file?"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = line_of(bytes, error.valid_up_to());
        Complaint::new(format!("the file is not UTF-8 text: line {line} has a byte that is not"))
            .help("save it as UTF-8")
    })?;
    if text.trim().is_empty() {
        return Err(
            Complaint::new("the file is empty").help("`evidence init` writes a commented one to start from")
        );
    }
    Ok(text)
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn too_large() -> Complaint {
    Complaint::new(format!(
        "the file is larger than {} KiB, the most a configuration may have",
        MAX_FILE_BYTES / 1024
    ))
    .help("is this the right file? use `repos: \"*\"` in place of a very long list")
}

fn unreadable(path: &Path, error: &io::Error) -> Complaint {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        io::ErrorKind::IsADirectory => {
            let inside = path.join("evidence.yaml");
            Complaint::new("this is a directory, not a file")
                .help(format!("name the file in it, for example `--config {}`", shell_path(&inside)))
        }
        io::ErrorKind::NotFound => {
            Complaint::new("no such file").help("`evidence init` writes one; `--config` names another")
        }
        io::ErrorKind::PermissionDenied => Complaint::new("permission denied")
            .help(format!("the user that runs this needs to read it: `ls -l {}`", path.display())),
        io::ErrorKind::NotADirectory => {
            Complaint::new("a part of this path is a file, not a directory").help("correct the path")
        }
        _ => Complaint::new(format!("cannot be read: {error}")),
    }
}
