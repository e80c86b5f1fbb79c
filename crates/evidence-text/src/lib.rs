//! Makes untrusted text safe to print, and shows errors with their causes on one line.
//!
//! A name or a message may hold any text: a terminal's escape sequence, a line break, or a mark that changes the
//! reading direction. Nothing here prints.

use std::error::Error;
use std::fmt;

/// Displays text with every [deceptive](is_deceptive) character escaped, so that it stays on its line and shows what is
/// stored.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((plain, character, behind)) = split(rest) {
            write!(f, "{plain}{}", character.escape_unicode())?;
            rest = behind;
        }
        f.write_str(rest)
    }
}

/// The text before the first deceptive character, that character, and the text after it.
fn split(text: &str) -> Option<(&str, char, &str)> {
    let (index, character) = text.char_indices().find(|(_, character)| is_deceptive(*character))?;
    let (plain, rest) = text.split_at_checked(index)?;
    Some((plain, character, rest.strip_prefix(character)?))
}

/// Displays an error and its causes, each after a colon. Omits a cause that the text before it already contains, since
/// errors of some libraries repeat theirs.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'a>(pub &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = self.0.to_string();
        f.write_str(&before)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !before.contains(&text) {
                write!(f, ": {text}")?;
            }
            before = text;
            cause = error.source();
        }
        Ok(())
    }
}

/// Whether the character would move a terminal's cursor, change the reading direction or stay invisible: C0 and C1
/// controls, DEL, line and paragraph separators, and Unicode's bidirectional and zero-width marks (the "Trojan Source"
/// trick).
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped_and_words_are_kept() {
        let shown = Printable("caf\u{e9} \u{1b}[2J\n\u{202e}x\u{7f}").to_string();
        assert_eq!(shown, "caf\u{e9} \\u{1b}[2J\\u{a}\\u{202e}x\\u{7f}");
    }
}
