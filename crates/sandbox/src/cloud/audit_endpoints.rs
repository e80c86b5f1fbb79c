//! CloudTrail: the trails of a region, the status of one, and the events it selects.

use super::audit::Trail;
use super::refusal::Refusal;
use super::{Cloud, wire::Service};
use crate::clock::iso_date;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// `DescribeTrails`: the trails of the region, and the shadows of others unless excluded.
pub(super) fn describe_trails(cloud: &Cloud, region: &str, parameters: &Value) -> Result<String, Refusal> {
    let shadows = match parameters.get("includeShadowTrails") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(wanted)) => *wanted,
        Some(_) => return Err(Refusal::own(400, "SerializationException", "")),
    };
    let names: Vec<&str> = match parameters.get("trailNameList") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(Refusal::own(400, "SerializationException", "")),
    };
    for name in &names {
        check_name(name)?;
    }
    let wanted = |trail: &&Trail| {
        // A bare name finds only trails of this region; a shadow must be named by its ARN.
        let named = names
            .iter()
            .any(|name| *name == trail.arn(&cloud.account) || (*name == trail.name && trail.home == region));
        match names.is_empty() {
            true => trail.home == region || (shadows && trail.seen_in(region)),
            false => named && trail.seen_in(region),
        }
    };
    let list: Vec<Value> = cloud.trails.iter().filter(wanted).map(|trail| describe(cloud, trail)).collect();
    Ok(json!({ "trailList": list }).to_string())
}

fn describe(cloud: &Cloud, trail: &Trail) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("HasCustomEventSelectors", trail.selectors.is_some().into());
    put("HasInsightSelectors", false.into());
    put("HomeRegion", trail.home.clone().into());
    put("IncludeGlobalServiceEvents", true.into());
    put("IsMultiRegionTrail", trail.multi_region.into());
    put("IsOrganizationTrail", trail.organization.into());
    put("LogFileValidationEnabled", trail.validation.into());
    put("Name", trail.name.clone().into());
    put("S3BucketName", trail.bucket.clone().into());
    put("TrailARN", trail.arn(&cloud.account).into());
    if let Some(key) = &trail.kms_key {
        put("KmsKeyId", key.clone().into());
    }
    if let Some(group) = &trail.log_group {
        put("CloudWatchLogsLogGroupArn", group.clone().into());
        let role = format!("arn:aws:iam::{}:role/CloudTrail_CloudWatchLogs_Role", cloud.account);
        put("CloudWatchLogsRoleArn", role.into());
    }
    Value::Object(body)
}

/// `GetTrailStatus`.
pub(super) fn trail_status(
    cloud: &Cloud,
    region: &str,
    parameters: &Value,
    now: Timestamp,
) -> Result<String, Refusal> {
    Ok(status(&named(cloud, region, parameters.get("Name"))?.in_region(region), now).to_string())
}

/// `GetEventSelectors`.
pub(super) fn event_selectors(cloud: &Cloud, region: &str, parameters: &Value) -> Result<String, Refusal> {
    let trail = named(cloud, region, parameters.get("TrailName"))?;
    let (member, selectors) =
        trail.selectors.clone().unwrap_or_else(|| ("EventSelectors", default_selectors()));
    Ok(json!({ "TrailARN": trail.arn(&cloud.account), member: selectors }).to_string())
}

/// The event selectors of a new trail.
fn default_selectors() -> Value {
    json!([{
        "DataResources": [],
        "ExcludeManagementEventSources": [],
        "IncludeManagementEvents": true,
        "ReadWriteType": "All",
    }])
}

/// The trail with this name or ARN, if the region shows it.
fn named<'a>(cloud: &'a Cloud, region: &str, name: Option<&Value>) -> Result<&'a Trail, Refusal> {
    let name = match name {
        None | Some(Value::Null) => "",
        Some(Value::String(name)) => name,
        Some(_) => return Err(Refusal::own(400, "SerializationException", "")),
    };
    check_name(name)?;
    let found = cloud.trails.iter().find(|trail| {
        trail.seen_in(region)
            && (name == trail.arn(&cloud.account)
                || (name == trail.name && trail.home == region && trail.management_account.is_none()))
    });
    found.ok_or_else(|| {
        let message = format!("Unknown trail: {name} for the user: {}", cloud.account);
        Refusal::own(400, "TrailNotFoundException", message)
    })
}

fn status(trail: &Trail, now: Timestamp) -> Value {
    let delivered = trail.delivered(now);
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let iso = |at: Option<f64>| at.map_or_else(String::new, |at| iso_date(at as i64));
    put("IsLogging", trail.logging.into());
    // The text members are always present, even if empty; the numeric ones are not.
    put("LatestDeliveryAttemptTime", iso(delivered).into());
    put("LatestNotificationAttemptTime", "".into());
    put("LatestNotificationAttemptSucceeded", "".into());
    let succeeded = if trail.delivery_error.is_none() { iso(delivered) } else { String::new() };
    put("LatestDeliveryAttemptSucceeded", succeeded.into());
    put("TimeLoggingStarted", iso(trail.started).into());
    put("TimeLoggingStopped", iso(trail.stopped).into());
    let digest = trail.digested(now);
    let times = [
        ("LatestDeliveryTime", delivered),
        ("StartLoggingTime", trail.started),
        ("StopLoggingTime", trail.stopped),
        ("LatestDigestDeliveryTime", digest),
        ("LatestCloudWatchLogsDeliveryTime", delivered.filter(|_| trail.log_group.is_some())),
    ];
    for (key, at) in times {
        if let Some(at) = at {
            put(key, at.into());
        }
    }
    if let Some(error) = &trail.delivery_error {
        put("LatestDeliveryError", error.clone().into());
    }
    if let Some(error) = &trail.digest_error {
        put("LatestDigestDeliveryError", error.clone().into());
    }
    Value::Object(body)
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let wrong = |message: &str| Err(Refusal::own(400, "InvalidTrailNameException", message));
    if name.is_empty() {
        return wrong("Trail name cannot be blank!");
    }
    if name.starts_with("arn:") {
        let known = name.split(':').nth(2) == Some(Service::Trail.name()) && name.contains(":trail/");
        let message =
            "Trail ARN must be in the form: arn:aws:cloudtrail:us-east-1:123456789012:trail/MyTrail.";
        return match known {
            true => Ok(()),
            false => Err(Refusal::own(400, "CloudTrailARNInvalidException", message)),
        };
    }
    if name.chars().count() < 3 {
        return wrong("Trail name too short. Minimum allowed length: 3 characters.");
    }
    if name.chars().count() > 128 {
        return wrong("Trail name too long. Maximum allowed length: 128 characters.");
    }
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter)) {
        return wrong(
            "Trail name or ARN can only contain uppercase letters, lowercase letters, numbers, periods (.), hyphens (-), and underscores (_).",
        );
    }
    Ok(())
}
