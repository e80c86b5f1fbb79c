//! Permissions of a user in a repository, and the endpoints that can be refused individually.

/// What a user may do in a repository, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read.
    Pull,
    /// Manage issues.
    Triage,
    /// Write.
    Push,
    /// Manage, except for sensitive settings.
    Maintain,
    /// Everything.
    Admin,
}

/// An endpoint below a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// `/repos/{owner}/{repo}`.
    Repository,
    /// `…/branches/{branch}`.
    Branch,
    /// `…/branches/{branch}/protection`.
    Protection,
    /// `…/rules/branches/{branch}`.
    Rules,
    /// `…/rulesets/{id}`.
    Ruleset,
    /// `…/contents/{path}`.
    Contents,
    /// `…/codeowners/errors`.
    CodeownersErrors,
    /// `…/vulnerability-alerts`.
    VulnerabilityAlerts,
    /// `…/pulls`.
    Pulls,
    /// `…/pulls/{number}/reviews`.
    Reviews,
    /// `…/activity`.
    Activity,
}
