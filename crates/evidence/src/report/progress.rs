//! The progress of each source. Sources are collected concurrently and shown one after the other: a source's lines wait
//! until those before it are done, while its bar keeps moving.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::ending::ending;
use crate::forecast::Forecast;
use crate::observation::SourceName;
use evidence_text::{Safe, thousands};

/// Without a terminal, progress is printed once per this many observations.
const OBSERVATIONS_PER_LINE: u64 = 1_000;

/// The sources being collected, in output order; empty before and after.
#[derive(Default)]
pub(super) struct Progress {
    /// The bars on a terminal, from top to bottom.
    bars: Option<MultiProgress>,
    sources: Vec<SourceProgress>,
}

/// One source's progress.
struct SourceProgress {
    source: SourceName,
    /// Counts and measures; hidden without a terminal.
    bar: ProgressBar,
    /// The number of expected observations, once known.
    total: Option<u64>,
    /// When it will be done, as last computed.
    forecast: Option<Forecast>,
    done: bool,
    /// Lines waiting for this source's turn.
    lines: Vec<Safe>,
}

impl Progress {
    /// Starts these sources, with a bar for each on a terminal.
    pub(super) fn begin(&mut self, sources: &[SourceName], is_terminal: bool) {
        let bars = is_terminal.then(MultiProgress::new);
        self.sources = sources.iter().map(|source| SourceProgress::new(*source, bars.as_ref())).collect();
        self.bars = bars;
    }

