//! Hashes bytes on their way.

use std::io::{self, Read, Write};

use evidence_text::saturating_u64;
use sha2::digest::Update;
use sha2::{Digest as _, Sha256};

/// Hashes and counts the bytes that are read or written through it. The hash is anything that takes bytes.
#[derive(Debug)]
pub struct Hashing<T, H = Sha256> {
    inner: T,
    hash: H,
    length: u64,
}

impl<T> Hashing<T> {
    /// Hashes with SHA-256.
    pub fn new(inner: T) -> Hashing<T> {
        Hashing::with(inner, Sha256::new())
    }

    /// The SHA-256 of the bytes so far, and their number.
    pub fn finish(self) -> ([u8; 32], u64) {
        (self.hash.finalize().into(), self.length)
    }
}

impl<T, H> Hashing<T, H> {
    /// Hashes with `hash`.
    pub fn with(inner: T, hash: H) -> Hashing<T, H> {
        Hashing { inner, hash, length: 0 }
    }

    /// The hash of the bytes so far.
    pub fn into_hash(self) -> H {
        self.hash
    }
}

impl<T, H: Update> Hashing<T, H> {
    fn take(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(saturating_u64(bytes.len()));
        self.hash.update(bytes);
    }
}

impl<R: Read, H: Update> Read for Hashing<R, H> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.take(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

impl<W: Write, H: Update> Write for Hashing<W, H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.take(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time.
    struct Short(Vec<u8>);

    impl Write for Short {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let some = bytes.get(..3).unwrap_or(bytes);
            self.0.extend_from_slice(some);
            Ok(some.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_what_passes_is_hashed() {
        let expected: [u8; 32] = Sha256::digest(b"some bytes").into();
        let mut reader = Hashing::new(b"some bytes".as_slice());
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(reader.finish(), (expected, 10));
        let mut writer = Hashing::new(Short(Vec::new()));
        writer.write_all(b"some bytes").unwrap();
        assert_eq!((writer.inner.0.as_slice(), writer.length), (b"some bytes".as_slice(), 10));
        assert_eq!(writer.finish().0, expected);
        let mut reader = Hashing::with(b"some bytes".as_slice(), sha2::Sha512::new());
        reader.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(reader.into_hash().finalize(), sha2::Sha512::digest(b"some"));
    }
}
