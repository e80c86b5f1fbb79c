//! Entries that the signature does not cover, or that differ from what it covers.

use crate::support::raw::{self, RawEntry};
use crate::support::{key, other_key, sha256, small_files};

use super::{Corpus, Verdict, changed, forged, pack, small};

pub(super) fn entry(kind: u8, path: &str, link: &str) -> RawEntry {
    RawEntry { kind, link: link.to_owned(), ..RawEntry::new(path, b"") }
}

pub(super) fn add(corpus: &mut Corpus) {
    extra(corpus);
    duplicates(corpus);
    changes(corpus);
    types(corpus);
    links(corpus);
    lists(corpus);
}

fn extra(corpus: &mut Corpus) {
    let file = |path: &str| RawEntry::new(path, b"{}");
    for (case, entry) in [
        ("another artifact", file("sources/codehost/zzz.json")),
        ("another document", file("derived/zzz.json")),
        ("a long path", file(&format!("sources/codehost/{}", "z".repeat(150)))),
        ("a dot as a wildcard, signature", file("signature_sig")),
        ("a dot as a wildcard, list", file("checksums-sha256")),
        ("a symbolic link for a wildcard", entry(b'2', "checksums_sha256", "/etc/hostname")),
        ("a line break between the two own names", file("checksums.sha256\nsignature.sig")),
        ("a line break before an own name", file("x\nsignature.sig")),
        ("a line break between listed names", file("run.json\nmanifest.json")),
        ("a line break at the end", file("manifest.json\n")),
        ("a hyphen", file("-")),
        ("an option", file("-rf")),
        ("an option of tar", file("--checkpoint-action=exec=sh")),
        ("another case", file("Manifest.json")),
        ("a space before", file(" manifest.json")),
        ("a space behind", file("manifest.json ")),
        ("a backslash", file("manifest.json\\n")),
        ("a carriage return", file("manifest.json\r")),
        ("the same path by way of a dot", file("./manifest.json")),
        ("the same path with two slashes", file("derived//normalized.json")),
        ("an escape sequence", file("\u{1b}[2K\u{1b}[1A")),
        ("letters of another script", file("m\u{430}nifest.json")),
        ("an absolute path", file("/tmp/evidence-stock-check/x")),
        ("a path out of the directory", file("../x")),
        ("the inflated archive beside the directory", file("../b.tar")),
        ("a name that a shell would run", file("sources/codehost/$(id)")),
        ("a dangling link", entry(b'2', "derived/x", "nowhere")),
        ("a hard link", entry(b'1', "derived/x", "manifest.json")),
        ("a fifo", entry(b'6', "derived/x", "")),
        ("a device", entry(b'3', "derived/x", "")),
        ("an empty directory", entry(b'5', "empty/", "")),
        ("a contiguous file", entry(b'7', "derived/x", "")),
        ("a set-user-id program", RawEntry { mode: b"0004755\0".to_vec(), ..file("derived/x") }),
    ] {
        for (place, before) in [("first", 0), ("last", small().len())] {
            let bytes = changed(|entries| entries.insert(before, entry.clone()));
            corpus.hostile("extra", &format!("{case} {place}"), "an entry that is not listed", bytes);
        }
    }
}

fn duplicates(corpus: &mut Corpus) {
    for (number, listed) in small().iter().enumerate() {
        let name = listed.path.rsplit('/').next().unwrap();
        let mut other = listed.clone();
        other.contents = forged(&listed.contents);
        for (place, before) in [("before", number), ("behind", small().len())] {
            let bytes = changed(|entries| entries.insert(before, other.clone()));
            let hides = "a second entry of a listed path with other contents";
            corpus.hostile("duplicate", &format!("{name} {place}"), hides, bytes);
        }
        let bytes = changed(|entries| entries.push(listed.clone()));
        corpus.hostile("duplicate", &format!("{name} equal"), "a listed entry twice", bytes);
    }
}

fn changes(corpus: &mut Corpus) {
    for (number, listed) in small().iter().enumerate() {
        let name = listed.path.rsplit('/').next().unwrap();
        let bytes = changed(|entries| entries[number].contents = forged(&entries[number].contents));
        corpus.hostile("changed", name, "a file is not the signed one", bytes);
        let bytes = changed(|entries| drop(entries.remove(number)));
        corpus.hostile("missing", name, "a file is missing", bytes);
        if number > 0 {
            let bytes = changed(|entries| entries.swap(number - 1, number));
            corpus.hostile("order", name, "two entries are in another order", bytes);
        }
        let bytes = changed(|entries| entries[number].time += 1);
        corpus.hostile("time", name, "an entry has another time", bytes);
    }
    let all = changed(|entries| entries.iter_mut().for_each(|entry| entry.time += 3600));
    corpus.hostile("time", "all", "all entries have the same wrong time", all);
    let stranger = pack(&raw::entries(&small_files(), &other_key()));
    corpus.hostile("changed", "key", "another key signed", stranger);
    let longer = changed(|entries| entries[1].contents.push(b'\n'));
    corpus.hostile("changed", "signature with a byte more", "bytes behind the signature", longer);
}

