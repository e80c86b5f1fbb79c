//! Ctrl-C and SIGTERM: what the demo has started must not outlive it.
//!
//! It only remembers that one came. Who runs something asks, ends it, and lets the demo come to its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use tokio::signal::unix::{SignalKind, signal};

/// Whether the demo was told to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals(Arc<AtomicU8>);

impl Signals {
    /// Watches from a thread of its own: the demo waits for its children and does nothing else meanwhile.
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

    /// The exit code of the signal that came, if one did.
    pub(super) fn raised(&self) -> Option<u8> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            code => Some(code),
        }
    }

    /// An error, if a signal came.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.raised() {
            None => Ok(()),
            Some(_) => Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by a signal")),
        }
    }
}
