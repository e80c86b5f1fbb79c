//! Headers of the signed files that are written in another way than the format's.

use crate::support::raw;
use crate::support::raw::RawEntry;

use super::{Corpus, long, small, with_bytes};

/// The number of the entry whose header differs.
const ENTRY: usize = 5;

/// Puts bytes into a header block and corrects its checksum.
pub(super) fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
    sum(block, |sum| format!("{sum:06o}\0 "));
}

fn sum(block: &mut [u8], form: impl FnOnce(u32) -> String) {
    block[148..156].copy_from_slice(b"        ");
    let sum: u32 = block[..512].iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(form(sum).as_bytes());
}

/// The forms that a number can have besides the only canonical one, in a field of this width.
pub(super) fn numbers(number: usize, width: usize) -> Vec<(&'static str, Vec<u8>)> {
    let digits = width - 1;
    let base_256 = |first: u8| {
        let mut bytes = vec![if first == 0xff { 0xff } else { 0 }; width];
        bytes[0] = first;
        bytes[width - 8.min(width - 1)..]
            .copy_from_slice(&(number as u64).to_be_bytes()[8 - 8.min(width - 1)..]);
        bytes
    };
    let letters: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base_64 = |sign: u8| {
        let digit = |place: usize| letters[(number >> (6 * (width - 1 - place)).min(63)) & 63];
        let mut bytes: Vec<u8> =
            (0..width).map(|place| if place + 6 < width { b'A' } else { digit(place) }).collect();
        bytes[0] = sign;
        bytes
    };
    let text = |text: String| {
        let mut bytes = text.into_bytes();
        bytes.resize(width, 0);
        bytes
    };
    vec![
        ("nul first", text(format!("\0{number:0w$o}", w = digits - 1))),
        ("two nuls first", text(format!("\0\0{number:0w$o}", w = digits - 2))),
        ("all nul", vec![0; width]),
        ("spaces first", text(format!("{number:digits$o}"))),
        ("a tab first", text(format!("\t{number:0w$o}", w = digits - 1))),
        ("a space at the end", text(format!("{number:0digits$o} "))),
        ("no end", text(format!("{number:0width$o}"))),
        ("short", text(format!("{number:o}"))),
        ("digits behind a nul", text(format!("{number:o}\x007"))),
        ("letters behind the digits", text(format!("{number:o}x"))),
        ("a digit of eight", text(format!("{number:o}8"))),
        ("hexadecimal", text(format!("0x{number:x}"))),
        ("a plus", text(format!("+{number:0w$o}", w = digits - 1))),
        ("a minus", text(format!("-{number:0w$o}", w = digits - 1))),
        ("only spaces", vec![b' '; width]),
        ("base 256", base_256(0x80)),
        ("base 256, negative", base_256(0xff)),
        ("base 64", base_64(b'+')),
        ("base 64, negative", base_64(b'-')),
    ]
}

