//! The progress of each source. Sources are collected concurrently and shown one after the other: a source's lines wait
//! until those before it are done, while its bar keeps moving.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::observation::SourceName;
use evidence_text::{Safe, saturating_u32, thousands};

/// Without a terminal, progress is printed once per this many observations.
const OBSERVATIONS_PER_LINE: u64 = 1_000;

/// The minimum time a rate is measured before it is shown.
const MEASURED: Duration = Duration::from_secs(3);

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
            progress.bar.reset_elapsed();
            progress.bar.reset_eta();
            progress.bar.set_style(bar_style());
        }
        let total = progress.total.unwrap_or_else(|| progress.bar.position()).saturating_add(expected);
        progress.total = Some(total);
        progress.bar.set_length(total);
    }

    /// Counts an observation. Returns a progress line if no bar shows the progress and a line is due.
    pub(super) fn answered(&mut self, source: SourceName) -> Option<String> {
        let is_terminal = self.bars.is_some();
        let SourceProgress { bar, total, .. } = self.of(source)?;
        bar.inc(1);
        let done = bar.position();
        // Observations discovered on the way were not expected.
        if let Some(total) = total.as_mut().filter(|total| **total < done) {
            *total = done;
            bar.set_length(done);
        }
        let is_time = !is_terminal && done.is_multiple_of(OBSERVATIONS_PER_LINE);
        is_time.then(|| position_text(done, *total, bar.per_sec(), bar.elapsed()))
    }

    /// Shows a wait in place of the source's bar; `false` if there is no bar.
    pub(super) fn waits(&mut self, source: SourceName, text: &Safe) -> bool {
        self.restyle(source, wait_style(), text.as_str())
    }

    /// The source continues. Its rate is measured anew, without the wait.
    pub(super) fn goes_on(&mut self, source: SourceName) {
        let known = self.of(source).is_some_and(|progress| progress.total.is_some());
        self.restyle(source, if known { bar_style() } else { listing_style() }, "");
        if let Some(progress) = self.of(source) {
            progress.bar.reset_eta();
        }
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
        SourceProgress { source, bar, total: None, done: false, lines: Vec::new() }
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
    style("  {prefix:<9} {bar:20} {position}  {msg}")
}

/// At 80 columns this leaves room for six digits, a rate and hours.
fn bar_style() -> ProgressStyle {
    style("  {prefix:<9} {bar:20} {progress}")
}

fn style(template: &str) -> ProgressStyle {
    let position = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Writing to memory does not fail.
        let _ = out.write_str(&of_total(state.pos(), state.len()));
    };
    let progress = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = out.write_str(&position_text(state.pos(), state.len(), state.per_sec(), state.elapsed()));
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("position", position)
        .with_key("progress", progress)
        .progress_chars("━╸ ")
}

/// `1,234 of 50,000 observations`
fn of_total(done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{} of {} observations", thousands(done), thousands(total)),
        None => format!("{} observations", thousands(done)),
    }
}

/// `1,234 of 50,000 observations · 15/s · 54 min left`, with the rate of the last seconds. The time left uses that rate
/// or the average rate, whichever is slower: a run that has waited for a limit will wait again.
fn position_text(done: u64, total: Option<u64>, recent: f64, elapsed: Duration) -> String {
    let position = of_total(done, total);
    let left = total.map_or(0, |total| total.saturating_sub(done));
    if elapsed < MEASURED || left == 0 || recent <= 0.0 {
        return position;
    }
    let overall = precise(done) / elapsed.as_secs_f64();
    let rate = match recent {
        rate if rate >= 9.5 => format!("{rate:.0}/s"),
        rate if rate >= 0.1 => format!("{rate:.1}/s"),
        rate => format!("{:.1}/min", rate * 60.0),
    };
    let seconds = precise(left) / recent.min(overall);
    format!("{position} · {rate} · {}", time_left(seconds))
}

/// Approximate: `40 s left`, `54 min left`, `10 h 20 min left`.
fn time_left(seconds: f64) -> String {
    let Ok(left) = Duration::try_from_secs_f64(seconds.ceil()) else { return "long".to_string() };
    let seconds = left.as_secs();
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..=90 => format!("{seconds} s left"),
        91..=5_999 => format!("{minutes} min left"),
        _ if minutes >= 48 * 60 => format!("{} days left", minutes.div_ceil(24 * 60)),
        _ => format!("{} h {:02} min left", minutes / 60, minutes % 60),
    }
}

/// A count as a factor. No rate beyond 2^32 matters.
fn precise(count: u64) -> f64 {
    f64::from(saturating_u32(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: SourceName = SourceName::new("made-up");

    #[test]
    fn rate_and_time_left() {
        let text =
            |done, total, recent, seconds| position_text(done, total, recent, Duration::from_secs(seconds));
        let table = [
            (text(1_234, Some(50_000), 15.1, 80), "1,234 of 50,000 observations · 15/s · 54 min left"),
            // Not measured yet, or finished.
            (text(10, Some(50_000), 15.0, 2), "10 of 50,000 observations"),
            (text(50_000, Some(50_000), 15.0, 3_600), "50,000 of 50,000 observations"),
            (text(10, Some(50_000), 0.0, 30), "10 of 50,000 observations"),
            (text(10, None, 15.0, 30), "10 observations"),
            // After a wait for a limit, the average rate counts.
            (text(5_000, Some(50_000), 15.0, 3_600), "5,000 of 50,000 observations · 15/s · 9 h 00 min left"),
            // After a fast start, the last seconds count.
            (text(25_000, Some(50_000), 2.0, 60), "25,000 of 50,000 observations · 2.0/s · 3 h 29 min left"),
            (text(1, Some(3), 0.01, 100), "1 of 3 observations · 0.6/min · 4 min left"),
            (text(800, Some(1_000), 20.0, 40), "800 of 1,000 observations · 20/s · 10 s left"),
            (text(1, Some(1_000_000), 1.0, 100), "1 of 1,000,000 observations · 1.0/s · 1158 days left"),
        ];
        for (text, expected) in table {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn the_total_is_what_there_is_in_the_end() {
        let mut progress = Progress::default();
        progress.begin(&[SOURCE], false);
        let total = |progress: &mut Progress| progress.of(SOURCE).unwrap().total;
        // One observation before the total is known.
        progress.answered(SOURCE);
        assert_eq!(total(&mut progress), None);
        progress.expect(SOURCE, 1_998);
        assert_eq!(total(&mut progress), Some(1_999));
        let lines: Vec<String> = (0..1_998).filter_map(|_| progress.answered(SOURCE)).collect();
        assert_eq!(
            (lines, total(&mut progress)),
            (vec!["1,000 of 1,999 observations".to_string()], Some(1_999))
        );
        // One more than expected, then another account.
        progress.answered(SOURCE);
        assert_eq!(total(&mut progress), Some(2_000));
        progress.expect(SOURCE, 10);
        assert_eq!(total(&mut progress), Some(2_010));
    }
}
