//! Windows. A file has no mode: its access control list says who may read it, and a new file inherits that of its
//! directory.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use evidence_text::saturating_u64;
use tempfile::NamedTempFile;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};
use winapi_util::file::{information, typ};

use crate::terms::{Access, Readers, Stop, not_a_file};

pub(crate) const HAS_MODES: bool = false;

/// Opens a directory too (`FILE_FLAG_BACKUP_SEMANTICS`), and a link itself (`FILE_FLAG_OPEN_REPARSE_POINT`).
const OPEN_THE_NAME: u32 = 0x0200_0000 | 0x0020_0000;

pub(crate) fn access(_metadata: &Metadata) -> Option<Access> {
    None
}

pub(crate) fn me() -> u32 {
    0
}

pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = file.seek_read(buffer, offset)?;
        buffer = buffer.get_mut(read..).filter(|_| read > 0).ok_or(io::ErrorKind::UnexpectedEof)?;
        offset = after(offset, read);
    }
    Ok(())
}

pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.seek_write(bytes, offset)?;
        bytes = bytes.get(written..).filter(|_| written > 0).ok_or(io::ErrorKind::WriteZero)?;
        offset = after(offset, written);
    }
    Ok(())
}

fn after(offset: u64, step: usize) -> u64 {
    offset.saturating_add(saturating_u64(step))
}

pub(crate) fn mode(options: &mut OpenOptions, _readers: Readers) -> &mut OpenOptions {
    options
}

pub(crate) fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// The identity of a file under every name: volume and index.
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64)> {
    information(file).map(|known| (known.volume_serial_number(), known.file_index()))
}

pub(crate) fn identity_of_name(path: &Path) -> io::Result<(u64, u64)> {
    identity(&OpenOptions::new().access_mode(0).custom_flags(OPEN_THE_NAME).open(path)?)
}

pub(crate) fn names(file: &File) -> io::Result<u64> {
    information(file).map(|known| known.number_of_links())
}

pub(crate) fn replace<T>(new: NamedTempFile, path: &Path, replaced: T) -> io::Result<File> {
    drop(replaced);
    new.persist(path).map_err(|error| error.error)
}

pub(crate) fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn open_input(path: &Path) -> io::Result<File> {
    let file = File::open(path).map_err(|error| match error.kind() {
        // The error for a directory.
        io::ErrorKind::PermissionDenied if path.is_dir() => {
            not_a_file(io::ErrorKind::IsADirectory, "a directory")
        }
        _ => error,
    })?;
    let kind = typ(&file)?;
    if kind.is_disk() {
        Ok(file)
    } else if kind.is_pipe() {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a pipe"))
    } else {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a device"))
    }
}

pub(crate) fn caches(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, &'static str> {
    variable("LOCALAPPDATA").ok_or("neither XDG_CACHE_HOME nor LOCALAPPDATA is set")
}

/// Windows writes a dump of a crashed program only where an administrator has asked for it.
pub(crate) fn keep_memory_private() -> io::Result<()> {
    Ok(())
}

pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./\\:+=".contains(letter);
    if text.contains('\0') {
        String::new()
    } else if !text.is_empty() && text.chars().all(is_plain) {
        text.to_string()
    } else if text.contains(['"', '$', '`', '%']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}

pub(crate) struct Signals {
    interrupted: CtrlC,
    broken: CtrlBreak,
    closed: CtrlClose,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        let (interrupted, broken) = (ctrl_c()?, ctrl_break()?);
        Ok(Signals { interrupted, broken, closed: ctrl_close()? })
    }

    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.interrupted.recv() => Stop::Interrupted,
            _ = self.broken.recv() => Stop::Interrupted,
            _ = self.closed.recv() => Stop::Terminated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_powershell() {
        for (text, word) in [
            (r".\evidence-bundles\a-1.tar.gz", r".\evidence-bundles\a-1.tar.gz"),
            (r"C:\My evidence\a.pem", r#""C:\My evidence\a.pem""#),
            ("Bob's $HOME", "'Bob''s $HOME'"),
            ("Bob's", "\"Bob's\""),
            ("", "\"\""),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
