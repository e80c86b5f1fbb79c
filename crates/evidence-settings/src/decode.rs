//! Walks the tree of a file along the declarations and collects every problem.
//!
//! It knows shapes, not keys: each section declares the names and meanings of its keys. Every decoded value has
//! its declared type and follows its declared rule.

mod list;
pub mod map;
mod value;

pub use list::{Everything, ListEntry};

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::declare::{Document, Guard, Key, Presence, Section, Shape, Variables};
use super::problem::{Complaint, Place, Problems};
use super::secret::{self, quote};
use super::yaml::{Entry, Node, Value};
use super::{advice, path, suggest, wrong_type};

/// The context of decoding.
pub struct Decoder<'run, 'text> {
    /// The collected problems.
    pub problems: Problems<'text>,
    /// The environment: `HOME`, and variables that override the file.
    pub variables: &'run Variables<'run>,
    /// Judges the values of the file beyond their declarations.
    pub guard: &'run Guard<'run>,
    /// The kind of file.
    pub document: &'static Document,
    /// The directory of the file, which relative paths in it refer to.
    pub directory: &'run Path,
    /// The time that dates in the file are compared with, in seconds since 1970.
    pub now: i64,
    /// The word of the file that decides which words other keys take; empty until the program has read it.
    pub context: &'static str,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its place; nowhere for a default.
    pub place: Place,
    /// Its dotted path.
    pub path: String,
}

/// The keys of one section in the file.
pub struct Fields {
    path: String,
    entries: Vec<(&'static Key, Entry)>,
    place: Place,
}

impl Decoder<'_, '_> {
    /// Reads a mapping with declared keys: reports unknown, repeated and missing keys.
    pub(crate) fn open(
        &mut self,
        section: &'static Section,
        value: &Node,
        place: Place,
        path: String,
    ) -> Option<Fields> {
        let Value::Map(entries) = &value.value else {
            self.problems.add(place, path, wrong_type::of_section(self.document, section, &value.value)?);
            return None;
        };
        let mut fields = Fields { path, entries: Vec::new(), place };
        let mut first_lines: HashMap<&str, usize> = HashMap::new();
        // Keys that were given under a wrong name are not missing as well.
        let mut meant: Vec<&'static Key> = Vec::new();
        for entry in entries {
            // The problem of an unnamed key has already been reported.
            let Some(name) = entry.key.as_deref() else { continue };
            if let Some(first_line) = first_lines.get(name) {
                let complaint = Complaint::new(format!("{} appears twice", quote(name)))
                    .help(format!("remove one of them; the first is on line {first_line}"));
                let key = path::join(&fields.path, name);
                self.problems.add(Place::Bytes(entry.key_bytes.clone()), key, complaint);
                continue;
            }
            first_lines.insert(name, self.problems.line(entry.key_bytes.start));
            match section.key(name) {
                Some(key) => fields.entries.push((key, entry.clone())),
                None => meant.extend(self.unknown(section, &fields.path, name, entry)),
            }
        }
        self.missing(section, &fields, &meant, entries.is_empty());
        Some(fields)
    }

    /// Reports a key that the section does not have; returns the key that was probably meant.
    fn unknown(
        &mut self,
        section: &'static Section,
        parent: &str,
        name: &str,
        entry: &Entry,
    ) -> Option<&'static Key> {
        if secret::names_secret(name) || secret::contains_secret(name) {
            self.hide(&entry.value);
        }
        // Finding the nearest name is the only expensive part of a problem.
        let (complaint, meant) = if self.problems.is_full() {
            (Complaint::new("unknown key"), None)
        } else {
            let shown = if parent.is_empty() { String::new() } else { format!(" in `{parent}`") };
            let (advice, meant) = advice::unknown(self.document.root, section, name);
            (Complaint::new(format!("unknown key {}{shown}", quote(name))).help(advice), meant)
        };
        self.problems.add(Place::Bytes(entry.key_bytes.clone()), path::join(parent, name), complaint);
        meant
    }

