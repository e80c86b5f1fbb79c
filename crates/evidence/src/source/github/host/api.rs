//! Makes the code host's calls: one request, or the pages of a list.

use url::Url;

use evidence_http::{Answered, Call, CallError, Client, FailureKind, Meta, RequestFailure, link};
use evidence_text::saturating_u64;

/// A mebibyte, for the limits of answers.
pub(crate) const MIB: usize = 1024 * 1024;

/// The media type of an answer.
pub(crate) const JSON: &str = "application/vnd.github+json";

/// Items per page: the host's maximum.
pub(crate) const PAGE_SIZE: u64 = 100;

/// The maximum number of pages of a list about one repository: 5,000 rules, many times what the host allows.
const MAXIMUM_LIST_PAGES: u64 = 50;

/// Makes the calls.
pub(crate) struct Api<'a> {
    pub(crate) client: &'a Client,
    pub(crate) base: &'a Url,
    pub(crate) organization: &'a str,
}

impl Api<'_> {
    /// Makes a call with these address parameters.
    pub(crate) async fn ask<T: Send>(
        &self,
        call: &Call<T>,
        parameters: &[(&str, &str)],
    ) -> Result<Answered<T>, CallError> {
        self.client.ask(&call.get(self.base, parameters), call).await
    }

    /// Whether answers are kept for the next run to revalidate.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.client.cache().is_some()
    }

    /// Whether an answer to this call is kept that can be revalidated.
    pub(crate) fn is_kept<T>(&self, call: &Call<T>, parameters: &[(&str, &str)]) -> bool {
        self.client.is_kept(&call.get(self.base, parameters))
    }

    /// Requests a file's own bytes; `size` is the size that the host reported, if any.
    pub(crate) async fn ask_raw(
        &self,
        call: &Call<Vec<u8>>,
        parameters: &[(&str, &str)],
        size: Option<u64>,
    ) -> Result<Answered<Vec<u8>>, CallError> {
        self.client.ask_raw(&call.get(self.base, parameters), call, size).await
    }

    /// Reads every page of a list about one repository in sequence. Also returns the metadata of the first answer.
    pub(crate) async fn pages<T: Send>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
    ) -> Result<(Vec<T>, Meta), CallError> {
        self.pages_up_to(call, parameters, MAXIMUM_LIST_PAGES).await
    }

    /// The same, with at most this many pages.
    pub(crate) async fn pages_up_to<T: Send>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
        most: u64,
    ) -> Result<(Vec<T>, Meta), CallError> {
        self.pages_while(call, parameters, most, |_| true).await
    }

    /// The same, until a page of which `goes_on` does not hold.
    pub(crate) async fn pages_while<T: Send>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
        most: u64,
        goes_on: impl Fn(&[T]) -> bool,
    ) -> Result<(Vec<T>, Meta), CallError> {
        let first = call.url(self.base, parameters);
        let next = |meta: &Meta, items: usize, number| self.next(&first, meta, items, number);
        self.follow(call, parameters, most, goes_on, next).await
    }

    /// The same of a list whose pages have no numbers: only a `Link` header leads to the next.
    pub(crate) async fn linked_pages<T: Send>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
        most: u64,
        goes_on: impl Fn(&[T]) -> bool,
    ) -> Result<(Vec<T>, Meta), CallError> {
        self.follow(call, parameters, most, goes_on, |meta, _, _| self.link(meta, "next")).await
    }

    async fn follow<T: Send>(
        &self,
        call: &Call<Vec<T>>,
        parameters: &[(&str, &str)],
        most: u64,
        goes_on: impl Fn(&[T]) -> bool,
        next: impl Fn(&Meta, usize, u64) -> Result<Option<Url>, RequestFailure>,
    ) -> Result<(Vec<T>, Meta), CallError> {
        let Answered { value: mut items, meta } = self.ask(call, parameters).await?;
        let (mut number, mut more) = (1, goes_on(&items));
        let mut url = next(&meta, items.len(), 1)?;
        while let Some(address) = url.filter(|_| more) {
            number += 1;
            if number > most {
                let text = "the list has too many pages, or its pages repeat".to_string();
                return Err(failure(FailureKind::UnexpectedShape(text)).into());
            }
            let page = self.client.ask(&call.get_at(self.base, address), call).await?;
            more = goes_on(&page.value);
            url = next(&page.meta, page.value.len(), number)?;
            items.extend(page.value);
        }
        Ok((items, meta))
    }

    /// The address of the next page. A host without any `Link` header may still have more: after a full page the next
    /// one is requested, since ending at exactly 100 items would be a silent omission.
    pub(crate) fn next(
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

    /// The target of a `Link` header, which must be within the API's own origin.
    pub(crate) fn link(&self, meta: &Meta, rel: &str) -> Result<Option<Url>, RequestFailure> {
        let links = meta.headers.get_all("link").iter().filter_map(|value| value.to_str().ok());
        link::within(self.base, links, rel).map_err(|target| {
            let target = evidence_http::single_line(&target);
            let text = format!("refused to follow a link to another origin or with credentials: {target}");
            failure(FailureKind::Redirect(text))
        })
    }
}

/// A failure that no request had.
pub(crate) fn failure(kind: FailureKind) -> RequestFailure {
    RequestFailure::local(kind)
}

/// The page number in an address.
pub(crate) fn page_number(url: &Url) -> Option<u64> {
    url.query_pairs().find(|(name, _)| name == "page").and_then(|(_, value)| value.parse().ok())
}

/// The address with another page number. Its path and its other parameters do not change.
pub(crate) fn with_page(url: &Url, page: u64) -> Url {
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
