//! A code host, a cloud and a directory with every field of their answers known, so that tests can plant a secret in
//! each field; and a configuration for all three.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandbox::cloud::Cloud;
use sandbox::codehost::{CodeHost, File, Protection};
use sandbox::workspace::Workspace;
use sandbox::{Fault, FaultKind, Server};
use serde_json::{Value, json};

use crate::common::{Bundle, Lab, acme, repository};

const CREDENTIALS: &str = "credentials.json";

/// An answer of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    Org,
    Protection,
    Contents,
    Trails,
    Status,
    Selectors,
    Groups,
    Users,
    Roles,
    Assignments,
    Created,
    Assigned,
}

impl Answer {
    /// The answer without secrets.
    pub(crate) fn body(self) -> Value {
        let restrictions = json!({
            "users": [{ "login": "olivia-owner" }],
            "teams": [{ "slug": "platform" }],
            "apps": [{ "slug": "release-bot" }],
        });
        let trail = |name: &str| {
            json!({
                "Name": name,
                "TrailARN": format!("arn:aws:cloudtrail:eu-west-1:123456789012:trail/{name}"),
                "HomeRegion": "eu-west-1",
                "IsMultiRegionTrail": true,
                "S3BucketName": "acme-audit-logs-123456789012",
                "CloudWatchLogsLogGroupArn": "arn:aws:logs:eu-west-1:123456789012:log-group:/audit:*",
                "KmsKeyId": "arn:aws:kms:eu-west-1:123456789012:key/5e0f0c5a-4c1b-4d0e-9a53-2f6d1f6f0c11",
            })
        };
        let event = |name: &str, parameters: Value| {
            json!({
                "kind": "admin#reports#activities",
                "items": [{
                    "id": { "time": "2026-06-01T10:00:00.000Z", "uniqueQualifier": "-4711" },
                    "actor": { "email": "olivia.owner@acme.example", "callerType": "USER" },
                    "events": [{ "name": name, "parameters": parameters }],
                }],
            })
        };
        match self {
            Answer::Org => json!({
                "login": "acme",
                "id": 4711,
                "two_factor_requirement_enabled": true,
                "default_repository_permission": "read",
                "members_can_create_repositories": true,
                "members_can_create_public_repositories": false,
            }),
            Answer::Protection => json!({
                "url": "https://api.host.example/repos/acme/web/branches/main/protection",
                "required_pull_request_reviews": {
                    "dismissal_restrictions": restrictions,
                    "dismiss_stale_reviews": true,
                    "require_code_owner_reviews": true,
                    "required_approving_review_count": 2,
                },
                "required_status_checks": { "strict": true, "contexts": ["ci/build"], "checks": [{ "context": "ci/build" }] },
                "enforce_admins": {
                    "url": "https://api.host.example/repos/acme/web/branches/main/protection/enforce_admins",
                    "enabled": true,
                },
            }),
            Answer::Contents => {
                let text = "* @acme/everyone\n";
                json!({
                    "type": "file",
                    "name": "CODEOWNERS",
                    "path": "CODEOWNERS",
                    "size": text.len(),
                    "encoding": "base64",
                    "content": STANDARD.encode(text),
                })
            }
            Answer::Trails => json!({ "trailList": [trail("acme-audit"), trail("old-one")] }),
            Answer::Status => json!({
                "IsLogging": true,
                "StartLoggingTime": "2026-01-01T00:00:00Z",
                "StopLoggingTime": "2025-12-31T00:00:00Z",
                "LatestDeliveryTime": "2026-06-01T00:00:00Z",
                "LatestDeliveryError": "AccessDenied",
                "LatestDigestDeliveryTime": "2026-06-01T00:00:00Z",
                "LatestDigestDeliveryError": "NoSuchBucket",
                "LatestCloudWatchLogsDeliveryTime": "2026-06-01T00:00:00Z",
                "LatestCloudWatchLogsDeliveryError": "Throttled",
            }),
            Answer::Selectors => json!({
                "EventSelectors": [{
                    "ReadWriteType": "All",
                    "IncludeManagementEvents": true,
                    "ExcludeManagementEventSources": ["kms.amazonaws.com"],
                }],
                "AdvancedEventSelectors": [{
                    "Name": "objects",
                    "FieldSelectors": [{
                        "Field": "resources.ARN",
                        "Equals": ["arn:aws:s3:::acme-orders/a"],
                        "NotEquals": ["arn:aws:s3:::acme-orders/b"],
                        "StartsWith": ["arn:aws:s3:::acme-orders/c"],
                        "NotStartsWith": ["arn:aws:s3:::acme-orders/d"],
                        "EndsWith": ["/e"],
                        "NotEndsWith": ["/f"],
                    }],
                }],
            }),
            Answer::Groups => json!({ "logGroups": [{
                "logGroupName": "/audit/payments",
                "arn": "arn:aws:logs:eu-west-1:123456789012:log-group:/audit/payments:*",
                "retentionInDays": 400,
                "logGroupClass": "STANDARD",
            }] }),
            Answer::Users => json!({ "kind": "admin#directory#users", "users": [{
                "id": "100000000000000000001",
                "primaryEmail": "olivia.owner@acme.example",
                "suspended": false,
                "archived": false,
                "isEnrolledIn2Sv": true,
                "isEnforcedIn2Sv": true,
                "isAdmin": true,
                "isDelegatedAdmin": false,
                "lastLoginTime": "2026-06-01T10:00:00.000Z",
                "creationTime": "2020-01-01T10:00:00.000Z",
            }] }),
            Answer::Roles => json!({ "kind": "admin#directory#roles", "items": [
                { "roleId": "10000000000000001", "roleName": "_SEED_ADMIN_ROLE", "isSuperAdminRole": true, "isSystemRole": true },
                { "roleId": "10000000000000002", "roleName": "Auditor", "isSuperAdminRole": false, "isSystemRole": false },
            ] }),
            Answer::Assignments => json!({ "kind": "admin#directory#roleAssignments", "items": [{
                "roleAssignmentId": "20000000000000001",
                "roleId": "10000000000000001",
                "assignedTo": "100000000000000000001",
                "assigneeType": "user",
                "scopeType": "ORG_UNIT",
                "orgUnitId": "03ph8a2z1enx4lx",
            }] }),
            Answer::Created => {
                event("CREATE_USER", json!([{ "name": "USER_EMAIL", "value": "new@acme.example" }]))
            }
            Answer::Assigned => event(
                "ASSIGN_ROLE",
                json!([
                    { "name": "USER_EMAIL", "value": "new@acme.example" },
                    { "name": "ROLE_NAME", "value": "Auditor" },
                ]),
            ),
        }
    }

