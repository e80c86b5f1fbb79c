//! Trust roots: which keys may sign, when, and on whose word.
//!
//! Trust always comes from outside the bundle. This module never opens a file; callers pass in the contents.

mod allowed_signers;
mod error;
mod key;
mod pin;
mod revoked;
mod signer_options;

pub use error::{SignerLineError, TrustError};
pub use key::{NAMESPACE, TrustedKey};
pub use revoked::{Revocation, RevokedError};

use self::pin::Pin;
use crate::key::PublicKey;

/// What a trust root says about a key at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyTrust {
    /// The key is trusted, by the entry with this label.
    Trusted(String),
    /// The entry with this label knows the key, but the key was not valid at that time.
    OutsideValidity(String),
    /// The key is in the list of revoked keys.
    Revoked(Revocation),
    /// The key is not known.
    Unknown,
}

/// By whose clock a key was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyClock {
    /// By none: nothing limits the key in time.
    #[default]
    None,
    /// By the time that the signer claims, `created_at`.
    Signer,
    /// By the time at which the verifying party received the bundle.
    Receipt,
}

/// The keys and fingerprints that the verifying party trusts, and those that it does not trust any more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustRoot {
    keys: Vec<TrustedKey>,
    pins: Vec<Pin>,
    /// The revoked keys, if there is a list of them.
    revoked: Option<Vec<Revocation>>,
    /// When the verifying party received the bundle, in Unix seconds, by its own clock.
    received_at: Option<i64>,
}

impl TrustRoot {
    /// A trust root without keys: verification against it never succeeds.
    pub fn new() -> TrustRoot {
        TrustRoot::default()
    }

    /// Trusts a key without a time limit.
    pub fn add_key(&mut self, label: impl Into<String>, key: PublicKey) {
        self.keys.push(TrustedKey { label: label.into(), key, valid_after: None, valid_before: None });
    }

    /// Trusts a key from one Unix second to another, both included.
    pub fn add_key_within(
        &mut self,
        label: impl Into<String>,
        key: PublicKey,
        valid_after: Option<i64>,
        valid_before: Option<i64>,
    ) {
        self.keys.push(TrustedKey { label: label.into(), key, valid_after, valid_before });
    }

    /// Revokes a key from this Unix second on, as a line of the list of revoked keys does.
    pub fn revoke_key(
        &mut self,
        label: impl Into<String>,
        key: &PublicKey,
        since: i64,
        why: impl Into<String>,
    ) {
        let key = Pin::KeyId(key.key_id());
        let revocation = Revocation { label: label.into(), key, since, why: why.into() };
        self.revoked.get_or_insert_default().push(revocation);
    }

    /// Trusts every key in the contents of a public key file ([`PublicKey::parse_all`]). The label names the file; with
    /// several keys, a number is added.
    ///
    /// # Errors
    /// Fails with [`TrustError::Key`] if a key cannot be used.
    pub fn add_public_keys(&mut self, label: impl Into<String>, contents: &[u8]) -> Result<(), TrustError> {
        let label = label.into();
        let keys = match PublicKey::parse_all(contents) {
            Ok(keys) => keys,
            Err(source) => return Err(TrustError::Key { label, source }),
        };
        let several = keys.len() > 1;
        for (index, key) in keys.into_iter().enumerate() {
            let label = if several { format!("{label}, key {}", index + 1) } else { label.clone() };
            self.add_key(label, key);
        }
        Ok(())
    }

    /// Trusts the keys in the contents of an allowed-signers file (ssh-keygen(1), "ALLOWED SIGNERS").
    ///
    /// Only lines with `namespaces="..."` that match [`NAMESPACE`] count; a line without that option trusts its key for
    /// other purposes and is ignored. So is a line whose list of principals matches no principal, because it names none
    /// or negates those it names. `valid-after` and `valid-before` without a final `Z` are read as UTC too, where
    /// OpenSSH takes the machine's time zone: a verdict must not depend on the machine.
    ///
    /// # Errors
    /// Fails with [`TrustError::Line`], [`TrustError::NotText`] or, if no line counts, [`TrustError::NoSigner`].
    pub fn add_allowed_signers(
        &mut self,
        label: impl Into<String>,
        contents: &[u8],
    ) -> Result<(), TrustError> {
        let keys = allowed_signers::parse(&label.into(), contents)?;
        self.keys.extend(keys);
        Ok(())
    }

