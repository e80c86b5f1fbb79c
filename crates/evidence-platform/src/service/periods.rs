//! Folded periods, kept in memory: the second view of a period costs nothing.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use evidence_view::history::History;

use crate::time::Time;

/// A period.
#[derive(Debug)]
pub struct Period {
    /// What the bundles show.
    pub history: History,
    /// When the platform stored each bundle, by its id. The history knows only the times that signers claim.
    pub stored: BTreeMap<String, Time>,
}

/// What a period follows from, as a digest.
pub(super) type Key = [u8; 32];

/// The most bytes of all periods that are kept, as JSON.
const KEPT_BYTES: u64 = 64 << 20;
/// The most periods that are kept.
const KEPT: usize = 256;

/// The folded periods that were asked for last, the newest at the end.
#[derive(Debug, Default)]
pub(super) struct Periods(Mutex<Vec<(Key, u64, Arc<Period>)>>);

impl Periods {
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Period>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, ..)| known == key)?;
        let found = kept.remove(at);
        let period = Arc::clone(&found.2);
        kept.push(found);
        Some(period)
    }

    pub(super) fn keep(&self, key: Key, bytes: u64, period: Arc<Period>) {
        if bytes > KEPT_BYTES {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, ..)| *known != key);
        kept.push((key, bytes, period));
        let mut all = kept.iter().fold(0_u64, |sum, (_, bytes, _)| sum.saturating_add(*bytes));
        while kept.len() > KEPT || all > KEPT_BYTES {
            all = all.saturating_sub(kept.remove(0).1);
        }
    }
}

/// Counts bytes.
struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// About how many bytes a history takes.
pub(super) fn weight(history: &History) -> u64 {
    let mut count = Count(0);
    let days = history
        .rules
        .iter()
        .fold(0_u64, |sum, rule| sum.saturating_add(u64::try_from(rule.days.len()).unwrap_or(u64::MAX)));
    match serde_json::to_writer(&mut count, history) {
        Ok(()) => count.0.saturating_add(days.saturating_mul(8)),
        Err(_) => u64::MAX,
    }
}
