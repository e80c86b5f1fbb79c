//! The forms of forbidden data, as data.
//!
//! Each rule stands with examples it must find and look-alikes it must not; a test runs them all, and another writes
//! the table of `docs/forbidden-data.md` from here. The forms are those the vendors document. This module never
//! searches anything.
//!
//! The examples are made up, and their beginnings are cut in two, so that the scanners of code hosts leave these
//! files alone.

/// A form of forbidden data.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Name in findings, manifests and documentation: words in lower case, joined by dashes. Never changes.
    pub id: &'static str,
    /// What it finds, in a phrase for the documentation.
    pub title: &'static str,
    /// Texts, one of which is in every match: as it is written here, or with letters of any case if the pattern begins
    /// with `(?i)`. Only around them the pattern is tried.
    pub keywords: &'static [&'static str],
    /// Whether a match can have a key word that stands between these texts: quick, and never wrong in saying no. For
    /// key words that many a text has, so that the pattern need not be tried there.
    pub may_stand: fn(before: &[u8], behind: &[u8]) -> bool,
    /// Regular expression over bytes (syntax of the `regex` crate without Unicode). The group `span`, or else the
    /// whole match, is the secret. The group `value` is the part of it that varies; a match without one is a finding
    /// without further tests. Repetition without an upper bound is of single characters, and ends the match or is
    /// ended by a character that it does not contain: that keeps the search linear.
    pub pattern: &'static str,
    /// The least Shannon entropy of the varying part, in bits per byte; below it a match is no secret.
    pub minimum_entropy: f32,
    /// Whether the varying part must have letters of both cases, as random ones have and names such as
    /// `sk_test_integration` have not.
    pub mixed_case: bool,
    /// Whether it can be told when it is cut into lines. Where only what stands around it makes it a credential, the
    /// lines of any text put together would do.
    pub may_be_cut: bool,
    /// How sure a match is.
    pub confidence: Confidence,
    /// Texts in which the rule must find something.
    pub examples: &'static [&'static str],
    /// Texts in which it must find nothing.
    pub counter_examples: &'static [&'static str],
}

/// How sure a finding is, and so what happens to the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess from the surroundings: worth a warning, not worth losing required evidence.
    Low,
    /// The form is a credential's and nothing else's: the artifact is excluded.
    High,
}

/// A pattern that must not begin inside a word, for prefixes so short that they occur in random text. In JSON and
/// URLs the end of an escape counts as the end of a word: there `\nAKIA...` is a secret on a line of its own.
macro_rules! after_start {
    ($pattern:literal) => {
        concat!(r"(?:\A|[^0-9A-Za-z]|\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})", $pattern)
    };
}

mod platforms;
mod services;

/// What most rules share: certain, and random by at least three bits per byte.
const TOKEN: Rule = Rule {
    id: "",
    title: "",
    keywords: &[],
    may_stand: |_, _| true,
    pattern: "",
    minimum_entropy: 3.0,
    mixed_case: false,
    may_be_cut: true,
    confidence: Confidence::High,
    examples: &[],
    counter_examples: &[],
};

const COUNT: usize = platforms::RULES.len() + services::RULES.len();

/// Every rule.
pub static RULES: &[Rule] = &joined();

const fn joined() -> [Rule; COUNT] {
    let mut rules = [TOKEN; COUNT];
    let (first, second) = rules.split_at_mut(platforms::RULES.len());
    first.copy_from_slice(platforms::RULES);
    second.copy_from_slice(services::RULES);
    rules
}
