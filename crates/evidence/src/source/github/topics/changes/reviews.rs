//! The reviews of a pull request, without what was written in them.

use evidence_http::{Answered, Call, CallError, Subject};
use serde::Deserialize;

use crate::json::Object;
use crate::observation::Seen;
use crate::source::github::host::answer::{RefusalMeaning, meaning};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_address;
use crate::source::github::host::refusal;
use crate::source::github::subject::RepositoryName;
use crate::source::github::topics::branch_protection::classic::PROTECTION;
use crate::source::github::topics::branch_protection::rules::RULES;
use evidence_rules::codehost::changes::{Account, Review};
use evidence_rules::field::Field;

/// The states of a review that decide. A comment takes nothing back.
const DECIDING: [&str; 3] = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"];

/// A page of the reviews of a pull request, in their order.
pub(crate) static REVIEWS: Call<Vec<WireReview>> = Call {
    name: "/repos/{owner}/{repo}/pulls/{number}/reviews?per_page=100",
    purpose: "`changes-approved`: who approved a change, when, and on which commit",
    times: "once per pull request that was merged into the branch in the period",
    kind: Some("reviews"),
    media_type: JSON,
    limit: 16 * MIB,
    parse: |bytes| Ok(Object::all(serde_json::from_slice(bytes)?)),
    subject: Some(Subject {
        fields: "`pull_request_url`",
        other: |reviews, about| {
            // The address of the pull request, of which these are the reviews.
            let of =
                |review: &WireReview| review.pull_request_url.as_deref().map(|url| format!("{url}/reviews"));
            reviews.iter().find_map(|review| of_address(&of(review)?, about))
        },
    }),
    keep: None,
};

/// A review as the host sends it.
#[derive(Deserialize)]
pub(crate) struct WireReview {
    user: Option<Object<Account>>,
    state: String,
    submitted_at: Option<String>,
    commit_id: Option<String>,
    #[serde(default)]
    pull_request_url: Option<String>,
}

impl WireReview {
    fn kept(self) -> Review {
        Review {
            by: self.user.map(|Object(account)| account),
            state: self.state,
            at: self.submitted_at,
            commit: self.commit_id,
        }
    }
}

/// Reads the reviews that decide.
pub(super) async fn read(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    number: u64,
) -> Result<Vec<Review>, Seen> {
    let number = number.to_string();
    let parameters = [("owner", target.owner), ("repo", target.name), ("number", number.as_str())];
    let (reviews, _) = api
        .pages(&REVIEWS, &parameters)
        .await
        .map_err(|problem| refusal::unread(&format!("reviews of #{number}"), target, problem))?;
    let decides = |review: &WireReview| DECIDING.contains(&review.state.as_str());
    Ok(reviews.into_iter().filter(decides).map(WireReview::kept).collect())
}

/// Whether a push dismisses approvals of the branch: by its classic rule, or by a ruleset. Null if the host hides what
/// could.
pub(super) async fn dismissal(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
) -> Result<Field<bool>, Seen> {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let classic = match api.ask(&PROTECTION, &parameters).await {
        Ok(Answered { value, .. }) => {
            let section = value.required_pull_request_reviews.value();
            section.map_or(Some(false), |section| section.dismiss_stale_reviews.value().copied())
        }
        Err(CallError::Refused(refused)) if meaning(&refused) == RefusalMeaning::Unprotected => Some(false),
        Err(problem) => hidden(refusal::unread("branch protection", target, problem))?,
    };
    if classic == Some(true) {
        return Ok(Field::Value(true));
    }
    let by_rules = match api.pages(&RULES, &parameters).await {
        Ok((rules, _)) => {
            let of_reviews =
                rules.iter().filter(|rule| rule.kind.value().is_some_and(|kind| kind == "pull_request"));
            let dismisses = of_reviews.map(|rule| {
                rule.parameters.value().and_then(|found| found.dismiss_stale_reviews_on_push.value().copied())
            });
            dismisses.fold(Some(false), either)
        }
        Err(problem) => hidden(refusal::unread("branch rules", target, problem))?,
    };
    Ok(either(classic, by_rules).map_or(Field::Null, Field::Value))
}

/// One of the two is enough; what is not known may be it.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Nothing is known of what the host refuses to show; a failure ends the observation.
fn hidden(seen: Seen) -> Result<Option<bool>, Seen> {
    match seen {
        Seen::Denied { .. } | Seen::Nothing { .. } => Ok(None),
        seen => Err(seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two() {
        let states = [Some(true), Some(false), None];
        for one in states {
            for other in states {
                let expected = match [one, other] {
                    both if both.contains(&Some(true)) => Some(true),
                    both if both.contains(&None) => None,
                    _ => Some(false),
                };
                assert_eq!(either(one, other), expected);
            }
        }
    }

    #[test]
    fn what_is_written_in_a_review_is_not_read() {
        let bytes = br#"[{"user": {"login": "mona", "type": "User", "name": "SECRET"}, "state": "APPROVED", "body": "SECRET",
            "submitted_at": "2026-11-20T12:00:00Z", "commit_id": "c", "pull_request_url": "u"}]"#;
        let reviews: Vec<_> = (REVIEWS.parse)(bytes).unwrap().into_iter().map(WireReview::kept).collect();
        let text = format!("{reviews:?}");
        assert!(text.contains("mona") && !text.contains("SECRET"), "{text}");
    }
}
