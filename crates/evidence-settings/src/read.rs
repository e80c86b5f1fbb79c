//! The text of a file, with a specific message for each way in which a file can be unreadable.

use std::io;
use std::path::Path;

use super::declare::Document;
use super::problem::Complaint;

/// The largest configuration file, in bytes (1 MiB). Five thousand listed repositories take a quarter of it.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The text of the bytes, without a byte-order mark.
pub(crate) fn text<'a>(document: &Document, bytes: &'a [u8]) -> Result<&'a str, Complaint> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Complaint::new("the file is UTF-16 text").help("save it as UTF-8"));
    }
    // YAML allows a UTF-8 mark, and some editors write one.
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = line_of(bytes, at);
        return Err(Complaint::new(format!("the file is binary: it has a NUL byte on line {line}"))
            .help("check that this is the right file: a configuration is plain UTF-8 text"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = line_of(bytes, error.valid_up_to());
        Complaint::new(format!("the file is not UTF-8 text: line {line} has an invalid byte"))
            .help("save it as UTF-8")
    })?;
    if text.trim().is_empty() {
        return Err(Complaint::new("the file is empty").help(document.help_empty));
    }
    Ok(text)
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn too_large(document: &Document) -> Complaint {
    Complaint::new(format!("the file exceeds {} KiB, the limit for a configuration", MAX_FILE_BYTES / 1024))
        .help(format!("check that this is the right file; {}", document.help_too_large))
}

/// The complaint about an unreadable file.
pub(crate) fn unreadable(document: &Document, path: &Path, error: &io::Error) -> Complaint {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(document),
        io::ErrorKind::IsADirectory => Complaint::new("this is a directory, not a file")
            .help((document.help_directory)(&path.join(document.file_name))),
        io::ErrorKind::NotFound => Complaint::new("no such file").help(document.help_missing),
        io::ErrorKind::PermissionDenied => Complaint::new("permission denied")
            .help(format!("make the file readable for the user that runs this: `ls -l {}`", path.display())),
        io::ErrorKind::NotADirectory => {
            Complaint::new("a part of this path is a file, not a directory").help("correct the path")
        }
        _ => Complaint::new(format!("cannot be read: {error}")),
    }
}
