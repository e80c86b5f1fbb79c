//! Any list: what parses prints back to the same bytes.
#![no_main]

use evidence_bundle::checksums::{ChecksumList, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(list) = ChecksumList::parse(bytes.to_vec(), 1_000) {
        assert_eq!(render(list.rows()), bytes);
        assert!(list.rows().enumerate().all(|(index, row)| list.position(row.path) == Some(index)));
    }
});
