//! The permission part of the connection test: reads everything that the rules need of one repository, so that missing
//! permissions are reported before a long run, not after it.
//!
//! A dry run looks on, since it must end with the code of the collection: at every repository of a short list, otherwise
//! until one repository proves each permission.
//!
//! No request is repeated: the first page of the listing and the observations of the repositories are kept for the
//! collection.

use std::sync::{Arc, Mutex, PoisonError};

use evidence_bundle::document::is_lacking;
use futures_util::future::join_all;

use super::api::FirstPage;
use super::collect::Task;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::repository::{Origin, ScopedRepository};
use super::topic::Topic;
use super::{CodeHostSession, wire};
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
    /// What could not be read, as text: a collection will lack it.
    pub(super) lacking: Vec<String>,
}

/// An observation that the connection test made.
struct Probe {
    subject: Arc<str>,
    topic: Topic,
    found: CollectionItem,
    asked: Vec<Asked>,
}

impl CodeHostSession {
    /// Looks up the repositories that the configuration names. Reads one repository, or as many as a dry run needs, and
    /// warns of what the token cannot read.
    ///
    /// # Errors
    ///
    /// Fails if the configuration names a repository twice.
    pub(super) async fn preflight(&mut self, dry_run: bool) -> Result<(), ConnectError> {
        let most = if dry_run { 1 + MORE } else { 1 };
        let (named, all) = self.look_up(dry_run, most).await?;
        self.named = named;
        let mut lacking = Vec::new();
        if let Some(CollectionItem::Inspected(found)) = self.organization_found() {
            // The connection test has its own warning for this.
            lacking.extend(denied(&found).filter_map(|check| check.verdict.actual));
        }
        let all = all && dry_run;
        let repositories = self.repositories_to_try(most, all).await;
        let mut open: Vec<Topic> = self.topics().collect();
        let mut probes = Vec::new();
        for repository in repositories {
            let tried = join_all(open.iter().map(|topic| self.probe(&repository, *topic))).await;
            if !all {
                open.retain(|topic| {
                    tried.iter().any(|probe| probe.topic == *topic && !probe.is_conclusive())
                });
            }
            probes.extend(tried);
            if open.is_empty() {
                break;
            }
        }
        for probe in &probes {
            for text in probe.denied() {
                let warning = self.warning("permission_missing", text.clone());
                self.warnings.push(warning);
                lacking.push(text);
            }
            lacking.extend(probe.failed());
        }
        *self.preflight.probes.get_mut().unwrap_or_else(PoisonError::into_inner) = probes;
        // Problems unrelated to the repository appear in every look at it.
        lacking.dedup();
        self.preflight.lacking = lacking;
        Ok(())
    }

    async fn probe(&self, repository: &ScopedRepository, topic: Topic) -> Probe {
        let (subject, repository) = (Arc::clone(&repository.subject), repository.clone());
        let (found, asked) = recorded(self.observe(Task { repository, topic }, None)).await;
        Probe { subject, topic, found, asked }
    }

    /// The repositories to try one after another, from `repos` or from the first page of the listing: at most `most`,
    /// unless it is `all` of a list.
    async fn repositories_to_try(&self, most: usize, all: bool) -> Vec<ScopedRepository> {
        if self.topics().next().is_none() {
            return Vec::new();
        }
        match &self.config.repos {
            Repositories::Listed(_) => {
                let most = if all { self.named.len() } else { most };
                self.named.iter().take(most).map(|named| named.scoped.clone()).collect()
            }
            Repositories::All => {
                let mut exclusion = Exclusion::new(&self.config.exclude);
                let (page, asked) = recorded(self.api().first_page()).await;
                let first = page.as_ref().ok().map(|(page, _)| self.first_of(page, &mut exclusion, most));
                *self.preflight.page.lock().unwrap_or_else(PoisonError::into_inner) = Some((page, asked));
                first.unwrap_or_default()
            }
        }
    }

    /// The first repositories that are neither archived nor disabled, since those are exempt from checks; then the others.
    fn first_of(
        &self,
        page: &Answered<Vec<wire::Repository>>,
        exclusion: &mut Exclusion<'_>,
        most: usize,
    ) -> Vec<ScopedRepository> {
        let at = page.meta.received_at;
        let in_scope = page
            .value
            .iter()
            .filter_map(|repository| self.scoped(repository, &mut Default::default(), at).ok())
            .filter(|repository| !exclusion.excludes(repository.target().name));
        let exempt = |repository: &ScopedRepository| match &repository.origin {
            Origin::Shown(details) => details.exempt().is_some(),
            Origin::Hidden(_) => false,
        };
        let (others, mut first): (Vec<_>, Vec<_>) = in_scope.partition(exempt);
        first.extend(others);
        first.truncate(most);
        first
    }

    /// The first page of the listing, requested unless the connection test has read it.
    pub(super) async fn first_page(&self) -> FirstPage {
        let kept = self.preflight.page.lock().unwrap_or_else(PoisonError::into_inner).take();
        match kept {
            Some((page, asked)) => {
                replay(asked);
                page
            }
            None => self.api().first_page().await,
        }
    }

    /// The result of the connection test, if it made this observation.
    pub(super) fn probed(&self, task: &Task) -> Option<CollectionItem> {
        let mut probes = self.preflight.probes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |probe: &Probe| probe.topic == task.topic && probe.subject == task.repository.subject;
        let at = probes.iter().position(is_it)?;
        let Probe { found, asked, .. } = probes.swap_remove(at);
        replay(asked);
        Some(found)
    }
}

impl Probe {
    /// Whether it shows if the token has the permission: something was judged, refused or not obtained.
    fn is_conclusive(&self) -> bool {
        let CollectionItem::Inspected(inspection) = &self.found else { return false };
        let failed = |observation: &Observation| matches!(observation.seen, Seen::Failed(_));
        let decided = |check: Check| match check.verdict.status {
            Status::Pass | Status::Fail => true,
            Status::NotVerifiable => is_lacking(check.verdict.status, check.verdict.reason.code),
            Status::NotApplicable => false,
        };
        inspection.observations.iter().any(failed)
            || evaluate::checks_alone(inspection.clone()).into_iter().any(decided)
    }

    /// What the token may not read, and the permission to grant.
    fn denied(&self) -> Vec<String> {
        let CollectionItem::Inspected(inspection) = &self.found else { return Vec::new() };
        let observed = inspection.observations.iter().flat_map(|observation| &observation.requests);
        let permission = self.asked.iter().chain(observed).find_map(|asked| asked.permission.as_deref());
        let described = |check: Check| {
            let actual = check.verdict.actual.unwrap_or_default();
            let takes = match permission {
                Some(permission) => format!("; the host asks for {permission}"),
                None => format!(". {}", check.rule.permission),
            };
            format!("cannot read {}: {actual}{takes}", check.subject)
        };
        denied(inspection).map(described).collect()
    }

    /// What could not be read for another reason.
    fn failed(&self) -> impl Iterator<Item = String> {
        let inspection = match &self.found {
            CollectionItem::Inspected(inspection) => Some(inspection),
            CollectionItem::Population { .. } | CollectionItem::Listed { .. } | CollectionItem::Warned(_) => {
                None
            }
        };
        inspection.into_iter().flat_map(|inspection| &inspection.observations).filter_map(|observation| {
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
