//! Texts that must be found, anywhere, safely and quickly.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

#[test]
fn every_rule_is_sound() {
    assert!(screen().0.prefilter.is_some());
    let mut ids: Vec<&str> = PATTERNS.iter().map(|rule| rule.id).collect();
    ids.push(OWN_CREDENTIAL);
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "two rules of one name");
    let ids: Vec<&str> = PATTERNS.iter().map(|rule| rule.id).collect();
    for rule in PATTERNS {
        let id = rule.id;
        assert!(compile(rule.pattern).is_some(), "{id} does not compile");
        assert!(compile(rule.joined).is_some(), "{id} does not compile for joined lines");
        assert!(
            id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{id}"
        );
        assert!(!rule.examples.is_empty() && !rule.lookalikes.is_empty(), "{id}");
        assert!(!rule.keywords.is_empty() && !rule.description.is_empty(), "{id}");
        assert!(
            rule.page.starts_with("https://") || rule.page == "docs/platform-api.md",
            "{id}: {}",
            rule.page
        );
        assert!(rule.overlaps.iter().all(|other| ids.contains(other)), "{id}");
        assert!((0.0..8.0).contains(&rule.entropy), "{id}");
    }
}

/// These rules are tried at their key words only.
#[test]
fn a_match_of_a_word_begins_with_its_key_word() {
    for rule in screen().0.rules.iter().filter(|rule| rule.begins_with_keyword()).map(|rule| rule.rule) {
        assert!(rule.begins_word, "{}", rule.id);
        for example in filled(rule, rule.examples) {
            let findings = screen().check(example.as_bytes());
            let found = findings.iter().find(|finding| finding.rule == rule.id).unwrap();
            let secret = &example[found.start..];
            assert!(rule.keywords.iter().any(|word| secret.starts_with(word)), "{}: {example}", rule.id);
        }
    }
}

