//! Ctrl-C, SIGTERM and their Windows equivalents: the run ends at once and leaves no partial file.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use evidence_os::signal::{Signals, Stop};
use tokio::sync::Notify;

use crate::exit::Exit;

/// Whether the user stopped the run.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The exit code of the signal; 0 before any signal.
    code: AtomicU8,
    came: Notify,
}

impl Interrupt {
    /// Watches for signals on a separate thread, so that a busy run notices them too.
    ///
    /// # Errors
    ///
    /// Fails if the process may not handle signals.
    pub fn watch() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let watched = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            let _guard = runtime.enter();
            Signals::listen()?
        };
        std::thread::Builder::new().name("signals".to_string()).spawn(move || {
            runtime.block_on(async {
                watched.raise(match signals.next().await {
                    Stop::Interrupted => Exit::Interrupted,
                    Stop::Terminated => Exit::Terminated,
                });
            });
        })?;
        Ok(interrupt)
    }

    fn raise(&self, exit: Exit) {
        self.0.code.store(exit.code(), Ordering::SeqCst);
        self.0.came.notify_waiters();
    }

    /// The signal that arrived, if any.
    pub fn raised(&self) -> Option<Exit> {
        match self.0.code.load(Ordering::SeqCst) {
            0 => None,
            code if code == Exit::Terminated.code() => Some(Exit::Terminated),
            _ => Some(Exit::Interrupted),
        }
    }

    /// Waits for a signal.
    pub async fn wait(&self) -> Exit {
        loop {
            // Before the look, so that no signal comes between the two.
            let came = self.0.came.notified();
            if let Some(exit) = self.raised() {
                return exit;
            }
            came.await;
        }
    }

    /// A reader or writer that fails once a signal has arrived.
    pub fn guard<T>(&self, inner: T) -> Guarded<T> {
        Guarded { inner, interrupt: self.clone() }
    }
}

/// Fails once a signal has arrived.
#[derive(Debug)]
pub struct Guarded<T> {
    inner: T,
    interrupt: Interrupt,
}

impl<T> Guarded<T> {
    fn open(&mut self) -> io::Result<&mut T> {
        match self.interrupt.raised() {
            // Not ErrorKind::Interrupted: readers and writers would retry for ever.
            Some(_) => Err(io::Error::other("stopped by a signal")),
            None => Ok(&mut self.inner),
        }
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.open()?.read(buffer)
    }
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
