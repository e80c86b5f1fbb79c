//! Text in Markdown.

use evidence_text::Safe;

/// Characters that Markdown or a wiki would read as markup.
const MARKUP: &str = "\\`*_[]<>|#~&!";

/// Text escaped to render literally, on one line.
pub(super) fn plain(text: &str) -> Safe {
    let mut plain = String::new();
    for character in Safe::cut(text).as_str().chars() {
        if MARKUP.contains(character) {
            plain.push('\\');
        }
        plain.push(character);
    }
    Safe::of(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(plain("a|b <img> `x` [y](z)\n").as_str(), "a\\|b \\<img\\> \\`x\\` \\[y\\](z)\\\\u{a}");
    }
}
