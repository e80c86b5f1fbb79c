//! The answers of the provider's calls, reduced to the fields that are used.
//!
//! Two services answer in XML, two in JSON. A missing or unknown field is not an error. A field of another type than
//! documented is, because guessing its meaning would invent evidence. A missing list is an error too, since "no trails"
//! is a finding that the answer must state. So is a log group without a name, which would otherwise count as one that
//! keeps its events forever.

use evidence_bundle::text::Printable;
use serde::Deserialize;

use super::endpoint::Region;
use super::scope::{Arn, is_account};
use super::sign::Credentials;
use super::xml::{self, Element};
use crate::json::{Object, object};
use evidence_http::ParseError;
use evidence_rules::cloud::record::{
    AccountSummary, EventSelectors, LogGroup, PasswordPolicy, Trail, TrailStatus,
};
use evidence_rules::field::Field;

/// The provider's own limit for an ARN, in bytes.
const MAXIMUM_ARN: usize = 2_048;

/// `GetCallerIdentity`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// The account number: 12 digits.
    pub(super) account: String,
    /// The caller.
    pub(super) arn: String,
}

impl Caller {
    pub(super) fn parse(bytes: &[u8]) -> Result<Caller, ParseError> {
        let root = answer(bytes, "GetCallerIdentityResponse")?;
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
pub(super) struct RoleLogin {
    /// The role's temporary credentials.
    pub(super) credentials: Credentials,
    /// The session that they belong to.
    pub(super) arn: Option<String>,
}

/// `AssumeRole`: the role's temporary credentials.
pub(super) fn assumed_role(bytes: &[u8]) -> Result<RoleLogin, ParseError> {
    let root = answer(bytes, "AssumeRoleResponse")?;
    let result = required(&root, "AssumeRoleResult")?;
    let credentials = required(result, "Credentials")?;
    let arn = match result.child("AssumedRoleUser")? {
        Some(user) => user.child("Arn")?.and_then(Element::text).map(str::to_string),
        None => None,
    };
    let text = |name| required_text(credentials, name);
    let made = Credentials::new(text("AccessKeyId")?, text("SecretAccessKey")?, Some(text("SessionToken")?))
        .map_err(|error| ParseError::Shape(format!("the role's credentials: {error}")))?;
    let credentials = made.until(match field(credentials, "Expiration")? {
        Field::Value(end) => Some(end),
        Field::Absent | Field::Null => None,
    });
    Ok(RoleLogin { credentials, arn })
}

/// `GetAccountPasswordPolicy`
pub(super) fn password_policy(bytes: &[u8]) -> Result<PasswordPolicy, ParseError> {
    let root = answer(bytes, "GetAccountPasswordPolicyResponse")?;
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

/// `GetAccountSummary`: an unordered map, of which only the number of users is read.
pub(super) fn account_summary(bytes: &[u8]) -> Result<AccountSummary, ParseError> {
    let root = answer(bytes, "GetAccountSummaryResponse")?;
    let map = required(required(&root, "GetAccountSummaryResult")?, "SummaryMap")?;
    let mut users = None;
    for entry in &map.children {
        if entry.child("key")?.and_then(Element::text) != Some("Users") {
            continue;
        }
        let Field::Value(count) = field(entry, "value")? else {
            return Err(ParseError::Shape("Users has no value".to_string()));
        };
        if users.replace(count).is_some() {
            return Err(ParseError::Shape("Users is reported twice".to_string()));
        }
    }
    let users = users.ok_or_else(|| ParseError::Shape("no Users in SummaryMap".to_string()))?;
    Ok(AccountSummary { users })
}

/// `DescribeRegions`: the enabled regions of the account, unless others are requested too.
pub(super) fn regions(bytes: &[u8]) -> Result<Vec<Region>, ParseError> {
    let root = answer(bytes, "DescribeRegionsResponse")?;
    let mut regions = Vec::new();
    for item in &required(&root, "regionInfo")?.children {
        // A server that ignores the default lists those that are not enabled too.
        let status = item.child("optInStatus")?.and_then(Element::text);
        if status == Some("not-opted-in") {
            continue;
        }
        let name = required_text(item, "regionName")?;
        let shown = || ParseError::Shape(format!("not a region: {}", evidence_http::single_line(name)));
        let region = Region::new(name).ok_or_else(shown)?;
        if regions.contains(&region) {
            return Err(ParseError::Shape(format!("{region} is reported twice")));
        }
        regions.push(region);
    }
    if regions.is_empty() {
        return Err(ParseError::Shape("no region in regionInfo".to_string()));
    }
    regions.sort_unstable();
    Ok(regions)
}

fn answer(bytes: &[u8], name: &str) -> Result<Element, ParseError> {
    let root = xml::parse(bytes)?;
    if root.name == name {
        return Ok(root);
    }
    Err(ParseError::Shape(format!("{} instead of {name}", evidence_http::single_line(&root.name))))
}

fn required<'a>(parent: &'a Element, name: &str) -> Result<&'a Element, ParseError> {
    parent.child(name)?.ok_or_else(|| ParseError::Shape(format!("no {name} in {}", parent.name)))
}

fn required_text<'a>(parent: &'a Element, name: &str) -> Result<&'a str, ParseError> {
    let text = required(parent, name)?.text();
    text.ok_or_else(|| ParseError::Shape(format!("{name} in {} is empty", parent.name)))
}

