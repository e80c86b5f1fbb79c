//! The public half: its formats, ids and strict verification.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use pkcs8::der::Decode as _;
use pkcs8::spki::SubjectPublicKeyInfoRef;
use sha2::{Digest as _, Sha256};

use super::error::KeyError;
use super::id::KeyId;
use super::kind::{KeyKind, is_ssh_algorithm, kind_of, ssh_kind};
use super::pem::{self, Block};

/// The name of the only signature algorithm, as documents write it.
pub const ALGORITHM: &str = "Ed25519";

/// The bytes of a signature: 64 (RFC 8032, section 5.1.6).
pub const SIGNATURE_BYTES: usize = 64;

/// The DER of an Ed25519 SubjectPublicKeyInfo up to its 32 key bytes (RFC 8410, section 4): there is only one form.
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The bytes of an OpenSSH public key before its 32 key bytes (RFC 8709, section 4).
const SSH_PREFIX: [u8; 19] = *b"\0\0\0\x0bssh-ed25519\0\0\0\x20";
const SSH_ALGORITHM: &str = "ssh-ed25519";

/// A public Ed25519 key that is fit for strict verification: canonical and not of small order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.key_id())
    }
}

impl PublicKey {
    #[cfg(feature = "sign")]
    pub(super) fn of(key: ed25519_dalek::VerifyingKey) -> PublicKey {
        PublicKey(key)
    }

