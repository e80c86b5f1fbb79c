//! Text that may be printed.

use std::fmt;

use crate::numbers;
use crate::printable::{Printable, Visible, single_line};

/// Text that may be printed: what a stranger wrote has its deceptive characters escaped. It is made from untrusted text
/// by [`Safe::of`] and its relatives, or composed by [`safe!`](crate::safe) of parts that are safe. What prints takes
/// nothing else, so that a forgotten escape does not compile.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Safe(String);

impl Safe {
    /// The most characters that [`cut`](Safe::cut) keeps.
    pub const CUT: usize = 2_000;

    /// Untrusted text, as long as it is, on its line. Text that is safe already does not change.
    pub fn of(text: &str) -> Safe {
        Safe(Printable(text).to_string())
    }

    /// Untrusted text on one bounded line, cut at a word.
    pub fn line(text: &str) -> Safe {
        Safe(single_line(text))
    }

    /// Untrusted text on one line of at most 2,000 characters.
    pub fn cut(text: &str) -> Safe {
        match text.char_indices().nth(Safe::CUT).and_then(|(end, _)| text.get(..end)) {
            Some(start) => Safe(format!("{} … (cut)", Printable(start))),
            None => Safe::of(text),
        }
    }

    /// Untrusted text that keeps its line breaks and tabs.
    pub fn lines(text: &str) -> Safe {
        let mut visible = Visible(String::with_capacity(text.len()));
        // Writing into memory does not fail.
        let _ = fmt::Write::write_str(&mut visible, text);
        Safe(visible.0)
    }

    /// Text that its maker has already made safe, with its styles. Each use is an exception that a reader can find.
    pub fn already(text: String) -> Safe {
        Safe(text)
    }

    /// These texts with `between` between them.
    pub fn joined(texts: impl IntoIterator<Item = Safe>, between: &'static str) -> Safe {
        let texts: Vec<String> = texts.into_iter().map(|text| text.0).collect();
        Safe(texts.join(between))
    }

    /// Adds a text to the end.
    pub fn push(&mut self, more: &Safe) {
        self.0.push_str(&more.0);
    }

    /// The text on lines of at most `width` characters, where its words fit.
    pub fn filled(&self, width: usize) -> Vec<Safe> {
        let mut lines: Vec<Safe> = Vec::new();
        for word in self.0.split(' ') {
            match lines.last_mut() {
                Some(Safe(line)) if line.chars().count() + 1 + word.chars().count() <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(Safe(word.to_owned())),
            }
        }
        lines
    }

    /// The text without the spaces at its end.
    pub fn trimmed(mut self) -> Safe {
        self.0.truncate(self.0.trim_end().len());
        self
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The composed text of [`safe!`](crate::safe).
    #[doc(hidden)]
    pub fn composed(parts: fmt::Arguments<'_>) -> Safe {
        Safe(parts.to_string())
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&'static str> for Safe {
    fn from(text: &'static str) -> Safe {
        Safe(text.to_owned())
    }
}

/// What may be a part of [`Safe`] text: safe text, text of the program itself, and numbers.
pub trait Shown: fmt::Display {}

impl Shown for Safe {}
impl Shown for &Safe {}
impl Shown for &'static str {}
impl Shown for u64 {}
impl Shown for u32 {}
impl Shown for usize {}
impl Shown for i64 {}

/// The same, if it may be shown.
#[doc(hidden)]
pub fn part<T: Shown>(part: &T) -> &T {
    part
}

/// Numbers as parts of safe text.
pub mod shown {
    use super::{Safe, numbers};

    /// `53,596,623`
    pub fn thousands(number: u64) -> Safe {
        Safe(numbers::thousands(number))
    }

    /// `52.3 MB`
    pub fn bytes(number: u64) -> Safe {
        Safe(numbers::bytes(number))
    }

    /// `1 repository`, `14 repositories`.
    pub fn counted(number: u64, one: &'static str, many: &'static str) -> Safe {
        Safe(numbers::counted(number, one, many))
    }

    /// `45 s`, `12 min 05 s`, `1 h 02 min`.
    pub fn duration(seconds: i64) -> Safe {
        Safe(numbers::duration(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safe;

    #[test]
    fn text_is_made_safe_once() {
        let hostile = "a\u{1b}[2J\n\u{202e}b";
        let safe = Safe::of(hostile);
        assert_eq!(safe.as_str(), "a\\u{1b}[2J\\u{a}\\u{202e}b");
        assert_eq!(Safe::of(safe.as_str()), safe);
        assert_eq!(Safe::lines(hostile).as_str(), "a\\u{1b}[2J\n\\u{202e}b");
        assert_eq!(Safe::cut(&"x".repeat(Safe::CUT)).as_str().len(), Safe::CUT);
        assert!(Safe::cut(&"x".repeat(Safe::CUT + 1)).as_str().ends_with("x … (cut)"));
        assert_eq!(Safe::joined([safe!("{}", 1_u64), Safe::from("two")], ", ").as_str(), "1, two");
    }
}
