//! The search itself.
//!
//! Encoded text (escapes, base64, a word cut into lines) is also searched in its readable form, down to three layers.
//! One pass finds key words; the patterns are tried only around them. The time is linear in the length of the text,
//! whatever it holds.

mod effort;
mod finding;
mod rule;
mod search;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError};

use super::patterns::Confidence;
pub use finding::{ENTANGLED, Finding, OWN_CREDENTIAL};
use search::Inner;

/// How often a text is searched again after a redaction.
const ROUNDS: usize = 16;

/// How many nested layers of escapes, line breaks and base64 are undone.
const LAYERS: usize = 3;

/// The compiled rules. Cloning shares them.
#[derive(Clone)]
pub struct Screen(Arc<Inner>);

impl Screen {
    /// Compiles the rules, and adds the secrets in use.
    pub fn new(own_secrets: &[&str]) -> Screen {
        let screen = Screen(Arc::new(Inner::new()));
        screen.learn(own_secrets);
        screen
    }

    /// Also searches for these secrets from now on, in all their forms; [`is_sought`](crate::is_sought) excludes weak
    /// ones. A key in PEM form is searched for line by line.
    pub fn learn<S: AsRef<[u8]>>(&self, secrets: impl IntoIterator<Item = S>) {
        self.0.own.write().unwrap_or_else(PoisonError::into_inner).learn(secrets);
    }

    /// Everything in the text that looks like a credential, in the order of the text. Omits guesses inside a
    /// certain finding and in decoded text.
    pub fn check(&self, text: &[u8]) -> Vec<Finding> {
        let mut findings = self.0.search(text, LAYERS);
        findings.sort_by_key(|finding| {
            (finding.start, Reverse(finding.confidence), Reverse(finding.end), finding.rule)
        });
        findings.dedup();
        let mut certain_until = 0;
        findings.retain(|finding| {
            if finding.confidence == Confidence::High {
                certain_until = certain_until.max(finding.end);
                return true;
            }
            finding.start >= certain_until
        });
        findings
    }

    /// The text with every certain finding replaced by `[redacted: <rule>]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        // A redaction can reveal something that its text had hidden.
        for _ in 0..ROUNDS {
            match self.redact_once(&redacted) {
                Some(next) => redacted = Cow::Owned(next),
                None => break,
            }
        }
        redacted
    }

    /// `None` if there is nothing to replace.
    fn redact_once(&self, text: &str) -> Option<String> {
        let findings = self.check(text.as_bytes());
        let mut redacted = String::new();
        let mut done = 0;
        for finding in findings.iter().filter(|finding| finding.confidence == Confidence::High) {
            if finding.end <= done {
                continue;
            }
            if finding.start >= done {
                redacted
                    .push_str(text.get(done..text.floor_char_boundary(finding.start)).unwrap_or_default());
                redacted.push_str("[redacted: ");
                redacted.push_str(finding.rule);
                redacted.push(']');
            }
            done = text.ceil_char_boundary(finding.end);
        }
        if done == 0 {
            return None;
        }
        redacted.push_str(text.get(done..).unwrap_or_default());
        Some(redacted)
    }
}

/// The screen of this process. A command adds the secrets of its run, so that texts which bypass the run's own
/// stages are clean too: a shortened message, or the last error.
pub fn shared() -> &'static Screen {
    static SCREEN: LazyLock<Screen> = LazyLock::new(|| Screen::new(&[]));
    &SCREEN
}

/// Shows how many secrets it searches for, never which: it holds the collector's own credentials.
impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("rules", &self.0.rules.len()).finish_non_exhaustive()
    }
}
