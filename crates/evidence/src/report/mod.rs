//! Reports a run's progress. Stages send events; only a reporter prints.
//!
//! Progress, warnings and errors go to stderr; output that a program can use goes to stdout. Every line first passes
//! the screen, so that no verbosity prints a secret in a name or message.

mod accepted;
mod ending;
mod event;
mod origins;
mod plan;
mod progress;
mod quiet;
mod removed;
mod result;
pub(crate) mod style;
mod terminal;
mod upload;
mod wait;
mod watch;

pub(crate) use event::safe as event_text;
pub use event::{Event, LocalResult, ObservationResult, Reporter, Tally, Uploading};
pub use evidence_http::WaitReason;
pub use quiet::Quiet;
pub use terminal::Terminal;
pub(crate) use wait::wait_text;
pub use watch::SourceWatch;
