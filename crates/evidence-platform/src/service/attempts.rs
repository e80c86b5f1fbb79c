//! Refused keys and failed sign-ins. They belong to no organization, so the platform has its own audit log for them.
//!
//! Anyone can make any number of attempts, so the number of records is bounded. The first attempt from an address in a
//! minute is recorded at once; further ones are counted and recorded when the minute ends. When the allowance of
//! records is used up, one record a minute counts the attempts from all other addresses. The counts are complete.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::{RequestId, Service};
use crate::id::OrganizationId;
use crate::secret::ApiKey;
use crate::store::{Action, NewAudit, Outcome};

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
    fn action(self) -> Action {
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
struct Counted {
    attempt: Attempt,
    /// `None` for the sum over addresses without their own record.
    address: Option<String>,
    attempts: u64,
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
    fn count(&self, attempt: Attempt, address: IpAddr) -> bool {
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
    fn end(&self) -> Vec<Counted> {
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
    fn unwritten(&self, counted: &Counted) {
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

impl Service {
    /// Records or counts a refused key. Keeps only the prefix of `tried`, and only if it has the form of a key.
    pub async fn refused(&self, attempt: Attempt, request: &RequestId, client: IpAddr, tried: &str) {
        if !self.inner.attempts.count(attempt, client) {
            return;
        }
        let prefix = ApiKey::parse(tried).map(|key| key.prefix().to_owned()).unwrap_or_default();
        let (service, request) = (self.clone(), request.clone());
        let counted = Counted { attempt, address: Some(client.to_string()), attempts: 1 };
        // In a separate task, so that a client cannot avoid the record by closing the connection.
        let record = tokio::spawn(async move { service.write(&counted, &prefix, &request.0).await });
        let _ = record.await;
    }

    /// Records the counts since the last call. Call it every minute and before the program ends.
    pub async fn end_minute(&self) {
        for counted in self.inner.attempts.end() {
            self.write(&counted, "", "").await;
        }
    }

    async fn write(&self, counted: &Counted, target: &str, request_id: &str) {
        let record = NewAudit {
            organization: &OrganizationId::platform(),
            at: self.inner.clock.now(),
            actor: format!("address:{}", counted.address.as_deref().unwrap_or("other")),
            action: counted.attempt.action(),
            target,
            outcome: Outcome::Refused,
            detail: json!({ "attempts": counted.attempts }),
            request_id,
        };
        if let Err(error) = self.note(record).await {
            self.inner.attempts.unwritten(counted);
            let cause = error.causes();
            tracing::warn!(cause, "failed to record refused keys; they stay in the count");
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
