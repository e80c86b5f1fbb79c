//! Texts in the notation of the list of patterns: `<20 alnum>` means 20 random characters, `<uuid>` a UUID.

use fastrand::Rng;

/// Replaces the placeholders of a text by random characters.
pub(crate) fn fill(template: &str, random: &mut Rng) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let filled = after.split_once('>').and_then(|(inside, after)| Some((made(inside, random)?, after)));
        rest = match filled {
            Some((made, after)) => {
                text.push_str(&made);
                after
            }
            None => {
                text.push('<');
                after
            }
        };
    }
    text + rest
}

fn made(inside: &str, random: &mut Rng) -> Option<String> {
    if inside == "uuid" {
        return Some([8, 4, 4, 4, 12].map(|count| characters(count, HEX, random)).join("-"));
    }
    let (count, name) = inside.split_once(' ')?;
    Some(characters(count.parse().ok()?, &alphabet(name)?, random))
}

const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn alphabet(name: &str) -> Option<String> {
    Some(match name {
        "digit" => DIGITS.to_string(),
        "lower" => LOWER.to_string(),
        "upper" => UPPER.to_string(),
        "letters" => format!("{LOWER}{UPPER}"),
        "alnum" => format!("{LOWER}{UPPER}{DIGITS}"),
        "word" => format!("{LOWER}{UPPER}{DIGITS}-_"),
        "base64" => format!("{LOWER}{UPPER}{DIGITS}+/"),
        "hex" => HEX.to_string(),
        "HEX" => HEX.to_uppercase(),
        "base32" => format!("{UPPER}234567"),
        "base32lower" => format!("{LOWER}234567"),
        "base58" => format!("{LOWER}{UPPER}{DIGITS}").replace(['l', 'I', 'O', '0'], ""),
        "base36" => format!("{LOWER}{DIGITS}"),
        "BASE36" => format!("{UPPER}{DIGITS}"),
        "bech32" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".to_string(),
        _ => return None,
    })
}

/// Characters of every kind in the alphabet, if there is room: a few real tokens lack one, but a test should not
/// fail because of them.
fn characters(count: usize, alphabet: &str, random: &mut Rng) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let kinds: [fn(&char) -> bool; 3] =
        [char::is_ascii_lowercase, char::is_ascii_uppercase, char::is_ascii_digit];
    loop {
        let text: String = (0..count).map(|_| random.choice(&letters).unwrap()).collect();
        let complete = |kind: &fn(&char) -> bool| !letters.iter().any(kind) || text.chars().any(|c| kind(&c));
        if count < 12 || kinds.iter().all(complete) {
            return text;
        }
    }
}
