//! SHA-1, for git object ids alone: a file's `sha` must be what `git hash-object` prints. Never for security.

/// The id of a git blob with these bytes.
pub(crate) fn blob_id(content: &[u8]) -> String {
    let mut object = format!("blob {}\0", content.len()).into_bytes();
    object.extend_from_slice(content);
    hex(&digest(&object))
}

/// A stable id for something without content here (a commit, a tree).
pub(crate) fn name_id(name: &str) -> String {
    hex(&digest(name.as_bytes()))
}

fn hex(state: &[u32; 5]) -> String {
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn digest(message: &[u8]) -> [u32; 5] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(message.len() as u64).wrapping_mul(8).to_be_bytes());

    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let (blocks, _) = padded.as_chunks::<64>();
    for block in blocks {
        compress(&mut state, block);
    }
    state
}

fn compress(state: &mut [u32; 5], block: &[u8; 64]) {
    let (quads, _) = block.as_chunks::<4>();
    let mut window: std::collections::VecDeque<u32> =
        quads.iter().map(|quad| u32::from_be_bytes(*quad)).collect();
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for round in 0..80 {
        let word = window.pop_front().unwrap_or_default();
        // The schedule's w[t+16] = (w[t+13] ^ w[t+8] ^ w[t+2] ^ w[t]) <<< 1; the window begins at w[t+1].
        let ahead = |steps: usize| window.get(steps - 1).copied().unwrap_or_default();
        let next = (ahead(13) ^ ahead(8) ^ ahead(2) ^ word).rotate_left(1);
        window.push_back(next);
        let (mix, constant) = match round {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6u32),
        };
        let sum =
            a.rotate_left(5).wrapping_add(mix).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(name_id("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(name_id(&"a".repeat(1000)), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
    }
}
