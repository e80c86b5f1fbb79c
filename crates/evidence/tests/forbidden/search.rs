//! Searches everything that a run leaves for secrets: complete, in parts, encoded, and as digests.

use std::fs;
use std::path::Path;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::common::{gunzip, names};

/// A part of a secret of this length counts as a leak.
const PART: usize = 12;

/// The forms in which secrets may appear.
pub(crate) struct Traces {
    texts: Vec<(String, usize)>,
    finder: AhoCorasick,
}

impl Traces {
    /// The traces of these secrets: their parts, their encodings, their digests.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Traces {
        let mut texts: Vec<(String, usize)> = Vec::new();
        for (number, secret) in secrets.into_iter().enumerate() {
            let mut forms = parts(secret, PART);
            for offset in 0..3 {
                let padded = [vec![b'x'; offset], secret.as_bytes().to_vec()].concat();
                for encoded in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
                    // Without the ends, which mix in bits of neighbouring bytes.
                    let own = &encoded[(offset * 8usize).div_ceil(6)..padded.len() * 8 / 6];
                    forms.extend(parts(own, 16));
                }
            }
            let all_escaped: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let json: String = secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
            forms.extend(parts(&all_escaped, 3 * PART));
            forms.extend(parts(&all_escaped.to_lowercase(), 3 * PART));
            forms.extend(parts(&json, 6 * PART));
            let digests = [Sha256::digest(secret).to_vec(), sha1(secret.as_bytes())];
            for digest in digests {
                let hex = hex::encode(&digest);
                // Also truncated, as commonly printed.
                forms.push(hex[..16].to_string());
                forms.push(hex[..16].to_uppercase());
                forms.push(STANDARD_NO_PAD.encode(&digest)[..16].to_string());
                forms.push(URL_SAFE_NO_PAD.encode(&digest)[..16].to_string());
            }
            texts.extend(forms.into_iter().map(|form| (form, number)));
        }
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let finder = AhoCorasick::builder().kind(kind).build(texts.iter().map(|(text, _)| text)).unwrap();
        Traces { texts, finder }
    }

    /// The first trace in these bytes: the secret's number, and the trace.
    pub(crate) fn in_bytes(&self, bytes: &[u8]) -> Option<(usize, &str)> {
        let (trace, number) = &self.texts[self.finder.find(bytes)?.pattern().as_usize()];
        Some((*number, trace))
    }

    /// Asserts that these bytes contain no trace.
    #[track_caller]
    pub(crate) fn absent(&self, place: &str, bytes: &[u8]) {
        if let Some((number, trace)) = self.in_bytes(bytes) {
            let text = String::from_utf8_lossy(bytes);
            let around = text.lines().find(|line| line.contains(trace)).unwrap_or_default();
            panic!("leak of secret {number} in {place}: {trace} in: {around}");
        }
    }

    /// Asserts that no file below this directory, packed or unpacked, and no file name contains a trace, except for
    /// files that the test itself wrote with secrets.
    #[track_caller]
    pub(crate) fn absent_below(&self, directory: &Path, but: &[&str]) {
        for name in names(directory) {
            if but.contains(&name.as_str()) {
                continue;
            }
            self.absent("a file's name", name.as_bytes());
            let path = directory.join(&name);
            if path.is_dir() {
                self.absent_below(&path, but);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            if name.ends_with(".gz") {
                self.absent(&name, &gunzip(&bytes));
            }
            self.absent(&name, &bytes);
        }
    }
}

/// Every part of this length; the whole text if it is shorter.
fn parts(text: &str, length: usize) -> Vec<String> {
    let bytes = text.as_bytes();
    if bytes.len() <= length {
        return vec![text.to_string()];
    }
    bytes.windows(length).map(|part| String::from_utf8(part.to_vec()).unwrap()).collect()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, bytes).as_ref().to_vec()
}

/// Tests the search itself: it finds each form.
#[test]
fn every_trace_is_found() {
    let secret = concat!("gh", "p_CliTestsOwnerTokenIsNotARealSecret01");
    let traces = Traces::of(["another-one-entirely", secret]);
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let json: String = secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let mut texts = vec![
        secret.to_string(),
        secret[5..20].to_string(),
        percent,
        json,
        hex::encode(Sha256::digest(secret)),
        hex::encode_upper(sha1(secret.as_bytes())),
        STANDARD_NO_PAD.encode(Sha256::digest(secret)),
    ];
    for before in 0..5 {
        texts.push(STANDARD_NO_PAD.encode(format!("{}{secret}-", "y".repeat(before))));
        texts.push(URL_SAFE_NO_PAD.encode(&format!("{}{secret}-", "y".repeat(before))[before..]));
    }
    for text in texts {
        let found = traces.in_bytes(format!("before {text} after").as_bytes());
        assert_eq!(found.map(|(number, _)| number), Some(1), "{text}");
    }
    assert!(traces.in_bytes(b"nothing to see here, but for a long text of no secret at all").is_none());
}
