//! Talking to a host over HTTP.
//!
//! The parts in this folder that decide (`link`, `retry`, `quota`, `pace`, `concurrency`) are pure: they are given
//! headers and times, and never send, sleep or read a clock.

pub mod concurrency;
pub mod link;
pub mod pace;
pub mod quota;
pub mod retry;
