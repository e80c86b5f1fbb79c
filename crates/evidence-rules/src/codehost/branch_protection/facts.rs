//! The facts about the protection of one branch, and about the token's user.

use std::collections::BTreeMap;

use crate::codehost::record::{BranchProtection, BranchRule, BranchState, Ruleset};
use crate::rule::Reason;

/// The facts about the protection of one branch.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The branch.
    pub branch: String,
    /// The default branch, if no branch is configured and the default is known to differ.
    pub other_default: Option<String>,
    /// The classic rule.
    pub classic: Classic,
    /// The branch itself, if its classic rule is hidden and no ruleset says anything about reviews or checks.
    pub state: Option<BranchState>,
    /// The rules of rulesets that apply to the branch.
    pub rules: Rules,
    /// The rulesets whose bypass list was requested, by id.
    pub rulesets: BTreeMap<u64, Result<Ruleset, Unread>>,
    /// The token's user.
    pub viewer: Viewer,
}

impl Facts {
    /// A branch without protection, and an unknown user.
    pub fn unprotected(branch: &str) -> Facts {
        Facts {
            branch: branch.to_string(),
            other_default: None,
            classic: Classic::Absent(format!("{branch}: Branch not protected")),
            state: None,
            rules: Rules::Shown(Vec::new()),
            rulesets: BTreeMap::new(),
            viewer: Viewer::default(),
        }
    }
}

/// The host's answer about the classic rule.
#[derive(Debug, Clone)]
pub enum Classic {
    /// The rule.
    Shown(Box<BranchProtection>),
    /// There is no rule, with the host's message.
    Absent(String),
    /// The branch does not exist, with the host's message.
    NoBranch(String),
    /// The repository is empty.
    Empty,
    /// It was not read.
    Unread(Unread),
}

/// The host's answer about rulesets.
#[derive(Debug, Clone)]
pub enum Rules {
    /// They were not requested.
    NotAsked,
    /// Every active rule for the branch.
    Shown(Vec<BranchRule>),
    /// They were not read.
    Unread(Unread),
}

/// Why something was not read.
#[derive(Debug, Clone)]
pub struct Unread {
    /// The reason.
    pub reason: &'static Reason,
    /// The explanation.
    pub detail: String,
    /// Whether the host refused access; otherwise there was no usable answer.
    pub refused: bool,
}

/// The token's user, as far as other answers show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viewer {
    /// Whether the user administers the repository.
    pub administers: bool,
    /// Whether the user owns the organization.
    pub owns: bool,
}
