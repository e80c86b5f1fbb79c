//! The answer to a stored query: for each repository what came back, and what went wrong.
//!
//! An error can come beside data, with status 200. What an error touches was not read, whatever its place holds.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::object;
use evidence_http::ParseError;

/// A page of repositories, in the order of the request.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Page<T> {
    data: Option<Data<T>>,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Problem>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct Data<T> {
    #[serde(rename = "rateLimit")]
    rate_limit: Option<Cost>,
    nodes: Option<Vec<Option<T>>>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct Cost {
    cost: Option<u64>,
}

/// An error.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Problem {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    #[serde(default = "Vec::new")]
    path: Vec<Value>,
}

impl<T> Page<T> {
    pub(super) fn read(bytes: &[u8]) -> Result<Page<T>, ParseError>
    where
        T: DeserializeOwned,
    {
        let page: Page<T> = object(bytes)?;
        if page.data.is_none() && page.errors.is_empty() {
            return Err(ParseError::Shape("neither data nor errors".to_string()));
        }
        Ok(page)
    }

    /// Whether nothing went wrong.
    pub(super) fn is_whole(&self) -> bool {
        self.errors.is_empty() && self.data.as_ref().is_some_and(|data| data.nodes.is_some())
    }

    /// How many points the query cost, if the host says it.
    pub(super) fn points(&self) -> Option<u64> {
        self.data.as_ref()?.rate_limit.as_ref()?.cost
    }

    /// What became of `asked` repositories.
    pub(super) fn outcome(self, asked: usize) -> Outcome<T> {
        let about_all = |problem: &&Problem| problem.index().is_none();
        if let Some(problem) = self.errors.iter().find(about_all) {
            return if problem.asks_too_much() {
                Outcome::TooMuch(problem.text())
            } else {
                Outcome::Refused(problem.text())
            };
        }
        let nodes = self.data.and_then(|data| data.nodes).filter(|nodes| nodes.len() == asked);
        let Some(nodes) = nodes else {
            return Outcome::TooMuch("the answer lacks repositories".to_string());
        };
        let of = |index: usize| {
            let errors = self.errors.iter().filter(|problem| problem.index() == Some(index));
            Errors(errors.map(Problem::rest).collect())
        };
        Outcome::Nodes(nodes.into_iter().enumerate().map(|(index, node)| Some((node?, of(index)))).collect())
    }
}

/// What became of a page.
#[derive(Debug)]
pub(super) enum Outcome<T> {
    /// Each repository, and the errors about it; `None` for one that the host does not show.
    Nodes(Vec<Option<(T, Errors)>>),
    /// The host did not complete it.
    TooMuch(String),
    /// The host does not answer such a query.
    Refused(String),
}

impl Problem {
    /// The repository that it is about; `None` if it is about the whole page.
    fn index(&self) -> Option<usize> {
        match self.path.as_slice() {
            [Value::String(nodes), Value::Number(index), ..] if nodes == "nodes" => {
                usize::try_from(index.as_u64()?).ok()
            }
            _ => None,
        }
    }

    /// Where in the repository it is.
    fn rest(&self) -> Vec<String> {
        let name = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_string);
        self.path.iter().skip(2).map(name).collect()
    }

    /// Whether a smaller page may succeed.
    fn asks_too_much(&self) -> bool {
        match self.kind.as_deref() {
            Some("RESOURCE_LIMITS_EXCEEDED" | "MAX_NODE_LIMIT_EXCEEDED") => true,
            Some(_) => false,
            // "Something went wrong while executing your query. This may be the result of a timeout".
            None => self.message.as_deref().is_some_and(|text| text.starts_with("Something went wrong")),
        }
    }

    fn text(&self) -> String {
        let text = self.message.as_deref().or(self.kind.as_deref()).unwrap_or("an error without a message");
        evidence_http::single_line(text)
    }
}

/// The places of a repository's errors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Errors(Vec<Vec<String>>);

impl Errors {
    /// Whether an error is at this place, below it, or above it.
    pub(crate) fn touch(&self, place: &[&str]) -> bool {
        self.0.iter().any(|error| error.iter().zip(place).all(|(error, place)| error == place))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(value: &Value) -> Page<u32> {
        Page::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn errors_belong_to_the_repositories_that_they_name() {
        let answered = page(&json!({
            "data": {"rateLimit": {"cost": 2}, "nodes": [1, null, 3]},
            "errors": [
                {"type": "NOT_FOUND", "path": ["nodes", 1], "message": "Could not resolve to a node"},
                {"type": "FORBIDDEN", "path": ["nodes", 2, "named", "branchProtectionRule"], "message": "no"},
            ],
        }));
        assert_eq!(answered.points(), Some(2));
        assert!(!answered.is_whole());
        let Outcome::Nodes(nodes) = answered.outcome(3) else { panic!() };
        let [Some((1, clean)), None, Some((3, touched))] = nodes.as_slice() else { panic!("{nodes:?}") };
        assert!(!clean.touch(&["named"]));
        for (place, touches) in [
            (vec!["named", "branchProtectionRule"], true),
            (vec!["named", "branchProtectionRule", "isAdminEnforced"], true),
            (vec!["named"], true),
            (vec!["named", "rules"], false),
            (vec!["default"], false),
        ] {
            assert_eq!(touched.touch(&place), touches, "{place:?}");
        }
    }

    #[test]
    fn a_page_that_is_not_complete_proves_nothing() {
        let limits = json!({"type": "RESOURCE_LIMITS_EXCEEDED", "message": "limits"});
        let wrong = json!({"message": "Something went wrong while executing your query."});
        let field =
            json!({"message": "Field 'rules' doesn't exist on type 'Ref'", "path": ["query", "nodes"]});
        let data = json!({"nodes": [1, 2]});
        for (answer, refused) in [
            (json!({"data": data, "errors": [limits]}), false),
            (json!({"data": null, "errors": [wrong]}), false),
            (json!({"data": {"nodes": null}}), false),
            (json!({"data": {}}), false),
            (json!({"data": {"nodes": [1]}}), false),
            (json!({"data": {"nodes": [1, 2, 3]}}), false),
            (json!({"errors": [field]}), true),
            (json!({"data": data, "errors": [{"type": "FORBIDDEN", "message": "no"}]}), true),
        ] {
            match page(&answer).outcome(2) {
                Outcome::Nodes(nodes) => panic!("{nodes:?}"),
                Outcome::TooMuch(_) => assert!(!refused, "{answer}"),
                Outcome::Refused(_) => assert!(refused, "{answer}"),
            }
        }
        for bytes in ["{}", "[]", "null", "{\"data\": null}"] {
            assert!(Page::<u32>::read(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }
}
