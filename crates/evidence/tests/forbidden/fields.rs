//! Every text in every artifact, and how an outsider can set it. A test compares the list with the artifacts of a clean
//! run.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::estate::{Answer, Estate, Plants};

/// How a text gets into an artifact.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filled {
    /// By the hosts' answers, in these places.
    Answers(&'static [(Answer, &'static str)]),
    /// By a comment in the CODEOWNERS file.
    Owners,
    /// Not by an outsider: a value from the configuration, or one of the collector's fixed words.
    Ours,
}

/// A text of an artifact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// `artifact_type` in the manifest.
    pub(crate) artifact: &'static str,
    /// The path in the artifact; `*` matches any list index.
    pub(crate) place: &'static str,
    pub(crate) filled: Filled,
}

use Answer::{
    Assigned, Assignments, Contents, Created, Groups, Org, Protection, Roles, Selectors, Status, Trails,
    Users,
};
use Filled::{Answers, Ours, Owners};

const fn field(artifact: &'static str, place: &'static str, filled: Filled) -> Field {
    Field { artifact, place, filled }
}

pub(crate) static FIELDS: &[Field] = &[
    // The tool refuses the answer of another organization.
    field("org_settings", "/login", Ours),
    field(
        "org_settings",
        "/default_repository_permission",
        Answers(&[(Org, "/default_repository_permission")]),
    ),
    field("branch_protection", "/url", Answers(&[(Protection, "/url")])),
    field("branch_protection", "/enforce_admins/url", Answers(&[(Protection, "/enforce_admins/url")])),
    field(
        "branch_protection",
        "/required_status_checks/contexts/*",
        Answers(&[(Protection, "/required_status_checks/contexts/0")]),
    ),
    field(
        "branch_protection",
        "/required_pull_request_reviews/dismissal_restrictions/users/*/login",
        Answers(&[(Protection, "/required_pull_request_reviews/dismissal_restrictions/users/0/login")]),
    ),
    field(
        "branch_protection",
        "/required_pull_request_reviews/dismissal_restrictions/teams/*/slug",
        Answers(&[(Protection, "/required_pull_request_reviews/dismissal_restrictions/teams/0/slug")]),
    ),
    field(
        "branch_protection",
        "/required_pull_request_reviews/dismissal_restrictions/apps/*/slug",
        Answers(&[(Protection, "/required_pull_request_reviews/dismissal_restrictions/apps/0/slug")]),
    ),
    field("codeowners", "/content", Owners),
    field("codeowners", "/name", Answers(&[(Contents, "/name")])),
    field("codeowners", "/path", Answers(&[(Contents, "/path")])),
    field("codeowners", "/encoding", Ours),
    field("audit_trails", "/trailList/*/Name", Answers(&[(Trails, "/trailList/1/Name")])),
    field("audit_trails", "/trailList/*/TrailARN", Answers(&[(Trails, "/trailList/1/TrailARN")])),
    field("audit_trails", "/trailList/*/HomeRegion", Answers(&[(Trails, "/trailList/1/HomeRegion")])),
    field("audit_trails", "/trailList/*/S3BucketName", Answers(&[(Trails, "/trailList/1/S3BucketName")])),
    field(
        "audit_trails",
        "/trailList/*/CloudWatchLogsLogGroupArn",
        Answers(&[(Trails, "/trailList/1/CloudWatchLogsLogGroupArn")]),
    ),
    field("audit_trails", "/trailList/*/KmsKeyId", Answers(&[(Trails, "/trailList/1/KmsKeyId")])),
    field("audit_trails", "/scope/*", Ours),
    field("audit_trails", "/regions_read/*", Ours),
    field("audit_trails", "/regions_not_read/*/region", Ours),
    field("audit_trails", "/regions_not_read/*/reason", Ours),
    field("trail_status", "/LatestDeliveryError", Answers(&[(Status, "/LatestDeliveryError")])),
    field("trail_status", "/LatestDigestDeliveryError", Answers(&[(Status, "/LatestDigestDeliveryError")])),
    field(
        "trail_status",
        "/LatestCloudWatchLogsDeliveryError",
        Answers(&[(Status, "/LatestCloudWatchLogsDeliveryError")]),
    ),
    field("trail_status", "/StartLoggingTime", Answers(&[(Status, "/StartLoggingTime")])),
    field("trail_status", "/StopLoggingTime", Answers(&[(Status, "/StopLoggingTime")])),
    field("trail_status", "/LatestDeliveryTime", Answers(&[(Status, "/LatestDeliveryTime")])),
    field("trail_status", "/LatestDigestDeliveryTime", Answers(&[(Status, "/LatestDigestDeliveryTime")])),
    field(
        "trail_status",
        "/LatestCloudWatchLogsDeliveryTime",
        Answers(&[(Status, "/LatestCloudWatchLogsDeliveryTime")]),
    ),
    field(
        "trail_event_selectors",
        "/EventSelectors/*/ReadWriteType",
        Answers(&[(Selectors, "/EventSelectors/0/ReadWriteType")]),
    ),
    field(
        "trail_event_selectors",
        "/EventSelectors/*/ExcludeManagementEventSources/*",
        Answers(&[(Selectors, "/EventSelectors/0/ExcludeManagementEventSources/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/Name",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/Name")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/Field",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/Field")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/Equals/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/Equals/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/NotEquals/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/NotEquals/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/StartsWith/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/StartsWith/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/NotStartsWith/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/NotStartsWith/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/EndsWith/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/EndsWith/0")]),
    ),
    field(
        "trail_event_selectors",
        "/AdvancedEventSelectors/*/FieldSelectors/*/NotEndsWith/*",
        Answers(&[(Selectors, "/AdvancedEventSelectors/0/FieldSelectors/0/NotEndsWith/0")]),
    ),
    field(
        "log_groups",
        "/regions_read/*/logGroups/*/logGroupClass",
        Answers(&[(Groups, "/logGroups/0/logGroupClass")]),
    ),
    field(
        "log_groups",
        "/regions_read/*/logGroups/*/logGroupName",
        Answers(&[(Groups, "/logGroups/0/logGroupName")]),
    ),
    field("log_groups", "/regions_read/*/logGroups/*/arn", Answers(&[(Groups, "/logGroups/0/arn")])),
    field("log_groups", "/regions_read/*/region", Ours),
    field("log_groups", "/scope/*", Ours),
    field("log_groups", "/regions_not_read/*/region", Ours),
    field("log_groups", "/regions_not_read/*/reason", Ours),
    field("two_step_verification", "/users/*/id", Answers(&[(Users, "/users/0/id")])),
    field("two_step_verification", "/users/*/primaryEmail", Answers(&[(Users, "/users/0/primaryEmail")])),
    field("two_step_verification", "/users/*/lastLoginTime", Answers(&[(Users, "/users/0/lastLoginTime")])),
    field("two_step_verification", "/users/*/creationTime", Answers(&[(Users, "/users/0/creationTime")])),
    field("two_step_verification", "/listings/*/customer", Ours),
    field("two_step_verification", "/listings/*/read", Ours),
    field("admin_roles", "/rolesRead", Ours),
    field("admin_roles", "/roleAssignmentsRead", Ours),
    field("admin_roles", "/userListings/*/customer", Ours),
    field("admin_roles", "/userListings/*/read", Ours),
    field("admin_roles", "/roles/*/roleId", Answers(&[(Roles, "/items/1/roleId")])),
    field("admin_roles", "/roles/*/roleName", Answers(&[(Roles, "/items/1/roleName")])),
    field(
        "admin_roles",
        "/roleAssignments/*/roleAssignmentId",
        Answers(&[(Assignments, "/items/0/roleAssignmentId")]),
    ),
    field("admin_roles", "/roleAssignments/*/roleId", Answers(&[(Assignments, "/items/0/roleId")])),
    field("admin_roles", "/roleAssignments/*/assignedTo", Answers(&[(Assignments, "/items/0/assignedTo")])),
    field(
        "admin_roles",
        "/roleAssignments/*/assigneeType",
        Answers(&[(Assignments, "/items/0/assigneeType")]),
    ),
    field("admin_roles", "/roleAssignments/*/scopeType", Answers(&[(Assignments, "/items/0/scopeType")])),
    field("admin_roles", "/roleAssignments/*/orgUnitId", Answers(&[(Assignments, "/items/0/orgUnitId")])),
    field(
        "admin_roles",
        "/roleAssignments/*/assigneeFromUsersList/id",
        Answers(&[(Users, "/users/0/id"), (Assignments, "/items/0/assignedTo")]),
    ),
    field(
        "admin_roles",
        "/roleAssignments/*/assigneeFromUsersList/primaryEmail",
        Answers(&[(Users, "/users/0/primaryEmail")]),
    ),
    field("admin_roles", "/administratorsFromUsersList/*/id", Answers(&[(Users, "/users/0/id")])),
    field(
        "admin_roles",
        "/administratorsFromUsersList/*/primaryEmail",
        Answers(&[(Users, "/users/0/primaryEmail")]),
    ),
    field("user_lifecycle", "/startTime", Ours),
    field("user_lifecycle", "/endTime", Ours),
    field("user_lifecycle", "/eventNames/*/name", Ours),
    field("user_lifecycle", "/eventNames/*/read", Ours),
    field("user_lifecycle", "/events/*/name", Ours),
    field("user_lifecycle", "/events/*/time", Answers(&[(Created, "/items/0/id/time")])),
    field(
        "user_lifecycle",
        "/events/*/uniqueQualifier",
        Answers(&[(Created, "/items/0/id/uniqueQualifier")]),
    ),
    field("user_lifecycle", "/events/*/actor/email", Answers(&[(Created, "/items/0/actor/email")])),
    field("user_lifecycle", "/events/*/actor/callerType", Answers(&[(Created, "/items/0/actor/callerType")])),
    field(
        "user_lifecycle",
        "/events/*/parameters/USER_EMAIL",
        Answers(&[(Created, "/items/0/events/0/parameters/0/value")]),
    ),
    field(
        "user_lifecycle",
        "/events/*/parameters/ROLE_NAME",
        Answers(&[(Assigned, "/items/0/events/0/parameters/1/value")]),
    ),
];

