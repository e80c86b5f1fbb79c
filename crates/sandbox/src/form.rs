//! Parses `application/x-www-form-urlencoded`.

use percent_encoding::percent_decode_str;
use std::collections::HashMap;

/// The pairs; of several with the same name the first.
pub(crate) fn decode(text: &str) -> HashMap<String, String> {
    let mut pairs = HashMap::new();
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        pairs.entry(decoded(name)).or_insert_with(|| decoded(value));
    }
    pairs
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
