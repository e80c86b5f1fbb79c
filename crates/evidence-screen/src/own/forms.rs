//! The forms in which one of the collector's own secrets could leave it.
//!
//! This module produces the texts to search for and never searches. The views undo escapes of every kind, so escapes
//! have no form here.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::shape;

/// The shortest secret to search for, in bytes: a shorter one would occur in ordinary text.
pub(super) const SHORTEST: usize = 8;

/// From this length in bytes, a secret is searched for whatever its composition, as is each line of a longer one.
const LONG: usize = 16;

/// The least entropy of a secret, in bits per byte: a repetitive one would occur in ordinary text.
const LEAST_ENTROPY: f32 = 2.0;

/// Whether to search for a secret. A short word or number would occur in ordinary text.
pub fn is_sought(secret: &[u8]) -> bool {
    let secret = secret.trim_ascii();
    let digits = secret.iter().any(u8::is_ascii_digit);
    let letters = secret.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let joint = |byte: &u8| b" -_./:".contains(byte);
    let signs = secret.iter().any(|byte| byte.is_ascii_punctuation() && !joint(byte));
    secret.len() >= SHORTEST
        && shape::entropy(secret) >= LEAST_ENTROPY
        && (secret.len() >= LONG || signs || (digits && letters))
}

/// Every form of the secret to search for, without duplicates. A secret of several lines, such as a key in PEM form,
/// is searched for without its first and last line, and line by line.
pub(super) fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let pieces = pieces(secret);
    let whole = pieces.concat();
    let mut forms = of_one(&whole);
    if pieces.len() > 1 {
        forms.extend(pieces.into_iter().filter(|piece| piece.len() >= LONG).flat_map(of_one));
    }
    forms.sort();
    forms.dedup();
    forms
}

/// The lines of a secret, without those that only describe it.
fn pieces(secret: &[u8]) -> Vec<&[u8]> {
    let mut pieces: Vec<&[u8]> = Vec::new();
    let mut rest = secret;
    let mut label = false;
    while !rest.is_empty() {
        let dashes = rest.windows(DASHES.len()).position(|window| window == DASHES);
        let (before, behind) = rest.split_at(dashes.unwrap_or(rest.len()));
        rest = behind.strip_prefix(DASHES).unwrap_or(behind);
        if !(label && [&b"BEGIN "[..], b"END "].iter().any(|word| before.starts_with(word))) {
            let lines = before.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
            pieces.extend(lines.filter(|line| !line.is_empty()));
        }
        label = true;
    }
    pieces
}

const DASHES: &[u8] = b"-----";

fn of_one(secret: &[u8]) -> Vec<Vec<u8>> {
    if !is_sought(secret) {
        return Vec::new();
    }
    let hex = hex::encode(secret);
    let mut forms = vec![hex.to_uppercase().into_bytes(), hex.into_bytes()];
    // Bytes that are not UTF-8 never occur in a text unencoded.
    if let Ok(text) = std::str::from_utf8(secret) {
        forms.push(text.as_bytes().to_vec());
        forms.push(text.chars().rev().collect::<String>().into_bytes());
    }
    for offset in 0..3 {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            forms.push(inside_base64(&engine, secret, offset));
        }
    }
    forms
}

/// The part of the base64 text that depends only on the secret if `offset` other bytes precede it (modulo 3).
/// Omits the characters at both ends, which also hold bits of the neighbouring bytes.
fn inside_base64(engine: &impl Engine, secret: &[u8], offset: usize) -> Vec<u8> {
    let mut bytes = vec![0; offset];
    bytes.extend(secret);
    let encoded = engine.encode(&bytes).into_bytes();
    let start = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    encoded.get(start..end).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_secrets_have_no_form() {
        for weak in [
            "1234567",
            "  1234567\n",
            "evidence",
            "code-review",
            "Straße Nord",
            "2026-11-21",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            "",
        ] {
            assert_eq!(forms(weak.as_bytes()), Vec::<Vec<u8>>::new(), "{weak}");
        }
        for secret in ["evidence1", "p@ssword", "12345678x", "evidence of the year", "1234567890123456"] {
            assert!(!forms(secret.as_bytes()).is_empty(), "{secret}");
        }
    }

    #[test]
    fn no_form_is_short() {
        for secret in ["1234567x", "a+b/c=d?", "ÿÿ ÿÿ+ÿ", "\u{0}\u{1}\u{2}\u{3}4567"] {
            assert!(forms(secret.as_bytes()).iter().all(|form| form.len() >= SHORTEST), "{secret}");
        }
    }

    #[test]
    fn of_a_key_its_body_and_its_lines() {
        let key = "-----BEGIN X KEY-----\r\n0123456789abcdefghij\nABCDEFGHIJKLMNOPQRST\nshort1=\n-----END X KEY-----\n";
        let plain: Vec<&[u8]> = pieces(key.as_bytes());
        assert_eq!(plain, [&b"0123456789abcdefghij"[..], b"ABCDEFGHIJKLMNOPQRST", b"short1="]);
        let forms = forms(key.as_bytes());
        for form in ["0123456789abcdefghij", "0123456789abcdefghijABCDEFGHIJKLMNOPQRSTshort1="] {
            assert!(forms.contains(&form.as_bytes().to_vec()), "{form}");
        }
        assert!(!forms.contains(&b"short1=".to_vec()));
        let one_line = key.replace(['\r', '\n'], "");
        assert_eq!(pieces(one_line.as_bytes()).len(), 1);
        assert_eq!(pieces(b"BEGIN of-----a token").concat(), b"BEGIN ofa token");
    }
}
