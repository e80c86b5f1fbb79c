//! What management accepts, at the end of a run: beside the results, and never green.

use evidence_bundle::document::WaiverState;
use evidence_text::{Safe, safe, saturating_u64, shown};
use evidence_view::waivers;

use super::style::{BOLD, DIM, RED, YELLOW};
use super::terminal::{State, Terminal};
use crate::console;
use crate::waivers::Accepted;

/// How many waivers to print.
const SHOWN: usize = 10;

impl Terminal {
    /// Prints how many failures have a waiver, and each waiver with its state.
    pub(super) fn accepted(&self, state: &mut State, accepted: &Accepted) {
        self.section(state, "Accepted by management");
        let sentence = Safe::of(&waivers::sentence(&accepted.summary));
        self.filled(state, "  ", &safe!("{sentence}."; sentence));
        for waiver in accepted.waivers.iter().take(SHOWN) {
            let style = match waiver.record.state {
                WaiverState::Expired => RED,
                WaiverState::Applied | WaiverState::NotYetValid => YELLOW,
                WaiverState::NotMatched | WaiverState::NotNeeded | WaiverState::Unused => DIM,
            };
            let word = waivers::state(waiver.record.state);
            let id = self.safe(&waiver.record.id);
            self.line(
                state,
                &safe!("  {style}{word:<15}{style:#}  {BOLD}{id}{BOLD:#}"; style, word, BOLD, id),
            );
            for text in [waiver.about(), waiver.counts(), waiver.decision()] {
                self.filled(state, "      ", &self.safe(&text));
            }
        }
        let more = accepted.waivers.len().saturating_sub(SHOWN);
        if more > 0 {
            let more = shown::thousands(saturating_u64(more));
            self.line(state, &safe!("  {more} more: evidence waivers list"; more));
        }
    }

    /// Prints why a gate is not met.
    pub(super) fn gate(&self, text: &str) {
        let text = self.safe(text);
        console::note(&safe!("{YELLOW}gate{YELLOW:#}: {text}\n"; YELLOW, text));
    }
}
