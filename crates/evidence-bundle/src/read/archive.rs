//! The tar layer of an untrusted file: every header must equal, byte for byte, the one that a writer would write.
//!
//! Nothing is interpreted. A header that differs is inspected only to explain why the bundle is refused.

use std::io::{self, BufRead, BufReader, Read};

use evidence_text::{saturating_u64, saturating_usize};
use sha2::{Digest as _, Sha256};

use super::inflate::{self, Inflater};
use super::outcome::Failure;
use super::reason::{Reason, VerifyError, check_digest};
use crate::header::{self, BLOCK, PAX, REGULAR, field};

const BUFFER: usize = 128 * 1024;
/// Enough for the list of checksums of 50,000 repositories. Reserve more only for bytes that arrive, since the claimed
/// size is not trusted.
const RESERVED: usize = 16 << 20;
/// The beginning of the magic of every tar since POSIX.
const USTAR: &[u8] = b"ustar";
type Block = [u8; BLOCK];

/// The archive inside a bundle, read forward once.
pub(super) struct Archive<R> {
    reader: BufReader<Inflater<R>>,
    /// The time of the first entry, which all others must have too.
    time: Option<u64>,
}

/// What was found instead of, or as, the expected header.
pub(super) enum NextEntry {
    /// The expected header, with the size of the file in bytes.
    Expected(u64),
    /// A valid header of another file.
    Other {
        /// Its path.
        path: String,
        /// The size of the file in bytes.
        size: u64,
    },
    /// The end of the archive.
    End,
}

impl<R: Read> Archive<R> {
    pub(super) fn open(source: R, limit: u64) -> Result<Archive<R>, Failure> {
        let inflater = Inflater::open(source, limit)?;
        Ok(Archive { reader: BufReader::with_capacity(BUFFER, inflater), time: None })
    }

    /// The time of the entries in Unix seconds; 0 before the first.
    pub(super) fn time(&self) -> i64 {
        self.time.and_then(|time| i64::try_from(time).ok()).unwrap_or(0)
    }

    /// Reads the header of the expected entry, or of any entry if `expected` is `None`.
    pub(super) fn header(&mut self, expected: Option<&str>) -> Result<NextEntry, Failure> {
        let cut = || match expected {
            Some(path) => {
                VerifyError::at(Reason::TarTruncated, path, format!("the archive ends before {path}"))
            }
            None => VerifyError::new(Reason::TarEnd, "the archive has no end"),
        };
        let first = self.block()?.ok_or_else(cut)?;
        if first == [0; BLOCK] {
            return Ok(NextEntry::End);
        }
        if expected.is_none() && !header::get(&first, field::MAGIC).starts_with(USTAR) {
            return Err(VerifyError::new(Reason::TarEnd, "bytes follow the last file").into());
        }
        let mut raw = first.to_vec();
        let mut main = first;
        if header::get(&first, field::TYPE) == [PAX] {
            raw.extend_from_slice(&self.block()?.ok_or_else(cut)?);
            main = self.block()?.ok_or_else(cut)?;
            raw.extend_from_slice(&main);
        }
        let size = header::number(header::get(&main, field::SIZE));
        let time = self.time.or_else(|| header::number(header::get(&main, field::TIME)));
        if let (Some(path), Some(size), Some(time)) = (expected, size, time)
            && header::encode(path, size, time).as_ref() == Some(&raw)
        {
            self.time = Some(time);
            return Ok(NextEntry::Expected(size));
        }
        let (path, size) = self.explain(&first, &raw, &main)?;
        Ok(NextEntry::Other { path, size })
    }

