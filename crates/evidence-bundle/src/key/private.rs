//! The private half: read from every common form, written as PKCS#8 version 1.

use std::fmt;

use ed25519_dalek::Signer as _;
use pkcs8::der::{Decode as _, ErrorKind, Tag};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use zeroize::Zeroizing;

use super::error::KeyError;
use super::kind::{KeyKind, kind_of, ssh_kind};
use super::pem::{self, Block};
use super::public::{PublicKey, SIGNATURE_BYTES};

/// The DER of a version 1 private key up to its 32 key bytes (RFC 8410, section 7): there is only one form.
const PKCS8_V1_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// Tag and length of the OCTET STRING inside the OCTET STRING that is the key (RFC 8410, section 7).
const INNER_PREFIX: [u8; 2] = [0x04, 0x20];

/// A private Ed25519 key. Its bytes are zeroized when it is dropped, and `Debug` shows only the key id.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, private half redacted)", self.public_key().key_id())
    }
}

impl SigningKey {
    /// Generates a key from the operating system's random bytes.
    ///
    /// # Errors
    /// Fails with [`KeyError::NoRandomness`] if there are none.
    pub fn generate() -> Result<SigningKey, KeyError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|_| KeyError::NoRandomness)?;
        Ok(SigningKey::from_seed(&seed))
    }

    /// The key with this seed, the "private key" of RFC 8032, section 5.1.5.
    pub fn from_seed(seed: &[u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// Reads a private key from the contents of a key file: PKCS#8 PEM version 1 or 2 (RFC 5958, RFC 8410), encrypted
    /// PKCS#8 (PBES2, RFC 8018), or the OpenSSH format, plain or encrypted.
    ///
    /// A passphrase for a key that is not encrypted is ignored.
    ///
    /// # Errors
    /// Fails with a [`KeyError`] that describes what the file holds instead, and never quotes its bytes.
    pub fn from_bytes_any(pem: &[u8], passphrase: Option<&[u8]>) -> Result<SigningKey, KeyError> {
        if let Some(algorithm) = openssh_public_algorithm(pem) {
            let kind = match ssh_kind(algorithm) {
                KeyKind::Other => KeyKind::Public,
                kind => kind,
            };
            return Err(KeyError::NotAnEd25519PrivateKey(kind));
        }
        let block = Block::find(pem)?;
        if let Some(kind) = block.special_kind() {
            return Err(KeyError::NotAnEd25519PrivateKey(kind));
        }
        match block.label {
            "PRIVATE KEY" => from_pkcs8(&block.decode()?),
            "ENCRYPTED PRIVATE KEY" => from_encrypted_pkcs8(&block.decode()?, passphrase),
            "OPENSSH PRIVATE KEY" => from_openssh(&block.decode()?, passphrase),
            "PUBLIC KEY" => Err(KeyError::NotAnEd25519PrivateKey(KeyKind::Public)),
            _ => Err(KeyError::NotAnEd25519PrivateKey(KeyKind::Other)),
        }
    }

    /// The key as PKCS#8 version 1 PEM (RFC 8410, section 7).
    ///
    /// Version 1 because OpenSSL 3.0 cannot read version 2, which carries the public half too.
    ///
    /// # Errors
    /// Has no failure at present; a different encoder may have.
    pub fn to_pkcs8_v1_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        let mut der = Zeroizing::new(Vec::with_capacity(PKCS8_V1_PREFIX.len() + self.0.as_bytes().len()));
        der.extend_from_slice(&PKCS8_V1_PREFIX);
        der.extend_from_slice(self.0.as_bytes());
        Ok(pem::encode("PRIVATE KEY", &der))
    }

    /// The seed that the key derives from, to search for it where it must not be.
    pub fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public half.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of(self.0.verifying_key())
    }

    /// The pure Ed25519 signature over the message (RFC 8032, section 5.1.6).
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message).to_bytes()
    }
}

/// Whether the contents of a key file need a passphrase. `false` for an unreadable file.
pub fn is_encrypted(pem: &[u8]) -> bool {
    matches!(SigningKey::from_bytes_any(pem, None), Err(KeyError::PassphraseMissing))
}

