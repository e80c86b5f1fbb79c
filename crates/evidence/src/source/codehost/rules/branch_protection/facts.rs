//! What is known of the protection of one branch, and by whom it was asked.

use std::collections::BTreeMap;

use crate::rule::Reason;
use crate::source::codehost::record::{BranchProtection, BranchRule, Ruleset};

/// What is known of the protection of one branch.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The branch.
    pub branch: String,
    /// The default branch, if no branch is configured and it is known to be another one.
    pub other_default: Option<String>,
    /// The classic rule.
    pub classic: Classic,
    /// The rules of rulesets that apply to the branch.
    pub rules: Rules,
    /// The rulesets that were asked who can bypass them, by number.
    pub rulesets: BTreeMap<u64, Result<Ruleset, Unread>>,
    /// Who asked.
    pub viewer: Viewer,
}

impl Facts {
    /// Nothing protects this branch, and nothing is known of who asked.
    pub fn unprotected(branch: &str) -> Facts {
        Facts {
            branch: branch.to_string(),
            other_default: None,
            classic: Classic::Absent(format!("{branch}: Branch not protected")),
            rules: Rules::Shown(Vec::new()),
            rulesets: BTreeMap::new(),
            viewer: Viewer::default(),
        }
    }
}

/// What the host says of the classic rule.
#[derive(Debug, Clone)]
pub enum Classic {
    /// The rule.
    Shown(Box<BranchProtection>),
    /// There is none, in the host's words.
    Absent(String),
    /// There is no such branch, in the host's words.
    NoBranch(String),
    /// The repository is empty.
    Empty,
    /// It was not read.
    Unread(Unread),
}

/// What the host says of rulesets.
#[derive(Debug, Clone)]
pub enum Rules {
    /// They were not asked for.
    NotAsked,
    /// Every active rule for the branch.
    Shown(Vec<BranchRule>),
    /// They were not read.
    Unread(Unread),
}

/// Why something was not read.
#[derive(Debug, Clone)]
pub struct Unread {
    /// Why.
    pub reason: &'static Reason,
    /// In words.
    pub detail: String,
    /// The host refused to show it; otherwise there was no usable answer.
    pub refused: bool,
}

/// The token's user, as far as other answers show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viewer {
    /// Administers the repository.
    pub administers: bool,
    /// Owns the organization.
    pub owns: bool,
}