    fn missing(
        &mut self,
        section: &'static Section,
        fields: &Fields,
        meant: &[&'static Key],
        is_empty: bool,
    ) {
        let was_meant = |key: &'static Key| meant.iter().any(|meant| std::ptr::eq(*meant, key));
        let inside = if fields.path.is_empty() { String::new() } else { format!(" in `{}`", fields.path) };
        for key in section.keys.iter().filter(|key| key.presence == Presence::Required) {
            if !fields.has(key) && !was_meant(key) {
                let complaint = Complaint::new(format!("the required key `{}` is missing{inside}", key.name))
                    .help(missing_help(key));
                self.problems.add(fields.place.clone(), path::join(&fields.path, key.name), complaint);
            }
        }
        let names: Vec<&str> = section.exactly_one.iter().map(|key| key.name).collect();
        let given: Vec<_> = section.exactly_one.iter().filter(|key| fields.has(key)).collect();
        match given.as_slice() {
            [] if !names.is_empty() && !section.exactly_one.iter().any(|key| was_meant(key)) => {
                let complaint =
                    Complaint::new(format!("{} is missing{inside}", suggest::alternatives(&names)))
                        .help("give exactly one of them");
                self.problems.add(fields.place.clone(), fields.path.clone(), complaint);
            }
            [_, second, ..] => {
                let complaint = Complaint::new(format!("{} cannot be combined", suggest::list(&names)))
                    .help("keep exactly one of them");
                let key = path::join(&fields.path, second.name);
                self.problems.add(fields.key_place(second), key, complaint);
            }
            _ => {}
        }
        if section.not_empty && is_empty {
            let complaint =
                Complaint::new(format!("`{}` is empty", fields.path)).help(section.keys_in_words());
            self.problems.add(fields.place.clone(), fields.path.clone(), complaint);
        }
    }

    /// Masks a value with its children.
    fn hide(&mut self, node: &Rc<Node>) {
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| self.hide(item)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.hide(&entry.value)),
            _ => self.problems.hide(node.bytes.clone()),
        }
    }

    /// The section of this key, if it is present and a mapping.
    pub fn section(&mut self, fields: &Fields, key: &'static Key) -> Option<Fields> {
        let (entry, path) = fields.get(key)?;
        let section = key.shape.section()?;
        self.open(section, &entry.value, Place::Bytes(entry.key_bytes.clone()), path)
    }

    /// The sections in the list of this key; empty if it is absent.
    pub fn sections(&mut self, fields: &Fields, key: &'static Key) -> Option<Vec<Fields>> {
        let Shape::Sections(section) = key.shape.plain() else { return None };
        let Some((entry, path)) = fields.get(key) else { return Some(Vec::new()) };
        match &entry.value.value {
            Value::List(items) if items.is_empty() => {
                self.problems.add(Place::Bytes(entry.key_bytes.clone()), path, empty_list(key));
                None
            }
            Value::List(items) => {
                let items = items.iter().enumerate();
                // Open all of them before decoding any, so that all their problems are found.
                let opened: Vec<_> = items
                    .map(|(index, item)| {
                        self.open(section, item, place_of_item(item), path::item(&path, index))
                    })
                    .collect();
                opened.into_iter().collect()
            }
            Value::Reported => None,
            other => {
                self.problems.add(place_of(entry), path, wrong_type::of_list(key, other));
                None
            }
        }
    }
}

impl Fields {
    /// Whether the file has this key.
    pub fn has(&self, key: &'static Key) -> bool {
        self.get(key).is_some()
    }

    /// Whether the value of this key is a mapping.
    pub fn has_mapping(&self, key: &'static Key) -> bool {
        self.get(key).is_some_and(|(entry, _)| matches!(entry.value.value, Value::Map(_)))
    }

    /// The place of the section.
    pub fn place(&self) -> Place {
        self.place.clone()
    }

    /// Its dotted path.
    pub fn path(&self) -> String {
        self.path.clone()
    }

    /// The place of the key itself.
    fn key_place(&self, key: &'static Key) -> Place {
        self.get(key).map_or(Place::Nowhere, |(entry, _)| Place::Bytes(entry.key_bytes.clone()))
    }

    fn get(&self, key: &'static Key) -> Option<(&Entry, String)> {
        let (_, entry) = self.entries.iter().find(|(known, _)| std::ptr::eq(*known, key))?;
        Some((entry, path::join(&self.path, key.name)))
    }
}

/// The place to report for an entry: the value, or the key if the value has no text.
fn place_of(entry: &Entry) -> Place {
    let bytes: &Range<usize> =
        if entry.value.bytes.is_empty() { &entry.key_bytes } else { &entry.value.bytes };
    Place::Bytes(bytes.clone())
}

/// The place to report for a list item.
fn place_of_item(item: &Node) -> Place {
    match item.bytes.is_empty() {
        true => Place::Bytes(item.bytes.start..item.bytes.start + 1),
        false => Place::Bytes(item.bytes.clone()),
    }
}

fn empty_list(key: &Key) -> Complaint {
    Complaint::new(format!("`{}` is an empty list", key.name))
        .help(format!("write at least one entry: `{}: {}`", key.name, key.example))
}

fn missing_help(key: &Key) -> String {
    match key.shape.section() {
        Some(section) => format!("add `{}:` with {} in it", key.name, section.needs_in_words()),
        None => format!("add it, for example `{}: {}`", key.name, key.example),
    }
}
