//! Any file: never a panic, never accepted, never more than the limits.
#![no_main]

use evidence_bundle::{Expectations, Limits, SigningKey, TrustRoot, UntrustedBundle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bundle: &[u8]| {
    let limits = Limits { inflated_bytes: 1 << 22, ..Limits::DEFAULT };
    let mut trust = TrustRoot::new();
    assert!(UntrustedBundle::new(bundle).verify(&trust, &Expectations::default(), &limits).is_err());
    // Nobody has the private half of this key: a fuzzer must not find a signature.
    trust.add_key("fuzz", SigningKey::from_seed(&[7; 32]).public_key());
    assert!(UntrustedBundle::new(bundle).verify(&trust, &Expectations::default(), &limits).is_err());
});
