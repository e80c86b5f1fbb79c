//! Extended headers: pax (`x`, `g`), Sun (`X`), long names of GNU (`L`, `K`), and sparse files in their four forms.

use crate::support::CREATED_AT;
use crate::support::raw::{self, RawEntry, pax_record};

use super::fields::put;
use super::{Corpus, forged, long, pack, small, with_bytes};

/// The number of the entry after the header.
const ENTRY: usize = 5;

/// An entry of any type with these contents.
pub(super) fn special(kind: u8, name: &str, contents: &[u8]) -> Vec<u8> {
    let size = format!("{:011o}\0", contents.len()).into_bytes();
    let mut blocks = raw::header(name, b"0000644\0", &size, CREATED_AT, kind, "").to_vec();
    blocks.extend_from_slice(contents);
    blocks.resize(blocks.len().next_multiple_of(512), 0);
    blocks
}

/// Records that a program may obey: name of the case, and the bytes.
fn records() -> Vec<(&'static str, Vec<u8>)> {
    let record = |key: &str, value: &str| pax_record(key, value);
    let own = &small()[ENTRY];
    let size = own.contents.len();
    vec![
        ("nothing", Vec::new()),
        ("the same path", record("path", &own.path)),
        ("another path", record("path", "derived/other.json")),
        ("the path of another file", record("path", "derived/hints.json")),
        ("a path with a dot", record("path", &format!("./{}", own.path))),
        ("a path out", record("path", "../x")),
        ("an empty path", record("path", "")),
        ("a path with a nul", record("path", &format!("{}\0x", own.path))),
        ("a path with a line break", record("path", &format!("{}\n", own.path))),
        ("two paths, the first wrong", [record("path", "derived/x"), record("path", &own.path)].concat()),
        ("two paths, the last wrong", [record("path", &own.path), record("path", "derived/x")].concat()),
        ("the same size", record("size", &size.to_string())),
        ("a smaller size", record("size", &(size - 512).to_string())),
        ("a larger size", record("size", &(size + 1024).to_string())),
        ("no size", record("size", "0")),
        ("a negative size", record("size", "-1")),
        ("a link", record("linkpath", "manifest.json")),
        ("the same time", record("mtime", &CREATED_AT.to_string())),
        ("another time", record("mtime", "1")),
        ("a fraction of a second", record("mtime", &format!("{CREATED_AT}.5"))),
        ("access time", record("atime", "1")),
        ("change time", record("ctime", "1")),
        ("an owner", [record("uid", "5"), record("gid", "5")].concat()),
        ("names of owners", [record("uname", "root"), record("gname", "root")].concat()),
        ("a comment", record("comment", "hidden text")),
        ("binary names", record("hdrcharset", "BINARY")),
        ("an unknown key", record("VENDOR.key", "value")),
        ("an attribute", record("SCHILY.xattr.user.x", "1")),
        ("an attribute of bsdtar", record("LIBARCHIVE.xattr.user.x", "MQ==")),
        ("an access list", record("SCHILY.acl.access", "user::rwx,group::r--,other::---")),
        ("a device number", [record("SCHILY.devmajor", "1"), record("SCHILY.devminor", "3")].concat()),
        ("a file type", record("SCHILY.filetype", "fifo")),
        ("a real size of star", record("SCHILY.realsize", "1")),
        ("a dump directory", record("GNU.dumpdir", "Yx\0\0")),
        (
            "a volume",
            [record("GNU.volume.filename", "derived/x"), record("GNU.volume.offset", "10")].concat(),
        ),
        ("a volume label", record("GNU.volume.label", "x")),
        ("a length too small", b"11 path=derived/x\n".to_vec()),
        ("a length too large", b"99 path=derived/x\n".to_vec()),
        ("a length with a zero", b"021 path=derived/xyz\n".to_vec()),
        ("a length with a space", b" 18 path=derived/x\n".to_vec()),
        ("no length", b"path=derived/x\n".to_vec()),
        ("no equals sign", b"10 pathxy\n".to_vec()),
        ("no line break", b"17 path=derived/x".to_vec()),
        ("an enormous length", b"99999999999999999999 path=x\n".to_vec()),
    ]
}

pub(super) fn add(corpus: &mut Corpus) {
    let entries = small();
    for (case, record) in records() {
        let header = special(b'x', "pax", &record);
        corpus.hostile(
            "pax",
            case,
            "an extended header before a listed file",
            with_bytes(&entries, ENTRY, &header),
        );
        let header = special(b'g', "pax", &record);
        corpus.hostile("global", case, "a global header before all files", with_bytes(&entries, 0, &header));
    }
    for (case, kind) in [("x", b'x'), ("g", b'g')] {
        let header = special(kind, "pax", &pax_record("comment", "hidden text"));
        for (place, before) in [("before the signature", 1), ("before the end", entries.len())] {
            let bytes = with_bytes(&entries, before, &header);
            corpus.hostile("pax", &format!("{case} {place}"), "an extended header", bytes);
        }
    }
    let sun = special(b'X', "pax", &pax_record("path", "derived/x"));
    corpus.hostile("pax", "of sun", "an extended header of an old kind", with_bytes(&entries, ENTRY, &sun));
    let global = special(b'g', "pax", &pax_record("path", "derived/x"));
    let pair = [global, special(b'x', "pax", &pax_record("path", &entries[ENTRY].path))].concat();
    corpus.hostile(
        "global",
        "a path, and a local one",
        "two headers that disagree",
        with_bytes(&entries, ENTRY, &pair),
    );
    long_paths(corpus);
    gnu(corpus);
    sparse(corpus);
}

