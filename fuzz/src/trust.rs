//! Any text as a trust root or key: never a panic, and a parsed key prints back to itself in every form.

use evidence_bundle::trust::KeyTrust;
use evidence_bundle::{PublicKey, SigningKey, TrustRoot};

pub fn run(text: &[u8]) -> bool {
    let public = PublicKey::parse_all(text);
    public.iter().flatten().for_each(same);
    assert_eq!(
        PublicKey::parse(text).ok(),
        public.as_deref().ok().and_then(|keys| match keys {
            [key] => Some(*key),
            _ => None,
        })
    );
    let private = SigningKey::from_bytes_any(text, None);
    if let Ok(key) = &private {
        let pem = key.to_pkcs8_v1_pem().unwrap();
        let again = SigningKey::from_bytes_any(pem.as_bytes(), None).unwrap();
        assert_eq!(again.public_key(), key.public_key());
        let signature = key.sign(text);
        assert!(key.public_key().verifies(text, &signature));
        same(&key.public_key());
    }
    let mut trust = TrustRoot::new();
    let signers = trust.add_allowed_signers("signers", text);
    assert_eq!(signers.is_ok(), !trust.is_empty());
    for entry in trust.keys() {
        same(&entry.key);
        let inside = entry.valid_after.or(entry.valid_before.map(|before| before - 1)).unwrap_or(0);
        assert!(matches!(trust.judge(&entry.key, inside), KeyTrust::Trusted(_)));
        assert!(entry.valid_after.zip(entry.valid_before).is_none_or(|(after, before)| after < before));
    }
    let mut pinned = TrustRoot::new();
    let pin = std::str::from_utf8(text).is_ok_and(|text| pinned.add_fingerprint(text.trim_end()).is_ok());
    assert_eq!(pin, pinned.has_fingerprints());
    public.is_ok() || private.is_ok() || signers.is_ok() || pin
}

fn same(key: &PublicKey) {
    assert_eq!(PublicKey::parse(key.to_spki_pem().as_bytes()).as_ref().ok(), Some(key));
    assert_eq!(PublicKey::parse(key.to_openssh().as_bytes()).as_ref().ok(), Some(key));
    assert_eq!(PublicKey::from_spki_der(&key.to_spki_der()).as_ref().ok(), Some(key));
    for fingerprint in [key.key_id().to_string(), key.ssh_fingerprint()] {
        let mut trust = TrustRoot::new();
        trust.add_fingerprint(&fingerprint).unwrap();
        assert!(trust.pins(key));
    }
}