/// A listed file of each type; the types that a program does not know are read as files, skipped, or worse.
fn types(corpus: &mut Corpus) {
    for kind in (b'1'..=b'9').chain(*b"ADEIKLMNSVXZagsx").chain([0, b' ', 0xff]) {
        let bytes = changed(|entries| entries[4].kind = kind);
        corpus.hostile("type", &format!("{kind:02x}"), "a listed file is of another type", bytes);
    }
    for (name, number) in [("list", 0), ("signature", 1), ("document", 6)] {
        let bytes = changed(|entries| entries[number] = entry(b'6', &entries[number].path, ""));
        corpus.hostile("type", &format!("fifo as the {name}"), "a reader waits forever", bytes);
    }
    for (name, mode) in
        [("writable", "0000666"), ("executable", "0000755"), ("set-user-id", "0004644"), ("none", "0000000")]
    {
        let bytes = changed(|entries| entries[9].mode = format!("{mode}\0").into_bytes());
        corpus.hostile("mode", name, "a file has another mode", bytes);
    }
}

fn links(corpus: &mut Corpus) {
    let hides = "a link in place of a listed file";
    for (name, kind) in [("symbolic", b'2'), ("hard", b'1')] {
        let target = |path: &str| {
            if kind == b'2' { path.rsplit('/').next().unwrap().to_owned() } else { path.to_owned() }
        };
        let beside = changed(|entries| {
            let listed = std::mem::replace(
                &mut entries[4],
                entry(kind, "derived/hints.json", &target("derived/copy.json")),
            );
            entries.insert(4, RawEntry { path: "derived/copy.json".to_owned(), ..listed });
        });
        corpus.hostile("link", &format!("{name} to a copy"), hides, beside);
        let loose = changed(|entries| entries[4] = entry(kind, "derived/hints.json", "/etc/hostname"));
        corpus.hostile("link", &format!("{name} out"), hides, loose);
        let itself =
            changed(|entries| entries[4] = entry(kind, "derived/hints.json", &target("derived/hints.json")));
        corpus.hostile("link", &format!("{name} to itself"), hides, itself);
        // Two listed files with equal contents: the second could be a link to the first.
        let paths = ["sources/codehost/a.json", "sources/codehost/b.json"].map(str::to_owned);
        let mut twins = raw::entries(&super::files(&paths), &key());
        let last = twins.len() - 1;
        twins[last] = entry(kind, &paths[1], &target(&paths[0]));
        corpus.hostile("link", &format!("{name} to a listed file of equal contents"), hides, pack(&twins));
        twins[last].mode = b"0000777\0".to_vec();
        corpus.hostile(
            "link",
            &format!("{name} to a listed file of equal contents, open"),
            hides,
            pack(&twins),
        );
        for (name_of, number) in [("list", 0), ("signature", 1)] {
            let bytes = changed(|entries| {
                let path = entries[number].path.clone();
                let listed = std::mem::replace(&mut entries[number], entry(kind, &path, "own"));
                entries.insert(number, RawEntry { path: "own".to_owned(), ..listed });
            });
            corpus.hostile("link", &format!("{name} as the {name_of}"), hides, bytes);
        }
    }
    for target in ["/tmp", "..", ".", "derived"] {
        let bytes = changed(|entries| entries.insert(2, entry(b'2', "sources", target)));
        let hides = "a link to a directory, written through";
        corpus.hostile("link", &format!("directory to {}", target.replace('.', "dot")), hides, bytes);
    }
}

/// Lists by the trusted key that no verifier of the format accepts.
fn lists(corpus: &mut Corpus) {
    let files = small_files();
    let own = small().remove(0).contents;
    let hash = |contents: &[u8]| hex::encode(sha256(contents));
    let mut add = |verdict, case: &str, line: String, path: &str| {
        let list = [own.as_slice(), line.as_bytes()].concat();
        let mut entries = raw::entries_with_list(&files, &list, &key());
        if !path.is_empty() {
            entries.push(RawEntry::new(path, b"{}"));
        }
        let hides = "the signed list has a line that the format does not allow";
        corpus.add(verdict, "list", case, hides, pack(&entries));
    };
    let outside = hash(b"outside");
    let (hostile, signed) = (Verdict::Hostile, Verdict::Unjudged);
    add(
        hostile,
        "an absolute path, stored without its slash",
        format!("{outside}  /etc/hostname\n"),
        "etc/hostname",
    );
    add(hostile, "an absolute path, stored", format!("{}  /b/x\n", hash(b"{}")), "/b/x");
    add(hostile, "a way up", format!("{}  ../b/../x\n", hash(b"{}")), "../x");
    add(hostile, "an escaped name", format!("\\{}  x\\ny\n", hash(b"{}")), "x\ny");
    add(hostile, "a file twice", format!("{}  manifest.json\n", hash(&files[0].1)), "");
    add(signed, "an option", format!("{}  --owner=5\n", hash(b"{}")), "--owner=5");
    let upper = hash(b"{}").to_uppercase();
    add(signed, "an upper-case checksum", format!("{upper}  sources/codehost/x\n"), "sources/codehost/x");
}
