//! Makes one observation: a topic of the organization or of a repository.

use super::host::{Host, refusal};
use super::repository::{Origin, ScopedRepository};
use super::topic::{Inspect, Look, Topic};
use crate::observation::{Inspection, Observation};

/// An observation of a repository to make.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) repository: ScopedRepository,
    pub(super) topic: &'static Topic,
}

/// A topic of the organization; `None` if it is one of a repository.
pub(super) async fn organization(host: &Host, topic: &'static Topic) -> Option<Inspection> {
    match topic.inspect {
        Inspect::Organization { by, .. } => Some(by(host).await),
        Inspect::Repository(_) => None,
    }
}

/// Makes an observation. `number` is its place in the order of the collection, if it has one.
pub(super) async fn repository(host: &Host, task: Task, number: Option<usize>) -> Inspection {
    let Task { repository, topic } = task;
    let target = repository.target();
    let details = match &repository.origin {
        Origin::Shown(details) => details,
        Origin::Hidden(hidden) => {
            let seen = refusal::about(topic.name, hidden.seen.clone());
            let observation = target.observation(topic.kind, seen);
            let requests = hidden.requests.clone();
            return Observation { requests, ..observation }.into();
        }
    };
    let exempt = details.exempt();
    let inspection = match topic.inspect {
        // Its contents cannot be read, and no setting of it has an effect.
        _ if details.disabled => target.observation(topic.kind, refusal::disabled()).into(),
        Inspect::Repository(inspect) => {
            inspect(host, Look { repository: &repository, details, number }).await
        }
        Inspect::Organization { by, .. } => by(host).await,
    };
    Inspection { exempt, ..inspection }
}
