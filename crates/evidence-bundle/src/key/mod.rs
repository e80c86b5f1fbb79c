//! Ed25519 keys (RFC 8032): the files they come in, their names, signing and strict verification.
//!
//! Nothing here opens a file or asks for a passphrase, and no private key is ever printed.

mod pem;
mod private;
mod public;

use std::fmt;
use std::str::FromStr;

pub use private::{SigningKey, is_encrypted};
pub use public::PublicKey;

/// The name of the only signature algorithm, as documents write it.
pub const ALGORITHM: &str = "Ed25519";

/// The bytes of a signature: 64 (RFC 8032, section 5.1.6).
pub const SIGNATURE_BYTES: usize = 64;

/// What kind of key or other thing a file holds, where it is not what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An RSA key.
    Rsa,
    /// A key on an elliptic curve of NIST or SEC.
    EllipticCurve,
    /// A DSA key.
    Dsa,
    /// An Ed448 key.
    Ed448,
    /// An X25519 or X448 key, which agrees on secrets and cannot sign.
    KeyAgreement,
    /// A key that lives in a hardware token and is only named in the file.
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Rsa => "an RSA key",
            Kind::EllipticCurve => "an elliptic-curve (EC) key",
            Kind::Dsa => "a DSA key",
            Kind::Ed448 => "an Ed448 key",
            Kind::KeyAgreement => "a key-agreement key (X25519 or X448)",
            Kind::SecurityKey => "a key of a hardware security token",
            Kind::Certificate => "a certificate",
            Kind::CertificateRequest => "a certificate request",
            Kind::Public => "a public key",
            Kind::Private => "a private key",
            Kind::Other => "a key of an unknown kind",
        })
    }
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyError {
    /// There are no bytes, or only white space.
    Empty,
    /// There is no line that begins a PEM block (RFC 7468) and no OpenSSH public key.
    NotAKeyFile,
    /// There are several keys where one is expected.
    Several,
    /// The PEM block begins but never ends.
    Truncated,
    /// The text between the PEM lines is not base64.
    Encoding,
    /// The block is well formed but its inside is not.
    Malformed,
    /// A private key was needed and the file holds something else, or a private key that is not Ed25519.
    NotAnEd25519PrivateKey(Kind),
    /// A public key was needed and the file holds something else, or a public key that is not Ed25519.
    NotAnEd25519PublicKey(Kind),
    /// The key is encrypted and no passphrase was given.
    PassphraseMissing,
    /// The key is encrypted and the passphrase does not open it.
    PassphraseWrong,
    /// The key is encrypted in a way that is not supported, such as PBES1 or DES.
    UnsupportedEncryption,
    /// The public half in the file does not belong to the private half.
    HalvesDiffer,
    /// A public key of small order or in a form that is not canonical: signatures under it prove nothing.
    Weak,
    /// The operating system gave no random bytes.
    NoRandomness,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Empty => f.write_str("the key is empty"),
            KeyError::NotAKeyFile => f.write_str("not a key in PEM or OpenSSH form"),
            KeyError::Several => f.write_str("several keys where one is expected"),
            KeyError::Truncated => f.write_str("the key is cut off: its -----END line is missing"),
            KeyError::Encoding => f.write_str("the text between the BEGIN and END lines is not base64"),
            KeyError::Malformed => f.write_str("the key is damaged: its structure cannot be read"),
            KeyError::NotAnEd25519PrivateKey(kind @ (Kind::Certificate | Kind::CertificateRequest | Kind::Public)) => {
                write!(f, "{kind}, not the private key that signs bundles")
            }
            KeyError::NotAnEd25519PrivateKey(kind) => write!(f, "{kind}; only Ed25519 keys can sign bundles"),
            KeyError::NotAnEd25519PublicKey(kind @ (Kind::Certificate | Kind::CertificateRequest)) => {
                write!(f, "{kind}, not a public key")
            }
            KeyError::NotAnEd25519PublicKey(Kind::Private) => {
                f.write_str("a private key where a public key belongs; keep it secret and give its public half")
            }
            KeyError::NotAnEd25519PublicKey(kind) => write!(f, "{kind}; only Ed25519 keys can sign bundles"),
            KeyError::PassphraseMissing => f.write_str("the key is encrypted and no passphrase was given"),
            KeyError::PassphraseWrong => f.write_str("the passphrase does not open the key"),
            KeyError::UnsupportedEncryption => f.write_str(
                "the key is encrypted in an unsupported way (use PKCS#8 with PBES2, AES and SHA-256, or the OpenSSH format with AES)",
            ),
            KeyError::HalvesDiffer => f.write_str("the public half in the key does not belong to its private half"),
            KeyError::Weak => f.write_str("a weak key: signatures under it prove nothing"),
            KeyError::NoRandomness => f.write_str("the operating system gave no random bytes"),
        }
    }
}

