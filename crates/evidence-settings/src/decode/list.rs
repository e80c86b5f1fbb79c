//! The entries of a key: a list of texts or mappings, or free names with free texts.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::super::declare::{DefaultValue, Format, Key, Presence, Shape};
use super::super::problem::{Complaint, Place};
use super::super::secret::quote;
use super::super::yaml::{Entry, Node, Value};
use super::super::{format, path, wrong_type};
use super::{Decoder, Fields, Placed, empty_list, place_of, place_of_item};

/// An entry of a list that holds texts and mappings.
pub enum ListEntry {
    /// A text.
    Text(Placed<String>),
    /// A mapping.
    Fields(Fields),
}

/// `"*"`, or a list.
pub enum Everything<T> {
    /// `"*"`
    All,
    /// The entries.
    Listed(Vec<T>),
}

impl Decoder<'_, '_> {
    /// A list of texts without duplicates; empty if the key is absent and that is its default.
    pub fn list(&mut self, fields: &Fields, key: &'static Key) -> Option<Vec<Placed<String>>> {
        let Some((entry, path)) = fields.get(key) else {
            return matches!(key.presence, Presence::Default(DefaultValue::Empty(_))).then(Vec::new);
        };
        let Shape::List { of, may_be_empty } = key.shape else { return None };
        match &entry.value.value {
            Value::List(items) => self.items(key, of, may_be_empty, items, entry, &path),
            Value::Reported => None,
            other => {
                self.problems.add(place_of(entry), path, wrong_type::of_list(key, other));
                None
            }
        }
    }

    /// A list of texts without duplicates, or of mappings in their place; empty if the key is absent.
    pub fn entries(&mut self, fields: &Fields, key: &'static Key) -> Option<Vec<ListEntry>> {
        let Shape::Entries { of, section } = key.shape else { return None };
        let Some((entry, path)) = fields.get(key) else { return Some(Vec::new()) };
        let items = match &entry.value.value {
            Value::List(items) => items,
            Value::Reported => return None,
            other => {
                self.problems.add(place_of(entry), path, wrong_type::of_list(key, other));
                return None;
            }
        };
        let (mut kept, mut seen, mut all_good) = (Vec::new(), HashMap::new(), true);
        for (index, item) in items.iter().enumerate() {
            let (place, path) = (place_of_item(item), path::item(&path, index));
            let entry = match &item.value {
                Value::Map(_) => self.open(section, item, place, path).map(ListEntry::Fields),
                _ => {
                    let text = self.text_at(key, of, item, place, path);
                    text.filter(|text| self.is_new(of, text, item, &mut seen)).map(ListEntry::Text)
                }
            };
            all_good &= entry.is_some();
            kept.extend(entry);
        }
        all_good.then_some(kept)
    }

    /// A text, or a mapping in its place.
    pub fn text_or_section(&mut self, fields: &Fields, key: &'static Key) -> Option<ListEntry> {
        let Shape::TextOr { of, section } = key.shape else { return None };
        let (entry, path) = fields.get(key)?;
        match &entry.value.value {
            Value::Map(_) => {
                let place = Place::Bytes(entry.key_bytes.clone());
                self.open(section, &entry.value, place, path).map(ListEntry::Fields)
            }
            _ => self.text_at(key, of, &entry.value, place_of(entry), path).map(ListEntry::Text),
        }
    }

    /// The mappings of a file that is a list. Opens all of them, so that all their problems are found.
    pub(crate) fn file(&mut self, file: &Node) -> Option<Vec<Fields>> {
        let Value::List(items) = &file.value else {
            let complaint = wrong_type::of_file(self.document, &file.value)?;
            self.problems.add(Place::Point(0), String::new(), complaint);
            return None;
        };
        let items = items.iter().enumerate();
        let open = |(index, item): (usize, &Rc<Node>)| {
            self.open(self.document.root, item, place_of_item(item), path::item("", index))
        };
        Some(items.filter_map(open).collect())
    }

    /// Whether a text of a list is not in `seen` yet; reports it otherwise.
    fn is_new(
        &mut self,
        of: Format,
        text: &Placed<String>,
        item: &Node,
        seen: &mut HashMap<String, usize>,
    ) -> bool {
        let folded =
            if format::ignores_case(of) { text.value.to_ascii_lowercase() } else { text.value.clone() };
        if let Some(first) = seen.get(&folded) {
            let complaint = Complaint::new(format!("{} is listed twice", quote(&text.value)))
                .help(format!("remove one of them; the first is on line {first}"));
            self.problems.add(text.place.clone(), text.path.clone(), complaint);
            return false;
        }
        seen.insert(folded, self.problems.line(item.bytes.start));
        true
    }

    /// `"*"`, or a list of texts without duplicates.
    pub fn everything_or_list(
        &mut self,
        fields: &Fields,
        key: &'static Key,
    ) -> Option<Everything<Placed<String>>> {
        let Shape::EverythingOr(of) = key.shape else { return None };
        let (entry, path) = fields.get(key)?;
        match &entry.value.value {
            Value::Text(text) if text == "*" => Some(Everything::All),
            Value::List(items) => self.items(key, of, false, items, entry, &path).map(Everything::Listed),
            Value::Reported => None,
            other => {
                self.problems.add(place_of(entry), path, wrong_type::of_list(key, other));
                None
            }
        }
    }

    pub(super) fn items(
        &mut self,
        key: &'static Key,
        of: Format,
        may_be_empty: bool,
        items: &[Rc<Node>],
        entry: &Entry,
        path: &str,
    ) -> Option<Vec<Placed<String>>> {
        if items.is_empty() && !may_be_empty {
            self.problems.add(Place::Bytes(entry.key_bytes.clone()), path, empty_list(key));
            return None;
        }
        let mut kept: Vec<Placed<String>> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut all_good = true;
        for (index, item) in items.iter().enumerate() {
            let Some(text) = self.text_at(key, of, item, place_of_item(item), path::item(path, index)) else {
                all_good = false;
                continue;
            };
            match self.is_new(of, &text, item, &mut seen) {
                true => kept.push(text),
                false => all_good = false,
            }
        }
        all_good.then_some(kept)
    }

    /// Free names with free texts.
    pub fn tags(&mut self, fields: &Fields, key: &'static Key) -> Option<BTreeMap<String, String>> {
        let Some((entry, path)) = fields.get(key) else { return Some(BTreeMap::new()) };
        let entries = match &entry.value.value {
            Value::Map(entries) => entries,
            Value::Reported => return None,
            other => {
                self.problems.add(place_of(entry), path, wrong_type::of_tags(key, other));
                return None;
            }
        };
        let mut tags = BTreeMap::new();
        for tag in entries {
            let Some(name) = tag.key.as_deref() else { continue };
            let tag_path = path::join(&path, name);
            let key_place = Place::Bytes(tag.key_bytes.clone());
            let complaint = if let Err(complaint) = format::tag_name(name) {
                Some(complaint)
            } else if tags.contains_key(name) {
                Some(Complaint::new(format!("{} appears twice", quote(name))).help("remove one of them"))
            } else {
                None
            };
            if let Some(complaint) = complaint {
                self.problems.add(key_place, tag_path, complaint);
                continue;
            }
            let Some(text) = self.text_at(key, Format::Line, &tag.value, place_of(tag), tag_path.clone())
            else {
                continue;
            };
            if let Err(complaint) = format::tag_value(&text.value) {
                self.problems.add(text.place, tag_path, complaint);
                continue;
            }
            tags.insert(name.to_owned(), text.value);
        }
        Some(tags)
    }
}
