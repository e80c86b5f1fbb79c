//! `--quiet`: on stdout the path of the bundle and nothing else; on stderr a line for each wait that a host asks for, and
//! why a bundle was not uploaded.
//!
//! Errors are not this reporter's: a run that fails says why on stderr, quiet or not.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::wait::{wait_line, wait_text};
use super::{Event, Reporter, Uploading, WaitReason};
use crate::observation::SourceName;
use evidence_screen::Screen;

/// Prints the path of the bundle.
#[derive(Debug, Default)]
pub struct Quiet {
    /// Until when each source waits, as it was last printed.
    waits: Mutex<BTreeMap<SourceName, Timestamp>>,
}

impl Quiet {
    /// A wait may take an hour: once, until when. The pace is the run's own, and no wait of it is long.
    fn waiting(&self, source: SourceName, reason: WaitReason, until: Timestamp, left: SignedDuration) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if reason == WaitReason::Pace || waits.insert(source, until) == Some(until) {
            return;
        }
        // A closed pipe is the reader's business.
        let line = wait_line(source, &wait_text(reason, until, left));
        let _ = writeln!(anstream::stderr(), "{line}");
    }

    fn delivered(path: &Path) {
        // The path's own bytes: a script must be able to open what it reads here. A closed pipe is the reader's
        // business.
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
        } else if let Event::Upload(Uploading::Note(text)) = event {
            // Whoever waits for the upload must hear that there is none.
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}
