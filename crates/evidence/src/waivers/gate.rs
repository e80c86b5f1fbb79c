//! The gate of `--fail-on`: failures without a waiver.

use evidence_text::{counted, thousands};

/// What a gate given by `--fail-on` counts.
pub struct Gate {
    /// Failed checks that no waiver accepts.
    pub failed: u64,
    /// Failed checks with a waiver.
    pub waived: u64,
    /// Checks that could not be verified.
    pub not_verifiable: u64,
}

impl Gate {
    /// Why the gate is not met; `None` if it is. `unread`: whether checks that could not be verified count.
    pub fn refusal(&self, unread: bool) -> Option<String> {
        let Gate { failed, waived, not_verifiable } = self;
        let counted_in = failed + if unread { *not_verifiable } else { 0 };
        (counted_in > 0).then(|| {
            format!(
                "{} without a waiver, {} with one, {} not verifiable",
                counted(*failed, "failed check", "failed checks"),
                thousands(*waived),
                thousands(*not_verifiable)
            )
        })
    }
}
