//! Judges the code host's observations again.

use std::collections::{BTreeMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use evidence_bundle::document::Outcome;
use serde_json::Value;

use super::facts::Artifact;
use super::group::{JudgeContext, Judged, Row};
use crate::age::read_judged_at;
use crate::codehost::artifact::{
    BRANCH_ACTIVITY, BRANCH_RULES, CHANGES, CODEOWNERS, CODEOWNERS_ERRORS, MERGED_CHANGES,
    ORGANIZATION_SETTINGS, PEOPLE, PROTECTION, RULESET, SECURITY,
};
use crate::codehost::branch_protection::{
    self, BranchFacts, Classic, RULESET_ID, Rules, Unread, branch_of, wants_rules,
};
use crate::codehost::changes::{Changes, ChangesFacts};
use crate::codehost::codeowners::{CodeOwners, OwnersFacts};
use crate::codehost::reason::{ARCHIVED, EMPTY_REPOSITORY, REPOSITORY_DISABLED};
use crate::codehost::security::SecurityFacts;
use crate::codehost::{
    OF_BRANCH, OF_CHANGES, OF_ORGANIZATION, OF_OWNERS, OF_PEOPLE, OF_SECURITY, default_owners,
};
use crate::inspection::{ArtifactKind, Judgement};
use crate::rule::{Judge, Reason, Verdict, reason};

/// The branch that is checked if the configuration names none.
const FALLBACK_BRANCH: &str = "main";

/// The setting for each repository's own default branch.
const DEFAULT_BRANCH: &str = "~DEFAULT_BRANCH";

/// What follows from the rows of one group; `None` if a row that must be there is not.
pub(super) fn judged(rows: &[Row], around: JudgeContext<'_>) -> Option<Judged> {
    let first = rows.first()?;
    if *first.kind == ORGANIZATION_SETTINGS {
        let facts = match &first.artifact {
            Some(Artifact::Organization(facts)) => Some(&**facts),
            _ => None,
        };
        return Some(of_organization(first, OF_ORGANIZATION, facts, around));
    }
    if *first.kind == PEOPLE {
        let facts = match &first.artifact {
            Some(Artifact::People(facts)) => Some(&**facts),
            _ => None,
        };
        return Some(of_organization(first, OF_PEOPLE, facts, around));
    }
    let exempt = exempt(first, around);
    let is_archived = first.reason == Some(&ARCHIVED);
    let judgements = if !first.subject.contains('/') || exempt == Some(&REPOSITORY_DISABLED) || is_archived {
        // Not of a repository, or of one whose contents nobody can read, or that was not asked.
        Vec::new()
    } else if *first.kind == PROTECTION {
        first.judged_by(OF_BRANCH, &branch(rows, around)?, around.rules)
    } else if let Some(Artifact::Security(record)) = &first.artifact {
        let facts = SecurityFacts {
            record: (**record).clone(),
            unread: rows.len() > 1,
            judged_at: read_judged_at(&first.facts),
        };
        first.judged_by(OF_SECURITY, &facts, around.rules)
    } else if let Some(Artifact::Changes(record)) = &first.artifact {
        first.judged_by(OF_CHANGES, &changes(rows, record, around), around.rules)
    } else if *first.kind == CHANGES && first.outcome == Outcome::Excluded {
        let unknown = || Verdict::unknown(&reason::EXCLUDED_BY_POLICY, "");
        OF_CHANGES.iter().map(|judge| first.judged(judge.rule, unknown())).collect()
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

/// What follows from an artifact about the organization.
fn of_organization<F>(
    row: &Row,
    judges: &'static [&'static Judge<F>],
    facts: Option<&F>,
    around: JudgeContext<'_>,
) -> Judged {
    let judgements = match facts {
        Some(facts) => row.judged_by(judges, facts, around.rules),
        None if row.outcome == Outcome::Excluded => {
            let unknown = || Verdict::unknown(&reason::EXCLUDED_BY_POLICY, "");
            judges.iter().map(|judge| row.judged(judge.rule, unknown())).collect()
        }
        None => Vec::new(),
    };
    Judged { judgements, exempt: None }
}

/// Why no rule applies to the repository, if none does.
fn exempt(row: &Row, around: JudgeContext<'_>) -> Option<&'static Reason> {
    match row.reason {
        Some(reason) if *reason == REPOSITORY_DISABLED => Some(&REPOSITORY_DISABLED),
        _ if around.archived => Some(&ARCHIVED),
        _ => None,
    }
}

/// The facts about the changes to a branch.
fn changes(rows: &[Row], record: &Changes, around: JudgeContext<'_>) -> ChangesFacts {
    let unread = |kind: &ArtifactKind| rows.iter().any(|row| *row.kind == *kind);
    let exempt = around.settings.get("exempt_pushers").and_then(|names| names.as_array());
    let (_, other_default) = branch_name(around, &record.repository);
    ChangesFacts {
        record: record.clone(),
        other_default: other_default.map(str::to_string),
        changes_unread: unread(&MERGED_CHANGES),
        pushes_unread: unread(&BRANCH_ACTIVITY),
        exempt: exempt.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_string)).collect(),
    }
}

/// The branch that was looked at; and the default branch, if none is configured and the default differs.
fn branch_name<'a>(around: JudgeContext<'a>, subject: &str) -> (&'a str, Option<&'a str>) {
    let setting = match around.settings.get("branch") {
        Some(Value::Object(branches)) => {
            let patterns =
                branches.iter().filter_map(|(pattern, branch)| Some((&**pattern, branch.as_str()?)));
            branch_of(patterns, subject)
        }
        setting => setting.and_then(|branch| branch.as_str()),
    };
    let branch = match setting {
        None => FALLBACK_BRANCH,
        Some(DEFAULT_BRANCH) => around.default_branch.unwrap_or_default(),
        Some(name) => name,
    };
    (branch, around.default_branch.filter(|default| setting.is_none() && *default != branch))
}

/// The facts about the protection of a branch.
fn branch(rows: &[Row], around: JudgeContext<'_>) -> Option<BranchFacts> {
    let (first, others) = rows.split_first()?;
    let (branch, other_default) = branch_name(around, &first.subject);
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
        history: None,
        viewer: branch_protection::Viewer::default(),
    };
    facts.add_beside_artifacts(&first.facts);
    for row in others {
        match (&row.artifact, Unread::of(row.shown())) {
            (Some(Artifact::BranchRules(record)), _) => facts.rules = Rules::Shown(record.rules.clone()),
            (Some(Artifact::History(history)), _) => facts.history = Some((**history).clone()),
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
    if around.only_read && not_asked && !around.archived && wants_rules(&facts, around.rules, |_| true) {
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
