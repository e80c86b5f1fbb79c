//! What is written instead of an answer, in ways that no correct implementation would.

use bytes::Bytes;

/// Bytes to write instead of an answer, and how to end the connection.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

impl Plan {
    pub(crate) fn reset() -> Self {
        Self { steps: Vec::new(), end: End::Reset }
    }
}

/// One sequence of bytes.
#[derive(Debug)]
pub(crate) enum Step {
    /// At once.
    Send(Bytes),
    /// The same bytes repeatedly, for a body too large for memory.
    Repeat { chunk: Bytes, times: u64 },
    /// At a rate.
    Trickle { bytes: Bytes, per_second: u64 },
}

/// How the connection ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// FIN.
    Close,
    /// RST.
    Reset,
}
