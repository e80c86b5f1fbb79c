//! Who the credentials belong to, and the roles that they can assume.

use std::sync::Arc;

use evidence_bundle::text::Printable;
use futures_util::FutureExt as _;
use serde_json::Value;

use super::action::{Action, SMALL_LIMIT};
use super::api::{Host, Hosts};
use super::compare::differs;
use super::endpoint::{Protocol, Service};
use super::login::Renewal;
use super::sign::Credentials;
use super::xml::{self, Element, field, required, required_text};
use crate::source::RunContext;
use crate::source::aws::config::AssumedRole;
use crate::source::aws::names::{Arn, is_account};
use evidence_http::{Answered, Call, CallError, ParseError, Subject};
use evidence_rules::field::Field;

/// The session name of the role in the provider's own logs.
pub(crate) const SESSION_NAME: &str = "evidence";

/// The provider's own limit for an ARN, in bytes.
const MAXIMUM_ARN: usize = 2_048;

pub(crate) static ASSUME_ROLE: Action<RoleLogin> = Action { service: Service::Sts, call: ASSUME_ROLE_CALL };

pub(crate) static ASSUME_ROLE_WITH_WEB_IDENTITY: Action<RoleLogin> = Action {
    service: Service::Sts,
    call: Call {
        name: "sts:AssumeRoleWithWebIdentity",
        purpose: "with `mode: web_identity`: temporary credentials of the role, for a token of an identity provider",
        times: "once, and again before they expire",
        kind: Some("AssumeRoleWithWebIdentity"),
        parse: RoleLogin::parse_web_identity,
        ..ASSUME_ROLE_CALL
    },
};

const ASSUME_ROLE_CALL: Call<RoleLogin> = Call {
    name: "sts:AssumeRole",
    purpose: "temporary credentials of the role",
    times: "once with a role, and once per entry of `accounts`; again before they expire",
    kind: Some("AssumeRole"),
    media_type: Protocol::FORM,
    limit: SMALL_LIMIT,
    parse: RoleLogin::parse,
    subject: Some(Subject {
        // Asked about: the ARN of the role.
        fields: "`AssumedRoleUser.Arn`: the account",
        other: |login, about| {
            let (assumed, role) = (Arn::new(login.arn.as_deref()?)?, Arn::new(about.subject)?);
            differs(assumed.account == role.account, assumed.account, role.account)
        },
    }),
    keep: None,
};

pub(crate) static GET_CALLER_IDENTITY: Action<Caller> = Action {
    service: Service::Sts,
    call: Call {
        name: "sts:GetCallerIdentity",
        purpose: "the connection test: identity and account of the credentials",
        times: "once",
        kind: Some("GetCallerIdentity"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: Caller::parse,
        subject: None,
        keep: None,
    },
};

/// `GetCallerIdentity`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The account number: 12 digits.
    pub(crate) account: String,
    /// The caller.
    pub(crate) arn: String,
}

impl Caller {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Caller, ParseError> {
        let root = xml::root(bytes, "GetCallerIdentityResponse")?;
        let result = required(&root, "GetCallerIdentityResult")?;
        let account = required_text(result, "Account")?;
        // The account number becomes the subject of every check, and matches bundles to accounts.
        if !is_account(account) {
            return Err(ParseError::Shape("the number of the account does not have 12 digits".to_string()));
        }
        // The ARN is printed, and identifies the collector in the bundle.
        let arn = required_text(result, "Arn")?;
        let good = arn.len() <= MAXIMUM_ARN
            && Printable(arn).to_string() == arn
            && Arn::new(arn).is_some_and(|arn| arn.account == account);
        if !good {
            let text = "the caller's identity is not an ARN of the account".to_string();
            return Err(ParseError::Shape(text));
        }
        Ok(Caller { account: account.to_string(), arn: arn.to_string() })
    }
}

