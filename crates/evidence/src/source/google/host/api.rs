//! A workspace that granted a token: reads its listings page by page.

use std::collections::HashSet;

use super::access::Access;
use super::listing::{FirstPage, Listing, ListingError, MIB, Page, Paged, Period, Recorded};
use super::scopes::OAuthScope;
use crate::source::google::config::AltCloudConfig;
use evidence_http::call::encoded;
use evidence_http::{FailureKind, Request, RequestFailure, recorded};

/// After this many consecutive empty pages, a listing that has a next page is assumed to loop. Logs have some empty
/// pages.
const EMPTY_PAGES: u64 = 25;

/// The listing to read, and the request for its first page.
pub(crate) struct ListingRequest<T: 'static> {
    paged: &'static Paged<T>,
    request: Request,
}

/// A workspace that granted a token for at least one scope.
pub(crate) struct Host {
    pub(crate) config: AltCloudConfig,
    pub(crate) access: Access,
    /// The delegated scopes.
    pub(crate) scopes: Vec<OAuthScope>,
    /// The required scopes that are not delegated, with the provider's message.
    pub(crate) refused: Vec<(OAuthScope, String)>,
    /// The period of the log.
    pub(crate) period: Period,
}

impl Host {
    /// Whether a scope is delegated.
    pub(crate) fn has(&self, scope: OAuthScope) -> bool {
        self.scopes.contains(&scope)
    }

    /// The empty listing of a scope that is required but not delegated; `None` for any other.
    pub(crate) fn not_delegated<T>(&self, scope: OAuthScope) -> Option<Listing<T>> {
        let (scope, text) = self.refused.iter().find(|(refused, _)| *refused == scope)?;
        Some(Listing::not_read(ListingError::NotDelegated(*scope, text.clone())))
    }

    /// A listing of the customer.
    pub(crate) fn of_customer<T>(&self, paged: &'static Paged<T>) -> ListingRequest<T> {
        self.question(paged, &[("customer", &self.config.customer_id)])
    }

    /// A listing with these parameters.
    pub(crate) fn question<T>(
        &self,
        paged: &'static Paged<T>,
        parameters: &[(&str, &str)],
    ) -> ListingRequest<T> {
        self.question_for(paged, parameters, paged.fields)
    }

    /// A listing with these parameters, of which these fields are needed.
    pub(crate) fn question_for<T>(
        &self,
        paged: &'static Paged<T>,
        parameters: &[(&str, &str)],
        fields: &str,
    ) -> ListingRequest<T> {
        // The request is recorded without the list of fields.
        let base = match paged.scope {
            OAuthScope::Policies => &self.config.cloud_identity_url,
            _ => &self.config.api_url,
        };
        let mut request = paged.call.get(base, parameters);
        extend(&mut request, "fields", fields);
        ListingRequest { paged, request }
    }

    /// The first page of a listing.
    pub(crate) async fn first<T: Send>(&self, question: &ListingRequest<T>) -> Recorded<T> {
        recorded(self.page(question, None)).await
    }

    /// The whole listing.
    pub(crate) async fn whole<T: Send>(&self, question: &ListingRequest<T>) -> Listing<T> {
        self.listing(question, self.first(question).await).await
    }

    async fn page<T: Send>(&self, question: &ListingRequest<T>, token: Option<&str>) -> FirstPage<T> {
        let ListingRequest { paged, request } = question;
        let mut request = request.clone();
        if let Some(token) = token {
            extend(&mut request, "pageToken", &encoded(token));
            request.label.push_str("&pageToken=...");
        }
        Ok(self.access.send(paged.scope, &request, &paged.call).await?)
    }

