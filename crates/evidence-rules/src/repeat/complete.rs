//! What is left at the end: rules that are not known here, and whether every member of the population has its checks.

use std::collections::{BTreeMap, HashMap};

use evidence_bundle::path::{NORMALIZED, SCOPE};
use evidence_bundle::read::Judgement;
use evidence_bundle::{Expectations, Failure, Reason as Refusal, VerifiedBundle, VerifyError};

use super::state::{NAMED, Repetition, source_number};
use crate::rule_of;

impl Repetition {
    /// The verified bundle with its judgement.
    ///
    /// # Errors
    /// Fails if a check does not follow from the facts, is missing, or is not one that the rules give.
    pub(super) fn complete(
        self,
        mut bundle: VerifiedBundle,
        expectations: &Expectations,
    ) -> Result<VerifiedBundle, Failure> {
        let judgement = self.finish(&bundle.tool_version)?;
        if expectations.judgement && !judgement.is_complete() {
            let Judgement { checks, repeated, not_repeated } = &judgement;
            let rules: Vec<String> =
                not_repeated.keys().map(|(rule, version)| format!("{rule} version {version}")).collect();
            let detail = format!(
                "{repeated} of {checks} checks were judged again; unknown here: {}",
                rules.join(", ")
            );
            return Err(VerifyError::at(Refusal::JudgementNotRepeated, SCOPE, detail).into());
        }
        bundle.judgement = Some(judgement);
        Ok(bundle)
    }

    /// Judges what is left and counts. `tool_version` is the version that made the bundle.
    ///
    /// # Errors
    /// Fails if a check does not follow from the facts, is missing, or is not one that the rules give.
    pub fn finish(mut self, tool_version: &str) -> Result<Judgement, VerifyError> {
        self.judge_the_rest();
        for rule in self.rules.clone() {
            let Some(version) = self.unknown(&rule.code) else { continue };
            if tool_version == env!("CARGO_PKG_VERSION") {
                let detail = format!("version {tool_version} has no rule {} in version {version}", rule.code);
                self.problem(Refusal::JudgementDiffers, detail);
            }
            let left = self.checks.take_rule(&rule.code);
            if left > 0 {
                self.judgement.not_repeated.insert((rule.code, version), left);
            }
        }
        self.members_have_checks();
        for left in self.checks.left(NAMED) {
            self.problem(Refusal::ChecksIncomplete, format!("{left} does not follow from any observation"));
        }
        let Some((reason, _)) = self.problems.first() else { return Ok(self.judgement) };
        let reason = *reason;
        let mut details: Vec<String> = self.problems.into_iter().map(|(_, detail)| detail).collect();
        if self.truncated {
            details.push("and more".to_owned());
        }
        Err(VerifyError::at(reason, NORMALIZED, details.join("; ")))
    }

    /// Every member in scope has exactly one check of each rule about its kind, and no check has another subject.
    fn members_have_checks(&mut self) {
        let mut problems = Vec::new();
        // Names that were redacted can be the same.
        let mut named: HashMap<(usize, &str), BTreeMap<&str, u64>> = HashMap::new();
        for member in &self.members {
            let names = named.entry((member.source, member.kind)).or_default();
            *names.entry(&member.name).or_default() += 1;
        }
        let none = BTreeMap::new();
        for rule in &self.rules {
            let Some(known) = rule_of(&rule.code) else { continue };
            let Some(source) = source_number(&rule.source).filter(|_| self.unknown(&rule.code).is_none())
            else {
                continue;
            };
            let organization = self.organizations.get(&rule.source).map(String::as_str);
            let counts = self.checks.subjects_of(known);
            let members = named.get(&(source, known.kind)).unwrap_or(&none);
            if !matches!(known.kind, "organization" | "directory") {
                for (name, times) in members {
                    match counts.get(name).copied().unwrap_or(0) {
                        count if count == *times => {}
                        // Of an account of which no region could be read, each region has a check.
                        0 if known.kind == "account"
                            && counts.keys().any(|subject| is_within(subject, name)) => {}
                        0 => problems.push(format!("{} of {name} is missing", rule.code)),
                        count => problems.push(format!("{} of {name} is there {count} times", rule.code)),
                    }
                }
            } else if counts.is_empty() {
                problems.push(format!("{} of {} is missing", rule.code, organization.unwrap_or_default()));
            }
            if known.kind == "repository" {
                let is_known = |subject: &str| Some(subject) == organization || members.contains_key(subject);
                let other = counts.keys().find(|subject| !is_known(subject));
                problems
                    .extend(other.map(|subject| {
                        format!("{} of {subject}, which is not in the population", rule.code)
                    }));
            }
            if problems.len() > NAMED {
                break;
            }
        }
        problems.into_iter().for_each(|detail| self.problem(Refusal::ChecksIncomplete, detail));
    }
}

/// Whether a subject is a part of an account.
fn is_within(subject: &str, account: &str) -> bool {
    subject.strip_prefix(account).is_some_and(|rest| rest.starts_with('/'))
}
