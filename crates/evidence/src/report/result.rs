//! The result of a run: the controls on stderr, the bundle and the next commands on stdout.

use std::io::Write as _;

use evidence_bundle::document::{SourcePopulation, Status};
use evidence_view::{Since, scope, words};

use super::format::{bytes, counted, thousands};
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, of_status};
use super::terminal::{State, Terminal};
use crate::evaluate::ControlResult;
use crate::finding::Finding;
use crate::framework::Control;
use crate::number::saturating_u64;

/// Wrap lists of subjects at the usual terminal width.
const LINE_WIDTH: usize = 80;

impl Terminal {
    pub(super) fn judged(
        &self,
        scopes: &[SourcePopulation],
        results: &[ControlResult],
        findings: &[Finding],
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
        self.filled(state, "  ", text.split(' '));
        for new in &since.named {
            self.line(state, &format!("  {RED}new{RED:#}  {}", self.safe(new)));
        }
        let unnamed = since.new.saturating_sub(saturating_u64(since.named.len()));
        if unnamed > 0 {
            self.line(state, &format!("       {} more", thousands(unnamed)));
        }
    }

    /// Prints these words on lines of the usual width.
    fn filled<'a>(&self, state: &State, indent: &str, words: impl IntoIterator<Item = &'a str>) {
        let mut line = indent.to_string();
        for word in words {
            let is_begun = line.len() > indent.len();
            if is_begun && line.chars().count() + 1 + word.chars().count() > LINE_WIDTH {
                self.line(state, &line);
                line.truncate(indent.len());
            } else if is_begun {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(state, &line);
    }

    /// Prints the failed checks with their first subjects, and the number of checks that could not be verified.
    fn findings(&self, state: &mut State, findings: &[Finding], show: &str) {
        let width = findings.iter().map(|finding| thousands(finding.count).len()).max().unwrap_or_default();
        let of = |status| findings.iter().filter(move |finding| finding.status == status);
        let head = |finding: &Finding| {
            let (count, title) = (thousands(finding.count), words::reason(finding.reason.code));
            format!("  {:<6} {count:>width$}  {title}", finding.control.id)
        };
        for finding in of(Status::Fail) {
            self.section(state, "Failed checks");
            self.line(state, &head(finding));
            let mut subjects: Vec<String> =
                finding.subjects.iter().map(|subject| self.safe(subject)).collect();
            if finding.unnamed() > 0 {
                subjects.push(format!("{} more", thousands(finding.unnamed())));
            }
            for line in filled(&subjects, LINE_WIDTH.saturating_sub(width + 11)) {
                self.line(state, &format!("{:1$}{DIM}{line}{DIM:#}", "", width + 11));
            }
        }
        let unnamed: u64 = of(Status::Fail).map(Finding::unnamed).sum();
        if unnamed > 0 {
            self.line(state, &format!("  and {} more: {show} --status fail", thousands(unnamed)));
        }
        for finding in of(Status::NotVerifiable) {
            self.section(state, "Not verifiable");
            self.line(state, &head(finding));
        }
    }

    pub(super) fn delivered(
        &self,
        files: &str,
        bundle_id: &str,
        (size, artifacts): (u64, u64),
        controls: &[&'static Control],
        complete: bool,
        next: (String, String),
    ) {
        let mut out = anstream::stdout();
        let controls = controls.iter().map(|control| control.id).collect::<Vec<_>>().join(" ");
        let missing = if complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
        // Ignore a closed pipe.
        let _ = writeln!(
            out,
            "{BOLD}Bundle{BOLD:#}\n  {files}\n  {}, {}, {controls}, {GREEN}verified{GREEN:#}{missing}\n  \
             bundle id {bundle_id}",
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

/// These texts separated by commas, on lines of at most `width` characters where they fit.
fn filled(texts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let comma = if index + 1 < texts.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.chars().count() + text.chars().count() + 2 <= width => {
                line.push_str(&format!(" {text}{comma}"));
            }
            _ => lines.push(format!("{text}{comma}")),
        }
    }
    lines
}
