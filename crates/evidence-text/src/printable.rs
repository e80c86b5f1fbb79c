//! Characters that deceive a reader, escaped.

use std::fmt;

/// How much of an untrusted text [`single_line`] keeps.
const LINE_LIMIT: usize = 500;

/// Whether [`single_line`] keeps the whole text.
pub fn is_short(text: &str) -> bool {
    text.len() <= LINE_LIMIT
}

/// An untrusted text on one bounded line, with every [deceptive](is_deceptive) character escaped. A longer one is cut at
/// a word.
pub fn single_line(text: &str) -> String {
    if is_short(text) {
        return Printable(text).to_string();
    }
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= LINE_LIMIT);
    let Some(kept) = end.and_then(|end| text.get(..end)) else { return Printable(text).to_string() };
    let words = kept.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words);
    format!("{}…", Printable(words))
}

/// Displays text with every [deceptive](is_deceptive) character escaped, so that it stays on its line and shows what is
/// stored.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((plain, character, behind)) = split(rest, &[]) {
            write!(f, "{plain}{}", character.escape_unicode())?;
            rest = behind;
        }
        f.write_str(rest)
    }
}

/// Passes text on with every deceptive character escaped, except line breaks and tabs. A page that is written through it
/// cannot hold one, wherever its texts come from.
#[derive(Debug)]
pub struct Visible<W>(pub W);

/// What [`Visible`] keeps: a browser shows both as a space.
const LAYOUT: [char; 2] = ['\n', '\t'];

impl<W: fmt::Write> fmt::Write for Visible<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((plain, character, behind)) = split(rest, &LAYOUT) {
            write!(self.0, "{plain}{}", character.escape_unicode())?;
            rest = behind;
        }
        self.0.write_str(rest)
    }
}

/// The text before the first deceptive character that is not in `kept`, that character, and the text after it.
pub fn split<'a>(text: &'a str, kept: &[char]) -> Option<(&'a str, char, &'a str)> {
    let hidden = |character: char| is_deceptive(character) && !kept.contains(&character);
    let (index, character) = text.char_indices().find(|(_, character)| hidden(*character))?;
    let (plain, rest) = text.split_at_checked(index)?;
    Some((plain, character, rest.strip_prefix(character)?))
}

/// Whether the character would move a terminal's cursor, change the reading direction, or not be visible as itself, so
/// that two different names look alike: controls, Unicode's default-ignorable and format characters, every space but
/// the usual one, blank letters, private characters, and noncharacters, which HTML forbids.
///
/// Two characters that are drawn alike, such as Latin and Cyrillic `a`, are both visible and therefore not deceptive.
pub fn is_deceptive(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    // The last two of every plane are noncharacters.
    character.is_control() || u32::from(character) & 0xfffe == 0xfffe || is_invisible(character)
}

fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{1680}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
        // Private use.
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{13440}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bcaf}' | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        // Planes without a character, tags and more variation selectors, private use.
        | '\u{40000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped_and_words_are_kept() {
        let shown = Printable("caf\u{e9} \u{1b}[2J\n\u{202e}x\u{7f}").to_string();
        assert_eq!(shown, "caf\u{e9} \\u{1b}[2J\\u{a}\\u{202e}x\\u{7f}");
    }

    #[test]
    fn a_page_keeps_its_lines() {
        let mut page = Visible(String::new());
        fmt::Write::write_str(&mut page, "<p>a\u{ad}\tb\n\u{fffe}</p>\r").unwrap();
        assert_eq!(page.0, "<p>a\\u{ad}\tb\n\\u{fffe}</p>\\u{d}");
    }

    #[test]
    fn invisible_characters_are_escaped() {
        // Unicode's Default_Ignorable_Code_Point, without the planes that are escaped as a whole.
        let ignorable = [
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x200b..=0x200f,
            0x202a..=0x202e,
            0x2060..=0x206f,
            0x3164..=0x3164,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfff8,
            0x1bca0..=0x1bca3,
            0x1d173..=0x1d17a,
            0xe0000..=0xe0fff,
        ];
        let spaces = [
            0xa0..=0xa0,
            0x1680..=0x1680,
            0x2000..=0x200a,
            0x2028..=0x2029,
            0x202f..=0x202f,
            0x205f..=0x205f,
            0x3000..=0x3000,
            0x2800..=0x2800,
        ];
        let nameless = [0..=0x1f, 0x7f..=0x9f, 0xe000..=0xf8ff, 0xfdd0..=0xfdef, 0xf0000..=0x10ffff];
        let planes = (0..=16).map(|plane| plane * 0x1_0000 + 0xfffe..=plane * 0x1_0000 + 0xffff);
        for code in ignorable.into_iter().chain(spaces).chain(nameless).chain(planes).flatten() {
            let character = char::from_u32(code).unwrap();
            let name = format!("acme/{character}web");
            assert_eq!(Printable(&name).to_string(), format!("acme/\\u{{{code:x}}}web"));
        }
    }

    #[test]
    fn visible_characters_are_kept() {
        let plain =
            "A~ é ß ø Ω Я ש ع\u{64b} 漢字 か 한글 ไทย हिन्दी e\u{301} € “x” – … ✓ \u{fffc}\u{fffd} 😀 𝒜 𓀀";
        assert_eq!(Printable(plain).to_string(), plain);
    }
}
