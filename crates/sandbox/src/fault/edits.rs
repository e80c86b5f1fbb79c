//! Edits true bodies: bytes, numbers, names. It never invents a body.

use serde_json::Value;

/// The fields that hold the names of things.
const NAMES: [&str; 6] = ["name", "full_name", "login", "path", "primaryEmail", "logGroupName"];

/// Inserts bytes that are not valid UTF-8 into the first string value, or into the first element with text.
pub(super) fn spoil(body: &[u8]) -> Vec<u8> {
    let json = body.windows(3).position(|window| window == b"\":\"").map(|at| at + 3);
    let xml = || body.windows(2).position(|window| window == b"</");
    let at = json.or_else(xml).unwrap_or(body.len());
    let (before, after) = body.split_at(at);
    [before, &[0xff, 0xfe, 0xc0, 0x80], after].concat()
}

/// Replaces every number: those outside JSON strings, and XML elements with only a number.
pub(super) fn numbers(body: &[u8], number: &str) -> Vec<u8> {
    if body.trim_ascii_start().starts_with(b"<") {
        return xml_numbers(body, number);
    }
    let mut edited = Vec::with_capacity(body.len());
    let (mut quoted, mut escaped, mut in_number) = (false, false, false);
    for byte in body {
        let is_number = !quoted && (byte.is_ascii_digit() || b"+-.".contains(byte));
        let is_exponent = in_number && b"eE".contains(byte);
        if is_number || is_exponent {
            if !in_number {
                edited.extend_from_slice(number.as_bytes());
            }
            in_number = true;
            continue;
        }
        in_number = false;
        edited.push(*byte);
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
    }
    edited
}

fn xml_numbers(body: &[u8], number: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let pieces = text.split('>').map(|piece| match piece.split_once('<') {
        Some((inner, tag)) if !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{number}<{tag}")
        }
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join(">").into_bytes()
}

/// Replaces the first name in the body. A body without names stays unchanged.
pub(super) fn names(body: &[u8], name: &str) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return xml_names(body, name) };
    rename(&mut value, name);
    value.to_string().into_bytes()
}

fn rename(value: &mut Value, name: &str) -> bool {
    match value {
        Value::Array(items) => items.first_mut().is_some_and(|first| rename(first, name)),
        Value::Object(fields) => {
            let mut found = false;
            for key in NAMES {
                if let Some(Value::String(text)) = fields.get_mut(key) {
                    *text = match text.split_once('/').filter(|_| key == "full_name") {
                        Some((owner, _)) => format!("{owner}/{name}"),
                        None => name.to_owned(),
                    };
                    found = true;
                }
            }
            found || fields.values_mut().filter(|value| value.is_array()).any(|list| rename(list, name))
        }
        _ => false,
    }
}

fn xml_names(body: &[u8], name: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let Some((before, rest)) = text.split_once("<Name>") else { return body.to_vec() };
    let after = rest.split_once("</Name>").map_or(rest, |(_, after)| after);
    let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("{before}<Name>{name}</Name>{after}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn numbers_outside_strings() {
        let body = br#"{"a":12,"b":"12","c":[-1.5e+3,0,"\"7"],"d":true}"#;
        assert_eq!(
            edited(numbers(body, "1e999")),
            r#"{"a":1e999,"b":"12","c":[1e999,1e999,"\"7"],"d":true}"#
        );
        assert_eq!(edited(numbers(b"<a><b>14</b><c>x1</c></a>", "-1")), "<a><b>-1</b><c>x1</c></a>");
    }

    #[test]
    fn the_first_name() {
        let listing = br#"[{"name":"web","full_name":"acme/web","id":1},{"name":"api"}]"#;
        let renamed: Value = serde_json::from_slice(&names(listing, "..\0")).unwrap();
        assert_eq!(renamed[0], serde_json::json!({"name": "..\0", "full_name": "acme/..\0", "id": 1}));
        assert_eq!(renamed[1]["name"], "api");
        let users = br#"{"kind":"users","users":[{"primaryEmail":"a@b"},{"primaryEmail":"c@d"}]}"#;
        let renamed: Value = serde_json::from_slice(&names(users, "x")).unwrap();
        assert_eq!(
            (&renamed["users"][0]["primaryEmail"], &renamed["users"][1]["primaryEmail"]),
            (&"x".into(), &"c@d".into())
        );
        assert_eq!(edited(names(b"<r><Name>main</Name></r>", "<")), "<r><Name>&lt;</Name></r>");
        assert_eq!(edited(names(b"<r/>", "x")), "<r/>");
    }
}
