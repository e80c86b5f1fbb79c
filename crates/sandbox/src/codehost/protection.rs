//! A classic branch protection rule.

/// A rule. Sections that are `None` are absent from the answer, not null, like on the host.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    /// `required_pull_request_reviews`.
    pub reviews: Option<Reviews>,
    /// `required_status_checks`.
    pub status_checks: Option<StatusChecks>,
    /// `enforce_admins.enabled`.
    pub enforce_admins: bool,
    /// `restrictions`: who may push.
    pub restrictions: Option<Actors>,
    /// `required_signatures.enabled`.
    pub signatures: bool,
    /// `required_linear_history.enabled`.
    pub linear_history: bool,
    /// `allow_force_pushes.enabled`.
    pub force_pushes: bool,
    /// `allow_deletions.enabled`.
    pub deletions: bool,
    /// `block_creations.enabled`.
    pub block_creations: bool,
    /// `required_conversation_resolution.enabled`.
    pub conversation_resolution: bool,
    /// `lock_branch.enabled`.
    pub lock: bool,
    /// `allow_fork_syncing.enabled`.
    pub fork_syncing: bool,
    /// A body to send instead: the wrong shape, numbers out of range.
    pub body: Option<serde_json::Value>,
}

/// `required_pull_request_reviews`.
#[derive(Clone, Debug, Default)]
pub struct Reviews {
    /// `required_approving_review_count`; optional on the host, and 0 is possible.
    pub count: Option<u32>,
    /// `dismiss_stale_reviews`.
    pub dismiss_stale: bool,
    /// `require_code_owner_reviews`.
    pub code_owners: bool,
    /// `require_last_push_approval`.
    pub last_push_approval: bool,
    /// `dismissal_restrictions`.
    pub dismissal_restrictions: Option<Actors>,
    /// `bypass_pull_request_allowances`.
    pub bypass_allowances: Option<Actors>,
}

/// `required_status_checks`. With empty lists it requires nothing.
#[derive(Clone, Debug, Default)]
pub struct StatusChecks {
    /// `strict`.
    pub strict: bool,
    /// The names; `contexts[]` and `checks[]` mirror each other.
    pub contexts: Vec<String>,
}

/// Users, teams and apps, by login or slug.
#[derive(Clone, Debug, Default)]
pub struct Actors {
    /// Logins.
    pub users: Vec<String>,
    /// Slugs.
    pub teams: Vec<String>,
    /// Slugs.
    pub apps: Vec<String>,
}

impl Protection {
    /// A rule that requires nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this many approving reviews.
    pub fn reviews(mut self, count: u32) -> Self {
        self.reviews.get_or_insert_default().count = Some(count);
        self
    }

    /// Requires a review by code owners.
    pub fn code_owner_reviews(mut self) -> Self {
        self.reviews.get_or_insert_default().code_owners = true;
        self
    }

    /// Dismisses approvals when new commits arrive.
    pub fn dismiss_stale_reviews(mut self) -> Self {
        self.reviews.get_or_insert_default().dismiss_stale = true;
        self
    }

    /// Only these may dismiss reviews.
    pub fn dismissal_restrictions(mut self, actors: Actors) -> Self {
        self.reviews.get_or_insert_default().dismissal_restrictions = Some(actors);
        self
    }

    /// These need no review at all, whatever `enforce_admins` says.
    pub fn bypass_allowances(mut self, actors: Actors) -> Self {
        self.reviews.get_or_insert_default().bypass_allowances = Some(actors);
        self
    }

    /// Requires these checks; without any, a section with empty lists.
    pub fn status_checks<S: Into<String>>(mut self, contexts: impl IntoIterator<Item = S>) -> Self {
        self.status_checks.get_or_insert_default().contexts = contexts.into_iter().map(Into::into).collect();
        self
    }

    /// Requires that a branch be up to date before the checks count.
    pub fn strict(mut self) -> Self {
        self.status_checks.get_or_insert_default().strict = true;
        self
    }

    /// Whether administrators are bound too.
    pub fn enforce_admins(mut self, enforced: bool) -> Self {
        self.enforce_admins = enforced;
        self
    }

    /// Only these may push.
    pub fn restrictions(mut self, actors: Actors) -> Self {
        self.restrictions = Some(actors);
        self
    }

    /// Sends this body instead.
    pub fn body(mut self, body: serde_json::Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl Actors {
    /// No one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a user.
    pub fn user(mut self, login: impl Into<String>) -> Self {
        self.users.push(login.into());
        self
    }

    /// Adds a team.
    pub fn team(mut self, slug: impl Into<String>) -> Self {
        self.teams.push(slug.into());
        self
    }

    /// Adds an app.
    pub fn app(mut self, slug: impl Into<String>) -> Self {
        self.apps.push(slug.into());
        self
    }
}
