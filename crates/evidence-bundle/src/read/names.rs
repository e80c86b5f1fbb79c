//! The names that a document repeats: controls, rules, reasons, kinds. Readers count and group by them, so a bundle
//! may have only so many: the memory and the pages of a reader follow from their number.

use std::collections::BTreeSet;

use super::reason::{Reason, VerifyError};

/// The most different names, or combinations of names, that a document may group its rows by. The largest framework
/// has a few hundred.
pub(super) const NAMES: usize = 4_096;
/// The most bytes of all of them together.
pub(super) const NAME_BYTES: usize = 1 << 20;

/// The different names of one document.
#[derive(Debug, Default)]
pub(super) struct Names {
    seen: BTreeSet<Box<str>>,
    bytes: usize,
    /// The last key: rows that follow each other often have the same.
    last: String,
}

impl Names {
    /// Notes the names that a row is grouped by.
    pub(super) fn note(&mut self, path: &str, names: &[&str]) -> Result<(), VerifyError> {
        let same = self.last.split('\0').eq(names.iter().copied());
        if same && !self.seen.is_empty() {
            return Ok(());
        }
        self.last.clear();
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                self.last.push('\0');
            }
            self.last.push_str(name);
        }
        if self.seen.contains(self.last.as_str()) {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(self.last.len());
        if self.seen.len() >= NAMES || self.bytes > NAME_BYTES {
            self.last.clear();
            return Err(too_many(path));
        }
        self.seen.insert(self.last.as_str().into());
        Ok(())
    }
}

/// Checks how many names a list has and how long they are.
pub(super) fn within<'a>(path: &str, names: impl Iterator<Item = &'a String>) -> Result<(), VerifyError> {
    let (count, bytes) =
        names.fold((0_usize, 0_usize), |(count, bytes), name| (count + 1, bytes.saturating_add(name.len())));
    if count > NAMES || bytes > NAME_BYTES { Err(too_many(path)) } else { Ok(()) }
}

fn too_many(path: &str) -> VerifyError {
    let detail = format!(
        "{path} has more than {NAMES} different controls, rules, reasons or kinds, or {NAME_BYTES} bytes of them"
    );
    VerifyError::at(Reason::Limit, path, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_count_once_and_have_a_limit() {
        let mut names = Names::default();
        for round in 0..3 {
            for number in 0..NAMES {
                names.note("x", &["rule", &number.to_string()]).unwrap();
                names.note("x", &["rule", &number.to_string()]).unwrap();
            }
            assert_eq!(names.seen.len(), NAMES, "{round}");
        }
        let error = names.note("x", &["rule", "another"]).unwrap_err();
        assert_eq!((error.reason, error.path.as_deref()), (Reason::Limit, Some("x")));
        names.note("x", &["rule", "7"]).unwrap();
        let mut names = Names::default();
        assert_eq!(names.note("x", &[&"a".repeat(NAME_BYTES + 1)]).unwrap_err().reason, Reason::Limit);
        // The empty name is a name.
        let mut names = Names::default();
        names.note("x", &[""]).unwrap();
        assert_eq!(names.seen.len(), 1);
        // Where one name ends and the next begins matters.
        names.note("x", &["a", "b"]).unwrap();
        names.note("x", &["ab"]).unwrap();
        assert_eq!(names.seen.len(), 3);
    }

    #[test]
    fn a_list_of_names_has_the_same_limits() {
        let list = vec!["a".to_owned(); NAMES];
        assert!(within("x", list.iter()).is_ok());
        assert!(within("x", list.iter().chain(&list)).is_err());
        assert!(within("x", ["a".repeat(NAME_BYTES + 1)].iter()).is_err());
    }
}
