//! The parts of the spool that were read last. What is read back was mostly written in the same order, in a few sequences
//! side by side, so that most small reads need no call of the operating system.

use std::cell::RefCell;
use std::fs::File;
use std::io;

use evidence_os::file;

/// How many bytes to read at a time.
const WINDOW: usize = 32 << 10;

/// How many sequences to follow.
const WINDOWS: usize = 8;

/// See the module.
#[derive(Default)]
pub(super) struct Windows(RefCell<Vec<Window>>);

struct Window {
    offset: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from `offset` on, if it has any.
    fn from(&self, offset: u64) -> Option<&[u8]> {
        let at = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(at..).filter(|bytes| !bytes.is_empty())
    }
}

impl Windows {
    /// Reads up to `buffer.len()` bytes at this position; 0 only at the end of the file. The bytes at a position must not
    /// change.
    pub(super) fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if buffer.len() >= WINDOW {
            return file::read_at(file, buffer, offset);
        }
        let mut windows = self.0.borrow_mut();
        let known = windows.iter().position(|window| window.from(offset).is_some());
        // The one that was used last comes first.
        let mut window = match known {
            Some(known) => windows.remove(known),
            None => {
                let oldest = if windows.len() < WINDOWS { None } else { windows.pop() };
                let mut bytes = oldest.map(|window| window.bytes).unwrap_or_default();
                bytes.resize(WINDOW, 0);
                Window { offset, bytes }
            }
        };
        if known.is_none() {
            let read = file::read_at(file, &mut window.bytes, offset)?;
            window.bytes.truncate(read);
        }
        let bytes = window.from(offset).unwrap_or_default();
        let (length, from) = (bytes.len().min(buffer.len()), bytes);
        if let (Some(place), Some(from)) = (buffer.get_mut(..length), from.get(..length)) {
            place.copy_from_slice(from);
        }
        windows.insert(0, window);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use evidence_text::saturating_u64;

    use super::*;

    /// Reads of every size at any place, forth and back, give the bytes of the file.
    #[test]
    fn a_window_shows_the_file() {
        let content: Vec<u8> =
            (0..12 * WINDOW + 7).map(|at| u8::try_from(at * 7919 % 251).unwrap()).collect();
        let mut spool = tempfile::tempfile().unwrap();
        spool.write_all(&content).unwrap();
        let windows = Windows::default();
        let mut state = 1_usize;
        for _ in 0..5_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (offset, length) = ((state >> 33) % (content.len() + 10), (state >> 20) % 3_000);
            let mut buffer = vec![0; length];
            let mut read = 0;
            while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
                match windows.read_at(&spool, rest, saturating_u64(offset + read)).unwrap() {
                    0 => break,
                    step => read += step,
                }
            }
            let expected = content.get(offset..content.len().min(offset + length)).unwrap_or_default();
            assert_eq!(&buffer[..read], expected, "{offset} {length}");
        }
        assert!(windows.0.borrow().len() <= WINDOWS);
    }
}
