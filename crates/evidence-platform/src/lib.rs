//! The evidence platform: a private store that verifies bundles on arrival, never changes them, and serves them.
//!
//! Layers, each depending only on the ones before it: [`store`] (metadata) and [`blobs`] (bytes), [`service`]
//! (operations and permissions), [`api`] (HTTP), [`pages`] (HTML), [`server`] (connections, logs, metrics),
//! [`commands`]. A bundle is accepted only after `evidence-bundle` has verified it, and nothing here signs one.

pub mod api;
pub mod blobs;
mod cancel;
pub mod cli;
pub mod commands;
pub mod error;
pub mod event;
pub mod fleet_file;
pub mod freshness;
pub mod id;
pub mod log;
mod manual;
pub mod pages;
pub mod principal;
mod readings;
pub mod role;
mod rounds;
pub mod secret;
pub mod server;
pub mod service;
pub mod spool;
pub mod store;
pub mod time;
pub mod verify;
pub mod webhook;
