//! The result of a run: the controls on stderr, the bundle and the next commands on stdout.

use evidence_bundle::document::{SourcePopulation, Status};
use evidence_view::{Since, scope, words};

use super::style::{BOLD, DIM, GREEN, RED, YELLOW, of_status};
use super::terminal::{State, Terminal};
use crate::console;
use crate::evaluate::ControlResult;
use crate::finding::{Finding, WorstFirst};
use crate::waivers::Accepted;
use evidence_rules::framework::Control;
use evidence_text::shown::{bytes, counted, thousands};
use evidence_text::{Safe, safe, saturating_u64};

/// Wrap at the usual terminal width.
const LINE_WIDTH: usize = 80;
/// The least width of the titles of controls.
const TITLE_WIDTH: usize = 32;
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
        (since, waivers): (Option<&(String, Since)>, Option<&Accepted>),
        show: &Safe,
    ) {
        let mut state = self.state();
        self.section(&mut state, "Scope");
        for source in scopes {
            let sentence = self.safe(&scope::sentence(source));
            self.line(&state, &safe!("  {:<9} {sentence}", self.safe(&source.source); sentence));
        }
        self.section(&mut state, "Controls");
        let titles = results.iter().map(|result| result.control.title.len()).fold(TITLE_WIDTH, usize::max);
        for result in results {
            let title = Safe::of(&format!("{:<titles$}", result.control.title));
            let (style, word) = (of_status(result.status), words::label(result.status).word);
            let counts = result.counts;
            let parts = [
                (counts.pass, "pass"),
                (counts.fail, "fail"),
                (counts.not_verifiable, "not verifiable"),
                (counts.not_applicable, "not applicable"),
            ];
            let parts = parts.iter().filter(|(n, _)| *n > 0);
            let waived = waivers.and_then(|waivers| waivers.of_control(result.control.id));
            let parts = parts.map(|(n, what)| match waived {
                Some((count, until)) if *what == "fail" => {
                    safe!("{} fail ({} waived until {})", thousands(*n), thousands(count), Safe::of(until))
                }
                _ => safe!("{} {}", thousands(*n), *what),
            });
            let mut detail = Safe::joined(parts, ", ");
            if detail.is_empty() {
                detail = result.reason.code.into();
            }
            let line = safe!(
                "  {:<6} {style}{word:<14}{style:#}  {title} {DIM}{detail}{DIM:#}",
                result.control.id; title, style, word, DIM, detail
            );
            self.line(&state, &line);
        }
        if let Some(waivers) = waivers {
            self.accepted(&mut state, waivers);
        }
        if let Some((name, since)) = since {
            self.since(&mut state, name, since);
        }
        self.findings(&mut state, findings, show);
        self.line(&state, &Safe::default());
    }

    /// Prints what changed since the previous bundle.
    fn since(&self, state: &mut State, name: &str, since: &Since) {
        self.section(state, "Changes");
        for caution in &since.cautions {
            self.line(state, &safe!("  {YELLOW}{}{YELLOW:#}", self.safe(caution); YELLOW));
        }
        let text = self.safe(&format!("since {name}: {}", since.counts()));
        self.filled(state, "  ", &text);
        for new in &since.named {
            self.line(state, &safe!("  {RED}new{RED:#}  {}", self.safe(new); RED));
        }
        let unnamed = since.new.saturating_sub(saturating_u64(since.named.len()));
        if unnamed > 0 {
            self.line(state, &safe!("       {} more", thousands(unnamed)));
        }
    }

    /// Prints this text on lines of the usual width.
    pub(super) fn filled(&self, state: &State, indent: &'static str, text: &Safe) {
        let width = console::stderr_width().unwrap_or(LINE_WIDTH).min(LINE_WIDTH);
        for line in text.filled(width.saturating_sub(indent.len())) {
            self.line(state, &safe!("{indent}{line}"; indent, line));
        }
    }

    /// Prints what to do about the worst groups of checks, and how to see the others.
    fn findings(&self, state: &mut State, findings: &WorstFirst, show: &Safe) {
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
            let (control, title) = (self.safe(&key.control), self.safe(&words::reason(&key.reason)));
            let head = safe!(
                "  {style}{severity:<8}{style:#}  {BOLD}{control}  {unseen}{title}{BOLD:#}";
                style, severity, BOLD, control, unseen, title
            );
            self.line(state, &head);
            let named = subjects.iter().take(SUBJECTS_SHOWN).map(|subject| self.safe(subject));
            let names = Safe::joined(named, ", ");
            let checks = if *count > 1 { safe!("{} checks: ", thousands(*count)) } else { Safe::default() };
            let more = if subjects.len() > SUBJECTS_SHOWN { ", ..." } else { "" };
            self.filled(state, DETAIL, &safe!("{checks}{names}{more}"; checks, names, more));
            self.filled(state, DETAIL, &Safe::of(remediation));
            if let Some(page) = page {
                self.line(state, &safe!("{DETAIL}{}", self.safe(page); DETAIL));
            }
        }
        for (remedy, checks) in remedies {
            let text =
                safe!("{} repairs {} checks: `evidence show` prints it", remedy.title, thousands(*checks));
            self.filled(state, "  ", &text);
        }
        let more = groups.len().saturating_sub(GROUPS_SHOWN);
        let unnamed = groups.iter().any(|group| group.subjects.len() > SUBJECTS_SHOWN);
        if more > 0 {
            self.line(state, &safe!("  {more} more: {show}"; more, show));
        } else if unnamed || !remedies.is_empty() {
            self.line(state, &safe!("  all of it: {show}"; show));
        }
    }

    pub(super) fn delivered(
        &self,
        files: &Safe,
        [bundle_id, checksums_sha256]: [&Safe; 2],
        (size, artifacts): (u64, u64),
        controls: &[&'static Control],
        complete: bool,
        next: (Safe, Safe),
    ) {
        let controls = Safe::joined(controls.iter().map(|control| control.id.into()), " ");
        let missing =
            if complete { Safe::default() } else { safe!(", {YELLOW}incomplete{YELLOW:#}"; YELLOW) };
        console::print(&safe!(
            "{BOLD}Bundle{BOLD:#}\n  {files}\n  {}, {}, {controls}, {GREEN}verified{GREEN:#}{missing}\n  \
             bundle id {bundle_id}\n  list SHA-256 {checksums_sha256}\n",
            bytes(size),
            counted(artifacts, "artifact", "artifacts");
            BOLD, files, controls, GREEN, missing, bundle_id, checksums_sha256
        ));
        let mut state = self.state();
        if state.upload_intended {
            state.next = Some(next);
        } else {
            let (check, upload) = next;
            console::print(&safe!("\n{BOLD}Next{BOLD:#}\n  {check}\n  {upload}\n"; BOLD, check, upload));
        }
    }
}
