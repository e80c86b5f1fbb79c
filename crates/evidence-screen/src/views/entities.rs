//! Entities of HTML and XML: `&#103;`, `&#x67;`, `&lowbar;`. Those of letters have numbers only.

use super::undo::{Plain, number};

/// The longest number, in digits.
const LONGEST: usize = 7;

/// The named entities of characters that a credential has, that surround one, or that nobody sees.
const NAMES: &[(&[u8], &[u8])] = &[
    (b"amp;", b"&"),
    (b"lowbar;", b"_"),
    (b"UnderBar;", b"_"),
    (b"hyphen;", b"-"),
    (b"dash;", b"-"),
    (b"period;", b"."),
    (b"colon;", b":"),
    (b"sol;", b"/"),
    (b"bsol;", b"\\"),
    (b"equals;", b"="),
    (b"plus;", b"+"),
    (b"commat;", b"@"),
    (b"dollar;", b"$"),
    (b"percnt;", b"%"),
    (b"num;", b"#"),
    (b"excl;", b"!"),
    (b"quest;", b"?"),
    (b"quot;", b"\""),
    (b"apos;", b"'"),
    (b"lt;", b"<"),
    (b"gt;", b">"),
    (b"nbsp;", b" "),
    (b"Tab;", b"\t"),
    (b"NewLine;", b"\n"),
    (b"shy;", b""),
    (b"zwj;", b""),
    (b"zwnj;", b""),
    (b"ZeroWidthSpace;", b""),
];

/// The character of the entity whose sign `&` precedes `rest`, and its length without that sign.
pub(super) fn read(rest: &[u8]) -> Option<(Plain, usize)> {
    if let [b'#', digits @ ..] = rest {
        let (marks, base, digits) = match digits {
            [b'x' | b'X', digits @ ..] => (2, 16, digits),
            digits => (1, 10, digits),
        };
        let is_digit = |byte: &&u8| char::from(**byte).is_digit(base);
        let count = digits.iter().take(LONGEST).take_while(is_digit).count();
        let code = Some(count).filter(|count| *count > 0).and_then(|count| number(digits, count, base))?;
        let end = usize::from(digits.get(count) == Some(&b';'));
        return Some((Plain::code(code), marks + count + end));
    }
    let first = rest.first()?;
    let (name, plain) =
        NAMES.iter().find(|(name, _)| name.first() == Some(first) && rest.starts_with(name))?;
    Some((plain.first().map_or(Plain::NOTHING, |byte| Plain::byte(*byte)), name.len()))
}
