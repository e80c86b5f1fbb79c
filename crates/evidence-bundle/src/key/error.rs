//! Why a key cannot be used.

use std::fmt;

use super::kind::KeyKind;

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

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
