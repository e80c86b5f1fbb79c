//! The facts about the protection of one branch, and about the token's user.

use std::collections::BTreeMap;

use super::rule::{BRANCH_MISSING, BRANCH_UNPROTECTED};
use crate::codehost::reason::EMPTY_REPOSITORY;
use crate::codehost::record::{
    BranchHistory, BranchProtection, BranchRule, BranchState, Ruleset, StatusCheck,
};
use crate::field::Field;
use crate::inspection::{Facts, Shown};
use crate::rule::Reason;
use serde_json::Value;

/// The names of facts that no artifact has a field for: the status checks that only the newer list of a classic rule
/// names, whether the token's user administers the repository, and whether the user owns the organization.
const STATUS_CHECKS: &str = "status_checks";
const ADMINISTERS: &str = "administers_repository";
const OWNS: &str = "owns_organization";

/// The name of the fact that tells which ruleset was not read.
pub const RULESET_ID: &str = "ruleset_id";

/// The facts about the protection of one branch.
#[derive(Debug, Clone)]
pub struct BranchFacts {
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
    /// What the classic rule says of force pushes, deletions and the last push, if a rule asks.
    pub history: Option<BranchHistory>,
    /// The token's user.
    pub viewer: Viewer,
}

impl BranchFacts {
    /// Whether the classic rule was shown, but not what it says of the branch's history: the rules over it have nothing to
    /// judge.
    pub(super) fn lacks_history(&self) -> bool {
        matches!(self.classic, Classic::Shown(_)) && self.history.is_none()
    }

    /// What was not read and may hold a requirement, the classic rule first.
    pub(super) fn unread(&self) -> Vec<&Unread> {
        let classic = match &self.classic {
            // The host's record of the branch says that there is none.
            Classic::Unread(_) if self.has_classic_rule() == Some(false) => None,
            Classic::Unread(unread) => Some(unread),
            Classic::Shown(_) | Classic::Absent(_) | Classic::NoBranch(_) | Classic::Empty => None,
        };
        let rules = match &self.rules {
            Rules::Unread(unread) => Some(unread),
            Rules::Shown(_) | Rules::NotAsked => None,
        };
        classic.into_iter().chain(rules).collect()
    }

    /// Whether there is a classic rule, if only the record of the branch says so.
    pub(super) fn has_classic_rule(&self) -> Option<bool> {
        self.state.as_ref()?.has_classic_rule()
    }

    /// What no artifact has a field for: status checks that only the newer list names, and the token's user.
    pub fn beside_artifacts(&self) -> Facts {
        let mut facts = Facts::new();
        if let Classic::Shown(protection) = &self.classic
            && let Some(checks) = protection.required_status_checks.value()
            && let Some(newer) = checks.checks.value()
        {
            let known: Vec<&String> = checks.contexts.value().into_iter().flatten().collect();
            let names = newer.iter().map(|check| &check.context);
            let names: Vec<Value> =
                names.filter(|name| !known.contains(name)).map(|name| name.as_str().into()).collect();
            if !names.is_empty() {
                facts.insert(STATUS_CHECKS.into(), Value::Array(names));
            }
        }
        for (name, holds) in [(ADMINISTERS, self.viewer.administers), (OWNS, self.viewer.owns)] {
            if holds {
                facts.insert(name.into(), true.into());
            }
        }
        facts
    }

    /// Adds what [`beside_artifacts`](BranchFacts::beside_artifacts) returned.
    pub fn add_beside_artifacts(&mut self, facts: &Facts) {
        if let (Classic::Shown(protection), Some(names)) =
            (&mut self.classic, facts.get(STATUS_CHECKS).and_then(Value::as_array))
            && let Field::Value(checks) = &mut protection.required_status_checks
        {
            let names = names.iter().filter_map(Value::as_str);
            checks.checks =
                Field::Value(names.map(|name| StatusCheck { context: name.to_string() }).collect());
        }
        let holds = |name: &str| facts.get(name).and_then(Value::as_bool).unwrap_or_default();
        self.viewer = Viewer { administers: holds(ADMINISTERS), owns: holds(OWNS) };
    }

    /// A branch without protection, and an unknown user.
    pub fn unprotected(branch: &str) -> BranchFacts {
        BranchFacts {
            branch: branch.to_string(),
            other_default: None,
            classic: Classic::Absent(format!("{branch}: Branch not protected")),
            state: None,
            rules: Rules::Shown(Vec::new()),
            rulesets: BTreeMap::new(),
            history: None,
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

impl Classic {
    /// A rule that was not shown. `None` for one that was.
    pub fn not_shown(shown: Shown<'_>) -> Option<Classic> {
        Some(match shown {
            Shown::Nothing(reason, detail) if *reason == BRANCH_UNPROTECTED => {
                Classic::Absent(detail.to_string())
            }
            Shown::Nothing(reason, detail) if *reason == BRANCH_MISSING => {
                Classic::NoBranch(detail.to_string())
            }
            Shown::Nothing(reason, _) if *reason == EMPTY_REPOSITORY => Classic::Empty,
            _ => Classic::Unread(Unread::of(shown)?),
        })
    }
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

impl Unread {
    /// Why something was not read; `None` if it was, whether or not its artifact is kept.
    pub fn of(shown: Shown<'_>) -> Option<Unread> {
        let (reason, detail, refused) = match shown {
            Shown::Artifact | Shown::Excluded(_) => return None,
            Shown::Nothing(reason, detail) | Shown::Denied(reason, detail) => (reason, detail, true),
            Shown::Failed(reason, detail) => (reason, detail, false),
        };
        Some(Unread { reason, detail: detail.to_string(), refused })
    }
}

/// The token's user, as far as other answers show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viewer {
    /// Whether the user administers the repository.
    pub administers: bool,
    /// Whether the user owns the organization.
    pub owns: bool,
}
