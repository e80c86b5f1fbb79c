//! The signing key: finds it, checks it, reads it, and never prints it.

mod path_security;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use evidence_bundle::key::{KeyError, SigningKey};
use evidence_os::access::{self, Access};
use evidence_os::input;
use evidence_os::secret::{Place, SecretError, how_to_set};
use evidence_os::shell;
use ring::hmac;
use zeroize::Zeroizing;

use crate::config::{KeySource, SigningConfig};
use crate::env::Env;

pub use self::path_security::Weakness;

/// No private key is this large; a larger file is something else.
const KEY_FILE_LIMIT: u64 = 64 * 1024;

/// A key that is ready to sign.
pub struct LoadedKey {
    /// The key.
    pub key: SigningKey,
    /// A warning about the file that holds the key.
    pub warning: Option<KeyWarning>,
    /// Text that must never be printed: the key as it was read and decrypted, its seed, and the passphrase.
    pub secrets: Vec<Zeroizing<Vec<u8>>>,
}

impl LoadedKey {
    /// A secret for what is kept between runs: it depends on nothing but the key, and does not reveal it.
    pub fn cache_secret(&self) -> Zeroizing<Vec<u8>> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.key.seed().as_slice());
        Zeroizing::new(hmac::sign(&key, b"evidence cache").as_ref().to_vec())
    }
}

/// A warning about a key that is used anyway.
#[derive(Debug)]
pub struct KeyWarning {
    /// The warning's code in the manifest.
    pub code: &'static str,
    /// The message.
    pub message: String,
}

/// Why no signing key is available.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The file cannot be read.
    #[error("cannot read the signing key {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// Another user could replace the key.
    #[error("other users could replace the signing key {}", path.display())]
    Replaceable {
        /// The configured path.
        path: PathBuf,
        /// The weakness.
        #[source]
        weakness: Weakness,
    },
    /// The file is larger than a key can be.
    #[error("the signing key file {} is too large to be a key", .0.display())]
    TooLarge(PathBuf),
    /// The variable that should hold the key is not set.
    #[error("the signing key is missing: the environment variable {0} is not set")]
    VariableUnset(String),
    /// The variable that should hold the passphrase is not set.
    #[error("the signing key's passphrase is missing: the environment variable {0} is not set")]
    PassphraseUnset(String),
    /// A secret store's value, whose line breaks are written as `\n`.
    #[error("the signing key in {0} has \\n in place of its line breaks")]
    LineBreaks(Place),
    /// Both a variable and a file are set, or the file cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The file or variable does not hold a usable key.
    #[error("cannot use the signing key in {place}")]
    Key {
        /// The file or variable.
        place: String,
        /// The problem.
        source: KeyError,
    },
}

impl SigningError {
    /// What to do about it.
    pub fn help(&self) -> Vec<String> {
        match self {
            SigningError::Unreadable { path, source } if source.kind() == io::ErrorKind::PermissionDenied => {
                let path = shell::path(path);
                vec![if access::HAS_MODES {
                    format!("run as the owner of {path}, or chmod 600 {path}")
                } else {
                    format!("run as a user who may read {path}")
                }]
            }
            SigningError::Unreadable { .. } => {
                vec![
                    "generate a key pair with `evidence keygen`, or correct bundle.signing.private_key_path"
                        .into(),
                ]
            }
            SigningError::Replaceable { weakness, .. } => weakness.help(),
            SigningError::TooLarge(_) => {
                vec!["set bundle.signing.private_key_path to a private key in PEM form".into()]
            }
            SigningError::VariableUnset(name) => {
                vec![how_to_set(name, "private key in PEM form, or base64 of it")]
            }
            SigningError::PassphraseUnset(name) => vec![how_to_set(name, "passphrase")],
            SigningError::LineBreaks(place) => vec![
                place.advice("the PEM text with real line breaks, or base64 of the whole file (base64 -w0 FILE)"),
            ],
            SigningError::Secret(error) => vec![error.help()],
            SigningError::Key { source: KeyError::PassphraseMissing, .. } => vec![
                "set bundle.signing.passphrase_env to the name of a variable, and export that variable with the key's \
                 passphrase"
                    .into(),
            ],
            SigningError::Key { source: KeyError::PassphraseWrong, .. } => vec![
                "correct the passphrase in the variable that bundle.signing.passphrase_env names, or in its file".into(),
            ],
            SigningError::Key { .. } => vec!["generate a key pair with `evidence keygen`".into()],
        }
    }
}

