//! The SHA-256 of the page's own file.
//!
//! A page cannot hold its own hash, so it holds the hash of itself with zeros in this place. If the two differ, the
//! browser or an extension changed the page while loading it, and the hash of the file is unknown.

use sha2::{Digest as _, Sha256};

/// The text around the hash in the page.
const BEFORE: &str = "<meta name=\"self-sha256\" content=\"";
const DIGITS: usize = 64;

/// The SHA-256 of the page, if it is unchanged since it was sealed.
pub(crate) fn sha256(html: &str) -> Option<String> {
    let (place, claimed) = slot(html)?;
    let (before, rest) = html.split_at_checked(place)?;
    let mut hash = Sha256::new();
    for part in [before, &"0".repeat(DIGITS), rest.get(DIGITS..)?] {
        hash.update(part);
    }
    (hex::encode(hash.finalize()) == claimed).then(|| hex::encode(Sha256::digest(html)))
}

/// The position of the hash, and the hash.
fn slot(html: &str) -> Option<(usize, &str)> {
    let place = html.find(BEFORE)?.checked_add(BEFORE.len())?;
    Some((place, html.get(place..place.checked_add(DIGITS)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seals a page like the build does.
    fn sealed(html: &str) -> String {
        let digest = hex::encode(Sha256::digest(html));
        html.replacen(&"0".repeat(DIGITS), &digest, 1)
    }

    #[test]
    fn a_page_knows_its_hash_until_it_is_changed() {
        let page = format!("<p>é</p>{BEFORE}{}\"><p>é</p>", "0".repeat(64));
        let sealed = sealed(&page);
        assert_eq!(sha256(&sealed), Some(hex::encode(Sha256::digest(&sealed))));
        assert_eq!(sha256(&page), None);
        assert_eq!(sha256(&format!("{sealed} ")), None);
        assert_eq!(sha256(""), None);
        assert_eq!(sha256(BEFORE), None);
    }
}
