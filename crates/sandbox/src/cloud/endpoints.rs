//! The services that answer in XML: the caller's identity, assuming a role, the password policy, the enabled regions.

use super::caller::{Caller, session_arn};
use super::principal::{Permit, Role};
use super::refusal::Refusal;
use super::session::{Sessions, identifier};
use super::state::{Cloud, REGIONS};
use super::wire::{Ask, Service, Xml};
use crate::clock::iso_date;
use crate::server::Call;

/// The longest session of a role assumed from another role's session.
const CHAINED: u32 = 3600;

/// `GetCallerIdentity`.
pub(super) fn caller_identity(cloud: &Cloud, caller: &Caller, request_id: &str) -> String {
    Xml::answer(Service::Sts, "GetCallerIdentity", request_id, |xml| {
        xml.text("Arn", &caller.arn);
        xml.text("UserId", &caller.user_id);
        xml.text("Account", &cloud.account);
    })
}

/// `GetAccountPasswordPolicy`.
pub(super) fn password_policy(cloud: &Cloud, request_id: &str) -> Result<String, Refusal> {
    let Some(policy) = &cloud.policy else {
        let message = format!("The Password Policy with domain name {} cannot be found.", cloud.account);
        return Err(Refusal::own(404, "NoSuchEntity", message));
    };
    Ok(Xml::answer(Service::Iam, "GetAccountPasswordPolicy", request_id, |xml| policy.write(xml)))
}

/// `GetAccountSummary`: an unordered map of counts and quotas, here with those that its documentation shows first.
pub(super) fn account_summary(cloud: &Cloud, request_id: &str) -> String {
    let count = |count: usize| count.to_string();
    let root = [
        ("AccountMFAEnabled", cloud.root.mfa),
        ("AccountAccessKeysPresent", cloud.root.keys),
        ("AccountPasswordPresent", cloud.root.password),
        ("AccountSigningCertificatesPresent", Some(0)),
    ];
    let root = root.into_iter().filter_map(|(key, value)| Some((key, value?.to_string())));
    let mut map = vec![
        ("UsersQuota", "5000".to_owned()),
        ("Groups", "0".to_owned()),
        ("Users", cloud.users.to_string()),
        ("Roles", count(cloud.roles.len())),
    ];
    map.extend(root);
    Xml::answer(Service::Iam, "GetAccountSummary", request_id, |xml| {
        xml.open("SummaryMap");
        for (key, value) in &map {
            xml.open("entry");
            xml.text("key", key);
            xml.text("value", value);
            xml.close("entry");
        }
        xml.close("SummaryMap");
    })
}

/// `DescribeRegions`: the regions that are enabled, in the envelope of this service.
pub(super) fn regions(cloud: &Cloud, request_id: &str) -> String {
    let mut xml = Xml::default();
    xml.root("DescribeRegionsResponse", Service::Ec2);
    xml.text("requestId", request_id);
    xml.open("regionInfo");
    for region in &cloud.regions {
        let always = REGIONS.contains(&region.as_str());
        xml.open("item");
        xml.text("regionName", region);
        xml.text("regionEndpoint", &format!("ec2.{region}.amazonaws.com"));
        xml.text("optInStatus", if always { "opt-in-not-required" } else { "opted-in" });
        xml.close("item");
    }
    xml.close("regionInfo");
    xml.close("DescribeRegionsResponse");
    xml.finish()
}

/// `GetEbsEncryptionByDefault`.
pub(super) fn disk_encryption(cloud: &Cloud, region: &str, request_id: &str) -> String {
    let mut xml = Xml::default();
    xml.root("GetEbsEncryptionByDefaultResponse", Service::Ec2);
    xml.text("requestId", request_id);
    xml.text("ebsEncryptionByDefault", &cloud.encrypts_disks.contains(region).to_string());
    xml.text("sseType", "sse-ebs");
    xml.close("GetEbsEncryptionByDefaultResponse");
    xml.finish()
}

/// `AssumeRole`.
pub(super) fn assume_role(
    cloud: &Cloud,
    sessions: &Sessions,
    caller: &Caller,
    call: &Call,
    ask: &Ask,
    request_id: &str,
) -> Result<String, Refusal> {
    let sts = Service::Sts;
    let null = |at: &str| Refusal::constraint(sts, None, at, "not be null");
    let arn = ask.parameter("RoleArn").ok_or_else(|| null("roleArn"))?;
    let name = ask.parameter("RoleSessionName").ok_or_else(|| null("roleSessionName"))?;
    bounds(name, "roleSessionName", 2, 64)?;
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_+=,.@-".contains(letter)) {
        let rule = "satisfy regular expression pattern: [\\w+=,.@-]*";
        return Err(Refusal::constraint(sts, Some(name), "roleSessionName", rule));
    }
    bounds(arn, "roleArn", 20, 2048)?;
    let external = ask.parameter("ExternalId");
    if let Some(external) = external {
        bounds(external, "externalId", 2, 1224)?;
    }
    let seconds = duration(ask)?;
    if !arn.starts_with("arn:") {
        return Err(Refusal::own(400, "ValidationError", format!("{arn} is invalid")));
    }
    let roles = cloud.accounts().flat_map(|owner| owner.roles.iter().map(move |role| (owner, role)));
    let mut roles = roles.filter(|(owner, role)| role.arn(&owner.account) == arn);
    let role = roles.find(|(owner, role)| trusted(owner, role, caller, external, &ask.region));
    let (owner, role) = role.ok_or_else(|| {
        let caller = &caller.arn;
        let message =
            format!("User: {caller} is not authorized to perform: sts:AssumeRole on resource: {arn}");
        Refusal::denied(sts, message)
    })?;
    if caller.role.is_some() && seconds > CHAINED {
        let message = "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining";
        return Err(Refusal::own(400, "ValidationError", message));
    }
    if seconds > role.max_session {
        let message = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.";
        return Err(Refusal::own(400, "ValidationError", message));
    }
    let issued = sessions.issue(
        &owner.account,
        &role.name,
        name,
        call.now.as_second().saturating_add(i64::from(seconds)),
    );
    Ok(Xml::answer(sts, "AssumeRole", request_id, |xml| {
        xml.open("AssumedRoleUser");
        xml.text("AssumedRoleId", &format!("{}:{name}", identifier("AROA", 17, arn)));
        xml.text("Arn", &session_arn(&owner.account, &role.name, name));
        xml.close("AssumedRoleUser");
        xml.open("Credentials");
        xml.text("AccessKeyId", &issued.access_key);
        xml.text("SecretAccessKey", &issued.secret);
        xml.text("SessionToken", &issued.token);
        xml.text("Expiration", &iso_date(issued.expires));
        xml.close("Credentials");
    }))
}