/// The one pax header that the format has, in other forms.
fn long_paths(corpus: &mut Corpus) {
    let entries = long();
    let last = entries.len() - 1;
    let path = &entries[last].path;
    let blocks = entries[last].blocks();
    let mut add = |case: &str, hides: &str, bytes: &[u8]| {
        corpus.hostile("long", case, hides, with_bytes(&entries[..last], last, bytes));
    };
    for (case, at, bytes) in [
        ("another name of the header", 0, &b"PaxHeader\0"[..]),
        ("the name that gnu tar gives", 0, b"sources/PaxHeaders/x\0"),
        ("no name of the header", 0, &[0; 3]),
        ("another mode", 100, b"0000600\0"),
        ("another owner", 108, b"0001000\0"),
        ("another time", 136, b"00000000000\0"),
        ("device numbers", 329, b"0000000\x000000000\0"),
        ("a user name", 265, b"root"),
        ("magic of gnu", 257, b"ustar  \0"),
        ("a prefix", 345, b"x"),
        ("another name of the file", 1024, b"derived/x\0"),
        ("no name of the file", 1024, &[0; 100]),
        ("a last byte of the name", 1024 + 99, b"x"),
        ("a prefix of the file", 1024 + 345, b"sources"),
        ("another size of the file", 1024 + 124, b"00000000001\0"),
        ("bytes behind the record", 512 + 300, b"hidden"),
    ] {
        let mut changed = blocks.clone();
        let block = at / 512 * 512;
        match block {
            512 => changed[at..at + bytes.len()].copy_from_slice(bytes),
            _ => put(&mut changed[block..block + 512], at - block, bytes),
        }
        add(case, "the pax header of a long path is not the canonical one", &changed);
    }
    let record = pax_record("path", path);
    for (case, records) in [
        ("a second record", [record.clone(), pax_record("comment", "x")].concat()),
        ("a record before", [pax_record("comment", "x"), record.clone()].concat()),
        ("the record twice", [record.clone(), record.clone()].concat()),
        ("another path before", [pax_record("path", "derived/x"), record.clone()].concat()),
        ("another path behind", [record.clone(), pax_record("path", "derived/x")].concat()),
        ("another end of the path", pax_record("path", format!("{}x", &path[..path.len() - 1]))),
        ("a time", [record.clone(), pax_record("mtime", CREATED_AT.to_string())].concat()),
        ("a size", [record.clone(), pax_record("size", "2")].concat()),
        ("a zero behind the record", [record.as_slice(), b"\0"].concat()),
    ] {
        let header = [special(b'x', "pax", &records), blocks[1024..].to_vec()].concat();
        add(case, "the pax header of a long path has other records", &header);
    }
    add("two headers", "the pax header twice", &[&blocks[..1024], &blocks[..]].concat());
    add("no header", "a long path is cut to the name", &blocks[1024..]);
    let global = [special(b'g', "pax", &record), blocks[1024..].to_vec()].concat();
    add("a global header", "a long path in a global header", &global);
    let name = [path.as_bytes(), b"\0"].concat();
    let gnu = [special(b'L', "././@LongLink", &name), blocks[1024..].to_vec()].concat();
    add("a long name of gnu", "a long path in an entry of GNU tar", &gnu);
    let both = [special(b'L', "././@LongLink", b"derived/x\0"), blocks.clone()].concat();
    add("a long name of gnu before", "two headers that disagree", &both);
    let between =
        [blocks[..1024].to_vec(), special(b'L', "././@LongLink", b"derived/x\0"), blocks[1024..].to_vec()]
            .concat();
    add("a long name of gnu between", "two headers that disagree", &between);
    let comment =
        [blocks[..1024].to_vec(), special(b'g', "pax", &pax_record("comment", "x")), blocks[1024..].to_vec()]
            .concat();
    add("a global header between", "an extended header", &comment);
}

