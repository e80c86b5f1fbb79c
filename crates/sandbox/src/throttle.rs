//! Throttling as state: how often the host answers a call before it refuses it, and for how long.
//!
//! This only decides whether to refuse; the host determines the form of the refusal.

use crate::fault::wildcard;
use crate::lock::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Which calls are throttled, and how.
#[derive(Clone, Debug)]
pub struct Throttle {
    id: u64,
    pattern: String,
    first: u64,
    per_second: Option<f64>,
    burst: f64,
}

impl Throttle {
    /// For these calls: an action of the cloud (`iam:GetAccountPasswordPolicy`, `logs:*`) or a path of the workspace.
    /// `*` matches anything.
    pub fn on(pattern: impl Into<String>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, pattern: pattern.into(), first: 0, per_second: None, burst: 1.0 }
    }

    /// Refuses the first calls.
    pub fn first(mut self, calls: u64) -> Self {
        self.first = calls;
        self
    }

    /// Answers this many calls per second after an initial burst, and refuses all others.
    pub fn rate(mut self, per_second: f64, burst: u32) -> Self {
        self.per_second = Some(per_second);
        self.burst = f64::from(burst);
        self
    }
}

/// The state of the throttles.
#[derive(Debug, Default)]
pub(crate) struct Throttles {
    counts: Mutex<HashMap<u64, Count>>,
}

#[derive(Debug)]
struct Count {
    refused: u64,
    tokens: f64,
    at: Instant,
}

impl Throttles {
    /// The index of the first throttle that refuses this call.
    pub(crate) fn refuses(&self, throttles: &[Throttle], names: &[&str]) -> Option<usize> {
        let mut counts = lock(&self.counts);
        throttles
            .iter()
            .enumerate()
            .filter(|(_, throttle)| names.iter().any(|name| wildcard(&throttle.pattern, name)))
            .find(|(_, throttle)| {
                let now = Instant::now();
                let new = Count { refused: 0, tokens: throttle.burst, at: now };
                counts.entry(throttle.id).or_insert(new).refuses(throttle, now)
            })
            .map(|(place, _)| place)
    }
}

impl Count {
    fn refuses(&mut self, throttle: &Throttle, now: Instant) -> bool {
        if self.refused < throttle.first {
            self.refused += 1;
            return true;
        }
        let Some(per_second) = throttle.per_second else { return false };
        let earned = now.duration_since(self.at).as_secs_f64() * per_second;
        self.tokens = (self.tokens + earned).min(throttle.burst);
        self.at = now;
        if self.tokens < 1.0 {
            self.refused += 1;
            return true;
        }
        self.tokens -= 1.0;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_calls_then_a_rate() {
        let throttles = Throttles::default();
        let set = [Throttle::on("logs:*").first(2).rate(0.001, 3)];
        let seen: Vec<bool> =
            (0..7).map(|_| throttles.refuses(&set, &["logs:DescribeLogGroups"]).is_some()).collect();
        assert_eq!(seen, [true, true, false, false, false, true, true]);
        assert_eq!(throttles.refuses(&set, &["iam:GetAccountPasswordPolicy"]), None);
    }
}
