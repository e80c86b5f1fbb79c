//! The kinds of keys, and the names by which files call them.

use std::fmt;

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

/// The kind of key that an object identifier names.
pub(super) fn kind_of(oid: pkcs8::ObjectIdentifier) -> KeyKind {
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
pub(super) fn ssh_kind(algorithm: &str) -> KeyKind {
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
}
