//! The credential report of an account: the provider makes it on request, and it is read once it is complete.
//!
//! Making the report changes nothing in the account. Of its columns, the artifact has the user, the flags and the times;
//! the others are dropped while the report is read.

mod columns;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use self::columns::report;
use super::alone::ACCOUNT;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult, Recorded, Unread, failure, host_error};
use crate::source::aws::host::xml::{self, required, required_text};
use crate::source::aws::names::NAME;
use crate::source::aws::observe::{denied, observation};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Call, Meta, ParseError, recorded};
use evidence_rules::accounts::of_report;
use evidence_rules::cloud::OF_CREDENTIALS;
use evidence_rules::cloud::artifact::{CREDENTIAL_REPORT, PEOPLE};
use evidence_rules::cloud::credentials::{CredentialReport, Credentials};
use evidence_rules::cloud::trail::delivery::judged_at;
use evidence_rules::listed::of_accounts;
use evidence_rules::rule::Settings;

/// The credential report.
pub(crate) static TOPIC: Topic = Topic {
    name: "credential report",
    kind: Some(&CREDENTIAL_REPORT),
    required: |config| config.collects(&CREDENTIAL_REPORT),
    counted: None,
    open: |account| open(account).boxed(),
};

pub(crate) static GENERATE_CREDENTIAL_REPORT: Action<State> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GenerateCredentialReport",
        purpose: "`user-mfa`, `access-key-age`, `unused-credentials`: has the provider make the report; changes nothing",
        times: "once per account, again until the report is complete",
        kind: Some("GenerateCredentialReport"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: state,
        subject: None,
        keep: None,
    },
};

pub(crate) static GET_CREDENTIAL_REPORT: Action<CredentialReport> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GetCredentialReport",
        purpose: "`user-mfa`, `access-key-age`, `unused-credentials`",
        times: "once per account",
        kind: Some("GetCredentialReport"),
        media_type: Protocol::FORM,
        // 5,000 users, the provider's quota, are under 3 MB.
        limit: 16 * MIB,
        parse: report,
        subject: None,
        keep: None,
    },
};

/// How far the provider is with the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Complete,
    /// Another word, such as `STARTED` or `INPROGRESS`.
    Other(String),
}

/// `GenerateCredentialReport`
pub(super) fn state(bytes: &[u8]) -> Result<State, ParseError> {
    let root = xml::root(bytes, "GenerateCredentialReportResponse")?;
    let result = required(&root, "GenerateCredentialReportResult")?;
    Ok(match required_text(result, "State")? {
        "COMPLETE" => State::Complete,
        other => State::Other(evidence_text::single_line(other)),
    })
}

/// How long to wait before each further question, in seconds: half a minute in all.
const WAITS: [i64; 6] = [1, 2, 4, 7, 8, 8];

async fn open(account: &Account) -> Box<dyn Answers> {
    let (read, mut requests) = recorded(read(account)).await;
    // The renewal of credentials is not one of them.
    requests.retain(|asked| asked.path.starts_with("iam:"));
    Box::new(ReportAnswers((read, requests)))
}

async fn read(account: &Account) -> ReadResult<CredentialReport> {
    let host = account.host(&GENERATE_CREDENTIAL_REPORT, &account.home)?;
    let mut waits = WAITS.into_iter();
    loop {
        let answer = host.ask(&GENERATE_CREDENTIAL_REPORT, &[], None).await;
        let (state, _) = refusal::of(&GENERATE_CREDENTIAL_REPORT, None, answer)?;
        let State::Other(word) = state else { break };
        let Some(seconds) = waits.next() else {
            let what = GENERATE_CREDENTIAL_REPORT.permission();
            let text = format!("{what}: the report is not complete after half a minute ({word})");
            return Err(Unread::Failed(host_error(text)));
        };
        account.hosts.wait(SignedDuration::from_secs(seconds)).await;
    }
    refusal::of(&GET_CREDENTIAL_REPORT, None, host.ask(&GET_CREDENTIAL_REPORT, &[], None).await)
}

struct ReportAnswers(Recorded<CredentialReport>);

impl Answers for ReportAnswers {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let denied = denied(&self.0.0, "the credentials of users will be not verifiable", &account.number);
        denied.filter(|_| region.is_none()).into_iter().collect()
    }

    /// Usually the first answer is that the provider began, and the second that it is done.
    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        plan.requests += 2;
        plan.more_requests += 2;
        plan.artifacts.push((TOPIC.name, u64::from(self.0.0.is_ok())));
        plan.artifacts.push(("people", u64::from(self.0.0.is_ok())));
        plan.failed.extend(failure(&self.0.0));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let (read, requests) = &self.0;
        let people = read.as_ref().ok().map(|(report, meta)| {
            let people = of_report(&account.number, report);
            let seen = account.artifact("people.json", &people, meta);
            let (requests, facts) = (requests.clone(), of_accounts(&people));
            let list = Observation { requests, facts, ..observation(&PEOPLE, &account.number, seen) };
            CollectionItem::Inspected(list.into())
        });
        let began = account.hosts.began();
        let inspection = match read {
            Ok((report, meta)) => {
                let seen = account.artifact("credential_report.json", report, meta);
                inspect(&account.number, report, seen, began, &account.config.rule_settings)
            }
            Err(unread) => observation(&CREDENTIAL_REPORT, &account.number, unread.seen()).into(),
        };
        let mut inspection: Inspection = inspection;
        if let Some(observed) = inspection.observations.first_mut() {
            observed.requests.clone_from(requests);
        }
        let items = [CollectionItem::Inspected(inspection)].into_iter().chain(people).collect();
        std::future::ready(Reading::of(items)).boxed()
    }
}

/// Judges a report that was read.
fn inspect(
    number: &str,
    report: &CredentialReport,
    seen: Seen,
    began: Timestamp,
    settings: &Settings,
) -> Inspection {
    let observed = observation(&CREDENTIAL_REPORT, number, seen);
    let subject = observed.subject.clone();
    let observed = Observation { facts: judged_at(began).into_iter().collect(), ..observed };
    let credentials = Credentials { report: report.clone(), at: began };
    Inspection::from(observed).judged_by(OF_CREDENTIALS, &subject, &credentials, settings)
}

/// What a report means on its own.
pub(super) fn offline(report: CredentialReport) -> Vec<CollectionItem> {
    let seen = Seen::artifact(NAME, "credential_report.json", &report, None, &Meta::default());
    let began = Timestamp::UNIX_EPOCH;
    vec![CollectionItem::Inspected(inspect(ACCOUNT, &report, seen, began, &Settings::default()))]
}