    /// Reads every page after `first`, in sequence, because each names the next. A failed page ends the listing;
    /// earlier pages are kept.
    pub(crate) async fn listing<T: Send>(
        &self,
        question: &ListingRequest<T>,
        first: Recorded<T>,
    ) -> Listing<T> {
        let (mut page, requests) = first;
        let mut listing = Listing { items: Vec::new(), pages: 0, meta: None, problem: None, requests };
        let mut progress = ListingProgress::default();
        loop {
            let page_read = match page {
                Ok(answered) => {
                    listing.meta.get_or_insert(answered.meta);
                    answered.value
                }
                Err(problem) => {
                    listing.problem = Some(problem);
                    return listing;
                }
            };
            listing.pages += 1;
            let goes_on = progress.goes_on(&page_read, question.paged.pages, question.paged.budget);
            listing.items.extend(page_read.items);
            let Some(token) = page_read.next else { return listing };
            if let Err(text) = goes_on {
                listing.problem =
                    Some(ListingError::Failed(RequestFailure::local(FailureKind::UnexpectedShape(text))));
                return listing;
            }
            let (next, requests) = recorded(self.page(question, Some(&token))).await;
            listing.requests.extend(requests);
            page = next;
        }
    }
}

/// The progress of a listing, to end one that never ends.
#[derive(Default)]
struct ListingProgress {
    pages: u64,
    empty: u64,
    weight: usize,
    tokens: HashSet<String>,
}

impl ListingProgress {
    /// Counts `page`. Fails if it names a next page that exceeds a bound.
    fn goes_on<T>(&mut self, page: &Page<T>, pages: u64, budget: usize) -> Result<(), String> {
        let room = page.items.len().saturating_mul(size_of::<T>());
        self.weight = self.weight.saturating_add(page.bytes).saturating_add(room);
        self.pages += 1;
        self.empty = if page.items.is_empty() { self.empty + 1 } else { 0 };
        let Some(token) = &page.next else { return Ok(()) };
        if self.weight > budget {
            return Err(format!("the pages of the listing exceed {} MiB in total", budget / MIB));
        }
        if self.pages >= pages || self.empty >= EMPTY_PAGES || !self.tokens.insert(token.clone()) {
            return Err("the listing has too many pages, or its pages repeat".to_string());
        }
        Ok(())
    }
}

/// Appends to a request's query.
fn extend(request: &mut Request, name: &str, value: &str) {
    let query = format!("{}&{name}={value}", request.url.query().unwrap_or_default());
    request.url.set_query(Some(&query));
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_rules::altcloud::record::User;

    #[test]
    fn a_listing_without_end_is_ended_by_each_of_its_bounds() {
        // How many such pages are read until a bound ends the listing.
        let read = |items: usize, bytes: usize, same_token: bool, pages: u64, budget: usize| {
            let mut progress = ListingProgress::default();
            let page = |number: usize| {
                let next = Some(if same_token { "again".to_string() } else { number.to_string() });
                Page { items: vec![User::default(); items], next, bytes }
            };
            (1..10_000)
                .find_map(|number| Some((number, progress.goes_on(&page(number), pages, budget).err()?)))
        };
        let (end, large) = ("too many pages", "exceed");
        let room = size_of::<User>();
        for (items, bytes, same_token, pages, budget, expected) in [
            (1, 10, true, 100, MIB, (2, end)),
            (1, 10, false, 100, MIB, (100, end)),
            (0, 10, false, 100, MIB, (25, end)),
            (1, MIB / 4, false, 100, MIB, (4, large)),
            (1, MIB, false, 100, MIB, (1, large)),
            // Items that are short on the wire still take up memory.
            (1_000, 3_000, false, 10_000, MIB, (MIB / (3_000 + 1_000 * room) + 1, large)),
        ] {
            let (number, text) = read(items, bytes, same_token, pages, budget).unwrap();
            assert!(number == expected.0 && text.contains(expected.1), "{number} {text}, not {expected:?}");
        }
        // A complete listing is valid, however large its last page.
        let last = Page { items: vec![User::default()], next: None, bytes: 10 * MIB };
        assert_eq!(ListingProgress::default().goes_on(&last, 1, MIB), Ok(()));
    }
}
