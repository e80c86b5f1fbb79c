//! The permission part of the connection test: reads everything that the rules need of one repository, so that missing
//! permissions are reported at the beginning of a long run, not after it. A collection reads this repository beside the rest
//! of the listing and beside the others, since it goes on whatever the answers are.
//!
//! A dry run waits for the answers and looks on, since it must end with the code of the collection: at every repository of a short list, otherwise
//! until one repository proves each permission.
//!
//! No request is repeated: the first page of the listing and the observations of the repositories are kept for the
//! collection.

use std::sync::{Arc, Mutex, PoisonError};

use evidence_bundle::document::{Warning, is_lacking};
use futures_util::future::join_all;
use tokio::sync::Notify;

use super::config::Repositories;
use super::exclusion::Selection;
use super::host::Host;
use super::named::{NamedRepository, look_up};
use super::observe::{self, Task};
use super::repositories::{self, FirstPage};
use super::repository::{Origin, Repository, ScopedRepository};
use super::topic::{Inspect, Topic};
use super::topics;
use crate::evaluate::{self, Check};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::{CollectionItem, ConnectError};
use evidence_http::{Answered, Asked, recorded, replay};
use evidence_rules::rule::Status;

/// How many more repositories a dry run looks at until one proves a permission.
const MORE: usize = 5;

/// The results of the connection test beyond the organization, until the collection takes them.
#[derive(Default)]
pub(super) struct Preflight {
    page: Mutex<Option<(FirstPage, Vec<Asked>)>>,
    probes: Mutex<Vec<Probe>>,
    /// The repository that the collection tries first, until it was tried.
    to_try: Mutex<Option<ScopedRepository>>,
    tried: Notify,
    /// The repositories in scope that the configuration names; in a dry run not all of a long list.
    pub(super) named: Vec<NamedRepository>,
    /// What could not be read, as text: a collection will lack it.
    pub(super) unreadable: Vec<String>,
    /// What the token may not read.
    pub(super) warnings: Vec<Warning>,
}

/// An observation that the connection test made.
struct Probe {
    subject: Arc<str>,
    topic: &'static Topic,
    found: Inspection,
    asked: Vec<Asked>,
}

/// Looks up the repositories that the configuration names. Reads one repository, or as many as a dry run needs, and
/// warns of what the token cannot read.
///
/// # Errors
///
/// Fails if the configuration names a repository twice.
pub(super) async fn preflight(host: &Host, dry_run: bool) -> Result<Preflight, ConnectError> {
    let most = if dry_run { 1 + MORE } else { 1 };
    let (named, all) = look_up(host, dry_run, most).await?;
    let mut preflight = Preflight { named, ..Preflight::default() };
    let mut probes = Vec::new();
    for topic in topics::of_organization(&host.config) {
        probes.extend(probe_organization(host, topic).await);
    }
    let all = all && dry_run;
    let mut repositories = preflight.repositories_to_try(host, most, all).await;
    if !dry_run && let Some(first) = repositories.pop() {
        host.shared.trying(true);
        *preflight.to_try.get_mut().unwrap_or_else(PoisonError::into_inner) = Some(first);
    }
    let mut open: Vec<&'static Topic> = topics::of_repositories(&host.config).collect();
    for repository in repositories {
        let tried = join_all(open.iter().map(|topic| probe(host, &repository, topic))).await;
        if !all {
            open.retain(|topic| tried.iter().any(|probe| probe.topic == *topic && !probe.is_conclusive()));
        }
        probes.extend(tried);
        if open.is_empty() {
            break;
        }
    }
    for probe in &probes {
        if let Inspect::Organization { warned: true, .. } = probe.topic.inspect {
            preflight.unreadable.extend(denied(&probe.found).filter_map(|check| check.verdict.actual));
        } else {
            for text in probe.denied() {
                preflight.warnings.push(missing(host, &text));
                preflight.unreadable.push(text);
            }
        }
        preflight.unreadable.extend(probe.failed());
    }
    // Problems unrelated to the repository appear in every look at it.
    preflight.unreadable.dedup();
    *preflight.probes.get_mut().unwrap_or_else(PoisonError::into_inner) = probes;
    Ok(preflight)
}

/// The warning about a permission that the token lacks.
fn missing(host: &Host, text: &str) -> Warning {
    host.warning("permission_missing", text.to_string())
}

async fn probe_organization(host: &Host, topic: &'static Topic) -> Option<Probe> {
    let (found, asked) = recorded(observe::organization(host, topic)).await;
    Some(Probe { subject: host.config.org.as_str().into(), topic, found: found?, asked })
}

async fn probe(host: &Host, repository: &ScopedRepository, topic: &'static Topic) -> Probe {
    let (subject, repository) = (Arc::clone(&repository.subject), repository.clone());
    let (found, asked) = recorded(observe::repository(host, Task { repository, topic }, None)).await;
    Probe { subject, topic, found, asked }
}

impl Preflight {
    /// The repositories to try one after another, from `repos` or from the first page of the listing: at most `most`,
    /// unless it is `all` of a list.
    async fn repositories_to_try(&self, host: &Host, most: usize, all: bool) -> Vec<ScopedRepository> {
        if topics::of_repositories(&host.config).next().is_none() {
            return Vec::new();
        }
        match &host.config.repos {
            Repositories::Listed(_) => {
                let most = if all { self.named.len() } else { most };
                self.named.iter().take(most).map(|named| named.scoped.clone()).collect()
            }
            Repositories::All => {
                let mut selection = Selection::new(&host.config);
                let (page, asked) = recorded(repositories::first_page(&host.api())).await;
                let first = page.as_ref().ok().map(|(page, _)| first_of(host, page, &mut selection, most));
                *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Some((page, asked));
                first.unwrap_or_default()
            }
        }
    }

