//! Judges the code host's observations again.

use std::collections::{BTreeMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use evidence_bundle::document::Outcome;
use serde_json::Value;

use super::facts::Artifact;
use super::group::{JudgeContext, Judged, Row};
use crate::codehost::artifact::{
    BRANCH_RULES, CODEOWNERS, CODEOWNERS_ERRORS, ORGANIZATION_SETTINGS, PROTECTION, RULESET, SECURITY,
};
use crate::codehost::branch_protection::{
    self, BranchFacts, Classic, RULESET_ID, Rules, Unread, branch_of, wants_rules,
};
use crate::codehost::codeowners::{CodeOwners, OwnersFacts};
use crate::codehost::reason::{ARCHIVED, EMPTY_REPOSITORY, REPOSITORY_DISABLED};
use crate::codehost::security::SecurityFacts;
use crate::codehost::{OF_BRANCH, OF_ORGANIZATION, OF_OWNERS, OF_SECURITY, default_owners};
use crate::inspection::Judgement;
use crate::rule::{Reason, Verdict, reason};

/// The branch that is checked if the configuration names none.
const FALLBACK_BRANCH: &str = "main";

/// The setting for each repository's own default branch.
const DEFAULT_BRANCH: &str = "~DEFAULT_BRANCH";

/// What follows from the rows of one group; `None` if a row that must be there is not.
pub(super) fn judged(rows: &[Row], around: JudgeContext<'_>) -> Option<Judged> {
    let first = rows.first()?;
    if *first.kind == ORGANIZATION_SETTINGS {
        let judgements = match &first.artifact {
            Some(Artifact::Organization(facts)) => first.judged_by(OF_ORGANIZATION, &**facts, around.rules),
            _ if first.outcome == Outcome::Excluded => {
                let unknown = || Verdict::unknown(&reason::EXCLUDED_BY_POLICY, "");
                OF_ORGANIZATION.iter().map(|judge| first.judged(judge.rule, unknown())).collect()
            }
            _ => Vec::new(),
        };
        return Some(Judged { judgements, exempt: None });
    }
    let exempt = exempt(first, around);
    let judgements = if !first.subject.contains('/') || exempt == Some(&REPOSITORY_DISABLED) {
        // Not of a repository, or of one whose contents nobody can read.
        Vec::new()
    } else if *first.kind == PROTECTION {
        first.judged_by(OF_BRANCH, &branch(rows, around)?, around.rules)
    } else if let Some(Artifact::Security(record)) = &first.artifact {
        let facts = SecurityFacts { record: (**record).clone(), unread: rows.len() > 1 };
        first.judged_by(OF_SECURITY, &facts, around.rules)
    } else if *first.kind == SECURITY && first.outcome == Outcome::Excluded {
        let unknown = || Verdict::unknown(&reason::EXCLUDED_BY_POLICY, "");
        OF_SECURITY.iter().map(|judge| first.judged(judge.rule, unknown())).collect()
    } else if *first.kind == CODEOWNERS {
        owners(rows, around)?
    } else {
        Vec::new()
    };
    Some(Judged { judgements, exempt })
}

/// Why no rule applies to the repository, if none does.
fn exempt(row: &Row, around: JudgeContext<'_>) -> Option<&'static Reason> {
    match row.reason {
        Some(reason) if *reason == REPOSITORY_DISABLED => Some(&REPOSITORY_DISABLED),
        _ if around.archived => Some(&ARCHIVED),
        _ => None,
    }
}

/// The facts about the protection of a branch.
fn branch(rows: &[Row], around: JudgeContext<'_>) -> Option<BranchFacts> {
    let (first, others) = rows.split_first()?;
    let setting = match around.settings.get("branch") {
        None | Some(Value::Null) => None,
        Some(Value::Object(branches)) => {
            let patterns =
                branches.iter().filter_map(|(pattern, branch)| Some((&**pattern, branch.as_str()?)));
            Some(branch_of(patterns, &first.subject)?)
        }
        Some(branch) => Some(branch.as_str()?),
    };
    let branch = match setting {
        None => FALLBACK_BRANCH,
        Some(DEFAULT_BRANCH) => around.default_branch.unwrap_or_default(),
        Some(name) => name,
    };
    let other_default = around.default_branch.filter(|default| setting.is_none() && *default != branch);
    let classic = match &first.artifact {
        Some(Artifact::Protection(protection)) => Classic::Shown(protection.clone()),
        _ => Classic::not_shown(first.shown()).unwrap_or(Classic::Empty),
    };
    let mut facts = BranchFacts {
        branch: branch.to_string(),
        other_default: other_default.map(str::to_string),
        classic,
        state: None,
        rules: Rules::NotAsked,
        rulesets: BTreeMap::new(),
        viewer: branch_protection::Viewer::default(),
    };
    facts.add_beside_artifacts(&first.facts);
    for row in others {
        match (&row.artifact, Unread::of(row.shown())) {
            (Some(Artifact::BranchRules(record)), _) => facts.rules = Rules::Shown(record.rules.clone()),
            (Some(Artifact::Branch(state)), _) => facts.state = Some((**state).clone()),
            (Some(Artifact::Ruleset(ruleset)), _) => {
                facts.rulesets.insert(*ruleset.id.value()?, Ok((**ruleset).clone()));
            }
            (_, Some(unread)) if *row.kind == RULESET => {
                facts.rulesets.insert(row.facts.get(RULESET_ID)?.as_u64()?, Err(unread));
            }
            (_, Some(unread)) if *row.kind == BRANCH_RULES => facts.rules = Rules::Unread(unread),
            // A branch that was not read says nothing; an excluded artifact decides by itself.
            _ => {}
        }
    }
    let not_asked = matches!(facts.rules, Rules::NotAsked);
    if around.only_read && not_asked && !around.archived && wants_rules(&facts, around.rules) {
        let detail = "the rulesets were not read, because the signed settings did not need them";
        facts.rules = Rules::Unread(Unread {
            reason: &reason::NO_EVIDENCE,
            detail: detail.to_string(),
            refused: false,
        });
    }
    Some(facts)
}

/// The verdicts on a CODEOWNERS file; none if there is no file, or if it was not read.
fn owners(rows: &[Row], around: JudgeContext<'_>) -> Option<Vec<Judgement>> {
    let (first, others) = rows.split_first()?;
    let all = |verdict: Verdict| -> Vec<Judgement> {
        OF_OWNERS.iter().map(|judge| first.judged(judge.rule, verdict.clone())).collect()
    };
    let file = match &first.artifact {
        Some(Artifact::Codeowners(file)) => file,
        _ if first.reason.is_some_and(|reason| *reason == EMPTY_REPOSITORY) => {
            return Some(all(Verdict::not_applicable(&EMPTY_REPOSITORY, &*first.detail)));
        }
        // What it held was judged, and then not used.
        _ if first.outcome == Outcome::Excluded => {
            return Some(all(Verdict::unknown(&reason::EXCLUDED_BY_POLICY, "")));
        }
        _ => return Some(Vec::new()),
    };
    let (organization, _) = first.subject.split_once('/')?;
    let mut facts = OwnersFacts {
        path: file.path.clone(),
        organization: organization.to_string(),
        owners: CodeOwners::parse(&BASE64.decode(&file.content).ok()?),
        unknown: HashSet::new(),
    };
    let judged = first.judged_by(OF_OWNERS, &facts, around.rules);
    let asks = around.settings.get("codeowners_errors").and_then(|asks| asks.as_bool()).unwrap_or_default();
    if !asks || !default_owners::passes(&judged) {
        return Some(judged);
    }
    let errors = others.iter().find(|row| *row.kind == CODEOWNERS_ERRORS)?;
    Some(match (&errors.artifact, Unread::of(errors.shown())) {
        (Some(Artifact::CodeownersErrors(record)), _) => {
            facts.unknown = default_owners::unknown_owners(&file.path, record);
            first.judged_by(OF_OWNERS, &facts, around.rules)
        }
        (_, Some(Unread { reason, detail, .. })) => all(Verdict::unknown(reason, detail)),
        (_, None) => judged,
    })
}
