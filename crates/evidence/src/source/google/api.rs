//! The provider's calls: reads listings page by page. `interpret` interprets the answers.

use std::collections::HashSet;

use url::Url;

use super::access::Access;
use super::calls::{ACTIVITIES, ASSIGNMENTS, MIB, Paged, ROLES, USERS, USERS_OF_DOMAIN};
use super::listing::{FirstPage, Listing, ListingError, Period, Recorded, Whose};
use super::wire::{Activity, Page};
use evidence_http::call::encoded;
use evidence_http::{FailureKind, Request, RequestFailure, recorded};
use evidence_rules::altcloud::record::{Assignment, Role, User};

/// After this many consecutive empty pages, a listing that has a next page is assumed to loop. Logs have some empty
/// pages.
const EMPTY_PAGES: u64 = 25;

/// The listing to read, and the request for its first page.
struct ListingRequest<T: 'static> {
    paged: &'static Paged<T>,
    request: Request,
}

/// Makes the calls.
pub(super) struct Api<'a> {
    /// The access to use.
    pub(super) access: &'a Access,
    /// Base of the API.
    pub(super) base: &'a Url,
    /// The customer.
    pub(super) customer: &'a str,
}

impl Api<'_> {
    /// The first page of the users.
    pub(super) async fn first_users(&self, whose: &Whose) -> Recorded<User> {
        recorded(self.page(&self.users_question(whose), None)).await
    }

    /// The rest of the users.
    pub(super) async fn users(&self, whose: &Whose, first: Recorded<User>) -> Listing<User> {
        self.listing(&self.users_question(whose), first).await
    }

    /// The first page of the roles.
    pub(super) async fn first_roles(&self) -> Recorded<Role> {
        recorded(self.page(&self.of_customer(&ROLES), None)).await
    }

    /// The rest of the roles.
    pub(super) async fn roles(&self, first: Recorded<Role>) -> Listing<Role> {
        self.listing(&self.of_customer(&ROLES), first).await
    }

    /// The role assignments.
    pub(super) async fn assignments(&self) -> Listing<Assignment> {
        let question = self.of_customer(&ASSIGNMENTS);
        self.listing(&question, recorded(self.page(&question, None)).await).await
    }

    /// The first page of the log for one event.
    pub(super) async fn first_events(&self, event: &str, period: Period) -> Recorded<Activity> {
        recorded(self.page(&self.events_question(event, period), None)).await
    }

    /// The rest of the log for one event.
    pub(super) async fn events(
        &self,
        event: &str,
        period: Period,
        first: Recorded<Activity>,
    ) -> Listing<Activity> {
        self.listing(&self.events_question(event, period), first).await
    }

    fn users_question(&self, whose: &Whose) -> ListingRequest<User> {
        match whose {
            Whose::Customer { id, .. } => self.question(&USERS, &[("customer", id)]),
            Whose::Domain(domain) => self.question(&USERS_OF_DOMAIN, &[("domain", domain)]),
        }
    }

    fn of_customer<T>(&self, paged: &'static Paged<T>) -> ListingRequest<T> {
        self.question(paged, &[("customer", self.customer)])
    }

    fn events_question(&self, event: &str, period: Period) -> ListingRequest<Activity> {
        let (start, end) = (period.start.to_string(), period.end.to_string());
        let parameters = [("customer", self.customer), ("event", event), ("start", &*start), ("end", &*end)];
        self.question(&ACTIVITIES, &parameters)
    }

    fn question<T>(&self, paged: &'static Paged<T>, parameters: &[(&str, &str)]) -> ListingRequest<T> {
        // The request is recorded without the list of fields.
        let mut request = paged.call.get(self.base, parameters);
        extend(&mut request, "fields", paged.fields);
        ListingRequest { paged, request }
    }

    async fn page<T>(&self, question: &ListingRequest<T>, token: Option<&str>) -> FirstPage<T> {
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
    async fn listing<T>(&self, question: &ListingRequest<T>, first: Recorded<T>) -> Listing<T> {
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
