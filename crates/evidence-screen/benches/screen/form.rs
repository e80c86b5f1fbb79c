//! A form of text, and the made-up pieces of such texts.

use std::fmt;

/// The approximate length of each text.
pub(crate) const SIZE: usize = 100_000;

/// A form of text.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// Whether the screen finds nothing in it. In a hostile text it may find that the text is entangled.
    pub(crate) clean: bool,
    pub(crate) make: fn() -> String,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Concatenates numbered pieces until the text is long enough.
pub(crate) fn repeat(piece: impl Fn(u64) -> String) -> String {
    let mut text = String::with_capacity(SIZE + 4_096);
    let mut number = 0;
    while text.len() < SIZE {
        text.push_str(&piece(number));
        number += 1;
    }
    text
}

/// A number that looks random, but is the same in every run.
pub(crate) fn noise(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ number
}

/// Hexadecimal digits that look random.
pub(crate) fn hex(number: u64, length: usize) -> String {
    let mut digits = String::new();
    for part in 0.. {
        if digits.len() >= length {
            break;
        }
        digits.push_str(&format!("{:016x}", noise(number * 31 + part)));
    }
    digits.truncate(length);
    digits
}

/// The text cut into lines of this many bytes.
pub(crate) fn in_lines(text: &str, width: usize) -> String {
    let lines = text.as_bytes().chunks(width).map(String::from_utf8_lossy);
    lines.collect::<Vec<_>>().join("\n")
}
