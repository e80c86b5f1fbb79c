//! The outside world a run may look at: environment variables and the clock.
//!
//! `main` reads both once and hands them down; nothing else in the tool asks the process for a variable or the
//! machine for the time. That is what makes waits testable without waiting, and runs repeatable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

pub use self::hands::Hands;

mod hands;

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

    /// The variable as the operating system gave it, if it is set, empty or not.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

/// The machine's time. A clock that is set back during a run would leave times in the documents that contradict each
/// other, and a bundle with such times does not verify: from then on the time that has passed is counted.
fn machine_time() -> Timestamp {
    static LAST: Mutex<Option<(Timestamp, Instant)>> = Mutex::new(None);
    let machine = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = not_before(*last, machine, Instant::now());
    *last = Some(now);
    now.0
}

fn not_before(
    last: Option<(Timestamp, Instant)>,
    machine: Timestamp,
    instant: Instant,
) -> (Timestamp, Instant) {
    let passed = last.and_then(|(time, at)| time.checked_add(instant.saturating_duration_since(at)).ok());
    (passed.map_or(machine, |passed| passed.max(machine)), instant)
}

/// Where the time comes from, and how waiting is done.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock, which is not followed where it goes back; waiting takes time.
    System,
    /// A clock that stands still until somebody waits on it; waiting takes no time.
    Manual(Arc<Mutex<Timestamp>>),
    /// A clock that somebody else moves; waiting takes until its hands are there.
    Driven(Arc<Hands>),
}

impl Clock {
    /// A manual clock that shows `start`.
    pub fn manual(start: Timestamp) -> Clock {
        Clock::Manual(Arc::new(Mutex::new(start)))
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => machine_time(),
            Clock::Manual(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
            Clock::Driven(hands) => hands.now(),
        }
    }

    /// Waits until `deadline`; returns at once when it has passed.
    ///
    /// Takes a point in time, not a duration, so that any number of waiters wait together: on a manual clock
    /// the first one moves the hands and the others find the time has come.
    pub async fn sleep_until(&self, deadline: Timestamp) {
        match self {
            Clock::System => {
                let left = deadline.duration_since(self.now());
                if let Ok(left) = Duration::try_from(left) {
                    tokio::time::sleep(left).await;
                }
            }
            Clock::Manual(now) => {
                {
                    let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
                    *now = (*now).max(deadline);
                }
                tokio::task::yield_now().await;
            }
            Clock::Driven(hands) => hands.wait_until(deadline).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_is_not_followed() {
        let second = |number: i64| Timestamp::from_second(number).unwrap();
        let begin = Instant::now();
        let later = begin + Duration::from_secs(3);
        for (last, machine, now) in [
            (None, second(100), second(100)),
            (Some((second(100), begin)), second(103), second(103)),
            (Some((second(100), begin)), second(40), second(103)),
            (Some((second(100), begin)), second(900), second(900)),
        ] {
            assert_eq!(not_before(last, machine, later), (now, later));
        }
    }
}
