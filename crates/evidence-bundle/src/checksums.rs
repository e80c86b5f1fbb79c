//! The list of checksums, `checksums.sha256`: what the signature covers.
//!
//! One line per file, `<64 lower-case hex digits><two spaces><path>` and a line feed, in the order of the archive, so
//! that `sha256sum -c` reads it too. Parsing accepts exactly what rendering writes. Nothing here hashes a file.

use evidence_text::saturating_u32;

use crate::path::{self, Collision, PathError};

const DIGITS: usize = 64;
const SEPARATOR: &[u8] = b"  ";
const PATH_START: usize = DIGITS + SEPARATOR.len();

/// Why a list is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The list names more files than allowed.
    #[error("the list names more than {limit} files")]
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// A line does not have the one allowed form, or the last one does not end.
    #[error("line {line} of the list")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: LineError,
    },
    /// A path breaks the rules for paths.
    #[error("line {line} of the list")]
    Path {
        /// The number of the line, from 1.
        line: usize,
        /// The rule.
        source: PathError,
    },
    /// A path is not allowed in a bundle.
    #[error("{path} has no place in a bundle")]
    NoPlace {
        /// The path.
        path: String,
    },
    /// A required file is not at its position.
    #[error("{path} is not at its position in the list")]
    Required {
        /// The file.
        path: &'static str,
    },
    /// A path does not come after the one before it.
    #[error("{path} is out of order or listed twice")]
    Order {
        /// The path.
        path: String,
    },
    /// Two paths cannot both exist on every file system.
    #[error("{} and {} cannot both exist on every file system", .0.first, .0.second)]
    Collision(Collision),
}

/// What is wrong with the form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It does not begin with 64 lower-case hex digits.
    #[error("it does not begin with 64 lower-case hex digits")]
    Digest,
    /// Two spaces do not follow the digest.
    #[error("it does not have two spaces after the digest")]
    Separator,
    /// It has no path, or one that is not ASCII.
    #[error("it has no readable path")]
    Path,
    /// It does not end in a line feed.
    #[error("it does not end in a line feed")]
    Unended,
}

/// One line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// The SHA-256 of the file.
    pub sha256: [u8; 32],
    /// The path of the file.
    pub path: &'a str,
}

/// Writes the list for rows that are already in archive order.
pub fn render<'a>(rows: impl IntoIterator<Item = Row<'a>, IntoIter: Clone>) -> Vec<u8> {
    let rows = rows.into_iter();
    // A growing list would briefly take twice its memory, which is a lot for a large organization.
    let mut list = Vec::with_capacity(rows.clone().map(|row| PATH_START + row.path.len() + 1).sum());
    for row in rows {
        list.extend_from_slice(hex::encode(row.sha256).as_bytes());
        list.extend_from_slice(SEPARATOR);
        list.extend_from_slice(row.path.as_bytes());
        list.push(b'\n');
    }
    list
}

/// A list that follows every rule of the format. It holds its text and one offset per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecksumList {
    text: String,
    starts: Vec<u32>,
}

