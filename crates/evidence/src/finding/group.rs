//! Puts the checks that did not pass into groups.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use evidence_bundle::document::Status;

use super::{Finding, FindingKey, SUBJECTS_NAMED, WorstFirst};
use crate::address::Addresses;
use crate::collection::Collection;
use crate::hint;
use crate::source::place::Remedy;
use evidence_rules::framework::Control;
use evidence_rules::rule::{Settings, reason};

/// Collects the groups.
#[derive(Debug, Default)]
pub struct Findings {
    /// Where the pages are.
    pub addresses: Addresses,
    /// The numbers that the rules judged by.
    pub settings: Settings,
    /// The advice of the signed hints, by rule and reason: it has the numbers that the rules judged by.
    pub signed: HashMap<(String, String), String>,
    places: HashMap<FindingKey, usize>,
    groups: Vec<Finding>,
}

impl Findings {
    /// Groups over the pages at these addresses.
    pub fn new(addresses: Addresses) -> Findings {
        Findings { addresses, ..Findings::default() }
    }

    /// The groups of a run's checks under these controls.
    pub fn of(controls: &[&'static Control], collection: &Collection, settings: &Settings) -> WorstFirst {
        let sources = collection.sources.iter().map(|source| (source.name.clone(), source.api_url.clone()));
        let mut findings = Findings::new(sources.collect());
        findings.settings = settings.clone();
        for check in &collection.checks {
            let Some(control) = controls.iter().find(|control| control.uses(check.rule)) else {
                continue;
            };
            let key = FindingKey {
                control: control.id.to_string(),
                source: check.source.id().to_string(),
                rule: check.rule.code.to_string(),
                status: check.verdict.status,
                reason: check.verdict.reason.code.to_string(),
            };
            findings.add(key, &check.subject);
        }
        findings.worst_first()
    }

    /// What to do about the checks of a rule that did not pass for this reason; empty for the codes of another version.
    pub fn advice(&self, rule: &str, reason: &str) -> Cow<'static, str> {
        if let Some(signed) = self.signed.get(&(rule.to_string(), reason.to_string())) {
            return Cow::Owned(signed.clone());
        }
        let advice = hint::by_code(rule, reason).zip(evidence_rules::rule_of(rule));
        advice.map_or(Cow::Borrowed(""), |(advice, rule)| {
            evidence_rules::advice_text(&self.settings, rule, advice.remediation)
        })
    }

    /// Adds a check, unless it passed or does not apply.
    pub fn add(&mut self, key: FindingKey, subject: &str) {
        match key.status {
            Status::Fail | Status::NotVerifiable => {}
            Status::Pass | Status::NotApplicable => return,
        }
        if let Some(group) = self.places.get(&key).and_then(|place| self.groups.get_mut(*place)) {
            group.count = group.count.saturating_add(1);
            if group.subjects.len() < SUBJECTS_NAMED {
                group.subjects.push(subject.to_string());
            }
            return;
        }
        let advice = hint::by_code(&key.rule, &key.reason);
        self.places.insert(key.clone(), self.groups.len());
        self.groups.push(Finding {
            severity: advice.map(|advice| advice.severity),
            remediation: self.advice(&key.rule, &key.reason),
            // Of a source without a connection, no setting is the cause.
            page: (key.reason != reason::CONNECTION_FAILED.code)
                .then(|| self.addresses.page(&key.source, &key.rule, subject))
                .flatten(),
            count: 1,
            subjects: vec![subject.to_string()],
            key,
        });
    }

    /// The groups, the most severe first.
    pub fn worst_first(mut self) -> WorstFirst {
        self.groups.sort_by(|a, b| order(a).cmp(&order(b)));
        WorstFirst { remedies: remedies(&self.addresses, &self.groups), groups: self.groups }
    }
}

/// The most severe orders first; unknown codes come last.
fn order(group: &Finding) -> impl Ord + '_ {
    let FindingKey { control, source, rule, status, reason } = &group.key;
    let urgency = (group.severity.is_none(), group.severity, *status == Status::NotVerifiable);
    (urgency, Reverse(group.count), (control, source, rule, reason))
}

