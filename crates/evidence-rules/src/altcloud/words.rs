//! People and numbers in the sentences of findings.

use evidence_text as format;
use evidence_text::{Printable, saturating_u64};

use crate::field::Field;

/// The maximum number of people named in a finding; the artifacts list everyone.
pub(super) const NAMED: usize = 5;

/// No e-mail address is longer (RFC 5321, section 4.5.3.1).
const LONGEST_ADDRESS: usize = 320;

/// The first few of `count` people by address, each on one line of limited length.
pub(super) fn named<'a>(count: usize, addresses: impl Iterator<Item = &'a Field<String>>) -> String {
    let names: Vec<String> = addresses.take(NAMED).map(address).collect();
    let more = count.saturating_sub(names.len());
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

/// An address for display: one line of limited length, whatever the provider sent.
pub(super) fn address(address: &Field<String>) -> String {
    match address.value() {
        None => "(no address)".to_string(),
        Some(text) if text.len() > LONGEST_ADDRESS => format!("(an address of {} bytes)", text.len()),
        Some(text) => Printable(text).to_string(),
    }
}

/// `1 user`, `2,000 users`.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format::counted(saturating_u64(number), one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_short_and_on_one_line() {
        let field = |text: &str| Field::Value(text.to_string());
        let people: Vec<Field<String>> = (0..9).map(|number| field(&format!("u{number}@a"))).collect();
        assert_eq!(named(2, people.iter().take(2)), "u0@a, u1@a");
        assert_eq!(named(9, people.iter()), "u0@a, u1@a, u2@a, u3@a, u4@a and 4 more");
        let (longest, longer) = ("x".repeat(LONGEST_ADDRESS), "x".repeat(LONGEST_ADDRESS + 1));
        assert_eq!(named(1, [field(&longest)].iter()), longest);
        assert!(named(1, [field(&longer)].iter()).starts_with("(an address of "));
        let hostile = [field("a\u{1b}[31m\nb@x"), field(&"x".repeat(100_000)), Field::Null];
        let shown = named(3, hostile.iter());
        assert!(!shown.chars().any(char::is_control), "{shown}");
        assert!(shown.len() < 200 && shown.contains("(an address of 100000 bytes), (no address)"), "{shown}");
    }
}
