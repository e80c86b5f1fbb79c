//! The repositories that the configuration names. Each is requested once, before anything is collected: the host's
//! spelling becomes the subject, and a repository that is named twice, after a rename too, is a mistake.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::advice::configuration;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::host::{Host, refusal};
use super::names::{self, MEMBER};
use super::repository::{self, Hidden, Names, Origin, RepositoryDetails, ScopedRepository};
use super::subject::RepositoryName;
use super::topics;
use crate::source::{CollectionItem, ConnectError, Member};
use evidence_bundle::document::Warning;
use evidence_http::{Asked, recorded};

/// The name of the host's record of a repository in documents.
const RECORD: &str = "repository";

/// The longest list that a dry run looks up completely.
const LOOKED_UP: usize = 20;

/// A repository that the configuration names, as the host knows it.
#[derive(Debug, Clone)]
pub(super) struct NamedRepository {
    /// `owner/name` as configured.
    configured: Arc<str>,
    pub(super) scoped: ScopedRepository,
    pub(super) member: Member,
    /// The requests for a repository that the host showed. Those for another one are with its observations.
    requests: Vec<Asked>,
    warnings: Vec<Warning>,
}

impl NamedRepository {
    fn hidden(configured: Arc<str>, why: Hidden, warnings: Vec<Warning>) -> NamedRepository {
        let subject = Arc::clone(&configured);
        let scoped = ScopedRepository { subject, origin: Origin::Hidden(Arc::new(why)) };
        let member = Member::new(MEMBER, Arc::clone(&configured));
        NamedRepository { configured, scoped, member, requests: Vec::new(), warnings }
    }

    /// What the collection records of the lookup.
    pub(super) fn found(&self) -> impl Iterator<Item = CollectionItem> + use<> {
        let listed = matches!(self.scoped.origin, Origin::Shown(_)).then(|| CollectionItem::Listed {
            kind: RECORD,
            subject: Arc::clone(&self.scoped.subject),
            requests: self.requests.clone(),
        });
        listed.into_iter().chain(self.warnings.clone().into_iter().map(CollectionItem::Warned))
    }
}

/// Requests every repository in scope that the configuration names, in a dry run at most `most` of a long list.
/// Returns them, and whether they are all.
///
/// # Errors
///
/// Fails if the configuration names a repository twice.
pub(super) async fn look_up(
    host: &Host,
    dry_run: bool,
    most: usize,
) -> Result<(Vec<NamedRepository>, bool), ConnectError> {
    let Repositories::Listed(listed) = &host.config.repos else { return Ok((Vec::new(), false)) };
    if topics::of_repositories(&host.config).next().is_none() {
        return Ok((Vec::new(), true));
    }
    let mut exclusion = Exclusion::new(&host.config.exclude);
    let in_scope = listed.iter().filter(|name| !exclusion.excludes(name));
    let mut names: Vec<Arc<str>> = in_scope.map(|name| repository::named(&host.config.org, name)).collect();
    let all = !dry_run || names.len() <= LOOKED_UP;
    if !all {
        names.truncate(most);
    }
    let at_once = host.config.max_concurrency.get();
    let asked = names.into_iter().map(|name| named(host, name));
    let named: Vec<NamedRepository> = stream::iter(asked).buffered(at_once).collect().await;
    twice(&named)?;
    Ok((named, all))
}

async fn named(host: &Host, configured: Arc<str>) -> NamedRepository {
    let target = RepositoryName::new(&configured);
    let (answer, requests) = recorded(repository::ask(&host.api(), target)).await;
    let (shown, meta) = match answer {
        Ok(shown) => shown,
        Err(seen) => return NamedRepository::hidden(configured, Hidden { seen, requests }, Vec::new()),
    };
    let current = shown.full_name.as_deref().and_then(|name| name.split_once('/'));
    let current = current.filter(|(_, name)| names::is_repository(name));
    let owner = current.map(|(owner, _)| owner);
    if let Some((seen, warnings)) = refusal::of_other_owner(target, &meta, owner) {
        return NamedRepository::hidden(configured, Hidden { seen, requests }, warnings);
    }
    let subject = current
        .map_or_else(|| Arc::clone(&configured), |(_, name)| repository::named(&host.config.org, name));
    let details = RepositoryDetails::of(&shown, &mut Names::default(), meta.received_at);
    let member = Member {
        id: shown.id.map(|id| id.to_string()),
        archived: shown.archived,
        default_branch: shown.default_branch.filter(|name| names::is_branch(name)).map(Arc::from),
        visibility: shown.visibility.map(Arc::from),
        ..Member::new(MEMBER, Arc::clone(&subject))
    };
    let warnings = renamed(&configured, &subject).into_iter().collect();
    let scoped = ScopedRepository { subject, origin: Origin::Shown(details) };
    NamedRepository { configured, scoped, member, requests, warnings }
}

fn renamed(configured: &str, subject: &Arc<str>) -> Option<Warning> {
    let text = format!("`repos` names {configured}, which is {subject} now: write its current name");
    let is_it = configured.eq_ignore_ascii_case(subject);
    (!is_it).then(|| RepositoryName::new(subject).warning("repository_renamed", text))
}

/// Fails if two names are the same repository: it would be counted twice.
fn twice(named: &[NamedRepository]) -> Result<(), ConnectError> {
    let mut first: HashMap<String, &NamedRepository> = HashMap::new();
    let mut repeated = Vec::new();
    for repository in named {
        let subject = repository.scoped.subject.to_ascii_lowercase();
        let Some(other) = first.insert(subject, repository) else { continue };
        repeated.push(format!(
            "{} and {} are both {}",
            other.configured, repository.configured, repository.scoped.subject
        ));
    }
    if repeated.is_empty() {
        return Ok(());
    }
    Err(configuration(
        format!("sources.codehost.repos names a repository twice: {}", repeated.join("; ")),
        vec!["a repository was renamed: keep only its current name in `repos`".to_string()],
    ))
}