    /// The answer with these texts in these places.
    fn with<'a>(self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
        let mut body = self.body();
        texts.into_iter().for_each(|(place, text)| fill(&mut body, place, text));
        body
    }
}

fn fill(body: &mut Value, place: &str, text: &str) {
    *body.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = text.into();
}

/// The address of a repository's protection: the tool refuses that of another one.
pub(crate) fn protection_url(repository: &str) -> String {
    format!("https://api.host.example/repos/acme/{repository}/branches/main/protection")
}

/// The secrets to plant, and their places.
#[derive(Default)]
pub(crate) struct Plants {
    /// In answers that occur once.
    pub(crate) single: Vec<(Answer, &'static str, String)>,
    /// In the branch protection of one repository each.
    pub(crate) protections: Vec<(String, &'static str, String)>,
    /// In the host's answer about its CODEOWNERS file.
    pub(crate) contents: Vec<(String, &'static str, String)>,
    /// The text of its CODEOWNERS.
    pub(crate) owners: Vec<(String, String)>,
    /// Other repositories.
    pub(crate) repositories: Vec<sandbox::codehost::Repository>,
}

/// The three hosts and their configuration.
pub(crate) struct Estate {
    pub(crate) lab: Lab,
    cloud: Server<Cloud>,
    workspace: Server<Workspace>,
}

impl Estate {
    pub(crate) fn new(plants: Plants) -> Estate {
        let single = |answer: Answer| {
            let texts = plants.single.iter().filter(|(known, ..)| *known == answer);
            FaultKind::Json(
                200,
                Vec::new(),
                answer.with(texts.map(|(_, place, text)| (*place, text.as_str()))),
            )
        };
        let on = |pattern: &str, answer: Answer| Fault::on(pattern).kind(single(answer));
        let cloud = sandbox::demo_account()
            .fault(on("cloudtrail:DescribeTrails@eu-west-1", Answer::Trails))
            .fault(on("cloudtrail:GetTrailStatus", Answer::Status))
            .fault(on("cloudtrail:GetEventSelectors", Answer::Selectors))
            .fault(on("logs:DescribeLogGroups@eu-west-1", Answer::Groups));
        // A region that refuses, so that the artifacts list it as not read.
        let refused = || {
            FaultKind::Json(400, Vec::new(), json!({ "__type": "AccessDeniedException", "message": "no" }))
        };
        let cloud = cloud
            .fault(Fault::on("cloudtrail:DescribeTrails@us-east-1").kind(refused()))
            .fault(Fault::on("logs:DescribeLogGroups@us-east-1").kind(refused()));
        let workspace = sandbox::demo_workspace()
            .fault(on("/admin/directory/v1/users*", Answer::Users))
            .fault(on("/admin/directory/v1/customer/*/roles", Answer::Roles))
            .fault(on("/admin/directory/v1/customer/*/roleassignments", Answer::Assignments))
            .fault(on("/admin/reports/*?*eventName=CREATE_USER*", Answer::Created))
            .fault(on("/admin/reports/*?*eventName=ASSIGN_ROLE*", Answer::Assigned));
        Estate::of(codehost(&plants, single(Answer::Org)), cloud, workspace)
    }

    fn of(host: CodeHost, cloud: Cloud, workspace: Workspace) -> Estate {
        let lab = Lab::new(host)
            .env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_ACCESS_KEY_ID)
            .env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY)
            .env("ALTCLOUD_APPLICATION_CREDENTIALS", CREDENTIALS);
        let (cloud, workspace) = (cloud.serve().unwrap(), workspace.serve().unwrap());
        lab.write(CREDENTIALS, Workspace::service_account_file(&workspace));
        lab.set_mode(CREDENTIALS, 0o600);
        let text = format!(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  altcloud:\n    mode: service_account\n    \
             admin_email: {}\n    api_url: {}\n  codehost:\n    mode: token\n    org: acme\n    repos: \"*\"\n    api_url: {}\n    \
             requests_per_minute: 0\n  cloud:\n    mode: env\n    regions: [eu-west-1, us-east-1]\n    endpoint_url: {}\nbundle:\n  signing:\n    private_key_path: key.pem\n",
            sandbox::DEMO_WORKSPACE_ADMIN,
            workspace.url(),
            lab.server.url(),
            cloud.url()
        );
        lab.write("evidence.yaml", text);
        Estate { lab, cloud, workspace }
    }

    /// Limits the trails and log groups, which the artifacts then record.
    pub(crate) fn limited(self) -> Estate {
        let path = self.lab.path("evidence.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let limits = "mode: env\n    trails: [acme-audit]\n    log_groups: [\"/audit*\"]\n";
        fs::write(path, text.replace("mode: env\n", limits)).unwrap();
        self
    }

    /// Checks this branch of every repository.
    pub(crate) fn branch(self, name: &str) -> Estate {
        let path = self.lab.path("evidence.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("org: acme\n", &format!("org: acme\n    branch: {name}\n"))).unwrap();
        self
    }

    /// Type and content of every artifact.
    pub(crate) fn artifacts(&self, bundle: &Bundle) -> Vec<(String, Value)> {
        let manifest = bundle.manifest();
        let rows = manifest["artifacts"].as_array().unwrap().iter();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_string();
        rows.map(|row| (text(row, "artifact_type"), bundle.json(&text(row, "filename")))).collect()
    }

    /// The files that the test itself wrote into the run's directory.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        vec!["evidence.yaml", "key.pem", "key.pub.pem", CREDENTIALS]
    }
}

impl Drop for Estate {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.cloud.violations().is_empty() && self.workspace.violations().is_empty());
        }
    }
}

