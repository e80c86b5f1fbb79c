//! Why a run ended, and the exit code: one enum, one exhaustive match, documented in `docs/exit-codes.md`.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::PathBuf;

use evidence_bundle::write::WriteError;

use crate::config::ConfigError;
use crate::exit::Exit;
use crate::http::proxy::Unusable;
use crate::platform::{ApiKeyError, UploadError};
use crate::report::format::{bytes, thousands};
use crate::signing::SigningError;
use crate::source::{ConnectError, ConnectErrorKind};

/// Why a command ended early.
#[derive(Debug)]
pub enum Error {
    /// The command line does not fit together.
    Usage {
        /// What does not.
        message: String,
        /// What to do.
        help: String,
    },
    /// The configuration.
    Config(ConfigError),
    /// The signing key.
    Signing(SigningError),
    /// The proxy that the run would need.
    Proxy(Unusable),
    /// `--upload` without an upload configuration.
    UploadNotConfigured {
        /// The configuration file.
        config: PathBuf,
    },
    /// An upload without an API key.
    ApiKey {
        /// The variable that must hold it.
        variable: String,
        /// What is wrong.
        source: ApiKeyError,
        /// A collection was asked for too.
        collecting: bool,
    },
    /// A bundle that is to be uploaded cannot be judged.
    NotJudged {
        /// The bundle.
        bundle: PathBuf,
        /// Why.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A bundle that is to be uploaded is not what a trusted key signed.
    Tampered {
        /// The bundle.
        bundle: PathBuf,
        /// The code of the reason, and the reason.
        reason: String,
    },
    /// The connection tests: every source that failed.
    Connect(Vec<ConnectError>),
    /// Nothing at all was collected.
    NothingCollected {
        /// Why, one for each kind.
        reasons: Vec<String>,
        /// What it means for the exit code: a source that could not be connected outweighs one that gave nothing.
        exit: Exit,
    },
    /// The output directory.
    Output {
        /// The directory.
        directory: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// Spooling: the disk.
    Spool {
        /// The directory.
        directory: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// The system did not give what a run needs: a thread, a signal handler.
    System(std::io::Error),
    /// Writing the bundle.
    Bundle(WriteError),
    /// The bundle was written and did not verify: a fault of this tool.
    SelfVerification(String),
    /// A file other than a bundle could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
        /// What to do, if there is something.
        help: Option<String>,
    },
    /// `verify` could not judge; already printed.
    CannotJudge,
    /// `verify` refused the bundle; already printed.
    NotVerified,
    /// The upload. The local bundle stays.
    Upload {
        /// What failed.
        source: UploadError,
        /// The bundle.
        bundle: PathBuf,
        /// The command that tries again.
        again: String,
    },
    /// A signal.
    Interrupted(Exit),
}

impl Error {
    /// The exit code of the run that ends with this error.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Usage { .. }
            | Error::Config(_)
            | Error::Signing(_)
            | Error::Proxy(_)
            | Error::UploadNotConfigured { .. }
            | Error::Write { .. }
            | Error::NotJudged { .. }
            | Error::CannotJudge => Exit::Configuration,
            Error::Connect(errors)
                if errors.iter().any(|error| error.kind == ConnectErrorKind::Configuration) =>
            {
                Exit::Configuration
            }
            Error::Connect(_) | Error::ApiKey { .. } => Exit::Connection,
            Error::NothingCollected { exit, .. } => *exit,
            Error::Output { .. }
            | Error::Spool { .. }
            | Error::System(_)
            | Error::Bundle(_)
            | Error::SelfVerification(_) => Exit::Bundle,
            Error::Upload { source: UploadError::Interrupted(exit), .. } => *exit,
            Error::Tampered { .. } | Error::Upload { .. } => Exit::Upload,
            Error::NotVerified => Exit::NotVerified,
            Error::Interrupted(exit) => *exit,
        }
    }

    /// Whether the command has said already what happened.
    pub fn is_reported(&self) -> bool {
        matches!(self, Error::CannotJudge | Error::NotVerified)
    }

    /// What failed and what to do about it, a line each; once for each source that could not be connected.
    pub fn failures(&self) -> Vec<(String, Vec<String>)> {
        match self {
            Error::Connect(errors) => {
                errors.iter().map(|error| (connection_text(error), error.help.clone())).collect()
            }
            _ => vec![(self.to_string(), self.help())],
        }
    }

