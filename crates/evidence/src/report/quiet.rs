//! `--quiet`: prints only the bundle's path to stdout, and to stderr one line for each wait that a host requests, and
//! for each cause of an exit code other than 0.
//!
//! Errors do not go through this reporter: a failing run prints its error to stderr even with `--quiet`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::event::{self, Event, Reporter, Uploading};
use super::removed::removed;
use super::style::YELLOW;
use super::wait::{wait_line, wait_text};
use crate::console;
use crate::observation::SourceName;
use evidence_http::WaitReason;
use evidence_screen::Screen;
use evidence_text::safe;

/// Prints the path of the bundle.
#[derive(Default)]
pub struct Quiet {
    screen: OnceLock<Arc<Screen>>,
    /// The end of each source's wait, as last printed.
    waits: Mutex<BTreeMap<SourceName, Timestamp>>,
}

impl Quiet {
    /// Prints each wait once, because it may take an hour. Waits for the run's own pace are short and not printed.
    fn waiting(&self, source: SourceName, reason: WaitReason, until: Timestamp, left: SignedDuration) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if reason == WaitReason::Pace || waits.insert(source, until) == Some(until) {
            return;
        }
        console::note(&safe!("{}\n", wait_line(source, &wait_text(reason, until, left))));
    }

    fn delivered(path: &Path) {
        // Write the path's own bytes, so that a script can open the file. Ignore a closed pipe.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(path.as_os_str().as_encoded_bytes()).and_then(|()| out.write_all(b"\n"));
    }
}

impl Reporter for Quiet {
    fn event(&self, event: Event<'_>) {
        if let Event::Waiting { source, reason, until, left } = event {
            self.waiting(source, reason, until, left);
        } else if let Event::Delivered { path, .. } = event {
            Quiet::delivered(path);
        } else if let Event::Incomplete(causes) = event {
            for cause in causes {
                let text = event::safe(&self.screen, cause);
                console::note(&safe!("{YELLOW}incomplete{YELLOW:#}: {text}\n"; YELLOW, text));
            }
        } else if let Event::Removed { path, error } = event {
            // Nothing is removed without saying so.
            console::note(&safe!("{}\n", event::safe(&self.screen, &removed(path, error))));
        } else if let Event::Gate(text) = event {
            let text = event::safe(&self.screen, text);
            console::note(&safe!("{YELLOW}gate{YELLOW:#}: {text}\n"; YELLOW, text));
        } else if let Event::Upload(Uploading::Note(text)) = event {
            // A script that expects an upload must learn that it does not happen.
            console::note(&safe!("{}\n", event::safe(&self.screen, text)));
        }
    }

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, screen: &Arc<Screen>) {
        // Set once per run.
        let _ = self.screen.set(Arc::clone(screen));
    }
}
