//! Reads JSON documents outside a verification: those that a bundle is made from, and those that a verified bundle had.

use std::io::{BufReader, Read};

use evidence_bundle::read::Json;
use serde::de::DeserializeOwned;

/// Parses a document. `None` if it does not have the known form.
pub fn document<T: DeserializeOwned>(contents: &mut dyn Read) -> Option<T> {
    serde_json::from_reader(BufReader::with_capacity(64 << 10, contents)).ok()
}

/// A reader of a document row by row, with the verifier's parser.
pub(crate) fn rows(contents: &mut dyn Read) -> Json<'static, &mut dyn Read> {
    Json::new(contents)
}
