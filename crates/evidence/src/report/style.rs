//! The styles of the terminal's output, one per meaning.

use std::fmt;

use anstyle::AnsiColor;
use evidence_bundle::Status;
use evidence_text::Shown;

/// A style as a part of safe text: `{BOLD}` begins it, `{BOLD:#}` ends it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style(anstyle::Style);

pub(crate) const BOLD: Style = Style(anstyle::Style::new().bold());
pub(crate) const DIM: Style = Style(anstyle::Style::new().dimmed());
pub(crate) const GREEN: Style = Style(AnsiColor::Green.on_default());
pub(crate) const YELLOW: Style = Style(AnsiColor::Yellow.on_default());
pub(crate) const RED: Style = Style(AnsiColor::Red.on_default());
pub(crate) const CYAN: Style = Style(AnsiColor::Cyan.on_default());

impl Style {
    pub(crate) const fn bold(self) -> Style {
        Style(self.0.bold())
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Shown for Style {}

/// The style of a status.
pub(crate) fn of_status(status: Status) -> Style {
    match status {
        Status::Pass => GREEN,
        Status::Fail => RED,
        Status::NotVerifiable => YELLOW,
        Status::NotApplicable => DIM,
    }
}
