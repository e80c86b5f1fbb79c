//! CloudWatch Logs: the log groups of a region, in the order of their names, page by page.

use super::Cloud;
use super::logs::LogGroup;
use super::refusal::Refusal;
use super::wire::Service;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::ops::Bound;

/// The most log groups on a page, and the default.
const LIMIT: u64 = 50;

/// `DescribeLogGroups`.
pub(super) fn describe_log_groups(
    cloud: &Cloud,
    region: &str,
    parameters: &Value,
) -> Result<String, Refusal> {
    let prefix = text(parameters, "logGroupNamePrefix")?;
    let pattern = text(parameters, "logGroupNamePattern")?;
    if prefix.is_some() && pattern.is_some() {
        let message = "LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.";
        return Err(Refusal::own(400, "InvalidParameterException", message));
    }
    for (name, at) in [(prefix, "logGroupNamePrefix"), (pattern, "logGroupNamePattern")] {
        check_name(name, at)?;
    }
    let class = text(parameters, "logGroupClass")?;
    let limit = limit(parameters)?.min(u64::from(cloud.page_size));
    let after = match text(parameters, "nextToken")? {
        None => None,
        Some(token) => Some(unseal(token, region).ok_or_else(|| {
            Refusal::own(400, "InvalidParameterException", "The specified nextToken is invalid.")
        })?),
    };
    let empty = std::collections::BTreeMap::new();
    let groups = cloud.log_groups.get(region).unwrap_or(&empty);
    let start = match (&after, prefix) {
        (Some(after), _) => Bound::Excluded(after.as_str()),
        (None, Some(prefix)) => Bound::Included(prefix),
        (None, None) => Bound::Unbounded,
    };
    let limit = usize::try_from(limit).unwrap_or(1);
    let mut found = groups
        .range::<str, _>((start, Bound::Unbounded))
        .map(|(_, group)| group)
        .take_while(|group| prefix.is_none_or(|prefix| group.name.starts_with(prefix)))
        .filter(|group| pattern.is_none_or(|pattern| group.name.contains(pattern)))
        .filter(|group| class.is_none_or(|class| group.class == class));
    let page: Vec<&LogGroup> = found.by_ref().take(limit).collect();
    let mut body = Map::new();
    let described = page.iter().map(|group| describe(cloud, region, group));
    body.insert("logGroups".to_owned(), described.collect::<Vec<_>>().into());
    if let (Some(_), Some(last)) = (found.next(), page.last()) {
        body.insert("nextToken".to_owned(), seal(&last.name, region).into());
    }
    Ok(Value::Object(body).to_string())
}

fn describe(cloud: &Cloud, region: &str, group: &LogGroup) -> Value {
    let arn = format!("arn:aws:logs:{region}:{}:log-group:{}", cloud.account, group.name);
    let mut body = json!({
        // The older member ends with a star, the newer one does not.
        "arn": format!("{arn}:*"),
        "creationTime": group.created_ms,
        "deletionProtectionEnabled": group.protected,
        "logGroupArn": arn,
        "logGroupClass": group.class,
        "logGroupName": group.name,
        "metricFilterCount": 0,
        "storedBytes": group.stored_bytes,
    });
    if let Some(body) = body.as_object_mut() {
        if let Some(days) = group.retention_days {
            body.insert("retentionInDays".to_owned(), days.into());
        }
        if let Some(key) = &group.kms_key {
            body.insert("kmsKeyId".to_owned(), key.clone().into());
        }
    }
    body
}

fn text<'a>(parameters: &'a Value, name: &str) -> Result<Option<&'a str>, Refusal> {
    match parameters.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::own(400, "SerializationException", "")),
    }
}

fn limit(parameters: &Value) -> Result<u64, Refusal> {
    let Some(value) = parameters.get("limit").filter(|value| !value.is_null()) else { return Ok(LIMIT) };
    let Some(limit) = value.as_i64() else { return Err(Refusal::own(400, "SerializationException", "")) };
    let wrong = |rule: String| Refusal::constraint(Service::Logs, Some(&limit.to_string()), "limit", &rule);
    match u64::try_from(limit) {
        Ok(limit @ 1..=LIMIT) => Ok(limit),
        Ok(1..) => Err(wrong(format!("have value less than or equal to {LIMIT}"))),
        _ => Err(wrong("have value greater than or equal to 1".to_owned())),
    }
}

fn check_name(name: Option<&str>, at: &str) -> Result<(), Refusal> {
    let Some(name) = name else { return Ok(()) };
    let wrong = |rule: &str| Err(Refusal::constraint(Service::Logs, Some(name), at, rule));
    if name.is_empty() {
        return wrong("have length greater than or equal to 1");
    }
    if name.chars().count() > 512 {
        return wrong("have length less than or equal to 512");
    }
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_/#".contains(letter)) {
        return wrong("satisfy regular expression pattern: [\\.\\-_/#A-Za-z0-9]+");
    }
    Ok(())
}

/// A page token: the place to continue, valid only for its region.
fn seal(name: &str, region: &str) -> String {
    STANDARD.encode(format!("1 {region} {name}"))
}

fn unseal(token: &str, region: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
    Some(text.strip_prefix(&format!("1 {region} "))?.to_owned())
}
