//! The code host's calls: sends requests, and reads listings page by page. `interpret` interprets the answers.

use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use url::Url;

use super::calls::{PAGE_SIZE, REPOSITORIES};
use super::wire;
use evidence_http::{Answered, Call, CallError, Client, FailureKind, Meta, RequestFailure, link};
use evidence_text::saturating_u64;

/// After more than this many consecutive empty pages, a listing that has a next page is assumed to loop.
const MAXIMUM_EMPTY_PAGES: u32 = 3;
/// The maximum number of pages: 100,000 repositories, twice as many as the largest organizations have.
const MAXIMUM_PAGES: u64 = 1_000;
/// The maximum number of pages of a list about one repository: 5,000 rules, many times what the host allows.
const MAXIMUM_LIST_PAGES: u64 = 50;

/// Makes the calls.
pub(super) struct Api<'a> {
    pub(super) client: &'a Client,
    pub(super) base: &'a Url,
    pub(super) organization: &'a str,
}

/// The first page of a listing, and the last page's address if the host names it.
pub(super) type FirstPage = Result<(Answered<Vec<wire::Repository>>, Option<Last>), CallError>;

/// Receives the repositories of each page and when it was read, in the order of the listing.
pub(super) type TakePage<'a> = &'a mut (dyn FnMut(Vec<wire::Repository>, Timestamp) + Send);

/// The result of reading a listing: the pages that were read, and the problems.
#[derive(Default)]
pub(super) struct RepositoryListing {
    pub(super) pages_read: u64,
    /// The number of each failed page, and the failure.
    pub(super) problems: Vec<(u64, CallError)>,
    /// Whether one of the pages had `X-GitHub-SSO: partial-results`.
    pub(super) partial: bool,
}

impl Api<'_> {
    /// Makes a call with these address parameters.
    pub(super) async fn ask<T>(
        &self,
        call: &Call<T>,
        parameters: &[(&str, &str)],
    ) -> Result<Answered<T>, CallError> {
        self.client.ask(&call.get(self.base, parameters), call).await
    }

    /// Whether answers are kept for the next run to revalidate.
    pub(super) fn keeps_answers(&self) -> bool {
        self.client.cache().is_some()
    }

    /// Whether an answer to this call is kept that can be revalidated.
    pub(super) fn is_kept<T>(&self, call: &Call<T>, parameters: &[(&str, &str)]) -> bool {
        self.client.is_kept(&call.get(self.base, parameters))
    }

    /// Requests a file's own bytes; `size` is the size that the host reported, if any.
    pub(super) async fn ask_raw(
        &self,
        call: &Call<Vec<u8>>,
        parameters: &[(&str, &str)],
        size: Option<u64>,
    ) -> Result<Answered<Vec<u8>>, CallError> {
        self.client.ask_raw(&call.get(self.base, parameters), call, size).await
    }

    async fn page(&self, url: &Url) -> Result<Answered<Vec<wire::Repository>>, CallError> {
        self.client.ask(&REPOSITORIES.get_at(self.base, url.clone()), &REPOSITORIES).await
    }

    /// Reads every page of a list about one repository in sequence. Also returns the metadata of the first answer.
    pub(super) async fn pages<T>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
    ) -> Result<(Vec<T>, Meta), CallError> {
        let first = call.url(self.base, parameters);
        let Answered { value: mut items, meta } = self.ask(call, parameters).await?;
        let (mut number, mut next) = (1, self.next(&first, &meta, items.len(), 1)?);
        while let Some(url) = next {
            number += 1;
            if number > MAXIMUM_LIST_PAGES {
                let text = "the list has too many pages, or its pages repeat".to_string();
                return Err(failure(FailureKind::UnexpectedShape(text)).into());
            }
            let page = self.client.ask(&call.get_at(self.base, url), call).await?;
            next = self.next(&first, &page.meta, page.value.len(), number)?;
            items.extend(page.value);
        }
        Ok((items, meta))
    }

    /// The first page, and the last page's address if the host names it.
    pub(super) async fn first_page(&self) -> FirstPage {
        let answered = self.page(&self.listing_url()).await?;
        let last = self.link(&answered.meta, "last").map_err(CallError::Failed)?;
        let last = last.and_then(|url| Some(Last { number: page_number(&url)?, url }));
        // Ignore an implausible number, and read the pages in sequence instead.
        let last = last.filter(|last| last.number <= MAXIMUM_PAGES);
        Ok((answered, last))
    }

    /// Whether more pages follow the first one, for a host that does not name the last page.
    pub(super) fn goes_on_uncounted(&self, first: &Answered<Vec<wire::Repository>>) -> bool {
        !matches!(self.next_page(first, 1), Ok(None))
    }

    /// The last page, for counting without the pages between.
    pub(super) async fn last_page(&self, last: &Last) -> Result<Answered<Vec<wire::Repository>>, CallError> {
        self.page(&last.url).await
    }

    /// Reads every page: after the first, all others concurrently if the host names the last page, else in sequence.
    /// `take` receives each page when it arrives, so that memory never holds a whole listing.
    pub(super) async fn listing(&self, first: FirstPage, take: TakePage<'_>) -> RepositoryListing {
        let mut listing = RepositoryListing::default();
        let (first, last) = match first {
            Ok(page) => page,
            Err(problem) => {
                listing.problems.push((1, problem));
                return listing;
            }
        };
        let mut next = self.next_page(&first, 1);
        listing.add(first, take);
        let mut number = 1;
        if let Some(last) = last.filter(|last| last.number > 1) {
            let pages = (2..=last.number).map(|page| (page, with_page(&last.url, page)));
            let mut pages = stream::iter(pages)
                .map(|(page, url)| async move { (page, self.page(&url).await) })
                .buffered(usize::try_from(MAXIMUM_PAGES).unwrap_or(usize::MAX));
            while let Some((page, answer)) = pages.next().await {
                number = page;
                match answer {
                    Ok(answered) => {
                        next = self.next_page(&answered, page);
                        listing.add(answered, take);
                    }
                    Err(problem) => {
                        next = Ok(None);
                        listing.problems.push((page, problem));
                    }
                }
            }
        }
        // In sequence: for hosts that do not name the last page, and for pages added meanwhile.
        let mut seen = std::collections::HashSet::new();
        let mut empty = 0;
        loop {
            let url = match next {
                Ok(None) => return listing,
                Ok(Some(url)) => url,
                Err(failure) => {
                    listing.problems.push((number + 1, CallError::Failed(failure)));
                    return listing;
                }
            };
            number += 1;
            if number > MAXIMUM_PAGES || empty > MAXIMUM_EMPTY_PAGES || !seen.insert(url.to_string()) {
                let text = "the listing has too many pages, or its pages repeat".to_string();
                let problem = CallError::Failed(failure(FailureKind::UnexpectedShape(text)));
                listing.problems.push((number, problem));
                return listing;
            }
            match self.page(&url).await {
                Ok(answered) => {
                    next = self.next_page(&answered, number);
                    empty = if answered.value.is_empty() { empty + 1 } else { 0 };
                    listing.add(answered, take);
                }
                Err(problem) => {
                    listing.problems.push((number, problem));
                    return listing;
                }
            }
        }
    }

    /// The address of the next page. A host without any `Link` header may still have more: after a full page the next
    /// one is requested, since ending at exactly 100 items would be a silent omission.
    fn next(
        &self,
        first: &Url,
        meta: &Meta,
        items: usize,
        number: u64,
    ) -> Result<Option<Url>, RequestFailure> {
        let full = saturating_u64(items) >= PAGE_SIZE;
        if !meta.headers.contains_key("link") && full {
            return Ok(Some(with_page(first, number.saturating_add(1))));
        }
        self.link(meta, "next")
    }

    /// The address of the listing's page after `page`.
    fn next_page(
        &self,
        page: &Answered<Vec<wire::Repository>>,
        number: u64,
    ) -> Result<Option<Url>, RequestFailure> {
        self.next(&self.listing_url(), &page.meta, page.value.len(), number)
    }

    fn listing_url(&self) -> Url {
        REPOSITORIES.url(self.base, &[("org", self.organization)])
    }

    /// The target of a `Link` header, which must be within the API's own origin.
    fn link(&self, meta: &Meta, rel: &str) -> Result<Option<Url>, RequestFailure> {
        let links = meta.headers.get_all("link").iter().filter_map(|value| value.to_str().ok());
        link::within(self.base, links, rel).map_err(|target| {
            let target = evidence_http::single_line(&target);
            let text = format!("refused to follow a link to another origin or with credentials: {target}");
            failure(FailureKind::Redirect(text))
        })
    }
}

