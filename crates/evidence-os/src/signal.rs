//! Signals by which a user or the system ends a program.

use std::io;

use crate::system;

pub use crate::terms::Stop;

/// A signal listener. While it exists, signals do not end the process.
pub struct Signals(system::Signals);

impl Signals {
    /// Starts listening. Must be called in a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails if the process may not handle signals.
    pub fn listen() -> io::Result<Signals> {
        system::Signals::listen().map(Signals)
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Stop {
        self.0.next().await
    }
}
