//! The systems that protect a branch, which are the classic rule and each ruleset: what each requires, and whether it
//! applies to administrators. Bypassing one system does not bypass another.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{BranchFacts, Rules, Unread, Viewer};
use super::reviewers::{RequiredReviews, required_reviews};
use super::rule::{BYPASS_CONTRADICTION, BYPASS_NOT_VISIBLE};
use crate::codehost::record::{Actors, BranchProtection, BranchRule, BypassActor, Ruleset};
use crate::field::Field;
use crate::rule::{Reason, reason as shared};
use evidence_text::counted;

/// A system of protection.
#[derive(Debug)]
pub(super) struct System {
    /// The ruleset's id; `None` for the classic rule, or for rules without a ruleset id.
    pub(super) ruleset: Option<u64>,
    /// The number of approving reviews; `None` if not reported.
    pub(super) reviews: Option<u64>,
    /// Whether a rule for reviews lacks its number, so that it may be higher.
    pub(super) reviews_untold: bool,
    /// Whether code owners must approve.
    pub(super) code_owners: bool,
    /// The patterns of files that alone need the approval of a required reviewer.
    pub(super) narrow: Vec<String>,
    pub(super) checks: Checks,
    pub(super) hold: Hold,
}

/// The status checks that a system requires.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Whether there is a rule for status checks.
    pub(super) configured: bool,
    /// Whether a rule for status checks lacks its list.
    untold: bool,
    pub(super) names: BTreeSet<String>,
    /// Whether the checks are only in the newer list, which the artifact does not contain.
    pub(super) newer: bool,
}

/// Whether a system applies to administrators.
#[derive(Debug, Clone)]
pub(super) enum Hold {
    Held(String),
    Bypassed(String),
    Unknown(&'static Reason, String),
}

impl Hold {
    pub(super) fn words(&self) -> &str {
        match self {
            Hold::Held(words) | Hold::Bypassed(words) | Hold::Unknown(_, words) => words,
        }
    }
}

impl System {
    /// Whether it requires this many approving reviews; `None` if not reported.
    pub(super) fn demands_reviews(&self, approvals: u64) -> Option<bool> {
        match self.reviews? {
            count if count >= approvals => Some(true),
            _ if self.reviews_untold => None,
            _ => Some(false),
        }
    }

    /// Whether it requires a named check; `None` if not reported.
    pub(super) fn demands_check(&self) -> Option<bool> {
        match (self.checks.names.is_empty(), self.checks.untold) {
            (false, _) => Some(true),
            (true, true) => None,
            (true, false) => Some(false),
        }
    }

    /// The classic rule. The host omits sections that are not configured, so an absent section is a setting that was
    /// read. A section without its number or switch is not.
    pub(super) fn classic(protection: &BranchProtection) -> System {
        let reviews = match &protection.required_pull_request_reviews {
            Field::Value(reviews) => reviews.required_approving_review_count.value().copied(),
            Field::Absent | Field::Null => Some(0),
        };
        let section = protection.required_pull_request_reviews.value();
        let code_owners =
            section.and_then(|reviews| reviews.require_code_owner_reviews.value()) == Some(&true);
        let mut checks = Checks::default();
        if let Field::Value(section) = &protection.required_status_checks {
            checks.configured = true;
            checks.add(section.contexts.value().into_iter().flatten().map(String::as_str));
            checks.newer = checks.names.is_empty();
            let newer = section.checks.value().into_iter().flatten();
            checks.add(newer.map(|check| check.context.as_str()));
        }
        System {
            ruleset: None,
            reviews,
            reviews_untold: false,
            code_owners,
            narrow: Vec::new(),
            checks,
            hold: classic_hold(protection),
        }
    }

    /// The rulesets among `rules` that require a pull request or checks: no other rule protects anything here.
    pub(super) fn rulesets(rules: &[BranchRule], facts: &BranchFacts) -> Vec<System> {
        let mut systems: BTreeMap<Option<u64>, System> = BTreeMap::new();
        for rule in rules {
            let id = rule.ruleset_id.value().copied();
            let kind = rule.kind.value().map_or("", String::as_str);
            if !DEMANDS.contains(&kind) {
                continue;
            }
            let system = systems.entry(id).or_insert_with(|| System {
                ruleset: id,
                reviews: Some(0),
                reviews_untold: false,
                code_owners: false,
                narrow: Vec::new(),
                checks: Checks::default(),
                hold: ruleset_hold(rule, facts),
            });
            system.add(kind, rule);
        }
        systems.into_values().collect()
    }

