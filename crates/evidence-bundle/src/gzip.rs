//! The one gzip member (RFC 1952) around the archive.

#[cfg(feature = "sign")]
mod compress;

#[cfg(feature = "sign")]
pub(crate) use compress::compress;

/// The header of every bundle: no flags, no time, level neither fastest nor best, unknown operating system.
pub(crate) const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// The bytes after the deflate stream: the CRC-32 and the length of the input, both little-endian.
pub(crate) const TRAILER: usize = 8;
