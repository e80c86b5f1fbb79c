//! Judges the classic rule and all rulesets together: all apply at once, and the strictest requirement wins.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::facts::{BranchFacts, Classic, Rules, Unread};
use super::rule::{
    ADMINS_NOT_ENFORCED, APPROVALS, BRANCH_MISSING, BRANCH_PROTECTION, BRANCH_UNPROTECTED,
    DEFAULT_BRANCH_DIFFERS, PULL_REQUEST_BYPASS_ALLOWED, REVIEWS_NOT_REQUIRED, STATUS_CHECKS_NOT_CONFIGURED,
};
use super::system::{DEMANDS, Hold, System, allowances, list};
use crate::codehost::reason::{EMPTY_REPOSITORY, PLAN_LIMIT};
use crate::codehost::record::{BranchProtection, BranchRule, BranchState};
use crate::rule::setting::Settings;
use crate::rule::{Judge, Reason, Status, Verdict, reason as shared};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The maximum number of rulesets read for one branch: what the host allows for a repository and its organization.
const MAXIMUM_RULESETS: usize = 150;

/// The judgement.
pub static JUDGE: Judge<BranchFacts> =
    Judge { rule: &BRANCH_PROTECTION, judge: |facts, settings| Some(judge(facts, settings)) };

/// Passes if enough approving reviews and at least one status check are required, for administrators too.
pub fn judge(facts: &BranchFacts, settings: &Settings) -> Verdict {
    let branch = &facts.branch;
    match (&facts.classic, &facts.other_default) {
        // The repository is gone, or somewhere else: nothing can be said about any branch of it.
        (Classic::Unread(Unread { reason, detail, .. }), _) if **reason == shared::NOT_FOUND => {
            return Verdict::unknown(reason, detail);
        }
        (Classic::Empty, _) => {
            return Verdict::not_applicable(&EMPTY_REPOSITORY, "the repository is empty");
        }
        (_, Some(default)) => {
            let text = format!("{branch} was read, but the default branch is {default}");
            return Verdict::unknown(&DEFAULT_BRANCH_DIFFERS, text);
        }
        (Classic::NoBranch(said), None) => {
            return Verdict::fail(&BRANCH_MISSING, said);
        }
        (Classic::Shown(_) | Classic::Absent(_) | Classic::Unread(_), None) => {}
    }
    if let (Some(classic), Some(rules)) = (facts.without_plan(), facts.rules.without_plan()) {
        // Without the feature nothing can protect the branch.
        return Verdict::fail(
            &BRANCH_UNPROTECTED,
            format!("{}; {}", classic.detail.trim_end_matches('.'), rules.detail),
        );
    }
    let systems = Systems::of(facts);
    if let (Some(false), true) = (facts.has_classic_rule(), systems.all.is_empty()) {
        let text = format!(
            "{branch}: the host reports no branch protection, and no ruleset requires a review or a check"
        );
        return Verdict::fail(&BRANCH_UNPROTECTED, text);
    }
    let unread = systems.unread.first();
    if let (Classic::Absent(said), [], None) = (&facts.classic, systems.all.as_slice(), unread) {
        let rulesets = match facts.rules {
            Rules::Shown(_) => ", and no ruleset requires a review or a check",
            Rules::NotAsked | Rules::Unread(_) => "",
        };
        return Verdict::fail(&BRANCH_UNPROTECTED, format!("{said}{rulesets}"));
    }
    let criteria = systems.criteria(settings);
    let actual = systems.words(facts);
    let fails = criteria.iter().find(|criterion| criterion.demanded == Some(false));
    if let Some(criterion) = fails {
        return Verdict::fail(criterion.reason, actual);
    }
    if criteria.iter().any(|criterion| matches!(criterion.held, Held::No)) {
        return Verdict::fail(&ADMINS_NOT_ENFORCED, actual);
    }
    if let Some(reason) = undecided(&criteria, unread) {
        return Verdict::unknown(reason, actual);
    }
    let reviews = systems.all.iter().filter_map(|system| system.reviews).max().unwrap_or(0);
    let hint = systems.allowances.as_ref().map(|_| &PULL_REQUEST_BYPASS_ALLOWED);
    Verdict { improvable: reviews < settings.recommended(&APPROVALS), hint, ..Verdict::pass(actual) }
}

