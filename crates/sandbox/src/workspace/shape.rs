//! Identifiers and tags in the provider's form, derived from what they identify.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

fn number(of: &str) -> u128 {
    let digest = Sha256::digest(of.as_bytes());
    digest.iter().take(16).fold(0, |sum, byte| (sum << 8) | u128::from(*byte))
}

/// The form of ids of people and service accounts.
pub(super) fn number_of_21_digits(of: &str) -> String {
    format!("1{:020}", number(of) % 100_000_000_000_000_000_000)
}

/// The form of ids of roles and assignments.
pub(super) fn number_of_17_digits(of: &str) -> String {
    format!("{}", 10_000_000_000_000_000 + number(of) % 80_000_000_000_000_000)
}

/// A signed 64-bit number, the form of ids of log entries.
pub(super) fn qualifier(of: &str) -> String {
    i64::from_be_bytes((number(of) as u64).to_be_bytes()).to_string()
}

/// A tag, including its quotes.
pub(super) fn etag(of: &str) -> String {
    let part = |salt: &str| URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{salt}{of}").as_bytes()));
    let (first, second) = ("kC4qGBXrGzdeJ7dM8mWlBvQHqRz0sTnUyXa1eFoIp2E", part("tag"));
    format!("\"{first}/{}\"", second.get(..27).unwrap_or(&second))
}

/// Letters and digits that no one guesses by accident.
pub(crate) fn opaque(of: &str, length: usize) -> String {
    let parts = (0..length.div_ceil(43))
        .map(|part| URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{part} {of}").as_bytes())));
    parts.collect::<String>().chars().take(length).collect()
}
