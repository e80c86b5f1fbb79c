//! Walks the tree of a file along the declarations and collects every problem.
//!
//! It knows shapes, not keys: each section declares the names and meanings of its keys. Every decoded value has
//! its declared type and follows its declared rule.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::declare::{
    DefaultValue, Document, Format, Guard, Guarded, Key, MIN_SECONDS, Presence, Section, Shape, Variables,
};
use super::locate::located;
use super::problem::{Complaint, Place, Problems};
use super::secret::{self, quote};
use super::yaml::{Entry, Node, Value};
use super::{advice, format, path, suggest, wrong_type};

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
}

/// An entry of a list that holds texts and mappings.
pub enum ListEntry {
    /// A text.
    Text(Placed<String>),
    /// A mapping.
    Fields(Fields),
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

/// `"*"`, or a list.
pub enum Everything<T> {
    /// `"*"`
    All,
    /// The entries.
    Listed(Vec<T>),
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
        let (complaint, meant) = match section.planned.iter().find(|planned| planned.name == name) {
            Some(planned) => (Complaint::new(planned.message).help("remove it from the file"), None),
            // Finding the nearest name is the only expensive part of a problem.
            None if self.problems.is_full() => (Complaint::new("unknown key"), None),
            None => {
                let shown = if parent.is_empty() { String::new() } else { format!(" in `{parent}`") };
                let (advice, meant) = advice::unknown(self.document.root, section, name);
                (Complaint::new(format!("unknown key {}{shown}", quote(name))).help(advice), meant)
            }
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
        let Shape::Sections(section) = key.shape else { return None };
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

    /// A text.
    pub fn text(&mut self, fields: &Fields, key: &'static Key) -> Option<Placed<String>> {
        let Some((entry, path)) = fields.get(key) else {
            let Presence::Default(DefaultValue::Text(text)) = key.presence else { return None };
            let path = path::join(&fields.path, key.name);
            return Some(Placed { value: text.to_owned(), place: Place::Nowhere, path });
        };
        let Shape::Text(format) = key.shape else { return None };
        self.text_at(key, format, &entry.value, place_of(entry), path)
    }

    fn text_at(
        &mut self,
        key: &'static Key,
        format: Format,
        node: &Node,
        place: Place,
        path: String,
    ) -> Option<Placed<String>> {
        let checked = match &node.value {
            Value::Reported => return None,
            Value::Text(text) => format::check(format, text)
                .and_then(|()| self.judged(format, &path, text))
                .map(|()| text.clone()),
            other => Err(wrong_type::of_text(key, format, other)),
        };
        match checked {
            Ok(value) => Some(Placed { value, place, path }),
            Err(complaint) => {
                self.problems.add(place, path, complaint);
                None
            }
        }
    }

    /// A path, with `~` expanded, relative to the working directory.
    pub fn path(&mut self, fields: &Fields, key: &'static Key) -> Option<PathBuf> {
        let text = self.text(fields, key)?;
        self.expand(text)
    }

    /// A list of paths, each with `~` expanded, relative to the working directory.
    pub fn paths(&mut self, fields: &Fields, key: &'static Key) -> Option<Vec<PathBuf>> {
        let texts = self.list(fields, key)?;
        texts.into_iter().map(|text| self.expand(text)).collect()
    }

    /// Asks the guard about a well-formed text.
    fn judged(&self, format: Format, path: &str, text: &str) -> Result<(), Complaint> {
        match format {
            Format::Variable => (self.guard)(path, &Guarded::Variable(text)),
            Format::Url => (self.guard)(path, &Guarded::Address(&format::url(text)?)),
            Format::Path => match located(text, self.directory, self.variables) {
                Ok(located) => (self.guard)(path, &Guarded::Path(&located)),
                // `expand` reports it.
                Err(_) => Ok(()),
            },
            Format::Choice(_) | Format::Word(_) | Format::Custom(_) | Format::Line => {
                (self.guard)(path, &Guarded::Text(text))
            }
        }
    }

    fn expand(&mut self, text: Placed<String>) -> Option<PathBuf> {
        match located(&text.value, self.directory, self.variables) {
            Ok(located) => Some(located),
            Err(complaint) => {
                self.problems.add(text.place, text.path, complaint);
                None
            }
        }
    }

    /// A boolean.
    pub fn boolean(&mut self, fields: &Fields, key: &'static Key) -> Option<bool> {
        let Some((entry, path)) = fields.get(key) else {
            let Presence::Default(DefaultValue::Boolean(value)) = key.presence else { return None };
            return Some(value);
        };
        match &entry.value.value {
            Value::Boolean(value) => return Some(*value),
            Value::Reported => {}
            other => self.problems.add(place_of(entry), path, wrong_type::of_boolean(key, other)),
        }
        None
    }

    /// A whole number.
    pub fn integer<T: TryFrom<i64>>(&mut self, fields: &Fields, key: &'static Key) -> Option<T> {
        let Shape::Integer { minimum, maximum } = key.shape else { return None };
        let Some((entry, path)) = fields.get(key) else {
            let Presence::Default(DefaultValue::Integer(value)) = key.presence else { return None };
            return T::try_from(value).ok();
        };
        let complaint = match &entry.value.value {
            Value::Reported => return None,
            Value::Integer(value) if (minimum..=maximum).contains(value) => return T::try_from(*value).ok(),
            Value::Integer(value) => wrong_type::out_of_range(key, &value.to_string()),
            Value::Number(value) if value.fract() == 0.0 && value.abs() > 9e15 => {
                wrong_type::out_of_range(key, &wrong_type::number(&entry.value.value))
            }
            other => wrong_type::of_number(key, "a whole number", other),
        };
        self.problems.add(place_of(entry), path, complaint);
        None
    }

    /// A duration given in seconds.
    pub fn seconds(&mut self, fields: &Fields, key: &'static Key) -> Option<Duration> {
        let Shape::Seconds { maximum } = key.shape else { return None };
        let Some((entry, path)) = fields.get(key) else {
            let Presence::Default(DefaultValue::Integer(value)) = key.presence else { return None };
            return u64::try_from(value).ok().map(Duration::from_secs);
        };
        let seconds = match &entry.value.value {
            Value::Reported => return None,
            // Exact for every value in range: those have far fewer than 53 bits.
            Value::Integer(value) => i32::try_from(*value).map_or(f64::INFINITY, f64::from),
            Value::Number(value) => *value,
            other => {
                let complaint = wrong_type::of_number(key, "a number of seconds", other);
                self.problems.add(place_of(entry), path, complaint);
                return None;
            }
        };
        if (MIN_SECONDS..=f64::from(maximum)).contains(&seconds) {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        let shown = wrong_type::number(&entry.value.value);
        self.problems.add(place_of(entry), path, wrong_type::out_of_range(key, &shown));
        None
    }

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

    fn items(
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

impl Fields {
    /// Whether the file has this key.
    pub fn has(&self, key: &'static Key) -> bool {
        self.get(key).is_some()
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
