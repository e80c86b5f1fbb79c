//! Values that only their place marks as secrets: whether a person could have chosen one as a password, or a service
//! made it.
//!
//! Pure functions, which keep nothing.

use base64::Engine as _;

use super::names;
use super::shape::{LENIENT, contains, entropy, is_mixed_case, is_placeholder, is_sequence};

/// Whether a value looks like a token, if only its place suggests that it is one.
pub(super) fn is_opaque(value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let varied = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || value.len() >= 20 && is_mixed_case(value) && entropy(value) >= 3.5;
    varied
        && !is_placeholder(value)
        && !is_sequence(value)
        && !names::is_name(value)
        && !names::is_stand_in(value)
}

/// Whether a value can be a password that a person chose.
pub(super) fn is_password(value: &[u8]) -> bool {
    !is_placeholder(value) && !names::is_stand_in(value) && !is_port(value)
}

/// `host:8443@team` in a comment is a port, not a password.
fn is_port(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| text.parse::<u16>().is_ok())
}

/// Whether the value decodes to a user and a password.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let Ok(plain) = LENIENT.decode(value) else { return false };
    let Some(colon) = plain.iter().position(|byte| *byte == b':') else { return false };
    let password = plain.get(colon + 1..).unwrap_or_default();
    std::str::from_utf8(&plain).is_ok_and(|text| !text.contains(char::is_control))
        && password.len() >= 4
        && is_password(password)
}

/// The least length of a password beside its word.
const SHORTEST: usize = 8;

/// From this length on, letters of both cases are random without a digit.
const LONG: usize = 16;

/// Whether a value beside its word is a password or a token, and neither a word nor the place of one.
pub(super) fn is_chosen(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| !matches!(byte, b'.' | b':' | b'?')).map_or(0, |last| last + 1);
    let value = value.get(..end).unwrap_or_default();
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let signs = has(|byte| b"!$%^*@&".contains(byte)) && !value.contains(&b'/');
    let varied = match (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic)) {
        (true, true) => signs || !names::is_name(value),
        (false, true) => {
            let random = value.len() >= LONG && is_mixed_case(value) && entropy(value) >= 3.5;
            signs || random && !names::is_name(value)
        }
        (_, false) => !value.is_ascii(),
    };
    value.len() >= SHORTEST && varied && is_password(value) && !is_sequence(value) && !is_place(value)
}

/// What begins the place of a secret, or something else that is none.
const PLACES: &[&str] = &[
    "/",
    "./",
    "../",
    "~",
    "**",
    "arn:",
    "projects/",
    "vault:",
    "vault/",
    "kv/",
    "secret/",
    "env.",
    "process.",
    "os.",
    "secrets.",
    "config.",
    "var.",
    "local.",
    "data.",
    "self.",
    "this.",
    "file:",
    "ref+",
    "ssm:",
    "git@",
    "sha256",
    "sha384",
    "sha512",
    "ssh-",
    "pkg:",
    "urn:",
    "@",
];

/// What only a place, a name or a function has.
const WITHIN: &[&str] =
    &["://", "sha256:", "abcdefghijklmnopqrstuvwxyz", "::", "=>", "->", "==", "...", "**/"];

/// What ends the name of a file.
const FILES: &[&str] = &[
    ".pem", ".key", ".json", ".yaml", ".yml", ".txt", ".md", ".rs", ".go", ".py", ".ts", ".js", ".java",
    ".html", ".sh", ".env", ".enc", ".crt", ".toml", ".xml", ".cs", ".rb", ".kt", ".php", ".svg",
];

/// Whether the value says where a secret is, or is a file, an address or a time.
fn is_place(value: &[u8]) -> bool {
    let starts = |start: &&str| {
        value.get(..start.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(start.as_bytes()))
    };
    let ends = |end: &&str| value.to_ascii_lowercase().ends_with(end.as_bytes());
    PLACES.iter().any(starts)
        || WITHIN.iter().any(|part| contains(value, part))
        || FILES.iter().any(ends)
        || is_mail(value)
        || is_time(value)
}

fn is_mail(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|byte| *byte == b'@') else { return false };
    let host = value.get(at + 1..).unwrap_or_default();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    host.contains(&b'.') && host.iter().all(plain)
}