fn openssh_public_algorithm(text: &[u8]) -> Option<&str> {
    let word = std::str::from_utf8(text).ok()?.split_ascii_whitespace().next()?;
    ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| word.starts_with(prefix)).then_some(word)
}

fn from_pkcs8(der: &[u8]) -> Result<SigningKey, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| KeyError::Malformed)?;
    if info.algorithm.oid != ed25519_dalek::pkcs8::ALGORITHM_OID {
        return Err(KeyError::NotAnEd25519PrivateKey(kind_of(info.algorithm.oid)));
    }
    // Not ed25519's `KeypairBytes`, which leaves the key in memory unless an optional feature is on.
    let inner = info.private_key.as_bytes().strip_prefix(&INNER_PREFIX).ok_or(KeyError::Malformed)?;
    let seed: &[u8; 32] = inner.try_into().map_err(|_| KeyError::Malformed)?;
    if info.algorithm.parameters.is_some() {
        return Err(KeyError::Malformed);
    }
    let key = SigningKey::from_seed(seed);
    match info.public_key {
        Some(public) if public.as_bytes() != Some(key.public_key().as_bytes().as_slice()) => {
            Err(KeyError::HalvesDiffer)
        }
        _ => Ok(key),
    }
}

fn from_encrypted_pkcs8(der: &[u8], passphrase: Option<&[u8]>) -> Result<SigningKey, KeyError> {
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|error| match error.kind() {
        // The decoder reports unsupported schemes this way, such as the PKCS#12 kinds of older openssl.
        ErrorKind::OidUnknown { .. } | ErrorKind::Value { tag: Tag::ObjectIdentifier } => {
            KeyError::UnsupportedEncryption
        }
        _ => KeyError::Malformed,
    })?;
    let passphrase = passphrase.ok_or(KeyError::PassphraseMissing)?;
    let plain = info.decrypt(passphrase).map_err(|error| match error {
        pkcs8::Error::EncryptedPrivateKey(pkcs8::pkcs5::Error::DecryptFailed) => KeyError::PassphraseWrong,
        pkcs8::Error::EncryptedPrivateKey(_) => KeyError::UnsupportedEncryption,
        // One wrong passphrase in 256 yields plausible padding around bytes that are not a key.
        _ => KeyError::PassphraseWrong,
    })?;
    from_pkcs8(plain.as_bytes()).map_err(|error| match error {
        KeyError::Malformed => KeyError::PassphraseWrong,
        error => error,
    })
}

fn from_openssh(bytes: &[u8], passphrase: Option<&[u8]>) -> Result<SigningKey, KeyError> {
    let key = ssh_key::PrivateKey::from_bytes(bytes).map_err(|error| match error {
        ssh_key::Error::AlgorithmUnknown | ssh_key::Error::AlgorithmUnsupported { .. } => {
            KeyError::NotAnEd25519PrivateKey(KeyKind::Other)
        }
        _ => KeyError::Malformed,
    })?;
    // The public half is readable in an encrypted file too: do not ask for the passphrase of an unusable key.
    if key.algorithm() != ssh_key::Algorithm::Ed25519 {
        return Err(KeyError::NotAnEd25519PrivateKey(ssh_kind(key.algorithm().as_str())));
    }
    let key = if key.is_encrypted() {
        // The library is built without this cipher, and reports it like a wrong passphrase.
        if key.cipher() == ssh_key::Cipher::TDesCbc {
            return Err(KeyError::UnsupportedEncryption);
        }
        let passphrase = passphrase.ok_or(KeyError::PassphraseMissing)?;
        key.decrypt(passphrase).map_err(|_| KeyError::PassphraseWrong)?
    } else {
        key
    };
    let pair = key.key_data().ed25519().ok_or(KeyError::Malformed)?;
    let seed = Zeroizing::new(pair.private.to_bytes());
    let signing = SigningKey::from_seed(&seed);
    if signing.public_key().as_bytes() == &pair.public.0 { Ok(signing) } else { Err(KeyError::HalvesDiffer) }
}
