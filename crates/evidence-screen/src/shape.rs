//! The look of a value: its randomness, and whether it is made up.
//!
//! Pure functions, which keep nothing.

use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Lenient base64, as pasted: padded or not, and cut anywhere.
pub(super) const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Whether the characters count up, like made-up values: `abcdefgh`, `0123456789abcdef`.
pub(super) fn is_sequence(value: &[u8]) -> bool {
    let steps =
        value.windows(2).filter(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b))).count();
    2 * steps >= value.len()
}

/// Shannon entropy in bits per byte: 0 for one repeated byte, 8 at most.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    // Each byte that occurs, once. Most occur once only, which adds nothing.
    let counts = value.iter().filter_map(|byte| counts.get_mut(usize::from(*byte)).map(std::mem::take));
    let sum: f64 = counts.filter(|count| *count > 1).map(f64::from).map(|count| count * count.log2()).sum();
    let total = value.len().max(1) as f64;
    (total.log2() - sum / total) as f32
}

/// Whether the value has letters of both cases.
pub(super) fn is_mixed_case(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Whether the value is a placeholder for a secret: a variable, a template, a mask, a word like "example".
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let masked = value.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'0'));
    let repeated = value.iter().all(|byte| Some(byte) == value.first());
    let variable = [&b"$"[..], b"<", b"{", b"[", b"%{", b"@"].iter().any(|sign| value.starts_with(sign))
        || (value.starts_with(b"%") && value.ends_with(b"%"));
    masked || repeated || variable || holds_placeholder(value)
}

fn holds_placeholder(value: &[u8]) -> bool {
    let words = |first: &u8| match first {
        b'e' | b'E' => &["example"][..],
        b'p' | b'P' => &["placeholder"],
        b'c' | b'C' => &["changeme"],
        b'r' | b'R' => &["redacted"],
        b'y' | b'Y' => &["your_", "your-"],
        b'$' => &["${"],
        b'{' => &["{{"],
        _ => &[],
    };
    value.iter().enumerate().any(|(at, first)| {
        words(first).iter().any(|word| {
            value.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        })
    })
}

pub(super) fn contains(value: &[u8], word: &str) -> bool {
    let Some(first) = word.bytes().next() else { return true };
    // Most places differ in the first letter.
    let begins = |window: &&[u8]| window.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&first));
    value.windows(word.len()).filter(begins).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
