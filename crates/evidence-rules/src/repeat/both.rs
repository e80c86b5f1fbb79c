//! Judges a bundle again while another sink receives it.

use std::io::{self, Read};

use evidence_bundle::read::{self, Sink};
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, UntrustedBundle, VerifiedBundle};

use super::kept::hash;
use super::state::Repetition;

/// Verifies a bundle while `sink` and `repetition` receive it.
pub(super) fn read_by(
    repetition: &mut Repetition,
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<VerifiedBundle, Failure> {
    let mut both = Both { repetition, sink };
    UntrustedBundle::new(bundle).verify_into(trust, expectations, limits, &mut both)
}

/// Judges a bundle again while another sink receives it.
struct Both<'s> {
    repetition: &'s mut Repetition,
    sink: &'s mut dyn Sink,
}

impl Sink for Both<'_> {
    fn row(&mut self, row: read::Row<'_>) -> io::Result<()> {
        self.repetition.row(row)?;
        self.sink.row(row)
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        self.sink.file(path, size)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.bytes(bytes)
    }

    fn contents(&mut self, path: &str, size: u64, contents: &mut dyn Read) -> io::Result<()> {
        if !self.repetition.artifacts.contains_key(&hash(path)) {
            return self.sink.contents(path, size, contents);
        }
        if !self.sink.file(path, size)? {
            return self.repetition.artifact(path, contents);
        }
        let mut shared = Shared { contents, sink: self.sink };
        self.repetition.artifact(path, &mut shared)?;
        io::copy(&mut shared, &mut io::sink()).map(drop)
    }
}

/// A reader that passes what it reads to a sink.
struct Shared<'s> {
    contents: &'s mut dyn Read,
    sink: &'s mut dyn Sink,
}

impl Read for Shared<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.contents.read(buffer)?;
        self.sink.bytes(buffer.get(..read).unwrap_or_default())?;
        Ok(read)
    }
}
