//! Any answer of a host to each call of each source: refused, or a JSON artifact whose judgement follows from its
//! content.
//!
//! The first byte picks the source and the second its call, so seeds keep their meaning when a call is added at the end
//! of a source's list, or another source. A second implementation of the specification's
//! sentences judges the received JSON (or, for XML, the artifact to be signed), and the results are compared.

use evidence::evaluate::checks_alone;
use evidence::observation::Seen;
use evidence::source::{CollectionItem, Endpoint, KINDS};
use evidence_rules::rule::{Status, Verdict};
use serde_json::Value;

pub fn run(input: &[u8]) -> bool {
    let [source, call, bytes @ ..] = input else { return false };
    let calls: &[Endpoint] = KINDS[usize::from(*source) % KINDS.len()].calls;
    let call = &calls[usize::from(*call) % calls.len()];
    let read = (call.read)(bytes);
    let again = (call.read)(bytes);
    let padded = (call.read)(&[bytes, b"\n "].concat());
    assert_eq!(format!("{read:?}"), format!("{again:?}"), "the same answer, read twice");
    // The length of an answer does not affect its meaning.
    assert_eq!(read.is_ok(), padded.is_ok());
    let Ok(found) = read else { return false };
    assert_eq!(
        format!("{found:?}"),
        format!("{:?}", padded.unwrap()),
        "the same answer with white space behind"
    );
    for found in found {
        let CollectionItem::Inspected(inspection) = found else { continue };
        let artifact = inspection.observations.iter().find_map(|observation| match &observation.seen {
            Seen::Artifact { artifact, .. } => Some(json(artifact.bytes())),
            _ => None,
        });
        for check in checks_alone(inspection) {
            judged(check.rule.code, call.name, bytes, artifact.as_ref(), &check.verdict);
        }
    }
    true
}

/// An artifact: one JSON object in the form of the format.
fn json(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).expect("an artifact is text");
    assert!(text.starts_with('{') && text.ends_with("}\n"), "{text}");
    assert!(!text.contains(|character: char| character < ' ' && character != '\n'), "{text:?}");
    serde_json::from_str(text).expect("an artifact is JSON")
}

fn judged(rule: &str, call: &str, bytes: &[u8], artifact: Option<&Value>, verdict: &Verdict) {
    assert!(verdict.actual.as_ref().is_some_and(|actual| !actual.is_empty()), "{verdict:?}");
    assert!(!verdict.improvable || verdict.status == Status::Pass, "{verdict:?}");
    // `Value` cannot hold out-of-range numbers, which the tool skips in unused fields.
    let answer = serde_json::from_slice::<Value>(bytes).ok();
    let Some(said) = (if call.starts_with("iam:") { artifact } else { answer.as_ref() }) else {
        return;
    };
    let expected = match (call, rule) {
        ("/orgs/{org}", "two-factor-required") => match said["two_factor_requirement_enabled"].as_bool() {
            Some(true) => Status::Pass,
            Some(false) => Status::Fail,
            None => Status::NotVerifiable,
        },
        ("/repos/{owner}/{repo}/branches/{branch}/protection", "branch-protection") => protection(said),
        (name, "branch-protection") if name.contains("/rules/branches/") => rules(said),
        ("iam:GetAccountSummary", "password-policy") => match said["Users"].as_u64() {
            Some(0) => Status::NotApplicable,
            _ => Status::Fail,
        },
        ("iam:GetAccountPasswordPolicy", "password-policy") => password(&said["PasswordPolicy"]),
        // Without its logging status, no trail passes, and a single-region one cannot pass at all.
        ("cloudtrail:DescribeTrails", "audit-trail") => {
            let trails = said["trailList"].as_array().map(Vec::as_slice).unwrap_or_default();
            let of_one_region = |trail: &Value| trail["IsMultiRegionTrail"].as_bool() == Some(false);
            if trails.iter().all(of_one_region) { Status::Fail } else { Status::NotVerifiable }
        }
        ("cloudtrail:GetTrailStatus", "audit-trail") => match trail_status(said) {
            Some(status) => status,
            None => return,
        },
        ("cloudtrail:GetEventSelectors", "audit-trail") => match event_selectors(said) {
            Some(status) => status,
            None => return,
        },
        ("logs:DescribeLogGroups", "log-retention") => log_groups(said),
        (name, "two-step-verification") if name.starts_with("/admin/directory/v1/users?") => two_step(said),
        _ => return,
    };
    assert_eq!(verdict.status, expected, "{call}: {said}: {verdict:?}");
}

/// Judged as if read in 1970, so that any delivery was today. `None` for times before or after.
fn trail_status(said: &Value) -> Option<Status> {
    let mut errors =
        ["LatestDeliveryError", "LatestDigestDeliveryError"].iter().filter_map(|name| said[name].as_str());
    let failed = errors.any(|error| !error.trim().is_empty());
    match (said["IsLogging"].as_bool(), said["LatestDeliveryTime"].as_f64()) {
        (Some(false), _) => Some(Status::Fail),
        (_, _) if failed => Some(Status::Fail),
        (Some(true), Some(0.0..4e9)) => Some(Status::Pass),
        (None, Some(0.0..4e9)) => Some(Status::NotVerifiable),
        (_, _) => None,
    }
}

