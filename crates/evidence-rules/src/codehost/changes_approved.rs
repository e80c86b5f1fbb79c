//! Another person approved each merged change.

use std::collections::BTreeMap;

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::High;

use super::branch_protection::stale_approvals::DISMISS_STALE_REVIEWS_NOT_VISIBLE;
use super::changes::{ACCOUNT_NOT_VISIBLE, Account, Change, Changes, ChangesFacts, Review, time};
use super::reason::POPULATION_INCOMPLETE;
use crate::rule::{Judge, Reason, Rule, Status, Verdict, reason};
use crate::several::{One, Several, Words};

/// Another person approved each merged change.
pub static CHANGES_APPROVED: Rule = Rule {
    code: "changes-approved",
    title: "Approved changes",
    version: 1,
    kind: "repository",
    expected: "each pull request that was merged into the branch in the period was approved by a person other than its author, on \
               the commit that was merged",
    reads: "the pull requests that were merged in the period with their reviews, and how many the host's search counts",
    not_checked: "what was reviewed and by whom it should be; who pushed to the pull request beside its author; changes by direct \
                  push, which `no-direct-push` judges; whether approvals are dismissed was read at the time of the run",
    permission: "Give a fine-grained token or an app read access to `Pull requests`.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&CHANGE_NOT_APPROVED, &ACCOUNT_NOT_VISIBLE],
};

/// A change was merged without an approval that counts.
pub static CHANGE_NOT_APPROVED: Reason =
    Reason::new("change_not_approved", "Change merged without an approval").advice(
        High,
        Misconfigured,
        "Review these changes now and record the result. Require a pull request with an approval for the branch, for administrators \
         too, and dismiss approvals when new commits are pushed.",
    );

/// The judgement. What was not read although it was asked for has its own observation.
pub static JUDGE: Judge<ChangesFacts> = Judge { rule: &CHANGES_APPROVED, judge: |facts, _| judge(facts) };

static WORDS: Words = Words {
    fails: &CHANGE_NOT_APPROVED,
    failed: "merged changes have no approval that counts",
    open: "merged changes cannot be judged",
    good: "merged changes were approved",
    none: "no change was merged in the period",
};

fn judge(facts: &ChangesFacts) -> Option<Verdict> {
    if let Some(verdict) = facts.without_branch() {
        return Some(verdict);
    }
    let record = &facts.record;
    let Some(changes) = record.changes.value() else {
        let unknown = || Verdict::unknown(&reason::NO_EVIDENCE, "the changes were not asked for");
        return (!facts.changes_unread).then(unknown);
    };
    let dismissed = record.stale_approvals_dismissed.value().copied();
    let mut several = Several::default();
    for change in changes {
        several.add(&format!("#{}", change.number), one(change, dismissed));
    }
    let verdict = several.judge(&WORDS);
    let incomplete = gap(record).filter(|_| verdict.status != Status::Fail);
    Some(incomplete.unwrap_or(verdict))
}

/// Why the list cannot be called complete, if it cannot.
fn gap(record: &Changes) -> Option<Verdict> {
    let text = match record.total.value() {
        Some(total) if *total == record.listed => return None,
        Some(total) => format!(
            "{} changes were listed until {}, and the host's search counts {total}",
            record.listed, record.total_to
        ),
        None => format!(
            "{} changes were listed until {}, and the host does not say how many there are",
            record.listed, record.total_to
        ),
    };
    Some(Verdict::unknown(&POPULATION_INCOMPLETE, text))
}

/// Whether approvals on other commits than the last one decide the verdict on a change.
pub fn needs_dismissal(change: &Change) -> bool {
    matches!(one(change, None), One::Open(reason) if *reason == DISMISS_STALE_REVIEWS_NOT_VISIBLE)
}

