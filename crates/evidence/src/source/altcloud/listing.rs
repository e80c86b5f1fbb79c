//! What was read of a listing, and why the rest was not. Nothing here asks.

use jiff::Timestamp;

use super::record::Extent;
use super::scopes::OAuthScope;
use super::wire::Page;
use evidence_http::{self, Answered, Asked, Meta, Refused, RequestFailure};

/// Why something could not be read.
#[derive(Debug, Clone)]
pub(super) enum ListingError {
    /// The provider will not.
    Refused(Refused),
    /// There is no answer.
    Failed(RequestFailure),
    /// It was not asked for: the scope is not delegated; the provider's words.
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

/// Whose users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// All of the customer's.
    Customer {
        /// What is asked for: its id or the alias.
        id: String,
        /// Who it is.
        name: String,
    },
    /// Those of one domain.
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

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    /// The first second.
    pub(super) start: Timestamp,
    /// The last second.
    pub(super) end: Timestamp,
}

/// The first page of a listing, or why it could not be read.
pub(super) type FirstPage<T> = Result<Answered<Page<T>>, ListingError>;

/// The same, and the requests behind it.
pub(super) type Recorded<T> = (FirstPage<T>, Vec<Asked>);

/// What was read of a listing.
#[derive(Debug)]
pub(super) struct Listing<T> {
    /// What was on the pages.
    pub(super) items: Vec<T>,
    /// How many pages were read.
    pub(super) pages: u64,
    /// The call that brought the first page.
    pub(super) meta: Option<Meta>,
    /// Why the page behind them could not be read.
    pub(super) problem: Option<ListingError>,
    /// The requests for the pages.
    pub(super) requests: Vec<Asked>,
}

impl<T> Listing<T> {
    /// Nothing, because of `problem`.
    pub(super) fn not_read(problem: ListingError) -> Listing<T> {
        let (items, meta, requests) = (Vec::new(), None, Vec::new());
        Listing { items, pages: 0, meta, problem: Some(problem), requests }
    }

    /// How much was read.
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
    use super::super::record::User;
    use super::*;
    use evidence_http::FailureKind;

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