    /// Whether sources are being collected.
    pub(super) fn is_active(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Returns the line if it is this source's turn; else keeps it.
    pub(super) fn in_turn(&mut self, source: &str, line: Safe) -> Option<Safe> {
        let first_waits = self.sources.iter().position(|progress| !progress.done).unwrap_or(0);
        let own = self.sources.iter().position(|progress| progress.source.id() == source);
        match own.filter(|own| *own > first_waits).and_then(|own| self.sources.get_mut(own)) {
            Some(progress) => {
                progress.lines.push(line);
                None
            }
            None => Some(line),
        }
    }

    /// The lines that need not wait for earlier sources any more.
    fn released(&mut self) -> Vec<Safe> {
        let mut lines = Vec::new();
        for progress in &mut self.sources {
            lines.append(&mut progress.lines);
            if !progress.done {
                break;
            }
            progress.bar.finish_and_clear();
        }
        lines
    }

    /// Runs `write` while the bars are hidden.
    pub(super) fn suspend(&self, write: impl FnOnce()) {
        match &self.bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    /// Expects this many observations, besides those that are done or were expected before.
    pub(super) fn expect(&mut self, source: SourceName, expected: u64) {
        let Some(progress) = self.of(source) else { return };
        if progress.total.is_none() {
            progress.bar.set_style(bar_style());
        }
        let total = progress.total.unwrap_or_else(|| progress.bar.position()).saturating_add(expected);
        progress.total = Some(total);
        progress.bar.set_length(total);
    }

    /// Counts an observation, and shows this forecast. Returns a progress line if no bar shows the progress and a line is
    /// due.
    pub(super) fn answered(&mut self, source: SourceName, forecast: Option<Forecast>) -> Option<String> {
        let is_terminal = self.bars.is_some();
        let SourceProgress { bar, total, forecast: shown, .. } = self.of(source)?;
        bar.inc(1);
        if forecast.is_some() {
            *shown = forecast;
            if is_terminal {
                bar.set_message(rest(forecast.as_ref()));
            }
        }
        let done = bar.position();
        // Observations discovered on the way were not expected.
        if let Some(total) = total.as_mut().filter(|total| **total < done) {
            *total = done;
            bar.set_length(done);
        }
        let is_time = !is_terminal && done.is_multiple_of(OBSERVATIONS_PER_LINE);
        let left = shown.as_ref().filter(|_| *total != Some(done));
        is_time.then(|| format!("{} observations{}", of_total(done, *total), rest(left)))
    }

    /// When the source will be done, as last computed.
    pub(super) fn forecast(&mut self, source: SourceName) -> Option<Forecast> {
        self.of(source)?.forecast
    }

    /// Shows a wait in place of the source's bar; `false` if there is no bar.
    pub(super) fn waits(&mut self, source: SourceName, text: &Safe) -> bool {
        self.restyle(source, wait_style(), text.as_str())
    }

    /// The source continues.
    pub(super) fn goes_on(&mut self, source: SourceName) {
        let (known, text) = self.of(source).map_or((false, String::new()), |progress| {
            (progress.total.is_some(), rest(progress.forecast.as_ref()))
        });
        self.restyle(source, if known { bar_style() } else { listing_style() }, &text);
    }

    fn restyle(&mut self, source: SourceName, style: ProgressStyle, text: &str) -> bool {
        let is_terminal = self.bars.is_some();
        let Some(progress) = self.of(source).filter(|_| is_terminal) else { return false };
        progress.bar.set_style(style);
        progress.bar.set_message(text.to_string());
        true
    }

    /// The source's requests are finished; its bar stays until its result is printed.
    pub(super) fn asked(&mut self, source: SourceName) {
        self.restyle(source, done_style(), "done");
    }

    /// Marks the source as done. Returns the lines of later sources that waited only for it.
    pub(super) fn done(&mut self, source: SourceName) -> Vec<Safe> {
        if let Some(progress) = self.of(source) {
            progress.done = true;
        }
        let lines = self.released();
        if self.sources.iter().all(|progress| progress.done) {
            self.sources.clear();
            self.bars = None;
        }
        lines
    }

    /// Stops all progress. Returns every line that was still waiting.
    pub(super) fn stop(&mut self) -> Vec<Safe> {
        self.sources.iter_mut().for_each(|progress| progress.done = true);
        if let Some(bars) = self.bars.take() {
            // Clearing fails only if the terminal is gone.
            let _ = bars.clear();
        }
        let lines = self.released();
        self.sources.clear();
        lines
    }

    fn of(&mut self, source: SourceName) -> Option<&mut SourceProgress> {
        self.sources.iter_mut().find(|progress| progress.source == source)
    }
}

impl SourceProgress {
    fn new(source: SourceName, bars: Option<&MultiProgress>) -> SourceProgress {
        let bar = match bars {
            Some(bars) => bars.add(ProgressBar::no_length()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        bar.set_style(listing_style());
        bar.set_prefix(source.id());
        SourceProgress { source, bar, total: None, forecast: None, done: false, lines: Vec::new() }
    }
}

/// No bar until the total is known: 0 of 0 would look complete.
fn listing_style() -> ProgressStyle {
    style("  {prefix:<9} listing resources")
}

fn wait_style() -> ProgressStyle {
    style("  {prefix:<9} {position}  {wide_msg}")
}

fn done_style() -> ProgressStyle {
    style("  {prefix:<9} {bar:10} {position}  {msg}")
}

/// At 80 columns this leaves room for six digits, the time and the waits.
fn bar_style() -> ProgressStyle {
    style("  {prefix:<9} {bar:10} {position}{msg}")
}

fn style(template: &str) -> ProgressStyle {
    let position = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Writing to memory does not fail.
        let _ = out.write_str(&of_total(state.pos(), state.len()));
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("position", position)
        .progress_chars("━╸ ")
}

/// `1,234 of 50,000`
fn of_total(done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{} of {}", thousands(done), thousands(total)),
        None => thousands(done),
    }
}

/// `, done about 20:35Z, 2 waits left`
fn rest(forecast: Option<&Forecast>) -> String {
    forecast.map_or_else(String::new, |forecast| format!(", {}", ending(forecast, forecast.waits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: SourceName = SourceName::new("made-up");

    #[test]
    fn the_total_is_what_there_is_in_the_end() {
        let mut progress = Progress::default();
        progress.begin(&[SOURCE], false);
        let total = |progress: &mut Progress| progress.of(SOURCE).unwrap().total;
        // One observation before the total is known.
        progress.answered(SOURCE, None);
        assert_eq!(total(&mut progress), None);
        progress.expect(SOURCE, 1_998);
        assert_eq!(total(&mut progress), Some(1_999));
        let lines: Vec<String> = (0..1_998).filter_map(|_| progress.answered(SOURCE, None)).collect();
        assert_eq!(
            (lines, total(&mut progress)),
            (vec!["1,000 of 1,999 observations".to_string()], Some(1_999))
        );
        // One more than expected, then another account.
        progress.answered(SOURCE, None);
        assert_eq!(total(&mut progress), Some(2_000));
        progress.expect(SOURCE, 10);
        assert_eq!(total(&mut progress), Some(2_010));
    }
}