    fn add(&mut self, kind: &str, rule: &BranchRule) {
        let parameters = rule.parameters.value();
        if kind == PULL_REQUEST {
            let count = parameters.and_then(|found| found.required_approving_review_count.value()).copied();
            let owners = parameters.and_then(|found| found.require_code_owner_review.value());
            self.code_owners |= owners == Some(&true);
            let RequiredReviews { every_file, narrow } = required_reviews(parameters);
            self.narrow.extend(narrow);
            // The approvals of required reviewers count where they are required for every file.
            let count = match every_file {
                Some(approvals) => Some(count.map_or(approvals, |count| count.max(approvals))),
                None => count,
            };
            self.reviews_untold |= count.is_none();
            self.reviews = match (self.reviews, count) {
                (Some(known), Some(count)) => Some(known.max(count)),
                // A number that is already sufficient stays so, whatever another rule omits.
                (Some(known), None) if known > 0 => Some(known),
                (None, Some(count)) if count > 0 => Some(count),
                (_, None) | (None, _) => None,
            };
            return;
        }
        self.checks.configured = true;
        let checks = parameters.and_then(|found| found.required_status_checks.value());
        let workflows = parameters.and_then(|found| found.workflows.value());
        self.checks.untold |= if kind == WORKFLOWS { workflows.is_none() } else { checks.is_none() };
        if kind == WORKFLOWS {
            for workflow in workflows.into_iter().flatten() {
                let path = workflow.path.value().map_or("without a path", String::as_str);
                self.checks.names.insert(format!("workflow {path}"));
            }
        } else {
            self.checks.add(checks.into_iter().flatten().map(|check| check.context.as_str()));
        }
    }
}

/// Whether the organization owns the ruleset with this id.
pub fn is_of_organization(facts: &BranchFacts, id: u64) -> bool {
    let Rules::Shown(rules) = &facts.rules else { return false };
    rules.iter().any(|rule| {
        let source = rule.ruleset_source_type.value();
        rule.ruleset_id.value() == Some(&id) && source.is_some_and(|source| source == "Organization")
    })
}

/// Whether a rule comes from above the organization. Only what the host names counts as something else.
fn is_of_enterprise(rule: &BranchRule) -> bool {
    let source = rule.ruleset_source_type.value();
    source.is_some_and(|source| {
        !["Repository", "Organization"].iter().any(|own| source.eq_ignore_ascii_case(own))
    })
}

impl Checks {
    /// Adds check names. An empty name is not a check.
    fn add<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.names.extend(names.filter(|name| !name.trim().is_empty()).map(str::to_string));
    }
}

pub(super) const PULL_REQUEST: &str = "pull_request";
pub(super) const STATUS_CHECKS: &str = "required_status_checks";
pub(super) const WORKFLOWS: &str = "workflows";

/// The judged types of rules.
pub(super) const DEMANDS: &[&str] = &[PULL_REQUEST, STATUS_CHECKS, WORKFLOWS];

/// Whether a classic rule applies to administrators.
pub(super) fn classic_hold(protection: &BranchProtection) -> Hold {
    match protection.enforce_admins.value().and_then(|section| section.enabled.value()) {
        Some(true) => Hold::Held("enforced for administrators".to_string()),
        Some(false) => Hold::Bypassed("not enforced for administrators".to_string()),
        None => {
            Hold::Unknown(&shared::NO_EVIDENCE, "enforcement for administrators not reported".to_string())
        }
    }
}

/// Whether the ruleset of a rule applies to administrators, as far as its bypass list was read.
pub(super) fn ruleset_hold(rule: &BranchRule, facts: &BranchFacts) -> Hold {
    let id = rule.ruleset_id.value().copied();
    hold(id, id.and_then(|id| facts.rulesets.get(&id)), is_of_enterprise(rule), facts.viewer)
}

