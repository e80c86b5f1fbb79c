//! The allowed-signers file of OpenSSH (ssh-keygen(1), "ALLOWED SIGNERS"):
//! `principals [options] key-type base64-key [comment]`, one per line.

use evidence_text::saturating_u32;

use super::error::{SignerLineError, TrustError};
use super::key::{NAMESPACE, TrustedKey};
use super::signer_options::{self, Options};
use crate::key::{PublicKey, is_ssh_algorithm};

/// The keys of the lines that count for bundles.
pub(super) fn parse(label: &str, contents: &[u8]) -> Result<Vec<TrustedKey>, TrustError> {
    let text = std::str::from_utf8(contents).map_err(|_| TrustError::NotText { label: label.to_owned() })?;
    let mut keys = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_matches(BLANK).trim_end_matches('\r');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        let at_line = |source| TrustError::Line { label: label.to_owned(), line: number, source };
        if let Some(signer) = parse_line(line).map_err(at_line)? {
            keys.push(TrustedKey {
                label: format!("{label}, line {number} ({})", signer.principals),
                key: signer.key,
                valid_after: signer.options.valid_after,
                valid_before: signer.options.valid_before,
            });
        }
    }
    if keys.is_empty() { Err(TrustError::NoSigner { label: label.to_owned() }) } else { Ok(keys) }
}

struct Signer {
    principals: String,
    options: Options,
    key: PublicKey,
}

fn parse_line(line: &str) -> Result<Option<Signer>, SignerLineError> {
    let (principals, rest) = principals(line)?;
    let rest = rest.trim_start_matches(BLANK);
    let (second, after) = signer_options::split(rest)?;
    if second.is_empty() {
        return Err(SignerLineError::Incomplete);
    }
    // A line has options exactly if its second word is not a key type.
    let (options, rest) = if is_ssh_algorithm(second) {
        (Options::default(), rest)
    } else {
        (signer_options::parse(second)?, after)
    };
    let mut words = rest.split(BLANK).filter(|word| !word.is_empty());
    let (Some(key_type), Some(encoded)) = (words.next(), words.next()) else {
        return Err(SignerLineError::Incomplete);
    };
    if principals.is_empty() {
        return Err(SignerLineError::Incomplete);
    }
    let in_namespace =
        options.namespaces.as_deref().is_some_and(|list| matches_list(NAMESPACE.as_bytes(), list));
    if !in_namespace || !names_anyone(&principals) {
        return Ok(None);
    }
    if options.certificate_authority {
        return Err(SignerLineError::CertificateAuthority);
    }
    let key = PublicKey::from_openssh_words(key_type, encoded).map_err(SignerLineError::Key)?;
    Ok(Some(Signer { principals, options, key }))
}

/// A byte that no pattern contains, since patterns are UTF-8: only a wildcard matches it.
const STRANGER: u8 = 0xff;

/// How many principals to try for a line. Lists of people need a handful.
const MAX_TRIED: usize = 4096;

/// Whether the list matches any principal. A bundle names none, so a line counts if it could match anyone. After
/// [`MAX_TRIED`] attempts without a match the line does not count, and its key is not trusted.
fn names_anyone(principals: &str) -> bool {
    let singles = |pattern: &str| pattern.bytes().filter(|byte| *byte == b'?').count();
    let negated = principals.split(',').filter_map(|pattern| pattern.strip_prefix('!'));
    let longest = negated.map(singles).max().unwrap_or(0) + 1;
    let names = principals.split(',').filter(|pattern| !pattern.starts_with('!'));
    let mut tried = names.flat_map(|pattern| examples(pattern, longest)).take(MAX_TRIED);
    tried.any(|principal| !principal.is_empty() && matches_list(&principal, principals))
}

