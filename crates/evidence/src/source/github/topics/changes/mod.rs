//! The changes of a period to the checked branch of every repository: merged pull requests with their reviews, and what
//! reached the branch by another way. Beside each list stands the host's own total.

pub(crate) mod activity;
pub(crate) mod pulls;
pub(crate) mod reviews;
pub(crate) mod total;

use evidence_http::{Meta, recorded};
use evidence_text::saturating_u64;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use self::activity::Activity;
use self::pulls::PullRequest;
use self::total::{Window, window};
use crate::observation::{ArtifactKind, Inspection, Observation, Seen};
use crate::source::Source as _;
use crate::source::github::config::{Branch, FALLBACK_BRANCH};
use crate::source::github::host::Host;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use crate::source::github::topic::{Inspect, Look, Requests, Topic};
use evidence_rules::codehost::artifact::{BRANCH_ACTIVITY, CHANGES, MERGED_CHANGES};
use evidence_rules::codehost::changes::{Change, Changes, ChangesFacts};
use evidence_rules::codehost::{CHANGES_APPROVED, NO_DIRECT_PUSH, OF_CHANGES};
use evidence_rules::field::Field;
use evidence_rules::listed::of_changes;

/// The changes of a repository. Their reviews are counted with the total.
pub(crate) static TOPIC: Topic = Topic {
    name: "changes",
    kind: &CHANGES,
    asks_for_its_artifact: false,
    requests: |host| {
        let wanted = [&CHANGES_APPROVED, &NO_DIRECT_PUSH].into_iter().filter(|rule| host.config.wants(rule));
        let least = saturating_u64(wanted.count());
        Requests { least, most: least, usual: [100 * least; 3], in_bulk: None }
    },
    kept_as: || [None, None],
    inspect: Inspect::Repository(inspect),
};

fn inspect<'a>(host: &'a Host, look: Look<'a>) -> BoxFuture<'a, Inspection> {
    observe(host, look).boxed()
}

async fn observe(host: &Host, look: Look<'_>) -> Inspection {
    let Look { repository, details, .. } = look;
    let target = repository.target();
    let default = details.default_branch.as_deref();
    let (branch, other_default) = match (host.config.branch.of(&repository.subject), default) {
        (Branch::Unset | Branch::ByPattern(_), _) => {
            (FALLBACK_BRANCH, default.filter(|default| *default != FALLBACK_BRANCH))
        }
        (Branch::Named(name), _) => (name.as_str(), None),
        (Branch::Default, default) => (default.unwrap_or_default(), None),
    };
    let Window { from, to, total_to } = window(host);
    let stamp = |at: Timestamp| evidence_bundle::time::format(at.as_second()).unwrap_or_default();
    let mut facts = ChangesFacts {
        record: Changes {
            repository: repository.subject.to_string(),
            branch: branch.to_string(),
            from: stamp(from),
            to: stamp(to),
            total_to: stamp(total_to),
            ..Changes::default()
        },
        other_default: other_default.map(str::to_string),
        exempt: host.config.exempt_pushers.clone(),
        ..ChangesFacts::default()
    };
    let (mut requests, mut unread) = (Vec::new(), Vec::new());
    // Nothing changes in an archived repository, and another branch than the one that is used tells nothing.
    let asks = !details.archived && facts.other_default.is_none() && !branch.is_empty();
    let mut keep = |kind: &'static ArtifactKind, asked: Vec<_>, seen: Option<Seen>| match seen {
        None => requests.extend(asked),
        Some(seen) => unread.push(Observation { requests: asked, ..target.observation(kind, seen) }),
    };
    let mut merges = Vec::new();
    if asks && (host.config.wants(&NO_DIRECT_PUSH) || host.config.wants(&CHANGES_APPROVED)) {
        let (found, asked) = recorded(activity::read(&host.api(), target, branch, from, to)).await;
        match found {
            Ok(Activity { pushes, merged }) => {
                (facts.record.pushes, merges) = (Field::Value(pushes), merged);
                keep(&BRANCH_ACTIVITY, asked, None);
            }
            Err(seen) => {
                facts.pushes_unread = true;
                keep(&BRANCH_ACTIVITY, asked, Some(seen));
            }
        }
    }
    if asks && host.config.wants(&CHANGES_APPROVED) {
        let (found, asked) = recorded(changes(host, target, &mut facts.record, [from, to, total_to])).await;
        facts.changes_unread = found.is_err();
        keep(&MERGED_CHANGES, asked, found.err());
        facts.record.total = host.shared.merged_of(&repository.subject).map_or(Field::Absent, Field::Value);
    }
    if let Field::Value(changes) = &mut facts.record.changes {
        for change in changes {
            let merge = merges.iter().find(|(commit, _)| change.commit.as_ref() == Some(commit));
            change.merged_by = merge.and_then(|(_, actor)| actor.clone());
        }
    }
    let meta = Meta { status: 200, received_at: host.client.now(), ..Meta::default() };
    let seen = Seen::artifact(NAME, &target.artifact_name(CHANGES.name), &facts.record, None, &meta);
    let length = of_changes(&facts.record);
    let observation = Observation { requests, facts: length, ..target.observation(&CHANGES, seen) };
    let observations = std::iter::once(observation).chain(unread).collect();
    let settings = &host.config.rule_settings;
    Inspection::of(observations).judged_by(OF_CHANGES, &repository.subject, &facts, settings)
}

/// Reads the merged pull requests and their reviews.
async fn changes(
    host: &Host,
    target: RepositoryName<'_>,
    record: &mut Changes,
    [from, to, total_to]: [Timestamp; 3],
) -> Result<(), Seen> {
    let api = host.api();
    let pulls = pulls::read(&api, target, from).await?;
    let merged = |until: Timestamp| {
        let within = move |pull: &&PullRequest| pull.merged.is_some_and(|at| from <= at && at <= until);
        pulls.iter().filter(within)
    };
    record.listed = saturating_u64(merged(total_to).count());
    let mut changes = Vec::new();
    for pull in merged(to).filter(|pull| pull.base == record.branch) {
        changes.push(Change { reviews: reviews::read(&api, target, pull.number).await?, ..pull.change() });
    }
    changes.sort_by_key(|change| change.number);
    if changes.iter().any(evidence_rules::codehost::changes_approved::needs_dismissal) {
        record.stale_approvals_dismissed = reviews::dismissal(&api, target, &record.branch).await?;
    }
    record.changes = Field::Value(changes);
    Ok(())
}
