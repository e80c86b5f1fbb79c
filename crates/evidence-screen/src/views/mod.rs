//! Undoes one layer of what hides text from the patterns: escapes, invisible characters, line breaks, quotes,
//! quoted-printable, base64, base32 and hexadecimal digits.
//!
//! A [`View`] is the readable form of the encoded parts of a text, with their original places. Making views never
//! searches and never judges; a text without encoded parts has none.

mod base32;
mod base64;
mod entities;
mod escapes;
mod hex;
mod lines;
mod quoted;
mod quotes;
mod undo;
mod view;

pub(super) use view::{JOINT, View};

/// Every view of the text that is not empty.
pub(super) fn of(text: &[u8]) -> impl Iterator<Item = View> {
    let readable: [fn(&[u8]) -> View; 4] = [escapes::view, quoted::view, lines::view, quotes::view];
    let encoded: [fn(&[u8]) -> View; 3] = [base64::view, base32::view, hex::view];
    let encoded = encoded.into_iter().map(|make| View { encoded: true, ..make(text) });
    let views = readable.into_iter().map(|make| make(text)).chain(encoded);
    views.filter(|view| !view.bytes.is_empty())
}

#[cfg(test)]
mod tests;
