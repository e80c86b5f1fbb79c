//! Why a run ended, and the exit code: one enum, one exhaustive match, documented in `docs/exit-codes.md`.

use std::fmt;
use std::io;
use std::path::PathBuf;

use evidence_bundle::read::{Failure, VerifyError};
use evidence_bundle::text::Chain;
use evidence_bundle::write::WriteError;

use crate::config::ConfigError;
use crate::exit::Exit;
use crate::platform::{ApiKeyError, UploadError};
use crate::signing::SigningError;
use crate::source::{ConnectError, ConnectErrorKind};
use evidence_http::proxy::ProxyError;
use evidence_text::{bytes, counted, thousands};

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be used: options conflict, or a value is missing or not valid.
    #[error("{message}")]
    Usage {
        /// The problem.
        message: String,
        /// What to do.
        help: String,
    },
    /// The configuration is not valid.
    #[error(transparent)]
    Config(ConfigError),
    /// The signing key cannot be used.
    #[error(transparent)]
    Signing(SigningError),
    /// The proxy that the run needs cannot be used.
    #[error(transparent)]
    Proxy(ProxyError),
    /// `--upload` without an upload configuration.
    #[error("--upload needs an `upload` section in the configuration")]
    UploadNotConfigured {
        /// The configuration file.
        config: PathBuf,
    },
    /// An upload without an API key.
    #[error("the upload needs an API key")]
    ApiKey {
        /// The cause.
        source: ApiKeyError,
        /// Whether the command also collects.
        collecting: bool,
    },
    /// The bundle to upload could not be judged.
    #[error("cannot upload {}", bundle.display())]
    NotJudged {
        /// The bundle.
        bundle: PathBuf,
        /// The cause.
        source: Failure,
        /// What to do.
        help: &'static str,
    },
    /// The bundle to upload was not signed by a trusted key, or was changed.
    #[error("{} was not signed by a trusted key, or was changed", bundle.display())]
    Tampered {
        /// The bundle.
        bundle: PathBuf,
        /// Why it was refused.
        source: VerifyError,
    },
    /// The connection tests of every source that failed.
    #[error(fmt = each_connection)]
    Connect(Vec<ConnectError>),
    /// Nothing at all was collected.
    #[error(fmt = each_reason)]
    NothingCollected {
        /// The causes, one of each kind.
        reasons: Vec<String>,
        /// The exit code: a source that could not be connected outweighs one that returned nothing.
        exit: Exit,
    },
    /// The output directory.
    #[error("cannot write to the output directory {}", directory.display())]
    Output {
        /// The directory.
        directory: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Spooling: the disk.
    #[error("cannot write to the disk that holds {}", directory.display())]
    Spool {
        /// The directory.
        directory: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The system refused a resource that the run needs: a thread, or a signal handler.
    #[error("cannot start: the operating system refused a resource")]
    System(#[source] io::Error),
    /// Writing the bundle.
    #[error("cannot create the bundle")]
    Bundle(#[source] WriteError),
    /// The bundle is larger than the configuration allows.
    #[error(fmt = largest_files)]
    TooLarge {
        /// Its size in bytes.
        actual: u64,
        /// The limit in bytes.
        limit: u64,
        /// Its largest artifacts with their sizes before compression, largest first.
        largest: Vec<(String, u64)>,
        /// The number of files other than artifacts.
        documents: u64,
        /// Their total size before compression, in bytes.
        documents_bytes: u64,
    },
    /// The new bundle does not verify: a bug in this tool.
    #[error("the new bundle does not verify")]
    SelfVerification(#[source] Failure),
    /// A file other than a bundle could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
        /// What to do, if there is a remedy.
        help: Option<String>,
    },
    /// `verify` could not judge the bundle. Already printed.
    #[error("the bundle could not be judged")]
    CannotJudge,
    /// `verify` refused the bundle. Already printed.
    #[error("the bundle was not signed by a trusted key, or was changed")]
    NotVerified,
    /// What a dry run found about the upload.
    #[error(transparent)]
    UploadCheck(UploadError),
    /// The upload failed. The local bundle is kept.
    #[error("{failure}")]
    Upload {
        /// The upload's own error.
        failure: UploadError,
        /// The bundle.
        bundle: PathBuf,
        /// The command to retry with.
        again: String,
    },
    /// A signal.
    #[error("interrupted: no bundle was written")]
    Interrupted {
        /// The exit code of the signal.
        exit: Exit,
        /// How to keep what was read, now or in the next run.
        help: Option<String>,
    },
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
            | Error::TooLarge { .. }
            | Error::SelfVerification(_) => Exit::Bundle,
            Error::Upload { failure: UploadError::Interrupted(exit), .. }
            | Error::UploadCheck(UploadError::Interrupted(exit)) => *exit,
            Error::Tampered { .. } | Error::Upload { .. } | Error::UploadCheck(_) => Exit::Upload,
            Error::NotVerified => Exit::NotVerified,
            Error::Interrupted { exit, .. } => *exit,
        }
    }

    /// Whether the command has already reported the error.
    pub fn is_reported(&self) -> bool {
        matches!(self, Error::CannotJudge | Error::NotVerified)
    }

    /// What failed and what to do about it, one line each; one entry per source that could not be connected.
    pub fn failures(&self) -> Vec<(String, Vec<String>)> {
        match self {
            Error::Connect(errors) => {
                errors.iter().map(|error| (connection_text(error), error.help.clone())).collect()
            }
            _ => vec![(Chain(self).to_string(), self.help())],
        }
    }

    fn help(&self) -> Vec<String> {
        match self {
            Error::Usage { help, .. } => vec![help.clone()],
            Error::NotJudged { help, .. } => vec![(*help).to_string()],
            Error::Config(_) | Error::System(_) | Error::CannotJudge | Error::NotVerified => Vec::new(),
            Error::Signing(error) => error.help(),
            Error::Proxy(ProxyError { variable }) => vec![
                format!("set {variable} to http://proxy:port or https://proxy:port, or unset it"),
                "list hosts that need no proxy in NO_PROXY".to_string(),
            ],
            Error::UploadNotConfigured { config } => vec![format!(
                "add an `upload:` section with `api_url` to {}, or omit --upload",
                config.display()
            )],
            Error::ApiKey { source, collecting: true } => {
                vec![format!("{}, or omit --upload; nothing was collected", source.help())]
            }
            Error::ApiKey { source, collecting: false } => {
                vec![format!("{}; nothing was sent", source.help())]
            }
            Error::Tampered { .. } => {
                vec![
                    "do not rely on this bundle; nothing was sent. Run `evidence verify` for details"
                        .to_string(),
                ]
            }
            Error::UploadCheck(failure) => {
                let nothing = "nothing was collected; omit --upload to collect without the platform";
                failure.help().into_iter().chain([nothing.to_string()]).collect()
            }
            Error::Upload { failure, bundle, again } => {
                let stays = format!("the bundle is kept: {}", bundle.display());
                let again =
                    format!("try again with `{again}`: the platform gives the same bytes the same id");
                failure.help().into_iter().chain([stays]).chain(failure.may_pass().then_some(again)).collect()
            }
            Error::Connect(errors) => errors.iter().flat_map(|error| error.help.clone()).collect(),
            Error::NothingCollected { .. } => {
                vec!["no bundle was written: there was no evidence to put in it".to_string()]
            }
            Error::Output { .. } => vec!["choose another directory with --output".to_string()],
            Error::Spool { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                vec!["choose a writable directory with --output".to_string()]
            }
            Error::Spool { .. } => {
                vec![
                    "free some space, or choose another directory with --output; no partial file was left"
                        .into(),
                ]
            }
            Error::TooLarge { .. } => {
                vec!["raise bundle.max_size_mb, or collect fewer repositories per configuration".to_string()]
            }
            Error::Bundle(_) => vec!["no partial file was left".to_string()],
            Error::SelfVerification(_) => {
                vec!["no bundle was kept; this is a bug in evidence: please report it".to_string()]
            }
            Error::Write { help, .. } | Error::Interrupted { help, .. } => help.iter().cloned().collect(),
        }
    }
}

fn each_connection(errors: &[ConnectError], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let texts: Vec<String> = errors.iter().map(connection_text).collect();
    f.write_str(&texts.join("\n"))
}

fn each_reason(reasons: &[String], _: &Exit, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("no evidence could be collected")?;
    reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
}

fn largest_files(
    actual: &u64,
    limit: &u64,
    largest: &[(String, u64)],
    documents: &u64,
    documents_bytes: &u64,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(
        f,
        "cannot create the bundle: its size of {} bytes ({}) exceeds the limit of {} bytes ({}); its largest artifacts, \
         before compression:",
        thousands(*actual),
        bytes(*actual),
        thousands(*limit),
        bytes(*limit)
    )?;
    largest.iter().try_for_each(|(path, size)| write!(f, "\n  {:>9}  {path}", bytes(*size)))?;
    let documents = counted(*documents, "document", "documents");
    write!(f, "\n  {:>9}  {documents} about them", bytes(*documents_bytes))
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        match error {
            WriteError::TooLarge { actual, limit, largest, documents, documents_bytes } => {
                Error::TooLarge { actual, limit, largest, documents, documents_bytes }
            }
            error => Error::Bundle(error),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use evidence_bundle::key::KeyError;
    use evidence_bundle::path::PathError;
    use evidence_bundle::read::Reason;
    use evidence_os::secret::SecretError;

    use super::*;
    use crate::observation::ArtifactError;

    fn path() -> PathBuf {
        PathBuf::from("somewhere")
    }

    fn denied() -> io::Error {
        io::Error::from(io::ErrorKind::PermissionDenied)
    }

    fn refused() -> VerifyError {
        VerifyError { reason: Reason::Gzip, detail: "it is damaged".to_string(), path: None }
    }

    fn of_every_variant() -> Vec<Error> {
        let signing = SigningError::Key { place: "key.pem".to_string(), source: KeyError::Empty };
        vec![
            Error::Usage { message: "two flags".to_string(), help: "choose".to_string() },
            Error::Config(ConfigError::of_file(&path(), crate::config::Complaint::new("not there"))),
            Error::Signing(SigningError::Unreadable { path: path(), source: denied() }),
            Error::Signing(signing),
            Error::Proxy(ProxyError { variable: "HTTPS_PROXY" }),
            Error::UploadNotConfigured { config: path() },
            Error::ApiKey { source: ApiKeyError::Unset("KEY".to_string()), collecting: true },
            Error::ApiKey { source: SecretError::Both("KEY".to_string()).into(), collecting: false },
            Error::NotJudged { bundle: path(), source: Failure::CannotJudge(denied()), help: "another" },
            Error::Tampered { bundle: path(), source: refused() },
            Error::Connect(Vec::new()),
            Error::NothingCollected { reasons: vec!["no".to_string()], exit: Exit::Collection },
            Error::Output { directory: path(), source: denied() },
            Error::Spool { directory: path(), source: denied() },
            Error::System(denied()),
            Error::from(WriteError::Write(denied())),
            Error::from(WriteError::TooLarge {
                actual: 2,
                limit: 1,
                largest: Vec::new(),
                documents: 4,
                documents_bytes: 9,
            }),
            Error::SelfVerification(Failure::NotWhatWasSigned(refused())),
            Error::Write { path: path(), source: denied(), help: None },
            Error::CannotJudge,
            Error::NotVerified,
            Error::UploadCheck(UploadError::Changed),
            Error::Upload { failure: UploadError::Changed, bundle: path(), again: "again".to_string() },
            Error::Interrupted { exit: Exit::Interrupted, help: None },
        ]
    }

    #[test]
    fn error_display_chain_doesnt_repeat() {
        let errors = of_every_variant();
        let artifact = ArtifactError::Name(PathError::Traversal);
        let each = errors.iter().map(|error| error as &dyn std::error::Error).chain([&artifact as _]);
        for mut wrapper in each {
            while let Some(cause) = wrapper.source() {
                assert!(!wrapper.to_string().contains(&cause.to_string()), "{wrapper:?} repeats {cause}");
                wrapper = cause;
            }
        }
        let variants: BTreeSet<String> =
            errors.iter().map(|error| format!("{:?}", std::mem::discriminant(error))).collect();
        assert_eq!(variants.len(), 22, "a variant is missing here, or the number of variants has changed");
    }

    #[test]
    fn a_cause_is_shown_once_behind_its_error() {
        let error = Error::Signing(SigningError::Unreadable { path: path(), source: denied() });
        assert_eq!(error.failures()[0].0, "cannot read the signing key somewhere: permission denied");
        let error = Error::Tampered { bundle: path(), source: refused() };
        assert_eq!(
            error.failures()[0].0,
            "somewhere was not signed by a trusted key, or was changed: gzip: it is \
                                           damaged"
        );
    }
}
