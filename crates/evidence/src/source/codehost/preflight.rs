//! The permission part of the connection test: reads everything that the rules need of one repository, so that missing
//! permissions are reported before a long run, not after it.
//!
//! No request is repeated: the first page of the listing and the observations of the repository are kept for the
//! collection.

use std::sync::{Arc, Mutex, PoisonError};

use evidence_bundle::document::is_lacking;
use futures_util::future::join_all;

use super::api::FirstPage;
use super::collect::Task;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::population::{Origin, ScopedRepository};
use super::topic::Topic;
use super::{CodeHostSession, wire};
use crate::evaluate::{self, Check};
use crate::observation::{Inspection, Seen};
use crate::source::CollectionItem;
use evidence_http::{Answered, Asked, recorded, replay};

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
    /// Reads one repository, and warns of what the token cannot read.
    pub(super) async fn preflight(&mut self) {
        let mut lacking = Vec::new();
        if let Some(CollectionItem::Inspected(found)) = self.organization_found() {
            // The connection test has its own warning for this.
            lacking.extend(denied(&found).filter_map(|check| check.verdict.actual));
        }
        if let Some(repository) = self.first_repository().await {
            let topics: Vec<Topic> = self.topics().collect();
            let probes = join_all(topics.into_iter().map(|topic| self.probe(&repository, topic))).await;
            for probe in &probes {
                for text in probe.denied() {
                    let warning = self.warning("permission_missing", text.clone());
                    self.warnings.push(warning);
                    lacking.push(text);
                }
                lacking.extend(probe.failed());
            }
            *self.preflight.probes.get_mut().unwrap_or_else(PoisonError::into_inner) = probes;
        }
        // Problems unrelated to the repository appear in every look at it.
        lacking.dedup();
        self.preflight.lacking = lacking;
    }

    async fn probe(&self, repository: &ScopedRepository, topic: Topic) -> Probe {
        let (subject, repository) = (Arc::clone(&repository.subject), repository.clone());
        let (found, asked) = recorded(self.observe(Task { repository, topic }, None)).await;
        Probe { subject, topic, found, asked }
    }

    /// The first repository in scope: from `repos`, or from the first page of the listing.
    async fn first_repository(&self) -> Option<ScopedRepository> {
        self.topics().next()?;
        let mut exclusion = Exclusion::new(&self.config.exclude);
        match &self.config.repos {
            Repositories::Listed(names) => {
                let name = names.iter().find(|name| !exclusion.excludes(name))?;
                Some(ScopedRepository { subject: self.subject(name), origin: Origin::Named(Arc::default()) })
            }
            Repositories::All => {
                let (page, asked) = recorded(self.api().first_page()).await;
                let first = page.as_ref().ok().and_then(|(page, _)| self.first_of(page, &mut exclusion));
                *self.preflight.page.lock().unwrap_or_else(PoisonError::into_inner) = Some((page, asked));
                first
            }
        }
    }

    /// The first repository that is neither archived nor disabled, since those are exempt from checks; else the first.
    fn first_of(
        &self,
        page: &Answered<Vec<wire::Repository>>,
        exclusion: &mut Exclusion<'_>,
    ) -> Option<ScopedRepository> {
        let at = page.meta.received_at;
        let mut in_scope = page
            .value
            .iter()
            .filter_map(|repository| self.scoped(repository, &mut Default::default(), at).ok())
            .filter(|repository| !exclusion.excludes(repository.target().name));
        let first = in_scope.next()?;
        let exempt = |repository: &ScopedRepository| match &repository.origin {
            Origin::Discovered(details) => details.exempt().is_some(),
            Origin::Named(_) => false,
        };
        if !exempt(&first) {
            return Some(first);
        }
        in_scope.find(|repository| !exempt(repository)).or(Some(first))
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
