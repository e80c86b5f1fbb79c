//! The versions of the format: which ones this program reads, and which fields each added.
//!
//! A bundle is judged by the fields of its own version, so a newer program never changes a verdict.
//! `docs/bundle-format.md` describes how the format evolves.

/// A version of the format that this program reads.
#[derive(Debug, PartialEq, Eq)]
pub struct FormatVersion {
    /// `bundle_version` in the manifest.
    pub version: &'static str,
    /// `schema_version` in the documents under `derived/`.
    pub schema_version: &'static str,
    /// The fields that this version added.
    pub added: &'static [AddedField],
}

/// A field of a document.
#[derive(Debug, PartialEq, Eq)]
pub struct AddedField {
    /// The path of the document.
    pub document: &'static str,
    /// The names on the way to the field, its own last. Lists on the way have no name.
    pub names: &'static [&'static str],
}

/// Every version that this program reads, the oldest first. It writes the last.
pub const KNOWN: [FormatVersion; 1] = [FormatVersion { version: "1.0", schema_version: "1.0", added: &[] }];

/// The version that this program writes.
pub const NEWEST: &FormatVersion = {
    let [.., newest] = &KNOWN;
    newest
};

/// The version of the bundle format that this crate writes (`bundle_version` in the manifest). [`KNOWN`] lists those that
/// it reads.
pub const BUNDLE_VERSION: &str = NEWEST.version;

/// How a `bundle_version` relates to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// A version that it reads.
    Known(&'static FormatVersion),
    /// A later version than those it reads.
    Newer,
    /// Not a version, or one that was never published.
    Unknown,
}

/// Looks up a `bundle_version`.
pub(crate) fn age(version: &str) -> Age {
    if let Some(format) = KNOWN.iter().find(|format| format.version == version) {
        return Age::Known(format);
    }
    if numbers(version) > numbers(NEWEST.version) { Age::Newer } else { Age::Unknown }
}

/// Major and minor number; `None` for a text in any other form.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| number.to_string() == text);
    let (major, minor) = version.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

impl FormatVersion {
    /// The names of the fields of a document that only later versions have.
    pub(crate) fn later(&self, document: &str) -> Vec<&'static [&'static str]> {
        let later = KNOWN.iter().skip_while(|format| *format != self).skip(1);
        let fields = later.flat_map(|format| format.added);
        fields.filter(|field| field.document == document).map(|field| field.names).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_newer_or_none() {
        for format in &KNOWN {
            assert_eq!(age(format.version), Age::Known(format));
        }
        let (major, minor) = numbers(NEWEST.version).unwrap();
        for newer in [(major, minor + 1), (major, u32::MAX), (major + 1, 0), (u32::MAX, u32::MAX)] {
            assert_eq!(age(&format!("{}.{}", newer.0, newer.1)), Age::Newer, "{newer:?}");
        }
        let malformed =
            ["", "1", "2", "v2.0", "2.0.0", "2.0-beta", "02.0", "2.00", "2.+1", "+2.0", " 2.0", "2.0 "];
        for unknown in
            malformed.into_iter().chain(["0.9", "0.0", "4294967296.0", "1.4294967296", "2.", ".2", "2,0"])
        {
            assert_eq!(age(unknown), Age::Unknown, "{unknown:?}");
        }
    }

    #[test]
    fn the_table_ascends() {
        let numbers: Vec<_> = KNOWN.iter().map(|format| numbers(format.version).unwrap()).collect();
        assert!(numbers.is_sorted_by(|left, right| left < right), "{numbers:?}");
        let documents: Vec<&str> =
            crate::document::Document::ALL.iter().map(|document| document.path()).collect();
        for field in KNOWN.iter().flat_map(|format| format.added) {
            assert!(documents.contains(&field.document) && !field.names.is_empty(), "{field:?}");
        }
        for document in documents {
            assert!(NEWEST.later(document).is_empty());
            let added: usize = KNOWN
                .iter()
                .skip(1)
                .map(|format| format.added.iter().filter(|field| field.document == document).count())
                .sum();
            assert_eq!(KNOWN[0].later(document).len(), added);
        }
    }
}