/// What one review says of the change.
enum Says {
    /// It approves the merged commit, by a person who is not the author.
    Approves,
    /// It does if this is cleared.
    Perhaps(&'static Reason),
    Nothing,
}

/// Whether a change was approved. `dismissed`: whether a push dismisses approvals, so that one on an earlier commit is still
/// meant.
fn one(change: &Change, dismissed: Option<bool>) -> One {
    let Some(merged) = time(&change.merged_at) else { return One::Open(&reason::NO_EVIDENCE) };
    // Only the last review of a person counts. Of those whose account is not known, each may be by another person.
    let mut last: BTreeMap<String, &Review> = BTreeMap::new();
    let mut open = None;
    for (number, review) in change.reviews.iter().enumerate() {
        let key = match &review.by {
            Some(account) => account.login.to_ascii_lowercase(),
            None => format!("{number}/"),
        };
        match review.at.as_deref().and_then(time) {
            None => open = Some(&reason::NO_EVIDENCE),
            Some(at) if at <= merged => drop(last.insert(key, review)),
            Some(_) => {}
        }
    }
    for review in last.into_values() {
        match says(change, review, dismissed) {
            Says::Approves => return One::Good,
            Says::Perhaps(reason) => open = Some(reason),
            Says::Nothing => {}
        }
    }
    open.map_or(One::Failed, One::Open)
}

fn says(change: &Change, review: &Review, dismissed: Option<bool>) -> Says {
    if review.state != "APPROVED" {
        return Says::Nothing;
    }
    let Some(Account { login, kind }) = &review.by else { return Says::Perhaps(&ACCOUNT_NOT_VISIBLE) };
    let Some(author) = &change.author else { return Says::Perhaps(&ACCOUNT_NOT_VISIBLE) };
    if author.login.eq_ignore_ascii_case(login) {
        return Says::Nothing;
    }
    match kind.as_str() {
        "User" => {}
        "" => return Says::Perhaps(&ACCOUNT_NOT_VISIBLE),
        // A program approves nothing.
        _ => return Says::Nothing,
    }
    match (&review.commit, &change.head, dismissed) {
        (Some(commit), Some(head), _) if commit == head => Says::Approves,
        (_, _, Some(true)) => Says::Approves,
        (Some(_), Some(_), Some(false)) => Says::Nothing,
        (Some(_), Some(_), None) => Says::Perhaps(&DISMISS_STALE_REVIEWS_NOT_VISIBLE),
        _ => Says::Perhaps(&reason::NO_EVIDENCE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;

    fn account(login: &str, kind: &str) -> Option<Account> {
        Some(Account { login: login.to_string(), kind: kind.to_string() })
    }

    fn review(by: Option<Account>, state: &str, hour: u8, commit: &str) -> Review {
        Review {
            by,
            state: state.to_string(),
            at: Some(format!("2026-11-20T{hour:02}:00:00Z")),
            commit: Some(commit.to_string()),
        }
    }

    fn change(author: Option<Account>, reviews: Vec<Review>) -> Change {
        Change {
            number: 7,
            author,
            merged_at: "2026-11-20T12:00:00Z".to_string(),
            head: Some("head".to_string()),
            reviews,
            ..Change::default()
        }
    }

    fn reason_of(change: &Change, dismissed: Option<bool>) -> &'static str {
        match one(change, dismissed) {
            One::Good => "good",
            One::Failed => "failed",
            One::Open(reason) => reason.code,
            One::Nothing => "nothing",
        }
    }

    /// Every kind of author with every kind of approver, on the merged commit and on an earlier one.
    #[test]
    fn who_approves() {
        let people = [
            ("author", account("mia", "User")),
            ("other case", account("MIA", "User")),
            ("other", account("mona", "User")),
            ("bot", account("renovate[bot]", "Bot")),
            ("untyped", account("mona", "")),
            ("mannequin", account("mona", "Mannequin")),
            ("deleted", None),
        ];
        for (who, by) in people {
            for author in [account("mia", "User"), account("dependabot[bot]", "Bot"), None] {
                for (commit, dismissed) in
                    [("head", None), ("old", Some(true)), ("old", Some(false)), ("old", None)]
                {
                    let change = change(author.clone(), vec![review(by.clone(), "APPROVED", 9, commit)]);
                    let own = author.as_ref().is_some_and(|author| author.login == "mia");
                    let unknown = "account_not_visible";
                    let by_commit = match (commit, dismissed) {
                        ("head", _) | (_, Some(true)) => "good",
                        (_, Some(false)) => "failed",
                        _ => "dismiss_stale_reviews_not_visible",
                    };
                    let fixed = match (who, &author) {
                        ("deleted", _) | (_, None) => Some(unknown),
                        ("author" | "other case", _) if own => Some("failed"),
                        ("untyped", _) => Some(unknown),
                        ("bot" | "mannequin", _) => Some("failed"),
                        _ => None,
                    };
                    let expected = fixed.unwrap_or(by_commit);
                    assert_eq!(reason_of(&change, dismissed), expected, "{who} {author:?} {commit}");
                    assert_eq!(needs_dismissal(&change), fixed.is_none() && commit == "old", "{who}");
                }
            }
        }
    }

    /// Only the last review of each person before the merge counts.
    #[test]
    fn which_review_counts() {
        let mona = || account("mona", "User");
        let max = || account("max", "User");
        let a = |hour| review(mona(), "APPROVED", hour, "head");
        let c = |hour| review(mona(), "CHANGES_REQUESTED", hour, "head");
        let d = |hour| review(mona(), "DISMISSED", hour, "head");
        let untimed = Review { at: None, ..a(9) };
        for (reviews, expected) in [
            (vec![], "failed"),
            (vec![a(9)], "good"),
            (vec![d(9)], "failed"),
            (vec![c(8), a(9)], "good"),
            (vec![a(8), c(9)], "failed"),
            (vec![a(8), d(9)], "failed"),
            (vec![a(8), c(9), review(max(), "APPROVED", 10, "head")], "good"),
            // After the merge nothing is approved, and nothing taken back.
            (vec![a(13)], "failed"),
            (vec![a(9), c(13)], "good"),
            (vec![a(12)], "good"),
            (vec![untimed], "no_evidence"),
        ] {
            assert_eq!(
                reason_of(&change(account("mia", "User"), reviews.clone()), None),
                expected,
                "{reviews:?}"
            );
        }
        let broken =
            Change { merged_at: "yesterday".to_string(), ..change(account("mia", "User"), vec![a(9)]) };
        assert_eq!(reason_of(&broken, None), "no_evidence");
        let headless = Change { head: None, ..change(account("mia", "User"), vec![a(9)]) };
        assert_eq!(reason_of(&headless, None), "no_evidence");
    }

    /// A list that is not proved complete passes nothing, and a failure stays one.
    #[test]
    fn the_hosts_own_total() {
        let good =
            || change(account("mia", "User"), vec![review(account("mona", "User"), "APPROVED", 9, "head")]);
        let bad = || change(account("mia", "User"), vec![]);
        for (changes, total, listed, expected) in [
            (vec![good()], Some(1), 1, "ok"),
            (vec![good()], Some(2), 1, "population_incomplete"),
            (vec![good()], Some(0), 1, "population_incomplete"),
            (vec![good()], None, 1, "population_incomplete"),
            (vec![], Some(0), 0, "nothing_in_scope"),
            (vec![], Some(3), 0, "population_incomplete"),
            (vec![], None, 0, "population_incomplete"),
            (vec![good(), bad()], None, 2, "change_not_approved"),
        ] {
            let record = Changes {
                changes: Field::Value(changes.clone()),
                total: total.map_or(Field::Absent, Field::Value),
                listed,
                ..Changes::default()
            };
            let facts = ChangesFacts { record, ..ChangesFacts::default() };
            assert_eq!(judge(&facts).unwrap().reason.code, expected, "{changes:?} {total:?}");
            // It survives its artifact.
            let again: Changes =
                serde_json::from_str(&serde_json::to_string(&facts.record).unwrap()).unwrap();
            assert_eq!(again, facts.record);
        }
        for unread in [false, true] {
            let facts = ChangesFacts { changes_unread: unread, ..ChangesFacts::default() };
            assert_eq!(judge(&facts).map(|verdict| verdict.reason.code), (!unread).then_some("no_evidence"));
        }
        let elsewhere = ChangesFacts { other_default: Some("trunk".to_string()), ..ChangesFacts::default() };
        assert_eq!(judge(&elsewhere).unwrap().reason.code, "default_branch_differs");
    }
}
