//! Judges the classic rule and all rulesets together: all apply at once, and the strictest requirement wins.

use std::collections::BTreeSet;

use super::facts::{BranchFacts, Classic, Rules, Unread};
use super::layers::{Layer, Layers};
use super::rule::{
    APPROVALS, BRANCH_MISSING, BRANCH_PROTECTION, BRANCH_UNPROTECTED, DEFAULT_BRANCH_DIFFERS,
    PULL_REQUEST_BYPASS_ALLOWED, REVIEWS_NOT_REQUIRED, STATUS_CHECKS_NOT_CONFIGURED,
};
use super::system::{DEMANDS, System, allowances, list};
use crate::codehost::reason::{EMPTY_REPOSITORY, PLAN_LIMIT};
use crate::codehost::record::{BranchProtection, BranchRule, BranchState};
use crate::rule::setting::Settings;
use crate::rule::{Judge, Reason, Status, Verdict, reason as shared};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The judgement.
pub static JUDGE: Judge<BranchFacts> =
    Judge { rule: &BRANCH_PROTECTION, judge: |facts, settings| Some(judge(facts, settings)) };

/// Passes if enough approving reviews and at least one status check are required, for administrators too.
pub fn judge(facts: &BranchFacts, settings: &Settings) -> Verdict {
    if let Some(verdict) = without_branch(facts) {
        return verdict;
    }
    let branch = &facts.branch;
    if let Some(text) = facts.no_plan() {
        // Without the feature nothing can protect the branch.
        return Verdict::fail(&BRANCH_UNPROTECTED, text);
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
    let actual = systems.words(facts);
    let missing = [&REVIEWS_NOT_REQUIRED, &STATUS_CHECKS_NOT_CONFIGURED];
    if let Some(verdict) = systems.layers(settings).verdict(missing, &actual) {
        return verdict;
    }
    let reviews = systems.all.iter().filter_map(|system| system.reviews).max().unwrap_or(0);
    let hint = systems.allowances.as_ref().map(|_| &PULL_REQUEST_BYPASS_ALLOWED);
    Verdict { improvable: reviews < settings.recommended(&APPROVALS), hint, ..Verdict::pass(actual) }
}

/// The verdict of a rule about the history of the branch; none if the part of the classic rule that it needs was not kept.
/// `no_plan` is the reason where the plan has no protection, `reasons` are those of the requirements that are missing.
pub(super) fn by_layers<const N: usize>(
    facts: &BranchFacts,
    no_plan: &'static Reason,
    reasons: [&'static Reason; N],
    layers: for<'a> fn(&'a BranchFacts) -> Layers<'a, N>,
    words: fn(&BranchFacts, &Layers<'_, N>) -> String,
) -> Option<Verdict> {
    if facts.lacks_history() {
        return None;
    }
    if let Some(verdict) = without_branch(facts) {
        return Some(verdict);
    }
    if let Some(text) = facts.no_plan() {
        return Some(Verdict::fail(no_plan, text));
    }
    let layers = layers(facts);
    let actual = words(facts, &layers);
    let verdict = layers.verdict(reasons, &actual);
    Some(verdict.unwrap_or_else(|| Verdict::pass(actual)))
}

/// The verdict of every rule about a branch that cannot be judged, or that does not exist.
pub(super) fn without_branch(facts: &BranchFacts) -> Option<Verdict> {
    let branch = &facts.branch;
    match (&facts.classic, &facts.other_default) {
        // The repository is gone, or somewhere else: nothing can be said about any branch of it.
        (Classic::Unread(Unread { reason, detail, .. }), _) if **reason == shared::NOT_FOUND => {
            Some(Verdict::unknown(reason, detail))
        }
        (Classic::Empty, _) => Some(Verdict::not_applicable(&EMPTY_REPOSITORY, "the repository is empty")),
        (_, Some(default)) => {
            let text = format!("{branch} was read, but the default branch is {default}");
            Some(Verdict::unknown(&DEFAULT_BRANCH_DIFFERS, text))
        }
        (Classic::NoBranch(said), None) => Some(Verdict::fail(&BRANCH_MISSING, said)),
        (Classic::Shown(_) | Classic::Absent(_) | Classic::Unread(_), None) => None,
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
pub(super) fn next_ruleset(facts: &BranchFacts, settings: &Settings) -> Option<u64> {
    Systems::of(facts).layers(settings).next_ruleset(facts)
}

/// Everything that protects the branch, as far as it was read.
struct Systems<'a> {
    all: Vec<System>,
    /// What was not read, the classic rule first. It may add a missing requirement, or apply it to administrators.
    unread: Vec<&'a Unread>,
    allowances: Option<String>,
}

impl BranchFacts {
    /// Why the classic rule was not shown, if the plan does not include it.
    fn without_plan(&self) -> Option<&Unread> {
        match &self.classic {
            Classic::Unread(unread) => unread.without_plan(),
            Classic::Shown(_) | Classic::Absent(_) | Classic::NoBranch(_) | Classic::Empty => None,
        }
    }

    /// The host's words, if the plan includes neither a classic rule nor rulesets.
    pub(super) fn no_plan(&self) -> Option<String> {
        let (classic, rules) = (self.without_plan()?, self.rules.without_plan()?);
        Some(format!("{}; {}", classic.detail.trim_end_matches('.'), rules.detail))
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

    /// What the systems require, which is a number of approving reviews and a status check.
    fn layers(&self, settings: &Settings) -> Layers<'a, 2> {
        let approvals = settings.get(&APPROVALS);
        let layer = |system: &System| Layer {
            ruleset: system.ruleset,
            demands: [system.demands_reviews(approvals), system.demands_check()]
                .map(|demanded| demanded.ok_or(&shared::NO_EVIDENCE)),
            hold: system.hold.clone(),
        };
        Layers { all: self.all.iter().map(layer).collect(), unread: self.unread.clone() }
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

/// The judged part of a rule, without the parameters of other rule types.
pub fn reduced(rule: BranchRule) -> BranchRule {
    let judged = rule.kind.value().is_some_and(|kind| DEMANDS.contains(&kind.as_str()));
    if judged { rule } else { BranchRule { parameters: crate::field::Field::Absent, ..rule } }
}
