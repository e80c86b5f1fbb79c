//! The rules that rulesets of every level set for a branch.

use crate::json::Object;
use crate::observation::{Observation, Seen};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_source;
use crate::source::github::host::kept::json_bytes;
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Call, Keeping, Meta, ParseError, Subject};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{self, Rules, Unread};
use evidence_rules::codehost::record::{BranchRule, BranchRules};

/// A page of the rules from rulesets of every level for one branch.
pub(crate) static RULES: Call<Vec<BranchRule>> = Call {
    name: "/repos/{owner}/{repo}/rules/branches/{branch}?per_page=100",
    purpose: "`branch-protection`, `history-protected` and `stale-approvals-dismissed`: the rules of rulesets",
    times: "once per 100 rules for a repository whose classic protection does not pass each of the rules",
    kind: Some("branch rules"),
    media_type: JSON,
    // A hundred rules with long lists of checks; most answers are under 10 kB.
    limit: 4 * MIB,
    parse,
    subject: Some(Subject {
        fields: "`ruleset_source` of a repository or organization",
        other: |rules, about| {
            rules.iter().find_map(|rule| of_source(&rule.ruleset_source_type, &rule.ruleset_source, about))
        },
    }),
    keep: Some(Keeping { headers: &["link"], ..Keeping::new(7, json_bytes) }),
};

/// `GET /repos/{owner}/{repo}/rules/branches/{branch}`. Rules of types that are not judged lose their parameters.
fn parse(bytes: &[u8]) -> Result<Vec<BranchRule>, ParseError> {
    let rules: Vec<BranchRule> = Object::all(serde_json::from_slice(bytes)?);
    if rules.iter().any(|rule| rule.kind.value().is_none()) {
        return Err(ParseError::Shape("a rule without a type".to_string()));
    }
    Ok(rules.into_iter().map(branch_protection::reduced).collect())
}

/// Reads the rules of all rulesets for a branch. `renamed`: another answer has shown that this repository was renamed.
pub(super) async fn ask(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
    renamed: bool,
) -> (Observation, Rules) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let seen = match api.pages(&RULES, &parameters).await {
        Ok((_, meta)) if meta.redirected_to.is_some() && !renamed => refusal::redirected(target, &meta).0,
        Ok((rules, meta)) => return shown(target, rules, &meta),
        Err(problem) => refusal::unread("branch rules", target, problem),
    };
    let observation = target.observation(&artifact::BRANCH_RULES, seen);
    let rules = Unread::of(observation.seen.shown()).map_or(Rules::NotAsked, Rules::Unread);
    (observation, rules)
}

/// The rules from rulesets that the host returned.
pub(super) fn shown(target: RepositoryName<'_>, rules: Vec<BranchRule>, meta: &Meta) -> (Observation, Rules) {
    let name = target.artifact_name(artifact::BRANCH_RULES.name);
    let record = BranchRules { rules };
    let observation =
        target.observation(&artifact::BRANCH_RULES, Seen::artifact(NAME, &name, &record, None, meta));
    match Unread::of(observation.seen.shown()) {
        Some(unread) => (observation, Rules::Unread(unread)),
        None => (observation, Rules::Shown(record.rules)),
    }
}
