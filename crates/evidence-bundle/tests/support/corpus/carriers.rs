//! Whole forged archives inside an entry that one program skips and another reads: the size of the entry is written so
//! that programs disagree about it, or belongs to a type for which some ignore it.

use crate::support::CREATED_AT;
use crate::support::raw::{self, pax_record};

use super::extended::special;
use super::fields::{numbers, put};
use super::{Corpus, forged_archive, small, with_bytes};

/// A forged archive that is also one pax record: its first block is a header whose name is the beginning of the record.
fn record() -> Vec<u8> {
    let archive = forged_archive();
    let size = archive.len() + 1024;
    let name = format!("{size} comment=x");
    let mut record = special(b'0', &name, b"");
    record.extend(archive);
    record.resize(size - 1, 0);
    record.push(b'\n');
    record
}

/// A forged archive that is also a name: the path of the first entry, with a nul behind it.
fn name() -> Vec<u8> {
    forged_archive()
}

pub(super) fn add(corpus: &mut Corpus) {
    let entries = small();
    for (case, kind, title, contents) in [
        ("pax header", b'x', "pax", record()),
        ("global header", b'g', "pax", record()),
        ("long name", b'L', "././@LongLink", name()),
        ("long link", b'K', "././@LongLink", name()),
        ("extra file", b'0', "derived/x", forged_archive()),
    ] {
        let canonical = format!("{:011o}\0", contents.len()).into_bytes();
        for (form, bytes) in std::iter::once(("canonical", canonical)).chain(numbers(contents.len(), 12)) {
            let mut carrier = special(kind, title, &contents);
            put(&mut carrier, 124, &bytes);
            let hides = "a forged archive before the signed one, whose size programs read differently";
            corpus.hostile(
                "carrier",
                &format!("{case} size {form}"),
                hides,
                with_bytes(&entries, 0, &carrier),
            );
        }
        let last = with_bytes(&entries, entries.len(), &special(kind, title, &contents));
        corpus.hostile("carrier", &format!("{case} last"), "a forged archive behind the signed one", last);
    }
    for kind in (b'1'..=b'7').chain(*b"ADEIMNSVXZs").chain([0]) {
        let mut carrier = special(kind, "derived/x", &forged_archive());
        put(&mut carrier, 157, b"manifest.json");
        let hides = "a forged archive as the contents of a type that has none for some programs";
        corpus.hostile("carrier", &format!("type {kind:02x}"), hides, with_bytes(&entries, 0, &carrier));
    }
    // A pax header gives the next entry a size that its own header contradicts.
    let length = forged_archive().len();
    for (case, size, own) in [("only in the record", length, 0), ("only in the header", 0, length)] {
        let mut carrier = special(b'0', "derived/x", &forged_archive());
        put(&mut carrier, 124, format!("{own:011o}\0").as_bytes());
        for (kind, name) in [(b'x', "pax"), (b'g', "global")] {
            let header = special(kind, "pax", &pax_record("size", size.to_string()));
            let bytes = with_bytes(&entries, 0, &[header, carrier.clone()].concat());
            corpus.hostile(
                "carrier",
                &format!("{name} size {case}"),
                "a forged archive with two sizes",
                bytes,
            );
        }
    }
    // The contents of a listed file end where the size says, or where the checksum of the next header is right.
    let size = b"\x0000000000000";
    let header = raw::header("derived/x", b"0000644\0", size, CREATED_AT, b'0', "");
    corpus.hostile(
        "carrier",
        "a nul size without contents",
        "an entry of no size",
        with_bytes(&entries, 0, &header),
    );
}
