//! What management accepts: every waiver with its state, expired ones first.

use evidence_view::sanitized;
use evidence_view::waivers::{self, Waiver, Waivers};

use super::room::{self, Room};

/// The section.
pub(super) struct Accepted {
    /// How many failures have a waiver.
    pub(super) sentence: String,
    pub(super) rows: Vec<AcceptedRow>,
    /// How many waivers the page has no room for.
    pub(super) more: u64,
}

/// A waiver.
pub(super) struct AcceptedRow {
    pub(super) id: String,
    pub(super) state: &'static str,
    pub(super) about: String,
    pub(super) counts: String,
    pub(super) reason: String,
    pub(super) decision: String,
    /// What reduces the risk meanwhile.
    pub(super) instead: Option<String>,
}

impl AcceptedRow {
    fn new(waiver: &Waiver) -> AcceptedRow {
        AcceptedRow {
            id: sanitized(&waiver.record.id),
            state: waivers::state(waiver.record.state),
            about: waiver.about(),
            counts: waiver.counts(),
            reason: sanitized(&waiver.record.reason),
            decision: waiver.decision(),
            instead: waiver.compensating(),
        }
    }
}

impl Accepted {
    pub(super) fn new(waivers: &Waivers) -> Accepted {
        let mut rows: Vec<AcceptedRow> = waivers.all.iter().map(AcceptedRow::new).collect();
        let mut room = Room::new(room::WAIVERS);
        let more = room.keep(&mut rows, 300, |row| {
            let instead = row.instead.as_deref().unwrap_or_default();
            vec![&row.id, &row.about, &row.counts, &row.reason, &row.decision, instead]
        });
        Accepted { sentence: waivers::sentence(&waivers.summary), rows, more }
    }
}