/// Examples of principals that a pattern matches, with a [`STRANGER`] for each `?` and up to `longest` for each `*`.
///
/// Negated patterns match the fewest of these, since only wildcards match a [`STRANGER`]. Longer examples are
/// unnecessary: a negated pattern treats all runs longer than its number of `?` alike.
fn examples(pattern: &str, longest: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let stars = saturating_u32(pattern.matches('*').count());
    (0..(longest + 1).saturating_pow(stars)).map(move |number| {
        let mut lengths = number;
        let mut principal = Vec::with_capacity(pattern.len());
        for byte in pattern.bytes() {
            match byte {
                b'?' => principal.push(STRANGER),
                b'*' => {
                    principal.extend(std::iter::repeat_n(STRANGER, lengths % (longest + 1)));
                    lengths /= longest + 1;
                }
                byte => principal.push(byte),
            }
        }
        principal
    })
}

/// Whether a list of patterns matches a name, by the rules of OpenSSH's `match_pattern_list`: at least one pattern must
/// match, and no pattern after a `!` may.
fn matches_list(name: &[u8], list: &str) -> bool {
    let mut matches = false;
    for pattern in list.split(',') {
        let (pattern, negated) = match pattern.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (pattern, false),
        };
        if matches_pattern(name, pattern.as_bytes()) {
            if negated {
                return false;
            }
            matches = true;
        }
    }
    matches
}

/// Whether a pattern matches a whole name: `*` is any number of bytes, `?` is one (ssh_config(5), "PATTERNS").
fn matches_pattern(mut name: &[u8], mut pattern: &[u8]) -> bool {
    // The position of the last `*`, and what it has not consumed yet: backtracking only needs the last one.
    let mut star = None;
    loop {
        match (pattern.split_first(), name.split_first()) {
            (Some((b'*', rest)), _) => {
                star = Some((rest, name));
                pattern = rest;
            }
            (Some((expected, rest)), Some((byte, left))) if *expected == b'?' || expected == byte => {
                (pattern, name) = (rest, left);
            }
            (None, None) => return true,
            _ => match star {
                Some((rest, [_, left @ ..])) => {
                    star = Some((rest, left));
                    (pattern, name) = (rest, left);
                }
                _ => return false,
            },
        }
    }
}

/// What separates the words of a line.
const BLANK: [char; 2] = [' ', '\t'];

