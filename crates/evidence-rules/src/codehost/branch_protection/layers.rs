//! The requirements of a rule in every system that protects a branch. All systems apply at once, and bypassing one does
//! not bypass another.

use std::cmp::Reverse;

use super::facts::{BranchFacts, Unread};
use super::rule::ADMINS_NOT_ENFORCED;
use super::system::Hold;
use crate::rule::{Reason, Verdict};

/// The maximum number of rulesets read for one branch: what the host allows for a repository and its organization.
const MAXIMUM_RULESETS: usize = 150;

/// Whether a system has a requirement; the reason if that is not reported.
pub(super) type Demanded = Result<bool, &'static Reason>;

/// A system of protection, as one rule sees it.
#[derive(Debug)]
pub(super) struct Layer<const N: usize> {
    /// The ruleset's id; `None` for the classic rule, or for rules without a ruleset id.
    pub(super) ruleset: Option<u64>,
    /// Each requirement of the rule.
    pub(super) demands: [Demanded; N],
    pub(super) hold: Hold,
}

/// Everything that protects the branch, as far as it was read.
#[derive(Debug)]
pub(super) struct Layers<'a, const N: usize> {
    pub(super) all: Vec<Layer<N>>,
    /// What was not read, the classic rule first. It may add a missing requirement, or apply it to administrators.
    pub(super) unread: Vec<&'a Unread>,
}

/// One of the requirements, over all systems.
#[derive(Debug)]
pub(super) struct Criterion {
    pub(super) demanded: Demanded,
    pub(super) held: Held,
}

/// Whether a requirement applies to administrators.
#[derive(Debug)]
pub(super) enum Held {
    Yes,
    No,
    /// A system with the requirement may apply it to them.
    Unknown(&'static Reason),
    /// No system that was read applies it to them, but one that was not read may.
    NoneRead,
}

impl<const N: usize> Layers<'_, N> {
    fn criteria(&self) -> [Criterion; N] {
        std::array::from_fn(|number| self.criterion(number))
    }

    fn criterion(&self, number: usize) -> Criterion {
        let demands = |layer: &Layer<N>| layer.demands.get(number).copied().unwrap_or(Ok(false));
        let untold = self.all.iter().find_map(|layer| demands(layer).err());
        let missing = self.unread.first().map(|unread| unread.reason);
        let demanded = if self.all.iter().any(|layer| demands(layer) == Ok(true)) {
            Ok(true)
        } else {
            missing.or(untold).map_or(Ok(false), Err)
        };
        let mut held = if self.unread.is_empty() { Held::No } else { Held::NoneRead };
        for layer in &self.all {
            match (demands(layer), &layer.hold, &held) {
                (Ok(false), ..) | (_, _, Held::Yes) | (_, Hold::Bypassed(_), _) => {}
                (Ok(true), Hold::Held(_), _) => held = Held::Yes,
                (Ok(true), Hold::Unknown(reason, _), _) => held = Held::Unknown(reason),
                // It may have the requirement, and then apply it to administrators.
                (Err(_), Hold::Held(_) | Hold::Unknown(..), Held::Unknown(_)) => {}
                (Err(reason), Hold::Held(_) | Hold::Unknown(..), _) => held = Held::Unknown(reason),
            }
        }
        Criterion { demanded, held }
    }

    /// The verdict, unless every requirement is there and applies to administrators. `reasons` are those of the
    /// requirements that are missing.
    pub(super) fn verdict(&self, reasons: [&'static Reason; N], actual: &str) -> Option<Verdict> {
        let criteria = self.criteria();
        let missing = criteria.iter().zip(reasons).find(|(criterion, _)| criterion.demanded == Ok(false));
        if let Some((_, reason)) = missing {
            return Some(Verdict::fail(reason, actual));
        }
        if criteria.iter().any(|criterion| matches!(criterion.held, Held::No)) {
            return Some(Verdict::fail(&ADMINS_NOT_ENFORCED, actual));
        }
        self.undecided(&criteria).map(|reason| Verdict::unknown(reason, actual))
    }

    /// Why the verdict is open, if it is.
    fn undecided(&self, criteria: &[Criterion]) -> Option<&'static Reason> {
        if let Some(reason) = criteria.iter().find_map(|criterion| criterion.demanded.err()) {
            return Some(reason);
        }
        let open = criteria.iter().find_map(|criterion| match criterion.held {
            Held::Unknown(reason) => Some(reason),
            Held::Yes | Held::No | Held::NoneRead => None,
        });
        let nothing = criteria.iter().any(|criterion| matches!(criterion.held, Held::NoneRead));
        let unread = self.unread.first().filter(|_| nothing).map(|unread| unread.reason);
        unread.or(open)
    }

    /// The ruleset whose bypass list can still change the verdict: of several, the one that affects most requirements.
    pub(super) fn next_ruleset(&self, facts: &BranchFacts) -> Option<u64> {
        if facts.other_default.is_some() || facts.rulesets.len() >= MAXIMUM_RULESETS {
            return None;
        }
        let criteria = self.criteria();
        let settled = |criterion: &Criterion| {
            criterion.demanded != Ok(true) || matches!(criterion.held, Held::No | Held::NoneRead)
        };
        if criteria.iter().any(settled) {
            return None;
        }
        let decides = |layer: &Layer<N>| {
            let open = criteria.iter().zip(&layer.demands);
            open.filter(|(criterion, demand)| {
                matches!(criterion.held, Held::Unknown(_)) && **demand == Ok(true)
            })
            .count()
        };
        let asked = |id: &u64| facts.rulesets.contains_key(id);
        let candidates = self.all.iter().filter_map(|layer| Some((layer.ruleset?, decides(layer))));
        let candidates = candidates.filter(|(id, decides)| *decides > 0 && !asked(id));
        candidates.max_by_key(|(id, decides)| (*decides, Reverse(*id))).map(|(id, _)| id)
    }
}
