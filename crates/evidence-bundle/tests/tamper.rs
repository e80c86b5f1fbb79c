//! A bundle cannot be changed: every changed bit, every truncation and every insertion is refused.
//!
//! An optimised build (`cargo test --release -p evidence-bundle --test tamper`) tries every one of them; a debug build,
//! in which one verification takes milliseconds, tries a spread sample.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use evidence_bundle::{Expectations, Failure, Limits, Reason, TrustRoot, UntrustedBundle, VerifiedBundle};
use support::raw;

/// Prime, so that a sample meets every bit of a byte and every place in a block.
const STRIDE: usize = if cfg!(debug_assertions) { 127 } else { 1 };

fn verify(bundle: impl Read) -> Result<VerifiedBundle, Failure> {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", support::key().public_key());
    UntrustedBundle::new(bundle).verify(&trust, &Expectations::default(), &Limits::DEFAULT)
}

/// A canonical gzip member with stored contents, which is quick to make: the reader only requires the frame.
fn frame(tar: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut chunks = tar.chunks(0xffff).peekable();
    while let Some(chunk) = chunks.next() {
        let length = u16::try_from(chunk.len()).unwrap();
        out.push(u8::from(chunks.peek().is_none()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(chunk);
    }
    let mut crc = flate2::Crc::new();
    crc.update(tar);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    out
}

/// Tries every case (a sample in a debug build) on two threads, and asserts that no bundle is accepted.
fn none_is_accepted(cases: usize, changed: impl Fn(usize) -> Vec<u8> + Sync) {
    let tried = AtomicUsize::new(0);
    let accepted = |first: usize| -> Vec<usize> {
        let cases = (first * STRIDE..cases).step_by(2 * STRIDE);
        let cases = cases.inspect(|_| _ = tried.fetch_add(1, Ordering::Relaxed));
        cases.filter(|case| verify(changed(*case).as_slice()).is_ok()).collect()
    };
    let accepted = std::thread::scope(|scope| {
        let odd = scope.spawn(|| accepted(1));
        [accepted(0), odd.join().unwrap()].concat()
    });
    println!("{} of {cases} cases tried, {} accepted", tried.into_inner(), accepted.len());
    assert_eq!(accepted, [0; 0]);
}

#[test]
fn the_untouched_bundle_is_accepted() {
    let files = support::small_files();
    let verified = verify(support::bundle(&files).as_slice()).unwrap();
    assert_eq!(verified.files, 8);
    assert_eq!(verified.bytes, files.iter().map(|(_, contents)| contents.len() as u64).sum::<u64>());
    assert_eq!(verified.trusted_by, "the test key");
    assert!(verify(frame(&support::tar(&files)).as_slice()).is_ok());
}

#[test]
fn every_flipped_bit_of_the_archive_is_refused() {
    let tar = support::tar(&support::small_files());
    none_is_accepted(tar.len() * 8, |position| {
        let mut tar = tar.clone();
        tar[position / 8] ^= 1 << (position % 8);
        frame(&tar)
    });
}

#[test]
fn every_truncation_of_the_archive_is_refused() {
    let tar = support::tar(&support::small_files());
    none_is_accepted(tar.len(), |length| frame(&tar[..length]));
}

#[test]
fn every_inserted_byte_is_refused() {
    let tar = support::tar(&support::small_files());
    let values = [0, b'\n', b'0', 0xff];
    none_is_accepted((tar.len() + 1) * values.len(), |case| {
        let mut tar = tar.clone();
        tar.insert(case / values.len(), values[case % values.len()]);
        frame(&tar)
    });
}

#[test]
fn every_removed_byte_is_refused() {
    let tar = support::tar(&support::small_files());
    none_is_accepted(tar.len(), |position| {
        let mut tar = tar.clone();
        tar.remove(position);
        frame(&tar)
    });
}

#[test]
fn every_truncation_of_the_file_is_refused() {
    let bundle = support::bundle(&support::small_files());
    none_is_accepted(bundle.len(), |length| bundle[..length].to_vec());
    // A truncated file is an invalid bundle, not an unreadable file.
    for length in (0..bundle.len()).step_by(7).chain(bundle.len() - 9..bundle.len()) {
        match verify(&bundle[..length]) {
            Err(Failure::NotWhatWasSigned(error)) => {
                assert_eq!(error.reason, Reason::Gzip, "{length}");
                let is_told = ["too short", "cut off"].iter().any(|words| error.detail.contains(words));
                assert!(is_told, "{length}: {}", error.detail);
            }
            other => panic!("{length}: {other:?}"),
        }
    }
}

/// The signature covers the inflated bytes, not the compressed ones. Deflate can encode the same bytes in several ways
/// (a copy from one zero back or two, the unused bits of the last byte), so a few flips may pass, but never with
/// another archive.
#[test]
fn a_flipped_bit_of_the_file_never_changes_the_archive() {
    let files = support::small_files();
    let (tar, bundle) = (support::tar(&files), support::bundle(&files));
    let mut same = 0;
    for position in (0..bundle.len() * 8).step_by(STRIDE.min(7)) {
        let mut flipped = bundle.clone();
        flipped[position / 8] ^= 1 << (position % 8);
        if verify(flipped.as_slice()).is_ok() {
            let (header, contents, trailer) = raw::take_apart(&flipped);
            assert!(contents == tar, "bit {position}");
            assert_eq!((header.as_slice(), trailer.as_slice()), (&bundle[..10], &bundle[bundle.len() - 8..]));
            same += 1;
        }
    }
    println!("{same} of {} flips are another way to say the same archive", bundle.len() * 8);
}

#[test]
fn a_reader_that_fails_is_no_verdict() {
    struct Failing<'a>(&'a [u8]);
    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the disk is gone")),
                read => Ok(read),
            }
        }
    }
    let bundle = support::bundle(&support::small_files());
    for length in (0..bundle.len()).step_by(97) {
        match verify(Failing(&bundle[..length])) {
            Err(Failure::CannotJudge(error)) => assert_eq!(error.to_string(), "the disk is gone"),
            other => panic!("{length}: {other:?}"),
        }
    }
}

#[test]
fn a_short_read_at_a_time_makes_no_difference() {
    struct Single<'a>(&'a [u8]);
    impl Read for Single<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }
    assert!(verify(Single(&support::bundle(&support::small_files()))).is_ok());
}

#[test]
fn the_limits_hold() {
    let bundle = support::bundle(&support::small_files());
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", support::key().public_key());
    for limits in [
        Limits { files: 4, ..Limits::DEFAULT },
        Limits { inflated_bytes: 4_096, ..Limits::DEFAULT },
        Limits { checksums_bytes: 10, ..Limits::DEFAULT },
        Limits { manifest_bytes: 10, ..Limits::DEFAULT },
        Limits { run_bytes: 10, ..Limits::DEFAULT },
    ] {
        for trust in [&trust, &TrustRoot::new()] {
            match UntrustedBundle::new(bundle.as_slice()).verify(trust, &Expectations::default(), &limits) {
                Err(Failure::NotWhatWasSigned(error)) => {
                    assert_eq!(error.reason, Reason::Limit, "{limits:?}")
                }
                other => panic!("{limits:?}: {other:?}"),
            }
        }
    }
}
