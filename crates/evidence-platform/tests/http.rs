//! The API over a real server on a loopback port.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "http/compressed.rs"]
mod compressed;
#[path = "http/cost.rs"]
mod cost;
#[path = "http/documents.rs"]
mod documents;
#[path = "http/finding.rs"]
mod finding;
#[path = "http/fleet.rs"]
mod fleet;
#[path = "http/freshness.rs"]
mod freshness;
#[path = "http/holds.rs"]
mod holds;
#[path = "http/hostile.rs"]
mod hostile;
#[path = "http/isolation.rs"]
mod isolation;
#[path = "http/manners.rs"]
mod manners;
#[path = "http/pages.rs"]
mod pages;
#[path = "http/period.rs"]
mod period;
#[path = "http/raw.rs"]
mod raw;
#[path = "http/refused.rs"]
mod refused;
#[path = "http/running.rs"]
mod running;
#[path = "../../evidence-bundle/tests/support/stock.rs"]
mod stock;
#[path = "http/subjects.rs"]
mod subjects;
mod support;
#[path = "http/uploads.rs"]
mod uploads;
