//! The outside world a run may look at: environment variables and the clock.
//!
//! `main` reads both once and hands them down; nothing else in the tool asks the process for a variable or the
//! machine for the time. That is what makes waits testable without waiting, and runs repeatable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

use evidence_http::Variables;
pub use evidence_http::clock::{Clock, Hands};
use evidence_os::secret::{Secret, SecretError};
use jiff::Timestamp;

/// Environment variables and clock, as handed to every stage.
#[derive(Debug, Clone)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    hostname: String,
    fixed_time: Option<i64>,
    /// Read once, so that the screen looks for what is used even if a file is replaced during the run.
    secrets: Arc<Mutex<BTreeMap<String, Arc<Secret>>>>,
    /// The clock of this run.
    pub clock: Clock,
}

impl Env {
    /// The variables of this process and the machine's clock.
    pub fn from_process() -> Env {
        let hostname = gethostname::gethostname().to_string_lossy().into_owned();
        Env {
            variables: std::env::vars_os().collect(),
            hostname,
            fixed_time: None,
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
        Env { variables, hostname: "localhost".to_string(), fixed_time: None, secrets: Arc::default(), clock }
    }

    /// The variable, if it is set, not empty, and valid UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
    }

    /// The secret of this variable, or of the file that the variable with `_FILE` behind its name names. `None` if neither
    /// is set.
    ///
    /// # Errors
    ///
    /// If both are set, or what is there cannot be a secret.
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

    /// The same, with this time in documents and archive in place of the clock, in whole seconds since 1970. Waits and
    /// pauses go by the clock.
    pub fn with_fixed_time(self, seconds: i64) -> Env {
        Env { fixed_time: Some(seconds), ..self }
    }

    /// A point in time of this run as documents write it.
    pub fn stamp_of(&self, time: Timestamp) -> String {
        let seconds = self.fixed_time.unwrap_or_else(|| time.as_second());
        evidence_bundle::time::format(seconds).unwrap_or_default()
    }

    /// The time that documents and archive carry, in whole seconds since 1970.
    pub fn document_time(&self) -> i64 {
        self.fixed_time.unwrap_or_else(|| self.clock.now().as_second())
    }

    /// The time that documents and archive carry in place of the clock, if one was given.
    pub fn fixed_time(&self) -> Option<i64> {
        self.fixed_time
    }

    /// The name of this machine.
    pub fn hostname(&self) -> String {
        self.hostname.clone()
    }

    /// The variable as the operating system gave it, if it is set and not empty.
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

    /// A secret that is replaced during a run, as Kubernetes does, is still the one that the screen looks for.
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
        assert!(!format!("{env:?}").contains("first"));
    }
}
