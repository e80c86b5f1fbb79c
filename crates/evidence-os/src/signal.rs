//! The ways in which a user or the system ends a program.

use std::io;

use crate::system;

pub use crate::terms::Stop;

/// What listens for signals. While there is one, they no longer end the process.
pub struct Signals(system::Signals);

impl Signals {
    /// Begins to listen. Needs to be called in a Tokio runtime.
    ///
    /// # Errors
    ///
    /// If the process may not handle signals.
    pub fn listen() -> io::Result<Signals> {
        system::Signals::listen().map(Signals)
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Stop {
        self.0.next().await
    }
}
