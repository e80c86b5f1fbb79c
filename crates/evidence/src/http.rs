//! The client of hosts, and how JSON answers are read.

pub use evidence_http::*;

pub use crate::json;
