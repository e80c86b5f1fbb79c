//! How far each source is. Sources are collected side by side and shown one after the other: the lines of a source wait
//! until those before it are done, while its bar moves all the time.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::format::thousands;
use crate::observation::SourceName;

/// Without a terminal, progress is a line per this many looks.
const LOOKS_PER_LINE: u64 = 1_000;

/// The sources that are being collected, in the order of all outputs; none before and after.
#[derive(Default)]
pub(super) struct Progress {
    /// The bars on a terminal, one below the other.
    bars: Option<MultiProgress>,
    sources: Vec<SourceProgress>,
}

/// One source's progress.
struct SourceProgress {
    source: SourceName,
    bar: Option<ProgressBar>,
    looked: u64,
    expected: u64,
    done: bool,
    /// Lines that wait until it is this source's turn.
    lines: Vec<String>,
}

impl Progress {
    /// Begins with these sources, with a bar for each on a terminal.
    pub(super) fn begin(&mut self, sources: &[SourceName], is_terminal: bool) {
        let bars = is_terminal.then(MultiProgress::new);
        self.sources = sources.iter().map(|source| SourceProgress::new(*source, bars.as_ref())).collect();
        self.bars = bars;
    }

    /// The line, if it is this source's turn; else it waits.
    pub(super) fn in_turn(&mut self, source: &str, line: String) -> Option<String> {
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

    /// The lines that waited for the sources before them, and need wait no more.
    fn released(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for progress in &mut self.sources {
            lines.append(&mut progress.lines);
            if !progress.done {
                break;
            }
            if let Some(bar) = progress.bar.take() {
                bar.finish_and_clear();
            }
        }
        lines
    }

    /// Runs `write` while no bar is on the screen.
    pub(super) fn suspend(&self, write: impl FnOnce()) {
        match &self.bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    /// So many looks will follow.
    pub(super) fn expect(&mut self, source: SourceName, expected: u64) {
        let Some(progress) = self.of(source) else { return };
        progress.expected = expected;
        if let Some(bar) = &progress.bar {
            bar.set_length(expected);
            bar.set_style(bar_style());
        }
    }

    /// One look is over. The text of a line, where no bar shows it and it is time for one.
    pub(super) fn looked(&mut self, source: SourceName) -> Option<String> {
        let progress = self.of(source)?;
        progress.looked += 1;
        if let Some(bar) = &progress.bar {
            bar.inc(1);
            return None;
        }
        progress
            .looked
            .is_multiple_of(LOOKS_PER_LINE)
            .then(|| format!("{} of {}", thousands(progress.looked), thousands(progress.expected)))
    }

    /// Shows this text beside the source's bar; `false` if there is no bar.
    pub(super) fn remark(&mut self, source: SourceName, text: &str) -> bool {
        match self.of(source).and_then(|progress| progress.bar.as_ref()) {
            Some(bar) => {
                bar.set_message(text.to_string());
                true
            }
            None => false,
        }
    }

    /// The source is done. The lines of those behind it that waited only for it.
    pub(super) fn done(&mut self, source: SourceName) -> Vec<String> {
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

    /// Nothing goes on. Every line that still waited.
    pub(super) fn stop(&mut self) -> Vec<String> {
        self.sources.iter_mut().for_each(|progress| progress.done = true);
        if let Some(bars) = self.bars.take() {
            // A terminal that is gone needs no clearing.
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
        let bar = bars.map(|bars| {
            let bar = bars.add(ProgressBar::new(0));
            // Without a bar until it is known how much there is: nothing of nothing looks like all of it.
            let style = ProgressStyle::with_template("  {prefix:<9} listing resources  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(source.id());
            bar
        });
        SourceProgress { source, bar, looked: 0, expected: 0, done: false, lines: Vec::new() }
    }
}

fn bar_style() -> ProgressStyle {
    let style = ProgressStyle::with_template("  {prefix:<9} {bar:30} {human_pos} of {human_len}  {msg}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸ ")
}
