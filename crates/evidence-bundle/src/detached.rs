//! A signature in a separate file, over the bytes of the finished archive, for machines without the tools to check the
//! signature inside: OpenSSH's SSHSIG, which `ssh-keygen -Y verify` checks on macOS and Windows too.
//!
//! It proves that the holder of the key made this file, and nothing about its content. What OpenSSH signs begins with
//! the bytes `SSHSIG`, and a list of checksums never does, so neither signature can pass for the other.

use std::io::{self, Write};

use evidence_text::saturating_u32;
use sha2::digest::Update;
use sha2::{Digest as _, Sha512};
use ssh_key::public::{Ed25519PublicKey, KeyData};
use ssh_key::{Algorithm, HashAlg, LineEnding, Signature, SshSig};

use crate::key::SigningKey;
use crate::trust::NAMESPACE;

/// The suffix that turns the name of the archive into that of its signature.
pub const SUFFIX: &str = ".sig";

/// Hashes the bytes of the archive, in portions of any size.
#[derive(Debug, Default, Clone)]
pub struct ArchiveDigest(Sha512);

impl ArchiveDigest {
    /// Signs the bytes so far. Returns the content of the signature file, as `ssh-keygen -Y sign -n evidence-bundle`
    /// writes it.
    ///
    /// # Errors
    /// Fails if the encoder does, which writes into memory and has no failure at present.
    pub fn sign(self, key: &SigningKey) -> Result<String, DetachedError> {
        let signature = key.sign(&signed(&self.0.finalize()));
        let public = KeyData::Ed25519(Ed25519PublicKey(*key.public_key().as_bytes()));
        let encoded = Signature::new(Algorithm::Ed25519, signature)
            .and_then(|signature| SshSig::new(public, NAMESPACE, HashAlg::Sha512, signature))
            .and_then(|signature| signature.to_pem(LineEnding::LF));
        encoded.map_err(DetachedError)
    }
}

impl Update for ArchiveDigest {
    fn update(&mut self, bytes: &[u8]) {
        Update::update(&mut self.0, bytes);
    }
}

impl Write for ArchiveDigest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The signature could not be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the detached signature could not be encoded: {0}")]
pub struct DetachedError(ssh_key::Error);

/// The signed data for a message with this digest (PROTOCOL.sshsig of OpenSSH, "Signed Data"). The library needs the
/// whole message in memory, and an archive may be larger than that.
fn signed(digest: &[u8]) -> Vec<u8> {
    let mut blob = b"SSHSIG".to_vec();
    // The empty field is reserved.
    for text in [NAMESPACE.as_bytes(), b"", b"sha512", digest] {
        blob.extend_from_slice(&saturating_u32(text.len()).to_be_bytes());
        blob.extend_from_slice(text);
    }
    blob
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_seed(&[7; 32])
    }

    fn sign(portions: &[&[u8]]) -> String {
        let mut digest = ArchiveDigest::default();
        portions.iter().for_each(|portion| digest.write_all(portion).unwrap());
        digest.sign(&key()).unwrap()
    }

    /// The library, which knows the format but only whole messages, accepts it.
    #[test]
    fn the_signature_is_the_one_of_openssh() {
        let message = b"the bytes of an archive";
        let text = sign(&[message]);
        let signature = SshSig::from_pem(&text).unwrap();
        assert_eq!((signature.namespace(), signature.hash_alg()), ("evidence-bundle", HashAlg::Sha512));
        let public = ssh_key::PublicKey::from_openssh(&key().public_key().to_openssh()).unwrap();
        assert_eq!(signature.public_key(), public.key_data());
        let public = ed25519_dalek::VerifyingKey::from_bytes(key().public_key().as_bytes()).unwrap();
        let bytes = ed25519_dalek::Signature::from_slice(signature.signature_bytes()).unwrap();
        let verify = |namespace, message| {
            let data = SshSig::signed_data(namespace, HashAlg::Sha512, message).unwrap();
            public.verify_strict(&data, &bytes)
        };
        assert!(verify("evidence-bundle", message).is_ok());
        assert!(verify("evidence-bundle", b"other bytes").is_err());
        assert!(verify("file", message).is_err());
        assert!(text.starts_with("-----BEGIN SSH SIGNATURE-----\n") && text.ends_with("\n"));
    }

    #[test]
    fn portions_do_not_matter() {
        assert_eq!(sign(&[b"a", b"", b"bc"]), sign(&[b"abc"]));
    }
}
