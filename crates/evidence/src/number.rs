//! Counts for documents.

/// A count as documents store it: 64 bits on every machine.
pub(crate) fn saturating_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
