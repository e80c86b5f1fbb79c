//! The storage of bundles: write-once, each under the SHA-256 of its bytes, in a directory or an S3-compatible bucket.
//!
//! Every organization has its own folder, so no upload reveals what another organization has. A blob never changes, and
//! it appears complete and synced or not at all.

mod access;
mod fault;
mod storage;

pub use access::BucketAccess;
pub use fault::Removal;
pub use storage::Blobs;