    /// Path and size of a header that is not the expected one, or why it is not valid.
    fn explain(&self, first: &Block, raw: &[u8], main: &Block) -> Result<(String, u64), VerifyError> {
        let path = path_of(main);
        let at = |reason, detail: &str| match &path {
            Some(path) => VerifyError::at(reason, path, format!("{path}: {detail}")),
            None => VerifyError::new(reason, detail),
        };
        let has_pax = raw.len() > BLOCK;
        let record =
            header::number(header::get(first, field::SIZE)).and_then(|size| usize::try_from(size).ok());
        if has_pax && record.is_none_or(|length| length > BLOCK) {
            return Err(VerifyError::new(Reason::TarPax, "a pax header is longer than one path record"));
        }
        for block in [first, main] {
            if !header::get(block, field::MAGIC).starts_with(USTAR) {
                return Err(VerifyError::new(
                    Reason::TarNoncanonical,
                    "no tar header at the expected position",
                ));
            }
            let sum = format!("{:06o}\0 ", header::checksum(block));
            if header::get(block, field::CHECKSUM) != sum.as_bytes() {
                return Err(at(Reason::TarNoncanonical, "the checksum of the tar header is wrong"));
            }
        }
        if has_pax && header::get(main, field::TYPE) == [PAX] {
            return Err(at(Reason::TarPax, "two pax headers in a row"));
        }
        if header::get(main, field::TYPE) != [REGULAR] {
            let kind = String::from_utf8_lossy(header::get(main, field::TYPE)).into_owned();
            return Err(at(Reason::TarType, &format!("an entry of type {kind:?} is not a regular file")));
        }
        for number in [field::MODE, field::OWNER, field::GROUP, field::SIZE, field::TIME] {
            if [first, main].iter().any(|block| header::number(header::get(*block, number)).is_none()) {
                return Err(at(Reason::TarNumber, "a number is not in octal digits with a final NUL"));
            }
        }
        let time = header::number(header::get(main, field::TIME));
        if [first, main].iter().any(|block| {
            let own = header::number(header::get(*block, field::TIME));
            own != self.time.or(time)
        }) {
            return Err(at(Reason::Mtime, "the time differs from the entries before"));
        }
        let size = header::number(header::get(main, field::SIZE)).unwrap_or(0);
        let path = if has_pax {
            let record = record.and_then(|length| raw.get(BLOCK..2 * BLOCK)?.get(..length));
            record.and_then(header::parse_pax_record).map(str::to_owned)
        } else {
            path.clone()
        };
        let canonical = path.as_deref().and_then(|path| header::encode(path, size, time?));
        match path {
            Some(path) if canonical.as_deref() == Some(raw) => Ok((path, size)),
            _ if has_pax => {
                Err(VerifyError::new(Reason::TarPax, "a pax header is not the one that a long path needs"))
            }
            Some(path) => {
                let detail = format!("the header of {path} is not the one that this format writes");
                Err(VerifyError::at(Reason::TarNoncanonical, &path, detail))
            }
            None => {
                Err(VerifyError::new(Reason::TarNoncanonical, "a tar header has a name that is not text"))
            }
        }
    }

    /// The contents of the entry whose header was just read.
    pub(super) fn contents(&mut self, path: &str, size: u64) -> Contents<'_, R> {
        Contents {
            archive: self,
            path: path.to_owned(),
            size,
            left: size,
            hasher: Sha256::new(),
            failure: None,
        }
    }

    /// Checks what follows the first block of zeros: a second one, and then the end of the file.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let end = |detail: &str| VerifyError::new(Reason::TarEnd, detail);
        match self.block_or(Reason::TarEnd)? {
            None => return Err(end("the end of the archive is one block of zeros instead of two").into()),
            Some(block) if block != [0; BLOCK] => return Err(end("bytes follow the last file").into()),
            Some(_) => {}
        }
        if !self.reader.fill_buf().map_err(inflate::failure)?.is_empty() {
            return Err(end("bytes follow the end of the archive").into());
        }
        self.reader.into_inner().finish()
    }

    fn block(&mut self) -> Result<Option<Block>, Failure> {
        self.block_or(Reason::TarTruncated)
    }

    /// The next block; `None` at the end of the stream. Fails with `reason` if the stream ends inside the block.
    fn block_or(&mut self, reason: Reason) -> Result<Option<Block>, Failure> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.reader.read(rest).map_err(inflate::failure)? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(VerifyError::new(reason, "the archive ends inside a block").into()),
                read => filled += read,
            }
        }
        Ok(Some(block))
    }
}

