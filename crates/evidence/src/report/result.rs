//! What a run comes to: the controls on stderr, the bundle and the next commands on stdout.

use std::io::Write as _;

use anstyle::Style;
use evidence_bundle::document::Status;

use super::format::{bytes, counted, thousands};
use super::style::{BOLD, DIM, GREEN, RED, YELLOW};
use super::terminal::Terminal;
use crate::evaluate::ControlResult;
use crate::framework::Control;

impl Terminal {
    pub(super) fn judged(&self, results: &[ControlResult]) {
        let mut state = self.state();
        self.section(&mut state, "Controls");
        for result in results {
            let (style, word) = status_word(result.status);
            let counts = result.counts;
            let parts = [
                (counts.pass, "pass"),
                (counts.fail, "fail"),
                (counts.not_verifiable, "not verifiable"),
                (counts.not_applicable, "not applicable"),
            ];
            let parts: Vec<String> = parts
                .iter()
                .filter(|(n, _)| *n > 0)
                .map(|(n, what)| format!("{} {what}", thousands(*n)))
                .collect();
            let detail = if parts.is_empty() { result.reason.code.to_string() } else { parts.join(", ") };
            let line = format!(
                "  {:<6} {style}{word:<14}{style:#}  {:<32} {DIM}{detail}{DIM:#}",
                result.control.id, result.control.title
            );
            self.line(&state, &line);
        }
        self.line(&state, "");
    }

    pub(super) fn delivered(
        &self,
        path: &str,
        size: u64,
        artifacts: u64,
        controls: &[&'static Control],
        complete: bool,
        next: (String, String),
    ) {
        let mut out = anstream::stdout();
        let controls = controls.iter().map(|control| control.id).collect::<Vec<_>>().join(" ");
        let missing = if complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
        // A closed pipe is the reader's business.
        let _ = writeln!(
            out,
            "{BOLD}Bundle{BOLD:#}\n  {path}\n  {}, {}, {controls}, {GREEN}verified{GREEN:#}{missing}",
            bytes(size),
            counted(artifacts, "artifact", "artifacts"),
        );
        let mut state = self.state();
        if state.upload_intended {
            state.next = Some(next);
        } else {
            let (verify, upload) = next;
            let _ = writeln!(out, "\n{BOLD}Next{BOLD:#}\n  {verify}\n  {upload}");
        }
    }
}

pub(super) fn status_word(status: Status) -> (Style, &'static str) {
    match status {
        Status::Pass => (GREEN, "pass"),
        Status::Fail => (RED, "fail"),
        Status::NotVerifiable => (YELLOW, "not verifiable"),
        Status::NotApplicable => (DIM, "not applicable"),
    }
}
