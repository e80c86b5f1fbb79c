//! The paths of entries: which are allowed, how a source's own names become components, and their order.
//!
//! Every path is safe to create on any common file system, even by a tool that checks nothing. This module never
//! touches a file system.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use evidence_text::{saturating_u32, saturating_usize};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
/// The list of checksums, the first entry of every bundle.
pub const CHECKSUMS: &str = "checksums.sha256";
/// The signature over the list, the second entry of every bundle.
pub const SIGNATURE: &str = "signature.sig";
/// The manifest, the first file that the list names.
pub const MANIFEST: &str = "manifest.json";
/// The execution context, the second file that the list names.
pub const RUN: &str = "run.json";
/// The compliance hints.
pub const HINTS: &str = "derived/hints.json";
/// The judgement per control.
pub const NORMALIZED: &str = "derived/normalized.json";
/// Every observation, and the requests behind it.
pub const OBSERVATIONS: &str = "derived/observations.json";
/// Everything that was found, in scope or not.
pub const POPULATION: &str = "derived/population.json";
/// The settings that decided what was collected and how it was judged.
pub const SCOPE: &str = "derived/scope.json";
/// The failures that management accepts; only if the run had a file of waivers.
pub const WAIVERS: &str = "derived/waivers.json";
/// The file to read first: what the bundle is and how to check it. This file and the six below are optional; they
/// are derived from the documents and add nothing to them.
pub const README: &str = "derived/README.txt";
/// The artifacts as a table.
pub const ARTIFACTS_CSV: &str = "derived/artifacts.csv";
/// The merged changes of the period as a table; of bundles whose rules read them.
pub const CHANGES_CSV: &str = "derived/changes.csv";
/// The people with access as a table; of bundles whose rules read them.
pub const PEOPLE_CSV: &str = "derived/people.csv";
/// The checks as a table.
pub const CHECKS_CSV: &str = "derived/checks.csv";
/// The table of criteria, of a framework whose controls are the criteria.
pub const CRITERIA_CSV: &str = "derived/criteria.csv";
/// Every event of the account logs, as a table for spreadsheets.
pub const EVENTS_CSV: &str = "derived/events.csv";
/// Every observation with its requests, as a table for spreadsheets.
pub const OBSERVATIONS_CSV: &str = "derived/observations.csv";
/// The population as a table.
pub const POPULATION_CSV: &str = "derived/population.csv";
/// The results as a page.
pub const REPORT: &str = "derived/report.html";
/// The files that every bundle has, in the order in which they come first.
pub const REQUIRED: [&str; 7] = [MANIFEST, RUN, HINTS, NORMALIZED, OBSERVATIONS, POPULATION, SCOPE];

/// The most bytes that a path may have.
pub const MAX_PATH: usize = 240;
/// The most bytes that one component of a path may have.
pub const MAX_COMPONENT: usize = 200;

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path has more than [`MAX_PATH`] bytes.
    #[error("the path is longer than {MAX_PATH} bytes")]
    TooLong,
    /// Two slashes in a row, or one at the beginning or the end.
    #[error("the path has an empty component")]
    EmptyComponent,
    /// A component has more than [`MAX_COMPONENT`] bytes.
    #[error("a component of the path is longer than {MAX_COMPONENT} bytes")]
    ComponentTooLong,
    /// A byte outside `A-Z a-z 0-9 . _ % -`.
    #[error("the path has a byte outside A-Z a-z 0-9 . _ % - and /")]
    ForbiddenByte,
    /// A component is `.` or `..`.
    #[error("a component of the path is . or ..")]
    Traversal,
    /// A component ends in a dot, which Windows drops.
    #[error("a component of the path ends in a dot")]
    TrailingDot,
    /// A component is the name of a Windows device, with or without an extension.
    #[error("a component of the path is the name of a Windows device")]
    DeviceName,
}

/// The path of an entry: relative, with `/` between components, and unambiguous on every file system. Clones share
/// the text, since a large bundle has many paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundlePath(Arc<str>);

