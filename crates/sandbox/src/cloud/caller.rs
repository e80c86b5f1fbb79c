//! Authenticates: turns the claim of a signature into a caller, or into the refusal that the real provider would
//! give.

use super::Cloud;
use super::principal::{Grants, Permit};
use super::refusal::Refusal;
use super::session::{Sessions, identifier};
use super::signature::{Claim, SKEW, parse_date, write_date};
use super::wire::{Ask, Service};
use crate::server::{Call, Identity};
use jiff::{SignedDuration, Timestamp};

/// An authenticated caller.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The account it belongs to.
    pub(super) account: String,
    pub(super) arn: String,
    pub(super) user_id: String,
    /// The ARN of the role, if this is a role session.
    pub(super) role: Option<String>,
    pub(super) grants: Grants,
}

/// The data of an access key. No `Debug`.
pub(super) struct Key {
    secret: String,
    /// The session token and when it ends.
    session: Option<(String, i64)>,
    pub(super) caller: Caller,
}

/// Finds an access key in the state or among the issued sessions.
pub(super) fn find(cloud: &Cloud, sessions: &Sessions, access_key: &str) -> Option<Key> {
    let principals =
        cloud.accounts().flat_map(|owner| owner.principals.iter().map(move |known| (owner, known)));
    let known = principals.into_iter().find(|(_, known)| known.access_key == access_key && !known.inactive);
    if let Some((owner, known)) = known {
        let session = known.session.as_ref().map(|session| (session.token.clone(), session.expires));
        let (role, user_id) = match assumed(&known.arn) {
            Some((role, name)) => {
                let arn = format!("arn:aws:iam::{}:role/{role}", owner.account);
                (Some(arn.clone()), format!("{}:{name}", identifier("AROA", 17, &arn)))
            }
            None if known.arn.ends_with(":root") => (None, owner.account.clone()),
            None => (None, identifier("AIDA", 17, &known.arn)),
        };
        let (account, arn, grants) = (owner.account.clone(), known.arn.clone(), known.grants.clone());
        let caller = Caller { account, arn, user_id, role, grants };
        return Some(Key { secret: known.secret.clone(), session, caller });
    }
    let issued = sessions.find(access_key)?;
    let owner = cloud.named(&issued.account)?;
    let role = owner.roles.iter().find(|role| role.name == issued.role)?;
    let arn = role.arn(&owner.account);
    let caller = Caller {
        account: owner.account.clone(),
        arn: session_arn(&owner.account, &issued.role, &issued.session_name),
        user_id: format!("{}:{}", identifier("AROA", 17, &arn), issued.session_name),
        role: Some(arn),
        grants: role.grants.clone(),
    };
    Some(Key { secret: issued.secret, session: Some((issued.token, issued.expires)), caller })
}

pub(super) fn session_arn(account: &str, role: &str, session_name: &str) -> String {
    // A role's path is not part of it.
    let role = role.rsplit('/').next().unwrap_or(role);
    format!("arn:aws:sts::{account}:assumed-role/{role}/{session_name}")
}

fn assumed(arn: &str) -> Option<(&str, &str)> {
    arn.split(":assumed-role/").nth(1)?.split_once('/')
}

/// Who asks, for the log, without verifying the signature.
pub(super) fn identify(cloud: &Cloud, sessions: &Sessions, call: &Call) -> Identity {
    match Claim::of(call) {
        Ok(None) => Identity::Anonymous,
        Err(_) => Identity::Unknown,
        Ok(Some(claim)) => match find(cloud, sessions, claim.access_key) {
            None => Identity::Unknown,
            Some(key) => {
                let kind = if key.session.is_some() { "session" } else { "access-key" };
                Identity::User { login: key.caller.arn, kind }
            }
        },
    }
}

