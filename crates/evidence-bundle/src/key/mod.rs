//! Ed25519 keys (RFC 8032): file formats, key ids, signing and strict verification.
//!
//! Nothing here opens a file, asks for a passphrase or prints a private key.

mod pem;
#[cfg(feature = "sign")]
mod private;
mod public;

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "sign")]
pub use private::{SigningKey, is_encrypted};
pub use public::PublicKey;

/// The name of the only signature algorithm, as documents write it.
pub const ALGORITHM: &str = "Ed25519";

/// The bytes of a signature: 64 (RFC 8032, section 5.1.6).
pub const SIGNATURE_BYTES: usize = 64;

/// What a file holds instead of the expected key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An RSA key.
    Rsa,
    /// A key on an elliptic curve of NIST or SEC.
    EllipticCurve,
    /// A DSA key.
    Dsa,
    /// An Ed448 key.
    Ed448,
    /// An X25519 or X448 key, which cannot sign.
    KeyAgreement,
    /// A key in a hardware token; the file only names it.
    SecurityKey,
    /// A certificate.
    Certificate,
    /// A request for a certificate.
    CertificateRequest,
    /// A public key where a private one is needed.
    Public,
    /// A private key where a public one is needed.
    Private,
    /// Anything else.
    Other,
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::Rsa => "an RSA key",
            KeyKind::EllipticCurve => "an elliptic-curve (EC) key",
            KeyKind::Dsa => "a DSA key",
            KeyKind::Ed448 => "an Ed448 key",
            KeyKind::KeyAgreement => "a key-agreement key (X25519 or X448)",
            KeyKind::SecurityKey => "a key of a hardware security token",
            KeyKind::Certificate => "a certificate",
            KeyKind::CertificateRequest => "a certificate request",
            KeyKind::Public => "a public key",
            KeyKind::Private => "a private key",
            KeyKind::Other => "a key of an unknown kind",
        })
    }
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key is empty, or only white space.
    #[error("the key is empty")]
    Empty,
    /// The text has neither a PEM block (RFC 7468) nor an OpenSSH public key.
    #[error("not a key in PEM or OpenSSH form")]
    NotAKeyFile,
    /// The file has several keys instead of one.
    #[error("several keys where one is expected")]
    Several,
    /// The PEM block begins but never ends.
    #[error("the key is cut off: its -----END line is missing")]
    Truncated,
    /// The text between the PEM lines is not base64.
    #[error("the text between the BEGIN and END lines is not base64")]
    Encoding,
    /// The block is well formed, but its content is not.
    #[error("the key is damaged: its structure cannot be read")]
    Malformed,
    /// The file holds something other than a private Ed25519 key.
    #[error(fmt = not_private)]
    NotAnEd25519PrivateKey(KeyKind),
    /// The file holds something other than a public Ed25519 key.
    #[error(fmt = not_public)]
    NotAnEd25519PublicKey(KeyKind),
    /// The key is encrypted and no passphrase was given.
    #[error("the key is encrypted and no passphrase was given")]
    PassphraseMissing,
    /// The key is encrypted, and the passphrase is wrong.
    #[error("the passphrase does not open the key")]
    PassphraseWrong,
    /// The encryption of the key is not supported, such as PBES1 or DES.
    #[error(
        "the key is encrypted in an unsupported way (use PKCS#8 with PBES2, AES and SHA-256, or the OpenSSH format with AES)"
    )]
    UnsupportedEncryption,
    /// The public half in the file does not belong to the private half.
    #[error("the public half in the key does not belong to its private half")]
    HalvesDiffer,
    /// A public key of small order or in a form that is not canonical: signatures under it prove nothing.
    #[error("a weak key: signatures under it prove nothing")]
    Weak,
    /// The operating system provided no random bytes.
    #[error("the operating system gave no random bytes")]
    NoRandomness,
}

fn not_private(kind: &KeyKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        KeyKind::Certificate | KeyKind::CertificateRequest | KeyKind::Public => {
            write!(f, "{kind}, not the private key that signs bundles")
        }
        _ => write!(f, "{kind}; only Ed25519 keys can sign bundles"),
    }
}

fn not_public(kind: &KeyKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        KeyKind::Certificate | KeyKind::CertificateRequest => write!(f, "{kind}, not a public key"),
        KeyKind::Private => {
            f.write_str("a private key where a public key belongs; keep it secret and give its public half")
        }
        _ => write!(f, "{kind}; only Ed25519 keys can sign bundles"),
    }
}

/// The id of a public key: the SHA-256 of its DER SubjectPublicKeyInfo (RFC 8410, section 4).
///
/// The same number as `openssl pkey -pubin -in key.pub.pem -outform DER | sha256sum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 32]);

impl KeyId {
    /// The key id with this digest.
    pub fn from_digest(digest: [u8; 32]) -> KeyId {
        KeyId(digest)
    }

    /// The digest itself.
    pub fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

/// The text is not a key id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key id (sha256: and 64 lower-case hex digits)")]
pub struct NotAKeyId;

impl FromStr for KeyId {
    type Err = NotAKeyId;

