//! A ruleset: where it applies, what it requires, and who may bypass it.

use super::{Permission, fnmatch};
use serde_json::{Value, json};

/// A ruleset. Its level depends on the builder that adds it: [`super::Repository::ruleset`],
/// [`super::Organization::ruleset`] or [`super::CodeHost::enterprise_ruleset`].
#[derive(Clone, Debug)]
pub struct Ruleset {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) enforcement: Enforcement,
    pub(crate) branches: Patterns,
    pub(crate) repositories: Patterns,
    pub(crate) rules: Vec<Value>,
    pub(crate) bypass: Vec<Bypass>,
    pub(crate) bypass_shown: Option<bool>,
    pub(crate) user_bypass: Option<Option<String>>,
    pub(crate) shown: bool,
}

/// Names that are included unless they are excluded.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

/// The target of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Branches.
    Branch,
    /// Tags: never among the rules of a branch.
    Tag,
    /// Pushes: never among the rules of a branch.
    Push,
    /// The repository itself. Recorded: such rules are listed for every branch, but protect none.
    Repository,
}

/// Whether a ruleset is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// It is enforced.
    Active,
    /// A dry run: it enforces nothing.
    Evaluate,
    /// Off.
    Disabled,
}

/// The level of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Repository,
    Organization,
    Enterprise,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Repository => "Repository",
            Self::Organization => "Organization",
            Self::Enterprise => "Enterprise",
        }
    }
}

/// An entry of `bypass_actors`.
#[derive(Clone, Debug)]
pub struct Bypass {
    pub(crate) kind: String,
    pub(crate) id: Option<u64>,
    pub(crate) mode: Option<BypassMode>,
}

/// When an actor may bypass a ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BypassMode {
    /// Always.
    Always,
    /// By merging a pull request despite the rules.
    PullRequest,
    /// The rules do not run for this actor at all.
    Exempt,
}

impl Ruleset {
    /// An active ruleset for the default branch of every repository, without rules and without bypass.
    pub fn new(id: u64, name: impl Into<String>) -> Self {
        let all = |word: &str| Patterns { include: vec![word.to_owned()], exclude: Vec::new() };
        Self {
            id,
            name: name.into(),
            target: Target::Branch,
            enforcement: Enforcement::Active,
            branches: all("~DEFAULT_BRANCH"),
            repositories: all("~ALL"),
            rules: Vec::new(),
            bypass: Vec::new(),
            bypass_shown: None,
            user_bypass: None,
            shown: true,
        }
    }

    /// Its target.
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Whether it is enforced.
    pub fn enforcement(mut self, enforcement: Enforcement) -> Self {
        self.enforcement = enforcement;
        self
    }

    /// The branches, instead of the default one: `~DEFAULT_BRANCH`, `~ALL`, or patterns such as `refs/heads/release/*`.
    /// An empty list matches nothing.
    pub fn branches<S: Into<String>>(mut self, include: impl IntoIterator<Item = S>) -> Self {
        self.branches.include = include.into_iter().map(Into::into).collect();
        self
    }

    /// Excludes these branches, whatever is included.
    pub fn except_branches<S: Into<String>>(mut self, exclude: impl IntoIterator<Item = S>) -> Self {
        self.branches.exclude = exclude.into_iter().map(Into::into).collect();
        self
    }

    /// The repositories, instead of all: names or patterns. Only for rulesets of an organization or enterprise.
    pub fn repositories<S: Into<String>>(mut self, include: impl IntoIterator<Item = S>) -> Self {
        self.repositories.include = include.into_iter().map(Into::into).collect();
        self
    }

    /// Excludes these repositories, whatever is included.
    pub fn except_repositories<S: Into<String>>(mut self, exclude: impl IntoIterator<Item = S>) -> Self {
        self.repositories.exclude = exclude.into_iter().map(Into::into).collect();
        self
    }

    /// Requires a pull request with this many approvals; 0 is possible.
    pub fn reviews(self, count: u32) -> Self {
        self.rule_with(
            "pull_request",
            json!({
                "required_approving_review_count": count,
                "dismiss_stale_reviews_on_push": true,
                "required_reviewers": [],
                "require_code_owner_review": false,
                "require_last_push_approval": false,
                "required_review_thread_resolution": false,
                "allowed_merge_methods": ["merge", "squash", "rebase"],
            }),
        )
    }

