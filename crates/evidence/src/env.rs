//! The outside world a run may look at: environment variables and the clock.
//!
//! `main` reads both once and hands them down; nothing else in the tool asks the process for a variable or the
//! machine for the time. That is what makes waits testable without waiting, and runs repeatable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use evidence_http::Variables;
pub use evidence_http::clock::{Clock, Hands};
use jiff::Timestamp;

/// Environment variables and clock, as handed to every stage.
#[derive(Debug, Clone)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    hostname: String,
    /// The clock of this run.
    pub clock: Clock,
}

impl Env {
    /// The variables of this process and the machine's clock.
    pub fn from_process() -> Env {
        let hostname = gethostname::gethostname().to_string_lossy().into_owned();
        Env { variables: std::env::vars_os().collect(), hostname, clock: Clock::System }
    }

    /// The given variables and clock, for tests.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
        clock: Clock,
    ) -> Env {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Env { variables, hostname: "localhost".to_string(), clock }
    }

    /// The variable, if it is set, not empty, and valid UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
    }

    /// The time as documents write it: the clock, or `SOURCE_DATE_EPOCH` in its place.
    pub fn stamp(&self) -> String {
        evidence_bundle::time::format(self.document_time()).unwrap_or_default()
    }

    /// A point in time of this run as documents write it, or `SOURCE_DATE_EPOCH` in its place.
    pub fn stamp_of(&self, time: Timestamp) -> String {
        let seconds = self.source_date_epoch().unwrap_or_else(|| time.as_second());
        evidence_bundle::time::format(seconds).unwrap_or_default()
    }

    /// The time that documents and archive carry, in whole seconds since 1970.
    pub fn document_time(&self) -> i64 {
        self.source_date_epoch().unwrap_or_else(|| self.clock.now().as_second())
    }

    /// `SOURCE_DATE_EPOCH`: replaces the clock in documents and archive, for reproducible bundles. Waits and pauses
    /// go by the real clock.
    pub fn source_date_epoch(&self) -> Option<i64> {
        self.var("SOURCE_DATE_EPOCH")?.parse().ok().filter(|seconds| *seconds >= 0)
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