    /// The key with these 32 bytes (RFC 8032, section 5.1.2).
    ///
    /// # Errors
    /// Fails with [`KeyError::Malformed`] if the bytes are not a point of the curve, and with [`KeyError::Weak`] if the
    /// point has a small order or the bytes are not canonical.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, KeyError> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Malformed)?;
        // Decompression accepts y coordinates beyond the field's prime; two encodings would be two key ids.
        if key.is_weak() || key.to_edwards().compress().as_bytes() != bytes {
            return Err(KeyError::Weak);
        }
        Ok(PublicKey(key))
    }

    /// Reads the one public key in the contents of a file, in a form that [`PublicKey::parse_all`] knows.
    ///
    /// # Errors
    /// Fails like [`PublicKey::parse_all`], and with [`KeyError::Several`] if there is more than one key.
    pub fn parse(text: &[u8]) -> Result<PublicKey, KeyError> {
        match PublicKey::parse_all(text)?.as_slice() {
            [key] => Ok(*key),
            _ => Err(KeyError::Several),
        }
    }

    /// Reads every public key in the contents of a file, at least one: blocks of PEM SubjectPublicKeyInfo (RFC 7468,
    /// section 13) and OpenSSH lines (RFC 4253, section 6.6), in any order.
    ///
    /// Lines that begin with `#` are comments. Text around a block explains it (RFC 7468, section 2) and is skipped; in
    /// a file without any block, every line must be a key.
    ///
    /// # Errors
    /// Fails with a [`KeyError`] that describes what the text holds instead. One unusable key makes the file unusable:
    /// skipping it would silently change who is trusted.
    pub fn parse_all(text: &[u8]) -> Result<Vec<PublicKey>, KeyError> {
        let mut keys = Vec::new();
        let mut rest = pem::text(text)?;
        let mut explains = false;
        while let Some((before, block, after)) = Block::next(rest)? {
            explains = true;
            from_lines(before, explains, &mut keys)?;
            keys.push(PublicKey::from_block(&block)?);
            rest = after;
        }
        from_lines(rest, explains, &mut keys)?;
        if keys.is_empty() { Err(KeyError::NotAKeyFile) } else { Ok(keys) }
    }

    fn from_block(block: &Block<'_>) -> Result<PublicKey, KeyError> {
        match (block.special_kind(), block.label) {
            (_, label) if label.ends_with("PRIVATE KEY") => {
                Err(KeyError::NotAnEd25519PublicKey(KeyKind::Private))
            }
            (Some(kind), _) => Err(KeyError::NotAnEd25519PublicKey(kind)),
            (None, "PUBLIC KEY") => PublicKey::from_spki_der(&block.decode()?),
            (None, _) => Err(KeyError::NotAnEd25519PublicKey(KeyKind::Other)),
        }
    }

    /// Reads the two words of an OpenSSH public key, the algorithm and the base64 of the key.
    ///
    /// # Errors
    /// Fails with [`KeyError::NotAnEd25519PublicKey`] for another algorithm, [`KeyError::Malformed`] or
    /// [`KeyError::Weak`].
    pub fn from_openssh_words(algorithm: &str, encoded: &str) -> Result<PublicKey, KeyError> {
        if algorithm != SSH_ALGORITHM {
            return Err(match ssh_kind(algorithm) {
                KeyKind::Other => KeyError::NotAKeyFile,
                kind => KeyError::NotAnEd25519PublicKey(kind),
            });
        }
        let blob = STANDARD.decode(encoded).map_err(|_| KeyError::Encoding)?;
        let bytes = blob.strip_prefix(&SSH_PREFIX).and_then(|rest| rest.try_into().ok());
        PublicKey::from_bytes(bytes.ok_or(KeyError::Malformed)?)
    }

    /// Reads the DER of a SubjectPublicKeyInfo (RFC 8410, section 4).
    ///
    /// # Errors
    /// Fails with [`KeyError::NotAnEd25519PublicKey`] for another algorithm, [`KeyError::Malformed`] or
    /// [`KeyError::Weak`].
    pub fn from_spki_der(der: &[u8]) -> Result<PublicKey, KeyError> {
        match der.strip_prefix(&SPKI_PREFIX).and_then(|rest| rest.try_into().ok()) {
            Some(bytes) => PublicKey::from_bytes(bytes),
            None => {
                let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| KeyError::Malformed)?;
                if info.algorithm.oid == ed25519_dalek::pkcs8::ALGORITHM_OID {
                    return Err(KeyError::Malformed);
                }
                Err(KeyError::NotAnEd25519PublicKey(kind_of(info.algorithm.oid)))
            }
        }
    }

    /// The 32 bytes of the key (RFC 8032, section 5.1.5).
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The DER of the SubjectPublicKeyInfo, 44 bytes (RFC 8410, section 4).
    pub fn to_spki_der(&self) -> Vec<u8> {
        [SPKI_PREFIX.as_slice(), self.as_bytes()].concat()
    }

    /// The key as PEM, readable by `openssl pkey -pubin`.
    pub fn to_spki_pem(&self) -> String {
        pem::encode("PUBLIC KEY", &self.to_spki_der()).to_string()
    }

    /// The base64 of the DER, as the manifest's `signer.public_key` holds it.
    pub fn to_spki_base64(&self) -> String {
        STANDARD.encode(self.to_spki_der())
    }

    /// The key as one OpenSSH line without comment and without line end.
    pub fn to_openssh(&self) -> String {
        format!("{SSH_ALGORITHM} {}", STANDARD.encode(self.ssh_blob()))
    }

    /// The key id that bundles use.
    pub fn key_id(&self) -> KeyId {
        KeyId::from_digest(Sha256::digest(self.to_spki_der()).into())
    }

    /// The fingerprint that `ssh-keygen -l` shows, `SHA256:` and unpadded base64.
    pub fn ssh_fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(self.ssh_blob())))
    }

    /// Whether this is the key's signature over the message, by strict rules.
    ///
    /// The scalar must be canonical, and neither the key nor the signature's point may have a small order (RFC
    /// 8032, section 5.1.7, without the cofactor), so that one signature never fits two messages.
    pub fn verifies(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.0.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }

    fn ssh_blob(&self) -> Vec<u8> {
        [SSH_PREFIX.as_slice(), self.as_bytes()].concat()
    }
}

/// Adds the keys of OpenSSH lines. Skips other lines if they explain a block.
fn from_lines(text: &str, explains: bool, keys: &mut Vec<PublicKey>) -> Result<(), KeyError> {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some(algorithm), Some(encoded)) if is_ssh_algorithm(algorithm) => {
                keys.push(PublicKey::from_openssh_words(algorithm, encoded)?);
            }
            _ if explains => {}
            _ => return Err(KeyError::NotAKeyFile),
        }
    }
    Ok(())
}
