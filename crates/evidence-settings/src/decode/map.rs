//! Mappings whose names are not declared.

use std::collections::HashMap;

use super::super::declare::{Format, Key, Shape};
use super::super::problem::{Complaint, Place};
use super::super::secret::quote;
use super::super::yaml::{Entry, Value};
use super::super::{format, path, wrong_type};
use super::{Decoder, Fields, Placed, place_of};

/// A name, and its list.
pub type NamedList = (Placed<String>, Vec<Placed<String>>);

/// A text, or texts by names.
#[derive(Debug)]
pub enum TextOrMap {
    /// One text.
    Text(Placed<String>),
    /// A text for each name, in the order of the file.
    Map(Vec<(Placed<String>, Placed<String>)>),
}

impl Decoder<'_, '_> {
    /// A text, or a mapping of names to texts in its place.
    pub fn text_or_map(&mut self, fields: &Fields, key: &'static Key) -> Option<TextOrMap> {
        let Shape::TextOrMap { of, names } = key.shape else { return None };
        let (entry, path) = fields.get(key)?;
        let Value::Map(entries) = &entry.value.value else {
            return self.text_at(key, of, &entry.value, place_of(entry), path).map(TextOrMap::Text);
        };
        let named = self.named(key, names, entry, entries, &path)?;
        let texts: Vec<_> = named
            .into_iter()
            .map(|(name, entry)| {
                let text = self.text_at(key, of, &entry.value, place_of(entry), name.path.clone());
                text.map(|text| (name, text))
            })
            .collect();
        texts.into_iter().collect::<Option<_>>().map(TextOrMap::Map)
    }

    /// Lists of texts by names; empty if the key is absent.
    pub fn lists(&mut self, fields: &Fields, key: &'static Key) -> Option<Vec<NamedList>> {
        let Shape::Lists { of, names } = key.shape else { return None };
        let Some((entry, path)) = fields.get(key) else { return Some(Vec::new()) };
        let Value::Map(entries) = &entry.value.value else {
            if !matches!(entry.value.value, Value::Reported) {
                let what = "a mapping of names to lists";
                let complaint = wrong_type::of_map(key, what, &entry.value.value);
                self.problems.add(place_of(entry), path, complaint);
            }
            return None;
        };
        let named = self.named(key, names, entry, entries, &path)?;
        let lists: Vec<_> = named
            .into_iter()
            .map(|(name, entry)| {
                let list = match &entry.value.value {
                    Value::List(items) => self.items(key, of, false, items, entry, &name.path),
                    Value::Reported => None,
                    other => {
                        let complaint = wrong_type::of_map(key, "a list", other);
                        self.problems.add(place_of(entry), name.path.clone(), complaint);
                        None
                    }
                };
                list.map(|list| (name, list))
            })
            .collect();
        lists.into_iter().collect()
    }

    /// The entries of a mapping with their names, each once.
    fn named<'e>(
        &mut self,
        key: &'static Key,
        names: Format,
        map: &Entry,
        entries: &'e [Entry],
        path: &str,
    ) -> Option<Vec<(Placed<String>, &'e Entry)>> {
        if entries.is_empty() {
            let complaint = Complaint::new(format!("`{}` is an empty mapping", key.name))
                .help(format!("write at least one entry: `{}: {}`", key.name, key.example));
            self.problems.add(Place::Bytes(map.key_bytes.clone()), path, complaint);
            return None;
        }
        let (mut named, mut seen, mut all_good) = (Vec::new(), HashMap::new(), true);
        for entry in entries {
            // The problem of an unnamed key has already been reported.
            let Some(name) = entry.key.as_deref() else {
                all_good = false;
                continue;
            };
            let (place, path) = (Place::Bytes(entry.key_bytes.clone()), path::join(path, name));
            let folded =
                if format::ignores_case(names) { name.to_ascii_lowercase() } else { name.to_owned() };
            let complaint = match format::check_in(names, name, self.context) {
                Err(complaint) => Some(complaint),
                Ok(()) => seen.get(&folded).map(|first| {
                    Complaint::new(format!("{} appears twice", quote(name)))
                        .help(format!("remove one of them; the first is on line {first}"))
                }),
            };
            if let Some(complaint) = complaint {
                self.problems.add(place, path, complaint);
                all_good = false;
                continue;
            }
            seen.insert(folded, self.problems.line(entry.key_bytes.start));
            named.push((Placed { value: name.to_owned(), place, path }, entry));
        }
        all_good.then_some(named)
    }
}
