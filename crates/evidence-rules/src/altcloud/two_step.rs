//! Two-step verification is enforced for every active user.

use evidence_bundle::document::Category::{Improvement, Misconfigured, Partial};
use evidence_bundle::document::Severity::{Critical, High, Medium};

use super::judge::ListingJudge;
use super::words::{NAMED, counted, named};
use crate::altcloud::record::{TwoStepVerification, User, UserListing};
use crate::field::Field;
use crate::rule::{Reason, Rule, Verdict, reason};

/// Two-step verification is enforced for every active user.
pub static TWO_STEP_VERIFICATION: Rule = Rule {
    code: "two-step-verification",
    title: "Two-step verification",
    version: 1,
    kind: "directory",
    expected: "two-step verification is enforced for every active user",
    reads: "the two-step verification of every user of the customer, or of the domains in scope",
    not_checked: "the type of the second step, and whether it resists phishing; a second step at an external identity provider",
    permission: "Delegate the scope admin.directory.user.readonly to the service account's client id, and let \
                 admin_email have the privilege Admin API, Users: Read for the whole organization.",
    improvement: None,
    settings: &[],
    hints: &[&TWO_STEP_NOT_ENROLLED],
    reasons: &[&TWO_STEP_NOT_ENFORCED, &TWO_STEP_NOT_VISIBLE],
};

/// A user may sign in with a password alone.
pub static TWO_STEP_NOT_ENFORCED: Reason =
    Reason::new("two_step_not_enforced", "Two-step verification not enforced").advice(
        Critical,
        Misconfigured,
        "In the admin console, under Security, Authentication, 2-step verification, turn enforcement on \
                      for every organizational unit, and suspend unused accounts.",
    );

/// The provider did not report the setting for every user.
pub static TWO_STEP_NOT_VISIBLE: Reason = Reason::new(
    "two_step_not_visible",
    "Two-step verification not visible",
)
.advice(High, Partial, "Set admin_email to a user who can read all users, such as a super administrator.");

/// Enforcement applies to users who have not enrolled: they cannot sign in after their grace period.
pub static TWO_STEP_NOT_ENROLLED: Reason =
    Reason::new("two_step_not_enrolled", "Users not enrolled in two-step verification").advice(
        Medium,
        Improvement,
        "Ask these users to enroll, and suspend unused accounts: enforcement locks them out after the \
                      enrollment period.",
    );

/// The summary of one listing of users. It keeps counts and a few names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TwoStepFacts {
    active: usize,
    inactive: usize,
    /// Certainly active and certainly not enforced.
    failing: usize,
    failing_enrolled: usize,
    failing_names: Vec<Field<String>>,
    /// Certainly active and enforced, and certainly not enrolled.
    not_enrolled: usize,
    not_enrolled_names: Vec<Field<String>>,
    /// Not known whether the criterion holds for them.
    untold: usize,
    untold_names: Vec<Field<String>>,
}

/// The judgement.
pub static JUDGE: ListingJudge =
    ListingJudge { rule: &TWO_STEP_VERIFICATION, judge: |record, listing, _| judge(record, listing) };

/// The verdict on the users of a listing; `None` if it was not read to its end and proves no failure.
pub fn judge(record: &TwoStepVerification, listing: &UserListing) -> Option<Verdict> {
    let mut facts = TwoStepFacts::default();
    record.users_of(listing).for_each(|user| facts.add(user));
    // An incomplete listing can prove a failure, but never a pass.
    (listing.read.is_complete() || facts.fails()).then(|| facts.judge())
}

