//! Faults as state: which requests meet a fault, how often, and which one.
//!
//! A fault never changes the state behind the port. When it is used up the true answer comes back, so a run that
//! outlasts its faults must end exactly like a run without them.

mod act;
mod bodies;
mod book;
mod edits;
mod kind;

pub(crate) use act::{Outcome, act};
pub(crate) use bodies::{failure, unicorn};
pub use book::Fault;
pub(crate) use book::{FaultBook, wildcard};
pub use kind::{AmbiguousLength, BadLink, Body, FaultKind};