    /// The first page of the listing, requested unless the connection test has read it.
    pub(super) async fn first_page(&self, host: &Host) -> FirstPage {
        let kept = self.page.lock().unwrap_or_else(PoisonError::into_inner).take();
        match kept {
            Some((page, asked)) => {
                replay(asked);
                page
            }
            None => repositories::first_page(&host.api()).await,
        }
    }

    /// Reads the repository that a collection tries first, and warns of what the token cannot read.
    pub(super) async fn try_one(&self, host: &Host) -> Vec<CollectionItem> {
        let lock = || self.to_try.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(repository) = lock().clone() else { return Vec::new() };
        let topics = topics::of_repositories(&host.config);
        let tried = join_all(topics.map(|topic| probe(host, &repository, topic))).await;
        let warnings = tried.iter().flat_map(Probe::denied);
        let warned = warnings.map(|text| CollectionItem::Warned(missing(host, &text))).collect();
        self.probes.lock().unwrap_or_else(PoisonError::into_inner).extend(tried);
        *lock() = None;
        self.tried.notify_waiters();
        host.shared.trying(false);
        warned
    }

    /// Keeps an observation that was made for a list that has changed since.
    pub(super) fn keep(&self, topic: &'static Topic, subject: Arc<str>, found: Inspection) {
        let probe = Probe { subject, topic, found, asked: Vec::new() };
        self.probes.lock().unwrap_or_else(PoisonError::into_inner).push(probe);
    }

    /// The result of the connection test, if it read this topic about this subject, or reads it now.
    pub(super) async fn preflight_result(&self, topic: &Topic, subject: &str) -> Option<Inspection> {
        loop {
            let tried = self.tried.notified();
            let is_it = |repository: &ScopedRepository| *repository.subject == *subject;
            if !self.to_try.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(is_it) {
                break;
            }
            tried.await;
        }
        let mut probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |probe: &Probe| probe.topic == topic && *probe.subject == *subject;
        let at = probes.iter().position(is_it)?;
        let Probe { found, asked, .. } = probes.swap_remove(at);
        replay(asked);
        Some(found)
    }
}

/// The first repositories that are neither archived nor disabled, since those are exempt from checks; then the others.
fn first_of(
    host: &Host,
    page: &Answered<Vec<Repository>>,
    selection: &mut Selection<'_>,
    most: usize,
) -> Vec<ScopedRepository> {
    let at = page.meta.received_at;
    let in_scope = page.value.iter().filter_map(|repository| {
        let scoped = repositories::scoped(&host.config.org, repository, &mut Default::default(), at).ok()?;
        selection.leaves_out(scoped.target().name, repository).is_none().then_some(scoped)
    });
    let exempt = |repository: &ScopedRepository| match &repository.origin {
        Origin::Shown(details) => details.exempt().is_some(),
        Origin::Hidden(_) => false,
    };
    let (others, mut first): (Vec<_>, Vec<_>) = in_scope.partition(exempt);
    first.extend(others);
    first.truncate(most);
    first
}

impl Probe {
    /// Whether it shows if the token has the permission: something was judged, refused or not obtained.
    fn is_conclusive(&self) -> bool {
        let failed = |observation: &Observation| matches!(observation.seen, Seen::Failed(_));
        let decided = |check: Check| match check.verdict.status {
            Status::Pass | Status::Fail => true,
            Status::NotVerifiable => is_lacking(check.verdict.status, check.verdict.reason.code),
            Status::NotApplicable => false,
        };
        self.found.observations.iter().any(failed)
            || evaluate::checks_alone(self.found.clone()).into_iter().any(decided)
    }

    /// What the token may not read, and the permission to grant.
    fn denied(&self) -> Vec<String> {
        let observed = self.found.observations.iter().flat_map(|observation| &observation.requests);
        let permission = self.asked.iter().chain(observed).find_map(|asked| asked.permission.as_deref());
        let described = |check: Check| {
            let actual = check.verdict.actual.unwrap_or_default();
            let takes = match permission {
                Some(permission) => format!("; the host asks for {permission}"),
                None => format!(". {}", check.rule.permission),
            };
            format!("cannot read {}: {actual}{takes}", check.subject)
        };
        denied(&self.found).map(described).collect()
    }

    /// What could not be read for another reason.
    fn failed(&self) -> impl Iterator<Item = String> {
        self.found.observations.iter().filter_map(|observation| {
            let Seen::Failed(failed) = &observation.seen else { return None };
            Some(format!("{}: {}", observation.subject, failed.message))
        })
    }
}

/// The checks that are undecided because of a missing permission.
fn denied(inspection: &Inspection) -> impl Iterator<Item = Check> {
    // If the host no longer accepts the token, a failure has the same reason. It is reported as a failure.
    let failed =
        inspection.observations.iter().any(|observation| matches!(observation.seen, Seen::Failed(_)));
    let checks = if failed { Vec::new() } else { evaluate::checks_alone(inspection.clone()) };
    checks.into_iter().filter(|check| is_lacking(check.verdict.status, check.verdict.reason.code))
}