impl ChecksumList {
    /// Parses a list and checks its paths, their order and that they can all exist on one file system.
    ///
    /// # Errors
    /// Fails with the first broken rule. Refuses lists of 4 GiB or more as [`ListError::TooManyFiles`].
    pub fn parse(list: Vec<u8>, max_files: usize) -> Result<ChecksumList, ListError> {
        let too_many = ListError::TooManyFiles { limit: max_files };
        if u32::try_from(list.len()).is_err() {
            return Err(too_many);
        }
        let text = String::from_utf8(list).map_err(|error| {
            let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            ListError::Line { line: 1 + count_lines(before), source: LineError::Path }
        })?;
        let mut starts = Vec::new();
        let mut offset = 0_u32;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if index >= max_files {
                return Err(too_many);
            }
            check_line(line.as_bytes()).map_err(|source| ListError::Line { line: index + 1, source })?;
            starts.push(offset);
            offset = offset.saturating_add(saturating_u32(line.len()));
        }
        let list = ChecksumList { text, starts };
        list.check_paths()?;
        Ok(list)
    }

    fn check_paths(&self) -> Result<(), ListError> {
        let mut previous: Option<&str> = None;
        for (index, path) in (0..self.len()).filter_map(|index| self.path(index)).enumerate() {
            path::check(path).map_err(|source| ListError::Path { line: index + 1, source })?;
            match path::REQUIRED.get(index) {
                Some(required) if path != *required => {
                    return Err(ListError::Required { path: required });
                }
                Some(_) => {}
                None if !path::has_place(path) => {
                    return Err(ListError::NoPlace { path: path.to_owned() });
                }
                None if previous.is_some_and(|previous| path::archive_order(previous, path).is_ge()) => {
                    return Err(ListError::Order { path: path.to_owned() });
                }
                None => {}
            }
            previous = Some(path);
        }
        if let Some(missing) = path::REQUIRED.get(self.len()) {
            return Err(ListError::Required { path: missing });
        }
        match path::find_collision(self.len(), |index| self.path(index).unwrap_or_default()) {
            Some(collision) => Err(ListError::Collision(collision)),
            None => Ok(()),
        }
    }

    /// The number of files that the list names.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether the list names no file. A parsed list never does.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The exact bytes of the list, which the signature covers.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The exact bytes of the list, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    fn line(&self, index: usize) -> Option<&str> {
        let start = usize::try_from(*self.starts.get(index)?).ok()?;
        let end = match self.starts.get(index + 1) {
            Some(next) => usize::try_from(*next).ok()?,
            None => self.text.len(),
        };
        self.text.get(start..end)
    }

    /// The row at this position, from 0.
    pub fn row(&self, index: usize) -> Option<Row<'_>> {
        let sha256 = parse_digest(self.line(index)?.as_bytes().get(..DIGITS)?)?;
        Some(Row { sha256, path: self.path(index)? })
    }

    /// The path at this position, from 0.
    pub fn path(&self, index: usize) -> Option<&str> {
        self.line(index)?.get(PATH_START..)?.strip_suffix('\n')
    }

    /// The 64 hex digits of the SHA-256 at this position, from 0.
    pub(crate) fn digits(&self, index: usize) -> Option<&str> {
        self.line(index)?.get(..DIGITS)
    }

    /// Whether the list names the file with this path and this SHA-256 in hex digits.
    pub fn holds(&self, path: &str, sha256: &str) -> bool {
        let line = self.position(path).and_then(|index| self.line(index));
        sha256.len() == DIGITS && line.is_some_and(|line| line.starts_with(sha256))
    }

    /// Every row, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        (0..self.len()).filter_map(|index| self.row(index))
    }

    /// The position of the file with this path. Looks behind `before` first: documents name files in the order of the list.
    pub(crate) fn position_after(&self, before: usize, path: &str) -> Option<usize> {
        let next = before.saturating_add(1);
        if self.path(next) == Some(path) { Some(next) } else { self.position(path) }
    }

    /// The position of the file with this path.
    pub fn position(&self, path: &str) -> Option<usize> {
        if let Some(index) = path::REQUIRED.iter().position(|required| *required == path) {
            return Some(index);
        }
        let (mut low, mut high) = (path::REQUIRED.len(), self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.path(middle)?.as_bytes().cmp(path.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

fn check_line(line: &[u8]) -> Result<(), LineError> {
    let digits = line.get(..DIGITS).ok_or(LineError::Digest)?;
    if !digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(LineError::Digest);
    }
    if line.get(DIGITS..PATH_START) != Some(SEPARATOR) {
        return Err(LineError::Separator);
    }
    match line.get(PATH_START..).and_then(<[u8]>::split_last) {
        Some((b'\n', path)) if !path.is_empty() && path.is_ascii() => Ok(()),
        Some((b'\n', _)) | None => Err(LineError::Path),
        Some(_) => Err(LineError::Unended),
    }
}

fn count_lines(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count().saturating_sub(1)
}

/// Decodes 64 lower-case hex digits; `None` for any other text.
pub fn parse_digest(digits: &[u8]) -> Option<[u8; 32]> {
    let lower = digits.len() == DIGITS && !digits.iter().any(u8::is_ascii_uppercase);
    let mut digest = [0; 32];
    (lower && hex::decode_to_slice(digits, &mut digest).is_ok()).then_some(digest)
}
