//! The listing of an organization's repositories, page by page.

use std::collections::HashSet;

use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use url::Url;

use super::host::api::{Api, JSON, MIB, failure, page_number, with_page};
use super::host::kept::json_bytes;
use super::names::{self, MEMBER};
use super::repository::{Names, Origin, Repository, RepositoryDetails, ScopedRepository, named};
use crate::json::Object;
use crate::observation::Failed;
use crate::source::{CollectionItem, PopulationScope};
use evidence_bundle::document;
use evidence_http::{Answered, Call, CallError, FailureKind, Keeping, Meta, ParseError, RequestFailure};
use evidence_rules::rule::reason;
use evidence_text::saturating_u64;

/// After more than this many consecutive empty pages, a listing that has a next page is assumed to loop.
const MAXIMUM_EMPTY_PAGES: u32 = 3;
/// The maximum number of pages: 100,000 repositories, twice as many as the largest organizations have.
const MAXIMUM_PAGES: u64 = 1_000;

/// How many pages of a listing are read at once. A page is half a megabyte; with all of them at once, the memory that they
/// take would be the highest of the whole run.
const PAGES_AT_ONCE: usize = 16;

/// A page of the listing, sorted by name: in the default order, by age, a repository created meanwhile would shift
/// every page. The headers contain the next page and whether repositories were omitted. A resumed run requests it anew.
pub(super) static REPOSITORIES: Call<Vec<Repository>> = Call {
    name: "/orgs/{org}/repos?per_page=100&sort=full_name&direction=asc",
    purpose: "discovery, with `repos: \"*\"`; `secret-scanning` and `push-protection`",
    times: "once per 100 repositories",
    kind: Some("repository discovery"),
    media_type: JSON,
    // A page of 100 repositories is about 0.6 MB.
    limit: 16 * MIB,
    parse: repositories,
    subject: None,
    keep: Some(Keeping { headers: &["link", "x-github-sso"], ..Keeping::new(2, json_bytes) }),
};

/// The maximum memory use of a page of the listing. A hundred repositories with long names take 15 kB, and with as many
/// topics as the host allows 190 kB. A server other
/// than the host can send a million, and a thousand pages may be in memory at the same time.
const PAGE_WEIGHT: usize = 256 * 1024;

fn repositories(bytes: &[u8]) -> Result<Vec<Repository>, ParseError> {
    let page = Object::all(serde_json::from_slice(bytes)?);
    if page.iter().map(Repository::weight).sum::<usize>() > PAGE_WEIGHT {
        return Err(ParseError::Shape(format!(
            "{} repositories, or names, too large for a page",
            page.len()
        )));
    }
    Ok(page)
}

/// The first page of a listing, and the last page's address if the host names it.
pub(super) type FirstPage = Result<(Answered<Vec<Repository>>, Option<Last>), CallError>;

/// Receives the repositories of each page and when it was read, in the order of the listing.
pub(super) type TakePage<'a> = &'a mut (dyn FnMut(Vec<Repository>, Timestamp) + Send);

/// The result of reading a listing: the pages that were read, and the problems.
#[derive(Default)]
pub(super) struct RepositoryListing {
    pub(super) pages_read: u64,
    /// The number of each failed page, and the failure.
    pub(super) problems: Vec<(u64, CallError)>,
    /// Whether one of the pages had `X-GitHub-SSO: partial-results`.
    pub(super) partial: bool,
}

/// The last page of a listing.
pub(super) struct Last {
    pub(super) number: u64,
    url: Url,
}

impl RepositoryListing {
    fn add(&mut self, page: Answered<Vec<Repository>>, take: TakePage<'_>) {
        self.pages_read += 1;
        self.partial |= is_partial(&page.meta);
        take(page.value, page.meta.received_at);
    }
}

async fn read_page(api: &Api<'_>, url: &Url) -> Result<Answered<Vec<Repository>>, CallError> {
    api.client.ask(&REPOSITORIES.get_at(api.base, url.clone()), &REPOSITORIES).await
}

/// The first page, and the last page's address if the host names it.
pub(super) async fn first_page(api: &Api<'_>) -> FirstPage {
    let answered = read_page(api, &listing_url(api)).await?;
    let last = api.link(&answered.meta, "last").map_err(CallError::Failed)?;
    let last = last.and_then(|url| Some(Last { number: page_number(&url)?, url }));
    // Ignore an implausible number, and read the pages in sequence instead.
    let last = last.filter(|last| last.number <= MAXIMUM_PAGES);
    Ok((answered, last))
}

