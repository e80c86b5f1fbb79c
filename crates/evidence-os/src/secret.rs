//! Secrets: the value of a variable, or the content of the file that the same variable with the suffix `_FILE` names.
//! systemd, Docker and Kubernetes provide secrets as files.
//!
//! No error and no `Debug` output shows a secret. The path in `NAME_FILE` is shown only if it is certainly a path.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::input;

/// The largest accepted secret. A larger file is not a secret.
const LIMIT: u64 = 64 * 1024;

/// The source of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this variable.
    Variable(String),
    /// In a file.
    File {
        /// The variable that names the file.
        variable: String,
        /// The file.
        path: PathBuf,
    },
}

impl Place {
    /// Finds the secret of the variable `name`. Returns `None` if neither it nor `name_FILE` is set; an empty variable
    /// counts as unset.
    ///
    /// # Errors
    ///
    /// Fails if both variables are set.
    pub fn of(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Place>, SecretError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let file_variable = format!("{name}_FILE");
        match (set(name), set(&file_variable)) {
            (None, None) => Ok(None),
            (Some(_), None) => Ok(Some(Place::Variable(name.to_owned()))),
            (None, Some(path)) => Ok(Some(Place::File { variable: file_variable, path: path.into() })),
            (Some(_), Some(_)) => Err(SecretError::Both(name.to_owned())),
        }
    }

