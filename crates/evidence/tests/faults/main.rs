//! What a run comes to when the network and the hosts misbehave, in every way the sandbox knows.
//!
//! Two properties: a run that outlasts its faults ends byte for byte like a run without them (`matrix`, `chaos`), and one
//! that does not ends truthfully: what is healthy is there, the rest is an error with a reason, and no check says what
//! nobody read. `sources` has the second one for the other sources, `limits` that a host is never asked too fast, `scale`
//! how long that takes.
//!
//! What was kept of earlier runs must not show either: `revalidation` has that nothing outdated is ever told, whatever
//! changes at the host and whatever becomes of the cache, `resume` that a killed run is continued.
//!
//! Waits go by a manual clock; only time-outs take time. Everything else is real, the port included.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]
#![allow(clippy::print_stdout, reason = "figures are what a run of this size is for")]

mod chaos;
mod circuit;
mod kinds;
mod limits;
mod matrix;
mod ran;
mod resume;
mod revalidation;
mod scale;
#[path = "../../benches/simulate/mod.rs"]
mod simulate;
mod sources;
