//! Any text as trust root or key: never a panic.
#![no_main]

use evidence_bundle::{PublicKey, SigningKey, TrustRoot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    _ = TrustRoot::new().add_allowed_signers("fuzz", text);
    _ = PublicKey::parse(text);
    _ = SigningKey::from_bytes_any(text, None);
});
