//! Keys that several sources have.

use evidence_settings::declare::{Format, Key, Shape, Vocabulary};
use evidence_settings::keys;

keys! {
    /// How long a request may take.
    pub(crate) TIMEOUT_SECONDS = seconds("timeout_seconds", 60, 3600,
        "The time limit for one request, in seconds.")
        rule "fractions are allowed", example "60", also &["timeout"];
}

/// The controls to collect from a source: `from` says what an absent key means, `served` what the source can serve.
pub(crate) const fn controls(from: &'static str, served: &'static Vocabulary) -> Key {
    let shape = Shape::List { of: Format::Word(served), may_be_empty: false };
    let summary = "The controls to collect from this source; replaces the top-level list here.";
    Key::derived("controls", from, shape, summary)
        .rule("at least one, each once; may include controls that the top-level list does not")
        .example("[CC6.1]")
}
