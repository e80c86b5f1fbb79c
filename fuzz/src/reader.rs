//! Any file, and any archive inside a valid gzip frame: never a panic, never accepted, never a read error.

use std::io::Write;
use std::sync::LazyLock;

use evidence_bundle::{Expectations, Failure, Limits, PublicKey, SigningKey, TrustRoot, UntrustedBundle};

pub fn run(bytes: &[u8]) -> bool {
    let framed = frame(bytes);
    let mut trust = TrustRoot::new();
    // The fuzzer must not find a valid signature for this key.
    static KEY: LazyLock<PublicKey> = LazyLock::new(|| SigningKey::from_seed(&[7; 32]).public_key());
    trust.add_key("fuzz", *KEY);
    let mut pinned = TrustRoot::new();
    pinned.add_fingerprint(&KEY.key_id().to_string()).unwrap();
    let mut intact = false;
    for bundle in [bytes, &framed] {
        for trust in [&TrustRoot::new(), &trust, &pinned] {
            match judge(bundle, trust) {
                Failure::NotWhatWasSigned(error) => {
                    assert!(!error.detail.chars().any(char::is_control), "{:?}", error.detail);
                }
                Failure::IntactNotAuthenticated(_) => {
                    assert!(trust.is_empty());
                    intact = true;
                }
                // No input here names a key whose signature matches by chance.
                Failure::NewerVersion(_) => intact |= trust.is_empty(),
                Failure::CannotJudge(error) => panic!("a slice cannot fail to be read: {error}"),
            }
        }
    }
    intact
}

fn judge(bundle: &[u8], trust: &TrustRoot) -> Failure {
    let limits = Limits { inflated_bytes: 1 << 22, ..Limits::DEFAULT };
    UntrustedBundle::new(bundle)
        .verify(trust, &Expectations::default(), &limits)
        .expect_err("nobody signed this")
}

/// One gzip member in a bundle's form around these bytes, stored, so that the fuzzer need not find checksums.
pub fn frame(archive: &[u8]) -> Vec<u8> {
    let mut bundle = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut deflate = flate2::write::DeflateEncoder::new(&mut bundle, flate2::Compression::none());
    deflate.write_all(archive).and_then(|()| deflate.finish().map(drop)).expect("a vector takes every byte");
    let mut crc = flate2::Crc::new();
    crc.update(archive);
    bundle.extend_from_slice(&crc.sum().to_le_bytes());
    bundle.extend_from_slice(&crc.amount().to_le_bytes());
    bundle
}