/// The principals and what follows them, as OpenSSH reads them: up to white space, or up to the second quotation mark
/// if there is one before that. The quotation marks are not part of them.
fn principals(line: &str) -> Result<(String, &str), SignerLineError> {
    let end = line.find([' ', '\t', '"']).unwrap_or(line.len());
    let (start, rest) = line.split_at_checked(end).ok_or(SignerLineError::Quote)?;
    match rest.strip_prefix('"') {
        Some(quoted) => {
            let (inside, after) = quoted.split_once('"').ok_or(SignerLineError::Quote)?;
            Ok((format!("{start}{inside}"), after))
        }
        None => Ok((start.to_owned(), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeyError, SigningKey};
    use crate::trust::{KeyTrust, TrustRoot};
    use evidence_text::Chain;

    fn key(seed: u8) -> String {
        SigningKey::from_seed(&[seed; 32]).public_key().to_openssh()
    }

    fn one(line: &str) -> Result<Vec<TrustedKey>, SignerLineError> {
        match parse("signers", line.as_bytes()) {
            Err(TrustError::Line { source, .. }) => Err(source),
            Err(TrustError::NoSigner { .. }) => Ok(Vec::new()),
            other => Ok(other.unwrap()),
        }
    }

    #[test]
    fn lines_for_bundles_count_and_others_do_not() {
        let text = format!(
            "# keys of acme\r\n\nalice@acme namespaces=\"evidence-bundle\" {} laptop\n\
             bob@acme {}\ncarol@acme namespaces=\"git\" {}\n\
             \"dave smith\" NAMESPACES=\"git,evidence-bundle\",valid-after=\"20260101Z\" {}\n\
             ca namespaces=\"git\",cert-authority {}",
            key(1),
            key(2),
            key(3),
            key(4),
            key(5)
        );
        let keys = parse("signers", text.as_bytes()).unwrap();
        let labels: Vec<&str> = keys.iter().map(|key| key.label.as_str()).collect();
        assert_eq!(labels, ["signers, line 3 (alice@acme)", "signers, line 6 (dave smith)"]);
        assert_eq!(keys[1].valid_after, Some(1_767_225_600));
    }

    /// `tests/keys.rs` compares the same lists with OpenSSH.
    #[test]
    fn lists_of_patterns() {
        for (list, name, matched) in [
            ("alice", "alice", true),
            ("alice", "alice2", false),
            ("*", "", true),
            ("?", "", false),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("*a*b*", "xaxbx", true),
            ("*ab", "aab", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("**", "x", true),
            ("*,!alice", "alice", false),
            ("!alice,*", "alice", false),
            ("!alice,*", "bob", true),
            ("!alice", "bob", false),
            ("!!alice", "!alice", false),
            ("", "", true),
        ] {
            assert_eq!(matches_list(name.as_bytes(), list), matched, "{list:?} {name:?}");
        }
        for (list, anyone) in [
            ("alice", true),
            ("!alice", false),
            ("alice,!alice", false),
            ("!alice,alice", false),
            ("alice,bob,!alice", true),
            ("*,!alice", true),
            ("!*,alice", false),
            ("*@acme,!*@acme", false),
            ("*@acme,!mallory@acme", true),
            ("alice@acme,!*@acme", false),
            ("alice@acme,bob@other,!*@acme", true),
            ("", false),
            (",", false),
            ("!", false),
            ("alice,!", true),
            // For names longer than one letter.
            ("*@acme,!?@acme", true),
            ("*@acme,!?@acme,!??*@acme", true),
            ("*@acme,!?@acme,!??*@acme,!@acme", false),
            ("*,!?*", false),
            ("*,!??*", true),
            ("?,!?", false),
            ("??,!?", true),
            ("*a*,!?*a*,!*a", true),
            ("*a*,!?*a*,!*a,!a?*", false),
            ("a?c,!abc", true),
            ("a?c,!a*c", false),
            ("**,!x", true),
            ("é*,!??*", false),
            ("é*,!???*", true),
        ] {
            assert_eq!(names_anyone(list), anyone, "{list:?}");
        }
        // More than the limit: matches no one, and returns soon.
        assert!(!names_anyone(&format!("{}x,!*x", "*a".repeat(500))));
    }

    #[test]
    fn every_problem_of_a_line() {
        let good = key(1);
        let ours = "namespaces=\"evidence-bundle\"";
        let problem = |line: String| one(&line).unwrap_err();
        assert_eq!(problem("alice".to_owned()), SignerLineError::Incomplete);
        assert_eq!(problem(format!("alice {ours} ssh-ed25519")), SignerLineError::Incomplete);
        assert_eq!(problem(format!("\"alice {good}")), SignerLineError::Quote);
        assert_eq!(
            problem(format!("alice {ours},cert-authority {good}")),
            SignerLineError::CertificateAuthority
        );
        assert!(matches!(problem(format!("alice no-touch {good}")), SignerLineError::UnknownOption(_)));
        assert!(matches!(problem(format!("alice {ours},{ours} {good}")), SignerLineError::BadOption(_)));
        assert!(matches!(problem(format!("alice namespaces= {good}")), SignerLineError::Unquoted(_)));
        assert!(one(&format!("alice namespaces=\"\" {good}")).unwrap().is_empty());
        for option in ["valid-after", "valid-before"] {
            let twice = format!("alice {ours},{option}=\"20260101Z\",{option}=\"20270101Z\" {good}");
            assert!(
                matches!(problem(twice), SignerLineError::BadOption(_)),
                "a second one must not widen the first"
            );
        }
        assert!(matches!(
            problem(format!("alice {ours},valid-after=\"soon\" {good}")),
            SignerLineError::BadTime(_)
        ));
        assert_eq!(
            problem(format!("alice {ours},valid-after=\"20260102\",valid-before=\"20260102\" {good}")),
            SignerLineError::EmptyWindow
        );
        assert_eq!(
            problem(format!("alice {ours} ssh-ed25519 AAAA")),
            SignerLineError::Key(KeyError::Malformed)
        );
        assert!(matches!(
            problem(format!("alice {ours} ssh-rsa AAAAB3NzaC1yc2E=")),
            SignerLineError::Key(KeyError::NotAnEd25519PublicKey(_))
        ));
    }

    #[test]
    fn rotation_needs_one_window_that_covers_the_time() {
        let public = SigningKey::from_seed(&[1; 32]).public_key();
        let text = format!(
            "old namespaces=\"evidence-bundle\",valid-before=\"20260101Z\" {0}\n\
             new namespaces=\"evidence-bundle\",valid-after=\"20260301Z\" {0}\n",
            key(1)
        );
        let mut trust = TrustRoot::new();
        trust.add_allowed_signers("signers", text.as_bytes()).unwrap();
        let day = |text| signer_options::parse_time(text).unwrap();
        assert_eq!(
            trust.judge(&public, day("20260101")),
            KeyTrust::Trusted("signers, line 1 (old)".to_owned())
        );
        assert!(matches!(trust.judge(&public, day("20260201")), KeyTrust::OutsideValidity(_)));
        assert_eq!(
            trust.judge(&public, day("20260301")),
            KeyTrust::Trusted("signers, line 2 (new)".to_owned())
        );
        let other = SigningKey::from_seed(&[2; 32]).public_key();
        assert_eq!(trust.judge(&other, day("20260301")), KeyTrust::Unknown);
    }

    #[test]
    fn errors_name_their_line() {
        for (source, text) in [
            (SignerLineError::Incomplete, "the line ends before its key"),
            (SignerLineError::Quote, "a quotation mark is not closed"),
            (SignerLineError::UnknownOption("x".to_owned()), "unknown option \"x\""),
            (SignerLineError::BadOption("x".to_owned()), "option \"x\" is repeated"),
            (
                SignerLineError::Unquoted("namespaces=a".to_owned()),
                "the value of \"namespaces=a\" needs quotation marks: name=\"value\"",
            ),
            (
                SignerLineError::BadTime("2026".to_owned()),
                "\"2026\" is not a time of the form YYYYMMDD[HHMM[SS]][Z]",
            ),
            (SignerLineError::EmptyWindow, "valid-before is not later than valid-after"),
            (
                SignerLineError::CertificateAuthority,
                "cert-authority is not supported: a bundle carries a key, not a certificate",
            ),
        ] {
            let error = TrustError::Line { label: "signers".to_owned(), line: 3, source };
            assert_eq!(Chain(&error).to_string(), format!("signers, line 3: {text}"));
        }
        let label = || "signers".to_owned();
        assert_eq!(TrustError::NotText { label: label() }.to_string(), "signers: not UTF-8 text");
        let none = TrustError::NoSigner { label: label() }.to_string();
        assert!(none.starts_with("signers: no line trusts a key for bundles"), "{none}");
    }

    #[test]
    fn both_kinds_of_fingerprint_pin() {
        let public = SigningKey::from_seed(&[1; 32]).public_key();
        for fingerprint in [public.key_id().to_string(), public.ssh_fingerprint()] {
            let mut trust = TrustRoot::new();
            trust.add_fingerprint(&fingerprint).unwrap();
            assert!(trust.pins(&public));
            assert!(!trust.pins(&SigningKey::from_seed(&[2; 32]).public_key()));
            assert_eq!(trust.judge(&public, 0), KeyTrust::Trusted(format!("fingerprint {fingerprint}")));
        }
        let no_letter = format!("SHA256:{}!", "A".repeat(42));
        for text in ["", "sha256:12", "SHA256:12", "md5:aa", &"0".repeat(64), &no_letter] {
            let error = TrustRoot::new().add_fingerprint(text).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{text:?} is not a fingerprint (")), "{error}");
        }
    }
}
