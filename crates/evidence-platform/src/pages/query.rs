//! What an address of the list of checks asks for, and the addresses that ask for something else.

use evidence_bundle::Status;
use evidence_view::{BY_URGENCY, CheckFilter, CheckQuery, Position, Sort, SortBy, sanitized};
use url::form_urlencoded;

use crate::api::input::Parameters;
use crate::error::Error;

/// Characters of a search.
const SEARCH_CHARACTERS: usize = 200;
/// Values of one filter.
const VALUES: usize = 20;

/// Which checks, in which order, from where on.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) query: CheckQuery,
    pub(super) sort: Sort,
    pub(super) after: Option<Position>,
}

impl Asked {
    /// Reads the parameters. Empty ones, as a form sends them, ask for nothing.
    pub(super) fn read(mut parameters: Parameters) -> Result<Asked, Error> {
        let status = |text: &String| {
            let known = BY_URGENCY.into_iter().find(|status| status.as_str() == text);
            known.ok_or_else(|| Error::Invalid("status must be one of the four statuses".into()))
        };
        let statuses = values(&mut parameters, "status");
        let filter = CheckFilter {
            statuses: statuses.iter().map(status).collect::<Result<_, _>>()?,
            controls: values(&mut parameters, "control"),
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

    /// The text that is searched, fit to print.
    pub(super) fn text(&self) -> String {
        sanitized(&self.query.text)
    }

    /// What a form that changes a filter must send along.
    pub(super) fn kept(&self) -> Vec<(&'static str, String)> {
        let statuses = self.query.filter.statuses.iter();
        let kept = statuses.map(|status| ("status", status.as_str().to_owned()));
        kept.chain((self.sort != Sort::default()).then(|| ("sort", self.sort.to_string()))).collect()
    }

    /// Whether anything but the order is asked for.
    pub(super) fn filters(&self) -> bool {
        self.query != CheckQuery::default()
    }

    /// The same from this position; an empty one is the beginning.
    pub(super) fn from(&self, position: &str) -> String {
        let mut pairs = self.pairs();
        if !position.is_empty() {
            pairs.push(("after", position.to_owned()));
        }
        address(&pairs)
    }

    /// The same without a position.
    pub(super) fn plain(&self) -> String {
        address(&self.pairs())
    }

    /// The same with another status, or all of them.
    pub(super) fn with_status(&self, status: Option<Status>) -> String {
        let mut other = self.clone();
        other.query.filter.statuses = status.into_iter().collect();
        other.plain()
    }

    /// The same in another order.
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

/// The query part of an address; empty if nothing is asked for.
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
