//! What reached a branch, and by which way.

use evidence_http::Call;
use jiff::Timestamp;
use serde::Deserialize;

use crate::json::Object;
use crate::observation::Seen;
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::refusal;
use crate::source::github::subject::RepositoryName;
use evidence_rules::codehost::changes::Push;

/// The most pages of the activity: 100,000 entries.
const MOST_PAGES: u64 = 1_000;

/// A page of the activity of a branch, the newest first.
pub(crate) static ACTIVITY: Call<Vec<Entry>> = Call {
    name: "/repos/{owner}/{repo}/activity?ref={ref}&per_page=100",
    purpose: "`no-direct-push`; for `changes-approved`, who merged",
    times: "once per 100 entries of the branch since the beginning of the period; with `framework: tsc_2017`",
    kind: Some("activity"),
    media_type: JSON,
    limit: 4 * MIB,
    parse: |bytes| Ok(Object::all(serde_json::from_slice(bytes)?)),
    subject: None,
    keep: None,
};

/// An entry of the activity.
#[derive(Deserialize)]
pub(crate) struct Entry {
    #[serde(rename = "ref", default)]
    name: String,
    before: String,
    after: String,
    timestamp: String,
    activity_type: String,
    actor: Option<Object<Actor>>,
}

#[derive(Deserialize)]
struct Actor {
    login: String,
}

/// The activity of a period.
pub(super) struct Activity {
    /// What is no merge of a pull request.
    pub(super) pushes: Vec<Push>,
    /// The commit after each merge, and who merged.
    pub(super) merged: Vec<(String, Option<String>)>,
}

/// The way of a pull request, and what moves no commit to the branch.
const MERGES: [&str; 2] = ["pr_merge", "merge_queue_merge"];
const OTHERS: [&str; 2] = ["branch_creation", "branch_deletion"];

/// Reads the activity of the branch from `from` to `to`.
pub(super) async fn read(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<Activity, Seen> {
    let whole = format!("refs/heads/{branch}");
    let parameters = [("owner", target.owner), ("repo", target.name), ("ref", whole.as_str())];
    let at = |entry: &Entry| entry.timestamp.parse::<Timestamp>().ok();
    let goes_on = |page: &[Entry]| page.last().is_some_and(|last| at(last).is_none_or(|at| at >= from));
    let found = api.linked_pages(&ACTIVITY, &parameters, MOST_PAGES, goes_on).await;
    let (entries, meta) = found.map_err(|problem| refusal::unread("branch activity", target, problem))?;
    if meta.redirected_to.is_some() {
        // The answer names no repository, so that of another place proves nothing.
        return Err(refusal::redirected(target, &meta).0);
    }
    let (mut pushes, mut merged) = (Vec::new(), Vec::new());
    for entry in entries {
        let Some(time) = at(&entry) else {
            return Err(refusal::unusable(&meta, "branch activity: an entry without a time".to_string()));
        };
        if !entry.name.is_empty() && entry.name != whole {
            let text = format!("branch activity: an entry of another branch than {branch}");
            return Err(refusal::unusable(&meta, text));
        }
        let actor = entry.actor.map(|Object(actor)| actor.login);
        let kind = entry.activity_type.as_str();
        if MERGES.contains(&kind) {
            merged.push((entry.after, actor));
        } else if from <= time && time <= to && !OTHERS.contains(&kind) {
            let Entry { before, after, timestamp: at, activity_type: kind, .. } = entry;
            pushes.push(Push { actor, kind, at, before, after });
        }
    }
    // The same order, whatever that of the host among entries of the same second.
    pushes.sort_by(|one, other| (&one.at, &one.after).cmp(&(&other.at, &other.after)));
    Ok(Activity { pushes, merged })
}
