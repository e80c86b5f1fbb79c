//! Parses the query of the list of checks, and builds the addresses of variations.

use evidence_bundle::Status;
use evidence_view::{CheckFilter, CheckQuery, Position, Sort, SortBy, sanitized};
use url::form_urlencoded;

use crate::api::input::Parameters;
use crate::error::Error;

/// The most characters of a search.
const SEARCH_CHARACTERS: usize = 200;
/// The most values of one filter.
const VALUES: usize = 20;

/// Which checks to show, in which order, from which position.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) query: CheckQuery,
    pub(super) sort: Sort,
    pub(super) after: Option<Position>,
}

impl Asked {
    /// Reads the parameters. Empty ones, as a form sends them, have no effect.
    pub(super) fn read(mut parameters: Parameters) -> Result<Asked, Error> {
        let status = |text: &String| {
            let known = Status::BY_URGENCY.into_iter().find(|status| status.as_str() == text);
            known.ok_or_else(|| Error::Invalid("status must be one of the four statuses".into()))
        };
        let statuses = values(&mut parameters, "status");
        let filter = CheckFilter {
            statuses: statuses.iter().map(status).collect::<Result<_, _>>()?,
            controls: values(&mut parameters, "control"),
            criteria: Vec::new(),
            rules: values(&mut parameters, "rule"),
            sources: values(&mut parameters, "source"),
            subjects: Vec::new(),
        };
        let reasons = values(&mut parameters, "reason");
        let text = parameters.one("search")?.unwrap_or_default();
        let text = text.trim().chars().take(SEARCH_CHARACTERS).collect();
        let sort = read(&mut parameters, "sort")?.unwrap_or_default();
        let after = read(&mut parameters, "after")?;
        parameters.end()?;
        Ok(Asked { query: CheckQuery { filter, reasons, text }, sort, after })
    }

    /// The search text, fit to print.
    pub(super) fn text(&self) -> String {
        sanitized(&self.query.text)
    }

    /// The parameters that a form for changing a filter must keep.
    pub(super) fn kept(&self) -> Vec<(&'static str, String)> {
        let statuses = self.query.filter.statuses.iter();
        let kept = statuses.map(|status| ("status", status.as_str().to_owned()));
        kept.chain((self.sort != Sort::default()).then(|| ("sort", self.sort.to_string()))).collect()
    }

    /// Whether the query has more than an order.
    pub(super) fn filters(&self) -> bool {
        self.query != CheckQuery::default()
    }

    /// The same query from this position; an empty position is the beginning.
    pub(super) fn from(&self, position: &str) -> String {
        let mut pairs = self.pairs();
        if !position.is_empty() {
            pairs.push(("after", position.to_owned()));
        }
        address(&pairs)
    }

    /// The same query without a position.
    pub(super) fn plain(&self) -> String {
        address(&self.pairs())
    }

    /// The same query with another status, or all of them.
    pub(super) fn with_status(&self, status: Option<Status>) -> String {
        let mut other = self.clone();
        other.query.filter.statuses = status.into_iter().collect();
        other.plain()
    }

    /// The same query in another order.
    pub(super) fn with_sort(&self, by: SortBy, descending: bool) -> String {
        Asked { sort: Sort { by, descending }, ..self.clone() }.plain()
    }

    fn pairs(&self) -> Vec<(&'static str, String)> {
        let CheckQuery { filter, reasons, text } = &self.query;
        let mut pairs: Vec<(&'static str, String)> = Vec::new();
        pairs.extend(filter.statuses.iter().map(|status| ("status", status.as_str().to_owned())));
        for (name, values) in [
            ("control", &filter.controls),
            ("rule", &filter.rules),
            ("reason", reasons),
            ("source", &filter.sources),
        ] {
            pairs.extend(values.iter().map(|value| (name, value.clone())));
        }
        if !text.is_empty() {
            pairs.push(("search", text.clone()));
        }
        if self.sort != Sort::default() {
            pairs.push(("sort", self.sort.to_string()));
        }
        pairs
    }
}

/// The query part of an address; empty without parameters.
pub(super) fn address(pairs: &[(&'static str, String)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    form_urlencoded::Serializer::for_suffix("?".to_owned(), 1).extend_pairs(pairs).finish()
}

fn values(parameters: &mut Parameters, name: &str) -> Vec<String> {
    let values = parameters.all(name).into_iter();
    values.filter(|value| !value.is_empty()).take(VALUES).collect()
}

fn read<T: std::str::FromStr>(parameters: &mut Parameters, name: &str) -> Result<Option<T>, Error> {
    let text = parameters.one(name)?.filter(|text| !text.is_empty());
    let unknown = |_| Error::Invalid(format!("{name} is not one of this page's"));
    text.map(|text| text.parse().map_err(unknown)).transpose()
}
