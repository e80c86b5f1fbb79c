//! The program itself: its commands, its log, its shutdown, and its state after it is killed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

#[path = "program/apply.rs"]
mod apply;
#[path = "program/check.rs"]
mod check;
#[path = "program/clock.rs"]
mod clock;
#[path = "program/commands.rs"]
mod commands;
#[path = "program/durability.rs"]
mod durability;
#[path = "program/fair.rs"]
mod fair;
#[path = "program/flood.rs"]
mod flood;
#[path = "program/kills.rs"]
mod kills;
#[path = "program/log.rs"]
mod log;
#[path = "program/missing.rs"]
mod missing;
#[path = "program/noise.rs"]
mod noise;
#[path = "program/private.rs"]
mod private;
#[path = "program/process.rs"]
mod process;
#[path = "program/prune.rs"]
mod prune;
#[path = "program/restore.rs"]
mod restore;
#[path = "program/restore_postgres.rs"]
mod restore_postgres;
#[path = "program/rows.rs"]
mod rows;
#[path = "program/siege.rs"]
mod siege;
#[path = "program/size.rs"]
mod size;
#[path = "program/status.rs"]
mod status;
mod support;
