//! The password policy of an account, and whether anyone has a password.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};

use super::account_summary;
use super::alone::inspected;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::answer::{RefusalMeaning, meaning};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult, Recorded, failure, with_requests, words};
use crate::source::aws::host::xml::{self, field, required};
use crate::source::aws::observe::{denied, observation};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Answered, Call, CallError, ParseError};
use evidence_rules::cloud::OF_PASSWORDS;
use evidence_rules::cloud::artifact::{ACCOUNT_SUMMARY, PASSWORD_POLICY};
use evidence_rules::cloud::password::{self, KnownPolicy, PASSWORD_POLICY_MISSING, PasswordFacts};
use evidence_rules::cloud::record::{AccountSummary, PasswordPolicy, PasswordPolicyRecord, RootAccount};
use evidence_rules::rule::{Settings, Verdict};

/// The password policy.
pub(crate) static TOPIC: Topic = Topic {
    name: "password policy",
    kind: Some(&PASSWORD_POLICY),
    required: |config| config.collects(&PASSWORD_POLICY),
    counted: None,
    open: |account| open(account).boxed(),
};

pub(crate) static GET_ACCOUNT_PASSWORD_POLICY: Action<PasswordPolicy> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GetAccountPasswordPolicy",
        purpose: "`password-policy`",
        times: "once per account",
        kind: Some("GetAccountPasswordPolicy"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: policy,
        subject: None,
        keep: None,
    },
};

/// `GetAccountPasswordPolicy`
pub(super) fn policy(bytes: &[u8]) -> Result<PasswordPolicy, ParseError> {
    let root = xml::root(bytes, "GetAccountPasswordPolicyResponse")?;
    let policy = required(required(&root, "GetAccountPasswordPolicyResult")?, "PasswordPolicy")?;
    Ok(PasswordPolicy {
        minimum_password_length: field(policy, "MinimumPasswordLength")?,
        require_symbols: field(policy, "RequireSymbols")?,
        require_numbers: field(policy, "RequireNumbers")?,
        require_uppercase_characters: field(policy, "RequireUppercaseCharacters")?,
        require_lowercase_characters: field(policy, "RequireLowercaseCharacters")?,
        allow_users_to_change_password: field(policy, "AllowUsersToChangePassword")?,
        expire_passwords: field(policy, "ExpirePasswords")?,
        max_password_age: field(policy, "MaxPasswordAge")?,
        password_reuse_prevention: field(policy, "PasswordReusePrevention")?,
        hard_expiry: field(policy, "HardExpiry")?,
    })
}

/// The account's password policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The policy.
    Set(PasswordPolicy),
    /// The provider reports that there is no policy, with its message.
    Missing(String),
}

/// Interprets the answer about the password policy. A missing policy is a finding, so only the provider's specific code
/// counts: neither a plain 404, nor a code for another missing resource.
pub(super) fn of_policy(answer: Result<Answered<PasswordPolicy>, CallError>) -> ReadResult<Policy> {
    match answer {
        Err(CallError::Refused(refused)) if meaning(&refused) == RefusalMeaning::NoEntity => {
            Ok((Policy::Missing(words(&refused)), refused.meta))
        }
        answer => {
            let read = refusal::of(&GET_ACCOUNT_PASSWORD_POLICY, None, answer);
            read.map(|(policy, meta)| (Policy::Set(policy), meta))
        }
    }
}

/// The policy, and the summary of the account.
struct PolicyAnswers {
    policy: Recorded<Policy>,
    summary: Recorded<AccountSummary>,
}

async fn open(account: &Account) -> Box<dyn Answers> {
    let policy = async {
        let host = account.host(&GET_ACCOUNT_PASSWORD_POLICY, &account.home)?;
        of_policy(host.ask(&GET_ACCOUNT_PASSWORD_POLICY, &[], None).await)
    };
    let policy = with_requests(&GET_ACCOUNT_PASSWORD_POLICY, policy);
    let (policy, (summary, requests)) = join(policy, account_summary::of(account)).await;
    let users = |summary: &RootAccount| AccountSummary { users: summary.users.value().copied().unwrap_or(1) };
    let summary = summary.as_ref().map(|(summary, meta)| (users(summary), meta.clone()));
    let summary = (summary.map_err(Clone::clone), requests.clone());
    Box::new(PolicyAnswers { policy, summary })
}

impl Answers for PolicyAnswers {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        if region.is_some() || self.has_no_users() {
            return Vec::new();
        }
        let (policy, _) = &self.policy;
        let lost = "the password policy will be not verifiable";
        denied(policy, lost, &account.number).into_iter().collect()
    }

    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        let ((policy, _), (summary, _)) = (&self.policy, &self.summary);
        plan.requests += 2;
        plan.artifacts.push((TOPIC.name, u64::from(matches!(policy, Ok((Policy::Set(_), _))))));
        plan.artifacts.push(("account summary", u64::from(summary.is_ok())));
        plan.failed.extend(failure(policy).into_iter().chain(failure(summary)));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let inspection = CollectionItem::Inspected(self.inspect(account));
        std::future::ready(Reading::of(vec![inspection])).boxed()
    }
}

impl PolicyAnswers {
    /// Whether the account certainly has no user.
    fn has_no_users(&self) -> bool {
        matches!(self.summary.0, Ok((AccountSummary { users: 0 }, _)))
    }

    fn inspect(&self, account: &Account) -> Inspection {
        let number = account.number.as_str();
        let (policy, requests) = &self.policy;
        let seen = match policy {
            Ok((Policy::Set(policy), meta)) => {
                let record = PasswordPolicyRecord { policy: policy.clone() };
                account.artifact("password_policy.json", &record, meta)
            }
            Ok((Policy::Missing(detail), _)) => {
                Seen::Nothing { reason: &PASSWORD_POLICY_MISSING, detail: detail.clone() }
            }
            Err(unread) => unread.seen(),
        };
        let known = match (&seen, policy) {
            (Seen::Artifact { .. }, Ok((Policy::Set(policy), _))) => KnownPolicy::Set(policy.clone()),
            (seen, _) => KnownPolicy::not_shown(seen.shown()),
        };
        let users = self.summary.0.as_ref().ok().map(|(summary, _)| summary.users);
        let facts = PasswordFacts { policy: known, users };
        let policy =
            Observation { requests: requests.clone(), ..observation(&PASSWORD_POLICY, number, seen) };
        let (summary, requests) = &self.summary;
        let seen = match summary {
            Ok((record, meta)) => account.artifact("account_summary.json", record, meta),
            Err(unread) => unread.seen(),
        };
        let summary =
            Observation { requests: requests.clone(), ..observation(&ACCOUNT_SUMMARY, number, seen) };
        let inspection = Inspection::of(vec![policy, summary]);
        inspection.concluded_by(OF_PASSWORDS, &number.into(), &facts, &account.config.rule_settings)
    }
}

pub(super) fn policy_offline(policy: PasswordPolicy) -> Vec<CollectionItem> {
    let verdict = password::judge(&policy, &Settings::default());
    inspected(&PASSWORD_POLICY, "password_policy.json", &PasswordPolicyRecord { policy }, verdict)
}

/// The summary of an account without a password policy.
pub(super) fn summary_offline(summary: RootAccount) -> Vec<CollectionItem> {
    let summary = AccountSummary { users: summary.users.value().copied().unwrap_or(1) };
    let verdict = match summary.users {
        0 => password::without_users(),
        _ => Verdict::fail(&password::PASSWORD_POLICY_MISSING, "no policy"),
    };
    inspected(&ACCOUNT_SUMMARY, "account_summary.json", &summary, verdict)
}
