//! The forms in which one of the collector's own credentials could leave it: as it is, and as other formats write it.
//!
//! It only makes the texts to look for; it never searches.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A secret shorter than this, in bytes, is not looked for: it would be found in ordinary text.
pub const SHORTEST_OWN_SECRET: usize = 8;

/// Every form of the secret to look for, without repetition.
pub(super) fn forms(secret: &str) -> Vec<Vec<u8>> {
    let secret = secret.trim();
    if secret.len() < SHORTEST_OWN_SECRET {
        return Vec::new();
    }
    let mut forms = vec![secret.as_bytes().to_vec()];
    if let Ok(json) = serde_json::to_string(secret) {
        forms.extend(json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).map(Vec::from));
    }
    // Encoders differ in which signs they leave alone, and in the case of the digits.
    for kept in ["", "-._~", "*-._", "-._~!$&'()*+,;=:@/?"] {
        let encoded = percent_encoded(secret, kept);
        forms.push(lower_case_escapes(&encoded).into_bytes());
        forms.push(encoded.into_bytes());
    }
    for offset in 0..3 {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            forms.push(inside_base64(&engine, secret.as_bytes(), offset));
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

fn percent_encoded(secret: &str, kept: &str) -> String {
    let mut encoded = String::new();
    for character in secret.chars() {
        if kept.contains(character) {
            encoded.push(character);
        } else {
            let mut buffer = [0; 4];
            encoded.extend(utf8_percent_encode(character.encode_utf8(&mut buffer), NON_ALPHANUMERIC));
        }
    }
    encoded
}

fn lower_case_escapes(encoded: &str) -> String {
    let mut digits = 0;
    let lower = |character: char| {
        if character == '%' {
            digits = 2;
            return character;
        }
        if digits == 0 {
            return character;
        }
        digits -= 1;
        character.to_ascii_lowercase()
    };
    encoded.chars().map(lower).collect()
}

/// The part of the base64 text that the secret alone decides when `offset` other bytes stand before it (modulo 3).
/// The characters at both ends also hold bits of the neighbours, and are left out.
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
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    fn found(secret: &str, text: &str) -> bool {
        forms(secret).iter().any(|form| text.as_bytes().windows(form.len()).any(|window| window == form))
    }

    #[test]
    fn short_secrets_have_no_form() {
        assert_eq!(forms("1234567"), Vec::<Vec<u8>>::new());
        assert_eq!(forms("  1234567\n"), Vec::<Vec<u8>>::new());
        assert!(!forms("12345678").is_empty());
    }

    #[test]
    fn no_form_is_short() {
        for secret in ["12345678", "a+b/c=d?", "ÿÿÿÿ"] {
            assert!(forms(secret).iter().all(|form| form.len() >= SHORTEST_OWN_SECRET), "{secret}");
        }
    }

    #[test]
    fn is_found_however_it_is_written() {
        for secret in ["0123456789abcdef", "a+b/c=d?e\"f\\g~", "größe>>>???", "~~~>>>???///+++"] {
            assert!(found(secret, &format!("x{secret}y")));
            assert!(found(secret, &serde_json::to_string(&format!("x{secret}y")).unwrap()));
            assert!(found(secret, &utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string()));
            let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            assert!(found(secret, &form), "{form}");
            assert!(found(secret, &lower_case_escapes(&form)), "{form}");
            for before in 0..7 {
                for after in 0..4 {
                    let text = format!("{}{secret}{}", "b".repeat(before), "z".repeat(after));
                    for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
                        assert!(found(secret, &encoded), "{before} {after}");
                    }
                }
            }
        }
    }

    #[test]
    fn escapes_in_lower_case() {
        assert_eq!(lower_case_escapes("A%2FB%C3%A4Z"), "A%2fB%c3%a4Z");
    }
}
