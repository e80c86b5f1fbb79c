//! Filters of rows.

use std::collections::BTreeSet;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Member};
use evidence_bundle::read::ControlHead;

use evidence_text::glob_matches as matches;

/// A filter of checks: an empty list matches all, several entries match any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckFilter {
    /// The statuses.
    pub statuses: Vec<Status>,
    /// The identifiers of controls; case is ignored.
    pub controls: Vec<String>,
    /// Criteria under which evidence is commonly filed, or controls; case is ignored.
    pub criteria: Vec<String>,
    /// The codes of rules; case is ignored.
    pub rules: Vec<String>,
    /// The names of sources; case is ignored.
    pub sources: Vec<String>,
    /// Subjects, where `*` matches any characters and `?` one; case is ignored.
    pub subjects: Vec<String>,
}

impl CheckFilter {
    /// Whether checks of the control with this identifier can match.
    pub fn has_control(&self, id: &str) -> bool {
        is_any(&self.controls, id)
    }

    /// Whether this check of this control matches.
    pub fn takes(&self, control: &ControlHead, check: &Check) -> bool {
        self.has_status(check.status) && self.takes_but_status(control, check)
    }

    /// Whether this check of this control matches, whatever its status.
    pub fn takes_but_status(&self, control: &ControlHead, check: &Check) -> bool {
        let criteria = control.criteria(&check.rule);
        let filed = criteria.iter().chain([&control.id]).any(|id| is_any(&self.criteria, id));
        filed && self.has_control(&control.id) && self.matches_but_status(check)
    }

    fn has_status(&self, status: Status) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    /// The first name in the filter that a bundle with these controls and sources does not have.
    pub fn unknown(&self, controls: &[ControlHead], sources: &[String]) -> Option<UnknownName> {
        let ids: BTreeSet<&str> = controls.iter().map(|control| control.id.as_str()).collect();
        let filed = controls.iter().flat_map(|control| control.criteria.values().flatten());
        let filed: BTreeSet<&str> = filed.map(String::as_str).collect();
        let criteria = ids.union(&filed).copied().collect();
        let rules = controls.iter().flat_map(|control| control.criteria.keys()).map(String::as_str).collect();
        let sources = sources.iter().map(String::as_str).collect();
        let mut unknown = [
            ("control", &self.controls, ids),
            ("criterion", &self.criteria, criteria),
            ("rule", &self.rules, rules),
            ("source", &self.sources, sources),
        ]
        .into_iter()
        .find_map(|(what, names, known)| UnknownName::of(what, names, &known))?;
        unknown.is_criterion = filed.iter().any(|id| id.eq_ignore_ascii_case(&unknown.name));
        Some(unknown)
    }

    pub(crate) fn matches_but_status(&self, check: &Check) -> bool {
        is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && has_form(&self.subjects, &check.subject)
    }
}

/// A name in a filter that the bundle does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// What it should be: `control`, `criterion`, `rule` or `source`.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The names that the bundle has, not sanitized.
    pub known: Vec<String>,
    /// Whether it is a criterion of the bundle.
    pub is_criterion: bool,
}

impl UnknownName {
    fn of(what: &'static str, names: &[String], known: &BTreeSet<&str>) -> Option<UnknownName> {
        let is_known = |name: &&String| known.iter().any(|known| known.eq_ignore_ascii_case(name));
        let name = names.iter().find(|name| !is_known(name))?.clone();
        let known = known.iter().map(|known| (*known).to_owned()).collect();
        Some(UnknownName { what, name, known, is_criterion: false })
    }
}

/// A filter of members of the population: an empty list matches all, several entries match any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// The names of sources; case is ignored.
    pub sources: Vec<String>,
    /// Kinds, such as `repository`; case is ignored.
    pub kinds: Vec<String>,
    /// Names, where `*` matches any characters and `?` one; case is ignored.
    pub names: Vec<String>,
    /// Only members in scope.
    pub in_scope: bool,
}

