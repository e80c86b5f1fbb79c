//! Normal and verbose output: progress on stderr, the result on stdout.
//!
//! On a terminal there are colours, and bars that keep moving during waits; elsewhere plain lines. A repeated warning
//! is printed a few times and then counted; the bundle has every one.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use evidence_bundle::document::RateLimitRecord;
use indicatif::ProgressBar;
use jiff::{SignedDuration, Timestamp};

use super::event::{self, Event, ObservationResult, Reporter, Tally};
use super::origins;
use super::plan::{self, rate_text};
use super::progress::Progress;
use super::removed::removed;
use super::style::{BOLD, DIM, GREEN, RED, Style, YELLOW};
use super::wait::{again_text, wait_line, wait_text, whole_seconds, with_ending};
use crate::console;
use crate::forecast::Forecast;
use crate::observation::SourceName;
use crate::source::ConnectError;
use evidence_http::{GivenUp, WaitReason};
use evidence_screen::Screen;
use evidence_text::shown::{bytes, counted, thousands};
use evidence_text::{Safe, safe};

/// How many warnings of one kind are printed; the bundle has all.
const SHOWN_PER_KIND: u64 = 5;

/// The section that precedes the first request.
const CREDENTIALS: &str = "Credentials";

/// Without a terminal, a wait is printed again after this many seconds.
const WAIT_LINE_SECONDS: i64 = 60;

