//! The configuration after validation.
//!
//! The types here exist only if the file satisfies every rule, so no later stage checks again. Nothing here reads a
//! secret: the file only *names* environment variables.
//!
//! The keys are declared in `file`, `bundle`, `upload` and next to each source. From these declarations,
//! `evidence_settings` reads files and generates the schema, the template and the reference.

mod bundle;
pub(crate) mod controls;
mod file;
mod found;
mod notify;
pub(crate) mod period;
mod rules;
pub(crate) mod shared;
mod sources;
pub(crate) mod upload;

use std::any::Any;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence_bundle::document::Cadence;
use evidence_os::input;
use evidence_settings::declare::Guarded;
use sha2::{Digest, Sha256};

pub use evidence_settings::problem::{Complaint, ConfigError, MAX_PROBLEMS, Problem};
pub use evidence_settings::read::MAX_FILE_BYTES;

pub use self::bundle::{BundleConfig, Keep, KeySource, SigningConfig};
use self::controls::RuleChoice;
pub use self::found::{ConfigFile, FOUND};
pub use self::notify::NotifyConfig;
pub use self::upload::UploadConfig;
use crate::env::Env;
use crate::source::Source;
use crate::source::github::names::ORGANIZATION_PLACE;
use evidence_rules::framework::{Control, Framework};
use evidence_rules::rule::Settings;

/// A valid `evidence.yaml`.
#[derive(Debug, Clone)]
pub struct Config {
    /// The path of the file, as the user gave it.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, lower-case hex, for `run.json`.
    pub file_sha256: String,
    /// `prepared_by`
    pub prepared_by: Option<String>,
    /// `framework`
    pub framework: &'static Framework,
    /// `controls`: at least one, unique, in the framework's order.
    pub controls: Vec<&'static Control>,
    /// `rules.settings`: the numbers that the rules judge by.
    pub settings: Settings,
    /// The rules that `rules.include` takes in and `rules.exclude` leaves out.
    pub choice: RuleChoice,
    /// `sources`: at least one, in the order of [`KINDS`](crate::source::KINDS).
    pub sources: Vec<Arc<dyn Source>>,
    /// `cadence`
    pub cadence: Option<Cadence>,
    /// `bundle`
    pub bundle: BundleConfig,
    /// `waivers`: the file with the failures that management accepts.
    pub waivers: Option<PathBuf>,
    /// `people.map`: the file that says who is who at the sources.
    pub people: Option<PathBuf>,
    /// `upload`: required only with `--upload`.
    pub upload: Option<UploadConfig>,
    /// `notify`: the addresses that learn how a run ended.
    pub notify: NotifyConfig,
}

impl Config {
    /// The configuration of one source, if the file has it.
    pub fn source<T: Source + 'static>(&self) -> Option<&T> {
        self.sources.iter().find_map(|source| (&**source as &dyn Any).downcast_ref())
    }

    /// Reads and validates a configuration file.
    ///
    /// # Errors
    /// Fails with every problem of the file, and everything in it that needs the user's approval.
    pub fn load(file: ConfigFile<'_>, env: &Env) -> Result<Config, ConfigError> {
        let path = file.path();
        let (bytes, _) =
            input::read(path, MAX_FILE_BYTES).map_err(|error| file::DOCUMENT.unreadable(path, &error))?;
        Config::of(file, &bytes, env)
    }

    /// Reads and validates a configuration file that is a template: every [`ORGANIZATION_PLACE`] in it becomes this
    /// name, which must be a valid one.
    ///
    /// # Errors
    /// As [`load`](Config::load), and if the file has no such place.
    pub fn load_for(organization: &str, file: ConfigFile<'_>, env: &Env) -> Result<Config, ConfigError> {
        let path = file.path();
        let (bytes, _) =
            input::read(path, MAX_FILE_BYTES).map_err(|error| file::DOCUMENT.unreadable(path, &error))?;
        let text = String::from_utf8_lossy(&bytes);
        if !text.contains(ORGANIZATION_PLACE) {
            let complaint =
                Complaint::new(format!("has no {ORGANIZATION_PLACE}, the place of the organization"))
                    .help(format!("write `org: \"{ORGANIZATION_PLACE}\"` in sources.codehost"));
            return Err(ConfigError::of_key(path, "sources.codehost.org", complaint));
        }
        let filled = text.replace(ORGANIZATION_PLACE, organization);
        let config = Config::of(file, filled.as_bytes(), env)?;
        // What an auditor can compare is the file.
        Ok(Config { file_sha256: hex::encode(Sha256::digest(&bytes)), ..config })
    }

    /// Validates the bytes of a configuration file that the user named. Messages name it `path`, and relative paths in
    /// the file are relative to its directory.
    ///
    /// # Errors
    /// Fails with every problem of the file.
    pub fn from_bytes(path: &Path, bytes: &[u8], env: &Env) -> Result<Config, ConfigError> {
        Config::of(ConfigFile::Named(path), bytes, env)
    }

    /// Validates the bytes of a configuration file.
    ///
    /// # Errors
    /// As [`load`](Config::load).
    pub fn of(file: ConfigFile<'_>, bytes: &[u8], env: &Env) -> Result<Config, ConfigError> {
        let variables = |name: &str| env.var_os(name).map(OsStr::to_os_string);
        let guard = |key: &str, value: &Guarded<'_>| file.check(key, value);
        file::DOCUMENT.decode(file.path(), bytes, &variables, &guard, |decoder, fields| {
            decoder.now = env.started().as_second();
            file::decode(decoder, fields, file.path(), hex::encode(Sha256::digest(bytes)))
        })
    }
}

/// What a configuration may say that was found and not named, as a table in Markdown.
pub fn found_reference() -> String {
    found::reference()
}

/// The JSON Schema of `evidence.yaml`.
pub fn schema() -> serde_json::Value {
    file::DOCUMENT.schema()
}

/// The reference of every key, as Markdown.
pub fn reference() -> String {
    file::DOCUMENT.reference()
}

/// A configuration for this organization and this private key that explains every key.
pub fn template(framework: &str, org: &str, key_path: &str) -> String {
    // The first framework has few controls: the template names them.
    let controls: &[(&str, &str)] = if framework == rules::FIXED { &[] } else { &[("controls", "*")] };
    let values = [
        ("sources.codehost.org", org),
        ("sources.codehost.repos", "*"),
        ("sources.codehost.branch", "~DEFAULT_BRANCH"),
        ("bundle.signing.private_key_path", key_path),
        ("framework", framework),
    ];
    file::DOCUMENT.template(&[&values[..], controls].concat())
}