/// Whether more pages follow the first one, for a host that does not name the last page.
pub(super) fn goes_on_uncounted(api: &Api<'_>, first: &Answered<Vec<Repository>>) -> bool {
    !matches!(next_page(api, first, 1), Ok(None))
}

/// The last page, for counting without the pages between.
pub(super) async fn last_page(api: &Api<'_>, last: &Last) -> Result<Answered<Vec<Repository>>, CallError> {
    read_page(api, &last.url).await
}

/// Reads every page: after the first, several at once if the host names the last page, else in sequence.
/// `take` receives each page when it arrives, so that memory never holds a whole listing.
pub(super) async fn listing(api: &Api<'_>, first: FirstPage, take: TakePage<'_>) -> RepositoryListing {
    let mut listing = RepositoryListing::default();
    let (first, last) = match first {
        Ok(page) => page,
        Err(problem) => {
            listing.problems.push((1, problem));
            return listing;
        }
    };
    let mut next = next_page(api, &first, 1);
    listing.add(first, take);
    let mut number = 1;
    if let Some(last) = last.filter(|last| last.number > 1) {
        let pages = (2..=last.number).map(|page| (page, with_page(&last.url, page)));
        let mut pages = stream::iter(pages)
            .map(|(page, url)| async move { (page, read_page(api, &url).await) })
            .buffered(PAGES_AT_ONCE);
        while let Some((page, answer)) = pages.next().await {
            number = page;
            match answer {
                Ok(answered) => {
                    next = next_page(api, &answered, page);
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
        match read_page(api, &url).await {
            Ok(answered) => {
                next = next_page(api, &answered, number);
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

/// The address of the listing's page after `page`.
fn next_page(
    api: &Api<'_>,
    page: &Answered<Vec<Repository>>,
    number: u64,
) -> Result<Option<Url>, RequestFailure> {
    api.next(&listing_url(api), &page.meta, page.value.len(), number)
}

fn listing_url(api: &Api<'_>) -> Url {
    REPOSITORIES.url(api.base, &[("org", api.organization)])
}

/// Whether the host says that it omitted repositories from a page.
pub(super) fn is_partial(meta: &Meta) -> bool {
    meta.header("x-github-sso").is_some_and(|sso| sso.trim_start().starts_with("partial-results"))
}

/// The repository in scope, if its name is safe as part of a path and a URL.
pub(super) fn scoped(
    organization: &str,
    repository: &Repository,
    names: &mut Names,
    listed_at: Timestamp,
) -> Result<ScopedRepository, Failed> {
    let name = accept(organization, full_name(organization, repository).as_deref(), &mut names.repositories)?;
    let origin = Origin::Shown(RepositoryDetails::of(repository, names, listed_at));
    Ok(ScopedRepository { subject: named(organization, &name), origin })
}

/// `owner/name` as the host lists it.
pub(super) fn full_name(organization: &str, repository: &Repository) -> Option<String> {
    match (&repository.full_name, &repository.name) {
        (Some(full_name), _) => Some(full_name.clone()),
        (None, Some(name)) => Some(format!("{organization}/{name}")),
        (None, None) => None,
    }
}

/// The repository's name, if it is safe as part of a path and a URL.
fn accept(
    organization: &str,
    full_name: Option<&str>,
    names: &mut HashSet<String>,
) -> Result<Box<str>, Failed> {
    let problem = |text: String| Failed {
        reason: &reason::HOST_ERROR,
        message: format!("repository discovery: {text}"),
        status: Some(200),
        request_id: None,
    };
    let full_name = full_name.ok_or_else(|| problem("the host listed a repository without a name".into()))?;
    let shown = evidence_http::single_line(full_name);
    let valid = full_name.split_once('/').filter(|(_, name)| names::is_repository(name));
    let Some((owner, name)) = valid else {
        return Err(problem(format!("the host listed a repository with an invalid name: {shown}")));
    };
    if !owner.eq_ignore_ascii_case(organization) {
        return Err(problem(format!("the host listed {shown}, which belongs to another organization")));
    }
    if !names.insert(name.to_ascii_lowercase()) {
        return Err(problem(format!("the host listed {shown} twice with different ids")));
    }
    Ok(name.into())
}

/// What a page means on its own.
pub(super) fn offline(repositories: Vec<Repository>) -> Vec<CollectionItem> {
    let count = saturating_u64(repositories.len());
    vec![CollectionItem::Population {
        discovered: Some(count),
        expected: 0,
        work: Vec::new(),
        text: String::new(),
        members: Vec::new(),
        scope: PopulationScope::new(document::Scope::Unconfirmed, "acme", MEMBER, count),
    }]
}
