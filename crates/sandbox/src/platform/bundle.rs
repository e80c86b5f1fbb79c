//! The id in a bundle, which the platform uses for it.

use bytes::Bytes;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{self, Read};

const BLOCK: u64 = 512;

/// How much of an archive to search for the manifest, its third file.
const SEARCHED: u64 = 64 << 20;

/// The `bundle_id` of the manifest; `None` if the bytes are not an archive with one.
pub(super) fn id(bundle: &Bytes) -> Option<String> {
    let mut archive = GzDecoder::new(bundle.as_ref()).take(SEARCHED);
    loop {
        let mut head = [0; BLOCK as usize];
        archive.read_exact(&mut head).ok()?;
        let size = u64::from_str_radix(std::str::from_utf8(head.get(124..135)?).ok()?, 8).ok()?;
        if head.starts_with(b"manifest.json\0") {
            let manifest: Value = serde_json::from_reader(archive.take(size)).ok()?;
            return manifest.get("bundle_id")?.as_str().map(str::to_owned);
        }
        let padded = size.checked_next_multiple_of(BLOCK)?;
        io::copy(&mut archive.by_ref().take(padded), &mut io::sink()).ok()?;
    }
}
