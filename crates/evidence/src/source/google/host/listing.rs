//! Listings: their calls, the pages, the contents as far as they were read, and why any of it could not be.
//!
//! An answer counts as a listing only if it identifies itself as one: `{}` from another server would otherwise read as
//! "there are no users". Nothing here sends a request.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::scopes::OAuthScope;
use crate::json::{Object, object};
use evidence_http::{self, Answered, Asked, Call, Meta, ParseError, Refused, RequestFailure};
use evidence_rules::altcloud::record::Extent;

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page<T> {
    /// The items.
    pub(crate) items: Vec<T>,
    /// The token for the next page.
    pub(crate) next: Option<String>,
    /// The length of the answer in bytes.
    pub(crate) bytes: usize,
}

/// A paginated listing.
pub(crate) struct Paged<T: 'static> {
    pub(crate) call: Call<Page<T>>,
    /// The required scope.
    pub(crate) scope: OAuthScope,
    /// The requested fields: those of the artifacts, and those that identify a listing.
    pub(crate) fields: &'static str,
    /// The maximum number of pages.
    pub(crate) pages: u64,
    /// The maximum weight of all pages: the bytes on the wire plus the memory of each item. All items stay in memory
    /// until they are judged, so an endless listing must not fill it.
    pub(crate) budget: usize,
}

pub(crate) const MIB: usize = 1024 * 1024;
pub(crate) const JSON: &str = "application/json";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: DeserializeOwned")]
struct Items<T> {
    kind: Option<String>,
    next_page_token: Option<String>,
    items: Option<Vec<Object<T>>>,
}

/// Parses a page of a listing that holds its items under the usual name.
pub(crate) fn items<T: DeserializeOwned>(expected: &str, bytes: &[u8]) -> Result<Page<T>, ParseError> {
    let Items { kind, next_page_token, items } = object(bytes)?;
    page(expected, kind, next_page_token, items, bytes)
}

/// A page of a listing, if it says so itself.
pub(crate) fn page<T>(
    expected: &str,
    kind: Option<String>,
    next: Option<String>,
    items: Option<Vec<Object<T>>>,
    bytes: &[u8],
) -> Result<Page<T>, ParseError> {
    let is_it = match (&kind, &items) {
        // The documentation of reports names the kind with and without its first part.
        (Some(kind), _) => kind == expected || expected.strip_prefix("admin#") == Some(kind),
        (None, Some(_)) => true,
        (None, None) => false,
    };
    if !is_it {
        return Err(ParseError::Shape(format!("not a list of the kind {expected}")));
    }
    let items = Object::all(items.unwrap_or_default());
    Ok(Page { items, next: next.filter(|token| !token.is_empty()), bytes: bytes.len() })
}

/// Why something could not be read.
#[derive(Debug, Clone)]
pub(crate) enum ListingError {
    /// The provider refuses.
    Refused(Refused),
    /// No answer.
    Failed(RequestFailure),
    /// Not requested, because the scope is not delegated; with the provider's message.
    NotDelegated(OAuthScope, String),
}

impl From<evidence_http::CallError> for ListingError {
    fn from(problem: evidence_http::CallError) -> ListingError {
        match problem {
            evidence_http::CallError::Refused(refused) => ListingError::Refused(refused),
            evidence_http::CallError::Failed(failure) => ListingError::Failed(failure),
        }
    }
}

/// A period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    /// The first second.
    pub(crate) start: Timestamp,
    /// The last second.
    pub(crate) end: Timestamp,
}

/// The first page of a listing, or why it could not be read.
pub(crate) type FirstPage<T> = Result<Answered<Page<T>>, ListingError>;

/// The first page, and the requests for it.
pub(crate) type Recorded<T> = (FirstPage<T>, Vec<Asked>);

/// A listing, as far as it was read.
#[derive(Debug)]
pub(crate) struct Listing<T> {
    /// The items of all pages.
    pub(crate) items: Vec<T>,
    /// The number of pages read.
    pub(crate) pages: u64,
    /// The request that returned the first page.
    pub(crate) meta: Option<Meta>,
    /// Why the next page could not be read.
    pub(crate) problem: Option<ListingError>,
    /// The requests for the pages.
    pub(crate) requests: Vec<Asked>,
}

impl<T> Listing<T> {
    /// An empty listing that failed with `problem`.
    pub(crate) fn not_read(problem: ListingError) -> Listing<T> {
        let (items, meta, requests) = (Vec::new(), None, Vec::new());
        Listing { items, pages: 0, meta, problem: Some(problem), requests }
    }

    /// How much of it was read.
    pub(crate) fn extent(&self) -> Extent {
        match (&self.problem, self.pages) {
            (None, _) => Extent::Complete,
            (Some(_), 0) => Extent::NotRead,
            (Some(_), _) => Extent::Partial,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_http::FailureKind;
    use evidence_rules::altcloud::record::User;

    #[test]
    fn how_much_was_read() {
        let problem = || Some(ListingError::Failed(RequestFailure::local(FailureKind::SecondaryLimit)));
        let table =
            [(None, 1, Extent::Complete), (problem(), 0, Extent::NotRead), (problem(), 3, Extent::Partial)];
        for (problem, pages, extent) in table {
            let listing: Listing<User> =
                Listing { items: Vec::new(), pages, meta: None, problem, requests: Vec::new() };
            assert_eq!(listing.extent(), extent);
        }
    }
}
