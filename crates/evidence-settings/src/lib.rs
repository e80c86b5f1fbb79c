//! Configuration files from declarations.
//!
//! A program declares its keys once ([`Key`](declare::Key), [`Section`](declare::Section)). From these declarations
//! derive the decoder, which reports every problem of a file at once with its place, the JSON Schema, the template for
//! a new file and the reference in the documentation. A file passes through [`read`] (bounded bytes), `yaml` (a tree
//! with positions) and [`decode`] (values of the declared types).
//!
//! The crate knows no program's keys, reads no secret and prints nothing.

mod advice;
pub mod declare;
pub mod decode;
pub mod document;
pub mod format;
mod locate;
mod path;
pub mod problem;
pub mod read;
mod reference;
mod render;
mod schema;
pub mod secret;
mod suggest;
mod template;
mod wrong_type;
mod yaml;
