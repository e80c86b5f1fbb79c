//! Decides whether the match of a pattern can be a secret: by its entropy, its kind of value, common placeholders,
//! and the text around a key word.
//!
//! Pure functions over the varying part of a match and its surroundings. They never keep it.

use base64::Engine as _;

use super::names;
use super::patterns::{Confidence, Context, Pattern, Value};
use super::shape::{LENIENT, contains, entropy, is_mixed_case, is_placeholder};
use super::values;

/// Whether the varying part of a match can be a secret. `before` is the text before the match.
pub(super) fn is_credible(rule: &Pattern, before: &[u8], value: &[u8]) -> bool {
    let guess = rule.confidence == Confidence::Low;
    let possible = match rule.value {
        Value::Any => !is_placeholder(value),
        Value::Random => !is_placeholder(value) && !names::is_name(value),
        Value::Opaque => values::is_opaque(value),
        Value::Password => values::is_password(value),
        Value::Chosen => values::is_chosen(value),
        Value::Unlisted => values::is_unlisted(before, value),
        Value::Basic => values::is_basic(value),
        Value::Key => has_body(value),
        Value::EncodedKey => is_encoded_key(value),
    };
    possible
        && entropy(value) >= rule.entropy
        && (!rule.mixed_case || is_mixed_case(value))
        && !(guess && is_harmless_name(before))
}

