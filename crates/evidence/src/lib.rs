//! `evidence` collects SOC 2 evidence through read-only calls and packs it as one signed bundle.
//!
//! Data flows one way: `config` → `source` (connect, then collect) → `screen` → `evaluate` → `spool` → `assemble` →
//! `deliver`. Each stage takes the output of the previous one and knows nothing of the next; read `commands/collect.rs`
//! from top to bottom for an overview. Stages send events to `report`, and only `report` prints.

pub mod address;
pub mod assemble;
mod bundle_file;
pub mod cause;
pub mod cli;
mod clock;
pub mod collection;
pub mod commands;
pub mod config;
pub mod console;
mod credential;
mod day;
pub mod deliver;
pub mod env;
pub mod error;
pub mod evaluate;
pub mod exit;
pub mod finding;
pub mod fleet;
pub mod forecast;
pub mod hint;
pub mod interrupt;
pub mod json;
mod jwt;
pub mod manual;
pub mod observation;
pub mod origin;
pub mod people;
pub mod platform;
mod previous;
mod refusals;
pub mod report;
mod retention;
pub mod signing;
pub mod source;
pub mod spool;
pub mod temporary;
pub mod waivers;
