//! One run of a fleet, as its command sees it: the bundle, what is missing, and waits.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;

use crate::console;
use crate::report::{Event, Reporter, event_text, wait_text};
use evidence_http::WaitReason;
use evidence_screen::Screen;
use evidence_text::{Safe, safe};

/// The bundle of a run.
#[derive(Debug, Clone)]
pub(super) struct Bundle {
    pub(super) path: PathBuf,
    pub(super) bundle_id: String,
    pub(super) complete: bool,
    /// The number of failing checks, if the run judged.
    pub(super) failed: Option<u64>,
}

/// Keeps the result of a run, and prints what the user must know now.
pub(super) struct OneRun {
    organization: Safe,
    screen: OnceLock<Arc<Screen>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bundle: Option<Bundle>,
    failed: Option<u64>,
    /// The end of the wait that was printed last.
    waiting_until: Option<Timestamp>,
}

impl OneRun {
    pub(super) fn new(organization: &str) -> OneRun {
        OneRun { organization: Safe::of(organization), screen: OnceLock::new(), state: Mutex::default() }
    }

    /// The bundle that the run delivered, if it did.
    pub(super) fn bundle(&self) -> Option<Bundle> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bundle.clone()
    }

    fn say(&self, text: &Safe) {
        let organization = &self.organization;
        console::note(&safe!("  {organization}: {text}\n"; organization, text));
    }
}

impl Reporter for OneRun {
    fn event(&self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Judged { results, .. } => {
                state.failed = Some(results.iter().map(|result| result.counts.fail).sum());
            }
            Event::Delivered { path, bundle_id, complete, .. } => {
                let (path, bundle_id) = (path.to_path_buf(), bundle_id.to_string());
                state.bundle = Some(Bundle { path, bundle_id, complete, failed: state.failed });
            }
            Event::Waiting { reason, until, left, .. }
                if reason != WaitReason::Pace && state.waiting_until != Some(until) =>
            {
                state.waiting_until = Some(until);
                self.say(&wait_text(reason, until, left));
            }
            Event::Incomplete(causes) => {
                for cause in causes {
                    let text = event_text(&self.screen, cause);
                    self.say(&safe!("incomplete: {text}"; text));
                }
            }
            _ => {}
        }
    }

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, screen: &Arc<Screen>) {
        let _ = self.screen.set(Arc::clone(screen));
    }
}