/// Whether rulesets can change the verdict: not if the classic rule passes, nor if nothing more can be read.
pub fn wants_rules(facts: &BranchFacts, settings: &Settings) -> bool {
    if facts.other_default.is_some() {
        return false;
    }
    match &facts.classic {
        Classic::Empty | Classic::NoBranch(_) => false,
        Classic::Absent(_) => true,
        Classic::Shown(protection) => !passes_alone(protection, settings),
        // A token without access to the classic rule may have access to rulesets, and a plan that lacks one may have
        // the other. A failure or another owner's repository ends the observation.
        Classic::Unread(Unread { reason, refused, .. }) => {
            *refused && [&shared::PERMISSION_DENIED, &PLAN_LIMIT].contains(reason)
        }
    }
}

/// Whether the host's record of the branch can decide: the classic rule is hidden, and no ruleset says anything about
/// reviews or checks.
pub fn wants_branch(facts: &BranchFacts) -> bool {
    let hidden = matches!(&facts.classic, Classic::Unread(Unread { reason, refused: true, .. })
        if **reason == shared::PERMISSION_DENIED);
    let silent = matches!(&facts.rules, Rules::Shown(rules) if System::rulesets(rules, facts).is_empty());
    facts.other_default.is_none() && hidden && silent
}

/// Whether a classic rule passes, whatever the rulesets.
pub fn passes_alone(protection: &BranchProtection, settings: &Settings) -> bool {
    let classic = Classic::Shown(Box::new(protection.clone()));
    judge(&BranchFacts { classic, ..BranchFacts::unprotected("") }, settings).status == Status::Pass
}

/// The ruleset whose bypass list can still change the verdict: of several, the one that affects most criteria.
pub fn next_ruleset(facts: &BranchFacts, settings: &Settings) -> Option<u64> {
    if facts.other_default.is_some() || facts.rulesets.len() >= MAXIMUM_RULESETS {
        return None;
    }
    let systems = Systems::of(facts);
    let criteria = systems.criteria(settings);
    let settled = |criterion: &Criterion| {
        criterion.demanded != Some(true) || matches!(criterion.held, Held::No | Held::NoneRead)
    };
    if criteria.iter().any(settled) {
        return None;
    }
    let decides = |system: &System| {
        let open = criteria.iter().filter(|criterion| matches!(criterion.held, Held::Unknown(_)));
        open.filter(|criterion| criterion.demand.of(system) == Some(true)).count()
    };
    let asked = |id: &u64| facts.rulesets.contains_key(id);
    let candidates = systems.all.iter().filter_map(|system| Some((system.ruleset?, decides(system))));
    let candidates = candidates.filter(|(id, decides)| *decides > 0 && !asked(id));
    candidates.max_by_key(|(id, decides)| (*decides, Reverse(*id))).map(|(id, _)| id)
}

/// Everything that protects the branch, as far as it was read.
struct Systems<'a> {
    all: Vec<System>,
    /// What was not read, the classic rule first. It may add a missing requirement, or apply it to administrators.
    unread: Vec<&'a Unread>,
    allowances: Option<String>,
}

/// One of the two requirements.
struct Criterion {
    reason: &'static Reason,
    demand: Demand,
    /// `None`: something that was not read may require it.
    demanded: Option<bool>,
    held: Held,
}

/// What one of the two requirements asks of a system.
#[derive(Clone, Copy)]
enum Demand {
    /// This many approving reviews.
    Reviews(u64),
    Check,
}

