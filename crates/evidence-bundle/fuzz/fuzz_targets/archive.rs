//! Any archive inside a good gzip frame, so that the fuzzer need not find CRCs.
#![no_main]

use std::io::Write;

use evidence_bundle::{Expectations, Limits, TrustRoot, UntrustedBundle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|archive: &[u8]| {
    let mut bundle = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut deflate = flate2::write::DeflateEncoder::new(&mut bundle, flate2::Compression::none());
    deflate.write_all(archive).and_then(|()| deflate.finish().map(drop)).expect("a vector takes every byte");
    let mut crc = flate2::Crc::new();
    crc.update(archive);
    bundle.extend_from_slice(&crc.sum().to_le_bytes());
    bundle.extend_from_slice(&crc.amount().to_le_bytes());
    let limits = Limits { inflated_bytes: 1 << 22, ..Limits::DEFAULT };
    let verdict = UntrustedBundle::new(bundle.as_slice()).verify(&TrustRoot::new(), &Expectations::default(), &limits);
    assert!(verdict.is_err());
});
