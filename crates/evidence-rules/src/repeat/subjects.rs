//! What a bundle speaks of: each name once, with a number.

use std::collections::HashMap;
use std::sync::Arc;

use evidence_text::{saturating_u32, saturating_usize};

/// A subject, and what the population says of it if it is a repository.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: Arc<str>,
    pub(super) default_branch: Option<Box<str>>,
    pub(super) archived: bool,
}

/// The place of a subject in [`Subjects`].
pub(super) type SubjectNumber = u32;

/// Every subject once.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    numbers: HashMap<Arc<str>, SubjectNumber>,
    known: Vec<Subject>,
    /// The last one: what has the same subject mostly follows each other.
    last: SubjectNumber,
}

impl Subjects {
    /// The number of a subject, which becomes known by it.
    pub(super) fn number(&mut self, name: &str) -> SubjectNumber {
        if let Some(known) = self.find(name) {
            return known;
        }
        let (number, name) = (saturating_u32(self.known.len()), Arc::<str>::from(name));
        self.numbers.insert(Arc::clone(&name), number);
        self.known.push(Subject { name, default_branch: None, archived: false });
        self.last = number;
        number
    }

    /// The number of a known subject.
    pub(super) fn find(&mut self, name: &str) -> Option<SubjectNumber> {
        if self.get(self.last).is_some_and(|last| *last.name == *name) {
            return Some(self.last);
        }
        self.last = *self.numbers.get(name)?;
        Some(self.last)
    }

    /// The subject with this number, of which the next questions will be.
    pub(super) fn begin(&mut self, number: SubjectNumber) -> Option<&Subject> {
        self.last = number;
        self.get(number)
    }

    pub(super) fn get(&self, number: SubjectNumber) -> Option<&Subject> {
        self.known.get(saturating_usize(u64::from(number)))
    }

    pub(super) fn get_mut(&mut self, number: SubjectNumber) -> Option<&mut Subject> {
        self.known.get_mut(saturating_usize(u64::from(number)))
    }

    /// How often each subject is among these, by its number.
    pub(super) fn count(&self, subjects: impl Iterator<Item = SubjectNumber>) -> Vec<u32> {
        let mut counts = vec![0_u32; self.known.len()];
        for subject in subjects {
            counts.get_mut(saturating_usize(u64::from(subject))).into_iter().for_each(|count| *count += 1);
        }
        counts
    }

    /// Every name, in the order of the numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|subject| &*subject.name)
    }
}