impl MemberFilter {
    /// Whether this member matches.
    pub fn matches(&self, member: &Member) -> bool {
        is_any(&self.sources, &member.source)
            && is_any(&self.kinds, &member.kind)
            && has_form(&self.names, &member.name)
            && (member.in_scope || !self.in_scope)
    }

    /// Whether an entry of this source with this name matches, where neither kind nor scope is known.
    pub(crate) fn matches_name(&self, source: &str, name: &str) -> bool {
        is_any(&self.sources, source) && has_form(&self.names, name)
    }
}

fn has_form(globs: &[String], text: &str) -> bool {
    globs.is_empty() || globs.iter().any(|glob| matches(glob, text))
}

fn is_any(wanted: &[String], text: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn control(id: &str, rules: &[(&str, &str)]) -> ControlHead {
        let criteria =
            rules.iter().map(|(rule, criterion)| ((*rule).to_owned(), vec![(*criterion).to_owned()]));
        ControlHead {
            id: id.to_owned(),
            title: String::new(),
            status: Status::Pass,
            reason: "ok".to_owned(),
            criteria: criteria.collect::<BTreeMap<_, _>>(),
            expected: BTreeMap::new(),
        }
    }

    fn check(rule: &str) -> Check {
        Check {
            rule: rule.to_owned(),
            source: "codehost".to_owned(),
            subject: "acme/web".to_owned(),
            status: Status::Pass,
            reason: "ok".to_owned(),
            expected: None,
            actual: None,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn criteria_and_controls_in_any_case() {
        let control = control("CC7.2", &[("branch-protection", "CC8.1"), ("audit-trail", "CC7.2")]);
        let of = |criteria: &[&str]| CheckFilter {
            criteria: criteria.iter().map(|text| (*text).to_owned()).collect(),
            ..CheckFilter::default()
        };
        for (criteria, branch, trail) in [
            (&[][..], true, true),
            (&["cc8.1"], true, false),
            (&["CC7.2"], true, true),
            (&["CC6.1"], false, false),
            (&["CC6.1", "CC8.1"], true, false),
        ] {
            let found =
                ["branch-protection", "audit-trail"].map(|rule| of(criteria).takes(&control, &check(rule)));
            assert_eq!(found, [branch, trail], "{criteria:?}");
        }
    }

    #[test]
    fn an_unknown_name_comes_with_the_known_ones() {
        let controls = [control("CC7.2", &[("branch-protection", "CC8.1")]), control("CC6.1", &[])];
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let unknown = |filter: CheckFilter| {
            let unknown = filter.unknown(&controls, &list(&["codehost"]))?;
            Some((unknown.what, unknown.name, unknown.known.join(" "), unknown.is_criterion))
        };
        let none = CheckFilter::default;
        let expect = |what, name: &str, known: &str, is_criterion| {
            Some((what, name.to_owned(), known.to_owned(), is_criterion))
        };
        for (filter, expected) in [
            (none(), None),
            (CheckFilter { controls: list(&["cc6.1", "CC7.2"]), ..none() }, None),
            (CheckFilter { criteria: list(&["cc8.1", "cc6.1"]), ..none() }, None),
            (CheckFilter { rules: list(&["Branch-Protection"]), ..none() }, None),
            (CheckFilter { sources: list(&["CODEHOST"]), subjects: list(&["none"]), ..none() }, None),
            (
                CheckFilter { controls: list(&["CC6.1", "CC8.1"]), ..none() },
                expect("control", "CC8.1", "CC6.1 CC7.2", true),
            ),
            (
                CheckFilter { criteria: list(&["CC9.9"]), ..none() },
                expect("criterion", "CC9.9", "CC6.1 CC7.2 CC8.1", false),
            ),
            (CheckFilter { rules: list(&[""]), ..none() }, expect("rule", "", "branch-protection", false)),
            (
                CheckFilter { sources: list(&["cloud"]), ..none() },
                expect("source", "cloud", "codehost", false),
            ),
        ] {
            assert_eq!(unknown(filter), expected);
        }
    }
}