    /// Pins a fingerprint: `sha256:` and the 64 hex digits of a key id, or `SHA256:` and base64 as OpenSSH shows it.
    ///
    /// # Errors
    /// Fails with [`TrustError::Fingerprint`] if the text is not a fingerprint.
    pub fn add_fingerprint(&mut self, text: &str) -> Result<(), TrustError> {
        self.pins.push(Pin::parse(text)?);
        Ok(())
    }

    /// Adds the contents of a list of revoked keys: lines `FINGERPRINT SINCE WHY`, with comments after `#`.
    ///
    /// A bundle by such a key is refused whatever time it claims: a thief dates back. Only a time of receipt before
    /// `SINCE` keeps it, see [`TrustRoot::received_at`].
    ///
    /// # Errors
    /// Fails with every problem of the list, and if it is empty.
    pub fn add_revoked_keys(
        &mut self,
        label: impl Into<String>,
        contents: &[u8],
    ) -> Result<(), RevokedError> {
        let revoked = revoked::parse(&label.into(), contents)?;
        self.revoked.get_or_insert_default().extend(revoked);
        Ok(())
    }

    /// Judges keys by the time at which the bundle was received, in Unix seconds. It must be the time of the verifying
    /// party's own clock.
    #[must_use]
    pub fn received_at(self, time: i64) -> TrustRoot {
        TrustRoot { received_at: Some(time), ..self }
    }

    /// When the bundle was received, if that time counts.
    pub(crate) fn receipt(&self) -> Option<i64> {
        self.received_at
    }

    /// How many entries the list of revoked keys has; `None` without a list.
    pub fn revoked_keys(&self) -> Option<usize> {
        self.revoked.as_ref().map(Vec::len)
    }

    /// The entry that revokes this key, if the bundle was not received before.
    pub fn revocation(&self, key: &PublicKey) -> Option<&Revocation> {
        self.revocations(key).find(|entry| self.received_at.is_none_or(|received| received >= entry.since))
    }

    fn revocations(&self, key: &PublicKey) -> impl Iterator<Item = &Revocation> {
        self.revoked.iter().flatten().filter(|entry| entry.key.matches(key))
    }

    /// By whose clock a trusted key was judged.
    pub fn clock(&self, key: &PublicKey) -> KeyClock {
        let windows = || self.keys.iter().filter(|entry| entry.key == *key);
        let unlimited =
            self.pins(key) || windows().any(|entry| entry.valid_after.or(entry.valid_before).is_none());
        match self.received_at {
            Some(_) if !unlimited || self.revocations(key).next().is_some() => KeyClock::Receipt,
            None if !unlimited => KeyClock::Signer,
            _ => KeyClock::None,
        }
    }

    /// Whether the trust root is empty: without a key or fingerprint, nothing can be authenticated.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.pins.is_empty()
    }

    /// Whether any fingerprint is pinned.
    pub fn has_fingerprints(&self) -> bool {
        !self.pins.is_empty()
    }

    /// The trusted keys, in the order in which they were added.
    pub fn keys(&self) -> &[TrustedKey] {
        &self.keys
    }

    /// Whether a pinned fingerprint matches this key.
    pub fn pins(&self, key: &PublicKey) -> bool {
        self.pins.iter().any(|pin| pin.matches(key))
    }

    /// What this trust root says about a key at a Unix second, the time that the signer claims.
    ///
    /// A key may be listed more than once with different validity windows; one that covers the time is enough. With a
    /// time of receipt, that time counts.
    pub fn judge(&self, key: &PublicKey, time: i64) -> KeyTrust {
        if let Some(entry) = self.revocation(key) {
            return KeyTrust::Revoked(entry.clone());
        }
        let time = self.received_at.unwrap_or(time);
        if let Some(pin) = self.pins.iter().find(|pin| pin.matches(key)) {
            return KeyTrust::Trusted(pin.to_string());
        }
        let entries = || self.keys.iter().filter(|entry| entry.key == *key);
        match (entries().find(|entry| entry.is_valid_at(time)), entries().next()) {
            (Some(entry), _) => KeyTrust::Trusted(entry.label.clone()),
            (None, Some(entry)) => KeyTrust::OutsideValidity(entry.label.clone()),
            (None, None) => KeyTrust::Unknown,
        }
    }
}
