//! The contents of a listing, and why any of it could not be read. Nothing here sends a request.

use jiff::Timestamp;

use super::scopes::OAuthScope;
use super::wire::Page;
use evidence_http::{self, Answered, Asked, Meta, Refused, RequestFailure};
use evidence_rules::altcloud::record::Extent;

/// Why something could not be read.
#[derive(Debug, Clone)]
pub(super) enum ListingError {
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

/// The customer or domain that users belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// The whole customer.
    Customer {
        /// The id or alias in requests.
        id: String,
        /// The name.
        name: String,
    },
    /// One domain.
    Domain(String),
}

impl Whose {
    /// The name of the customer or domain, for checks and people.
    pub(super) fn name(&self) -> &str {
        match self {
            Whose::Customer { name, .. } | Whose::Domain(name) => name,
        }
    }
}

/// A period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    /// The first second.
    pub(super) start: Timestamp,
    /// The last second.
    pub(super) end: Timestamp,
}

/// The first page of a listing, or why it could not be read.
pub(super) type FirstPage<T> = Result<Answered<Page<T>>, ListingError>;

/// The first page, and the requests for it.
pub(super) type Recorded<T> = (FirstPage<T>, Vec<Asked>);

/// A listing, as far as it was read.
#[derive(Debug)]
pub(super) struct Listing<T> {
    /// The items of all pages.
    pub(super) items: Vec<T>,
    /// The number of pages read.
    pub(super) pages: u64,
    /// The request that returned the first page.
    pub(super) meta: Option<Meta>,
    /// Why the next page could not be read.
    pub(super) problem: Option<ListingError>,
    /// The requests for the pages.
    pub(super) requests: Vec<Asked>,
}

impl<T> Listing<T> {
    /// An empty listing that failed with `problem`.
    pub(super) fn not_read(problem: ListingError) -> Listing<T> {
        let (items, meta, requests) = (Vec::new(), None, Vec::new());
        Listing { items, pages: 0, meta, problem: Some(problem), requests }
    }

    /// How much of it was read.
    pub(super) fn extent(&self) -> Extent {
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