    /// Requires these checks, from any source.
    pub fn status_checks<S: Into<String>>(self, contexts: impl IntoIterator<Item = S>) -> Self {
        let checks: Vec<Value> =
            contexts.into_iter().map(|context| json!({"context": context.into()})).collect();
        self.rule_with(
            "required_status_checks",
            json!({
                "strict_required_status_checks_policy": false,
                "do_not_enforce_on_create": false,
                "required_status_checks": checks,
            }),
        )
    }

    /// Requires these workflows to pass.
    pub fn workflows<S: Into<String>>(self, paths: impl IntoIterator<Item = S>) -> Self {
        let files: Vec<Value> = paths
            .into_iter()
            .map(|path| json!({"path": path.into(), "ref": "refs/heads/main", "repository_id": 42}))
            .collect();
        self.rule_with("workflows", json!({"do_not_enforce_on_create": false, "workflows": files}))
    }

    /// A rule without parameters, such as `deletion` or `non_fast_forward`.
    pub fn rule(mut self, kind: &str) -> Self {
        self.rules.push(json!({"type": kind}));
        self
    }

    /// Any rule with its parameters.
    pub fn rule_with(mut self, kind: &str, parameters: Value) -> Self {
        self.rules.push(json!({"type": kind, "parameters": parameters}));
        self
    }

    /// Adds an actor that may bypass it.
    pub fn bypass(mut self, actor: Bypass) -> Self {
        self.bypass.push(actor);
        self
    }

    /// Whether to show `bypass_actors` to all callers. By default only those who may change the ruleset see it.
    pub fn bypass_shown(mut self, shown: bool) -> Self {
        self.bypass_shown = Some(shown);
        self
    }

    /// `current_user_can_bypass`, instead of the value derived from the actors and the caller's role; `None`
    /// omits it.
    pub fn current_user_can_bypass(mut self, word: Option<&str>) -> Self {
        self.user_bypass = Some(word.map(str::to_owned));
        self
    }

    /// Its rules apply, but requesting it answers 404, as some tokens have seen for the organization's rulesets.
    pub fn not_shown(mut self) -> Self {
        self.shown = false;
        self
    }

    /// Whether its rules are listed for this branch.
    pub(crate) fn holds_for(&self, branch: &str, default_branch: &str) -> bool {
        self.enforcement == Enforcement::Active
            && match self.target {
                Target::Branch => {
                    let name = format!("refs/heads/{branch}");
                    self.branches.hold(&name, |word| word == "~DEFAULT_BRANCH" && branch == default_branch)
                }
                Target::Repository => true,
                Target::Tag | Target::Push => false,
            }
    }
}

impl Patterns {
    pub(crate) fn hold(&self, name: &str, is_named_by: impl Fn(&str) -> bool) -> bool {
        let any = |patterns: &[String]| {
            patterns.iter().any(|pattern| {
                pattern == "~ALL"
                    || is_named_by(pattern)
                    || fnmatch::matches(pattern.as_bytes(), name.as_bytes())
            })
        };
        any(&self.include) && !any(&self.exclude)
    }
}

impl Target {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
            Self::Push => "push",
            Self::Repository => "repository",
        }
    }
}

impl Enforcement {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Evaluate => "evaluate",
            Self::Disabled => "disabled",
        }
    }
}

impl Bypass {
    /// Any actor, always: `Team`, `Integration`, `User`, `DeployKey`, `EnterpriseOwner`, or a custom `RepositoryRole`.
    pub fn actor(kind: impl Into<String>, id: impl Into<Option<u64>>) -> Self {
        Self { kind: kind.into(), id: id.into(), mode: Some(BypassMode::Always) }
    }

    /// One of the host's own repository roles, always: 5 is `admin`, 2 `maintain`, 4 `write`.
    pub fn role(role: Permission) -> Self {
        let id = match role {
            Permission::Admin => 5,
            Permission::Push => 4,
            Permission::Triage => 3,
            Permission::Maintain => 2,
            Permission::Pull => 1,
        };
        Self::actor("RepositoryRole", id)
    }

    /// The organization's owners, always. The host ignores the id.
    pub fn organization_admin() -> Self {
        Self::actor("OrganizationAdmin", 1)
    }

    /// Sets the mode; `None` omits it, which means always.
    pub fn mode(mut self, mode: impl Into<Option<BypassMode>>) -> Self {
        self.mode = mode.into();
        self
    }
}

impl BypassMode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::PullRequest => "pull_request",
            Self::Exempt => "exempt",
        }
    }
}