impl BundlePath {
    /// Checks a path against the rules of the format.
    ///
    /// # Errors
    /// Fails with the first rule that the path breaks.
    pub fn new(path: &str) -> Result<BundlePath, PathError> {
        check(path)?;
        Ok(BundlePath(path.into()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for BundlePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Serialize for BundlePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BundlePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BundlePath, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        BundlePath::new(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for BundlePath {
    fn schema_name() -> Cow<'static, str> {
        "BundlePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "The path of an entry of the bundle.",
            "maxLength": MAX_PATH,
            "pattern": "^[A-Za-z0-9._%-]+(/[A-Za-z0-9._%-]+)*$"
        })
    }
}

/// Checks a path without keeping it.
///
/// # Errors
/// Fails with the first rule that the path breaks.
pub fn check(path: &str) -> Result<(), PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.len() > MAX_PATH {
        return Err(PathError::TooLong);
    }
    path.split('/').try_for_each(check_component)
}

fn check_component(component: &str) -> Result<(), PathError> {
    if component.is_empty() {
        return Err(PathError::EmptyComponent);
    }
    if component.len() > MAX_COMPONENT {
        return Err(PathError::ComponentTooLong);
    }
    if !component.bytes().all(|byte| is_plain(byte) || byte == b'%') {
        return Err(PathError::ForbiddenByte);
    }
    if component == "." || component == ".." {
        return Err(PathError::Traversal);
    }
    if component.ends_with('.') {
        return Err(PathError::TrailingDot);
    }
    if is_device_name(component) {
        return Err(PathError::DeviceName);
    }
    Ok(())
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// Windows opens the device for `NUL.json` too, so only the part before the first dot counts.
fn is_device_name(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or(component).as_bytes();
    match stem {
        [name @ .., number] if name.len() == 3 => {
            number.is_ascii_digit()
                && [b"COM", b"LPT"].iter().any(|device| name.eq_ignore_ascii_case(*device))
        }
        name => [b"CON", b"PRN", b"AUX", b"NUL"].iter().any(|device| name.eq_ignore_ascii_case(*device)),
    }
}

/// Encodes any text as one component of a path, injectively: two texts never give the same component.
///
/// Pass the whole component, such as `repo_acme_con_codeowners.json`. Only a component that is a device name as a whole
/// is escaped, so `con` in this example does not change.
///
/// Every byte outside `A-Z a-z 0-9 . _ -` becomes `%XX` with upper-case hex digits, including `%` itself. To keep the
/// result legal, a final dot becomes `%2E`, as do both dots of `..`, and the first letter of a Windows device name
/// becomes `%XX`. Decoding every `%XX` restores the text. The empty text becomes `%`, which no other text gives. The
/// result may still be longer than [`MAX_COMPONENT`]; [`BundlePath::new`] checks that.
pub fn encode_component(name: &str) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let device = is_device_name(name);
    let last = name.len() - 1;
    let mut encoded = String::with_capacity(name.len());
    for (position, byte) in name.bytes().enumerate() {
        let unsafe_here = (device && position == 0) || (byte == b'.' && (position == last || name == ".."));
        if is_plain(byte) && !unsafe_here {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&hex::encode_upper([byte]));
        }
    }
    encoded
}

/// The order of a bundle's files: the required ones first, the rest ascending by the bytes of their paths.
pub fn archive_order(left: &str, right: &str) -> Ordering {
    rank(left).cmp(&rank(right)).then_with(|| left.as_bytes().cmp(right.as_bytes()))
}

fn rank(path: &str) -> usize {
    REQUIRED.iter().position(|required| *required == path).unwrap_or(REQUIRED.len())
}

/// Whether a bundle may have a file with this path: a required document, under `derived/`, or under
/// `sources/<source>/`.
pub fn has_place(path: &str) -> bool {
    if rank(path) < REQUIRED.len() {
        return true;
    }
    match path.split_once('/') {
        Some(("derived", _)) => true,
        Some(("sources", rest)) => rest.contains('/'),
        _ => false,
    }
}

/// Two paths that cannot both exist on every file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// The path that comes first when case is ignored.
    pub first: String,
    /// The path that is equal to it when ASCII case is ignored, or that needs it to be a directory.
    pub second: String,
}

/// Finds two paths that are equal when ASCII case is ignored, or of which one is a directory of the other.
///
/// `path` gives the path at a position below `count`, which is less than 2³²; only positions are held in memory.
pub fn find_collision<'a>(count: usize, path: impl Fn(usize) -> &'a str) -> Option<Collision> {
    let path = |position: u32| path(saturating_usize(position));
    let mut order: Vec<u32> = (0..saturating_u32(count)).collect();
    // Sorting `/` before every other byte puts the descendants of a path directly after it, so comparing
    // neighbours is enough. Of paths that are the same without their case, the first one comes first.
    order.sort_unstable_by(|&left, &right| {
        Iterator::cmp(folded(path(left)), folded(path(right))).then(left.cmp(&right))
    });
    order.iter().zip(order.iter().skip(1)).find_map(|(&left, &right)| {
        let (first, second) = (path(left), path(right));
        let start = second.get(..first.len())?;
        let follows = second.as_bytes().get(first.len());
        (start.eq_ignore_ascii_case(first) && matches!(follows, None | Some(b'/')))
            .then(|| Collision { first: first.to_owned(), second: second.to_owned() })
    })
}

