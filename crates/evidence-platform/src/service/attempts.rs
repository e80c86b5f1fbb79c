//! Refused keys and failed sign-ins. They belong to no organization, so the platform has its own audit log for them.
//!
//! Anyone can make any number of attempts, so the number of records is bounded. The first attempt from an address in a
//! minute is recorded at once; further ones are counted and recorded when the minute ends. When the allowance of
//! records is used up, one record a minute counts the attempts from all other addresses. The counts are complete.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::Action;

/// How many records can be written at once after a quiet time.
const BURST: usize = 100;
/// How many records the allowance gains per minute.
const A_MINUTE: usize = 2;

/// Where a key was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// By the API.
    Key,
    /// By the sign-in form.
    SignIn,
}

impl Attempt {
    pub(super) fn action(self) -> Action {
        match self {
            Attempt::Key => Action::KeyRefuse,
            Attempt::SignIn => Action::SessionRefuse,
        }
    }
}

/// The attempts of this minute.
#[derive(Debug)]
pub(super) struct Attempts(Mutex<Minute>);

#[derive(Debug)]
struct Minute {
    /// How many more records can be written for single addresses.
    allowance: usize,
    /// Attempts from an address since the recorded one. Has at most [`BURST`] entries.
    named: HashMap<(Attempt, IpAddr), u64>,
    /// Attempts from addresses without a record.
    others: HashMap<Attempt, u64>,
}

/// The contents of a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) attempt: Attempt,
    /// `None` for the sum over addresses without their own record.
    pub(super) address: Option<String>,
    pub(super) attempts: u64,
}

impl Attempts {
    pub(super) fn new() -> Attempts {
        let minute = Minute { allowance: BURST, named: HashMap::new(), others: HashMap::new() };
        Attempts(Mutex::new(minute))
    }

    fn locked(&self) -> MutexGuard<'_, Minute> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an attempt; `true` if it gets its own record.
    pub(super) fn count(&self, attempt: Attempt, address: IpAddr) -> bool {
        let mut minute = self.locked();
        let name = (attempt, network(address));
        if let Some(more) = minute.named.get_mut(&name) {
            *more = more.saturating_add(1);
            return false;
        }
        if let Some(left) = minute.allowance.checked_sub(1) {
            minute.allowance = left;
            minute.named.insert(name, 0);
            return true;
        }
        minute.add(attempt, 1);
        false
    }

    /// Ends the minute and returns the counts without a record.
    pub(super) fn end(&self) -> Vec<Counted> {
        let mut minute = self.locked();
        let mut counted = Vec::new();
        let named = std::mem::take(&mut minute.named);
        for ((attempt, address), attempts) in named.into_iter().filter(|(_, attempts)| *attempts > 0) {
            if let Some(left) = minute.allowance.checked_sub(1) {
                minute.allowance = left;
                let address = match address {
                    IpAddr::V4(address) => address.to_string(),
                    IpAddr::V6(address) => format!("{address}/64"),
                };
                counted.push(Counted { attempt, address: Some(address), attempts });
            } else {
                minute.add(attempt, attempts);
            }
        }
        let others = std::mem::take(&mut minute.others);
        counted.extend(others.into_iter().map(|(attempt, attempts)| Counted {
            attempt,
            address: None,
            attempts,
        }));
        minute.allowance = minute.allowance.saturating_add(A_MINUTE).min(BURST);
        counted
    }

    /// Adds a count back that could not be written.
    pub(super) fn unwritten(&self, counted: &Counted) {
        self.locked().add(counted.attempt, counted.attempts);
    }
}

impl Minute {
    fn add(&mut self, attempt: Attempt, attempts: u64) {
        let others = self.others.entry(attempt).or_default();
        *others = others.saturating_add(attempts);
    }
}

/// The network that counts as one address. With IPv6, one client usually has a whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_is_counted_and_few_are_written() {
        let attempts = Attempts::new();
        let v4 = |number: u32| IpAddr::V4((0x0a00_0000 + number).into());
        let v6: IpAddr = "2001:db8:1:2::7".parse().unwrap();
        assert!(attempts.count(Attempt::Key, v6));
        assert!(!attempts.count(Attempt::Key, "2001:db8:1:2::8".parse().unwrap()), "the same network");
        assert!(attempts.count(Attempt::SignIn, v6));
        let counted = |attempt, address: Option<&str>, attempts| Counted {
            attempt,
            address: address.map(str::to_owned),
            attempts,
        };
        assert_eq!(attempts.end(), [counted(Attempt::Key, Some("2001:db8:1:2::/64"), 1)]);
        assert_eq!(attempts.end(), [], "nothing is written twice");

        // A day of attempts, each from a new address.
        let (mut written, mut total) = (0, 0);
        for minute in 0..1_440 {
            for number in 0..1_000 {
                if attempts.count(Attempt::Key, v4(minute * 1_000 + number)) {
                    (written, total) = (written + 1, total + 1);
                }
            }
            let ended = attempts.end();
            written += ended.len();
            total += ended.iter().map(|counted| counted.attempts).sum::<u64>();
        }
        assert_eq!(total, 1_440_000);
        assert!(written <= BURST + 1_440 * (A_MINUTE + 1), "{written}");

        // A failed write is included in the next minute's count.
        attempts.unwritten(&counted(Attempt::SignIn, Some("10.0.0.1"), 5));
        assert_eq!(attempts.end(), [counted(Attempt::SignIn, None, 5)]);
    }
}
