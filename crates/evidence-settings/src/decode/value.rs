//! The value of a key: a text, a path, a boolean or a number.

use std::path::PathBuf;
use std::time::Duration;

use super::super::declare::{DefaultValue, Format, Guarded, Key, MIN_SECONDS, Presence, Shape};
use super::super::locate::located;
use super::super::problem::{Complaint, Place};
use super::super::yaml::{Node, Value};
use super::super::{format, path, wrong_type};
use super::{Decoder, Fields, Placed, place_of};

impl Decoder<'_, '_> {
    /// A text.
    pub fn text(&mut self, fields: &Fields, key: &'static Key) -> Option<Placed<String>> {
        let Some((entry, path)) = fields.get(key) else {
            let Presence::Default(DefaultValue::Text(text)) = key.presence else { return None };
            let path = path::join(&fields.path, key.name);
            return Some(Placed { value: text.to_owned(), place: Place::Nowhere, path });
        };
        let Shape::Text(format) = key.shape.plain() else { return None };
        self.text_at(key, format, &entry.value, place_of(entry), path)
    }

    pub(super) fn text_at(
        &mut self,
        key: &'static Key,
        format: Format,
        node: &Node,
        place: Place,
        path: String,
    ) -> Option<Placed<String>> {
        let checked = match &node.value {
            Value::Reported => return None,
            Value::Text(text) => format::check_in(format, text, self.context)
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
        let Shape::Integer { minimum, maximum } = key.shape.plain() else { return None };
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
}