/// The changes that each repair more than one check, with the number of checks.
fn remedies(addresses: &Addresses, groups: &[Finding]) -> Vec<(Remedy, u64)> {
    let mut remedies: Vec<(Remedy, u64)> = Vec::new();
    for Finding { key, count, subjects, .. } in groups.iter().filter(|group| group.key.status == Status::Fail)
    {
        let first = subjects.first().map_or("", String::as_str);
        let Some(remedy) = addresses.remedy(&key.source, &key.rule, &key.reason, first) else { continue };
        match remedies.iter_mut().find(|(known, _)| *known == remedy) {
            Some((_, checks)) => *checks = checks.saturating_add(*count),
            None => remedies.push((remedy, *count)),
        }
    }
    remedies.retain(|(_, checks)| *checks > 1);
    remedies
}

#[cfg(test)]
mod tests {
    use evidence_bundle::document::Severity;

    use super::*;

    fn key(control: &str, rule: &str, status: Status, reason: &str) -> FindingKey {
        let source = "codehost".to_string();
        FindingKey {
            control: control.to_string(),
            source,
            rule: rule.to_string(),
            status,
            reason: reason.to_string(),
        }
    }

    fn findings(checks: &[(FindingKey, String)]) -> WorstFirst {
        let api = ("codehost".to_string(), "https://api.github.com".to_string());
        let mut findings = Findings::new([api].into_iter().collect());
        checks.iter().for_each(|(key, subject)| findings.add(key.clone(), subject));
        findings.worst_first()
    }

    #[test]
    fn groups_keep_a_count_and_the_first_subjects_and_the_worst_comes_first() {
        let branch = |status, reason| key("CC7.2", "branch-protection", status, reason);
        let mut checks = vec![
            (branch(Status::NotVerifiable, "made_up"), "acme/x".to_string()),
            (branch(Status::Pass, "ok"), "acme/c".to_string()),
            (branch(Status::NotApplicable, "archived"), "acme/d".to_string()),
            (branch(Status::NotVerifiable, "permission_denied"), "acme/b".to_string()),
            (branch(Status::Fail, "admins_not_enforced"), "acme/a".to_string()),
        ];
        checks.extend((0..7).map(|n| (branch(Status::Fail, "branch_unprotected"), format!("acme/r{n}"))));
        let two_factor = key("CC6.1", "two-factor-required", Status::Fail, "two_factor_disabled");
        checks.push((two_factor, "acme".to_string()));
        let WorstFirst { groups, remedies } = findings(&checks);
        let rows: Vec<_> = groups
            .iter()
            .map(|group| (&*group.key.reason, group.severity, group.count, group.unnamed()))
            .collect();
        assert_eq!(
            rows,
            [
                ("two_factor_disabled", Some(Severity::Critical), 1, 0),
                ("branch_unprotected", Some(Severity::High), 7, 2),
                ("admins_not_enforced", Some(Severity::Medium), 1, 0),
                ("permission_denied", Some(Severity::Medium), 1, 0),
                ("made_up", None, 1, 0),
            ]
        );
        let pages: Vec<_> = groups.iter().map(|group| group.page.as_deref().unwrap_or("none")).collect();
        assert_eq!(pages[0], "https://github.com/organizations/acme/settings/security");
        assert_eq!(pages[1], "https://github.com/acme/r0/settings/branches");
        // The advice about a missing permission is the rule's.
        assert!(groups[3].remediation.contains("Administration: read"), "{}", groups[3].remediation);
        assert_eq!(groups[4].remediation, "");
        // One cause of several rules is one group, with each subject once.
        let lost =
            |rule, control| (key(control, rule, Status::NotVerifiable, "host_error"), "acme/x".to_string());
        let found = findings(&[lost("branch-protection", "CC7.2"), lost("codeowners-default-rule", "CC6.6")]);
        let causes = found.by_cause();
        assert_eq!((found.groups.len(), causes.len()), (2, 1));
        assert_eq!(
            (&*causes[0].key.control, causes[0].count, causes[0].subjects.len()),
            ("CC6.6 CC7.2", 2, 1)
        );
        // One ruleset repairs both kinds of failures.
        let counts: Vec<_> = remedies.iter().map(|(remedy, checks)| (remedy.title, *checks)).collect();
        assert_eq!(counts, [("One organization ruleset", 8)]);
        assert!(findings(&checks[..1]).remedies.is_empty());
        assert!(findings(&checks[5..6]).remedies.is_empty(), "one check needs no ruleset");
    }
}