fn folded(path: &str) -> impl Iterator<Item = u8> + '_ {
    path.bytes().map(|byte| if byte == b'/' { 0 } else { byte.to_ascii_lowercase() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(component: &str) -> Vec<u8> {
        let mut decoded = Vec::new();
        let mut bytes = component.bytes();
        while let Some(byte) = bytes.next() {
            if byte == b'%' {
                let (Some(high), Some(low)) = (bytes.next(), bytes.next()) else { return Vec::new() };
                decoded.extend(hex::decode([high, low]).unwrap());
            } else {
                decoded.push(byte);
            }
        }
        decoded
    }

    #[test]
    fn refuses_each_kind_of_bad_path() {
        let long_component = "a".repeat(MAX_COMPONENT + 1);
        let long_path = format!("{}/{}", "a".repeat(MAX_COMPONENT), "b".repeat(MAX_PATH - MAX_COMPONENT));
        for (path, error) in [
            ("", PathError::Empty),
            (long_path.as_str(), PathError::TooLong),
            ("/etc/passwd", PathError::EmptyComponent),
            ("a//b", PathError::EmptyComponent),
            ("a/", PathError::EmptyComponent),
            (long_component.as_str(), PathError::ComponentTooLong),
            ("a b", PathError::ForbiddenByte),
            ("a\\b", PathError::ForbiddenByte),
            ("a\nb", PathError::ForbiddenByte),
            ("caf\u{e9}", PathError::ForbiddenByte),
            ("a:b", PathError::ForbiddenByte),
            (".", PathError::Traversal),
            ("a/../b", PathError::Traversal),
            ("a./b", PathError::TrailingDot),
            ("...", PathError::TrailingDot),
            ("nul", PathError::DeviceName),
            ("sources/codehost/Com1.json", PathError::DeviceName),
            ("a/lpt9.tar.gz", PathError::DeviceName),
        ] {
            assert_eq!(BundlePath::new(path), Err(error), "{path:?}");
        }
    }

    #[test]
    fn accepts_the_longest_and_the_nearly_bad() {
        let longest = format!("{}/{}", "a".repeat(MAX_COMPONENT), "b".repeat(MAX_PATH - MAX_COMPONENT - 1));
        for path in [
            longest.as_str(),
            ".github",
            "a..b",
            "com10",
            "console",
            "lpt",
            "web1",
            "comx",
            "%2E%2E",
            "sources/codehost/x",
        ] {
            let accepted = BundlePath::new(path).unwrap();
            assert_eq!((accepted.as_str(), accepted.as_ref()), (path, path));
        }
    }

    #[test]
    fn only_texts_that_are_no_component_are_escaped() {
        for (name, component) in [
            ("", "%"),
            (".", "%2E"),
            ("..", "%2E%2E"),
            ("a.", "a%2E"),
            ("...", "..%2E"),
            ("nul", "%6Eul"),
            ("CON.json", "%43ON.json"),
            ("a/b", "a%2Fb"),
            ("100%", "100%25"),
            ("caf\u{e9}", "caf%C3%A9"),
            ("my-repo_1.0", "my-repo_1.0"),
            ("repo_acme_con_codeowners.json", "repo_acme_con_codeowners.json"),
            ("repo_acme_nul._codeowners.json", "repo_acme_nul._codeowners.json"),
            ("trail_.._status.json", "trail_.._status.json"),
        ] {
            assert_eq!(encode_component(name), component, "{name:?}");
        }
    }

    #[test]
    fn the_required_documents_come_first() {
        let mut paths =
            ["sources/a/b", "derived/a.json", NORMALIZED, "derived/hints.jsonl", RUN, HINTS, MANIFEST];
        paths.sort_unstable_by(|left, right| archive_order(left, right));
        assert_eq!(
            paths,
            [MANIFEST, RUN, HINTS, NORMALIZED, "derived/a.json", "derived/hints.jsonl", "sources/a/b"]
        );
    }

    #[test]
    fn every_file_has_its_place() {
        for path in [MANIFEST, RUN, HINTS, NORMALIZED, "derived/x", "sources/a/b", "sources/a/b/c"] {
            assert!(has_place(path), "{path}");
        }
        for path in [CHECKSUMS, SIGNATURE, "README", "sources/a", "other/a/b", "Derived/x"] {
            assert!(!has_place(path), "{path}");
        }
    }

    #[test]
    fn collisions_are_found_past_names_that_sort_between() {
        let collides = |paths: &[&str]| find_collision(paths.len(), |position| paths[position]).is_some();
        assert!(collides(&["sources/a/B", "x", "sources/a/b"]));
        assert!(collides(&["sources/a/x", "sources/a/x-y", "sources/a/X/z"]));
        assert!(collides(&["a", "a"]));
        assert!(!collides(&["sources/a/x", "sources/a/x-y", "sources/a/xz/z"]));
        assert!(!collides(&[]));
    }

    proptest! {
        #[test]
        fn encoding_is_injective_and_legal(name in ".{0,40}") {
            let component = encode_component(&name);
            if component.len() <= MAX_COMPONENT {
                prop_assert_eq!(check(&component), Ok(()));
            }
            prop_assert_eq!(decode(&component), name.as_bytes());
        }

        #[test]
        fn encoding_of_near_names_is_legal(name in "(?i)[.%]{0,3}(con|nul|com[0-9]|lpt1|a)?[.]{0,3}(json)?[.]?") {
            let component = encode_component(&name);
            prop_assert_eq!(check(&component), Ok(()));
            prop_assert_eq!(decode(&component), name.as_bytes());
        }
    }
}
