//! The sandbox seen from outside: over the real port, with a client that shows every byte.

mod access;
mod answers;
mod client;
mod contents;
mod faults;
mod limits;
mod paging;
mod replay;
mod scenarios;