impl TwoStepFacts {
    /// Counts a user.
    pub fn add(&mut self, user: &User) {
        if user.is_inactive() {
            self.inactive += 1;
            return;
        }
        if user.is_active() {
            self.active += 1;
        }
        match user.is_enforced_in_2sv.value() {
            Some(true) => {
                if user.is_active() && user.is_enrolled_in_2sv.value() == Some(&false) {
                    self.not_enrolled += 1;
                    if self.not_enrolled_names.len() < NAMED {
                        self.not_enrolled_names.push(user.primary_email.clone());
                    }
                }
            }
            Some(false) if user.is_active() => {
                self.failing += 1;
                if user.is_enrolled_in_2sv.value() == Some(&true) {
                    self.failing_enrolled += 1;
                }
                if self.failing_names.len() < NAMED {
                    self.failing_names.push(user.primary_email.clone());
                }
            }
            // Not reported, or not enforced for a user who may or may not be active.
            Some(false) | None => {
                self.untold += 1;
                if self.untold_names.len() < NAMED {
                    self.untold_names.push(user.primary_email.clone());
                }
            }
        }
    }

    /// Whether a user certainly fails, whatever was not read.
    pub fn fails(&self) -> bool {
        self.failing > 0
    }

    /// Passes if two-step verification is enforced for every active user.
    pub fn judge(&self) -> Verdict {
        let active = counted(self.active, "active user", "active users");
        if self.failing > 0 {
            let names = named(self.failing, self.failing_names.iter());
            let enrolled = self.failing_enrolled;
            let text = format!(
                "two-step verification is not enforced for {} of {active} ({enrolled} of them enrolled voluntarily): \
                 {names}",
                self.failing
            );
            return Verdict::fail(&TWO_STEP_NOT_ENFORCED, text);
        }
        if self.untold > 0 {
            let names = named(self.untold, self.untold_names.iter());
            let users = counted(self.untold, "user", "users");
            let text = format!("the host does not report enforcement or account status for {users}: {names}");
            return Verdict::unknown(&TWO_STEP_NOT_VISIBLE, text);
        }
        let inactive = format!("{} suspended or archived", self.inactive);
        if self.active == 0 {
            return Verdict::unknown(&reason::NO_EVIDENCE, format!("no active user, {inactive}"));
        }
        let mut text = format!("two-step verification is enforced for {active}; {inactive}");
        let mut hint = None;
        if self.not_enrolled > 0 {
            let names = named(self.not_enrolled, self.not_enrolled_names.iter());
            text.push_str(&format!("; {} not enrolled: {names}", self.not_enrolled));
            hint = Some(&TWO_STEP_NOT_ENROLLED);
        }
        Verdict { hint, ..Verdict::pass(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    fn field(value: Option<Option<bool>>) -> Field<bool> {
        match value {
            None => Field::Absent,
            Some(None) => Field::Null,
            Some(Some(value)) => Field::Value(value),
        }
    }

    const FORMS: [Option<Option<bool>>; 4] = [None, Some(None), Some(Some(false)), Some(Some(true))];

    fn user(
        suspended: Option<Option<bool>>,
        archived: Option<Option<bool>>,
        enforced: Option<Option<bool>>,
    ) -> User {
        User {
            primary_email: Field::Value("a@acme.example".to_string()),
            suspended: field(suspended),
            archived: field(archived),
            is_enforced_in_2sv: field(enforced),
            ..User::default()
        }
    }

    fn good() -> User {
        user(Some(Some(false)), Some(Some(false)), Some(Some(true)))
    }

    fn judge(users: &[User]) -> Verdict {
        let mut facts = TwoStepFacts::default();
        users.iter().for_each(|user| facts.add(user));
        facts.judge()
    }

    /// One user in every form: 4^3 cases, alone and next to a user who passes.
    #[test]
    fn the_whole_domain() {
        for suspended in FORMS {
            for archived in FORMS {
                for enforced in FORMS {
                    let user = user(suspended, archived, enforced);
                    let yes = Some(Some(true));
                    let no = Some(Some(false));
                    let inactive = suspended == yes || archived == yes;
                    let active = suspended == no && archived == no;
                    let beside_good = match (inactive, active, enforced) {
                        (true, _, _) => (Status::Pass, &reason::OK),
                        (_, _, Some(Some(true))) => (Status::Pass, &reason::OK),
                        (_, true, Some(Some(false))) => (Status::Fail, &TWO_STEP_NOT_ENFORCED),
                        _ => (Status::NotVerifiable, &TWO_STEP_NOT_VISIBLE),
                    };
                    let alone = match beside_good {
                        // No user is certainly active: nothing was shown.
                        (Status::Pass, _) if !active => (Status::NotVerifiable, &reason::NO_EVIDENCE),
                        other => other,
                    };
                    let case = format!("{suspended:?} {archived:?} {enforced:?}");
                    let verdict = judge(&[user.clone(), good()]);
                    assert_eq!((verdict.status, verdict.reason), beside_good, "beside: {case}");
                    let verdict = judge(&[user]);
                    assert_eq!((verdict.status, verdict.reason), alone, "alone: {case}");
                }
            }
        }
    }

    #[test]
    fn a_certain_failure_outweighs_an_unknown() {
        let no = Some(Some(false));
        let failing = user(no, no, no);
        let untold = user(no, no, None);
        let verdict = judge(&[untold, failing, good()]);
        assert_eq!((verdict.status, verdict.reason), (Status::Fail, &TWO_STEP_NOT_ENFORCED));
        assert_eq!(judge(&[]).reason, &reason::NO_EVIDENCE);
    }

    #[test]
    fn enrolled_but_not_enforced_fails_and_is_said() {
        let no = Some(Some(false));
        let enrolled = User { is_enrolled_in_2sv: Field::Value(true), ..user(no, no, no) };
        let users: Vec<User> = std::iter::repeat_n(enrolled, 7).chain([user(no, no, no), good()]).collect();
        let verdict = judge(&users);
        assert_eq!(verdict.reason, &TWO_STEP_NOT_ENFORCED);
        let actual = verdict.actual.unwrap();
        assert!(actual.contains("8 of 9 active users (7 of them enrolled"), "{actual}");
        assert!(actual.ends_with("and 3 more"), "{actual}");
    }

    /// Enforced and enrolled are two switches: every combination passes or fails by enforcement alone.
    #[test]
    fn enforced_but_not_enrolled_passes_and_is_named() {
        for enrolled in FORMS {
            for enforced in FORMS {
                let mut user = user(Some(Some(false)), Some(Some(false)), enforced);
                user.is_enrolled_in_2sv = field(enrolled);
                let verdict = judge(&[user, good()]);
                let named = (enforced, enrolled) == (Some(Some(true)), Some(Some(false)));
                assert_eq!(
                    verdict.hint,
                    named.then_some(&TWO_STEP_NOT_ENROLLED),
                    "{enforced:?} {enrolled:?}"
                );
                assert_eq!(verdict.status == Status::Pass, enforced == Some(Some(true)));
                let actual = verdict.actual.unwrap();
                assert_eq!(actual.ends_with("; 1 not enrolled: a@acme.example"), named, "{actual}");
            }
        }
        let mut gone = good();
        (gone.suspended, gone.is_enrolled_in_2sv) = (Field::Value(true), Field::Value(false));
        assert_eq!(judge(&[gone, good()]).hint, None, "a suspended user cannot sign in");
    }

    #[test]
    fn who_was_counted_is_told() {
        let suspended = user(Some(Some(true)), None, None);
        let said = |users: &[User]| judge(users).actual.unwrap();
        assert_eq!(
            said(&[good(), good(), suspended.clone()]),
            "two-step verification is enforced for 2 active users; 1 suspended or archived"
        );
        assert_eq!(said(&[suspended]), "no active user, 1 suspended or archived");
        let untold = user(Some(Some(false)), Some(Some(false)), None);
        let actual = said(&vec![untold; 7]);
        assert!(
            actual.contains("account status for 7 users: a@acme.example, ") && actual.ends_with("and 2 more"),
            "{actual}"
        );
    }
}
