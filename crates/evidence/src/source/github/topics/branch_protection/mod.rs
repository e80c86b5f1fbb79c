//! The protection of a branch in every repository: its classic rule and the rulesets that apply to it.

pub(crate) mod branch;
mod bulk;
pub(crate) mod classic;
pub(crate) mod rules;
pub(crate) mod ruleset;

use std::collections::BTreeMap;
use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::bulk::Proved;
use self::classic::ClassicReading;
use crate::observation::{Inspection, Observation};
use crate::source::github::config::{Branch, FALLBACK_BRANCH};
use crate::source::github::host::bulk::query::BRANCH_PROTECTIONS;
use crate::source::github::host::{Host, refusal, with_requests};
use crate::source::github::subject::{RepositoryName, example};
use crate::source::github::topic::{InBulk, Inspect, Look, Requests, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_http::Meta;
use evidence_rules::codehost::OF_BRANCH;
use evidence_rules::codehost::artifact::{BRANCH_HISTORY, PROTECTION};
use evidence_rules::codehost::branch_protection::{
    BRANCH_MISSING, BRANCH_UNPROTECTED, BranchFacts, Classic, DEFAULT_BRANCH_DIFFERS, Rules, Unread, Viewer,
    is_of_organization, judge, next_ruleset, passes_alone, wants_branch, wants_rules,
};
use evidence_rules::codehost::record::{BranchProtection, BranchRule};
use evidence_rules::rule::{Settings, Verdict};

/// The protection of a branch.
pub(crate) static TOPIC: Topic = Topic {
    name: "branch protection",
    kind: &PROTECTION,
    asks_for_its_artifact: true,
    // The classic rule, a page of rules, and one ruleset; for a repository with neither the branch nor content, a check
    // whether it is empty. With kept answers, also the branch itself.
    // Usually one branch in ten is not protected enough by its classic rule, and half of these have none.
    requests: |host| {
        let keeps = u64::from(host.keeps_answers());
        // A query shows the classic rules that exist. What a resumed run takes over are the rules that pass by themselves,
        // and that there is none.
        let rest = 14 + 4 * keeps;
        let in_bulk = InBulk { kept_as: BRANCH_PROTECTIONS.kept_as(), usual: 13 + 4 * keeps, rest };
        let usual = [109 + 4 * keeps, 109, rest];
        Requests { least: 1, most: 3 + keeps, usual, in_bulk: Some(in_bulk) }
    },
    kept_as: || [classic::PROTECTION.kept_as(), branch::BRANCH.kept_as()],
    inspect: Inspect::Repository(inspect),
};

fn inspect<'a>(host: &'a Host, look: Look<'a>) -> BoxFuture<'a, Inspection> {
    observe(host, look).boxed()
}

async fn observe(host: &Host, look: Look<'_>) -> Inspection {
    if let Some(archived) = look.archived(&TOPIC) {
        return archived;
    }
    let subject = &look.repository.subject;
    host.shared.begin(subject);
    let (inspection, unseen) = read(host, look).await;
    host.shared.end(subject, unseen);
    inspection
}

/// Reads and judges the protection. Also returns whether every answer was "Not Found".
async fn read(host: &Host, look: Look<'_>) -> (Inspection, bool) {
    let Look { repository, details, number } = look;
    let target = repository.target();
    let default = details.default_branch.as_deref();
    let setting = host.config.branch.of(&repository.subject);
    let branch_name = match (setting, default) {
        (Branch::Unset | Branch::ByPattern(_), _) => FALLBACK_BRANCH,
        (Branch::Named(name), _) => name,
        (Branch::Default, Some(default)) => default,
        (Branch::Default, None) => return (classic::no_default_branch(target).into(), false),
    };
    // The host shows a branch to everyone, but its rule only to administrators. A token without that right must get
    // the same result as a run without kept records.
    let api = host.api();
    let branch_first = details.administered && classic::begins_with_branch(&api, target, branch_name);
    let asked = match in_bulk(host, look, branch_name).await {
        Some(Proved { classic, meta, asked }) => {
            let (observation, classic) = classic::shown(target, classic, &meta);
            let history = match &classic {
                Classic::Shown(protection) => classic::history_of(target, protection, &meta),
                Classic::Absent(_) | Classic::NoBranch(_) | Classic::Empty | Classic::Unread(_) => None,
            };
            let reading = ClassicReading { classic, may_be_missing: false, renamed: false, history };
            (Observation { requests: asked.to_vec(), ..observation }, reading)
        }
        None => {
            let reading = classic::ask(&api, target, branch_name, details.may_be_empty, branch_first);
            with_requests(Box::pin(reading)).await
        }
    };
    let (mut observation, ClassicReading { classic, may_be_missing, renamed, history }) = asked;
    observation.warnings.extend(host.bulk_warning());
    let differs = default.filter(|default| *default != branch_name);
    let mut facts = BranchFacts {
        branch: branch_name.to_string(),
        other_default: differs.filter(|_| *setting == Branch::Unset).map(str::to_string),
        classic,
        state: None,
        rules: Rules::NotAsked,
        rulesets: BTreeMap::new(),
        history: None,
        viewer: Viewer::default(),
    };
    let mut others = Vec::new();
    if let Some((seen, record)) = history.filter(|_| host.config.collects(&BRANCH_HISTORY)) {
        others.push(Observation { requests: observation.requests.clone(), ..seen });
        facts.history = Some(record);
    }
    let wanted = |rule| host.config.wants(rule);
    let settings = &host.config.rule_settings;
    if wants_rules(&facts, settings, wanted) {
        let (seen, found) = with_requests(rules::ask(&host.api(), target, branch_name, renamed)).await;
        facts.rules = found;
        others.push(seen);
    }
    let unseen = may_be_missing && others.iter().all(refusal::is_not_found);
    let mut is_gone = false;
    if unseen {
        let (gone, requests) = host.gone(repository, details).await;
        observation.requests.extend(requests);
        if let Some(gone) = gone {
            let gone = refusal::about(TOPIC.name, gone);
            let unread = Unread::of(gone.shown());
            for one in std::iter::once(&mut observation).chain(&mut others) {
                one.seen = gone.clone();
            }
            is_gone = true;
            facts.classic = unread.clone().map_or(facts.classic, Classic::Unread);
            facts.rules = unread.map_or(facts.rules, Rules::Unread);
        }
    }
    if wants_branch(&facts) {
        let (seen, state) = with_requests(branch::ask(&host.api(), target, branch_name)).await;
        facts.state = state;
        others.push(seen);
    }
    if next_ruleset(&facts, settings, wanted).is_some() {
        // The host shows this setting only to owners.
        let owns = host.organization.settings.two_factor_requirement_enabled.value().is_some();
        facts.viewer = Viewer { administers: details.administered, owns };
    }
    while let Some(id) = next_ruleset(&facts, settings, wanted) {
        let of_organization = facts.viewer.owns && !renamed && is_of_organization(&facts, id);
        let number = of_organization.then_some(number);
        let (seen, found) = with_requests(ruleset::ruleset(host, target, id, renamed, number)).await;
        facts.rulesets.insert(id, found);
        others.push(seen);
    }
    observation.facts = facts.beside_artifacts();
    let verdict = judge(&facts, settings);
    if !is_gone {
        observation.warnings.extend(warnings(target, &facts, differs, &verdict));
    }
    let observations = std::iter::once(observation).chain(others).collect();
    let inspection = Inspection::of(observations);
    (inspection.concluded_by(OF_BRANCH, &repository.subject, &facts, settings), unseen)
}

/// What a page of many repositories proves about the branch.
async fn in_bulk(host: &Host, look: Look<'_>, branch: &str) -> Option<Proved> {
    let target = look.repository.target();
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let url = classic::PROTECTION.url(&host.config.api_url, &parameters);
    let default = host.config.branch == Branch::Default;
    let page = host.bulk.as_ref()?.protection(look.repository, look.number, branch, default).await?;
    let taken_over = page.meta.received_at < host.env.started();
    let proved = bulk::proved(page, target, branch, url.as_str())?;
    // A conclusion from several answers needs all of them from the same run.
    let is_enough = !taken_over || passes_alone(&proved.classic, &host.config.rule_settings);
    is_enough.then_some(proved)
}

/// The warnings for the manifest: a missing or unprotected branch, or one that is not the default.
fn warnings(
    target: RepositoryName<'_>,
    facts: &BranchFacts,
    other_default: Option<&str>,
    verdict: &Verdict,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let (branch, code) = (&facts.branch, verdict.reason.code);
    if *verdict.reason == BRANCH_UNPROTECTED {
        let rulesets = match facts.rules {
            Rules::Shown(_) => ", and no ruleset protects it",
            Rules::Unread(_) if matches!(facts.classic, Classic::Unread(_)) => {
                ": the plan does not offer any"
            }
            Rules::NotAsked | Rules::Unread(_) => "",
        };
        warnings.push(target.warning(code, format!("branch {branch} has no branch protection{rulesets}")));
    }
    if *verdict.reason == BRANCH_MISSING {
        warnings.push(target.warning(code, format!("branch {branch} does not exist")));
    }
    // If this determines the verdict, the check reports it.
    if let Some(default) = other_default.filter(|_| *verdict.reason != DEFAULT_BRANCH_DIFFERS) {
        let text = format!("branch {branch} was checked, but the default branch is {default}");
        warnings.push(target.warning("default_branch_differs", text));
    }
    warnings
}

/// What a classic rule means on its own.
pub(crate) fn classic_offline(protection: BranchProtection) -> Vec<CollectionItem> {
    let (observation, classic) = classic::shown(example(), protection, &Meta::default());
    judged_offline(observation, BranchFacts { classic, ..BranchFacts::unprotected("main") })
}

/// What a page of rules means on its own. Assumes that there is no classic rule, and that no ruleset's bypass list was read.
pub(crate) fn rules_offline(found: Vec<BranchRule>) -> Vec<CollectionItem> {
    let (observation, rules) = rules::shown(example(), found, &Meta::default());
    judged_offline(observation, BranchFacts { rules, ..BranchFacts::unprotected("main") })
}

fn judged_offline(observation: Observation, facts: BranchFacts) -> Vec<CollectionItem> {
    let subject = Arc::clone(&observation.subject);
    let inspection =
        Inspection::from(observation).concluded_by(OF_BRANCH, &subject, &facts, &Settings::default());
    vec![CollectionItem::Inspected(inspection)]
}
