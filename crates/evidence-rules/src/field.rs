//! Fields that a host may return, withhold or omit.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A field of a record that the host may return, withhold (`null`) or omit.
///
/// Serialised as received: `null` stays `null`, absent stays absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The host omitted the field.
    #[default]
    Absent,
    /// The host returned `null`.
    Null,
    /// The host returned a value.
    Value(T),
}

impl<T> Field<T> {
    /// Whether the host omitted the field; for `skip_serializing_if`.
    pub fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Value(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// The field with `change` applied to its value, if any.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Field<U> {
        match self {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Value(value) => Field::Value(change(value)),
        }
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Field::Null, Field::Value))
    }
}
