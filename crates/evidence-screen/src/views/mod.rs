//! What a text hides from the patterns: escapes, characters that nobody sees, line breaks, quoted-printable, base64 and
//! base32, taken away one layer at a time.
//!
//! A [`View`] is the readable form of the parts of a text in which something is encoded, and the way back to where it
//! stands. Making views never searches and never judges; a text that hides nothing has none.

mod base32;
mod base64;
mod escapes;
mod lines;
mod quoted;
mod undo;

use std::ops::Range;

/// Parts of a text in a readable form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The readable bytes, parts apart from each other.
    pub(super) bytes: Vec<u8>,
    /// Whether the view holds lines that were put together, which makes words that nobody wrote.
    pub(super) joined: bool,
    /// Whether the text says something else than the view, which is then read as a text of its own.
    pub(super) encoded: bool,
    /// Whether something was taken away between the lines that can have belonged to the words.
    ambiguous: bool,
    /// Where each stretch of the bytes comes from, in order.
    pieces: Vec<Piece>,
}

/// A stretch of a view, and the stretch of the text that it stands for, of the same length or of another. There are two
/// for each escape, so it is small: what is screened is bounded far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    at: u32,
    length: u32,
    from: u32,
    of: u32,
}

/// Stands between two parts: no pattern goes across it, and no line goes on behind it.
const BETWEEN: &[u8] = b"\"\n\"";

impl View {
    /// Every view of the text that shows something.
    pub(super) fn of(text: &[u8]) -> impl Iterator<Item = View> {
        let readable: [fn(&[u8]) -> View; 3] = [escapes::view, quoted::view, lines::chains];
        let encoded: [fn(&[u8]) -> View; 2] = [base64::view, base32::view];
        let encoded = encoded.into_iter().map(|make| View { encoded: true, ..make(text) });
        let views = readable.into_iter().map(|make| make(text)).chain(encoded);
        views.filter(|view| !view.bytes.is_empty())
    }

    /// The view of every two lines of the `text` by themselves where this view, of whole chains, showed something: at
    /// `seen`, stretches of the text in order.
    pub(super) fn pairs(&self, text: &[u8], seen: &[Range<usize>]) -> Option<View> {
        let wanted = self.joined && (self.ambiguous || !seen.is_empty());
        wanted.then(|| lines::pairs(text, seen)).filter(|view| !view.bytes.is_empty())
    }

    /// Where in the text the bytes `start..end` of the view are written.
    pub(super) fn back(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.piece(start).map_or(0, |piece| {
            let inside = start.saturating_sub(wide(piece.at)) * wide(piece.of);
            wide(piece.from) + inside.checked_div(wide(piece.length)).unwrap_or(0)
        });
        let last = self.piece(end.saturating_sub(1)).map_or(first, |piece| {
            let inside = end.saturating_sub(wide(piece.at)).min(wide(piece.length)) * wide(piece.of);
            wide(piece.from) + inside.div_ceil(wide(piece.length).max(1))
        });
        (first, last.max(first))
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| wide(piece.at) <= at);
        self.pieces.get(behind.checked_sub(1)?)
    }

    /// Adds bytes that stand for `of` bytes of the text, beginning at `from`.
    fn push(&mut self, bytes: &[u8], from: usize, of: usize) {
        if bytes.is_empty() {
            return;
        }
        let (at, length) = (narrow(self.bytes.len()), narrow(bytes.len()));
        let (from, of) = (narrow(from), narrow(of));
        self.bytes.extend_from_slice(bytes);
        // What goes on where it stopped, at the same rate, is one stretch.
        if let Some(last) = self.pieces.last_mut()
            && u64::from(last.length) * u64::from(of) == u64::from(length) * u64::from(last.of)
            && last.from.checked_add(last.of) == Some(from)
        {
            last.length = last.length.saturating_add(length);
            last.of = last.of.saturating_add(of);
        } else {
            self.pieces.push(Piece { at, length, from, of });
        }
    }

    /// Ends a part: what comes next stands elsewhere in the text.
    fn part(&mut self, from: usize) {
        if !self.bytes.is_empty() {
            self.push(BETWEEN, from, 0);
        }
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
