//! An organization: its settings, and its policies against tokens.

use super::{Fleet, Repository, Ruleset};

/// An organization.
#[derive(Clone, Debug)]
pub struct Organization {
    pub(crate) login: String,
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) two_factor: bool,
    pub(crate) default_repository_permission: String,
    pub(crate) members_can_create_repositories: bool,
    pub(crate) members_can_create_public_repositories: Option<bool>,
    pub(crate) plan: String,
    pub(crate) sso: Option<Sso>,
    pub(crate) ip_allow_list: bool,
    pub(crate) bans_classic_tokens: bool,
    pub(crate) fine_grained_lifetime_days: Option<u32>,
    pub(crate) oauth_restricted: bool,
    pub(crate) refusal: Option<(u16, String)>,
    pub(crate) rulesets: Vec<Ruleset>,
    pub(crate) fleet: Option<Fleet>,
    pub(crate) people: Vec<Person>,
}

/// Someone with access to an organization.
#[derive(Clone, Debug)]
pub struct Person {
    pub(crate) login: String,
    pub(crate) affiliation: Affiliation,
    pub(crate) two_factor: bool,
    pub(crate) public: bool,
}

/// What someone is to an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affiliation {
    /// An owner.
    Owner,
    /// A member.
    Member,
    /// A collaborator of single repositories.
    Outside,
}

impl Person {
    /// Someone with a second factor, whose membership is not public.
    pub fn new(login: impl Into<String>, affiliation: Affiliation) -> Self {
        Self { login: login.into(), affiliation, two_factor: true, public: false }
    }

    /// Without a second factor.
    pub fn without_two_factor(mut self) -> Self {
        self.two_factor = false;
        self
    }

    /// Whose membership everyone sees.
    pub fn public(mut self) -> Self {
        self.public = true;
        self
    }
}

/// The effect of single sign-on on a token that is not authorized for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sso {
    /// 403 with `X-GitHub-SSO: required; url=…`.
    Required,
    /// 404, as if the organization did not exist.
    Hidden,
    /// The organization answers; its listing is 200, contains only public repositories, and has
    /// `partial-results`.
    PartialResults,
}

impl Organization {
    /// An organization with the host's defaults: no two-factor requirement, members may read and create.
    pub fn new(login: impl Into<String>) -> Self {
        let login = login.into();
        Self {
            name: login.clone(),
            login,
            id: None,
            description: None,
            two_factor: false,
            default_repository_permission: "read".to_owned(),
            members_can_create_repositories: true,
            members_can_create_public_repositories: Some(true),
            plan: "team".to_owned(),
            sso: None,
            ip_allow_list: false,
            bans_classic_tokens: false,
            fine_grained_lifetime_days: None,
            oauth_restricted: false,
            refusal: None,
            rulesets: Vec::new(),
            fleet: None,
            people: ["olivia-owner", "owen-owner"]
                .map(|login| Person::new(login, Affiliation::Owner))
                .into_iter()
                .chain(["mia-member", "mona"].map(|login| Person::new(login, Affiliation::Member)))
                .collect(),
        }
    }

    /// The people, in place of two owners and two members.
    pub fn people(mut self, people: impl IntoIterator<Item = Person>) -> Self {
        self.people = people.into_iter().collect();
        self
    }

    /// Its id; assigned by the host if not set.
    pub fn id(mut self, id: u64) -> Self {
        self.id = Some(id);
        self
    }

    /// The name shown.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The description shown.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// `two_factor_requirement_enabled`.
    pub fn two_factor(mut self, required: bool) -> Self {
        self.two_factor = required;
        self
    }

    /// `none`, `read`, `write` or `admin`.
    pub fn default_repository_permission(mut self, permission: impl Into<String>) -> Self {
        self.default_repository_permission = permission.into();
        self
    }

    /// `members_can_create_repositories`.
    pub fn members_can_create_repositories(mut self, allowed: bool) -> Self {
        self.members_can_create_repositories = allowed;
        self
    }

    /// `members_can_create_public_repositories`; `None` for a server too old to send it and its siblings.
    pub fn members_can_create_public_repositories(mut self, allowed: impl Into<Option<bool>>) -> Self {
        self.members_can_create_public_repositories = allowed.into();
        self
    }

    /// `free`, `team` or `enterprise`. On `free`, private repositories have neither protection nor rulesets.
    pub fn plan(mut self, plan: impl Into<String>) -> Self {
        self.plan = plan.into();
        self
    }

    /// A ruleset of the organization, for the repositories that it names.
    pub fn ruleset(mut self, ruleset: Ruleset) -> Self {
        self.rulesets.push(ruleset);
        self
    }

    /// Single sign-on, for tokens without [`super::Token::sso_authorized`].
    pub fn sso(mut self, sso: Sso) -> Self {
        self.sso = Some(sso);
        self
    }

    /// Whether an IP allow list excludes this client.
    pub fn ip_allow_list(mut self, enabled: bool) -> Self {
        self.ip_allow_list = enabled;
        self
    }

    /// Classic personal tokens are forbidden.
    pub fn bans_classic_tokens(mut self, banned: bool) -> Self {
        self.bans_classic_tokens = banned;
        self
    }

    /// Forbids fine-grained tokens with a longer lifetime, which every token here has.
    pub fn fine_grained_lifetime_days(mut self, days: u32) -> Self {
        self.fine_grained_lifetime_days = Some(days);
        self
    }

    /// Access by OAuth apps is restricted.
    pub fn oauth_restricted(mut self, restricted: bool) -> Self {
        self.oauth_restricted = restricted;
        self
    }

    /// Refuses everything with this status and message.
    pub fn refusal(mut self, status: u16, message: impl Into<String>) -> Self {
        self.refusal = Some((status, message.into()));
        self
    }

    /// Removes all refusals and policies.
    pub fn without_policies(mut self) -> Self {
        self.sso = None;
        self.ip_allow_list = false;
        self.bans_classic_tokens = false;
        self.fine_grained_lifetime_days = None;
        self.oauth_restricted = false;
        self.refusal = None;
        self
    }

    pub(crate) fn number(&self) -> u64 {
        self.id.unwrap_or(1)
    }
}

/// Whether a repository is private on a plan with protection and rulesets for public repositories only.
pub(super) fn lacks_plan(organization: Option<&Organization>, repository: &Repository) -> bool {
    let free = organization.is_some_and(|organization| organization.plan == "free");
    repository.is_private() && (repository.plan_limited || free)
}
