//! A second writer of the format, which shares no code with the crate and writes anything that a test asks for.

use std::io::{Read as _, Write as _};

use evidence_bundle::SigningKey;

use super::{CREATED_AT, File, sha256};

/// An entry in which every header field can be wrong.
#[derive(Debug, Clone)]
pub struct RawEntry {
    pub path: String,
    pub contents: Vec<u8>,
    pub kind: u8,
    pub mode: Vec<u8>,
    pub size: Option<Vec<u8>>,
    pub time: i64,
    pub link: String,
    pub pax: Option<Vec<u8>>,
    pub padding: u8,
}

impl RawEntry {
    pub fn new(path: &str, contents: &[u8]) -> RawEntry {
        RawEntry {
            path: path.to_owned(),
            contents: contents.to_vec(),
            kind: b'0',
            mode: b"0000644\0".to_vec(),
            size: None,
            time: CREATED_AT,
            link: String::new(),
            pax: None,
            padding: 0,
        }
    }

    /// The header or headers, the contents and the padding.
    pub fn blocks(&self) -> Vec<u8> {
        let size = |length: usize| format!("{length:011o}\0").into_bytes();
        let mut out = Vec::new();
        let needs_pax = self.path.len() > 100;
        let record = self.pax.clone().or_else(|| needs_pax.then(|| pax_record("path", &self.path)));
        if let Some(record) = record {
            out.extend(header("pax", b"0000644\0", &size(record.len()), self.time, b'x', ""));
            pad(&mut out, &record, 0);
        }
        let own = self.size.clone().unwrap_or_else(|| size(self.contents.len()));
        let name = &self.path[..self.path.len().min(100)];
        out.extend(header(name, &self.mode, &own, self.time, self.kind, &self.link));
        pad(&mut out, &self.contents, self.padding);
        out
    }
}

/// A pax record with any key.
pub fn pax_record(key: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    let rest = [format!(" {key}=").as_bytes(), value.as_ref(), b"\n"].concat();
    let length = (1..).find(|length: &usize| length.to_string().len() + rest.len() == *length).unwrap();
    [length.to_string().as_bytes(), &rest].concat()
}

fn pad(out: &mut Vec<u8>, contents: &[u8], with: u8) {
    out.extend_from_slice(contents);
    while !out.len().is_multiple_of(512) {
        out.push(with);
    }
}

/// A header as the format has it, apart from these fields.
pub fn header(name: &str, mode: &[u8], size: &[u8], time: i64, kind: u8, link: &str) -> [u8; 512] {
    let mut header = [0_u8; 512];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, mode);
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, size);
    put(136, format!("{time:011o}\0").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    if kind != b'x' {
        put(329, b"0000000\0");
        put(337, b"0000000\0");
    }
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// The entries of a whole bundle: list, signature, then the files.
pub fn entries(files: &[File], key: &SigningKey) -> Vec<RawEntry> {
    let list: String =
        files.iter().map(|(path, contents)| format!("{}  {path}\n", hex::encode(sha256(contents)))).collect();
    entries_with_list(files, list.as_bytes(), key)
}

/// The same with any list, signed unchanged.
pub fn entries_with_list(files: &[File], list: &[u8], key: &SigningKey) -> Vec<RawEntry> {
    let mut entries =
        vec![RawEntry::new("checksums.sha256", list), RawEntry::new("signature.sig", &key.sign(list))];
    entries.extend(files.iter().map(|(path, contents)| RawEntry::new(path, contents)));
    entries
}

/// The archive of these entries, with a correct end.
pub fn tar(entries: &[RawEntry]) -> Vec<u8> {
    let mut out: Vec<u8> = entries.iter().flat_map(RawEntry::blocks).collect();
    out.resize(out.len() + 1024, 0);
    out
}

/// One canonical gzip member around these bytes.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut deflate = flate2::write::DeflateEncoder::new(&mut out, flate2::Compression::new(6));
    deflate.write_all(bytes).unwrap();
    deflate.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    out
}

/// Splits a gzip file into header, contents and the part after the deflate stream.
pub fn take_apart(gzip: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (header, rest) = gzip.split_at(10);
    let mut decoder = flate2::bufread::DeflateDecoder::new(rest);
    let mut contents = Vec::new();
    decoder.read_to_end(&mut contents).unwrap();
    (header.to_vec(), contents, decoder.into_inner().to_vec())
}