impl Demand {
    /// Whether the system asks for it; `None` if not reported.
    fn of(self, system: &System) -> Option<bool> {
        match self {
            Demand::Reviews(approvals) => system.demands_reviews(approvals),
            Demand::Check => system.demands_check(),
        }
    }
}

/// Whether a requirement applies to administrators.
enum Held {
    Yes,
    No,
    /// A system with the requirement may apply it to them.
    Unknown(&'static Reason),
    /// No system that was read applies it to them, but one that was not read may.
    NoneRead,
}

impl BranchFacts {
    /// Why the classic rule was not shown, if the plan does not include it.
    fn without_plan(&self) -> Option<&Unread> {
        match &self.classic {
            Classic::Unread(unread) => unread.without_plan(),
            Classic::Shown(_) | Classic::Absent(_) | Classic::NoBranch(_) | Classic::Empty => None,
        }
    }

    /// Whether there is a classic rule, if only the record of the branch says so.
    fn has_classic_rule(&self) -> Option<bool> {
        self.state.as_ref()?.has_classic_rule()
    }
}

impl Rules {
    /// Why rulesets were not shown, if the plan does not include them.
    fn without_plan(&self) -> Option<&Unread> {
        match self {
            Rules::Unread(unread) => unread.without_plan(),
            Rules::Shown(_) | Rules::NotAsked => None,
        }
    }
}

impl Unread {
    fn without_plan(&self) -> Option<&Unread> {
        (*self.reason == PLAN_LIMIT).then_some(self)
    }
}

impl<'a> Systems<'a> {
    fn of(facts: &'a BranchFacts) -> Systems<'a> {
        let (mut all, mut unread, mut allowed) = (Vec::new(), Vec::new(), None);
        match &facts.classic {
            Classic::Shown(protection) => {
                all.push(System::classic(protection));
                allowed = allowances(protection);
            }
            Classic::Unread(found) => unread.push(found),
            Classic::Absent(_) | Classic::NoBranch(_) | Classic::Empty => {}
        }
        match &facts.rules {
            Rules::Shown(rules) => all.extend(System::rulesets(rules, facts)),
            Rules::Unread(found) => unread.push(found),
            Rules::NotAsked => {}
        }
        Systems { all, unread, allowances: allowed }
    }

    fn criteria(&self, settings: &Settings) -> [Criterion; 2] {
        [
            self.criterion(&REVIEWS_NOT_REQUIRED, Demand::Reviews(settings.get(&APPROVALS))),
            self.criterion(&STATUS_CHECKS_NOT_CONFIGURED, Demand::Check),
        ]
    }

    fn criterion(&self, reason: &'static Reason, demand: Demand) -> Criterion {
        let said: Vec<Option<bool>> = self.all.iter().map(|system| demand.of(system)).collect();
        let demanded = if said.contains(&Some(true)) {
            Some(true)
        } else if said.contains(&None) || !self.unread.is_empty() {
            None
        } else {
            Some(false)
        };
        let mut held = if self.unread.is_empty() { Held::No } else { Held::NoneRead };
        for system in &self.all {
            match (demand.of(system), &system.hold, &held) {
                (Some(false), ..) | (_, _, Held::Yes) | (_, Hold::Bypassed(_), _) => {}
                (Some(true), Hold::Held(_), _) => held = Held::Yes,
                (Some(true), Hold::Unknown(reason, _), _) => held = Held::Unknown(reason),
                // It may have the requirement, and then apply it to administrators.
                (None, Hold::Held(_) | Hold::Unknown(..), Held::Unknown(_)) => {}
                (None, Hold::Held(_) | Hold::Unknown(..), _) => held = Held::Unknown(&shared::NO_EVIDENCE),
            }
        }
        Criterion { reason, demand, demanded, held }
    }

    /// The findings as text.
    fn words(&self, facts: &BranchFacts) -> String {
        let mut parts = Vec::new();
        if !self.all.is_empty() {
            parts.push(self.requires());
        } else if let (Classic::Absent(said), Rules::Unread(_)) = (&facts.classic, &facts.rules) {
            parts.push(said.clone());
        }
        parts.extend(self.allowances.iter().map(|names| format!("{names} may skip the review")));
        parts.extend(self.unread.iter().map(|unread| unread.detail.clone()));
        if facts.has_classic_rule() == Some(true) {
            let contexts = facts.state.as_ref().map(BranchState::contexts).unwrap_or_default();
            parts.push(match contexts.as_slice() {
                [] => "the host reports a branch protection rule and names no status check of it".to_string(),
                names => format!(
                    "the host reports a branch protection rule with {}: {}",
                    counted(saturating_u64(names.len()), "required status check", "required status checks"),
                    list(names)
                ),
            });
        }
        parts.join("; ")
    }

    /// The combined requirements of the systems that were read.
    fn requires(&self) -> String {
        let counts: Vec<Option<u64>> = self.all.iter().map(|system| system.reviews).collect();
        let reviews = match counts.iter().flatten().max() {
            None => "number of approving reviews not reported".to_string(),
            Some(0) if counts.contains(&None) => "number of approving reviews not reported".to_string(),
            Some(0) if self.all.iter().any(|system| system.code_owners) => {
                "0 approvals are required, code owners must approve".to_string()
            }
            Some(0) => "no approving review".to_string(),
            Some(1) => "1 approving review".to_string(),
            Some(count) => format!("{count} approving reviews"),
        };
        let names: BTreeSet<&str> =
            self.all.iter().flat_map(|system| &system.checks.names).map(String::as_str).collect();
        // The classic rule's artifact has only the older list, so the text names checks that are not in it.
        let elsewhere = self.all.iter().any(|system| {
            let checks = &system.checks;
            !checks.names.is_empty() && (checks.newer || system.ruleset.is_some())
        });
        let listed = list(&names.iter().copied().collect::<Vec<_>>());
        let checks = match (names.len(), elsewhere) {
            (0, _) if self.all.iter().any(|system| system.checks.configured) => {
                "a status-check rule that names no check".to_string()
            }
            (0, _) => "no required status check".to_string(),
            (1, false) => "1 required status check".to_string(),
            (1, true) => format!("1 required status check: {listed}"),
            (count, false) => format!("{count} required status checks"),
            (count, true) => format!("{count} required status checks: {listed}"),
        };
        let mut parts = vec![reviews];
        let narrow: BTreeSet<&str> =
            self.all.iter().flat_map(|system| &system.narrow).map(String::as_str).collect();
        if !narrow.is_empty() {
            let patterns = list(&narrow.iter().copied().collect::<Vec<_>>());
            parts.push(format!("required reviewers only for files that match {patterns}"));
        }
        parts.push(checks);
        let holds = self.all.iter().map(|system| system.hold.words().to_string());
        parts.extend(holds.filter(|words| !words.is_empty()));
        parts.join(", ")
    }
}

/// Why the verdict is open, if it is.
fn undecided(criteria: &[Criterion], unread: Option<&&Unread>) -> Option<&'static Reason> {
    let missing = unread.map_or(&shared::NO_EVIDENCE, |unread| unread.reason);
    if criteria.iter().any(|criterion| criterion.demanded.is_none()) {
        return Some(missing);
    }
    let open = criteria.iter().find_map(|criterion| match criterion.held {
        Held::Unknown(reason) => Some(reason),
        Held::Yes | Held::No | Held::NoneRead => None,
    });
    let nothing = criteria.iter().any(|criterion| matches!(criterion.held, Held::NoneRead));
    if nothing { Some(missing) } else { open }
}

/// The judged part of a rule, without the parameters of other rule types.
pub fn reduced(rule: BranchRule) -> BranchRule {
    let judged = rule.kind.value().is_some_and(|kind| DEMANDS.contains(&kind.as_str()));
    if judged { rule } else { BranchRule { parameters: crate::field::Field::Absent, ..rule } }
}
