//! Texts that must satisfy a rule of this source.

use evidence_settings::declare::Key;
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// An optional text that must satisfy a rule of this source. The outer `None`: it does not.
pub(super) fn optional(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<Option<String>> {
    match decoder.text(fields, key) {
        Some(text) => good(decoder, text, check).map(Some),
        None if fields.has(key) => None,
        None => Some(None),
    }
}

/// A list whose entries must satisfy a rule of this source.
pub(super) fn checked(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<Vec<String>> {
    let entries = decoder.list(fields, key)?;
    // Check every entry before unwrapping any, so that all problems are found.
    let entries: Vec<_> = entries.into_iter().map(|entry| good(decoder, entry, check)).collect();
    entries.into_iter().collect()
}

pub(super) fn good(
    decoder: &mut Decoder<'_, '_>,
    text: Placed<String>,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<String> {
    match check(&text.value) {
        Ok(()) => Some(text.value),
        Err(complaint) => {
            decoder.problems.add(text.place, text.path, complaint);
            None
        }
    }
}

pub(super) fn check_external_id(text: &str) -> Result<(), Complaint> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@:/_-".contains(&byte);
    if (2..=1224).contains(&text.len()) && text.bytes().all(good) {
        return Ok(());
    }
    Err(Complaint::new(format!("{} is not a valid external id", quote(text)))
        .help("it has 2 to 1224 letters, digits and `+=,.@:/_-`"))
}
