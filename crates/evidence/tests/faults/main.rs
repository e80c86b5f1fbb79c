//! Runs with network and host faults of every kind that the sandbox supports.
//!
//! Two properties: a run with temporary faults ends byte for byte like a run without faults (`matrix`, `chaos`); and a
//! run with lasting faults stays truthful: it collects everything that the faults do not hit, reports the rest as
//! errors with reasons, and no check claims a result for unread data. `sources` tests the second property for the other
//! sources, `limits` that the tool never exceeds a host's limits, `scale` the duration under those limits.
//!
//! The cache of earlier runs must not affect results: `revalidation` tests that a run never reports outdated data,
//! whatever changes at the host or damages the cache; `resume` tests that a run continues a killed one.
//!
//! Waits use a manual clock; only time-outs take time. Everything else is real, including the port.

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