/// No other rule finds it, unless the list says so.
#[test]
fn every_example_is_found_by_its_rule() {
    let mut wrong = Vec::new();
    for rule in PATTERNS {
        for example in filled(rule, rule.examples) {
            let findings = screen().check(example.as_bytes());
            let found = findings.iter().any(|finding| {
                finding.rule == rule.id
                    && finding.confidence == rule.confidence
                    && finding.start < finding.end
                    && finding.end <= example.len()
            });
            let others = findings.iter().filter(|finding| finding.confidence == rule.confidence);
            let alone =
                others.into_iter().all(|other| other.rule == rule.id || rule.overlaps.contains(&other.rule));
            if !found || !alone {
                wrong.push(format!("{} {example}: {findings:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_keyword_is_in_an_example() {
    let mut unseen = Vec::new();
    for rule in PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High) {
        let examples = filled(rule, rule.examples).join("\n").to_lowercase();
        let mut keywords = rule.keywords.iter();
        unseen.extend(keywords.find(|keyword| !examples.contains(&keyword.to_lowercase())).map(|_| rule.id));
    }
    assert_eq!(unseen, [] as [&str; 0]);
}

#[test]
fn no_lookalike_is_found() {
    let mut wrong = Vec::new();
    for rule in PATTERNS {
        for lookalike in filled(rule, rule.lookalikes) {
            let findings = screen().check(lookalike.as_bytes());
            if findings
                .iter()
                .any(|finding| finding.rule == rule.id || finding.confidence == Confidence::High)
            {
                wrong.push(format!("{} {lookalike}: {findings:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// An example in all possible surroundings in evidence or output.
fn surroundings(example: &str) -> Vec<String> {
    let json = serde_json::to_string(&format!("# owners\n{example}\n* @org/team")).unwrap();
    let mut texts = vec![
        example.to_string(),
        format!("{example} and more"),
        format!("before {example}"),
        format!("* @org/team # {example}"),
        format!("\n{example}\n"),
        format!("\"{example}\""),
        format!("('{example}')"),
        format!("größe={example}"),
        format!("{{\"content\":{json}}}"),
        serde_json::to_string(&json).unwrap(),
        format!("{}{example}{}", "filler ".repeat(1_000), " filler".repeat(1_000)),
    ];
    if !example.contains([' ', '/', '\\', '"', '?', ':']) {
        texts.push(format!("https://host/path/{example}?x=1"));
        texts.push(format!("https://host/path?x={example}&y=1"));
        texts.push(format!("https://host/path?x=1&tok={example}"));
        texts.push(format!("https://host/path#x%3D{example}"));
        texts.push(format!("\\u003d{example}"));
        texts.push(format!("git clone https://{example}@host/org/repo"));
        texts.push(format!("KEY_{example}"));
    }
    texts
}

#[test]
fn every_secret_is_found_wherever_it_stands() {
    let mut wrong = Vec::new();
    for rule in PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High) {
        for example in filled(rule, rule.examples) {
            for text in surroundings(&example) {
                let redacted = screen().redact(&text);
                let found = found_by(rule.id, &text) && redacted.contains("[redacted: ");
                if !found || found_by(rule.id, &redacted) {
                    wrong.push(format!("{}: {text}: {redacted}", rule.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_token_beside_another_is_found_too() {
    let tokens = [
        concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345"),
        concat!("gh", "o_543210JIHGFEDCBAjihgfedcba9876543210"),
    ];
    let text = tokens.concat();
    assert_eq!(certain(&text).len(), 2);
    assert_eq!(screen().redact(&text), "[redacted: code-host-token][redacted: code-host-token]");
}

#[test]
fn long_matches_are_followed_to_their_end() {
    let tail: String = std::iter::repeat_n("0123456789abcdefABCDEF.-_", 4_000).collect();
    let text = format!("x {}{tail} y", concat!("gh", "s_"));
    let redacted = screen().redact(&text);
    assert_eq!(redacted, "x [redacted: code-host-installation-token] y");
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(3_000);
    let text = format!(
        "a\n{}\n{body}{}\nb",
        concat!("-----BEGIN ", "PRIVATE KEY-----"),
        concat!("-----END ", "PRIVATE KEY-----")
    );
    assert_eq!(screen().redact(&text), "a\n[redacted: private-key]\nb");
}

/// The body of a private key is a finding whatever its headers; its first line alone is not.
#[test]
fn a_private_key_is_never_a_placeholder() {
    let header = concat!("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----");
    let body = "lQOYBGb1x8QBCADKq9v2L0Zt7yPn3wXhR5mJkT8dVfA4";
    for headers in
        ["", "Comment: https://example.com, your_key\n", "Version: X v2.0 (GNU/Linux)\nComment: a\n"]
    {
        assert!(found_by("private-key", &format!("{header}\n{headers}\n{body}")), "{headers}");
    }
    for sentence in
        ["", "\n\nxxxx", " blocks are refused", "\n# and so on\n/src/KeyHandlingV2 @acme/security\n"]
    {
        assert!(!found_by("private-key", &format!("never commit {header}{sentence}")), "{sentence}");
    }
}

#[test]
fn redaction_leaves_the_rest() {
    let token = concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
    let text = format!("ä {token} ö https://user:{token}@host ü");
    assert_eq!(
        screen().redact(&text),
        "ä [redacted: code-host-token] ö https://user:[redacted: code-host-token]@host ü"
    );
    for clean in ["", "nothing here", "größe"] {
        assert!(matches!(screen().redact(clean), Cow::Borrowed(text) if text == clean));
    }
    // A guess is reported, not redacted.
    let guess = concat!("pass", "word=7Kq2vM9xW4zPb81LsDfG");
    assert_eq!(screen().check(guess.as_bytes()).len(), 1);
    assert!(matches!(screen().redact(guess), Cow::Borrowed(_)));
}

#[test]
fn a_guess_inside_a_certain_finding_is_left_out() {
    let text = concat!("tok", "en: ", "gh", "p_0123456789abcdefghijABCDEFGHIJ012345");
    let rules: Vec<&str> = screen().check(text.as_bytes()).iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["code-host-token"]);
}

#[test]
fn own_credentials_are_found_in_every_form() {
    let encoded: String = url::form_urlencoded::byte_serialize(OWN_SECRET.as_bytes()).collect();
    let texts = [
        OWN_SECRET.to_string(),
        format!("a{OWN_SECRET}b"),
        format!("https://host/?q={encoded}"),
        serde_json::to_string(OWN_SECRET).unwrap(),
        STANDARD.encode(OWN_SECRET),
        STANDARD.encode(format!("1{OWN_SECRET}2")),
        URL_SAFE_NO_PAD.encode(format!("12{OWN_SECRET}3")),
    ];
    for text in texts {
        assert!(found_by(OWN_CREDENTIAL, &text), "{text}");
        assert!(!screen().redact(&text).contains(OWN_SECRET), "{text}");
    }
    // The same text in another case is not the secret, and a short text is never one.
    assert!(!found_by(OWN_CREDENTIAL, &OWN_SECRET.to_uppercase()));
    assert!(!found_by(OWN_CREDENTIAL, "short"));
}

#[test]
fn nothing_shows_the_secret() {
    let debug = format!("{:?} {:?}", screen(), screen().check(OWN_SECRET.as_bytes()));
    assert!(!debug.contains("s3cr3t") && !debug.contains("115, 51, 99"), "{debug}");
}

/// Texts made to be slow. Each takes a moment; a quadratic step in any of them would take minutes.
#[test]
fn hostile_texts_take_linear_time() {
    let mut samples: Vec<String> = [
        "a",
        "\n",
        "-",
        ".",
        "ey",
        "ey.",
        ".ey",
        "eyaaaaaaaaaaaaaaaaaaaa.",
        "://",
        "a://",
        "a://a:",
        "a://a:aaa@",
        ":@",
        "@",
        "token=",
        "?token=",
        "?token=a",
        "token: ",
        "token=:'\\",
        "secret",
        "Q~",
        "8Q~",
        ":A",
        "11111111:A",
        "ghs_",
        "sk-",
        "sk-T3BlbkFJ",
        "aT3BlbkFJ",
        "mailgun",
        "mailgun key-",
        ".atlasv1.",
        "hooks.slack.com/services/",
        "\u{e9}",
        "\\n",
    ]
    .map(str::to_string)
    .to_vec();
    for rule in PATTERNS {
        samples.extend(rule.keywords.iter().map(|keyword| keyword.to_string()));
        samples.extend(filled(rule, rule.examples));
    }
    samples.push(concat!("-----BEGIN ", "PRIVATE KEY-----").to_string());
    for sample in samples {
        let text = sample.repeat(100_000 / sample.len());
        screen().redact(&text);
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let mut parts: Vec<String> = [
        "",
        " ",
        "\n",
        "\"",
        "\\n",
        "=",
        ": ",
        "@",
        "é",
        "a",
        "A",
        "0",
        "_",
        "-",
        ".",
        "/",
        "://",
        "token",
        "x ".repeat(550).as_str(),
    ]
    .map(str::to_string)
    .to_vec();
    parts.extend(PATTERNS.iter().flat_map(|rule| filled(rule, rule.examples)));
    parts.extend(PATTERNS.iter().flat_map(|rule| rule.keywords).map(|keyword| keyword.to_string()));
    parts.push(OWN_SECRET.to_string());
    proptest::collection::vec(proptest::sample::select(parts), 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The prefilter and its windows only lose matches that begin further than a window from the key word.
    #[test]
    fn quick_and_thorough_agree(text in any_text()) {
        prop_assert_eq!(screen().check(text.as_bytes()), slow_screen().check(text.as_bytes()));
    }

    #[test]
    fn redacting_is_final(text in any_text()) {
        let once = screen().redact(&text).into_owned();
        prop_assert!(certain(&once).is_empty(), "{}", once);
        prop_assert_eq!(screen().redact(&once), once.as_str());
    }

    #[test]
    fn never_panics_on_bytes(text in proptest::collection::vec(any::<u8>(), 0..400), at in 0usize..400, which in 0usize..1_000) {
        let examples: Vec<String> = PATTERNS.iter().flat_map(|rule| filled(rule, rule.examples)).collect();
        let mut text = text;
        let at = at.min(text.len());
        text.splice(at..at, examples[which % examples.len()].bytes());
        for finding in screen().check(&text) {
            prop_assert!(finding.start < finding.end && finding.end <= text.len());
        }
        screen().redact(&String::from_utf8_lossy(&text));
    }
}

/// An access token is known only after the run has requested it.
#[test]
fn what_was_learned_during_the_run_is_found_too() {
    let screen = Screen::new(&[]);
    let shared = screen.clone();
    let token = "made-up-access-token/with+signs";
    assert!(screen.check(token.as_bytes()).is_empty());
    shared.learn([token]);
    shared.learn(["another-made-up-one"]);
    for text in [token.to_string(), format!("x{token}y"), token.replace('/', "%2F").replace('+', "%2B")] {
        let findings = screen.check(text.as_bytes());
        assert_eq!(findings.len(), 1, "{text}: {findings:?}");
        assert_eq!(findings[0].rule, OWN_CREDENTIAL);
        assert!(!screen.redact(&text).contains("access-token"));
    }
    assert_eq!(screen.check(b"another-made-up-one").len(), 1);
    assert!(!format!("{screen:?}").contains("made-up"));
}