    fn help(&self) -> Vec<String> {
        match self {
            Error::Usage { help, .. } | Error::NotJudged { help, .. } => vec![help.clone()],
            Error::Config(_)
            | Error::System(_)
            | Error::CannotJudge
            | Error::NotVerified
            | Error::Interrupted(_) => Vec::new(),
            Error::Signing(error) => error.help(),
            Error::Proxy(Unusable { variable }) => vec![
                format!("set {variable} to http://proxy:port or https://proxy:port, or unset it"),
                "name hosts that are reached directly in NO_PROXY".to_string(),
            ],
            Error::UploadNotConfigured { config } => vec![format!(
                "add an `upload:` section with `api_url` to {}, or leave --upload out",
                config.display()
            )],
            Error::ApiKey { variable, collecting: true, .. } => {
                vec![format!("export {variable}=<key>, or leave --upload out; nothing was collected")]
            }
            Error::ApiKey { variable, collecting: false, .. } => {
                vec![format!("export {variable}=<key>; nothing was sent")]
            }
            Error::Tampered { .. } => {
                vec!["do not rely on this bundle; nothing was sent. `evidence verify` says more".to_string()]
            }
            Error::Upload { source, bundle, again } => {
                let stays = format!("the bundle stays: {}", bundle.display());
                let again =
                    format!("try again with `{again}`: the same bytes keep the same id on the platform");
                source.help().into_iter().chain([stays]).chain(source.may_pass().then_some(again)).collect()
            }
            Error::Connect(errors) => errors.iter().flat_map(|error| error.help.clone()).collect(),
            Error::NothingCollected { .. } => {
                vec!["no bundle was written: there is nothing it could show".to_string()]
            }
            Error::Output { .. } => vec!["choose another directory with --output".to_string()],
            Error::Spool { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                vec!["choose a directory that you may write to with --output".to_string()]
            }
            Error::Spool { .. } => {
                vec!["make room there, or choose another directory with --output; nothing half-written is left".into()]
            }
            Error::Bundle(WriteError::TooLarge { .. }) => {
                vec!["raise bundle.max_size_mb, or collect fewer repositories per configuration".to_string()]
            }
            Error::Bundle(_) => vec!["nothing half-written is left".to_string()],
            Error::SelfVerification(_) => {
                vec!["nothing was kept; this is a defect of evidence: please report it".to_string()]
            }
            Error::Write { help, .. } => help.iter().cloned().collect(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage { message, .. } => f.write_str(message),
            Error::Config(error) => write!(f, "{error}"),
            Error::Signing(error) => write!(f, "{error}"),
            Error::Proxy(unusable) => write!(f, "{unusable}"),
            Error::UploadNotConfigured { .. } => f.write_str("--upload needs an upload configuration"),
            Error::ApiKey { variable, source: ApiKeyError::Unset, .. } => {
                write!(
                    f,
                    "the upload needs an API key in the environment variable {variable}, which is not set"
                )
            }
            Error::ApiKey { variable, source: ApiKeyError::Unusable, .. } => {
                write!(
                    f,
                    "the environment variable {variable} holds no API key: it is shorter than any, or has spaces, \
                     line breaks or other characters that no key has"
                )
            }
            Error::NotJudged { bundle, reason, .. } => {
                write!(f, "cannot upload {}: {reason}", bundle.display())
            }
            Error::Tampered { bundle, reason } => {
                write!(f, "{} is not what a trusted key signed: {reason}", bundle.display())
            }
            Error::Upload { source, .. } => write!(f, "{source}"),
            Error::Connect(errors) => {
                let texts: Vec<String> = errors.iter().map(connection_text).collect();
                f.write_str(&texts.join("\n"))
            }
            Error::NothingCollected { reasons, .. } => {
                f.write_str("nothing could be collected")?;
                reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
            }
            Error::Output { directory, source } => {
                write!(f, "cannot write to the output directory {}: {source}", directory.display())
            }
            Error::Spool { directory, source } => {
                write!(f, "cannot write to the disk of {}: {source}", directory.display())
            }
            Error::System(source) => write!(f, "the system refuses what a run needs: {source}"),
            Error::Bundle(WriteError::TooLarge { actual, limit, largest }) => {
                write!(
                    f,
                    "cannot create the bundle: it has {} bytes ({}), more than the limit of {} bytes ({}); its \
                     largest files, before compression:",
                    thousands(*actual),
                    bytes(*actual),
                    thousands(*limit),
                    bytes(*limit)
                )?;
                largest.iter().try_for_each(|(path, size)| write!(f, "\n  {:>9}  {path}", bytes(*size)))
            }
            Error::Bundle(error) => {
                write!(f, "cannot create the bundle: {error}")?;
                let mut cause = error.source();
                while let Some(error) = cause {
                    write!(f, ": {error}")?;
                    cause = error.source();
                }
                Ok(())
            }
            Error::SelfVerification(text) => write!(f, "the new bundle does not verify: {text}"),
            Error::Write { path, source, .. } => write!(f, "cannot write {}: {source}", path.display()),
            Error::CannotJudge => f.write_str("the bundle could not be judged"),
            Error::NotVerified => f.write_str("the bundle is not what a trusted key signed"),
            Error::Interrupted(_) => f.write_str("interrupted: no bundle was written"),
        }
    }
}

fn connection_text(error: &ConnectError) -> String {
    let what = match error.kind {
        ConnectErrorKind::Configuration => "configuration validation failed",
        ConnectErrorKind::Connection => "connection test failed",
    };
    format!("{what}: {error}")
}

impl std::error::Error for Error {}
