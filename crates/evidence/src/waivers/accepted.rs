//! What management accepts, as the end of a run shows it.

use std::collections::BTreeMap;

use evidence_bundle::document::WaiversSummary;
use evidence_view::waivers::Waiver;

/// The waivers of a run, applied to its checks.
#[derive(Debug)]
pub struct Accepted {
    /// How many failures there are, with a waiver and without.
    pub summary: WaiversSummary,
    /// Every waiver with its state, expired ones first.
    pub waivers: Vec<Waiver>,
    /// By control: how many failures have a waiver, and the first day on which one ends.
    pub(super) by_control: BTreeMap<String, (u64, String)>,
}

impl Accepted {
    /// How many failures of a control have a waiver, and the first day on which one ends.
    pub fn of_control(&self, control: &str) -> Option<(u64, &str)> {
        self.by_control.get(control).map(|(count, until)| (*count, until.as_str()))
    }
}