/// Checks key, scope, date, signature and session, in this order. The real provider's order is not published, but
/// a request with a single fault gets the same answer in any order.
pub(super) fn authenticate(
    cloud: &Cloud,
    sessions: &Sessions,
    call: &Call,
    ask: &Ask,
) -> Result<Caller, Refusal> {
    let service = ask.service;
    let claim = Claim::of(call).map_err(|wrong| Refusal::incomplete(service, wrong))?;
    let claim = claim.ok_or_else(|| Refusal::missing(service))?;
    let key = find(cloud, sessions, claim.access_key).ok_or_else(|| Refusal::invalid_token(service))?;
    scope(cloud.named(&key.caller.account).unwrap_or(cloud), &claim, service)?;
    let at = date(call, &claim, service)?;
    let token = call.header("x-amz-security-token");
    if key.session.as_ref().map(|(token, _)| token.as_str()) != token {
        return Err(Refusal::invalid_token(service));
    }
    if !claim.holds(call, &key.secret, token, at) {
        return Err(Refusal::wrong_signature(service));
    }
    if key.session.is_some_and(|(_, expires)| expires <= call.now.as_second()) {
        return Err(Refusal::expired(service));
    }
    Ok(key.caller)
}

fn scope(cloud: &Cloud, claim: &Claim<'_>, service: Service) -> Result<(), Refusal> {
    if claim.service != service.name() {
        let message = format!("Credential should be scoped to correct service: '{}'. ", service.name());
        return Err(Refusal::signature(service, message));
    }
    // IAM is one service for all regions, signed for `us-east-1`.
    if service == Service::Iam && claim.region != "us-east-1" {
        return Err(Refusal::signature(service, "Credential should be scoped to a valid region. "));
    }
    if service == Service::Organizations && claim.region != "us-east-1" {
        return Err(Refusal::signature(service, "Credential should be scoped to a valid region. "));
    }
    if !cloud.regions.contains(claim.region) {
        return Err(Refusal::invalid_token(service));
    }
    Ok(())
}

fn date(call: &Call, claim: &Claim<'_>, service: Service) -> Result<Timestamp, Refusal> {
    let text = call.header("x-amz-date").unwrap_or_default();
    let Some(at) = parse_date(text) else {
        let message = "Date must be in ISO-8601 'basic format'. Got '".to_owned()
            + text
            + "'. See http://en.wikipedia.org/wiki/ISO_8601";
        return Err(Refusal::incomplete(service, message));
    };
    if !text.starts_with(claim.date) {
        let message = format!(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{}', \
             from '{text}'.",
            claim.date,
            text.get(..8).unwrap_or_default()
        );
        return Err(Refusal::signature(service, message));
    }
    let shifted = |by: i64| call.now.checked_add(SignedDuration::from_secs(by)).unwrap_or(call.now);
    let (now, early, late) = (write_date(call.now), write_date(shifted(-SKEW)), write_date(shifted(SKEW)));
    if at < shifted(-SKEW) {
        let message = format!("Signature expired: {text} is now earlier than {early} ({now} - 5 min.)");
        return Err(Refusal::signature(service, message));
    }
    if at > shifted(SKEW) {
        let message =
            format!("Signature not yet current: {text} is still later than {late} ({now} + 5 min.)");
        return Err(Refusal::signature(service, message));
    }
    Ok(at)
}

/// Whether the caller may do this.
pub(super) fn authorize(cloud: &Cloud, caller: &Caller, ask: &Ask) -> Result<(), Refusal> {
    let action = ask.action();
    // Anyone may ask who they are, and a role itself says whom it trusts.
    if matches!(action.as_str(), "sts:GetCallerIdentity" | "sts:AssumeRole") {
        return Ok(());
    }
    let because = match caller.grants.permit(&action, &ask.region) {
        Permit::Allowed => return Ok(()),
        Permit::NotAllowed => format!("because no identity-based policy allows the {action} action"),
        Permit::Denied => "with an explicit deny in a service control policy".to_owned(),
    };
    // The resource that CloudTrail names for a listing is not known for certain.
    let resource = match ask.service {
        Service::Logs => format!("arn:aws:logs:{}:{}:log-group::log-stream:", ask.region, cloud.account),
        Service::Trail => format!("arn:aws:cloudtrail:{}:{}:trail/*", ask.region, cloud.account),
        Service::Rds => format!("arn:aws:rds:{}:{}:*", ask.region, cloud.account),
        Service::GuardDuty => format!("arn:aws:guardduty:{}:{}:/detector/*", ask.region, cloud.account),
        Service::S3 if !ask.resource.is_empty() => format!("arn:aws:s3:::{}", ask.resource),
        Service::Sts | Service::Iam | Service::Ec2 | Service::Organizations | Service::S3 => "*".to_owned(),
    };
    let message = format!(
        "User: {} is not authorized to perform: {action} on resource: {resource} {because}",
        caller.arn
    );
    Err(Refusal::denied(ask.service, message))
}