/// `AssumeRole`
#[derive(Debug)]
pub(crate) struct RoleLogin {
    /// The role's temporary credentials.
    pub(crate) credentials: Credentials,
    /// The session that they belong to.
    pub(crate) arn: Option<String>,
}

impl RoleLogin {
    pub(crate) fn parse(bytes: &[u8]) -> Result<RoleLogin, ParseError> {
        let root = xml::root(bytes, "AssumeRoleResponse")?;
        RoleLogin::of(required(&root, "AssumeRoleResult")?)
    }

    fn parse_web_identity(bytes: &[u8]) -> Result<RoleLogin, ParseError> {
        let root = xml::root(bytes, "AssumeRoleWithWebIdentityResponse")?;
        RoleLogin::of(required(&root, "AssumeRoleWithWebIdentityResult")?)
    }

    fn of(result: &Element) -> Result<RoleLogin, ParseError> {
        let credentials = required(result, "Credentials")?;
        let arn = match result.child("AssumedRoleUser")? {
            Some(user) => user.child("Arn")?.and_then(Element::text).map(str::to_string),
            None => None,
        };
        let text = |name| required_text(credentials, name);
        let made =
            Credentials::new(text("AccessKeyId")?, text("SecretAccessKey")?, Some(text("SessionToken")?))
                .map_err(|error| ParseError::Shape(format!("the role's credentials: {error}")))?;
        let credentials = made.until(match field(credentials, "Expiration")? {
            Field::Value(end) => Some(end),
            Field::Absent | Field::Null => None,
        });
        Ok(RoleLogin { credentials, arn })
    }
}

/// Asks whose credentials these are.
pub(crate) async fn caller(hosts: &Hosts) -> Result<Answered<Caller>, CallError> {
    hosts.sts().ask(&GET_CALLER_IDENTITY, &[], None).await
}

async fn assume_role(sts: &Host, role: &AssumedRole) -> Result<Credentials, CallError> {
    let mut question = vec![
        ("RoleArn", Value::from(role.arn.as_str())),
        ("RoleSessionName", Value::from(SESSION_NAME)),
        ("DurationSeconds", Value::from(role.duration)),
    ];
    question.extend(role.external_id.as_deref().map(|id| ("ExternalId", Value::from(id))));
    Ok(sts.ask(&ASSUME_ROLE, &question, Some(&role.arn)).await?.value.credentials)
}

/// The credentials of a role, for a token of an identity provider. The request is not signed: the token is the proof.
pub(crate) async fn assume_by_token(
    sts: &Host,
    role: &AssumedRole,
    session: &str,
    token: &str,
) -> Result<Credentials, CallError> {
    let question = [
        ("RoleArn", Value::from(role.arn.as_str())),
        ("RoleSessionName", Value::from(session)),
        ("DurationSeconds", Value::from(role.duration)),
        ("WebIdentityToken", Value::from(token)),
    ];
    Ok(sts.ask(&ASSUME_ROLE_WITH_WEB_IDENTITY, &question, Some(&role.arn)).await?.value.credentials)
}

/// The same hosts, called with the role's temporary credentials, which are renewed before they expire.
pub(crate) async fn assume(
    hosts: &Hosts,
    role: &AssumedRole,
    surroundings: &RunContext,
) -> Result<Hosts, CallError> {
    let credentials = assume_role(hosts.sts(), role).await?;
    surroundings.screen.learn(credentials.secrets());
    let (sts, role) = (Arc::clone(hosts.sts()), role.clone());
    let ask = move || {
        let (sts, role) = (Arc::clone(&sts), role.clone());
        async move { assume_role(&sts, &role).await }.boxed()
    };
    let (skew, clock) = (hosts.shared_skew(), surroundings.env.clock.clone());
    let now = move || skew.by_provider(clock.now());
    let screen = Arc::clone(&surroundings.screen);
    let renewal = Renewal { ask: Box::new(ask), now: Box::new(now), screen };
    Ok(hosts.with_login(renewal.login(credentials)))
}
