//! The meaning of an unquoted word: the core schema of YAML 1.2, nothing more.
//!
//! Only `true` and `false` are booleans, so `yes`, `on` and the file mode `0o7` hold no surprises. This module never
//! guesses what a key expects.

use serde_saphyr::granit_parser::{ScalarStyle, Tag};

use super::super::problem::Complaint;
use super::super::secret::quote;
use super::tree::Value;

/// The value of a scalar.
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, Complaint> {
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { plain(text) } else { Value::Text(text.to_owned()) });
    };
    let value = plain(text);
    match (tag.core_suffix(), &value) {
        (Some("str"), _) => Ok(Value::Text(text.to_owned())),
        (Some("bool"), Value::Boolean(_))
        | (Some("int"), Value::Integer(_))
        | (Some("float"), Value::Number(_) | Value::Integer(_))
        | (Some("null"), Value::Null) => Ok(value),
        (Some(name), _) => Err(Complaint::new(format!("{} is not a valid `!!{name}` value", quote(text)))
            .help("remove the tag, or correct the value")),
        (None, _) if tag.original() == "!" => Ok(Value::Text(text.to_owned())),
        (None, _) => Err(unknown_tag(tag)),
    }
}

/// The complaint about an unsupported tag.
pub(super) fn unknown_tag(tag: &Tag) -> Complaint {
    Complaint::new(format!("the tag {} has no meaning here", quote(&tag.original())))
        .help("remove it, or put the value in quotes if it is text")
}

/// Whether this text, written without quotes, is read back as the same text.
pub(in super::super) fn is_plain_text(text: &str) -> bool {
    let ordinary = |character: char| character.is_ascii_alphanumeric() || "._/~-".contains(character);
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric() || "._/~".contains(first));
    begins_well && text.chars().all(ordinary) && matches!(plain(text), Value::Text(_))
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Boolean(true),
        "false" | "False" | "FALSE" => return Value::Boolean(false),
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::Text(text.to_owned()))
}

fn number(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Value::Number(if text.starts_with('-') {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(Value::Number(f64::NAN)),
        _ => {}
    }
    // `parse` would also take "inf", "nan" and "infinity", which YAML reads as text.
    let (digits, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(d, e)| (d, Some(e)));
    let exponent_is_one =
        exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa_is_one = (is_digits(whole) && (fraction.is_empty() || is_digits(fraction)))
        || (whole.is_empty() && is_digits(fraction));
    if !exponent_is_one || !mantissa_is_one {
        return None;
    }
    let number = text.parse::<f64>().ok().map(Value::Number);
    if is_digits(unsigned) { text.parse::<i64>().ok().map(Value::Integer).or(number) } else { number }
}

fn radix(digits: &str, radix: u32) -> Option<Value> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some(i64::from_str_radix(digits, radix).map_or(Value::Number(f64::INFINITY), Value::Integer))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
