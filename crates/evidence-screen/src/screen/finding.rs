//! What a search finds.

use crate::patterns::Confidence;

/// The rule for the collector's own secrets.
pub const OWN_CREDENTIAL: &str = "own-credential";

/// The rule for a text with so much in so many layers that not everything was searched.
pub const ENTANGLED: &str = "entangled";

/// The place of a possible credential. Holds no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The rule that matched.
    pub rule: &'static str,
    /// Its certainty.
    pub confidence: Confidence,
    /// Offset of the first byte of the secret.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}
