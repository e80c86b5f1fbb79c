//! The forms of forbidden data, as data: the table that the build generates from `patterns.toml`.
//!
//! Each rule has examples that it must find and look-alikes that no rule may find. One test checks them all, another
//! writes the table of `docs/forbidden-data.md`. The list itself explains its fields. This module never searches
//! anything.

/// A form of forbidden data.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// Name in findings, manifests and documentation: words in lower case, joined by dashes. Never changes.
    pub id: &'static str,
    /// What it finds, as a phrase for the documentation.
    pub description: &'static str,
    /// The provider's documentation, or the standard that defines the form.
    pub page: &'static str,
    /// Texts, one of which occurs in every match: exactly, or in any case if the pattern begins with `(?i)`. The
    /// pattern is tried only around them.
    pub keywords: &'static [&'static str],
    /// The required text around a key word.
    pub context: Context,
    /// Whether a match does not begin inside a word.
    pub begins_word: bool,
    /// Regular expression over bytes (syntax of the `regex` crate without Unicode). The group `span`, or else the
    /// whole match, is the secret. The group `value` is the varying part; a match without one needs no further
    /// tests.
    pub pattern: &'static str,
    /// The same for joined lines, with the marks where they meet.
    pub joined: &'static str,
    /// The kind of the varying part, which excludes some values.
    pub value: Value,
    /// The least Shannon entropy of the varying part, in bits per byte; a match below it is not a secret.
    pub entropy: f32,
    /// Whether the varying part must have letters of both cases, as random ones do.
    pub mixed_case: bool,
    /// Whether to find it when it is split across lines. Not for a credential that only its surroundings identify:
    /// any joined lines would match.
    pub may_be_cut: bool,
    /// The certainty of a match.
    pub confidence: Confidence,
    /// Other rules that may find the same examples.
    pub overlaps: &'static [&'static str],
    /// Texts in which the rule must find something. `<20 alnum>` means 20 random characters of an alphabet, so that
    /// the scanners of code hosts ignore the list.
    pub examples: &'static [&'static str],
    /// Texts in which no rule may find anything.
    pub lookalikes: &'static [&'static str],
}

/// The required text around a key word for a match to be possible: quick to check, and without false negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// No requirement.
    Anywhere,
    /// A match begins with the key word, which is not inside a word.
    WordStart,
    /// Like [`Context::WordStart`], and hexadecimal digits follow.
    Hex,
    /// Hexadecimal digits follow, and the match begins before the key word.
    SignBeforeHex,
    /// Hexadecimal digits precede.
    AfterHex,
    /// The key word is the first dot of a token of three parts, the second of which has six characters.
    DottedToken,
    /// The key word names a value: an equals sign or a colon follows.
    NamedValue,
    /// The key word may name a value: a sign or a word between a name and its value follows soon.
    NearValue,
    /// The key word is the separator between a short prefix and a long value.
    Prefixed,
    /// The key word is the `@` after the password of a URL.
    UrlAuthority,
}

/// The kind of the varying part of a match, which excludes some values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Random characters, not a name made of words.
    Random,
    /// Any value: the form alone is conclusive.
    Any,
    /// Random characters that only their place marks as a token: not a name, a word for a token or a sequence.
    Opaque,
    /// A password chosen by a person: not a word for a password, a variable or a port.
    Password,
    /// A password or token of at least eight characters that reads neither like a word nor like a place.
    Chosen,
    /// Random characters behind a prefix that no list has: not a digest.
    Unlisted,
    /// User and password in base64.
    Basic,
    /// The body of a private key.
    Key,
    /// A whole private key in base64.
    EncodedKey,
}

/// The certainty of a finding, which decides what happens to the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess from the surroundings: worth a warning, but not the loss of required evidence.
    Low,
    /// The form of a credential and of nothing else: the artifact is excluded.
    High,
}

/// Every rule.
pub static PATTERNS: &[Pattern] = include!(concat!(env!("OUT_DIR"), "/patterns.rs"));
