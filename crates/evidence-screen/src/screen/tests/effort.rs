//! A text that needs too much effort is a finding; what ends early is never silent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::ENTANGLED;

/// It decodes to text that decodes to text, at several offsets.
#[test]
fn a_text_that_needs_too_much_effort_is_entangled() {
    let text = "V".repeat(300_000);
    let findings = screen().check(text.as_bytes());
    assert!(findings.iter().any(|found| found.rule == ENTANGLED), "{findings:?}");
    assert_eq!(screen().redact(&text), "[redacted: entangled]");
}

/// Nothing is hidden in it, but patterns match everywhere.
#[test]
fn a_text_with_too_many_matches_is_entangled() {
    let line = concat!("PGPASS", "WORD=7Kq2vM9xab psql\n");
    let is_entangled = |lines: usize| {
        let findings = screen().check(line.repeat(lines).as_bytes());
        assert!(findings.iter().any(|found| found.rule == "command-password"));
        findings.iter().any(|found| found.rule == ENTANGLED)
    };
    assert!(is_entangled(40_000));
    assert!(!is_entangled(1_000));
}

/// Large files whose names and numbers look as random as they can.
#[test]
fn a_large_ordinary_text_is_not_entangled() {
    let mut random = Rng::with_seed(20_261_124);
    let mut owners = String::new();
    let mut digests = String::new();
    while owners.len() < 1_000_000 {
        let mut name = |length: usize| (0..length).map(|_| random.alphanumeric()).collect::<String>();
        let (path, team, number) = (name(12), name(8), name(4));
        owners.push_str(&format!("/services/{path}/**/*.rs @acme/{team} # area {number}\n"));
        digests.push_str(&format!("{:032x}{:032x}  {path}.json\n", random.u128(..), random.u128(..)));
    }
    for text in [owners, digests] {
        let encoded = STANDARD.encode(&text);
        let lines: Vec<_> = encoded.as_bytes().chunks(60).map(String::from_utf8_lossy).collect();
        let lines = lines.join("\n");
        // As hosts answer.
        let content = serde_json::to_string(&lines).unwrap();
        let texts = [serde_json::to_string(&text).unwrap(), serde_json::to_string(&content).unwrap()];
        for text in texts.into_iter().chain([text, encoded, lines, content]) {
            assert_eq!(screen().check(text.as_bytes()), [], "{}", &text[..200]);
        }
    }
}

/// Runs of characters that show nothing hide nothing.
#[test]
fn characters_that_show_nothing_hide_nothing() {
    for sign in ["\0", "\u{200b}", "\u{ad}"] {
        assert_eq!(screen().check(sign.repeat(300_000).as_bytes()), []);
    }
}
