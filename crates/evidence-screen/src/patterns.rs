//! The forms of forbidden data, as data: the table that the build makes of `patterns.toml`.
//!
//! Each rule has examples it must find and look-alikes that no rule may find; a test runs them all, and another writes
//! the table of `docs/forbidden-data.md`. The list itself explains its fields. This module never searches anything.

/// A form of forbidden data.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// Name in findings, manifests and documentation: words in lower case, joined by dashes. Never changes.
    pub id: &'static str,
    /// What it finds, in a phrase for the documentation.
    pub description: &'static str,
    /// The provider's documentation or the standard that the form comes from.
    pub page: &'static str,
    /// Texts, one of which is in every match: as it is written here, or with letters of any case if the pattern begins
    /// with `(?i)`. The pattern is tried only around them.
    pub keywords: &'static [&'static str],
    /// What must stand around a key word.
    pub context: Context,
    /// Regular expression over bytes (syntax of the `regex` crate without Unicode). The group `span`, or else the
    /// whole match, is the secret. The group `value` is the part of it that varies; a match without one is a finding
    /// without further tests.
    pub pattern: &'static str,
    /// What the varying part is, and so what it cannot be.
    pub value: Value,
    /// The least Shannon entropy of the varying part, in bits per byte; below it a match is not a secret.
    pub entropy: f32,
    /// Whether the varying part must have letters of both cases, as random ones have.
    pub mixed_case: bool,
    /// Whether it can be recognized when it is cut into lines. Where only its surroundings make it a credential, the
    /// lines of any text put together would do.
    pub may_be_cut: bool,
    /// How sure a match is.
    pub confidence: Confidence,
    /// Other rules that may find the same examples.
    pub overlaps: &'static [&'static str],
    /// Texts in which the rule must find something. `<20 alnum>` stands for 20 random characters of an alphabet, so
    /// that the scanners of code hosts leave the list alone.
    pub examples: &'static [&'static str],
    /// Texts in which no rule may find anything.
    pub lookalikes: &'static [&'static str],
}

/// What must stand around a key word for a match to be possible: quick to check, and never wrong in saying no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Nothing in particular.
    Anywhere,
    /// A match begins with the key word, and not inside a word.
    WordStart,
    /// As [`Context::WordStart`], and hexadecimal digits follow.
    Hex,
    /// Hexadecimal digits follow, and the match begins before the key word.
    SignBeforeHex,
    /// Hexadecimal digits precede.
    AfterHex,
    /// The key word is the first dot of a token of three parts, the second of which has six characters.
    DottedToken,
    /// The key word names a value: an equals sign or a colon follows.
    NamedValue,
    /// The key word is the `@` behind the password of a URL.
    UrlAuthority,
}

/// What the varying part of a match is, and so which values are no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Random characters: no name made of words.
    Random,
    /// Anything: the form alone is certain.
    Any,
    /// Random characters that only their place makes a token: no name, no word for a token, no sequence.
    Opaque,
    /// A password, which people choose: no word for a password, no variable, no port.
    Password,
    /// User and password in base64.
    Basic,
    /// The body of a private key.
    Key,
    /// A private key, as a whole in base64.
    EncodedKey,
}

/// How sure a finding is, and so what happens to the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// A guess from the surroundings: worth a warning, not worth losing required evidence.
    Low,
    /// The form is a credential's and nothing else's: the artifact is excluded.
    High,
}

/// Every rule.
pub static PATTERNS: &[Pattern] = include!(concat!(env!("OUT_DIR"), "/patterns.rs"));
