//! Any list of checksums: what parses prints back to the same bytes, and every row is found at its place.

use evidence_bundle::checksums::{ChecksumList, render};
use evidence_bundle::path;

pub fn run(bytes: &[u8]) -> bool {
    let Ok(list) = ChecksumList::parse(bytes.to_vec(), 1_000) else { return false };
    assert_eq!(render(list.rows()), bytes);
    assert_eq!(list.as_bytes(), bytes);
    assert_eq!(list.rows().count(), list.len());
    for (index, row) in list.rows().enumerate() {
        assert_eq!(list.position(row.path), Some(index));
        assert_eq!(path::check(row.path), Ok(()));
        assert!(path::has_place(row.path));
        // No path occurs twice, even on a file system that ignores case.
        assert!(list.rows().skip(index + 1).all(|other| !other.path.eq_ignore_ascii_case(row.path)));
        assert!(list.rows().all(|other| !other.path.starts_with(&format!("{}/", row.path))));
    }
    // Refused if fewer files are allowed.
    assert!(ChecksumList::parse(bytes.to_vec(), list.len() - 1).is_err());
    true
}