fn path_of(block: &Block) -> Option<String> {
    let name = header::text(header::get(block, field::NAME))?;
    match header::text(header::get(block, field::PREFIX))? {
        "" => Some(name.to_owned()),
        prefix => Some(format!("{prefix}/{name}")),
    }
}

/// The contents of one entry, hashed as they are read.
pub(super) struct Contents<'a, R> {
    archive: &'a mut Archive<R>,
    path: String,
    size: u64,
    left: u64,
    hasher: Sha256,
    failure: Option<Failure>,
}

impl<R: Read> Contents<'_, R> {
    /// Passes the next bytes to `use_bytes`; `false` at the end.
    fn step(&mut self, limit: usize, use_bytes: &mut dyn FnMut(&[u8])) -> Result<bool, Failure> {
        if self.left == 0 {
            return Ok(false);
        }
        let available = self.archive.reader.fill_buf().map_err(inflate::failure)?;
        let wanted = saturating_usize(self.left).min(limit);
        let bytes = available.get(..wanted).unwrap_or(available);
        if bytes.is_empty() {
            let detail = format!("the archive ends inside {}", self.path);
            return Err(VerifyError::at(Reason::TarTruncated, &self.path, detail).into());
        }
        self.hasher.update(bytes);
        use_bytes(bytes);
        let taken = bytes.len();
        self.archive.reader.consume(taken);
        self.left = self.left.saturating_sub(saturating_u64(taken));
        Ok(true)
    }

    /// Reads the rest and the padding. Returns the SHA-256 of the whole.
    pub(super) fn finish(mut self) -> Result<[u8; 32], Failure> {
        let sha256 = self.read_on()?;
        self.padding()?;
        Ok(sha256)
    }

    /// Reads the rest and the padding, and compares the SHA-256 of the whole with the listed one. A wrong checksum
    /// takes precedence over faulty padding.
    pub(super) fn check(mut self, listed: &[u8; 32]) -> Result<(), Failure> {
        let sha256 = self.read_on()?;
        check_digest(&self.path, listed, &sha256)?;
        self.padding()
    }

    /// Reads the rest. Returns the SHA-256 of the whole.
    fn read_on(&mut self) -> Result<[u8; 32], Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        while self.step(usize::MAX, &mut |_| {})? {}
        Ok(std::mem::take(&mut self.hasher).finalize().into())
    }

    fn padding(&mut self) -> Result<(), Failure> {
        let mut padding = header::padding(self.size);
        while padding > 0 {
            let available = self.archive.reader.fill_buf().map_err(inflate::failure)?;
            let bytes = available.get(..padding).unwrap_or(available);
            if bytes.is_empty() {
                let detail = format!("the archive ends after {}", self.path);
                return Err(VerifyError::at(Reason::TarTruncated, &self.path, detail).into());
            }
            if bytes.iter().any(|byte| *byte != 0) {
                let detail = format!("the padding after {} is not zero", self.path);
                return Err(VerifyError::at(Reason::TarPadding, &self.path, detail).into());
            }
            let taken = bytes.len();
            self.archive.reader.consume(taken);
            padding -= taken;
        }
        Ok(())
    }

    /// Reads the whole into memory, with its SHA-256.
    pub(super) fn into_memory(mut self) -> Result<(Vec<u8>, [u8; 32]), Failure> {
        let claimed = saturating_usize(self.size);
        let mut bytes = Vec::with_capacity(claimed.min(RESERVED));
        while self.step(usize::MAX, &mut |chunk| bytes.extend_from_slice(chunk))? {}
        Ok((bytes, self.finish()?))
    }
}

impl<R: Read> Read for Contents<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failure.is_some() {
            return Err(io::Error::other("the bundle is damaged here"));
        }
        let mut read = 0;
        let limit = buffer.len();
        let step = self.step(limit, &mut |chunk| {
            read = chunk.len();
            buffer.iter_mut().zip(chunk).for_each(|(place, byte)| *place = *byte);
        });
        match step {
            Ok(_) => Ok(read),
            Err(failure) => {
                self.failure = Some(failure);
                Err(io::Error::other("the bundle is damaged here"))
            }
        }
    }
}