    /// Advice for replacing the secret; `content` describes the new one.
    pub fn advice(&self, content: &str) -> String {
        match self {
            Place::Variable(name) => format!("set {name} to {content}"),
            Place::File { .. } => format!("write {content} into {self}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Variable(name) => write!(f, "the environment variable {name}"),
            Place::File { variable, path } if is_path(path) => {
                write!(f, "the file {} ({variable})", path.display())
            }
            Place::File { variable, .. } => write!(f, "the file that {variable} names"),
        }
    }
}

/// Whether this is certainly a path. Otherwise it may be the secret itself, in the wrong variable.
fn is_path(path: &Path) -> bool {
    let in_directory = || path.parent().is_some_and(|parent| parent.file_name().is_some() && parent.is_dir());
    path.symlink_metadata().is_ok() || in_directory()
}

/// A secret and its source.
pub struct Secret {
    text: Zeroizing<String>,
    place: Place,
}

impl Secret {
    /// Reads the secret of the variable `name`, which [`Place::of`] finds. Drops one line break at the end of a file.
    ///
    /// # Errors
    ///
    /// Fails if both variables are set, the file cannot be read or is empty, or either is not UTF-8.
    pub fn read(
        name: &str,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Secret>, SecretError> {
        let Some(place) = Place::of(name, &variable)? else { return Ok(None) };
        let failed = |fault| SecretError::Unusable { place: place.clone(), fault };
        let text = match &place {
            Place::Variable(name) => {
                let value = variable(name).unwrap_or_default();
                Zeroizing::new(value.to_str().ok_or_else(|| failed(Fault::NotText))?.to_owned())
            }
            Place::File { path, .. } => {
                let (bytes, _) = input::read(path, LIMIT).map_err(|error| failed(error.into()))?;
                let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
                let not_text = if is_utf16 { Fault::Utf16 } else { Fault::NotText };
                let text = std::str::from_utf8(&bytes).map_err(|_| failed(not_text.clone()))?;
                let line = text.strip_suffix('\n').unwrap_or(text);
                Zeroizing::new(line.strip_suffix('\r').unwrap_or(line).to_owned())
            }
        };
        if text.is_empty() { Err(failed(Fault::Empty)) } else { Ok(Some(Secret { text, place })) }
    }

    /// The secret.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its source.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Why a secret cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Both variables are set.
    #[error("the environment variables {0} and {0}_FILE are both set")]
    Both(String),
    /// The source does not hold a usable secret.
    #[error("{place} {fault}")]
    Unusable {
        /// The source.
        place: Place,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with a secret, as the end of a sentence that begins with its source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is too large to hold a secret.
    #[error("is larger than {LIMIT} bytes, too large for a secret")]
    TooLarge,
    /// The file or the variable is empty.
    #[error("is empty")]
    Empty,
    /// It is not UTF-8.
    #[error("is not UTF-8 text")]
    NotText,
    /// It begins as UTF-16 does.
    #[error("is UTF-16 text, as PowerShell writes it with `>`: save it as UTF-8")]
    Utf16,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::FileTooLarge => Fault::TooLarge,
            _ => Fault::Unreadable(error.to_string()),
        }
    }
}

impl SecretError {
    /// Advice for the user.
    pub fn help(&self) -> String {
        match self {
            SecretError::Both(name) => format!("unset {name} or {name}_FILE"),
            SecretError::Unusable { place: Place::Variable(name), .. } => {
                format!("set {name} to the secret alone")
            }
            SecretError::Unusable { place: Place::File { variable, .. }, .. } => {
                format!("set {variable} to the path of a file that holds the secret alone")
            }
        }
    }
}

/// Advice for setting the missing secret of the variable `name`; `secret` describes it.
pub fn how_to_set(name: &str, secret: &str) -> String {
    format!("export {name}=<{secret}> or {name}_FILE=<file that holds it>")
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    const NAME: &str = "MADE_UP_TOKEN";

    /// The result for these values of the variable and of its `_FILE` variant.
    fn read(value: Option<&OsStr>, file: Option<&OsStr>) -> Result<Option<String>, String> {
        let variable = |name: &str| {
            let found = if name == NAME { value } else { (name == "MADE_UP_TOKEN_FILE").then_some(file)? };
            found.map(OsStr::to_owned)
        };
        match Secret::read(NAME, variable) {
            Ok(secret) => Ok(secret.map(|secret| secret.text().to_owned())),
            Err(error) => {
                assert!(!error.help().is_empty());
                Err(error.to_string())
            }
        }
    }

    #[test]
    fn every_kind_of_variable_and_of_file() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let write = |name: &str, bytes: &[u8]| {
            fs::write(at(name), bytes).unwrap();
            at(name)
        };
        fs::create_dir(at("directory")).unwrap();
        std::os::unix::fs::symlink(write("target", b"made-up\n"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("broken")).unwrap();
        let largest = vec![b'x'; usize::try_from(LIMIT).unwrap()];
        let larger = vec![b'x'; usize::try_from(LIMIT).unwrap() + 1];
        let files: &[(PathBuf, Result<&str, &str>)] = &[
            (write("plain", b"made-up"), Ok("made-up")),
            (write("line", b"made-up\n"), Ok("made-up")),
            (write("windows", b"made-up\r\n"), Ok("made-up")),
            (write("two", b"made-up\n\n"), Ok("made-up\n")),
            (write("lines", b"made\nup\n"), Ok("made\nup")),
            (write("spaces", b" made-up \n"), Ok(" made-up ")),
            (write("largest", &largest), Ok(std::str::from_utf8(&largest).unwrap())),
            (at("link"), Ok("made-up")),
            (write("empty", b""), Err("is empty")),
            (write("line break", b"\n"), Err("is empty")),
            (write("windows break", b"\r\n"), Err("is empty")),
            (write("larger", &larger), Err("is larger than 65536 bytes, too large for a secret")),
            (write("latin", b"made-\xfcp"), Err("is not UTF-8 text")),
            (
                write("wide", b"\xff\xfem\0a\0"),
                Err("is UTF-16 text, as PowerShell writes it with `>`: save it as UTF-8"),
            ),
            (at("directory"), Err("cannot be read: it is a directory, not a file")),
            (at("absent"), Err("cannot be read: No such file or directory (os error 2)")),
            (at("broken"), Err("cannot be read: No such file or directory (os error 2)")),
        ];
        for (path, expected) in files {
            let expected = match expected {
                Ok(text) => Ok(Some((*text).to_owned())),
                Err(fault) => Err(format!("the file {} (MADE_UP_TOKEN_FILE) {fault}", path.display())),
            };
            for value in [None, Some(OsStr::new(""))] {
                assert_eq!(read(value, Some(path.as_os_str())), expected, "{}", path.display());
            }
            let both = "the environment variables MADE_UP_TOKEN and MADE_UP_TOKEN_FILE are both set";
            assert_eq!(read(Some(OsStr::new("x")), Some(path.as_os_str())), Err(both.to_owned()));
        }
        for file in [None, Some(OsStr::new(""))] {
            for value in [None, Some(OsStr::new(""))] {
                assert_eq!(read(value, file), Ok(None));
            }
            for value in ["made-up", "made-up\n", " "] {
                assert_eq!(read(Some(OsStr::new(value)), file), Ok(Some(value.to_owned())));
            }
            let latin = read(Some(OsStr::from_bytes(b"made-\xfcp")), file);
            assert_eq!(latin.unwrap_err(), "the environment variable MADE_UP_TOKEN is not UTF-8 text");
        }
    }

    /// Errors do not show a secret that was put into the variable for a path.
    #[test]
    fn what_may_be_a_secret_is_not_shown_as_a_path() {
        for value in ["made-up-secret", "made/up/secret", "/made/up/secret", "/made-up-secret"] {
            let error = read(None, Some(OsStr::new(value))).unwrap_err();
            assert!(error.starts_with("the file that MADE_UP_TOKEN_FILE names cannot be read: "), "{error}");
        }
        let secret = Secret::read(NAME, |name| (name == NAME).then(|| "hidden".into())).unwrap().unwrap();
        assert!(!format!("{secret:?}").contains("hidden"));
        assert_eq!(secret.place().advice("it"), "set MADE_UP_TOKEN to it");
    }
}