fn gnu(corpus: &mut Corpus) {
    let entries = small();
    let own = &entries[ENTRY].path;
    for (case, name) in [
        ("the same name", format!("{own}\0")),
        ("the same name without an end", own.clone()),
        ("another name", "derived/x\0".to_owned()),
        ("the name of another file", "derived/hints.json\0".to_owned()),
        ("nothing", String::new()),
        ("a nul", "\0".to_owned()),
        ("text behind the name", format!("{own}\0hidden text")),
        ("a way up", "../x\0".to_owned()),
    ] {
        for (kind, letter) in [("long name", b'L'), ("long link", b'K')] {
            let header = special(letter, "././@LongLink", name.as_bytes());
            let bytes = with_bytes(&entries, ENTRY, &header);
            corpus.hostile(
                "gnu",
                &format!("{kind} {case}"),
                "an entry of GNU tar that renames the next",
                bytes,
            );
        }
    }
    let twice = [
        special(b'L', "././@LongLink", b"derived/x\0"),
        special(b'L', "././@LongLink", format!("{own}\0").as_bytes()),
    ];
    corpus.hostile(
        "gnu",
        "two long names",
        "the first or the last counts",
        with_bytes(&entries, ENTRY, &twice.concat()),
    );
    for (case, kind) in [
        ("a volume label", b'V'),
        ("a list of names", b'N'),
        ("a dump directory", b'D'),
        ("a continued file", b'M'),
    ] {
        for (place, before) in [("first", 0), ("last", entries.len())] {
            let bytes = with_bytes(&entries, before, &special(kind, "label", b""));
            corpus.hostile("gnu", &format!("{case} {place}"), "an entry of GNU tar that is no file", bytes);
        }
    }
}

/// A listed file whose contents are stored as parts, with forged bytes where some program does not look.
fn sparse(corpus: &mut Corpus) {
    let entries = small();
    let own = &entries[ENTRY];
    let (before, after) = (&entries[..ENTRY], &entries[ENTRY + 1..]);
    let mut add = |case: &str, blocks: &[u8]| {
        let mut tar: Vec<u8> = before.iter().flat_map(RawEntry::blocks).collect();
        tar.extend_from_slice(blocks);
        tar.extend(raw::tar(after));
        corpus.hostile("sparse", case, "a file that is stored as parts", raw::gzip(&tar));
    };
    let size = own.contents.len();
    let text = size.to_string();
    for (form, contents) in [("true", own.contents.clone()), ("forged", forged(&own.contents))] {
        // The old form: the map is in the header.
        let mut old = special(b'S', &own.path, &contents);
        put(&mut old, 257, b"ustar  \0");
        put(&mut old, 386, format!("{:011o}\0{size:011o}\0", 0).as_bytes());
        put(&mut old, 483, format!("{size:011o}\0").as_bytes());
        add(&format!("old, {form}"), &old);
        put(&mut old, 483, format!("{:011o}\0", size + 512).as_bytes());
        add(&format!("old, larger, {form}"), &old);
        // 0.0 and 0.1: the map is in the extended header.
        let map = [
            pax_record("GNU.sparse.size", &text),
            pax_record("GNU.sparse.numblocks", "1"),
            pax_record("GNU.sparse.offset", "0"),
            pax_record("GNU.sparse.numbytes", &text),
        ];
        add(
            &format!("pax 0.0, {form}"),
            &[special(b'x', "pax", &map.concat()), special(b'0', &own.path, &contents)].concat(),
        );
        let map = [
            pax_record("GNU.sparse.name", &own.path),
            pax_record("GNU.sparse.size", &text),
            pax_record("GNU.sparse.numblocks", "1"),
            pax_record("GNU.sparse.map", format!("0,{size}")),
        ];
        add(
            &format!("pax 0.1, {form}"),
            &[special(b'x', "pax", &map.concat()), special(b'0', &own.path, &contents)].concat(),
        );
        // 1.0: the map is before the contents, and the entry has a name of its own.
        let records = [
            pax_record("GNU.sparse.major", "1"),
            pax_record("GNU.sparse.minor", "0"),
            pax_record("GNU.sparse.name", &own.path),
            pax_record("GNU.sparse.realsize", &text),
        ];
        let mut stored = format!("1\n0\n{size}\n").into_bytes();
        stored.resize(512, 0);
        stored.extend_from_slice(&contents);
        let other_name = special(b'0', "derived/GNUSparseFile.0/x", &stored);
        add(&format!("pax 1.0, {form}"), &[special(b'x', "pax", &records.concat()), other_name].concat());
        let same_name = special(b'0', &own.path, &stored);
        add(
            &format!("pax 1.0 of the same name, {form}"),
            &[special(b'x', "pax", &records.concat()), same_name].concat(),
        );
        let name_only = special(b'x', "pax", &pax_record("GNU.sparse.name", "derived/x"));
        add(&format!("only a name, {form}"), &[name_only, special(b'0', &own.path, &contents)].concat());
    }
    let hole = RawEntry { kind: b'S', ..entries[ENTRY].clone() };
    let mut all = entries.clone();
    all[ENTRY] = hole;
    corpus.hostile("sparse", "without a map", "a file that is stored as parts", pack(&all));
}
