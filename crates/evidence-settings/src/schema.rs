//! The JSON Schema of the configuration, for editors: completion, descriptions, and most of the rules.
//!
//! It derives from the same declarations as the decoder. Only the decoder checks what a schema cannot express (an
//! entry of one key belongs to another), so the schema accepts everything that the decoder accepts, and a little
//! more.

use serde_json::{Map, Value, json};

use super::declare::{DefaultValue, Document, Format, Key, MIN_SECONDS, Presence, Section, Shape};
use super::format::{MAX_TAG_NAME, MAX_TAG_VALUE};
use super::yaml;

/// One line without control characters.
const ONE_LINE: &str = "^[^\\u0000-\\u001f\\u007f]+$";

/// The JSON Schema (draft 2020-12) of a kind of file.
pub(crate) fn of(document: &Document) -> Value {
    let mut schema = of_section(document.root);
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(document.title));
    Value::Object(schema)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn of_section(section: &'static Section) -> Map<String, Value> {
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.presence == Presence::Required).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), Value::Object(of_key(key)))).collect();
    let mut schema = object(json!({
        "type": "object",
        "description": section.summary,
        "properties": properties,
        "additionalProperties": false,
    }));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if !section.exactly_one.is_empty() {
        let one_of: Vec<Value> =
            section.exactly_one.iter().map(|key| json!({ "required": [key.name] })).collect();
        schema.insert("oneOf".to_owned(), json!(one_of));
    }
    if section.not_empty {
        schema.insert("minProperties".to_owned(), json!(1));
    }
    schema
}

fn of_key(key: &'static Key) -> Map<String, Value> {
    let mut schema = of_shape(&key.shape);
    let mut description = key.meaning();
    match key.presence {
        Presence::Default(default) => {
            let value = match default {
                DefaultValue::Text(text) => json!(text),
                DefaultValue::Boolean(value) => json!(value),
                DefaultValue::Integer(value) => json!(value),
                DefaultValue::Empty(text) => yaml::to_json(text),
            };
            schema.insert("default".to_owned(), value);
        }
        Presence::Derived(how) => description.push_str(&format!(" Default: {how}.")),
        Presence::Required | Presence::Optional => {}
    }
    schema.insert("description".to_owned(), json!(description));
    if !key.example.is_empty() {
        schema.insert("examples".to_owned(), json!(examples(key)));
    }
    schema
}

/// The example, and `"*"` if the key accepts it.
fn examples(key: &Key) -> Vec<Value> {
    let example = yaml::to_json(key.example);
    match key.shape {
        Shape::EverythingOr(_) => vec![json!("*"), example],
        _ => vec![example],
    }
}

fn of_shape(shape: &'static Shape) -> Map<String, Value> {
    match shape {
        Shape::Text(format) => of_format(*format),
        Shape::Boolean => object(json!({ "type": "boolean" })),
        Shape::Integer { minimum, maximum } => {
            object(json!({ "type": "integer", "minimum": minimum, "maximum": maximum }))
        }
        Shape::Seconds { maximum } => {
            object(json!({ "type": "number", "minimum": MIN_SECONDS, "maximum": maximum }))
        }
        Shape::List { of, may_be_empty } => {
            let mut list = list_of(*of);
            if *may_be_empty {
                list.remove("minItems");
            }
            list
        }
        Shape::Entries { of, section } => object(json!({
            "type": "array",
            "items": { "anyOf": [of_format(*of), of_section(section)] },
            "uniqueItems": true,
        })),
        Shape::TextOr { of, section } => object(json!({ "anyOf": [of_format(*of), of_section(section)] })),
        Shape::EverythingOr(of) => object(json!({ "oneOf": [{ "const": "*" }, list_of(*of)] })),
        Shape::TextOrMap { of, names } => object(json!({
            "anyOf": [of_format(*of), map_of(*names, of_format(*of))],
        })),
        Shape::Lists { of, names } => map_of(*names, list_of(*of)),
        Shape::Tags => object(json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9._/-]+$", "maxLength": MAX_TAG_NAME },
            "additionalProperties": { "type": "string", "pattern": ONE_LINE, "maxLength": MAX_TAG_VALUE },
        })),
        Shape::Section(section) => of_section(section),
        Shape::OrSection { plain, section } => {
            object(json!({ "anyOf": [of_shape(plain), of_section(section)] }))
        }
        Shape::Sections(section) => {
            object(json!({ "type": "array", "items": of_section(section), "minItems": 1 }))
        }
    }
}

fn map_of(names: Format, values: Map<String, Value>) -> Map<String, Value> {
    object(json!({
        "type": "object",
        "propertyNames": of_format(names),
        "additionalProperties": values,
        "minProperties": 1,
    }))
}

fn list_of(format: Format) -> Map<String, Value> {
    object(json!({ "type": "array", "items": of_format(format), "minItems": 1, "uniqueItems": true }))
}

fn of_format(format: Format) -> Map<String, Value> {
    object(match format {
        Format::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Format::Word(vocabulary) => json!({ "type": "string", "enum": (vocabulary.taken)("") }),
        Format::Variable => json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
        Format::Url => json!({
            "type": "string",
            "pattern": "^([Hh][Tt][Tt][Pp][Ss]://|[Hh][Tt][Tt][Pp]://([Ll][Oo][Cc][Aa][Ll]|127\\.|\\[))[^@?#]+$",
        }),
        Format::Custom(custom) => match custom.max_length {
            Some(length) => json!({ "type": "string", "pattern": custom.pattern, "maxLength": length }),
            None => json!({ "type": "string", "pattern": custom.pattern }),
        },
        Format::Path | Format::Line => json!({ "type": "string", "pattern": ONE_LINE }),
    })
}
