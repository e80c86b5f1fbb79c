//! What the connection test leaves to the plan and to the collection.

use evidence_bundle::document::Warning;

use super::host::api::Host;
use super::topic::{Answers, Topic};
use super::users::FirstUsers;

/// A workspace that granted a token and showed at least one of its parts.
pub(super) struct AltCloudSession {
    pub(super) host: Host,
    pub(super) users: FirstUsers,
    pub(super) answers: Vec<(&'static Topic, Box<dyn Answers>)>,
    pub(super) warnings: Vec<Warning>,
}