impl std::error::Error for KeyError {}

/// The name of a public key: the SHA-256 of its DER SubjectPublicKeyInfo (RFC 8410, section 4).
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAKeyId;

impl fmt::Display for NotAKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a key id (sha256: and 64 lower-case hex digits)")
    }
}

impl std::error::Error for NotAKeyId {}

impl FromStr for KeyId {
    type Err = NotAKeyId;

    fn from_str(text: &str) -> Result<KeyId, NotAKeyId> {
        let digits = text.strip_prefix("sha256:").ok_or(NotAKeyId)?;
        crate::checksums::parse_digest(digits.as_bytes()).map(KeyId).ok_or(NotAKeyId)
    }
}

/// The kind of key that an algorithm's object identifier names.
fn kind_of(oid: pkcs8::ObjectIdentifier) -> Kind {
    match oid.to_string().as_str() {
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => Kind::Rsa,
        "1.2.840.10045.2.1" => Kind::EllipticCurve,
        "1.2.840.10040.4.1" => Kind::Dsa,
        "1.3.101.113" => Kind::Ed448,
        "1.3.101.110" | "1.3.101.111" => Kind::KeyAgreement,
        _ => Kind::Other,
    }
}

/// Whether a word is the name of an OpenSSH algorithm, known here or not.
pub(crate) fn is_ssh_algorithm(word: &str) -> bool {
    ["ssh-", "sk-", "ecdsa-", "rsa-sha2-"].iter().any(|prefix| word.starts_with(prefix))
        && !word.contains('=')
}

/// The kind of key that an OpenSSH algorithm name means.
fn ssh_kind(algorithm: &str) -> Kind {
    if algorithm.contains("-cert-") {
        Kind::Certificate
    } else if algorithm.starts_with("sk-") {
        Kind::SecurityKey
    } else if algorithm.starts_with("ssh-rsa") || algorithm.starts_with("rsa-") {
        Kind::Rsa
    } else if algorithm.starts_with("ecdsa-") {
        Kind::EllipticCurve
    } else if algorithm.starts_with("ssh-dss") {
        Kind::Dsa
    } else {
        Kind::Other
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

    /// What is no Ed25519 key is told by its name, or the user looks for the fault in the wrong place.
    #[test]
    fn every_algorithm_has_a_name() {
        for (oid, kind) in [
            ("1.2.840.113549.1.1.1", Kind::Rsa),
            ("1.2.840.113549.1.1.10", Kind::Rsa),
            ("1.2.840.10045.2.1", Kind::EllipticCurve),
            ("1.2.840.10040.4.1", Kind::Dsa),
            ("1.3.101.113", Kind::Ed448),
            ("1.3.101.110", Kind::KeyAgreement),
            ("1.3.101.111", Kind::KeyAgreement),
            ("1.3.101.114", Kind::Other),
        ] {
            assert_eq!(kind_of(oid.parse().unwrap()), kind, "{oid}");
        }
        for (algorithm, kind) in [
            ("ssh-rsa", Kind::Rsa),
            ("rsa-sha2-512", Kind::Rsa),
            ("ssh-dss", Kind::Dsa),
            ("ecdsa-sha2-nistp256", Kind::EllipticCurve),
            ("sk-ssh-ed25519@openssh.com", Kind::SecurityKey),
            ("sk-ecdsa-sha2-nistp256@openssh.com", Kind::SecurityKey),
            ("ssh-ed25519-cert-v01@openssh.com", Kind::Certificate),
            ("sk-ssh-ed25519-cert-v01@openssh.com", Kind::Certificate),
            ("ssh-xmss@openssh.com", Kind::Other),
        ] {
            assert_eq!(ssh_kind(algorithm), kind, "{algorithm}");
        }
    }

    #[test]
    fn every_refusal_of_a_key_says_something_else() {
        let kinds = [
            Kind::Rsa,
            Kind::EllipticCurve,
            Kind::Dsa,
            Kind::Ed448,
            Kind::KeyAgreement,
            Kind::SecurityKey,
            Kind::Certificate,
            Kind::CertificateRequest,
            Kind::Public,
            Kind::Private,
            Kind::Other,
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
            // What could never sign is not told that another kind of it could.
            let never = matches!(kind, Kind::Certificate | Kind::CertificateRequest);
            assert_eq!(private.to_string().ends_with(advice), !never && kind != Kind::Public, "{private}");
            assert_eq!(public.to_string().ends_with(advice), !never && kind != Kind::Private, "{public}");
        }
        assert!(NotAKeyId.to_string().contains("64 lower-case hex digits"));
    }
}
