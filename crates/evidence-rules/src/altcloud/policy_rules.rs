//! One verdict over the users, from the policies that apply to them.

use std::collections::BTreeMap;

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::Medium;
use evidence_text::{counted, saturating_u64, single_line};
use jiff::Timestamp;

use super::inactive_users::SUSPENDED_NOT_VISIBLE;
use super::policies::{Places, Policies, Policy, PolicyFacts, PolicyUsers, PolicyValue, Reach};
use crate::field::Field;
use crate::rule::{Reason, Settings, Verdict, reason};

/// The most places that a text names.
const NAMED: usize = 5;

/// What every rule over the policies reads.
pub(super) const READS: &str = "the policies of the customer with their organizational units and groups, the units, the members of these \
                                groups, and the unit of every user of the customer or of the configured domains";

/// What every rule over the policies needs.
pub(super) const PERMISSION: &str = "Delegate the scopes cloud-identity.policies.readonly, admin.directory.orgunit.readonly, admin.directory.user.readonly and \
     admin.directory.group.member.readonly to the service account's client id, enable the Cloud Identity API in its project, and \
     set admin_email to a super administrator: the provider shows policies to nobody else.";

/// Nobody set the policy, or it lacks a field, and the provider's default does not do.
pub static DEFAULT_VALUE: Reason = Reason::new("default_value", "Provider's default in force").advice(
    Medium,
    Misconfigured,
    "Set the value in the admin console, under Security, Authentication: until then the provider's default is in force, which the \
     result names and which the provider can change.",
);

/// Whether a policy applies to certain users is not known.
pub static POLICY_REACH_UNKNOWN: Reason =
    Reason::new("policy_reach_unknown", "To whom a policy applies is not known").advice(
        Medium,
        Partial,
        "Check by hand the policies that this result names: its unit, its group, a group inside that group, or its licences could \
         not be read.",
    );

/// Declares reasons for fields that the provider does not show.
macro_rules! not_visible {
    ($($name:ident = $code:literal, $field:literal;)+) => {
        $(
            #[doc = concat!("The provider does not show `", $field, "` of a policy.")]
            pub static $name: $crate::rule::Reason =
                $crate::rule::Reason::new($code, concat!("`", $field, "` of a policy not reported")).advice(
                    evidence_bundle::document::Severity::Medium,
                    evidence_bundle::document::Category::Partial,
                    concat!("Check by hand: the provider's answer has no `", $field, "` that this version knows."),
                );
        )+
    };
}

pub(super) use not_visible;

not_visible! {
    VALUE_NOT_VISIBLE = "value_not_visible", "value";
}

