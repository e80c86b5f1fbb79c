//! What is left at the end: rules that are not known here, and whether every member of the population has its checks.

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
        let name = |subject| self.subjects.get(subject).map_or("", |subject| &*subject.name);
        let left = self.checks.left(NAMED).map(|(rule, subject)| (rule, name(subject)));
        let unfounded =
            left.map(|(rule, subject)| format!("{rule} of {subject} does not follow from any observation"));
        for detail in unfounded.collect::<Vec<_>>() {
            self.problem(Refusal::ChecksIncomplete, detail);
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
        for rule in &self.rules {
            let Some(known) = rule_of(&rule.code) else { continue };
            let Some(source) = source_number(&rule.source).filter(|_| self.unknown(&rule.code).is_none())
            else {
                continue;
            };
            let organization = self.organizations.get(&rule.source).map(String::as_str);
            let members = self.members.iter().filter(|one| (one.source, one.kind) == (source, known.kind));
            // Names that were redacted can be the same.
            let members = self.subjects.count(members.map(|member| member.subject));
            let checks = self.subjects.count(self.checks.subjects_of(known));
            let each = || {
                let counts = members.iter().copied().zip(checks.iter().copied());
                self.subjects.names().zip(counts)
            };
            if !matches!(known.kind, "organization" | "directory") {
                for (name, (times, count)) in each().filter(|(_, (times, count))| times != count) {
                    match count {
                        _ if times == 0 => {}
                        // Of an account of which no region could be read, each region has a check.
                        0 if known.kind == "account"
                            && each().any(|(part, (_, checks))| checks > 0 && is_within(part, name)) => {}
                        0 => problems.push(format!("{} of {name} is missing", rule.code)),
                        count => problems.push(format!("{} of {name} is there {count} times", rule.code)),
                    }
                }
            } else if checks.iter().all(|count| *count == 0) {
                problems.push(format!("{} of {} is missing", rule.code, organization.unwrap_or_default()));
            }
            if known.kind == "repository" {
                let is_other = |name: &str, (members, checks): (u32, u32)| {
                    members == 0 && checks > 0 && Some(name) != organization
                };
                let other = each().find(|(name, counts)| is_other(name, *counts));
                problems.extend(
                    other.map(|(name, _)| format!("{} of {name}, which is not in the population", rule.code)),
                );
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