/// An element's value. An absent element is absent; an empty one is `null`.
fn field<T: std::str::FromStr>(parent: &Element, name: &str) -> Result<Field<T>, ParseError> {
    let Some(element) = parent.child(name)? else { return Ok(Field::Absent) };
    let Some(text) = element.text() else { return Ok(Field::Null) };
    text.parse().map(Field::Value).map_err(|_| ParseError::Shape(format!("{name} has an undocumented type")))
}

/// `DescribeTrails`
pub(super) fn trails(bytes: &[u8]) -> Result<Vec<Trail>, ParseError> {
    #[derive(Deserialize)]
    struct TrailList {
        #[serde(rename = "trailList")]
        trail_list: Vec<Object<Trail>>,
    }
    Ok(Object::all(object::<TrailList>(bytes)?.trail_list))
}

/// `GetTrailStatus`
pub(super) fn trail_status(bytes: &[u8]) -> Result<TrailStatus, ParseError> {
    let status: TrailStatus = object(bytes)?;
    if status == TrailStatus::default() {
        return Err(ParseError::Shape("no field of a trail's status".to_string()));
    }
    Ok(status)
}

/// `GetEventSelectors`
pub(super) fn event_selectors(bytes: &[u8]) -> Result<EventSelectors, ParseError> {
    let selectors: EventSelectors = object(bytes)?;
    if selectors.event_selectors.is_absent() && selectors.advanced_event_selectors.is_absent() {
        return Err(ParseError::Shape("no event selectors".to_string()));
    }
    Ok(selectors)
}

/// A page of `DescribeLogGroups`
#[derive(Debug, Clone)]
pub(super) struct LogGroupPage {
    pub(super) groups: Vec<LogGroup>,
    /// The token for the next page.
    pub(super) next: Option<String>,
    /// The length of the answer in bytes.
    pub(super) bytes: usize,
}

impl LogGroupPage {
    pub(super) fn parse(bytes: &[u8]) -> Result<LogGroupPage, ParseError> {
        #[derive(Deserialize)]
        struct LogGroupList {
            #[serde(rename = "logGroups")]
            log_groups: Vec<Object<LogGroup>>,
            #[serde(rename = "nextToken")]
            next_token: Option<String>,
        }
        let LogGroupList { log_groups, next_token } = object(bytes)?;
        let groups = Object::all(log_groups);
        if groups.iter().any(|group| group.log_group_name.is_empty()) {
            return Err(ParseError::Shape("a log group without a name".to_string()));
        }
        let next = next_token.filter(|token| !token.is_empty());
        Ok(LogGroupPage { groups, next, bytes: bytes.len() })
    }
}

#[cfg(test)]
mod tests;
