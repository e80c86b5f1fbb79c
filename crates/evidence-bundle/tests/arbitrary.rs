//! Arbitrary input: readers never panic, parsers accept exactly the printed form, and no mutation passes.
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

use std::io;

use evidence_bundle::checksums::{ChecksumList, ListError, Row, parse_digest, render};
use evidence_bundle::path::archive_order;
use evidence_bundle::{
    Expectations, Failure, Limits, PublicKey, SigningKey, TrustRoot, UntrustedBundle, VerifiedBundle,
};
use proptest::prelude::*;
use support::raw;

fn trusting() -> TrustRoot {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", support::key().public_key());
    trust
}

fn verify(bundle: &[u8], trust: &TrustRoot) -> Result<VerifiedBundle, Failure> {
    let limits = Limits { inflated_bytes: 1 << 20, ..Limits::DEFAULT };
    UntrustedBundle::new(bundle).verify(trust, &Expectations::default(), &limits)
}

/// A reader that returns this many bytes at a time.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}

fn paths() -> impl Strategy<Value = Vec<String>> {
    let artifact = "sources/[a-z]{1,4}/[a-z][A-Za-z0-9_%-]{0,20}";
    proptest::collection::btree_set(artifact, 0..12).prop_map(|artifacts| {
        let mut paths: Vec<String> = evidence_bundle::path::REQUIRED.map(str::to_owned).to_vec();
        paths.extend(artifacts);
        paths.sort_by(|left, right| archive_order(left, right));
        paths
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_reader_never_panics_on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for trust in [TrustRoot::new(), trusting()] {
            prop_assert!(verify(&bytes, &trust).is_err());
            prop_assert!(verify(&raw::gzip(&bytes), &trust).is_err());
            let framed = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255], bytes.as_slice()].concat();
            prop_assert!(verify(&framed, &trust).is_err());
        }
    }

    #[test]
    fn no_mutation_of_a_bundle_passes_or_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let tar = support::tar(&support::small_files());
        let mut changed = tar.clone();
        for (position, byte) in changes {
            let position = position.index(changed.len());
            changed[position] = byte;
        }
        if let Some(cut) = cut {
            changed.truncate(cut.index(tar.len()));
        }
        let bundle = raw::gzip(&changed);
        prop_assert_eq!(verify(&bundle, &trusting()).is_ok(), changed == tar);
        _ = verify(&bundle, &TrustRoot::new());
    }

    /// Of several faults the first one is reported, whether the bundle comes from a file or a slow pipe.
    #[test]
    fn the_reason_does_not_depend_on_how_the_bytes_come(
        faults in proptest::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        fault in any::<prop::sample::Index>(),
        limit in any::<prop::sample::Index>(),
        size in 1_usize..200,
    ) {
        let mut tar = support::tar(&support::small_files());
        let position = fault.index(tar.len());
        tar[position] ^= 1;
        let limits = Limits { inflated_bytes: limit.index(2 * tar.len()) as u64, ..Limits::DEFAULT };
        let mut bundle = raw::gzip(&tar);
        for (position, bits) in faults {
            let position = position.index(bundle.len());
            bundle[position] ^= bits;
        }
        let reason = |size| {
            let reader = Pieces { bytes: &bundle, size };
            match UntrustedBundle::new(reader).verify(&trusting(), &Expectations::default(), &limits) {
                Err(Failure::NotWhatWasSigned(error)) => error,
                other => panic!("{other:?}"),
            }
        };
        prop_assert_eq!(reason(usize::MAX), reason(size));
    }

    /// Any manifest with a valid signature is judged without a panic.
    #[test]
    fn a_signed_manifest_may_say_anything(text in "[\\[\\]{}\":,0-9a-z \n\\\\]{0,80}", position in any::<prop::sample::Index>()) {
        let mut files = support::small_files();
        let position = position.index(files[0].1.len());
        files[0].1.splice(position..position, text.bytes());
        let bundle = raw::gzip(&raw::tar(&raw::entries(&files, &support::key())));
        for trust in [TrustRoot::new(), trusting()] {
            prop_assert!(!matches!(verify(&bundle, &trust), Err(Failure::CannotJudge(_))));
        }
    }

    #[test]
    fn a_printed_list_parses_back(paths in paths(), digest in any::<[u8; 32]>()) {
        let printed = render(paths.iter().map(|path| Row { sha256: digest, path }));
        match ChecksumList::parse(printed.clone(), 100) {
            Ok(list) => {
                prop_assert_eq!(list.as_bytes(), printed.as_slice());
                let rows: Vec<Row<'_>> = list.rows().collect();
                prop_assert_eq!(rows.len(), paths.len());
                for (index, row) in rows.iter().enumerate() {
                    prop_assert_eq!(row.path, &paths[index]);
                    prop_assert_eq!(row.sha256, digest);
                    prop_assert_eq!(list.position(row.path), Some(index));
                }
                prop_assert_eq!(list.position("sources/zzzzz/zzzzz"), None);
            }
            // Arbitrary names may differ only in case, or end in the name of a device.
            Err(error) => prop_assert!(matches!(error, ListError::Collision(_) | ListError::Path { .. }), "{error}"),
        }
    }

    #[test]
    fn a_list_that_parses_prints_the_same(bytes in "([0-9a-f]{64}  (manifest\\.json|run\\.json|derived/hints\\.json|derived/normalized\\.json|sources/a/[a-c])\n?){0,6}") {
        if let Ok(list) = ChecksumList::parse(bytes.clone().into_bytes(), 100) {
            prop_assert_eq!(render(list.rows()), bytes.into_bytes());
        }
    }

    #[test]
    fn digests_have_one_form(text in "[0-9a-fA-F]{62,66}") {
        let parsed = parse_digest(text.as_bytes());
        prop_assert_eq!(parsed.map(hex::encode), Some(text.clone()).filter(|text| text.len() == 64 && !text.bytes().any(|byte| byte.is_ascii_uppercase())));
    }

    #[test]
    fn key_and_trust_parsers_never_panic(text in "(-----BEGIN (OPENSSH |ENCRYPTED )?(PRIVATE|PUBLIC) KEY-----|ssh-ed25519|namespaces=|evidence-bundle|valid-after=|[ -~\n]){0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for input in [text.as_bytes(), bytes.as_slice()] {
            _ = SigningKey::from_bytes_any(input, Some(b"x"));
            _ = PublicKey::parse_all(input);
            _ = TrustRoot::new().add_allowed_signers("signers", input);
        }
        _ = TrustRoot::new().add_fingerprint(&text);
    }
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let mut list = raw::RawEntry::new("checksums.sha256", b"");
    list.size = Some(b"00100000000\0".to_vec());
    let mut tar = raw::tar(&[list]);
    tar.resize(64 << 20, 0);
    let limits = Limits { inflated_bytes: 1 << 20, ..Limits::DEFAULT };
    let bundle = raw::gzip(&tar);
    assert!(bundle.len() < 200_000);
    let mut read = 0;
    struct Counted<'a>(&'a [u8], &'a mut usize);
    impl io::Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buffer)?;
            *self.1 += count;
            Ok(count)
        }
    }
    let verdict = UntrustedBundle::new(Counted(&bundle, &mut read)).verify(
        &trusting(),
        &Expectations::default(),
        &limits,
    );
    assert!(matches!(verdict, Err(Failure::NotWhatWasSigned(error)) if error.reason.code() == "limit"));
    assert!(read <= 65_536, "{read} bytes were read for a megabyte");
}