/// Prints events.
pub struct Terminal {
    verbose: bool,
    pub(super) is_terminal: bool,
    screen: OnceLock<Arc<Screen>>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    section: Option<&'static str>,
    progress: Progress,
    /// The number of warnings by source and kind.
    kinds: BTreeMap<(String, (&'static str, String)), u64>,
    /// Each source's wait as last printed: its end, and the minutes left.
    waits: BTreeMap<SourceName, (Timestamp, i64)>,
    /// Whether an upload follows: the next steps are then printed after it.
    pub(super) upload_intended: bool,
    /// The next steps: the commands that show the bundle, and the one that uploads it.
    pub(super) next: Option<(Safe, Safe)>,
    /// The platform, as last printed.
    pub(super) platform: Option<Safe>,
    /// The progress bar of the upload.
    pub(super) sending: Option<ProgressBar>,
}

impl Terminal {
    /// Prints to stderr and stdout. `verbose` adds every request and artifact.
    pub fn new(verbose: bool) -> Terminal {
        Terminal {
            verbose,
            is_terminal: std::io::stderr().is_terminal(),
            screen: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Untrusted text, made safe to print.
    pub(super) fn safe(&self, text: &str) -> Safe {
        event::safe(&self.screen, text)
    }

    pub(super) fn line(&self, state: &State, line: &Safe) {
        let write = || console::note(&safe!("{line}\n"; line));
        match &state.sending {
            Some(bar) => bar.suspend(write),
            None => state.progress.suspend(write),
        }
    }

    pub(super) fn section(&self, state: &mut State, title: &'static str) {
        if state.section != Some(title) {
            let gap = if state.section.is_some() { "\n" } else { "" };
            state.section = Some(title);
            self.line(state, &safe!("{gap}{BOLD}{title}{BOLD:#}"; gap, BOLD, title));
        }
    }

    /// `  codehost   warn   text`
    pub(super) fn item(
        &self,
        state: &mut State,
        source: &str,
        style: Style,
        word: &'static str,
        text: &Safe,
    ) {
        let shown = Safe::of(source);
        let line = safe!("  {shown:<9} {style}{word:<5}{style:#}  {text}"; shown, style, word, text);
        if let Some(line) = state.progress.in_turn(source, line) {
            self.line(state, &line);
        }
    }

    fn kind(
        &self,
        state: &mut State,
        source: &str,
        style: Style,
        (word, code): (&'static str, &str),
        text: &Safe,
    ) {
        let count = state.kinds.entry((source.to_string(), (word, code.to_string()))).or_default();
        *count += 1;
        if self.verbose || *count <= SHOWN_PER_KIND {
            self.item(state, source, style, word, text);
        }
    }

    /// Prints how many warnings of each kind were suppressed for this source.
    fn suppressed(&self, state: &mut State, source: &str) {
        let kinds = std::mem::take(&mut state.kinds);
        let (own, others) = kinds.into_iter().partition(|((whose, _), _)| whose == source);
        state.kinds = others;
        let own: BTreeMap<(String, (&'static str, String)), u64> = own;
        for ((_, (word, code)), count) in own {
            if !self.verbose && count > SHOWN_PER_KIND {
                let (more, code) = (thousands(count - SHOWN_PER_KIND), self.safe(&code));
                let text = safe!("{more} more {code}; the bundle has them all"; more, code);
                self.item(state, source, DIM, word, &text);
            }
        }
    }

    fn warning(&self, warning: &evidence_bundle::document::Warning) {
        let mut state = self.state();
        let source = warning.source.as_deref().unwrap_or("");
        let text = match warning.subject.as_deref().filter(|subject| subject.contains('/')) {
            Some(subject) => format!("{subject}: {}", warning.message),
            None => warning.message.clone(),
        };
        self.kind(&mut state, source, YELLOW, ("warn", &warning.code), &self.safe(&text));
    }

    /// Adds one progress line per source, animated on a terminal.
    fn collecting(&self, sources: &[SourceName]) {
        let mut state = self.state();
        sources.iter().for_each(|source| self.suppressed(&mut state, source.id()));
        self.section(&mut state, "Collection");
        state.progress.begin(sources, self.is_terminal);
    }

    fn population(&self, source: SourceName, expected: u64, text: &str) {
        let mut state = self.state();
        if !text.is_empty() {
            let text = self.safe(text);
            self.item(&mut state, source.id(), DIM, "", &text);
        }
        state.progress.expect(source, expected);
    }

    fn observed(&self, source: SourceName, subject: &str, outcome: ObservationResult<'_>) {
        let mut state = self.state();
        match outcome {
            ObservationResult::Written { path, bytes: size } => {
                if self.verbose {
                    self.item(
                        &mut state,
                        source.id(),
                        DIM,
                        "file",
                        &safe!("{} {}", self.safe(path), bytes(size)),
                    );
                }
            }
            ObservationResult::Nothing { warned: true, .. }
            | ObservationResult::Denied { warned: true, .. } => {}
            ObservationResult::Nothing { detail, .. } => {
                let text = self.safe(&format!("{subject}: {detail}"));
                self.kind(&mut state, source.id(), YELLOW, ("none", "not found"), &text);
            }
            ObservationResult::Denied { detail, .. } => {
                let text = self.safe(&format!("{subject}: {detail}"));
                self.kind(&mut state, source.id(), YELLOW, ("deny", "not shown"), &text);
            }
            ObservationResult::Excluded { path, rule } => {
                let text = self.safe(&format!("{path} left out: forbidden data (rule {rule})"));
                self.item(&mut state, source.id(), RED, "drop", &text);
            }
            ObservationResult::Failed(message) => {
                let text = self.safe(&format!("{subject}: {message}"));
                self.kind(&mut state, source.id(), RED, ("error", "errors"), &text);
            }
        }
    }

    fn answered(&self, source: SourceName, forecast: Option<Forecast>) {
        let mut state = self.state();
        if let Some(text) = state.progress.answered(source, forecast) {
            self.item(&mut state, source.id(), DIM, "", &Safe::of(&text));
        }
    }

    /// Prints why a source could not be connected, and what to do.
    fn unconnected(&self, error: &ConnectError) {
        let mut state = self.state();
        self.section(&mut state, "Connections");
        let source = error.source.id();
        self.item(&mut state, source, RED, "error", &self.safe(&error.message));
        for help in &error.help {
            self.item(&mut state, source, DIM, "", &self.safe(help));
        }
    }

    fn waiting(&self, source: SourceName, reason: WaitReason, until: Timestamp, left: SignedDuration) {
        let mut state = self.state();
        let forecast = state.progress.forecast(source);
        let text = with_ending(wait_text(reason, until, left), reason, until, forecast);
        if state.progress.waits(source, &text) {
            return;
        }
        let minute = whole_seconds(left).as_secs() / WAIT_LINE_SECONDS;
        let is_shown = state.waits.get(&source).is_some_and(|(shown, at)| *shown == until && minute >= *at);
        if is_shown {
            return;
        }
        state.waits.insert(source, (until, minute));
        // Printed out of turn: a wait matters while it lasts.
        self.line(&state, &wait_line(source, &text));
    }

    fn wait_over(&self, source: SourceName) {
        let mut state = self.state();
        state.waits.remove(&source);
        state.progress.goes_on(source);
    }

    /// Prints every line that was held back, because no later event will.
    fn stopped(&self) {
        let mut state = self.state();
        let lines = state.progress.stop();
        lines.iter().for_each(|line| self.line(&state, line));
    }

    fn collected(
        &self,
        source: SourceName,
        tally: Tally,
        (requests, revalidated): (u64, u64),
        rate: Option<&RateLimitRecord>,
    ) {
        let mut state = self.state();
        state.progress.asked(source);
        self.suppressed(&mut state, source.id());
        let mut parts = vec![safe!("{} collected", thousands(tally.collected))];
        let rest = [
            (tally.excluded, "left out"),
            (tally.not_found.saturating_sub(tally.unasked), "not found"),
            (tally.unasked, "not asked"),
            (tally.denied, "not visible"),
            (tally.failed, "failed"),
        ];
        let rest = rest.iter().filter(|(n, _)| *n > 0);
        parts.extend(rest.map(|(n, what)| safe!("{} {}", thousands(*n), *what)));
        let (style, word) = if tally.failed > 0 { (RED, "part") } else { (GREEN, "done") };
        self.item(&mut state, source.id(), style, word, &Safe::joined(parts, ", "));
        let limit = rate_text(rate).map_or("no rate limit".into(), |text| safe!("rate limit: {text}"; text));
        let free = match revalidated {
            0 => Safe::default(),
            answers => safe!(", {} unchanged and free", thousands(answers)),
        };
        let text = safe!("{}{free}; {limit}", counted(requests, "request", "requests"); free, limit);
        self.item(&mut state, source.id(), DIM, "", &text);
        let lines = state.progress.done(source);
        lines.iter().for_each(|line| self.line(&state, line));
    }
}

impl Reporter for Terminal {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Source { path, framework, controls } => {
                let mut state = self.state();
                let controls = Safe::joined(controls.iter().map(|control| control.id.into()), " ");
                let version = env!("CARGO_PKG_VERSION");
                self.line(&state, &safe!(
                    "{BOLD}evidence {version}{BOLD:#}  {}  {controls}", framework.id; BOLD, version, controls
                ));
                if self.verbose {
                    self.item(
                        &mut state,
                        "config",
                        DIM,
                        "debug",
                        &safe!("{} is valid", self.safe(&path.display().to_string())),
                    );
                }
                self.line(&state, &Safe::default());
            }
            Event::Origins(origins) => {
                let mut state = self.state();
                self.section(&mut state, CREDENTIALS);
                origins::lines(origins).iter().for_each(|line| self.line(&state, &self.safe(line)));
            }
            Event::Connected { source, organization, api_url, identity, rate_limit } => {
                let mut state = self.state();
                self.section(&mut state, "Connections");
                let text = format!("{organization} at {api_url}, {identity}");
                self.item(&mut state, source.id(), GREEN, "ok", &self.safe(&text));
                if let Some(text) = rate_text(rate_limit) {
                    self.item(&mut state, source.id(), DIM, "", &safe!("rate limit: {text}"; text));
                }
            }
            Event::Warning(warning) => self.warning(warning),
            Event::Unconnected(error) => self.unconnected(error),
            Event::Collecting(sources) => self.collecting(sources),
            Event::Population { source, expected, text } => self.population(source, expected, text),
            Event::Observed { source, subject, outcome } => self.observed(source, subject, outcome),
            Event::Answered { source, forecast } => self.answered(source, forecast),
            Event::Request { source, method, path, result, attempt } => {
                if self.verbose {
                    let mut state = self.state();
                    if matches!(state.section, None | Some(CREDENTIALS)) {
                        // The connection test's requests finish before the connection is reported.
                        self.section(&mut state, "Connections");
                    }
                    let again = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
                    let text = self.safe(&format!("{method} {path} {result}{again}"));
                    self.item(&mut state, source.id(), DIM, "debug", &text);
                }
            }
            Event::Again { source, text, attempt, of, wait } => {
                let mut state = self.state();
                // While sources are collected, bars and results show their state.
                if !state.progress.is_active() {
                    self.section(&mut state, "Connections");
                    let text = again_text(&self.safe(text), attempt, of, wait);
                    self.item(&mut state, source.id(), YELLOW, "wait", &text);
                }
            }
            Event::Waiting { source, reason, until, left } => self.waiting(source, reason, until, left),
            Event::WaitOver(source) => self.wait_over(source),
            Event::GivenUp { source, given_up: GivenUp { kind, failed, last, .. } } => {
                let text =
                    format!("{kind}: {failed} consecutive requests failed, the rest are skipped: {last}");
                self.item(&mut self.state(), source.id(), YELLOW, "stop", &self.safe(&text));
            }
            Event::Collected { source, tally, requests, revalidated, rate_limit } => {
                self.collected(source, tally, (requests, revalidated), rate_limit);
            }
            Event::Stopped => self.stopped(),
            Event::Judged { scopes, results, findings, waivers, since, show } => {
                self.judged(scopes, results, findings, (since, waivers), &self.safe(show));
            }
            Event::Delivered {
                path,
                signature,
                bundle_id,
                checksums_sha256,
                bytes,
                artifacts,
                controls,
                complete,
                check,
                upload,
            } => {
                let mut files = self.safe(&path.display().to_string());
                if let Some(signature) = signature {
                    let signature = self.safe(&signature.display().to_string());
                    let note = "(detached signature, OpenSSH)";
                    files.push(&safe!("\n  {signature}  {DIM}{note}{DIM:#}"; signature, DIM, note));
                }
                let check = Safe::joined(check.map(|command| self.safe(command)), "\n  ");
                let next = (check, self.safe(upload));
                let names = [&self.safe(bundle_id), &self.safe(checksums_sha256)];
                self.delivered(&files, names, (bytes, artifacts), controls, complete, next);
            }
            Event::Incomplete(_) => {}
            Event::Gate(text) => self.gate(text),
            Event::Removed { path, error } => {
                let text = self.safe(&removed(path, error));
                self.line(&self.state(), &text);
            }
            Event::Planned { framework, plans, missing, max_size_bytes, now } => {
                let safe = |text: &str| self.safe(text);
                console::print(&plan::text(framework, plans, missing, max_size_bytes, now, &safe));
            }
            Event::Upload(event) => self.uploading(&event),
        }
    }

    fn wants_debug(&self) -> bool {
        self.verbose
    }

    fn screen(&self, screen: &Arc<Screen>) {
        // Set once per run.
        let _ = self.screen.set(Arc::clone(screen));
    }
}
