//! The engine's interface to a host: its answers, its settings, its state.

use super::answer::{Action, Answer, Call};
use super::log::Identity;
use crate::fault::Fault;
use std::sync::Arc;
use std::time::Duration;

/// The host behind the port.
pub(crate) trait Backend: Send + Sync {
    /// Who asks, for the log.
    fn identify(&self, call: &Call) -> Identity;
    /// The true answer.
    fn answer(&self, call: &Call) -> Answer;
    /// Adds the host's usual headers to an answer from a fault, and counts the request.
    fn dress(&self, call: &Call, answer: &mut Answer);
    /// Whether a read-only client would not send this.
    fn is_violation(&self, call: &Call) -> bool {
        !matches!(call.method.as_str(), "GET" | "HEAD")
    }
    /// The action, if the path does not name it.
    fn action(&self, _call: &Call) -> Option<Action> {
        None
    }
    /// The host's own body for a failure with this status, and its content type, for a fault.
    fn failure(&self, _call: &Call, status: u16) -> (&'static str, String) {
        crate::fault::failure(status)
    }
    /// The host's page for a failure.
    fn page(&self, _status: u16) -> String {
        crate::fault::unicorn()
    }
}

/// A state that can be changed while it is served.
pub(crate) trait State<Host>: Send + Sync {
    /// Changes it, and returns the settings for the engine.
    fn change(&self, change: Box<dyn FnOnce(&mut Host) + '_>) -> Settings;
    /// A copy.
    fn current(&self) -> Host;
}

/// A host's implementations for the engine: the backend, and the state unless it cannot change.
pub(crate) type Backing<Host> = (Arc<dyn Backend>, Option<Arc<dyn State<Host>>>);

/// The settings of the engine itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) faults: Vec<Fault>,
    pub(crate) latency: Duration,
    pub(crate) base_path: String,
    pub(crate) compression: bool,
    pub(crate) log_limit: usize,
    pub(crate) port: u16,
    /// The largest body of a request; 0 for [`MAX_BODY`](super::answer::MAX_BODY).
    pub(crate) max_body: usize,
    pub(crate) refused_for: Duration,
}
