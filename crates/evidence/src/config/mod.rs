//! The configuration after validation: what the rest of the tool may rely on.
//!
//! The types here exist only when every rule of the file holds, so no later stage checks them again. Nothing here
//! reads a secret: the file only ever *names* environment variables.
//!
//! A file passes through `read` (bounded bytes), `yaml` (a tree with positions) and `decode`, which walks the tree
//! along the keys declared in `file`, `bundle`, `upload` and beside each source. The schema, the template and the reference are
//! made from the same declarations.

mod bundle;
pub(crate) mod declare;
pub(crate) mod decode;
pub(crate) mod file;
pub(crate) mod format;
mod path;
pub(crate) mod problem;
mod read;
mod reference;
mod render;
mod schema;
pub(crate) mod secret;
pub(crate) mod sources;
mod suggest;
mod template;
pub(crate) mod upload;
mod wrong_type;
mod yaml;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use url::Url;

pub use self::problem::{Complaint, ConfigError, MAX_PROBLEMS, Problem};
pub use self::read::MAX_FILE_BYTES;
pub use self::reference::reference;
pub use self::schema::schema;
pub use self::template::template;
use crate::control::{Control, Framework};
use crate::env::Env;
use crate::source::Configured;

/// A valid `evidence.yaml`.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it was read from, as the user named it.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, lower-case hex, for `run.json`.
    pub sha256: String,
    /// `framework`
    pub framework: Framework,
    /// `controls`: at least one, unique, in the order of [`Control::ALL`].
    pub controls: Vec<Control>,
    /// `sources`: at least one, in the order of [`KINDS`](crate::source::KINDS).
    pub sources: Vec<Arc<dyn Configured>>,
    /// `bundle`
    pub bundle: BundleConfig,
    /// `upload`: required only with `--upload`.
    pub upload: Option<UploadConfig>,
}

/// `bundle`
#[derive(Debug, Clone)]
pub struct BundleConfig {
    /// `bundle.signing`
    pub signing: SigningConfig,
    /// `bundle.max_size_mb` in bytes (1 MB = 1,000,000 bytes) of the finished archive.
    pub max_size_bytes: u64,
}

/// `bundle.signing`
#[derive(Debug, Clone)]
pub struct SigningConfig {
    /// Where the private key is.
    pub key: KeySource,
    /// `passphrase_env`: the variable that holds the passphrase of an encrypted key.
    pub passphrase_env: Option<String>,
    /// `trusted_keys`: public keys that `evidence verify` trusts when no flag names one.
    pub trusted_keys: Vec<PathBuf>,
}

/// Where the private signing key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// `private_key_path`, `~` expanded, seen from the working directory.
    File(PathBuf),
    /// `private_key_env`: a variable that holds the PEM, or base64 of it.
    Env(String),
}

/// `upload`
#[derive(Debug, Clone)]
pub struct UploadConfig {
    /// `api_url`: base of the platform's API.
    pub api_url: Url,
    /// `platform_url`: base of the printed bundle URL.
    pub platform_url: Url,
    /// `api_key_env`: the variable that holds the API key.
    pub api_key_env: String,
    /// `organization_id`
    pub organization_id: Option<String>,
    /// `retention_days`
    pub retention_days: u32,
    /// `tags`, sorted by key.
    pub tags: std::collections::BTreeMap<String, String>,
    /// `verify_before_upload`
    pub verify_before_upload: bool,
    /// `delete_after_upload`
    pub delete_after_upload: bool,
    /// `timeout_seconds` of one upload.
    pub timeout: Duration,
    /// `retry_attempts`
    pub retry_attempts: u32,
}

impl Config {
    /// The configuration of one source, if the file has it.
    pub fn source<T: Configured + 'static>(&self) -> Option<&T> {
        self.sources.iter().find_map(|source| source.as_any().downcast_ref())
    }

    /// Reads and validates a configuration file.
    ///
    /// # Errors
    /// Every problem of the file, found in one run.
    pub fn load(path: &Path, env: &Env) -> Result<Config, ConfigError> {
        Config::from_bytes(path, &read::bytes(path)?, env)
    }

    /// Validates the bytes of a configuration file; `path` is what messages call it, and relative paths in the file are
    /// relative to its directory.
    ///
    /// # Errors
    /// Every problem of the file, found in one run.
    pub fn from_bytes(path: &Path, bytes: &[u8], env: &Env) -> Result<Config, ConfigError> {
        let text = read::text(bytes).map_err(|complaint| ConfigError::of_file(path, complaint))?;
        let mut problems = problem::Problems::new(text);
        let root = yaml::parse(text, &mut problems).filter(|root| !matches!(root.value, yaml::Value::Null));
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut decoder = decode::Decoder { problems, env, directory };
        let config = root.and_then(|root| {
            let place = problem::Place::Point(0);
            let fields = decoder.open(&file::SECTION, &root, place, String::new())?;
            file::decode(&mut decoder, &fields, path, hex::encode(Sha256::digest(bytes)))
        });
        let problems = decoder.problems;
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ if problems.is_empty() => Err(ConfigError::of_file(path, file::no_settings())),
            _ => Err(problems.into_error(path)),
        }
    }
}