fn codehost(plants: &Plants, org: FaultKind) -> CodeHost {
    let protection = |name: &str, texts: &[(&str, &str)]| {
        let mut body = Answer::Protection.body();
        body["url"] = protection_url(name).into();
        texts.iter().for_each(|(place, text)| fill(&mut body, place, text));
        Protection::new().body(body)
    };
    let owners = || File::text("* @acme/everyone\n");
    let sound = repository("sound").protection("main", protection("sound", &[])).file("CODEOWNERS", owners());
    let mut host = acme().fault(Fault::on("/orgs/acme").kind(org)).repository(sound);
    for (name, place, text) in &plants.protections {
        let rule = protection(name, &[(place, text)]);
        host = host.repository(repository(name).protection("main", rule).file("CODEOWNERS", owners()));
    }
    let mut contents: BTreeMap<String, Value> = BTreeMap::new();
    for (name, place, text) in &plants.contents {
        let path = format!("/repos/acme/{name}/contents/CODEOWNERS");
        let mut body = Answer::Contents.with([(*place, text.as_str())]);
        body["url"] = format!("https://api.host.example{path}?ref=main").into();
        contents.insert(path, body);
        host = host.repository(repository(name).protection("main", protection(name, &[])));
    }
    for (path, body) in contents {
        host = host.fault(Fault::on(path).kind(FaultKind::Json(200, Vec::new(), body)));
    }
    for (name, text) in &plants.owners {
        let file = File::text(text.clone());
        host = host
            .repository(repository(name).protection("main", protection(name, &[])).file("CODEOWNERS", file));
    }
    plants.repositories.iter().cloned().fold(host, CodeHost::repository)
}