/// `2026-11-21`, with or without a time.
fn is_time(value: &[u8]) -> bool {
    matches!(value, [a, b, c, d, b'-', e, f, b'-', ..] if [a, b, c, d, e, f].iter().all(|digit| digit.is_ascii_digit()))
}

/// What precedes digests: a value behind such a prefix is none.
const DIGESTS: &[&str] = &[
    "sha",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "md5",
    "etag",
    "hash",
    "digest",
    "commit",
    "rev",
    "checksum",
    "cache",
    "build",
    "image",
    "layer",
    "blob",
    "tree",
    "object",
    "chunk",
    "fingerprint",
    "key",
    "id",
    "version",
    "h1",
];

/// The lengths of digests in hexadecimal digits; of one more, MD5's, only a dash says that it is none.
const DIGEST_LENGTHS: &[usize] = &[40, 56, 64, 96, 128];

/// Whether the value behind a prefix and its separator, with which `before` ends, is random and not a digest.
pub(super) fn is_unlisted(before: &[u8], value: &[u8]) -> bool {
    let (separator, before) = before.split_last().map_or((b'-', before), |(last, before)| (*last, before));
    let start = before.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |sign| sign + 1);
    let prefix = before.get(start..).unwrap_or_default().to_ascii_lowercase();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hex = value.iter().all(u8::is_ascii_hexdigit);
    digits >= 2
        && digits < value.len()
        && !DIGESTS.iter().any(|digest| digest.as_bytes() == prefix)
        && !(hex && (separator == b'-' || DIGEST_LENGTHS.contains(&value.len())))
        && !is_placeholder(value)
        && !is_sequence(value)
        && !names::is_name(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_values() {
        for value in ["0a1b2c3d4e5f6a7b", "7Kq2vM9xW4zP", "AbCdXyZtQwErLmNoPiUv"] {
            assert!(is_opaque(value.as_bytes()), "{value}");
        }
        for value in
            ["abcdefgh", "12345678", "0123456789abcdef", "the-token-of-2026", "DEPLOY_TOKEN", "deadbeef"]
        {
            assert!(!is_opaque(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn passwords() {
        for value in ["hunter2", "correct-horse", "70000", "7Kq2vM9x"] {
            assert!(is_password(value.as_bytes()), "{value}");
        }
        for value in ["password", "3000", "$PASSWORD", "your-password", "DB_PASSWORD"] {
            assert!(!is_password(value.as_bytes()), "{value}");
        }
        // "deploy:7Kq2vM9xW4zP", "user:password", "Aladdin:open sesame", a value without a colon, and one that is
        // not base64.
        assert!(is_basic(b"ZGVwbG95OjdLcTJ2TTl4VzR6UA=="));
        assert!(is_basic(b"ZGVwbG95OjdLcTJ2TTl4VzR6UA"));
        for value in
            ["dXNlcjpwYXNzd29yZA==", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "authentication", "user:7Kq2vM9xW4zP"]
        {
            assert!(!is_basic(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn chosen_values() {
        for value in
            ["hunter2hunter2", "Tr0ub4dor&3", "Summer2026!", "7Kq2vM9xW4", "p@ssw0rd!", "kXvQwRtZpLmNbHjD"]
        {
            assert!(is_chosen(value.as_bytes()), "{value}");
        }
        for value in [
            "hunter2",
            "required-since-2026",
            "/etc/ssl/2026/key.pem",
            "the-name-of-a-variable",
            "2026-11-21T10:00:00Z",
            "security2@acme.example",
            "os.environ2",
            "server2026.key",
            "${SECRET_1234}",
            "password123",
            "12345678901",
            "abcdefghijklmnopqrstuvwxyz0123",
        ] {
            assert!(!is_chosen(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn unlisted_values() {
        let value = b"7Kq2vM9xW4zPb81LsDfG7Kq2vM9xW4zP";
        assert!(is_unlisted(b"acme_", value) && is_unlisted(b"acme-live-", value));
        assert!(
            !is_unlisted(b"sha512-", value) && !is_unlisted(b"acme_", b"documentationofthewholeplatform2026")
        );
        let hex = b"0fa1b2c3d4e5f60718293a4b5c6d7e8f";
        assert!(is_unlisted(b"acme_", hex) && !is_unlisted(b"acme-", hex));
        assert!(!is_unlisted(b"acme_", &[&hex[..], b"01234567"].concat()));
    }
}
