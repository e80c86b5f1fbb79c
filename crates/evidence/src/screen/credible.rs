//! Whether what a pattern matched can be a secret at all: entropy, and the placeholders people write instead.
//!
//! Pure functions over the varying part of a match, and over what stands around a key word. They never keep it.

/// Shannon entropy in bits per byte: 0 for one repeated byte, 8 at most.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f32;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| *count as f32 / total);
    shares.map(|share| -share * share.log2()).sum()
}

/// Whether the value has letters of both cases.
pub(super) fn is_mixed_case(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Whether the value stands for a secret without being one: a variable, a template, a mask, a word like "example".
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let masked = value.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'0'));
    let repeated = value.iter().all(|byte| Some(byte) == value.first());
    let variable = [&b"$"[..], b"<", b"{", b"[", b"%{", b"@"].iter().any(|sign| value.starts_with(sign))
        || (value.starts_with(b"%") && value.ends_with(b"%"));
    masked || repeated || variable || PLACEHOLDERS.iter().any(|word| contains(value, word))
}

const PLACEHOLDERS: &[&str] =
    &["example", "placeholder", "changeme", "redacted", "your_", "your-", "${", "{{"];

/// Whether a value beside a key word is something else than a random one: a path, a name made of words, the alphabet.
pub(super) fn is_dull(value: &[u8]) -> bool {
    let path = [&b"/"[..], b"./", b"~/"].iter().any(|start| value.starts_with(start));
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    path || digits == 0 || letters == 0 || contains(value, "abcdefghijklmnopqrstuvwxyz")
}

/// Whether the identifier that ends where a key word begins makes it a harmless one, such as `csrf_token`.
pub(super) fn is_harmless_name(before: &[u8]) -> bool {
    let name = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    HARMLESS.iter().any(|word| {
        name.len()
            .checked_sub(word.len())
            .and_then(|start| name.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}

const HARMLESS: &[&str] = &["public", "csrf", "xsrf", "page", "next", "sync", "continuation", "cancellation"];

/// Whether a password in a URL can end before an `@`: a host follows, and the authority began at a slash.
pub(super) fn can_end_credentials(before: &[u8], behind: &[u8]) -> bool {
    let begins_host = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'[';
    behind.first().is_some_and(begins_host)
        && before.iter().rev().find(|byte| ends_authority(**byte)) == Some(&b'/')
}

/// What the pattern of a password in a URL does not go across.
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

/// Whether what stands behind a key word makes it the name of a value: quotes, spaces, then an equals sign or a colon.
pub(super) fn can_name_value(behind: &[u8]) -> bool {
    let after =
        |text: &[u8], skipped: fn(&u8) -> bool| text.iter().take(4).take_while(|byte| skipped(byte)).count();
    let behind = behind.get(after(behind, |byte| matches!(byte, b'"' | b'\'' | b'\\'))..).unwrap_or_default();
    let behind = behind.get(after(behind, |byte| is_space(*byte))..).unwrap_or_default();
    matches!(behind.first(), Some(b'=' | b':'))
}

/// As `\s` of a pattern.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

fn contains(value: &[u8], word: &str) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
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
    fn dull_values() {
        for value in [
            "/etc/ssl/2026/key.pem",
            "./a1",
            "~/a1",
            "the-name-of-a-variable",
            "2026-11-21",
            "abcdefghijklmnopqrstuvwxyz0123",
        ] {
            assert!(is_dull(value.as_bytes()), "{value}");
        }
        assert!(!is_dull(b"0a1b2c3d4e5f6a7b"));
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
}
