//! The waivers on the page of a bundle: what management accepts. They stand beside the results and change none.

use std::io;

use evidence_view::waivers::{Waivers, WaiversReader, sentence, state};
use evidence_view::{Results, Row, Sink, sanitized};

/// How many waivers are shown.
const SHOWN: usize = 200;

/// Reads the results and the waivers of a bundle in one pass.
#[derive(Default)]
pub(super) struct ResultsAndWaivers {
    pub(super) results: Results,
    pub(super) waivers: WaiversReader,
}

impl Sink for ResultsAndWaivers {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        self.waivers.row(row)?;
        self.results.row(row)
    }
}

/// The waivers of a bundle. Every text is sanitized.
pub(super) struct Accepted {
    /// How many failures have a waiver.
    pub(super) sentence: String,
    pub(super) shown: Vec<OneWaiver>,
    /// How many are not shown.
    pub(super) more: usize,
}

pub(super) struct OneWaiver {
    pub(super) id: String,
    /// Its state in words; never that of a pass.
    pub(super) state: &'static str,
    pub(super) about: String,
    pub(super) counts: String,
    pub(super) decision: String,
    pub(super) reason: String,
    pub(super) instead: Option<String>,
}

impl Accepted {
    /// The waivers, expired ones first. `None` if the run had no file of waivers.
    pub(super) fn of(reader: WaiversReader) -> Option<Accepted> {
        let Waivers { summary, all, .. } = reader.waivers?;
        let one = |waiver: &evidence_view::waivers::Waiver| OneWaiver {
            id: sanitized(&waiver.record.id),
            state: state(waiver.record.state),
            about: waiver.about(),
            counts: waiver.counts(),
            decision: waiver.decision(),
            reason: sanitized(&waiver.record.reason),
            instead: waiver.compensating(),
        };
        Some(Accepted {
            sentence: sentence(&summary),
            shown: all.iter().take(SHOWN).map(one).collect(),
            more: all.len().saturating_sub(SHOWN),
        })
    }
}