/// `None` for selectors that select neither everything nor nothing.
fn event_selectors(said: &Value) -> Option<Status> {
    let list = |name: &str| said[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let (basic, advanced) = (list("EventSelectors"), list("AdvancedEventSelectors"));
    let includes = |selector: &Value| selector["IncludeManagementEvents"].as_bool();
    let everything = |selector: &&Value| {
        includes(selector) == Some(true)
            && selector["ReadWriteType"] == "All"
            && selector["ExcludeManagementEventSources"] == Value::Array(Vec::new())
    };
    match (basic, advanced) {
        ([], []) => Some(Status::NotVerifiable),
        (basic, _) if basic.iter().any(|selector| everything(&selector)) => Some(Status::Pass),
        (basic, []) if basic.iter().all(|selector| includes(selector) == Some(false)) => Some(Status::Fail),
        _ => None,
    }
}

fn all(criteria: &[Option<bool>]) -> Status {
    match criteria {
        criteria if criteria.contains(&Some(false)) => Status::Fail,
        criteria if criteria.contains(&None) => Status::NotVerifiable,
        _ => Status::Pass,
    }
}

/// An absent section means not configured; a section without its number or switch is inconclusive.
fn protection(said: &Value) -> Status {
    let reviews = match &said["required_pull_request_reviews"] {
        Value::Null => Some(false),
        section => section["required_approving_review_count"].as_u64().map(|count| count > 0),
    };
    let checks = &said["required_status_checks"];
    let is_named = |name: &Value| name.as_str().is_some_and(|name| !name.trim().is_empty());
    let named = |list: &str| {
        let mut names = checks[list].as_array().into_iter().flatten();
        names.any(|name| is_named(name) || is_named(&name["context"]))
    };
    all(&[reviews, Some(named("contexts") || named("checks")), said["enforce_admins"]["enabled"].as_bool()])
}

/// Without a classic rule; who can bypass the rulesets was not requested.
fn rules(said: &Value) -> Status {
    let of = |kind: &'static str| said.as_array().unwrap().iter().filter(move |rule| rule["type"] == kind);
    let parameter = |rule: &Value, name: &str| rule["parameters"][name].clone();
    let any = |demands: Vec<Option<bool>>| match demands {
        demands if demands.contains(&Some(true)) => Some(true),
        demands if demands.contains(&None) => None,
        _ => Some(false),
    };
    let count = |rule: &Value| parameter(rule, "required_approving_review_count").as_u64();
    let named = |rule: &Value| {
        let checks = parameter(rule, "required_status_checks");
        let is_named = |check: &Value| check["context"].as_str().is_some_and(|name| !name.trim().is_empty());
        checks.as_array().map(|checks| checks.iter().any(is_named))
    };
    let listed =
        |rule: &Value| parameter(rule, "workflows").as_array().map(|workflows| !workflows.is_empty());
    // Reviewers who must approve changes to every file.
    let reviewed = |rule: &Value| {
        let reviewers = parameter(rule, "required_reviewers");
        reviewers.as_array().into_iter().flatten().any(|reviewer| {
            let patterns: Vec<&str> = reviewer["file_patterns"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            reviewer["minimum_approvals"].as_u64().is_some_and(|count| count > 0)
                && patterns.iter().any(|pattern| ["*", "**", "**/*"].contains(pattern))
                && !patterns.iter().any(|pattern| pattern.starts_with('!'))
        })
    };
    let demands = |rule| if reviewed(rule) { Some(true) } else { count(rule).map(|count| count > 0) };
    let reviews = any(of("pull_request").map(demands).collect());
    let checks = of("required_status_checks").map(named).chain(of("workflows").map(listed));
    all(&[reviews, any(checks.collect()), None])
}

fn password(policy: &Value) -> Status {
    let switch = |name: &str| policy[name].as_bool();
    all(&[
        policy["MinimumPasswordLength"].as_u64().map(|length| length >= 8),
        switch("RequireUppercaseCharacters"),
        switch("RequireLowercaseCharacters"),
        switch("RequireNumbers"),
        switch("RequireSymbols"),
    ])
}

/// A group without the field keeps its events forever.
fn log_groups(said: &Value) -> Status {
    let groups = said["logGroups"].as_array().unwrap();
    let kept = |group: &Value| match (group.get("logGroupClass"), group.get("retentionInDays")) {
        (Some(class), _) if class == "DELIVERY" => Some(false),
        (Some(class), None) if class != "STANDARD" && class != "INFREQUENT_ACCESS" => None,
        (_, None) => Some(true),
        (_, Some(days)) => days.as_i64().filter(|days| *days > 0).map(|days| days >= 90),
    };
    let criteria: Vec<Option<bool>> = groups.iter().map(kept).collect();
    if criteria.is_empty() { Status::NotApplicable } else { all(&criteria) }
}

/// Suspended or archived people cannot sign in; only a person who is certainly neither fails for certain.
fn two_step(said: &Value) -> Status {
    let users: &[Value] = said["users"].as_array().map_or(&[], Vec::as_slice);
    let mut criteria: Vec<Option<bool>> = Vec::new();
    let mut somebody = false;
    for user in users.iter().filter(|user| user["suspended"] != true && user["archived"] != true) {
        let active = user["suspended"] == false && user["archived"] == false;
        somebody |= active;
        criteria.push(match user["isEnforcedIn2Sv"].as_bool() {
            Some(false) if !active => None,
            enforced => enforced,
        });
    }
    match all(&criteria) {
        Status::Pass if !somebody => Status::NotVerifiable,
        status => status,
    }
}
