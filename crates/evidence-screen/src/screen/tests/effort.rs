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
        assert_eq!(screen().check(text.as_bytes()), []);
        assert_eq!(screen().check(STANDARD.encode(&text).as_bytes()), []);
    }
}

/// Runs of characters that show nothing hide nothing.
#[test]
fn characters_that_show_nothing_hide_nothing() {
    for sign in ["\0", "\u{200b}", "\u{ad}"] {
        assert_eq!(screen().check(sign.repeat(300_000).as_bytes()), []);
    }
}
