//! The result of a run: the controls on stderr, the bundle and the next commands on stdout.

use std::io::Write as _;

use evidence_bundle::document::{SourcePopulation, Status};
use evidence_view::{Since, scope, words};

use super::format::filled;
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, of_status};
use super::terminal::{State, Terminal};
use crate::console;
use crate::evaluate::ControlResult;
use crate::finding::{Finding, WorstFirst};
use evidence_rules::framework::Control;
use evidence_text::saturating_u64;
use evidence_text::{bytes, counted, thousands};

/// Wrap at the usual terminal width.
const LINE_WIDTH: usize = 80;
/// How many groups of checks to print.
const GROUPS_SHOWN: usize = 5;
/// How many subjects of a group to print.
const SUBJECTS_SHOWN: usize = 3;
/// The begin of the lines below the head of a group.
const DETAIL: &str = "            ";

impl Terminal {
    pub(super) fn judged(
        &self,
        scopes: &[SourcePopulation],
        results: &[ControlResult],
        findings: &WorstFirst,
        since: Option<&(String, Since)>,
        show: &str,
    ) {
        let mut state = self.state();
        self.section(&mut state, "Scope");
        for source in scopes {
            let sentence = self.safe(&scope::sentence(source));
            self.line(&state, &format!("  {:<9} {sentence}", source.source));
        }
        self.section(&mut state, "Controls");
        for result in results {
            let (style, word) = (of_status(result.status), words::label(result.status).word);
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
        if let Some((name, since)) = since {
            self.since(&mut state, name, since);
        }
        self.findings(&mut state, findings, show);
        self.line(&state, "");
    }

    /// Prints what changed since the previous bundle.
    fn since(&self, state: &mut State, name: &str, since: &Since) {
        self.section(state, "Changes");
        for caution in &since.cautions {
            self.line(state, &format!("  {YELLOW}{caution}{YELLOW:#}"));
        }
        let text = format!("since {}: {}", self.safe(name), since.counts());
        self.filled(state, "  ", &text);
        for new in &since.named {
            self.line(state, &format!("  {RED}new{RED:#}  {}", self.safe(new)));
        }
        let unnamed = since.new.saturating_sub(saturating_u64(since.named.len()));
        if unnamed > 0 {
            self.line(state, &format!("       {} more", thousands(unnamed)));
        }
    }

    /// Prints this text on lines of the usual width.
    fn filled(&self, state: &State, indent: &str, text: &str) {
        let width = console::stderr_width().unwrap_or(LINE_WIDTH).min(LINE_WIDTH);
        for line in filled(text, width.saturating_sub(indent.len())) {
            self.line(state, &format!("{indent}{line}"));
        }
    }

    /// Prints what to do about the worst groups of checks, and how to see the others.
    fn findings(&self, state: &mut State, findings: &WorstFirst, show: &str) {
        let (groups, remedies) = (findings.by_cause(), &findings.remedies);
        if groups.is_empty() {
            return;
        }
        self.section(state, "What to do");
        for Finding { key, severity, remediation, page, count, subjects } in groups.iter().take(GROUPS_SHOWN)
        {
            let severity = severity.map_or("", words::severity);
            let style = of_status(key.status);
            let unseen = if key.status == Status::NotVerifiable { "not verifiable: " } else { "" };
            let title = words::reason(&key.reason);
            let head =
                format!("  {style}{severity:<8}{style:#}  {BOLD}{}  {unseen}{title}{BOLD:#}", key.control);
            self.line(state, &head);
            let names: Vec<String> =
                subjects.iter().take(SUBJECTS_SHOWN).map(|subject| self.safe(subject)).collect();
            let checks = if *count > 1 { format!("{} checks: ", thousands(*count)) } else { String::new() };
            let more = if subjects.len() > SUBJECTS_SHOWN { ", ..." } else { "" };
            self.filled(state, DETAIL, &format!("{checks}{}{more}", names.join(", ")));
            self.filled(state, DETAIL, remediation);
            if let Some(page) = page {
                self.line(state, &format!("{DETAIL}{}", self.safe(page)));
            }
        }
        for (remedy, checks) in remedies {
            let text =
                format!("{} repairs {} checks: `evidence show` prints it", remedy.title, thousands(*checks));
            self.filled(state, "  ", &text);
        }
        let more = groups.len().saturating_sub(GROUPS_SHOWN);
        let unnamed = groups.iter().any(|group| group.subjects.len() > SUBJECTS_SHOWN);
        if more > 0 {
            self.line(state, &format!("  {more} more: {show}"));
        } else if unnamed || !remedies.is_empty() {
            self.line(state, &format!("  all of it: {show}"));
        }
    }

    pub(super) fn delivered(
        &self,
        files: &str,
        [bundle_id, checksums_sha256]: [&str; 2],
        (size, artifacts): (u64, u64),
        controls: &[&'static Control],
        complete: bool,
        next: (String, String),
    ) {
        let mut out = console::stdout();
        let controls = controls.iter().map(|control| control.id).collect::<Vec<_>>().join(" ");
        let missing = if complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
        // Ignore a closed pipe.
        let _ = writeln!(
            out,
            "{BOLD}Bundle{BOLD:#}\n  {files}\n  {}, {}, {controls}, {GREEN}verified{GREEN:#}{missing}\n  \
             bundle id {bundle_id}\n  list SHA-256 {checksums_sha256}",
            bytes(size),
            counted(artifacts, "artifact", "artifacts"),
        );
        let mut state = self.state();
        if state.upload_intended {
            state.next = Some(next);
        } else {
            let (check, upload) = next;
            let _ = writeln!(out, "\n{BOLD}Next{BOLD:#}\n  {check}\n  {upload}");
        }
    }
}