/// Whether a key word in this place can belong to a match.
#[inline]
pub(super) fn can_stand(context: Context, before: &[u8], behind: &[u8]) -> bool {
    match context {
        Context::Anywhere => true,
        Context::WordStart => is_word_start(before),
        Context::Hex => are_hex(behind) && is_word_start(before),
        Context::SignBeforeHex => are_hex(behind),
        Context::AfterHex => {
            before.last_chunk::<8>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        Context::DottedToken => {
            behind.get(6) == Some(&b'.')
                && before.last_chunk::<23>().is_some_and(|part| part.iter().all(|byte| is_url_safe(*byte)))
        }
        Context::NamedValue => can_name_value(behind),
        Context::NearValue => can_precede_value(behind),
        // Found by the runs themselves.
        Context::Prefixed => true,
        Context::UrlAuthority => can_end_credentials(before, behind),
    }
}

fn is_word_start(before: &[u8]) -> bool {
    !before.last().is_some_and(u8::is_ascii_alphanumeric) || ends_escape(before)
}

fn are_hex(behind: &[u8]) -> bool {
    behind.first_chunk::<8>().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Whether the last letter or digit is part of a JSON or URL escape.
fn ends_escape(text: &[u8]) -> bool {
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let is_percent = |end: &[u8; 3]| matches!(end, [b'%', digits @ ..] if hex(digits));
    let is_unicode = |end: &[u8; 6]| matches!(end, [b'\\', b'u', digits @ ..] if hex(digits));
    matches!(text, [.., b'\\', b'n' | b'r' | b't'])
        || text.last_chunk().is_some_and(is_percent)
        || text.last_chunk().is_some_and(is_unicode)
}

/// How many letters and digits of a key's body to examine, and how many it must have.
const BODY: usize = 64;
const SHORTEST_BODY: usize = 24;

/// A shorter word before a space belongs to a sentence: the lines of a key are longer.
const SHORTEST_LINE: usize = 16;

/// So does a word of this many small letters at the end of a line.
const SHORTEST_WORD: usize = 4;

/// Whether the body of a private key follows its first line, and not the rest of a sentence: in a key the kind of
/// character changes all the time, in words it does not.
fn has_body(text: &[u8]) -> bool {
    let (mut count, mut changes, mut word, mut at) = (0, 0, 0, 0);
    let (mut last, mut upper, mut lower, mut digit) = (None, false, false, false);
    let mut is_plain = true;
    while let Some(byte) = text.get(at).filter(|_| count < BODY) {
        at += match text.get(at..) {
            Some([b'\\', b'u', b'{', rest @ ..]) => {
                3 + rest.iter().position(|byte| *byte == b'}').map_or(0, |end| end + 1)
            }
            Some([b'\\', ..]) => 2,
            _ => 1,
        };
        let Some(kind) = kind(*byte) else {
            let short = (1..SHORTEST_LINE).contains(&word);
            let plain = word >= SHORTEST_WORD && is_plain && byte.is_ascii_whitespace();
            if short && (*byte == b' ' || plain) {
                break;
            }
            if !matches!(byte, b'+' | b'/') {
                (word, is_plain) = (0, true);
            }
            continue;
        };
        (count, word) = (count + 1, word + 1);
        is_plain &= kind == CharacterKind::Lower;
        upper |= kind == CharacterKind::Upper;
        lower |= kind == CharacterKind::Lower;
        digit |= kind == CharacterKind::Digit;
        // A capital letter begins a word.
        changes += usize::from(last.is_some_and(|last| {
            last != kind && (last, kind) != (CharacterKind::Upper, CharacterKind::Lower)
        }));
        last = Some(kind);
    }
    count >= SHORTEST_BODY && changes * if is_path(text) { 3 } else { 6 } >= count && upper && lower && digit
}

/// Whether the text begins with a path, in which the kind of character changes more often than in a sentence.
fn is_path(text: &[u8]) -> bool {
    let Some(rest) = text.trim_ascii_start().strip_prefix(b"/") else { return false };
    let first = rest.iter().position(|byte| !byte.is_ascii_lowercase());
    first.is_some_and(|end| end > 1 && rest.get(end) == Some(&b'/'))
}

#[derive(Clone, Copy, PartialEq)]
enum CharacterKind {
    Upper,
    Lower,
    Digit,
}

fn kind(byte: u8) -> Option<CharacterKind> {
    match byte {
        b'A'..=b'Z' => Some(CharacterKind::Upper),
        b'a'..=b'z' => Some(CharacterKind::Lower),
        b'0'..=b'9' => Some(CharacterKind::Digit),
        _ => None,
    }
}

/// Whether the value decodes to a private key, at any offset of the encoding.
fn is_encoded_key(value: &[u8]) -> bool {
    let standard = |byte: &u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    };
    let letters: Vec<u8> = value.iter().map(standard).take_while(|byte| *byte != b'=').collect();
    (0..4).any(|phase| {
        let groups = letters.get(phase..).unwrap_or_default();
        let whole = groups.get(..groups.len() / 4 * 4).unwrap_or_default();
        let plain = LENIENT.decode(whole).unwrap_or_default();
        let header = b"PRIVATE KEY";
        let at = plain.windows(header.len()).position(|window| window == header);
        at.is_some_and(|at| {
            let rest = plain.get(at + header.len()..).unwrap_or_default();
            let mut lines = rest.split(|byte| *byte == b'\n');
            let first = lines.next().unwrap_or_default();
            let body: Vec<&[u8]> = lines.filter(|line| !contains(line, ": ")).collect();
            has_body(first) || !first.iter().any(u8::is_ascii_lowercase) && has_body(&body.join(&b'\n'))
        })
    })
}

/// Whether the key word ends a harmless identifier, such as `csrf_token`. `before` ends where the key word
/// begins.
fn is_harmless_name(before: &[u8]) -> bool {
    let name = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    HARMLESS.iter().any(|word| {
        name.len()
            .checked_sub(word.len())
            .and_then(|start| name.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}

const HARMLESS: &[&str] = &["public", "csrf", "xsrf", "page", "next", "sync", "continuation", "cancellation"];

/// Whether the password of a URL can end before this `@`: a host follows, and the authority began at a slash.
fn can_end_credentials(before: &[u8], behind: &[u8]) -> bool {
    let begins_host = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'[';
    behind.first().is_some_and(begins_host)
        && before.iter().rev().find(|byte| ends_authority(**byte)) == Some(&b'/')
}

/// Bytes that the pattern of a password in a URL does not cross.
fn ends_authority(byte: u8) -> bool {
    is_space(byte)
        || matches!(
            byte,
            b'/' | b'?'
                | b'#'
                | b'@'
                | b'"'
                | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'\\'
                | b','
                | b';'
                | b'('
                | b')'
                | b'|'
        )
}

/// Whether a key word names a value: quotes and spaces may follow, then an equals sign or a colon.
fn can_name_value(behind: &[u8]) -> bool {
    let after =
        |text: &[u8], skipped: fn(&u8) -> bool| text.iter().take(4).take_while(|byte| skipped(byte)).count();
    let behind = behind.get(after(behind, |byte| matches!(byte, b'"' | b'\'' | b'\\'))..).unwrap_or_default();
    let behind = behind.get(after(behind, |byte| is_space(*byte))..).unwrap_or_default();
    matches!(behind.first(), Some(b'=' | b':'))
}

/// How far behind a key word its value begins.
const NEAR: usize = 24;

/// Whether a sign between a name and its value follows, or a word that stands for one.
fn can_precede_value(behind: &[u8]) -> bool {
    let near = behind.get(..NEAR).unwrap_or(behind);
    let sign = |byte: &u8| matches!(byte, b'=' | b':' | b',' | b'>' | b'(');
    near.iter().any(sign) || [&b" is "[..], b" was ", b" lautet "].iter().any(|word| near.starts_with(word))
}

/// The same as `\s` in a pattern.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_per_byte() {
        assert_eq!(entropy(b""), 0.0);
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abab"), 1.0);
        assert_eq!(entropy(b"abcd"), 2.0);
        assert_eq!(entropy(&(0..=255).collect::<Vec<u8>>()), 8.0);
    }

    #[test]
    fn both_cases() {
        assert!(is_mixed_case(b"aB") && is_mixed_case(b"0-Ba"));
        assert!(!is_mixed_case(b"") && !is_mixed_case(b"ab0") && !is_mixed_case(b"AB-0"));
    }

    #[test]
    fn placeholders() {
        for value in [
            "",
            "xxxx",
            "****",
            "********-****",
            "aaaaaaaa",
            "$TOKEN",
            "${TOKEN}",
            "a${TOKEN}",
            "{{ token }}",
            "<token>",
            "%TOKEN%",
            "@TOKEN@",
            "IOSFODNN7EXAMPLE",
            "your_token",
            "YOUR-TOKEN-HERE",
            "[redacted: x]",
            "00000000-0000",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "correct-horse", "0123456789abcdef", "a$b", "50%off%x"] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn where_a_password_of_a_url_can_end() {
        for before in ["https://user:hunter2", "https:\\/\\/user:hunter2", "x://:aaa"] {
            assert!(can_end_credentials(before.as_bytes(), b"host"), "{before}");
            assert!(!can_end_credentials(before.as_bytes(), b" host"), "{before}");
        }
        for before in ["", "owner", "* ", "https://user:pass word", "a@b", "//x\u{b}"] {
            assert!(!can_end_credentials(before.as_bytes(), b"host"), "{before}");
        }
    }

    #[test]
    fn what_makes_a_key_word_the_name_of_a_value() {
        for behind in [":", "=", "=> x", "\": ", "\\\": x", "'  =", " \t\n\u{b}:"] {
            assert!(can_name_value(behind.as_bytes()), "{behind}");
        }
        for behind in ["", "s", "-scan", " of", "\"\"\"\"\" =", "     =", " \"="] {
            assert!(!can_name_value(behind.as_bytes()), "{behind}");
        }
    }

    #[test]
    fn harmless_names() {
        for name in ["csrf_", "CSRF-", "my_public_", "next_page_", "public"] {
            assert!(is_harmless_name(name.as_bytes()), "{name}");
        }
        for name in ["", "_", "my_", "x"] {
            assert!(!is_harmless_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn bodies_of_private_keys() {
        for body in [
            "\nMC4CAQAwBQYDK2VwBCIEINTuxq927NNf8UPKp4H2\n",
            "\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\\n",
            "\\u{a}b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\\u{a}",
            "\n# MC4CAQAwBQYD\n# K2VwBCIEINTuxq927NNf8UPKp4H2",
        ] {
            assert!(has_body(body.as_bytes()), "{body}");
        }
        for text in [
            "",
            " blocks of any kind are refused by the hook",
            "\n...\n",
            "\n/src/PaymentGatewayV2Client/UserServiceV2 @acme/all",
            " is digest 3f786850e387550fdaa9a2d1b3a7e4c1f0b5d2a8",
            "\n3f786850e387550fdaa9a2d1b3a7e4c1f0b5d2a8",
            " blocks\n/apps/mobile/ios/Keychain2Tokens/KeyV2/TokenV3.swift",
        ] {
            assert!(!has_body(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn where_key_words_can_stand() {
        let stands =
            |context, before: &str, behind: &str| can_stand(context, before.as_bytes(), behind.as_bytes());
        for before in ["", " ", "_", "=", "\\n", "\\u000a", "%0A", "\u{e9}"] {
            assert!(stands(Context::WordStart, before, ""), "{before}");
        }
        for before in ["a", "B", "0", "\\x", "u000a", "%zz"] {
            assert!(!stands(Context::WordStart, before, ""), "{before}");
        }
        assert!(stands(Context::Hex, "", "0123abcdX") && !stands(Context::Hex, "", "0123abc"));
        assert!(stands(Context::AfterHex, "X0123abcd", "") && !stands(Context::AfterHex, "123abcd", ""));
        let first = "MTk4NjIyNDgzNDcxOTI1MjQ4";
        assert!(stands(Context::DottedToken, first, "Cl2FMQ.x"));
        assert!(
            !stands(Context::DottedToken, first, "Cl2FM.x") && !stands(Context::DottedToken, "x", "Cl2FMQ.x")
        );
    }
}
