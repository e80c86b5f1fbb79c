//! What is kept of an answer between runs: the fields in use, in the host's own form.

use serde::Serialize;
use serde_json::{Map, Value};

/// The fields of a record.
pub(crate) fn map(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The bytes of what is kept.
pub(crate) fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
