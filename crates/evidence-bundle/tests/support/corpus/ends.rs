//! Bytes behind the end, ends that programs do not agree on, and files that are more than one archive.

use crate::support::raw;

use super::{Corpus, Verdict, forged_archive, small};

pub(super) fn add(corpus: &mut Corpus) {
    let tar = raw::tar(&small());
    let body = &tar[..tar.len() - 1024];
    let zeros = |blocks: usize| vec![0; blocks * 512];
    let packed = |parts: &[&[u8]]| raw::gzip(&parts.concat());
    let forged = forged_archive();
    let half = body.len() / 1024 * 512;
    for (case, hides, bytes) in [
        ("no end", "the archive has no end", packed(&[body])),
        ("one block", "half an end", packed(&[body, &zeros(1)])),
        ("three blocks", "more than the end", packed(&[body, &zeros(3)])),
        (
            "a record of 10240 bytes",
            "more than the end",
            packed(&[&tar, &vec![0; 10_240 - tar.len() % 10_240]]),
        ),
        ("a byte of zero more", "more than the end", packed(&[&tar, &[0]])),
        ("a byte less", "less than the end", packed(&[&tar[..tar.len() - 1]])),
        ("a byte in the end", "an end that is not zero", packed(&[&tar[..tar.len() - 1], b"x"])),
        (
            "a byte in the first block of the end",
            "an end that is not zero",
            packed(&[body, b"x", &tar[body.len() + 1..]]),
        ),
        ("text behind", "bytes behind the end", packed(&[&tar, b"hidden"])),
        ("a forged archive behind", "an archive behind the end", packed(&[&tar, &forged])),
        ("a forged archive behind zeros", "an archive behind the end", packed(&[&tar, &zeros(20), &forged])),
        (
            "a forged archive behind one block",
            "an archive behind half an end",
            packed(&[body, &zeros(1), &forged]),
        ),
        ("a forged archive instead of an end", "entries twice", packed(&[body, &forged])),
        ("a forged archive before", "an archive before the signed one", packed(&[&forged, &tar])),
        (
            "a forged archive before one block",
            "an archive before the signed one",
            packed(&[&forged[..forged.len() - 512], &tar]),
        ),
        (
            "a forged archive before without an end",
            "entries twice",
            packed(&[&forged[..forged.len() - 1024], &tar]),
        ),
        ("the archive twice", "entries behind the end", packed(&[&tar, &tar])),
        ("one block before", "an end at the beginning", packed(&[&zeros(1), &tar])),
        ("two blocks before", "an end at the beginning", packed(&[&zeros(2), &tar])),
        (
            "one block in the middle",
            "half an end",
            packed(&[&body[..1024], &zeros(1), &body[1024..], &zeros(2)]),
        ),
        (
            "two blocks in the middle",
            "an end in the middle",
            packed(&[&body[..1024], &zeros(2), &body[1024..], &zeros(2)]),
        ),
        (
            "a compressed archive behind",
            "another archive behind the end",
            packed(&[&tar, &raw::gzip(&forged)]),
        ),
        ("text before", "bytes before the first header", packed(&[b"hidden", &tar])),
        ("a block of text before", "a block before the first header", packed(&[&[b'x'; 512], &tar])),
        ("cut in a header", "the archive is cut", packed(&[&tar[..700]])),
        ("cut in contents", "the archive is cut", packed(&[&tar[..half + 100]])),
        ("cut between blocks", "the archive is cut", packed(&[&tar[..half]])),
        ("empty", "nothing", packed(&[])),
        ("only an end", "nothing", packed(&[&zeros(2)])),
    ] {
        corpus.hostile("end", case, hides, bytes);
    }
    members(corpus, &tar, &forged);
}

/// The compressed file.
fn members(corpus: &mut Corpus, tar: &[u8], forged: &[u8]) {
    let (good, other) = (raw::gzip(tar), raw::gzip(forged));
    let hides = "a second gzip member";
    corpus.hostile("gzip", "a forged member behind", hides, [good.clone(), other.clone()].concat());
    corpus.hostile("gzip", "a forged member before", hides, [other.clone(), good.clone()].concat());
    let open = raw::gzip(&forged[..forged.len() - 1024]);
    corpus.hostile("gzip", "a forged member without an end before", hides, [open, good.clone()].concat());
    corpus.hostile(
        "gzip",
        "twice compressed",
        "an archive that one program inflates once more",
        raw::gzip(&good),
    );
    corpus.hostile("gzip", "not compressed", "an archive without its compression", tar.to_vec());
    corpus.hostile("gzip", "not compressed, a compressed one behind", "two archives", [tar, &good].concat());
    corpus.hostile("gzip", "cut", "the compressed data is cut", good[..good.len() / 2].to_vec());
    corpus.hostile("gzip", "an empty file", "nothing", Vec::new());
    corpus.hostile("gzip", "a zip archive", "gzip inflates its first file, others list it", zip(tar));
    corpus.hostile(
        "gzip",
        "a forged archive in an extra field",
        "bytes in the header of the compressed data",
        with_extra(&good, forged),
    );
    let mut crc = good.clone();
    let at = crc.len() - 8;
    crc[at] ^= 1;
    corpus.hostile("gzip", "a wrong checksum", "damaged data that some programs accept", crc);
    let mut unjudged =
        |case: &str, hides: &str, bytes| corpus.add(Verdict::Unjudged, "framing", case, hides, bytes);
    let (first, second) = tar.split_at(2000);
    unjudged("two members", "the same bytes in two parts", [raw::gzip(first), raw::gzip(second)].concat());
    unjudged("an empty member behind", "the same bytes", [good.clone(), raw::gzip(b"")].concat());
    unjudged(
        "zeros behind",
        "the same bytes, and zeros that gzip ignores",
        [good.as_slice(), &[0; 512]].concat(),
    );
    unjudged(
        "text behind",
        "the same bytes, and text that some programs ignore",
        [good.as_slice(), b"hidden"].concat(),
    );
    let mut named = good;
    named[3] = 8;
    named.splice(10..10, *b"name\0");
    unjudged("a file name", "the same bytes, and a name", named);
}

/// A gzip header with an extra field of these bytes.
fn with_extra(gzip: &[u8], extra: &[u8]) -> Vec<u8> {
    let mut bytes = gzip.to_vec();
    bytes[3] = 4;
    let length = u16::try_from(extra.len()).unwrap().to_le_bytes();
    bytes.splice(10..10, length.into_iter().chain(extra.iter().copied()));
    bytes
}

/// A zip archive with one compressed file, which `gzip -d` also accepts.
fn zip(contents: &[u8]) -> Vec<u8> {
    let gzip = raw::gzip(contents);
    let (deflated, trailer) = gzip[10..].split_at(gzip.len() - 18);
    let mut about = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    about.extend_from_slice(&trailer[..4]);
    about.extend_from_slice(&u32::try_from(deflated.len()).unwrap().to_le_bytes());
    about.extend_from_slice(&trailer[4..]);
    about.extend_from_slice(&[5, 0, 0, 0]);
    let mut zip = [b"PK\x03\x04", about.as_slice(), b"b.tar", deflated].concat();
    let start = u32::try_from(zip.len()).unwrap();
    let central = [b"PK\x01\x02\x14\0", about.as_slice(), &[0; 14], b"b.tar"].concat();
    let size = u32::try_from(central.len()).unwrap();
    zip.extend(central);
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend_from_slice(&size.to_le_bytes());
    zip.extend_from_slice(&start.to_le_bytes());
    zip.extend_from_slice(&[0, 0]);
    zip
}