/// Whether a ruleset applies to administrators. A hidden bypass list never counts as empty.
fn hold(
    id: Option<u64>,
    asked: Option<&Result<Ruleset, Unread>>,
    of_enterprise: bool,
    viewer: Viewer,
) -> Hold {
    let Some(id) = id else {
        let words = "a rule without a ruleset id, whose bypass list is unknown";
        return Hold::Unknown(&BYPASS_NOT_VISIBLE, words.to_string());
    };
    let ruleset = match asked {
        Some(Ok(ruleset)) => ruleset,
        Some(Err(Unread { detail, refused: true, .. })) => {
            return Hold::Unknown(&BYPASS_NOT_VISIBLE, detail.clone());
        }
        Some(Err(Unread { reason, detail, .. })) => return Hold::Unknown(reason, detail.clone()),
        // Not requested, because it does not affect the verdict.
        None => return Hold::Unknown(&BYPASS_NOT_VISIBLE, String::new()),
    };
    let said = ruleset.current_user_can_bypass.value().map_or("", String::as_str);
    let can_bypass = matches!(said, "always" | "pull_requests_only" | "exempt");
    if let Field::Value(actors) = &ruleset.bypass_actors {
        if actors.is_empty() && can_bypass {
            return Hold::Unknown(
                &BYPASS_CONTRADICTION,
                format!(
                    "the bypass list of ruleset {id} is empty, yet the host says that the token's user can bypass it \
                     (current_user_can_bypass is {said})"
                ),
            );
        }
        if let Some(words) = actors.iter().find_map(administrators) {
            return Hold::Bypassed(format!("administrators can bypass ruleset {id} ({words})"));
        }
        if actors.iter().all(is_no_administrator) {
            return Hold::Held(match others(actors) {
                None => format!("no one can bypass ruleset {id}"),
                Some(others) => format!("administrators cannot bypass ruleset {id}; {others} can"),
            });
        }
    }
    // Administrators may have one of the organization's custom roles, so what the host reports about an administrator
    // decides.
    match said {
        _ if can_bypass && viewer.administers => Hold::Bypassed(format!(
            "administrators can bypass ruleset {id} (current_user_can_bypass of an administrator is {said})"
        )),
        // Owners of the enterprise stand above those of the organization.
        "never" if of_enterprise => Hold::Unknown(
            &BYPASS_NOT_VISIBLE,
            format!(
                "the enterprise owns ruleset {id}, and whether its owners can bypass it is not visible to this token"
            ),
        ),
        "never" if viewer.administers && viewer.owns => Hold::Held(format!(
            "administrators cannot bypass ruleset {id}; enterprise owners, teams, roles, apps and single users may \
             still be able to"
        )),
        _ => Hold::Unknown(
            &BYPASS_NOT_VISIBLE,
            format!("whether administrators can bypass ruleset {id} is not visible to this token"),
        ),
    }
}

/// The built-in roles from read to admin. A bypass for a role applies to every higher one.
const BUILT_IN_ROLES: std::ops::RangeInclusive<i64> = 1..=5;

/// How an entry of a bypass list lets administrators bypass, if it certainly does.
fn administrators(actor: &BypassActor) -> Option<String> {
    let mode = actor.bypass_mode.value().map_or("always", String::as_str);
    let kind = actor.actor_type.value()?;
    match (kind.as_str(), actor.actor_id.value()) {
        ("OrganizationAdmin" | "EnterpriseOwner", _) => Some(format!("{kind}, {mode}")),
        ("RepositoryRole", Some(role)) if BUILT_IN_ROLES.contains(role) => {
            Some(format!("{kind} {role}, {mode}"))
        }
        _ => None,
    }
}

const OTHERS: [(&str, &str, &str); 4] = [
    ("Team", "team", "teams"),
    ("Integration", "app", "apps"),
    ("User", "user", "users"),
    ("DeployKey", "deploy key", "deploy keys"),
];

fn is_no_administrator(actor: &BypassActor) -> bool {
    let kind = actor.actor_type.value();
    kind.is_some_and(|kind| OTHERS.iter().any(|(other, ..)| kind == other))
}

/// Who can bypass besides administrators, as text.
fn others(actors: &[BypassActor]) -> Option<String> {
    let words: Vec<String> = OTHERS
        .iter()
        .filter_map(|(kind, one, many)| {
            let is_kind = |actor: &&BypassActor| actor.actor_type.value().is_some_and(|found| found == kind);
            let count = evidence_text::saturating_u64(actors.iter().filter(is_kind).count());
            (count > 0).then(|| counted(count, one, many))
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The maximum number of names in a sentence; the artifact has all of them.
const LISTED: usize = 20;

/// Joins names for a sentence.
pub(super) fn list(names: &[&str]) -> String {
    let more = names.len().saturating_sub(LISTED);
    let shown = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Who may merge without the review that a classic rule requires, as text.
pub(super) fn allowances(protection: &BranchProtection) -> Option<String> {
    let reviews = protection.required_pull_request_reviews.value()?;
    let Actors { users, teams, apps } = reviews.bypass_pull_request_allowances.value()?;
    let names: Vec<&str> = users
        .value()
        .into_iter()
        .flatten()
        .map(|user| user.login.as_str())
        .chain([teams, apps].into_iter().filter_map(Field::value).flatten().map(|other| other.slug.as_str()))
        .collect();
    (!names.is_empty()).then(|| list(&names))
}