/// What a policy shows, and in words.
pub(super) enum Shows {
    /// It meets the rule.
    Good(String),
    /// It does not.
    Failed(&'static Reason, String),
    /// It cannot be told.
    Open(&'static Reason, String),
}

/// How a rule judges a policy.
pub(super) struct PolicyRule {
    /// The setting.
    pub(super) setting: &'static str,
    /// Whether only super administrators count.
    pub(super) administrators: bool,
    /// What a value shows.
    pub(super) value: fn(&PolicyValue, Timestamp, &Settings) -> Shows,
    /// Why the rule fails if an override does not meet it; otherwise as the value says.
    pub(super) overridden: Option<&'static Reason>,
    /// Whether a value that the provider set and that does not meet the rule is a default.
    pub(super) has_default: bool,
    /// The words for users that the rule holds for, and for the others.
    pub(super) words: (&'static str, &'static str),
}

/// The users of each outcome, by the place that decides it.
#[derive(Default)]
struct Tally {
    failed: BTreeMap<String, u64>,
    /// The first reason: of a policy for everyone before one of an override.
    fails: Option<(bool, &'static Reason)>,
    open: BTreeMap<String, u64>,
    opens: Option<&'static Reason>,
    good: u64,
}

impl PolicyRule {
    /// The verdict on all users.
    pub(super) fn judge(&self, facts: &PolicyFacts, settings: &Settings) -> Verdict {
        let unread = |actual: String| {
            let none = (&reason::NO_EVIDENCE, String::new());
            let (reason, words) = facts.gap.as_ref().unwrap_or(&none);
            let parts: Vec<&str> =
                [actual.as_str(), words].into_iter().filter(|part| !part.is_empty()).collect();
            Verdict::unknown(reason, parts.join("; "))
        };
        // A policy that was not read can override any other.
        let Some(record) = facts.record.as_ref().filter(|record| record.policies_read.is_complete()) else {
            return unread(String::new());
        };
        let mut tally = Tally::default();
        let places = Places::of(record);
        for users in
            record.users.iter().filter(|users| !self.administrators || users.is_admin.value() != Some(&false))
        {
            self.add(&mut tally, &places, record, users, (facts.at, settings));
        }
        let total = tally.total();
        let whose = if self.administrators { "super administrator" } else { "active user" };
        let users = |count: u64| counted(count, whose, &format!("{whose}s"));
        let mut parts = Vec::new();
        let (good, bad) = self.words;
        for (list, words) in [(&tally.failed, bad), (&tally.open, "it is not known what applies")] {
            if !list.is_empty() {
                let count: u64 = list.values().sum();
                parts.push(format!("{words} for {} of {}: {}", count, users(total), named(list)));
            }
        }
        let is_read = record.user_listings.iter().all(|listing| listing.read.is_complete());
        let actual = if parts.is_empty() && total > 0 {
            format!("{good} for {}", users(total))
        } else {
            parts.join("; ")
        };
        match (tally.fails, tally.opens) {
            (Some((_, reason)), _) => Verdict::fail(reason, actual),
            (None, _) if !is_read || (tally.opens.is_some() && facts.gap.is_some()) => unread(actual),
            (None, Some(reason)) => Verdict::unknown(reason, actual),
            (None, None) if total == 0 && self.administrators => {
                unread("no super administrator was shown".to_string())
            }
            (None, None) if total == 0 => {
                Verdict::not_applicable(&reason::NOTHING_IN_SCOPE, format!("no {whose}"))
            }
            (None, None) => Verdict::pass(actual),
        }
    }

    /// Adds what follows for users of one unit, the same groups and the same role.
    fn add(
        &self,
        tally: &mut Tally,
        places: &Places<'_>,
        record: &Policies,
        users: &PolicyUsers,
        (at, settings): (Timestamp, &Settings),
    ) {
        let own = record.policies.iter().filter(|policy| policy.setting_name() == Some(self.setting));
        let mut applying: Vec<(&Policy, Reach)> = own
            .map(|policy| (policy, places.reach(policy, users)))
            .filter(|(_, reach)| *reach != Reach::No)
            .collect();
        applying
            .sort_by(|(a, _), (b, _)| b.order().partial_cmp(&a.order()).unwrap_or(std::cmp::Ordering::Equal));
        // Those that may decide: up to the first that certainly applies and comes before all others.
        let certain = applying.windows(2).position(|pair| match pair {
            [(first, Reach::Yes), (next, _)] => first.order() > next.order(),
            _ => false,
        });
        let deciding = certain.map_or(applying.as_slice(), |at| applying.get(..=at).unwrap_or_default());
        let mut found: Vec<(Shows, String, bool)> = deciding
            .iter()
            .map(|(policy, _)| {
                let unset = Field::Absent;
                let value = policy.setting.value().map_or(&unset, |setting| &setting.value);
                let shows = match value {
                    Field::Null => Shows::Open(&VALUE_NOT_VISIBLE, "no value reported".to_string()),
                    Field::Absent => (self.value)(&PolicyValue::default(), at, settings),
                    Field::Value(value) => (self.value)(value, at, settings),
                };
                let shows = match shows {
                    // What the provider set is its default.
                    Shows::Failed(_, words) if policy.is_system() && self.has_default => {
                        Shows::Failed(&DEFAULT_VALUE, words)
                    }
                    other => other,
                };
                (shows, places.name(policy), places.is_override(policy))
            })
            .collect();
        if deciding.iter().all(|(_, reach)| *reach != Reach::Yes) {
            let shows = (self.value)(&PolicyValue::default(), at, settings);
            found.push((shows, "the provider's default".to_string(), false));
        }
        let is_certain = users.certain && (!self.administrators || users.is_admin.value().is_some());
        tally.add((users.users, is_certain), found, self.overridden);
    }
}

impl Tally {
    fn total(&self) -> u64 {
        self.failed.values().chain(self.open.values()).sum::<u64>().saturating_add(self.good)
    }

    /// Adds users for whom one of these decides.
    fn add(
        &mut self,
        (users, is_certain): (u64, bool),
        found: Vec<(Shows, String, bool)>,
        overridden: Option<&'static Reason>,
    ) {
        let good = found.iter().filter(|(shows, ..)| matches!(shows, Shows::Good(_))).count();
        if good == found.len() {
            self.good = self.good.saturating_add(users);
            return;
        }
        let fails = found.iter().filter(|(shows, ..)| matches!(shows, Shows::Failed(..))).count();
        let all_fail = fails == found.len();
        let opens = found.iter().find_map(|(shows, ..)| match shows {
            Shows::Open(reason, _) => Some(*reason),
            _ => None,
        });
        let open = match (all_fail, is_certain) {
            (true, true) => None,
            (true, false) => Some(&SUSPENDED_NOT_VISIBLE),
            (false, _) => Some(opens.unwrap_or(&POLICY_REACH_UNKNOWN)),
        };
        let place = found
            .iter()
            .map(|(Shows::Good(words) | Shows::Failed(_, words) | Shows::Open(_, words), place, _)| {
                format!("{}: {words}", single_line(place))
            })
            .collect::<Vec<_>>()
            .join(" or ");
        let list = if open.is_some() { &mut self.open } else { &mut self.failed };
        let count = list.entry(place).or_default();
        *count = count.saturating_add(users);
        if let Some(reason) = open {
            self.opens = self.opens.or(Some(reason));
        } else if let Some((Shows::Failed(reason, _), _, is_override)) = found.first() {
            let reason = overridden.filter(|_| *is_override).unwrap_or(reason);
            let known = self.fails.filter(|(of_override, _)| !of_override || *is_override);
            self.fails = known.or(Some((*is_override, reason)));
        }
    }
}

/// The first few places, with their users.
fn named(places: &BTreeMap<String, u64>) -> String {
    let shown: Vec<String> = places
        .iter()
        .take(NAMED)
        .map(|(place, users)| format!("{place} ({})", counted(*users, "user", "users")))
        .collect();
    match places.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), saturating_u64(more)),
    }
}

#[cfg(test)]
mod tests;
