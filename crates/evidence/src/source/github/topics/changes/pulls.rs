//! Pull requests, without everything that people wrote in them.

use evidence_http::{Call, ParseError, Subject};
use jiff::Timestamp;
use serde::Deserialize;

use crate::json::Object;
use crate::observation::Seen;
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_repository;
use crate::source::github::host::refusal;
use crate::source::github::subject::RepositoryName;
use evidence_rules::codehost::changes::{Account, Change};

/// The most pages of closed pull requests: 100,000.
const MOST_PAGES: u64 = 1_000;

/// A page of the closed pull requests, those that changed last first. The host has no order by the time of the merge; but
/// what was merged in the period changed in it or later.
pub(crate) static PULLS: Call<Vec<PullRequest>> = Call {
    name: "/repos/{owner}/{repo}/pulls?state=closed&sort=updated&direction=desc&per_page=100",
    purpose: "`changes-approved`: the pull requests that were merged in the period",
    times: "once per 100 pull requests that were closed and changed since the beginning of the period; with \
            `framework: tsc_2017`",
    kind: Some("pull requests"),
    media_type: JSON,
    // A pull request has up to 64 KiB of text, and describes two repositories.
    limit: 32 * MIB,
    parse,
    subject: Some(Subject {
        fields: "`base.repo.full_name`",
        other: |pulls, about| pulls.iter().find_map(|pull| of_repository(pull.repository.as_deref()?, about)),
    }),
    keep: None,
};

/// What is kept of a pull request.
#[derive(Debug, Clone)]
pub(crate) struct PullRequest {
    pub(super) number: u64,
    pub(super) merged: Option<Timestamp>,
    pub(super) base: String,
    merged_at: Option<String>,
    updated: Timestamp,
    author: Option<Account>,
    commit: Option<String>,
    head: Option<String>,
    repository: Option<String>,
}

#[derive(Deserialize)]
struct Wire {
    number: u64,
    user: Option<Object<Account>>,
    updated_at: String,
    merged_at: Option<String>,
    merge_commit_sha: Option<String>,
    head: Object<Tip>,
    base: Object<Tip>,
}

#[derive(Deserialize)]
struct Tip {
    #[serde(rename = "ref", default)]
    name: String,
    #[serde(default)]
    sha: Option<String>,
    #[serde(default)]
    repo: Option<Object<Place>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    full_name: Option<String>,
}

fn parse(bytes: &[u8]) -> Result<Vec<PullRequest>, ParseError> {
    let pulls: Vec<Wire> = Object::all(serde_json::from_slice(bytes)?);
    let unread = |what: &str| ParseError::Shape(format!("{what} of a pull request is not a time"));
    let read = |pull: Wire| {
        let Object(base) = pull.base;
        let Object(head) = pull.head;
        let merged = pull.merged_at.as_deref().map(str::parse).transpose();
        Ok(PullRequest {
            number: pull.number,
            merged: merged.map_err(|_| unread("merged_at"))?,
            base: base.name,
            merged_at: pull.merged_at,
            updated: pull.updated_at.parse().map_err(|_| unread("updated_at"))?,
            author: pull.user.map(|Object(account)| account),
            commit: pull.merge_commit_sha,
            head: head.sha,
            repository: base.repo.and_then(|Object(place)| place.full_name),
        })
    };
    pulls.into_iter().map(read).collect()
}

impl PullRequest {
    /// The change, without its reviews.
    pub(super) fn change(&self) -> Change {
        Change {
            number: self.number,
            author: self.author.clone(),
            merged_at: self.merged_at.clone().unwrap_or_default(),
            commit: self.commit.clone(),
            head: self.head.clone(),
            ..Change::default()
        }
    }
}

/// Reads the closed pull requests back to `from`, each once.
pub(super) async fn read(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    from: Timestamp,
) -> Result<Vec<PullRequest>, Seen> {
    let parameters = [("owner", target.owner), ("repo", target.name)];
    let goes_on = |page: &[PullRequest]| page.last().is_some_and(|last| last.updated >= from);
    match api.pages_while(&PULLS, &parameters, MOST_PAGES, goes_on).await {
        Ok((mut pulls, _)) => {
            pulls.sort_by_key(|pull| pull.number);
            pulls.dedup_by_key(|pull| pull.number);
            Ok(pulls)
        }
        Err(problem) => Err(refusal::unread("pull requests", target, problem)),
    }
}
