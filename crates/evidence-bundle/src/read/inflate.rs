//! The gzip layer (RFC 1952) of an untrusted file: one member in the one allowed form, and nothing after it.
//!
//! Never inflates more than the caller asks for, and never more than the limit.

use std::io::{self, BufRead, BufReader, Read};

use evidence_text::saturating_usize;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::outcome::Failure;
use super::reason::{Reason, VerifyError};
use crate::gzip::{HEADER, TRAILER};

const BUFFER: usize = 64 * 1024;

/// What went wrong below the archive, carried through `io::Error`.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error(transparent)]
    Source(io::Error),
    #[error("{0}")]
    Damaged(&'static str),
    #[error("the bundle inflates to more than {0} bytes")]
    Limit(u64),
}

fn damaged(what: &'static str) -> io::Error {
    io::Error::other(StreamError::Damaged(what))
}

/// Converts an error of this layer into a failure of the verification.
pub(super) fn failure(error: io::Error) -> Failure {
    match error.downcast::<StreamError>() {
        Ok(StreamError::Source(source)) => Failure::CannotJudge(source),
        Ok(error @ StreamError::Damaged(_)) => VerifyError::new(Reason::Gzip, error.to_string()).into(),
        Ok(error @ StreamError::Limit(_)) => VerifyError::new(Reason::Limit, error.to_string()).into(),
        Err(error) => Failure::CannotJudge(error),
    }
}

/// Marks the errors of the caller's reader, so that they do not count as errors of the bundle.
struct Source<R>(R);

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io::Error::other(StreamError::Source(error))),
                Ok(read) => return Ok(read),
            }
        }
    }
}

/// The inflated bytes of a bundle.
pub(super) struct Inflater<R> {
    source: BufReader<Source<R>>,
    inflate: Decompress,
    crc: Crc,
    limit: u64,
    ended: bool,
    /// The fault after the last bytes that were returned.
    behind: Option<StreamError>,
}

impl<R: Read> Inflater<R> {
    /// Reads the gzip header, which has one allowed form.
    pub(super) fn open(source: R, limit: u64) -> Result<Inflater<R>, Failure> {
        let mut source = BufReader::with_capacity(BUFFER, Source(source));
        let header: [u8; HEADER.len()] = read_array(&mut source, "the file is too short to be a bundle")?;
        if header != HEADER {
            let what = if header.starts_with(&HEADER[..2]) {
                "the gzip header is not the one of a bundle"
            } else {
                "the file is not compressed with gzip"
            };
            return Err(VerifyError::new(Reason::Gzip, what).into());
        }
        Ok(Inflater {
            source,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            limit,
            ended: false,
            behind: None,
        })
    }

    /// Checks what follows the compressed data: the right CRC and length, then the end of the file.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let mut byte = [0];
        if self.read(&mut byte).map_err(failure)? != 0 {
            return Err(VerifyError::new(Reason::TarEnd, "bytes follow the end of the archive").into());
        }
        let trailer: [u8; TRAILER] = read_array(&mut self.source, "the gzip trailer is cut off")?;
        let [c0, c1, c2, c3, l0, l1, l2, l3] = trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.crc.sum() {
            return Err(VerifyError::new(Reason::Gzip, "the CRC-32 of the gzip trailer is wrong").into());
        }
        if u32::from_le_bytes([l0, l1, l2, l3]) != self.crc.amount() {
            return Err(VerifyError::new(Reason::Gzip, "the length in the gzip trailer is wrong").into());
        }
        if !self.source.fill_buf().map_err(failure)?.is_empty() {
            let what = "bytes follow the end of the compressed data";
            return Err(VerifyError::new(Reason::GzipTrailing, what).into());
        }
        Ok(())
    }
}

fn read_array<const N: usize>(from: &mut impl Read, short: &'static str) -> Result<[u8; N], Failure> {
    let mut array = [0; N];
    match from.read_exact(&mut array) {
        Ok(()) => Ok(array),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(failure(damaged(short))),
        Err(error) => Err(failure(error)),
    }
}

impl<R: Read> Read for Inflater<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Some(error) = self.behind.take() {
            return Err(io::Error::other(error));
        }
        while !self.ended {
            let input = self.source.fill_buf()?;
            let at_end = input.is_empty();
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(input, buffer, FlushDecompress::None);
            let consumed = saturating_usize(self.inflate.total_in() - before_in);
            let mut produced = saturating_usize(self.inflate.total_out() - before_out);
            self.source.consume(consumed);
            self.ended = matches!(status, Ok(Status::StreamEnd));
            if status.is_err() {
                self.behind = Some(StreamError::Damaged("the compressed data are damaged"));
            }
            let over = self.inflate.total_out().saturating_sub(self.limit);
            if over > 0 {
                produced = produced.saturating_sub(saturating_usize(over));
                self.behind = Some(StreamError::Limit(self.limit));
            }
            // Return the bytes before the damage first: which of two faults is reported must not depend on the sizes
            // of the reads.
            if produced > 0 {
                self.crc.update(buffer.get(..produced).unwrap_or_default());
                return Ok(produced);
            }
            if let Some(error) = self.behind.take() {
                return Err(io::Error::other(error));
            }
            if !self.ended && at_end {
                return Err(damaged("the compressed data are cut off"));
            }
            if !self.ended && consumed == 0 {
                return Err(damaged("the compressed data make no progress"));
            }
        }
        Ok(0)
    }
}
