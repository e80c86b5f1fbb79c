//! The evidence platform: a private place where bundles arrive, are verified, never change, and can be fetched.
//!
//! Layers, each knowing only the ones before it: [`store`] (metadata) and [`blobs`] (bytes), [`service`] (what may be
//! done, by whom), [`api`] (how it is asked for over HTTP), [`pages`] (for people), [`server`] (connections, logs, metrics), [`commands`].
//! A bundle is accepted only after `evidence-bundle` has verified it, and nothing here signs one.

pub mod api;
pub mod blobs;
mod cancel;
pub mod cli;
pub mod commands;
pub mod error;
pub mod id;
pub mod pages;
pub mod principal;
pub mod role;
pub mod secret;
pub mod server;
pub mod service;
pub mod spool;
pub mod store;
pub mod time;
pub mod verify;
