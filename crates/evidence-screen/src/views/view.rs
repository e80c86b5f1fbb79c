//! The readable form of parts of a text, and the way back to their places.

/// Parts of a text in a readable form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) struct View {
    /// The readable bytes, with separators between the parts.
    pub(in super::super) bytes: Vec<u8>,
    /// Whether the view holds joined lines, which can create words that are not in the text.
    pub(in super::super) joined: bool,
    /// Whether the view is decoded, and so a text of its own.
    pub(in super::super) encoded: bool,
    /// Where the pieces of joined lines meet, in order.
    pub(super) joints: Vec<u32>,
    /// The origin of each stretch of the bytes, in order.
    pub(super) pieces: Vec<Piece>,
}

/// A stretch of a view and the stretch of the text that it represents, which may have another length. There are two for
/// each escape, so it is small: the screened text is bounded far below 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    at: u32,
    length: u32,
    from: u32,
    of: u32,
}

/// The separator between two parts: no pattern crosses it, and no line continues after it.
const BETWEEN: &[u8] = b"\"\n\"";

/// The mark between two pieces: a byte that occurs in no text.
pub(in super::super) const JOINT: u8 = 0xff;

impl View {
    /// The bytes, with a [`JOINT`] wherever two pieces meet.
    pub(in super::super) fn marked(&self) -> Vec<u8> {
        let mut marked = Vec::with_capacity(self.bytes.len() + self.joints.len());
        let mut done = 0;
        for joint in self.joints.iter().map(|joint| wide(*joint)) {
            marked.extend_from_slice(self.bytes.get(done..joint).unwrap_or_default());
            marked.push(JOINT);
            done = joint;
        }
        marked.extend_from_slice(self.bytes.get(done..).unwrap_or_default());
        marked
    }

    /// The places of the joints, for many questions.
    pub(in super::super) fn places_of_joints(&self) -> Joints {
        let mut joints = Joints::default();
        let blocks = self.bytes.len() / Joints::BLOCK + 1;
        joints.blocks.resize(blocks, (0, 0));
        for joint in self.joints.iter().map(|joint| wide(*joint)) {
            if let Some((places, _)) = joints.blocks.get_mut(joint / Joints::BLOCK) {
                *places |= 1 << (joint % Joints::BLOCK);
            }
        }
        let mut before = 0;
        for (places, known) in &mut joints.blocks {
            *known = before;
            before += places.count_ones();
        }
        joints
    }

    /// The place of a marked byte among the bytes.
    pub(in super::super) fn unmarked(&self, at: usize) -> usize {
        let (mut low, mut high) = (0, self.joints.len());
        while low < high {
            let middle = low.midpoint(high);
            let mark = self.joints.get(middle).map_or(usize::MAX, |joint| wide(*joint) + middle);
            if mark < at { low = middle + 1 } else { high = middle }
        }
        at - low
    }

    /// The place in the text of the bytes `start..end` of the view.
    pub(in super::super) fn back(&self, start: usize, end: usize) -> (usize, usize) {
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

    /// Adds bytes that represent `of` bytes of the text from `from` on.
    pub(super) fn push(&mut self, bytes: &[u8], from: usize, of: usize) {
        if bytes.is_empty() {
            return;
        }
        let (at, length) = (narrow(self.bytes.len()), narrow(bytes.len()));
        let (from, of) = (narrow(from), narrow(of));
        self.bytes.extend_from_slice(bytes);
        // Extend the last stretch if this one continues it at the same rate.
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

    /// The next bytes continue the last ones, from another line.
    pub(super) fn join(&mut self) {
        self.joints.push(narrow(self.bytes.len()));
    }

    /// Ends a part: the next one comes from elsewhere in the text.
    pub(super) fn part(&mut self, from: usize) {
        if !self.bytes.is_empty() {
            self.push(BETWEEN, from, 0);
        }
    }
}

/// The places where pieces of joined lines meet.
#[derive(Default)]
pub(in super::super) struct Joints {
    /// The places in each block, as bits, and how many there are before it.
    blocks: Vec<(u64, u32)>,
}

impl Joints {
    const BLOCK: usize = 64;

    /// Whether two pieces meet at this place.
    pub(in super::super) fn is_joint(&self, at: usize) -> bool {
        self.blocks.get(at / Joints::BLOCK).is_some_and(|(places, _)| places >> (at % Joints::BLOCK) & 1 != 0)
    }

    /// The place among the marked bytes, before the mark if there is one.
    pub(in super::super) fn to_marked(&self, at: usize) -> usize {
        let (places, before) = self.blocks.get(at / Joints::BLOCK).copied().unwrap_or_default();
        let below = places & ((1 << (at % Joints::BLOCK)) - 1);
        at + wide(before) + wide(below.count_ones())
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
