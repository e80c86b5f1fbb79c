//! The one tar header that a file of a bundle may have: POSIX.1-1988 ustar, with a pax `path` record (POSIX.1-2001) if
//! the path does not fit into the name. GNU tar writes the same bytes with `--format=posix`; see `by_hand`.
//!
//! The writer writes it, and the reader compares with it byte for byte. Nothing here interprets an archive.

/// The size of a tar block in bytes.
pub(crate) const BLOCK: usize = 512;
/// The end of every archive: two blocks of zeros, no more.
#[cfg(feature = "sign")]
pub(crate) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
/// The largest size or time that fits into eleven octal digits, the only number format of ustar.
pub(crate) const MAX_NUMBER: u64 = crate::time::LATEST.unsigned_abs();
/// The name of a pax header's own entry.
const PAX_NAME: &str = "pax";

/// The position of each field in a header block: offset and length.
pub(crate) mod field {
    pub(crate) type Field = (usize, usize);
    pub(crate) const NAME: Field = (0, 100);
    pub(crate) const MODE: Field = (100, 8);
    pub(crate) const OWNER: Field = (108, 8);
    pub(crate) const GROUP: Field = (116, 8);
    pub(crate) const SIZE: Field = (124, 12);
    pub(crate) const TIME: Field = (136, 12);
    pub(crate) const CHECKSUM: Field = (148, 8);
    pub(crate) const TYPE: Field = (156, 1);
    pub(crate) const MAGIC: Field = (257, 8);
    pub(crate) const DEVICE_MAJOR: Field = (329, 8);
    pub(crate) const DEVICE_MINOR: Field = (337, 8);
    pub(crate) const PREFIX: Field = (345, 155);
}
use field::Field;

/// A regular file.
pub(crate) const REGULAR: u8 = b'0';
/// A pax header for the next entry.
pub(crate) const PAX: u8 = b'x';

/// The bytes before a file's contents: one block, or three if the path needs a pax record.
///
/// `None` if a number does not fit.
pub(crate) fn encode(path: &str, size: u64, time: u64) -> Option<Vec<u8>> {
    let main = block(path.get(..field::NAME.1).unwrap_or(path), size, time, REGULAR)?;
    if path.len() <= field::NAME.1 {
        return Some(main.to_vec());
    }
    let record = pax_record(path);
    let length = u64::try_from(record.len()).ok()?;
    let mut header = block(PAX_NAME, length, time, PAX)?.to_vec();
    header.extend_from_slice(&record);
    header.resize(header.len() + padding(length), 0);
    // A reader without pax sees a truncated path, so the checksums fail for it, as they should.
    header.extend_from_slice(&main);
    Some(header)
}

/// The number of zero bytes after contents of this size.
pub(crate) fn padding(size: u64) -> usize {
    let over = usize::try_from(size % 512).unwrap_or(0);
    if over == 0 { 0 } else { BLOCK - over }
}

/// `<length> path=<path>\n`, where the length counts its own digits.
fn pax_record(path: &str) -> Vec<u8> {
    let rest = format!(" path={path}\n");
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length += 1;
    }
    format!("{length}{rest}").into_bytes()
}

/// The path inside a pax record, if the record has exactly the form that [`pax_record`] gives.
pub(crate) fn parse_pax_record(record: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(record).ok()?;
    let path = text.split_once(" path=")?.1.strip_suffix('\n')?;
    (pax_record(path) == record).then_some(path)
}

fn block(name: &str, size: u64, time: u64, kind: u8) -> Option<[u8; BLOCK]> {
    let mut block = [0; BLOCK];
    put(&mut block, field::NAME, name.as_bytes());
    put(&mut block, field::MODE, b"0000644\0");
    put(&mut block, field::OWNER, b"0000000\0");
    put(&mut block, field::GROUP, b"0000000\0");
    put(&mut block, field::SIZE, octal(size)?.as_bytes());
    put(&mut block, field::TIME, octal(time)?.as_bytes());
    put(&mut block, field::TYPE, &[kind]);
    put(&mut block, field::MAGIC, b"ustar\x0000");
    // GNU tar leaves these fields of a pax header empty.
    if kind == REGULAR {
        put(&mut block, field::DEVICE_MAJOR, b"0000000\0");
        put(&mut block, field::DEVICE_MINOR, b"0000000\0");
    }
    let sum = checksum(&block);
    // Six digits, a NUL and a space: the form of every tar since the seventh edition of Unix.
    put(&mut block, field::CHECKSUM, format!("{sum:06o}\0 ").as_bytes());
    Some(block)
}

