//! The styles of the terminal's output, one per meaning.

use anstyle::{AnsiColor, Style};
use evidence_bundle::Status;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();

/// The style of a status.
pub(crate) fn of_status(status: Status) -> Style {
    match status {
        Status::Pass => GREEN,
        Status::Fail => RED,
        Status::NotVerifiable => YELLOW,
        Status::NotApplicable => DIM,
    }
}
