//! PEM blocks (RFC 7468), lenient about white space because keys travel through secret stores.
//!
//! The content of a block is opaque here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::error::KeyError;
use super::kind::KeyKind;

/// A block of a PEM text.
pub(super) struct Block<'a> {
    /// The label after `BEGIN`, such as `PRIVATE KEY`.
    pub(super) label: &'a str,
    body: &'a str,
}

const BEGIN: &str = "-----BEGIN ";
const DASHES: &str = "-----";

/// The text of a key file. An empty file has its own error.
pub(super) fn text(bytes: &[u8]) -> Result<&str, KeyError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(KeyError::Empty);
    }
    std::str::from_utf8(bytes).map_err(|_| KeyError::NotAKeyFile)
}

impl Block<'_> {
    /// The first block of the text, whatever precedes or follows it.
    #[cfg(feature = "sign")]
    pub(super) fn find(bytes: &[u8]) -> Result<Block<'_>, KeyError> {
        match Block::next(text(bytes)?)? {
            Some((_, block, _)) => Ok(block),
            None => Err(KeyError::NotAKeyFile),
        }
    }

    /// The text before the first block, the block, and the text after it. `None` if there is no block.
    pub(super) fn next(text: &str) -> Result<Option<(&str, Block<'_>, &str)>, KeyError> {
        let Some((before, rest)) = text.split_once(BEGIN) else { return Ok(None) };
        let (label, rest) = rest.split_once(DASHES).ok_or(KeyError::Truncated)?;
        if label.contains(['\n', '\r']) {
            return Err(KeyError::Truncated);
        }
        let (body, end) = rest.split_once("-----END ").ok_or(KeyError::Truncated)?;
        let (end_label, after) = end.split_once(DASHES).ok_or(KeyError::Truncated)?;
        if end_label == label {
            Ok(Some((before, Block { label, body }, after)))
        } else {
            Err(KeyError::Malformed)
        }
    }

    /// The bytes inside the block.
    pub(super) fn decode(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut compact = Zeroizing::new(Vec::with_capacity(self.body.len()));
        compact.extend(self.body.bytes().filter(|byte| !byte.is_ascii_whitespace()));
        STANDARD.decode(&*compact).map(Zeroizing::new).map_err(|_| KeyError::Encoding)
    }

    /// The kind of content that the label names, unless it is a general key format.
    pub(super) fn special_kind(&self) -> Option<KeyKind> {
        match self.label {
            "RSA PRIVATE KEY" | "RSA PUBLIC KEY" => Some(KeyKind::Rsa),
            "EC PRIVATE KEY" | "EC PARAMETERS" => Some(KeyKind::EllipticCurve),
            "DSA PRIVATE KEY" | "DSA PARAMETERS" => Some(KeyKind::Dsa),
            "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" | "PKCS7" => {
                Some(KeyKind::Certificate)
            }
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => Some(KeyKind::CertificateRequest),
            _ => None,
        }
    }
}

/// Wraps base64 into a PEM block with lines of 64 characters.
pub(super) fn encode(label: &str, bytes: &[u8]) -> Zeroizing<String> {
    let body = Zeroizing::new(STANDARD.encode(bytes));
    let mut text = Zeroizing::new(String::with_capacity(body.len() + 2 * label.len() + 64));
    text.push_str(BEGIN);
    text.push_str(label);
    text.push_str(DASHES);
    for (position, character) in body.chars().enumerate() {
        if position % 64 == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push_str("\n-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_of_another_thing_is_known() {
        for (label, kind) in [
            ("RSA PRIVATE KEY", Some(KeyKind::Rsa)),
            ("RSA PUBLIC KEY", Some(KeyKind::Rsa)),
            ("EC PRIVATE KEY", Some(KeyKind::EllipticCurve)),
            ("EC PARAMETERS", Some(KeyKind::EllipticCurve)),
            ("DSA PRIVATE KEY", Some(KeyKind::Dsa)),
            ("DSA PARAMETERS", Some(KeyKind::Dsa)),
            ("CERTIFICATE", Some(KeyKind::Certificate)),
            ("X509 CERTIFICATE", Some(KeyKind::Certificate)),
            ("TRUSTED CERTIFICATE", Some(KeyKind::Certificate)),
            ("PKCS7", Some(KeyKind::Certificate)),
            ("CERTIFICATE REQUEST", Some(KeyKind::CertificateRequest)),
            ("NEW CERTIFICATE REQUEST", Some(KeyKind::CertificateRequest)),
            ("PRIVATE KEY", None),
            ("PUBLIC KEY", None),
            ("ENCRYPTED PRIVATE KEY", None),
            ("OPENSSH PRIVATE KEY", None),
        ] {
            let text = encode(label, b"inside");
            assert_eq!(Block::find(text.as_bytes()).unwrap().special_kind(), kind, "{label}");
        }
    }

    /// RFC 7468, section 2: every line but the last has 64 characters.
    #[test]
    fn every_length_reads_back_from_lines_of_64() {
        for length in 0..200 {
            let bytes = vec![0xa5; length];
            let text = encode("PRIVATE KEY", &bytes);
            assert_eq!(*Block::find(text.as_bytes()).unwrap().decode().unwrap(), bytes);
            let lines: Vec<&str> = text.lines().collect();
            let body = &lines[1..lines.len() - 1];
            assert_eq!(body.len(), length.div_ceil(48), "{text:?}", text = *text);
            assert!(body.iter().rev().skip(1).all(|line| line.len() == 64), "{text:?}", text = *text);
            assert!(text.ends_with("\n-----END PRIVATE KEY-----\n"));
        }
    }
}