fn octal(number: u64) -> Option<String> {
    (number <= MAX_NUMBER).then(|| format!("{number:011o}\0"))
}

fn put(block: &mut [u8; BLOCK], (offset, length): Field, bytes: &[u8]) {
    block.iter_mut().skip(offset).take(length).zip(bytes).for_each(|(place, byte)| *place = *byte);
}

/// The bytes of a field of a block.
pub(crate) fn get(block: &[u8], (offset, length): Field) -> &[u8] {
    block.get(offset..offset + length).unwrap_or_default()
}

/// The sum of the bytes of a header, its own field counted as spaces.
pub(crate) fn checksum(block: &[u8; BLOCK]) -> u32 {
    let own: u32 = get(block, field::CHECKSUM).iter().map(|byte| u32::from(*byte)).sum();
    let all: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    all - own + 8 * u32::from(b' ')
}

/// Whether a numeric field has its one form: octal digits and a final NUL.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    let (last, digits) = bytes.split_last()?;
    if *last != 0 || !digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// The text of a field before its first NUL, if nothing follows that NUL.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, slack) = bytes.split_at_checked(end)?;
    if slack.iter().any(|byte| *byte != 0) {
        return None;
    }
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_paths_take_the_name_field() {
        let header = encode("manifest.json", 7, 1_795_251_913).unwrap();
        assert_eq!(header.len(), BLOCK);
        assert_eq!(text(get(&header, field::NAME)), Some("manifest.json"));
        assert_eq!(number(get(&header, field::SIZE)), Some(7));
        assert_eq!(number(get(&header, field::TIME)), Some(1_795_251_913));
    }

    #[test]
    fn a_path_over_100_bytes_takes_one_pax_record_wherever_its_slashes_are() {
        for length in [101, 155, 156, 240] {
            for slash in [1, 50, 99, 100, length - 2] {
                let path = format!("{}/{}", "d".repeat(slash), "f".repeat(length - slash - 1));
                let header = encode(&path, 5, 7).unwrap();
                assert_eq!(header.len(), 3 * BLOCK);
                let size = usize::try_from(number(get(&header, field::SIZE)).unwrap()).unwrap();
                assert_eq!(parse_pax_record(&header[BLOCK..BLOCK + size]), Some(path.as_str()));
                assert_eq!(get(&header[2 * BLOCK..], field::NAME), &path.as_bytes()[..100]);
                for block in [0, 2] {
                    assert_eq!(text(get(&header[block * BLOCK..], field::PREFIX)), Some(""));
                    assert_eq!(number(get(&header[block * BLOCK..], field::TIME)), Some(7));
                }
            }
        }
        assert_eq!(encode(&"p".repeat(100), 0, 0).unwrap().len(), BLOCK);
    }

    #[test]
    fn pax_lengths_count_themselves() {
        for length in [80, 88, 89, 90, 91, 92, 93, 200, 240] {
            let path = "p".repeat(length);
            let record = pax_record(&path);
            assert!(record.starts_with(format!("{} path=", record.len()).as_bytes()));
            assert_eq!(parse_pax_record(&record), Some(path.as_str()));
        }
        for bad in ["10 path=ab\n", "12 path=ab", "13 path=ab\n\n", "012 path=ab\n", "12 size=ab\n", ""] {
            assert_eq!(parse_pax_record(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert!(encode("a", MAX_NUMBER, MAX_NUMBER).is_some());
        assert!(encode("a", MAX_NUMBER + 1, 0).is_none());
        assert!(encode("a", 0, MAX_NUMBER + 1).is_none());
        for bad in [&b"0000000 "[..], b" 000000\0", b"\x80000000\0", b"0000008\0", b""] {
            assert_eq!(number(bad), None);
        }
    }

    #[test]
    fn padding_fills_the_block() {
        assert_eq!([0, 1, 511, 512, 513].map(padding), [0, 511, 1, 0, 511]);
    }
}