/// The fields that an outsider can set.
pub(crate) fn open() -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().filter(|field| !matches!(field.filled, Ours))
}

/// The place of every text in a document, and the text.
pub(crate) fn texts(value: &Value) -> Vec<(String, String)> {
    fn walk(value: &Value, place: &str, texts: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => texts.push((place.to_string(), text.clone())),
            Value::Array(items) => items.iter().for_each(|item| walk(item, &format!("{place}/*"), texts)),
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| walk(member, &format!("{place}/{name}"), texts));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut all = Vec::new();
    walk(value, "", &mut all);
    all
}

/// The test fails for a new field without a case and for a case whose field no longer exists.
#[test]
fn every_text_of_every_artifact_has_a_case() {
    let mut seen = BTreeSet::new();
    for estate in [Estate::new(Plants::default()), Estate::new(Plants::default()).limited()] {
        let bundle = estate.lab.collect(&[]).exits(3).bundle();
        for (artifact, document) in estate.artifacts(&bundle) {
            seen.extend(texts(&document).into_iter().map(|(place, _)| format!("{artifact} {place}")));
        }
        assert!(bundle.manifest()["excluded"].as_array().unwrap().is_empty());
    }
    let cases: BTreeSet<String> =
        FIELDS.iter().map(|field| format!("{} {}", field.artifact, field.place)).collect();
    assert_eq!(cases.len(), FIELDS.len());
    let unknown: Vec<&String> = seen.difference(&cases).collect();
    let gone: Vec<&String> = cases.difference(&seen).collect();
    assert!(unknown.is_empty() && gone.is_empty(), "without a case: {unknown:#?}\nnever seen: {gone:#?}");
    println!("{} texts in the artifacts, {} of them open to strangers", seen.len(), open().count());
}
