//! `fields`: the members of an answer that a client wants. `a,b(c,d),e/f`; `*` matches all.

use serde_json::{Map, Value};

/// The wanted members of one object; nothing below a name means all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection(Vec<(String, Selection)>);

impl Selection {
    /// `None` if it does not follow the grammar.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let selection = list(&mut rest)?;
        rest.is_empty().then_some(selection)
    }

    /// The first name that the answer cannot have, given the names of each level.
    pub(super) fn unknown(&self, levels: &[&[&str]]) -> Option<&str> {
        // Deeper levels are not checked.
        let (names, below) = levels.split_first()?;
        self.0.iter().find_map(|(name, inner)| match name == "*" || names.contains(&name.as_str()) {
            true => inner.unknown(below),
            false => Some(name.as_str()),
        })
    }

    /// The answer with only the wanted members.
    pub(super) fn apply(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.apply(item)).collect(),
            Value::Object(members) => {
                let mut kept = Map::new();
                for (name, member) in members {
                    if let Some(inner) = self.of(&name) {
                        kept.insert(name, inner.apply(member));
                    }
                }
                Value::Object(kept)
            }
            other => other,
        }
    }

    /// The selection for a member: the union of everything that names it.
    fn of(&self, member: &str) -> Option<Self> {
        let said: Vec<&Self> =
            self.0.iter().filter(|(name, _)| name == member || name == "*").map(|(_, inner)| inner).collect();
        if said.is_empty() {
            return None;
        }
        if said.iter().any(|inner| inner.0.is_empty()) {
            return Some(Self::default());
        }
        Some(Self(said.into_iter().flat_map(|inner| inner.0.iter().cloned()).collect()))
    }
}

fn list(rest: &mut &str) -> Option<Selection> {
    let mut all = vec![item(rest)?];
    while let Some(after) = rest.strip_prefix(',') {
        *rest = after;
        all.push(item(rest)?);
    }
    Some(Selection(all))
}

fn item(rest: &mut &str) -> Option<(String, Selection)> {
    let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || "_-*@".contains(letter)));
    let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() {
        return None;
    }
    *rest = after;
    if let Some(after) = rest.strip_prefix('/') {
        *rest = after;
        return Some((name.to_owned(), Selection(vec![item(rest)?])));
    }
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        let inner = list(rest)?;
        *rest = rest.strip_prefix(')')?;
        return Some((name.to_owned(), inner));
    }
    Some((name.to_owned(), Selection::default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_of_an_answer() {
        let answer = json!({
            "kind": "k", "nextPageToken": "t",
            "users": [{ "id": "1", "name": { "fullName": "A B", "givenName": "A" }, "emails": [{ "address": "a" }] }],
        });
        for (fields, expected) in [
            ("kind", json!({ "kind": "k" })),
            ("*", answer.clone()),
            ("users/id,nextPageToken", json!({ "nextPageToken": "t", "users": [{ "id": "1" }] })),
            ("users(id,name/fullName)", json!({ "users": [{ "id": "1", "name": { "fullName": "A B" } }] })),
            (
                "users(name(givenName)),users/id",
                json!({ "users": [{ "id": "1", "name": { "givenName": "A" } }] }),
            ),
            ("users(id),users", json!({ "users": answer["users"] })),
            (
                "*/emails/address",
                json!({ "kind": "k", "nextPageToken": "t", "users": [{ "emails": [{ "address": "a" }] }] }),
            ),
        ] {
            assert_eq!(Selection::parse(fields).unwrap().apply(answer.clone()), expected, "{fields}");
        }
        for wrong in ["", "a,", "a(", "a()", "a)b", "a b", "a//b", "(a)"] {
            assert_eq!(Selection::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn names_that_no_answer_has() {
        let levels: &[&[&str]] = &[&["users", "kind"], &["id", "name"]];
        let unknown = |text: &str| Selection::parse(text).unwrap().unknown(levels).map(str::to_owned);
        assert_eq!(unknown("kind,users(id,name/fullName)"), None);
        assert_eq!(unknown("kind,people"), Some("people".to_owned()));
        assert_eq!(unknown("users(id,shoeSize)"), Some("shoeSize".to_owned()));
    }
}
