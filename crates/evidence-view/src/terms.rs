//! Whom a reader trusts and what a bundle must be, as people write it: shared by the command line and the verifier page.

use std::time::Duration;

use evidence_bundle::text::Chain;
use evidence_bundle::trust::TrustError;

/// Bytes that a file with public keys may have. One that is larger is another file.
pub const KEY_FILE_BYTES: u64 = 1024 * 1024;

/// What to do where a key cannot be trusted.
pub const KEY_HELP: &str =
    "a bundle is signed with Ed25519; give the signer's public key, in PEM or OpenSSH form";

/// What to do where an age cannot be read.
pub const AGE_HELP: &str = "write a number and a unit: 90m, 36h, 7d or 2w";

/// Why a key cannot be trusted.
pub fn cannot_trust(error: &TrustError) -> String {
    format!("cannot trust this key: {}", Chain(error))
}

/// Why a file with keys is not read.
pub fn too_large(name: &str) -> String {
    format!("the key file {name} is too large")
}

/// `90m`, `36h`, `7d`, `2w`; a number alone would be ambiguous. `None` for any other text.
pub fn age(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, seconds) in
            [("90s", 90), ("90m", 5_400), ("36h", 129_600), ("7d", 604_800), ("2w", 1_209_600)]
        {
            assert_eq!(age(text), Some(Duration::from_secs(seconds)));
        }
        for text in
            ["", "7", "d", "7 d", "-1d", "7days", "99999999999999999999d", "18446744073709551615w", "7é"]
        {
            assert_eq!(age(text), None, "{text:?}");
        }
    }
}
