//! The reader's trusted keys and requirements, parsed for the command line and the verifier page.

use std::time::Duration;

use evidence_bundle::text::Chain;
use evidence_bundle::trust::{RevokedError, TrustError};

/// The most bytes of a file with public keys. A larger file is something else.
pub const KEY_FILE_BYTES: u64 = 1024 * 1024;

/// Advice for a key that cannot be trusted.
pub const KEY_HELP: &str =
    "a bundle is signed with Ed25519; give the signer's public key, in PEM or OpenSSH form";

/// Advice for a list of revoked keys that cannot be read.
pub const REVOKED_HELP: &str =
    "write one key per line: FINGERPRINT SINCE WHY; without a list that can be read, nothing is verified";

/// Advice for an age that cannot be parsed.
pub const AGE_HELP: &str = "write a number and a unit: 90m, 36h, 7d or 2w";

/// Why a key cannot be trusted.
pub fn cannot_trust(error: &TrustError) -> String {
    format!("cannot trust this key: {}", Chain(error))
}

/// Why a list of revoked keys cannot be used: every problem on a line of its own.
pub fn cannot_revoke(error: &RevokedError) -> String {
    format!("cannot read the list of revoked keys:\n{error}")
}

/// The message for a key file that is too large.
pub fn too_large(name: &str) -> String {
    format!("the key file {name} is too large")
}

/// Parses `90m`, `36h`, `7d`, `2w`; a number alone would be ambiguous. `None` for any other text.
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
