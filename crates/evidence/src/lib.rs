//! `evidence` collects SOC 2 evidence through read-only calls and packs it as one signed bundle.

pub mod config;
pub mod control;
pub mod env;
pub mod evaluate;
pub mod http;
pub mod screen;