/// Loads the configured signing key.
///
/// # Errors
///
/// Fails if the key cannot be read, is not an Ed25519 key, or can be replaced by another user.
pub fn load(config: &SigningConfig, env: &Env) -> Result<LoadedKey, SigningError> {
    let (bytes, place, warning, given) = match &config.key {
        KeySource::File(path) => {
            let (bytes, warning) = read_file(path)?;
            (bytes, path.display().to_string(), warning, None)
        }
        KeySource::Env(name) => {
            let secret = env.secret(name)?.ok_or_else(|| SigningError::VariableUnset(name.clone()))?;
            // systemd, Docker or Kubernetes decides who may read the file. Their modes can look open to a whole group.
            if let Place::File { path, .. } = secret.place() {
                let file = input::open(path).map_err(|source| unreadable(path, source))?;
                refuse_replaceable(path, &file)?;
            }
            (decode(secret.text()), secret.place().to_string(), None, Some(secret))
        }
    };
    let known = config.passphrase_env.as_deref().map_or(Ok(None), |name| env.secret(name))?;
    let known = known.as_ref().map(|secret| secret.text());
    let passphrase = match &config.passphrase_env {
        Some(name) if evidence_bundle::key::is_encrypted(&bytes) => {
            Some(known.ok_or_else(|| SigningError::PassphraseUnset(name.clone()))?)
        }
        _ => None,
    };
    let key = SigningKey::from_bytes_any(&bytes, passphrase.map(str::as_bytes)).map_err(|source| {
        match &given {
            // Some secret stores and `.env` files keep keys this way.
            Some(secret) if secret.text().contains("\\n") => SigningError::LineBreaks(secret.place().clone()),
            _ => SigningError::Key { place, source },
        }
    })?;
    let seed = key.seed();
    let mut secrets = vec![
        bytes,
        Zeroizing::new(seed.to_vec()),
        Zeroizing::new(hex::encode(seed.as_slice()).into_bytes()),
        Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(seed.as_slice()).into_bytes()),
    ];
    secrets.extend(given.map(|secret| Zeroizing::new(secret.text().as_bytes().to_vec())));
    // An unneeded passphrase is still a secret.
    secrets.extend(known.map(|passphrase| Zeroizing::new(passphrase.as_bytes().to_vec())));
    Ok(LoadedKey { key, warning, secrets })
}

/// How another user could replace the key in this file, if possible.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn weakness(path: &Path) -> io::Result<Option<Weakness>> {
    path_security::weakness(path, &input::open(path)?)
}

fn read_file(path: &Path) -> Result<(Zeroizing<Vec<u8>>, Option<KeyWarning>), SigningError> {
    let (bytes, file) = input::read(path, KEY_FILE_LIMIT).map_err(|source| unreadable(path, source))?;
    refuse_replaceable(path, &file)?;
    let metadata = file.metadata().map_err(|source| unreadable(path, source))?;
    Ok((bytes, warning(path, access::of(&metadata))))
}

fn refuse_replaceable(path: &Path, file: &File) -> Result<(), SigningError> {
    match path_security::weakness(path, file).map_err(|source| unreadable(path, source))? {
        Some(weakness) => Err(SigningError::Replaceable { path: path.to_path_buf(), weakness }),
        None => Ok(()),
    }
}

fn warning(path: &Path, access: Option<Access>) -> Option<KeyWarning> {
    let path = path.display();
    match access.map(|access| access.mode & 0o777) {
        Some(mode) if mode & 0o044 != 0 => Some(KeyWarning {
            code: "signing_key_readable",
            message: format!(
                "the signing key {path} can be read by other users (mode {mode:o}): run chmod 600"
            ),
        }),
        Some(_) => None,
        None => Some(KeyWarning {
            code: "signing_key_unchecked",
            message: format!(
                "on Windows, `evidence` does not check who can read or replace the signing key {path}"
            ),
        }),
    }
}

fn unreadable(path: &Path, source: io::Error) -> SigningError {
    match source.kind() {
        io::ErrorKind::FileTooLarge => SigningError::TooLarge(path.to_path_buf()),
        _ => SigningError::Unreadable { path: path.to_path_buf(), source },
    }
}

/// The value is PEM, or base64 of it, since some secret stores cannot keep line breaks.
fn decode(value: &str) -> Zeroizing<Vec<u8>> {
    if value.contains("-----BEGIN") {
        return Zeroizing::new(value.as_bytes().to_vec());
    }
    let compact: String = value.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    let compact = Zeroizing::new(compact);
    match base64::engine::general_purpose::STANDARD.decode(compact.as_bytes()) {
        Ok(decoded) => Zeroizing::new(decoded),
        Err(_) => Zeroizing::new(value.as_bytes().to_vec()),
    }
}