pub(super) fn add(corpus: &mut Corpus) {
    let entries = small();
    let blocks = entries[ENTRY].blocks();
    let others: Vec<RawEntry> =
        entries.iter().enumerate().filter(|(at, _)| *at != ENTRY).map(|(_, e)| e.clone()).collect();
    let mut add = |family: &str, case: &str, hides: &str, block: &[u8]| {
        corpus.hostile(family, case, hides, with_bytes(&others, ENTRY, block));
    };
    let size = entries[ENTRY].contents.len();
    let time = usize::try_from(entries[ENTRY].time).unwrap();
    for (field, at, width, number) in [
        ("mode", 100, 8, 0o644),
        ("owner", 108, 8, 0),
        ("size", 124, 12, size),
        ("time", 136, 12, time),
        ("device", 329, 8, 0),
    ] {
        for (form, bytes) in numbers(number, width) {
            let mut block = blocks.clone();
            put(&mut block, at, &bytes);
            let hides = format!("the {field} of a listed file is written in another way");
            // A few forms are enough for what no program obeys.
            if block != blocks && (!matches!(field, "device" | "owner") || form.contains("nul")) {
                add("number", &format!("{field} {form}"), &hides, &block);
            }
        }
    }
    for (case, wrong) in [
        ("smaller", size - 512),
        ("zero", 0),
        ("larger", size + 512),
        ("a byte less", size - 1),
        ("huge", 0o77_777_777_777),
    ] {
        let mut block = blocks.clone();
        put(&mut block, 124, format!("{wrong:011o}\0").as_bytes());
        add("size", case, "a size that moves all that follows", &block);
    }
    type Form = fn(u32) -> String;
    let wrong: [(&str, Form); 6] = [
        ("too large", |sum| format!("{:06o}\0 ", sum + 1)),
        ("spaces first", |sum| format!("{sum:6o}\0 ")),
        ("seven digits", |sum| format!("{sum:07o}\0")),
        ("space then nul", |sum| format!("{sum:06o} \0")),
        ("nul first", |sum| format!("\0{sum:06o} ")),
        ("absent", |_| "        ".to_owned()),
    ];
    for (case, form) in wrong {
        let mut block = blocks.clone();
        sum(&mut block, form);
        add("sum", case, "a header whose checksum is wrong, or written in another way", &block);
    }
    for (case, at, bytes) in [
        ("magic of gnu", 257, &b"ustar  \0"[..]),
        ("magic absent", 257, &[0; 8]),
        ("magic without version", 257, b"ustar\0\0\0"),
        ("magic of spaces", 257, b"        "),
        ("version 1", 257, b"ustar\x0001"),
        ("version of spaces", 257, b"ustar\0  "),
        ("a user name", 265, b"root"),
        ("a group name", 297, b"root"),
        ("a user name behind a nul", 265, b"\0root"),
        ("a link name", 157, b"manifest.json"),
        ("bytes behind the name", 60, b"normalized.json"),
        ("another name behind a nul", 0, b"derived/hints.json\0on.json"),
        ("a slash at the end", entries[ENTRY].path.len(), b"/"),
        ("devices empty", 329, &[0; 16]),
        ("a prefix", 345, b"x"),
        ("a prefix of a dot", 345, b"."),
        ("a prefix of a slash", 345, b"/"),
        ("a prefix behind a nul", 345, b"\0x"),
        ("the end of the block", 500, b"tar\0"),
        ("the last byte", 511, b"\x01"),
        ("times of star", 476, b"15125632645 15125632645 "),
        ("magic of star", 508, b"tar\0"),
        ("offset of old gnu", 369, b"00000000001\0"),
        ("realsize of old gnu", 483, b"00000000001\0"),
    ] {
        let mut block = blocks.clone();
        put(&mut block, at, bytes);
        add("field", case, "a header field that the format leaves empty or fixed", &block);
        if case.starts_with("a prefix") {
            put(&mut block, 257, b"ustar  \0");
            add("field", &format!("{case} and magic of gnu"), "a prefix that some programs ignore", &block);
        }
    }
    // The same path, divided into prefix and name.
    let divided = |block: &[u8], path: &str, slash: usize, magic: &[u8]| {
        let mut block = block.to_vec();
        put(&mut block, 0, &[0; 100]);
        put(&mut block, 0, &path.as_bytes()[slash + 1..]);
        put(&mut block, 345, &path.as_bytes()[..slash]);
        put(&mut block, 257, magic);
        block
    };
    let path = &entries[ENTRY].path;
    for (case, magic) in [("posix", &b"ustar\x0000"[..]), ("gnu", b"ustar  \0"), ("absent", &[0; 8])] {
        let block = divided(&blocks, path, path.find('/').unwrap(), magic);
        add("prefix", &format!("short path, magic {case}"), "a path divided into prefix and name", &block);
    }
    let long = long();
    let last = long.last().unwrap();
    let plain = &last.blocks()[1024..];
    for (slash, _) in last.path.match_indices('/').skip(1) {
        for (case, magic) in [("posix", &b"ustar\x0000"[..]), ("gnu", b"ustar  \0")] {
            let name = &last.path[slash + 1..];
            if name.len() <= 100 {
                let block = divided(plain, &last.path, slash, magic);
                let bytes = with_bytes(&long[..long.len() - 1], long.len() - 1, &block);
                corpus.hostile(
                    "prefix",
                    &format!("long path at {slash}, magic {case}"),
                    "a long path without a pax header",
                    bytes,
                );
            }
        }
    }
    for (case, byte) in [("x", b'x'), ("a space", b' '), ("a high byte", 0xff)] {
        let mut entries = small();
        entries[ENTRY].padding = byte;
        corpus.hostile("padding", case, "bytes behind the contents", raw::gzip(&raw::tar(&entries)));
    }
    let mut entries = small();
    let last = entries.len() - 1;
    entries[last].padding = b'\n';
    corpus.hostile("padding", "the last file", "bytes behind the contents", raw::gzip(&raw::tar(&entries)));
}
