//! The parts of the outside world that a run may read: environment variables and the clock.
//!
//! `main` reads both once and passes them down. Nothing else in the tool reads a variable or the time, which makes
//! waits testable without waiting, and runs repeatable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

use evidence_http::Variables;
pub use evidence_http::clock::{Clock, VirtualTime};
use evidence_os::secret::{Place, Secret, SecretError};
use jiff::Timestamp;

/// Environment variables and clock, as passed to every stage.
#[derive(Debug, Clone)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    hostname: String,
    fixed_time: Option<i64>,
    started: Timestamp,
    /// Each secret is read once, so that the screen looks for the value in use even if its file is replaced during the
    /// run.
    secrets: Arc<Mutex<BTreeMap<String, Arc<Secret>>>>,
    /// The clock of this run.
    pub clock: Clock,
}

impl Env {
    /// The variables of this process and the system clock.
    pub fn from_process() -> Env {
        let hostname = gethostname::gethostname().to_string_lossy().into_owned();
        Env {
            variables: std::env::vars_os().collect(),
            hostname,
            fixed_time: None,
            started: Clock::System.now(),
            secrets: Arc::default(),
            clock: Clock::System,
        }
    }

    /// The given variables and clock, for tests.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
        clock: Clock,
    ) -> Env {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let (hostname, started) = ("localhost".to_string(), clock.now());
        Env { variables, hostname, fixed_time: None, started, secrets: Arc::default(), clock }
    }

    /// The variable, if it is set, not empty, and valid UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
    }

    /// The secret in this variable, or in the file that `<name>_FILE` names. `None` if neither is set.
    ///
    /// # Errors
    ///
    /// Fails if both are set, or if the value cannot be a secret.
    pub fn secret(&self, name: &str) -> Result<Option<Arc<Secret>>, SecretError> {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secret) = secrets.get(name) {
            return Ok(Some(Arc::clone(secret)));
        }
        let Some(secret) = Secret::read(name, |name| self.raw(name).map(OsStr::to_owned))?.map(Arc::new)
        else {
            return Ok(None);
        };
        secrets.insert(name.to_string(), Arc::clone(&secret));
        Ok(Some(secret))
    }

    /// The variable that provides this secret, if one does: `name`, or `<name>_FILE`.
    pub fn provider(&self, name: &str) -> Option<String> {
        match Place::of(name, |name| self.raw(name).map(OsStr::to_owned)) {
            Ok(Some(Place::Variable(variable) | Place::File { variable, .. })) => Some(variable),
            Ok(None) | Err(_) => None,
        }
    }

    /// Returns the environment with this time, in whole seconds since 1970, in documents and in the archive. Waits and
    /// pauses still use the clock.
    pub fn with_fixed_time(self, seconds: i64) -> Env {
        Env { fixed_time: Some(seconds), ..self }
    }

    /// Returns the environment for a run that begins now. Secrets are not read again.
    pub fn starting_now(self) -> Env {
        Env { started: self.clock.now(), ..self }
    }

    /// When the run began, or the fixed time: every window and age counts from it, because it is in the signed record.
    pub fn started(&self) -> Timestamp {
        self.fixed_time.and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or(self.started)
    }

    /// A point in time of this run, formatted for documents.
    pub fn stamp_of(&self, time: Timestamp) -> String {
        let seconds = self.fixed_time.unwrap_or_else(|| time.as_second());
        evidence_bundle::time::format(seconds).unwrap_or_default()
    }

    /// The time in documents and in the archive, in whole seconds since 1970.
    pub fn document_time(&self) -> i64 {
        self.fixed_time.unwrap_or_else(|| self.clock.now().as_second())
    }

    /// The fixed time in documents and in the archive, if one was given.
    pub fn fixed_time(&self) -> Option<i64> {
        self.fixed_time
    }

    /// Whether the bundle must depend only on what the sources answer: no cache, and no trace of this run.
    pub fn is_reproducible(&self) -> bool {
        self.fixed_time.is_some()
    }

    /// The name of this machine.
    pub fn hostname(&self) -> String {
        self.hostname.clone()
    }

    /// The variable as the operating system returns it, if it is set and not empty.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        self.raw(name).filter(|value| !value.is_empty())
    }
}

impl Variables for Env {
    fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The screen still looks for a secret after its file is replaced during a run, as Kubernetes does.
    #[test]
    fn a_secret_is_read_once_by_all_stages() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let env = Env::new([("MADE_UP_FILE", file.path())], Clock::System);
        assert!(env.secret("MADE_UP").is_err());
        std::fs::write(file.path(), "first").unwrap();
        assert_eq!(env.secret("MADE_UP").unwrap().unwrap().text(), "first");
        std::fs::write(file.path(), "second").unwrap();
        assert_eq!(env.clone().with_fixed_time(0).secret("MADE_UP").unwrap().unwrap().text(), "first");
        assert!(env.secret("OTHER").unwrap().is_none());
        assert_eq!(env.provider("MADE_UP").as_deref(), Some("MADE_UP_FILE"));
        assert_eq!(env.provider("MADE_UP_FILE").as_deref(), Some("MADE_UP_FILE"));
        assert_eq!(env.provider("OTHER"), None);
        assert!(!format!("{env:?}").contains("first"));
    }
}