/// `AssumeRoleWithWebIdentity`: unsigned, the token is the proof.
pub(super) fn assume_by_token(
    cloud: &Cloud,
    sessions: &Sessions,
    call: &Call,
    ask: &Ask,
    request_id: &str,
) -> Result<String, Refusal> {
    let sts = Service::Sts;
    let null = |at: &str| Refusal::constraint(sts, None, at, "not be null");
    let arn = ask.parameter("RoleArn").ok_or_else(|| null("roleArn"))?;
    let name = ask.parameter("RoleSessionName").ok_or_else(|| null("roleSessionName"))?;
    let token = ask.parameter("WebIdentityToken").ok_or_else(|| null("webIdentityToken"))?;
    let seconds = duration(ask)?;
    let roles = cloud.accounts().flat_map(|owner| owner.roles.iter().map(move |role| (owner, role)));
    let mut roles = roles.filter(|(owner, role)| role.arn(&owner.account) == arn);
    let role = roles.find(|(_, role)| role.web_identities.iter().any(|known| known == token));
    let (owner, role) = role.ok_or_else(|| {
        Refusal::denied(sts, "Not authorized to perform sts:AssumeRoleWithWebIdentity".to_owned())
    })?;
    if seconds > role.max_session {
        let message = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.";
        return Err(Refusal::own(400, "ValidationError", message));
    }
    let ends = call.now.as_second().saturating_add(i64::from(seconds));
    let issued = sessions.issue(&owner.account, &role.name, name, ends);
    Ok(Xml::answer(sts, "AssumeRoleWithWebIdentity", request_id, |xml| {
        xml.text("SubjectFromWebIdentityToken", "system:serviceaccount:audit:evidence");
        xml.text("Audience", "sts.amazonaws.com");
        xml.open("AssumedRoleUser");
        xml.text("AssumedRoleId", &format!("{}:{name}", identifier("AROA", 17, arn)));
        xml.text("Arn", &session_arn(&owner.account, &role.name, name));
        xml.close("AssumedRoleUser");
        xml.open("Credentials");
        xml.text("AccessKeyId", &issued.access_key);
        xml.text("SecretAccessKey", &issued.secret);
        xml.text("SessionToken", &issued.token);
        xml.text("Expiration", &iso_date(issued.expires));
        xml.close("Credentials");
        xml.text("Provider", "arn:aws:iam::123456789012:oidc-provider/issuer.example");
    }))
}

fn duration(ask: &Ask) -> Result<u32, Refusal> {
    let Some(text) = ask.parameter("DurationSeconds") else { return Ok(3600) };
    let Ok(seconds) = text.parse::<i64>() else {
        // The exact text is not known for certain.
        let message = format!("Value {text} at 'durationSeconds' is not an integer");
        return Err(Refusal::own(400, "MalformedInput", message));
    };
    let wrong = |rule: &str| Refusal::constraint(Service::Sts, Some(text), "durationSeconds", rule);
    match seconds {
        ..900 => Err(wrong("have value greater than or equal to 900")),
        43_201.. => Err(wrong("have value less than or equal to 43200")),
        _ => u32::try_from(seconds).map_err(|_| wrong("have value less than or equal to 43200")),
    }
}

fn bounds(text: &str, at: &str, least: usize, most: usize) -> Result<(), Refusal> {
    let rule = match text.chars().count() {
        length if length < least => format!("have length greater than or equal to {least}"),
        length if length > most => format!("have length less than or equal to {most}"),
        _ => return Ok(()),
    };
    Err(Refusal::constraint(Service::Sts, Some(text), at, &rule))
}

/// Whether the role's policy names the caller, or the role trusts the caller's account and the caller's policy allows
/// it. A caller of another account needs both.
fn trusted(owner: &Cloud, role: &Role, caller: &Caller, external: Option<&str>, region: &str) -> bool {
    if role.external_id.is_some() && role.external_id.as_deref() != external {
        return false;
    }
    let root = format!("arn:aws:iam::{}:root", caller.account);
    let named = role.trusted.iter().any(|who| *who == caller.arn || Some(who) == caller.role.as_ref());
    let anybody = role.trusted.iter().any(|who| *who == "*" || *who == root);
    match caller.grants.permit("sts:AssumeRole", region) {
        Permit::Denied => false,
        Permit::NotAllowed => named && owner.account == caller.account,
        Permit::Allowed => named || anybody,
    }
}
