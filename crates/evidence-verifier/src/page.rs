//! The page's own name: the SHA-256 of its file.
//!
//! A page cannot hold its own hash, so it holds that of itself with zeros in this place. Where the two differ, the browser
//! or an extension has changed the page while it was loaded, and the hash of the file is not known here.

use sha2::{Digest as _, Sha256};

/// What stands around the hash in the page.
const BEFORE: &str = "<meta name=\"self-sha256\" content=\"";
const DIGITS: usize = 64;

/// The SHA-256 of a page that is what it was when it was sealed.
pub(crate) fn sha256(html: &str) -> Option<String> {
    let (place, claimed) = slot(html)?;
    let (before, rest) = html.split_at_checked(place)?;
    let mut hash = Sha256::new();
    for part in [before, &"0".repeat(DIGITS), rest.get(DIGITS..)?] {
        hash.update(part);
    }
    (hex::encode(hash.finalize()) == claimed).then(|| hex::encode(Sha256::digest(html)))
}

/// Where the hash is, and the hash.
fn slot(html: &str) -> Option<(usize, &str)> {
    let place = html.find(BEFORE)?.checked_add(BEFORE.len())?;
    Some((place, html.get(place..place.checked_add(DIGITS)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the build does.
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
