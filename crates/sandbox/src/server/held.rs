//! A host's state while it is served: every request sees one version, and a change creates the next one.

use super::Settings;
use crate::clock::Clock;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The requirements for a host to be held.
pub(crate) trait Hosted: Clone {
    /// The settings for the engine.
    fn settings(&self) -> &Settings;
    /// How far its clock is off.
    fn clock_offset_seconds(&self) -> i64;
}

/// The state and the host's clock.
pub(crate) struct Held<Host> {
    state: RwLock<Arc<Host>>,
    /// One change at a time.
    changing: Mutex<()>,
    clock: Clock,
}

impl<Host: Hosted> Held<Host> {
    pub(crate) fn new(host: Host, clock: Clock) -> Self {
        clock.set_offset(host.clock_offset_seconds());
        Self { state: RwLock::new(Arc::new(host)), changing: Mutex::default(), clock }
    }

    /// The current version.
    pub(crate) fn now(&self) -> Arc<Host> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Creates the next version.
    pub(crate) fn change(&self, change: Box<dyn FnOnce(&mut Host) + '_>) -> Settings {
        let _one = crate::lock::lock(&self.changing);
        let before = self.now();
        let mut host = Host::clone(&before);
        change(&mut host);
        if host.clock_offset_seconds() != before.clock_offset_seconds() {
            self.clock.set_offset(host.clock_offset_seconds());
        }
        let settings = host.settings().clone();
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(host);
        settings
    }
}
