//! An endpoint below a repository.

use super::access::Who;
use super::organization::Organization;
use super::permission::Endpoint;
use super::reply::Reply;
use super::repository::Repository;
use super::world::World;
use crate::server::Call;
use std::fmt;

/// An endpoint below a repository.
pub(super) struct Part {
    /// Its name, since secondary limits count per endpoint.
    pub(super) name: &'static str,
    /// Its path below the repository, with `*` for a parameter.
    pub(super) path: &'static [&'static str],
    /// The address of its documentation, which errors contain.
    pub(super) documentation: &'static str,
    /// `X-Accepted-GitHub-Permissions`.
    pub(super) permissions: &'static str,
    /// The name under which a repository can refuse it.
    pub(super) refused_as: Option<Endpoint>,
    /// Whether servers of the old version lack it.
    pub(super) newer: bool,
    /// The answer, or the refusal.
    pub(super) answer: fn(&Asked<'_>) -> Result<Reply, Reply>,
}

/// An endpoint below an organization.
pub(super) struct OrganizationPart {
    /// Its name, since secondary limits count per endpoint.
    pub(super) name: &'static str,
    /// Its path below the organization.
    pub(super) path: &'static [&'static str],
    /// The address of its documentation, which errors contain.
    pub(super) documentation: &'static str,
    /// `X-Accepted-GitHub-Permissions`.
    pub(super) permissions: &'static str,
    /// The answer, or the refusal.
    pub(super) answer: fn(&AskedOfOrganization<'_>) -> Result<Reply, Reply>,
}

/// A request for an endpoint of an organization.
pub(super) struct AskedOfOrganization<'a> {
    pub(super) world: &'a World,
    pub(super) organization: &'a Organization,
    pub(super) who: &'a Who,
    pub(super) call: &'a Call,
}

impl fmt::Debug for OrganizationPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for OrganizationPart {
    fn eq(&self, other: &OrganizationPart) -> bool {
        self.name == other.name
    }
}

impl Eq for OrganizationPart {}

/// A request for an endpoint of a repository that the caller may know of.
pub(super) struct Asked<'a> {
    pub(super) world: &'a World,
    pub(super) organization: Option<&'a Organization>,
    pub(super) repository: &'a Repository,
    pub(super) who: &'a Who,
    pub(super) call: &'a Call,
    /// The parameter of the path; empty without one.
    pub(super) parameter: &'a str,
}

impl Part {
    /// The parameter, if this is the endpoint's path.
    pub(super) fn parameter<'a>(&self, path: &[&'a str]) -> Option<&'a str> {
        let mut parameter = "";
        if path.len() != self.path.len() {
            return None;
        }
        for (given, expected) in path.iter().zip(self.path) {
            match *expected {
                "*" if !given.is_empty() => parameter = given,
                _ if given == expected => {}
                _ => return None,
            }
        }
        Some(parameter)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        self.name == other.name
    }
}

impl Eq for Part {}
