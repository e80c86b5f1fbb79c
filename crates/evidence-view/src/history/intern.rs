//! Values that repeat from bundle to bundle, each stored once: a year of bundles has millions of equal rows.

use std::collections::HashMap;
use std::hash::Hash;

use evidence_text::saturating_u32;

/// A numbered set of values.
#[derive(Debug)]
pub(super) struct Interned<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        Interned { numbers: HashMap::new(), values: Vec::new() }
    }
}

impl<T: Hash + Eq + Clone> Interned<T> {
    /// The number of this value.
    pub(super) fn number<Q>(&mut self, value: &Q) -> u32
    where
        T: std::borrow::Borrow<Q> + for<'a> From<&'a Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(known) = self.numbers.get(value) {
            return *known;
        }
        self.insert(T::from(value))
    }

    /// The number of this value, which is small enough to copy.
    pub(super) fn number_of(&mut self, value: T) -> u32 {
        if let Some(known) = self.numbers.get(&value) {
            return *known;
        }
        self.insert(value)
    }

    fn insert(&mut self, value: T) -> u32 {
        let number = saturating_u32(self.values.len());
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// The value with this number.
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(usize::try_from(number).ok()?)
    }
}

impl Interned<std::sync::Arc<str>> {
    /// The text with this number.
    pub(super) fn text(&self, number: u32) -> &str {
        self.get(number).map_or("", |text| text)
    }
}