    fn from_str(text: &str) -> Result<KeyId, NotAKeyId> {
        let digits = text.strip_prefix("sha256:").ok_or(NotAKeyId)?;
        crate::checksums::parse_digest(digits.as_bytes()).map(KeyId).ok_or(NotAKeyId)
    }
}

/// The kind of key that an object identifier names.
fn kind_of(oid: pkcs8::ObjectIdentifier) -> KeyKind {
    match oid.to_string().as_str() {
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => KeyKind::Rsa,
        "1.2.840.10045.2.1" => KeyKind::EllipticCurve,
        "1.2.840.10040.4.1" => KeyKind::Dsa,
        "1.3.101.113" => KeyKind::Ed448,
        "1.3.101.110" | "1.3.101.111" => KeyKind::KeyAgreement,
        _ => KeyKind::Other,
    }
}

/// Whether a word is the name of an OpenSSH algorithm, known here or not.
pub(crate) fn is_ssh_algorithm(word: &str) -> bool {
    ["ssh-", "sk-", "ecdsa-", "rsa-sha2-"].iter().any(|prefix| word.starts_with(prefix))
        && !word.contains('=')
}

/// The kind of key that an OpenSSH algorithm name denotes.
fn ssh_kind(algorithm: &str) -> KeyKind {
    if algorithm.contains("-cert-") {
        KeyKind::Certificate
    } else if algorithm.starts_with("sk-") {
        KeyKind::SecurityKey
    } else if algorithm.starts_with("ssh-rsa") || algorithm.starts_with("rsa-") {
        KeyKind::Rsa
    } else if algorithm.starts_with("ecdsa-") {
        KeyKind::EllipticCurve
    } else if algorithm.starts_with("ssh-dss") {
        KeyKind::Dsa
    } else {
        KeyKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_id_has_one_form() {
        let id = KeyId::from_digest([0xab; 32]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.digest(), &[0xab; 32]);
        for text in ["", "sha256:", "SHA256:", &"ab".repeat(32), &format!("sha256:{}", "AB".repeat(32))] {
            assert_eq!(text.parse::<KeyId>(), Err(NotAKeyId), "{text}");
        }
    }

    /// Errors name the key type that was found, so that the user does not debug the wrong thing.
    #[test]
    fn every_algorithm_has_a_name() {
        for (oid, kind) in [
            ("1.2.840.113549.1.1.1", KeyKind::Rsa),
            ("1.2.840.113549.1.1.10", KeyKind::Rsa),
            ("1.2.840.10045.2.1", KeyKind::EllipticCurve),
            ("1.2.840.10040.4.1", KeyKind::Dsa),
            ("1.3.101.113", KeyKind::Ed448),
            ("1.3.101.110", KeyKind::KeyAgreement),
            ("1.3.101.111", KeyKind::KeyAgreement),
            ("1.3.101.114", KeyKind::Other),
        ] {
            assert_eq!(kind_of(oid.parse().unwrap()), kind, "{oid}");
        }
        for (algorithm, kind) in [
            ("ssh-rsa", KeyKind::Rsa),
            ("rsa-sha2-512", KeyKind::Rsa),
            ("ssh-dss", KeyKind::Dsa),
            ("ecdsa-sha2-nistp256", KeyKind::EllipticCurve),
            ("sk-ssh-ed25519@openssh.com", KeyKind::SecurityKey),
            ("sk-ecdsa-sha2-nistp256@openssh.com", KeyKind::SecurityKey),
            ("ssh-ed25519-cert-v01@openssh.com", KeyKind::Certificate),
            ("sk-ssh-ed25519-cert-v01@openssh.com", KeyKind::Certificate),
            ("ssh-xmss@openssh.com", KeyKind::Other),
        ] {
            assert_eq!(ssh_kind(algorithm), kind, "{algorithm}");
        }
    }

    #[test]
    fn every_refusal_of_a_key_says_something_else() {
        let kinds = [
            KeyKind::Rsa,
            KeyKind::EllipticCurve,
            KeyKind::Dsa,
            KeyKind::Ed448,
            KeyKind::KeyAgreement,
            KeyKind::SecurityKey,
            KeyKind::Certificate,
            KeyKind::CertificateRequest,
            KeyKind::Public,
            KeyKind::Private,
            KeyKind::Other,
        ];
        let mut errors = vec![
            KeyError::Empty,
            KeyError::NotAKeyFile,
            KeyError::Several,
            KeyError::Truncated,
            KeyError::Encoding,
            KeyError::Malformed,
            KeyError::PassphraseMissing,
            KeyError::PassphraseWrong,
            KeyError::UnsupportedEncryption,
            KeyError::HalvesDiffer,
            KeyError::Weak,
            KeyError::NoRandomness,
        ];
        errors.extend(kinds.map(KeyError::NotAnEd25519PrivateKey));
        let said: std::collections::BTreeSet<String> = errors.iter().map(KeyError::to_string).collect();
        assert_eq!(said.len(), errors.len(), "{said:#?}");
        for kind in kinds {
            let (private, public) =
                (KeyError::NotAnEd25519PrivateKey(kind), KeyError::NotAnEd25519PublicKey(kind));
            let advice = "; only Ed25519 keys can sign bundles";
            // The advice about key types does not fit certificates, which cannot sign at all.
            let never = matches!(kind, KeyKind::Certificate | KeyKind::CertificateRequest);
            assert_eq!(private.to_string().ends_with(advice), !never && kind != KeyKind::Public, "{private}");
            assert_eq!(public.to_string().ends_with(advice), !never && kind != KeyKind::Private, "{public}");
        }
        assert!(NotAKeyId.to_string().contains("64 lower-case hex digits"));
    }
}