/// The last page of a listing.
pub(super) struct Last {
    pub(super) number: u64,
    url: Url,
}

impl RepositoryListing {
    fn add(&mut self, page: Answered<Vec<wire::Repository>>, take: TakePage<'_>) {
        self.pages_read += 1;
        self.partial |= is_partial(&page.meta);
        take(page.value, page.meta.received_at);
    }
}

/// Whether the host says that it omitted repositories from a page.
pub(super) fn is_partial(meta: &Meta) -> bool {
    meta.header("x-github-sso").is_some_and(|sso| sso.trim_start().starts_with("partial-results"))
}

fn failure(kind: FailureKind) -> RequestFailure {
    RequestFailure::local(kind)
}

fn page_number(url: &Url) -> Option<u64> {
    url.query_pairs().find(|(name, _)| name == "page").and_then(|(_, value)| value.parse().ok())
}

/// The address with another page number. Its path and its other parameters do not change.
fn with_page(url: &Url, page: u64) -> Url {
    let others: Vec<(String, String)> =
        url.query_pairs().filter(|(name, _)| name != "page").map(|(n, v)| (n.into(), v.into())).collect();
    let mut paged = url.clone();
    paged.query_pairs_mut().clear().extend_pairs(others).append_pair("page", &page.to_string());
    paged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_are_read_and_replaced() {
        let url = Url::parse("https://h/organizations/1/repos?per_page=100&page=23&sort=full_name").unwrap();
        assert_eq!(page_number(&url), Some(23));
        let paged = with_page(&url, 7);
        assert_eq!(paged.as_str(), "https://h/organizations/1/repos?per_page=100&sort=full_name&page=7");
        assert_eq!(page_number(&Url::parse("https://h/x?per_page=100").unwrap()), None);
    }
}
