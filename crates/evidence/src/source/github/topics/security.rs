//! The security settings of every repository. The host shows most of them with the repository, so that they cost no
//! request; only for its vulnerability alerts it is asked.

use evidence_http::{Answered, Call, CallError, Meta, ParseError, recorded};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::observation::{Inspection, Observation, Seen};
use crate::source::Source as _;
use crate::source::github::host::answer::says_alerts_off;
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::{Host, refusal};
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use crate::source::github::topic::{Inspect, Look, Requests, Topic};
use evidence_rules::age::judged_at;
use evidence_rules::codehost::artifact::{ALERTS, SECURITY};
use evidence_rules::codehost::security::{RepositorySecurity, SecurityFacts};
use evidence_rules::codehost::{OF_SECURITY, VULNERABILITIES_IN_TIME, VULNERABILITY_ALERTS as RULE};
use evidence_rules::field::Field;
use evidence_rules::inspection::Facts;

/// The security settings.
pub(crate) static TOPIC: Topic = Topic {
    name: "security settings",
    kind: &SECURITY,
    asks_for_its_artifact: false,
    requests: |host| {
        let most = u64::from(asks(host));
        Requests { least: 0, most, usual: [100 * most; 3], in_bulk: None }
    },
    kept_as: || [None, None],
    inspect: Inspect::Repository(inspect),
};

/// Whether vulnerability alerts are enabled: the status is the answer.
pub(crate) static VULNERABILITY_ALERTS: Call<()> = Call {
    name: "/repos/{owner}/{repo}/vulnerability-alerts",
    purpose: "`vulnerability-alerts` and `vulnerabilities-in-time`",
    times: "once per repository that is not archived, with `framework: tsc_2017`",
    kind: Some("vulnerability alerts"),
    media_type: JSON,
    limit: MIB,
    parse: nothing,
    subject: None,
    keep: None,
};

/// The answer has no body.
fn nothing(bytes: &[u8]) -> Result<(), ParseError> {
    match bytes.is_empty() {
        true => Ok(()),
        false => Err(ParseError::Shape("an answer with a body, where the host documents none".to_string())),
    }
}

/// Whether the host is asked for the alerts of a repository: without them, no open alert proves nothing.
fn asks(host: &Host) -> bool {
    host.config.wants(&RULE) || host.config.wants(&VULNERABILITIES_IN_TIME)
}

fn inspect<'a>(host: &'a Host, look: Look<'a>) -> BoxFuture<'a, Inspection> {
    observe(host, look).boxed()
}

async fn observe(host: &Host, look: Look<'_>) -> Inspection {
    let Look { repository, details, .. } = look;
    let target = repository.target();
    let shown = Meta { status: 200, received_at: details.listed_at, ..Meta::default() };
    let record = details.security.as_deref().cloned().unwrap_or_default();
    let mut facts = SecurityFacts { record, unread: false, judged_at: None };
    let mut beside = Facts::new();
    if host.config.wants(&VULNERABILITIES_IN_TIME) {
        let began = host.env.started();
        facts.record.open_alerts =
            host.shared.alerts_of(&repository.subject).map_or(Field::Absent, Field::Value);
        (facts.judged_at, beside) = (Some(began), judged_at(began).into_iter().collect());
    }
    let (mut requests, mut unread) = (Vec::new(), None);
    // Nothing can be changed in an archived repository, so its settings do not matter.
    if asks(host) && !details.archived {
        let (answer, asked) = recorded(ask(&host.api(), target)).await;
        match answer {
            Ok(enabled) => (facts.record.vulnerability_alerts, requests) = (Field::Value(enabled), asked),
            Err(seen) => unread = Some(Observation { requests: asked, ..target.observation(&ALERTS, seen) }),
        }
    }
    facts.unread = unread.is_some();
    let seen = artifact(target, &facts.record, &shown);
    let observation = Observation { requests, facts: beside, ..target.observation(&SECURITY, seen) };
    let observations = std::iter::once(observation).chain(unread).collect();
    let settings = &host.config.rule_settings;
    Inspection::of(observations).judged_by(OF_SECURITY, &repository.subject, &facts, settings)
}

fn artifact(target: RepositoryName<'_>, record: &RepositorySecurity, meta: &Meta) -> Seen {
    Seen::artifact(NAME, &target.artifact_name(SECURITY.name), record, None, meta)
}

async fn ask(api: &Api<'_>, target: RepositoryName<'_>) -> Result<bool, Seen> {
    const WHAT: &str = "vulnerability alerts";
    match api.ask(&VULNERABILITY_ALERTS, &[("owner", target.owner), ("repo", target.name)]).await {
        // The answer names no repository, so that of another place proves nothing.
        Ok(Answered { meta, .. }) if meta.redirected_to.is_some() => {
            Err(refusal::redirected(target, &meta).0)
        }
        Ok(Answered { meta, .. }) if meta.status == 204 => Ok(true),
        Ok(Answered { meta, .. }) => {
            Err(refusal::unusable(&meta, format!("{WHAT}: HTTP {} instead of 204 or 404", meta.status)))
        }
        Err(CallError::Refused(refused)) if says_alerts_off(&refused) => Ok(false),
        Err(problem) => Err(refusal::unread(WHAT, target, problem)),
    }
}
