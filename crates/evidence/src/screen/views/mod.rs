//! What a text hides from the patterns: escapes, line breaks and base64, taken away one layer at a time.
//!
//! A [`View`] is the readable form of the parts of a text in which something is encoded, and the way back to where it
//! stands. Making views never searches and never judges; a text that hides nothing has none.

mod base64;
mod escapes;
mod lines;

use std::ops::Range;

/// Parts of a text in a readable form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The readable bytes, parts apart from each other.
    pub(super) bytes: Vec<u8>,
    /// Whether the view holds lines that were put together, which makes words that nobody wrote.
    pub(super) joined: bool,
    /// Whether something was taken away between the lines that can have belonged to the words.
    ambiguous: bool,
    /// Where each stretch of the bytes comes from, in order.
    pieces: Vec<Piece>,
}

/// A stretch of a view, and the stretch of the text that it stands for, of the same length or of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    at: usize,
    length: usize,
    from: usize,
    of: usize,
}

/// Stands between two parts: no pattern goes across it, and no line goes on behind it.
const BETWEEN: &[u8] = b"\"\n\"";

impl View {
    /// Every view of the text that shows something.
    pub(super) fn of(text: &[u8]) -> impl Iterator<Item = View> {
        let makers: [fn(&[u8]) -> View; 3] = [escapes::view, lines::chains, base64::view];
        makers.into_iter().map(|make| make(text)).filter(|view| !view.bytes.is_empty())
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
            piece.from + (start.saturating_sub(piece.at) * piece.of).checked_div(piece.length).unwrap_or(0)
        });
        let last = self.piece(end.saturating_sub(1)).map_or(first, |piece| {
            let inside = end.saturating_sub(piece.at).min(piece.length) * piece.of;
            piece.from + inside.div_ceil(piece.length.max(1))
        });
        (first, last.max(first))
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(behind.checked_sub(1)?)
    }

    /// Adds bytes that stand for `of` bytes of the text, beginning at `from`.
    fn push(&mut self, bytes: &[u8], from: usize, of: usize) {
        if bytes.is_empty() {
            return;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        // What goes on where it stopped, at the same rate, is one stretch.
        if let Some(last) = self.pieces.last_mut()
            && last.length * of == bytes.len() * last.of
            && last.from + last.of == from
        {
            last.length += bytes.len();
            last.of += of;
        } else {
            self.pieces.push(Piece { at, length: bytes.len(), from, of });
        }
    }

    /// Ends a part: what comes next stands elsewhere in the text.
    fn part(&mut self, from: usize) {
        if !self.bytes.is_empty() {
            self.push(BETWEEN, from, 0);
        }
    }
}

#[cfg(test)]
mod tests;
