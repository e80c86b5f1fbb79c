//! Ctrl-C and SIGTERM: the processes that the demo starts must not outlive it.
//!
//! It only records that a signal arrived. Code that runs a process checks for it, stops the process, and lets the
//! demo end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use tokio::signal::unix::{SignalKind, signal};

/// Whether a signal arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals(Arc<AtomicU8>);

impl Signals {
    /// Watches on a separate thread, since the demo blocks on its children.
    pub(super) fn watch() -> io::Result<Self> {
        let signals = Self::default();
        let watched = signals.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut interrupts, mut terminations) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                let code = tokio::select! {
                    _ = interrupts.recv() => 130,
                    _ = terminations.recv() => 143,
                };
                watched.0.store(code, Ordering::SeqCst);
            });
        })?;
        Ok(signals)
    }

    /// The exit code for the signal that arrived, if any.
    pub(super) fn raised(&self) -> Option<u8> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            code => Some(code),
        }
    }

    /// Fails if a signal arrived.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.raised() {
            None => Ok(()),
            Some(_) => Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by a signal")),
        }
    }
}
