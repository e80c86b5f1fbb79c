//! Whether the checks of a bundle follow from its facts, whoever signed it.

#[path = "../support/rows.rs"]
mod rows;

use std::collections::BTreeMap;

use evidence_bundle::document::{Counts, Status};
use evidence_bundle::path::{BundlePath, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use evidence_bundle::read::{Expectations, Failure, Limits, Reason};
use evidence_bundle::trust::TrustRoot;
use evidence_bundle::write::{Entry, UnsignedBundle};
use evidence_rules::repeat::{self, Repetition};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{Bundle, KEY, Lab, acme};
use crate::several_sources::Company;

/// The files of a bundle, which the owner of the key changes and signs again.
#[derive(Clone)]
pub(crate) struct Forged(Vec<(String, Vec<u8>)>);

impl Forged {
    /// A bundle of all three sources with every rule.
    pub(crate) fn sample() -> Forged {
        let mut company = Company::with_host(
            sandbox::demo_organization(),
            sandbox::demo_account(),
            sandbox::demo_workspace(),
        );
        company.lab.set_env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
        super::frameworks::configure(&company, "\"*\"", "");
        super::leavers::with_map(&company, "altcloud,codehost\nmax.member@acme.example,olivia-owner\n");
        // Repositories that are like others would make every forged check take longer.
        let configuration = std::fs::read_to_string(company.lab.path("evidence.yaml")).unwrap();
        let all = "    repos: \"*\"\n";
        let fewer = "    exclude: [acme/mobile-app, acme/data-pipeline, acme/internal-tools, acme/prototype, \
                     acme/finance-reports, acme/partner-mirror]\n";
        assert!(configuration.contains(all));
        company.lab.write("evidence.yaml", configuration.replace(all, &format!("{all}{fewer}")));
        let bundle: Bundle = company.lab.collect(&["-q"]).bundle();
        // The files for people only take time here.
        let of_documents = |path: &str| {
            let is_made_of_them = [".csv", ".html", ".txt"].iter().any(|ending| path.ends_with(ending));
            path != "checksums.sha256" && path != "signature.sig" && !is_made_of_them
        };
        let mut sample =
            Forged(bundle.entries.iter().filter(|(path, _)| of_documents(path)).cloned().collect());
        // So does a file of CODEOWNERS of a megabyte, of which only the first line decides.
        let large = "sources/codehost/repo_acme_legacy-billing_codeowners.json";
        sample.edit(large, |file| file["content"] = json!("KiBAYWNtZS9sZWdhY3kK"));
        sample.agree()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.0.iter().find(|(known, _)| known == path).unwrap().1).unwrap()
    }

    fn put(&mut self, path: &str, value: &Value) {
        let text = serde_json::to_vec_pretty(value).unwrap();
        self.0.iter_mut().find(|(known, _)| known == path).unwrap().1 = text;
    }

    pub(crate) fn edit(&mut self, path: &str, edit: impl FnOnce(&mut Value)) {
        let mut value = self.json(path);
        edit(&mut value);
        self.put(path, &value);
    }

    fn remove(&mut self, path: &str) {
        self.0.retain(|(known, _)| known != path);
    }

    /// Every check, with the numbers of its control and its place.
    fn checks(&self) -> Vec<(usize, usize, Value)> {
        let controls = self.json(NORMALIZED)["controls"].as_array().unwrap().clone();
        let of = |(index, control): (usize, &Value)| -> Vec<_> {
            let checks = control["checks"].as_array().unwrap().iter().enumerate();
            checks.map(|(place, check)| (index, place, check.clone())).collect()
        };
        controls.iter().enumerate().flat_map(of).collect()
    }

    /// Makes every other part of the documents agree with the checks and the files.
    pub(crate) fn agree(mut self) -> Forged {
        let sums: BTreeMap<String, (String, usize)> =
            self.0.iter().map(|(path, content)| (path.clone(), (sum(content), content.len()))).collect();
        fn references(value: &mut Value, sums: &BTreeMap<String, (String, usize)>) {
            match value {
                Value::Object(fields) => {
                    if let Some((checksum, size)) =
                        fields.get("filename").and_then(Value::as_str).and_then(|path| sums.get(path))
                    {
                        fields.insert("checksum".into(), json!(checksum));
                        if fields.contains_key("size_bytes") {
                            fields.insert("size_bytes".into(), json!(size));
                        }
                    }
                    fields.values_mut().for_each(|value| references(value, sums));
                }
                Value::Array(items) => items.iter_mut().for_each(|value| references(value, sums)),
                _ => {}
            }
        }
        self.edit(OBSERVATIONS, |value| references(value, &sums));
        let mut sums = sums;
        let observations = &self.0.iter().find(|(path, _)| path == OBSERVATIONS).unwrap().1;
        sums.insert(OBSERVATIONS.to_string(), (sum(observations), observations.len()));
        for path in [NORMALIZED, "derived/hints.json", MANIFEST] {
            self.edit(path, |value| references(value, &sums));
        }
        self.edit(NORMALIZED, |normalized| {
            let (mut of_controls, mut of_checks) = (Counts::default(), Counts::default());
            for control in normalized["controls"].as_array_mut().unwrap() {
                let mut counts = Counts::default();
                for check in control["checks"].as_array().unwrap() {
                    let status: Status = serde_json::from_value(check["status"].clone()).unwrap();
                    counts.add(status);
                    of_checks.add(status);
                }
                let (status, checks) = (json!(counts.status()), control["checks"].as_array().unwrap());
                let first = checks.iter().find(|check| check["status"] == status);
                let reason = first.map_or(json!("no_evidence"), |check| check["reason"].clone());
                (control["status"], control["reason"]) = (status, reason);
                of_controls.add(counts.status());
            }
            normalized["summary"] = json!({"controls": of_controls, "checks": of_checks});
        });
        let rows: Vec<Value> = self
            .0
            .iter()
            .filter(|(path, _)| path != MANIFEST)
            .map(|(path, content)| json!({"path": path, "sha256": sum(content), "size": content.len()}))
            .collect();
        self.edit(MANIFEST, |manifest| manifest["files"] = json!(rows));
        self
    }

    /// The documents, made by another version of the tool.
    pub(crate) fn by_version(mut self, version: &str) -> Forged {
        self.edit(MANIFEST, |manifest| manifest["tool_version"] = json!(version));
        for path in [RUN, SCOPE] {
            self.edit(path, |document| document["tool"]["version"] = json!(version));
        }
        self
    }

    /// The bundle, signed again with the key of the organization.
    pub(crate) fn written(&self) -> Vec<u8> {
        let entries = self.0.iter().map(|(path, content)| Entry {
            path: BundlePath::new(path).unwrap(),
            sha256: Sha256::digest(content).into(),
            size: content.len() as u64,
        });
        let created: jiff::Timestamp = self.json(MANIFEST)["created_at"].as_str().unwrap().parse().unwrap();
        let bundle = UnsignedBundle::new(created.as_second(), entries.collect()).unwrap().sign(&KEY).unwrap();
        let mut out = Vec::new();
        let open = |entry: &Entry| {
            let (_, content) = self.0.iter().find(|(path, _)| path == entry.path.as_str()).unwrap();
            Ok(content.as_slice())
        };
        bundle.write(&mut out, None, open).unwrap();
        out
    }

    /// The verdict on the bundle.
    fn verdict(&self) -> Result<(), Failure> {
        let out = self.written();
        let mut trust = TrustRoot::new();
        trust.add_key("the tests' key", KEY.public_key());
        let verified = repeat::verify(out.as_slice(), &trust, &Expectations::default(), &Limits::default())?;
        let judgement = verified.judgement.unwrap();
        assert_eq!(judgement.checks, judgement.repeated);
        Ok(())
    }

    /// What judging alone says, without the other agreements between documents.
    fn judged(&self) -> Option<Reason> {
        let mut repetition = Repetition::default();
        for (path, content) in &self.0 {
            rows::file(&mut repetition, path, content);
        }
        repetition.finish("0.1.0").err().map(|error| error.reason)
    }

    fn refused(&self, what: &str) -> Reason {
        match self.verdict() {
            Err(Failure::NotWhatWasSigned(error)) => error.reason,
            other => panic!("{what}: {other:?}"),
        }
    }
}

fn sum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Every check, forged in every way, with the key: none is verified.
#[test]
fn no_forged_check_is_verified() {
    let honest = Forged::sample();
    honest.verdict().unwrap();
    let checks = honest.checks();
    let rules: std::collections::BTreeSet<&str> =
        checks.iter().map(|(_, _, check)| check["rule"].as_str().unwrap()).collect();
    assert_eq!(rules.len(), evidence_rules::rules().count(), "{rules:?}");
    let statuses = ["pass", "fail", "not_verifiable", "not_applicable"];
    let mut forged = 0;
    for (control, place, check) in &checks {
        let mut forms: Vec<Value> = Vec::new();
        let form = |changes: &[(&str, Value)]| {
            let mut form = check.clone();
            changes.iter().for_each(|(field, value)| form[*field] = value.clone());
            form
        };
        let (status, text) = (check["status"].as_str().unwrap(), json!("all is well"));
        let reason = if check["reason"] == "ok" { json!("host_error") } else { json!("ok") };
        for other in statuses.iter().filter(|other| **other != status) {
            forms.push(form(&[("status", json!(other))]));
            forms.push(form(&[("status", json!(other)), ("reason", reason.clone())]));
            forms.push(form(&[
                ("status", json!(other)),
                ("reason", reason.clone()),
                ("actual", text.clone()),
            ]));
        }
        forms.push(form(&[("reason", reason.clone())]));
        forms.push(form(&[("actual", text.clone())]));
        forms.push(form(&[("reason", reason), ("actual", text)]));
        for form in forms {
            let mut bundle = honest.clone();
            bundle.edit(NORMALIZED, |normalized| {
                normalized["controls"][control]["checks"][place] = form.clone()
            });
            assert_eq!(bundle.judged(), Some(Reason::JudgementDiffers), "{form}");
            forged += 1;
            // Everything else agrees with the forged check, and it is signed with the key.
            if forged % 12 == 3 {
                bundle.agree().refused(&form.to_string());
            }
        }
    }
    assert!(forged >= 12 * checks.len(), "{forged}");
}

/// Checks that are missing, repeated, of another subject or on other evidence.
#[test]
fn no_check_is_left_out_or_added() {
    let honest = Forged::sample();
    let normalized = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut forged = honest.clone();
        forged.edit(NORMALIZED, |normalized| {
            for control in normalized["controls"].as_array_mut().unwrap() {
                edit(control["checks"].as_array_mut().unwrap());
            }
        });
        forged.agree()
    };
    let is_of =
        |check: &Value, rule: &str, subject: &str| check["rule"] == rule && check["subject"] == subject;
    for (_, _, check) in honest.checks() {
        let (rule, subject) = (check["rule"].as_str().unwrap(), check["subject"].as_str().unwrap());
        let forged = normalized(&|checks| checks.retain(|check| !is_of(check, rule, subject)));
        assert_eq!(forged.judged(), Some(Reason::ChecksIncomplete), "without {check}");
        forged.refused("without a check");
        let forged = normalized(&|checks| {
            let again: Vec<_> = checks.iter().filter(|check| is_of(check, rule, subject)).cloned().collect();
            checks.extend(again);
        });
        assert_eq!(forged.judged(), Some(Reason::ChecksIncomplete), "twice {check}");
        let forged = normalized(&|checks| {
            for check in checks.iter_mut().filter(|check| is_of(check, rule, subject)) {
                check["subject"] = json!("acme/somewhere-else");
            }
        });
        assert_eq!(forged.judged(), Some(Reason::ChecksIncomplete), "elsewhere {check}");
    }
    let forged = normalized(&|checks| {
        for check in checks.iter_mut().filter(|check| check["rule"] == "two-factor-required") {
            check["evidence"] =
                json!([{"filename": "sources/codehost/repo_acme_payments_codeowners.json", "checksum": ""}]);
        }
    });
    assert_eq!(forged.judged(), Some(Reason::JudgementDiffers));
    forged.refused("on foreign evidence");
    // A repository disappears with its observations, artifacts and checks, and stays in the population.
    let mut forged = honest.clone();
    let gone = "acme/payments";
    forged.edit(OBSERVATIONS, |value| {
        let rows = value["observations"].as_array_mut().unwrap();
        rows.retain(|row| row["subject"] != gone);
    });
    forged.edit(NORMALIZED, |value| {
        for control in value["controls"].as_array_mut().unwrap() {
            control["checks"].as_array_mut().unwrap().retain(|check| check["subject"] != gone);
        }
    });
    assert_eq!(forged.judged(), Some(Reason::ChecksIncomplete));
    // A rule that the scope lists, in a version that this program never had, or no longer at all.
    let mut forged = honest.clone();
    forged.edit(SCOPE, |scope| scope["rules"][0]["version"] = json!(7));
    assert_eq!(forged.judged(), Some(Reason::JudgementDiffers));
    let mut forged = honest.clone();
    forged.edit(SCOPE, |scope| {
        scope["rules"].as_array_mut().unwrap().remove(0);
    });
    assert!(forged.judged().is_some());
    // A repository that is archived only in the population.
    let mut forged = honest.clone();
    forged.edit(POPULATION, |population| {
        for member in population["members"].as_array_mut().unwrap() {
            if member["name"] == "acme/docs-site" {
                member["archived"] = json!(true);
            }
        }
    });
    assert_eq!(forged.judged(), Some(Reason::JudgementDiffers));
    // One that was not asked because it is archived, and is not.
    let mut forged = honest.clone();
    forged.edit(POPULATION, |population| {
        let members = population["members"].as_array_mut().unwrap();
        let archived = members.iter_mut().find(|member| member["archived"] == json!(true)).unwrap();
        archived["archived"] = json!(false);
    });
    assert_eq!(forged.judged(), Some(Reason::JudgementDiffers));
    let mut forged = honest.clone();
    forged.remove("sources/codehost/org_settings.json");
    assert!(forged.judged().is_some());
}

/// Another fact, and the verdict that follows from it: that is a different bundle, and a consistent one.
#[test]
fn other_facts_have_other_verdicts() {
    let honest = Forged::sample();
    type Edit = fn(&mut Value);
    let table: &[(&str, &str, &str, Edit, &str, &str, &str)] = &[
        (
            "two-factor-required",
            "acme",
            "sources/codehost/org_settings.json",
            |settings| settings["two_factor_requirement_enabled"] = json!(false),
            "fail",
            "two_factor_disabled",
            "two_factor_requirement_enabled is false",
        ),
        (
            "codeowners-default-rule",
            "acme/payments",
            "sources/codehost/repo_acme_payments_codeowners.json",
            |file| file["content"] = json!("L2RvY3MgQGFjbWUvZG9jcwo="),
            "fail",
            "codeowners_no_default_rule",
            ".github/CODEOWNERS has no default rule",
        ),
        (
            "branch-protection",
            "acme/infra",
            "sources/codehost/repo_acme_infra_branch_protection.json",
            |protection| {
                protection["required_pull_request_reviews"]["required_approving_review_count"] = json!(1)
            },
            "pass",
            "ok",
            "1 approving review, 2 required status checks, enforced for administrators",
        ),
        (
            "password-policy",
            "123456789012",
            "sources/cloud/password_policy.json",
            |policy| policy["PasswordPolicy"]["MinimumPasswordLength"] = json!(6),
            "fail",
            "password_too_short",
            "at least 6 characters; upper case letters, lower case letters, numbers, symbols required",
        ),
        (
            "audit-trail",
            "123456789012",
            "sources/cloud/trail_acme-audit_status_us-east-1.json",
            |status| status["LatestDeliveryError"] = json!("AccessDenied"),
            "fail",
            "trail_not_delivering",
            "logging but not delivering: acme-audit (the latest delivery failed: AccessDenied (in us-east-1))",
        ),
        (
            "log-retention",
            "123456789012/us-east-1",
            "sources/cloud/log_groups.json",
            |groups| groups["regions_read"][1]["logGroups"] = json!([]),
            "not_applicable",
            "no_log_groups",
            "no log group in scope",
        ),
        (
            "two-step-verification",
            "acme.example",
            "sources/altcloud/two_step_verification.json",
            |record| {
                record["users"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|user| user["suspended"] = json!(true));
            },
            "not_verifiable",
            "no_evidence",
            "no active user, 24 suspended or archived",
        ),
        (
            "administrators",
            "acme.example",
            "sources/altcloud/admin_roles.json",
            |record| {
                record["roleAssignments"] = json!([]);
                record["administratorsFromUsersList"] = json!([]);
            },
            "not_verifiable",
            "no_evidence",
            "0 super administrators, 0 administrators in all",
        ),
        (
            "user-lifecycle-log",
            "acme.example",
            "sources/altcloud/user_lifecycle.json",
            |record| {
                record["events"] = json!([]);
                record["eventNames"]
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|name| name["events"] = json!(0));
                record["startTime"] = json!("2026-01-01T00:00:00Z");
                record["endTime"] = json!("2026-02-01T00:00:00Z");
            },
            "not_applicable",
            "information",
            "0 events from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z",
        ),
        (
            "root-mfa",
            "123456789012",
            "sources/cloud/root_account.json",
            |root| root["AccountMFAEnabled"] = json!(0),
            "fail",
            "root_mfa_missing",
            "AccountMFAEnabled is 0, AccountPasswordPresent is 1, AccountAccessKeysPresent is 0",
        ),
        (
            "root-keys",
            "123456789012",
            "sources/cloud/root_account.json",
            |root| root["AccountAccessKeysPresent"] = json!(2),
            "fail",
            "root_keys_present",
            "AccountAccessKeysPresent is 2",
        ),
        (
            "user-mfa",
            "123456789012",
            "sources/cloud/credential_report.json",
            |report| report["users"][1]["mfa_active"] = json!("false"),
            "fail",
            "user_without_mfa",
            "1 of 1 users with a password have no second factor: erin",
        ),
        (
            "access-key-age",
            "123456789012",
            "sources/cloud/credential_report.json",
            |report| report["users"][2]["access_key_1_last_rotated"] = json!("2999-01-01T00:00:00Z"),
            "pass",
            "ok",
            "2 active access keys, none too old",
        ),
        (
            "unused-credentials",
            "123456789012",
            "sources/cloud/credential_report.json",
            |report| report["users"][1]["password_last_used"] = json!("2020-01-01T00:00:00Z"),
            "fail",
            "credentials_unused",
            "1 of 3 credentials of users are unused: erin (password)",
        ),
        (
            "disk-encryption-default",
            "123456789012",
            "sources/cloud/disk_encryption_us-east-1.json",
            |settings| settings["EbsEncryptionByDefault"] = json!(true),
            "pass",
            "ok",
            "2 regions encrypt new disks",
        ),
        (
            "admin-ports-closed",
            "123456789012",
            "sources/cloud/open_ports_us-east-1.json",
            |record| record["SecurityGroups"] = json!([]),
            "pass",
            "ok",
            "3 security groups, none opens an administration port to the internet",
        ),
        (
            "storage-not-public",
            "123456789012",
            "sources/cloud/public_access.json",
            |record| record["Buckets"][1]["PolicyStatus"]["IsPublic"] = json!(false),
            "pass",
            "ok",
            "2 buckets, none public",
        ),
        (
            "database-encrypted",
            "123456789012",
            "sources/cloud/databases_eu-west-1.json",
            |record| record["DBClusters"][0]["StorageEncrypted"] = json!(false),
            "fail",
            "database_unencrypted",
            "1 of 2 databases are not encrypted: orders in eu-west-1 (cluster)",
        ),
        (
            "database-not-public",
            "123456789012",
            "sources/cloud/databases_eu-west-1.json",
            |record| record["DBInstances"][1]["PubliclyAccessible"] = json!(true),
            "fail",
            "database_public",
            "1 of 2 databases are publicly accessible: reporting in eu-west-1",
        ),
        (
            "database-backup",
            "123456789012",
            "sources/cloud/databases_eu-west-1.json",
            |record| record["DBInstances"][1]["BackupRetentionPeriod"] = json!(8),
            "pass",
            "ok",
            "2 databases, all with enough backups",
        ),
        (
            "threat-detection",
            "123456789012",
            "sources/cloud/detectors_us-east-1.json",
            |record| record["Detectors"] = json!([{"DetectorId": "1", "Status": "ENABLED"}]),
            "pass",
            "ok",
            "2 regions have an enabled detector",
        ),
        (
            "trail-integrity",
            "123456789012",
            "sources/cloud/audit_trails.json",
            |trails| {
                trails["trailList"][0].as_object_mut().unwrap().remove("KmsKeyId");
            },
            "fail",
            "trail_integrity_incomplete",
            "the trail acme-audit lacks a key of its own",
        ),
        (
            "default-permission",
            "acme",
            "sources/codehost/org_settings.json",
            |settings| settings["default_repository_permission"] = json!("admin"),
            "fail",
            "default_permission_writes",
            "default_repository_permission is admin",
        ),
        (
            "secret-scanning",
            "acme/payments",
            "sources/codehost/repo_acme_payments_security.json",
            |record| record["security_and_analysis"]["secret_scanning"]["status"] = json!("enabled"),
            "pass",
            "ok",
            "secret_scanning is enabled",
        ),
        (
            "push-protection",
            "acme/payments",
            "sources/codehost/repo_acme_payments_security.json",
            |record| {
                record["security_and_analysis"]["secret_scanning_push_protection"]["status"] =
                    json!("enabled");
            },
            "pass",
            "ok",
            "secret_scanning_push_protection is enabled",
        ),
        (
            "vulnerability-alerts",
            "acme/payments",
            "sources/codehost/repo_acme_payments_security.json",
            |record| record["vulnerability_alerts"] = json!(true),
            "pass",
            "ok",
            "vulnerability alerts are enabled",
        ),
        (
            "history-protected",
            "acme/payments",
            "sources/codehost/repo_acme_payments_branch_history.json",
            |record| record["allow_force_pushes"]["enabled"] = json!(true),
            "fail",
            "history_unprotected",
            "force pushes not blocked, deletions blocked, enforced for administrators",
        ),
        (
            "stale-approvals-dismissed",
            "acme/payments",
            "sources/codehost/repo_acme_payments_branch_protection.json",
            |record| record["required_pull_request_reviews"]["dismiss_stale_reviews"] = json!(false),
            "fail",
            "stale_approvals_kept",
            "approvals required, an approval survives later pushes, enforced for administrators",
        ),
        (
            "members-two-factor",
            "acme",
            "sources/codehost/people.json",
            |record| record["people"][0]["two_factor"] = json!(false),
            "fail",
            "member_without_two_factor",
            "1 of 4 members have no second factor: olivia-owner; no outside collaborator",
        ),
        (
            "owners-count",
            "acme",
            "sources/codehost/people.json",
            |record| record["people"][0]["role"] = json!("member"),
            "fail",
            "owners_too_few",
            "1 owner",
        ),
        (
            "changes-approved",
            "acme/payments",
            "sources/codehost/repo_acme_payments_changes.json",
            |record| record["changes"][0]["reviews"][0]["state"] = json!("DISMISSED"),
            "fail",
            "change_not_approved",
            "1 of 1 merged changes have no approval that counts: #12",
        ),
        (
            "no-direct-push",
            "acme/payments",
            "sources/codehost/repo_acme_payments_changes.json",
            |record| {
                record["pushes"] = json!([{"actor": "mia", "kind": "push", "at": "2026-11-20T12:00:00Z",
                    "before": "a", "after": "b"}]);
            },
            "fail",
            "pushed_directly",
            "1 of 1 pushes went past pull requests: push by mia at 2026-11-20T12:00:00Z",
        ),
        (
            "vulnerabilities-in-time",
            "acme/storefront",
            "sources/codehost/repo_acme_storefront_security.json",
            |record| record["open_alerts"][0]["created_at"] = json!("2020-01-01T00:00:00Z"),
            "fail",
            "vulnerability_overdue",
            "1 of 1 open alerts are overdue: #3 (high, since 2020-01-01T00:00:00Z)",
        ),
        (
            "guests",
            "acme.example",
            "sources/altcloud/user_activity.json",
            |record| {
                record["users"][0]["isGuestUser"] = json!(true);
                record["users"][0]["primaryEmail"] = json!("ann@partner.example");
            },
            "not_applicable",
            "information",
            "1 guest: ann@partner.example",
        ),
        (
            "administrators-by-group",
            "acme.example",
            "sources/altcloud/administrators_effective.json",
            |record| {
                record["roleAssignments"] = json!([]);
                record["administratorsFromUsersList"] = json!([]);
            },
            "not_verifiable",
            "no_evidence",
            "0 active super administrators",
        ),
        (
            "two-step-policy",
            "acme.example",
            "sources/altcloud/policies.json",
            |record| record["policies"][0]["setting"]["value"] = json!({}),
            "fail",
            "two_step_not_enforced",
            "two-step verification is not enforced for 22 of 22 active users: /: off (22 users)",
        ),
        (
            "two-step-strength",
            "acme.example",
            "sources/altcloud/policies.json",
            |record| {
                record["policies"][1]["setting"]["value"] = json!({"allowedSignInFactorSet": "ALL"});
                record["policies"][1]["policyQuery"]["group"] = json!("groups/g");
                record["groups"] = json!([{"groupId": "g", "membersRead": "complete", "onlyUsers": true}]);
                record["users"][0]["groupIds"] = json!(["g"]);
            },
            "fail",
            "two_step_any_factor",
            "any second step is allowed for 22 of 22 active users: group g: any (4 users), the provider's default: any, because \
             nothing is set (18 users)",
        ),
        (
            "workspace-password-policy",
            "acme.example",
            "sources/altcloud/policies.json",
            |record| record["policies"][2]["setting"]["value"]["allowReuse"] = json!(true),
            "fail",
            "password_policy_weak",
            "the password policy is weak for 22 of 22 active users: /: 14 characters, strong, reuse allowed (22 users)",
        ),
        (
            "session-length",
            "acme.example",
            "sources/altcloud/policies.json",
            |record| record["policies"][3]["setting"]["value"]["webSessionDuration"] = json!(null),
            "not_verifiable",
            "web_session_duration_not_visible",
            "it is not known what applies for 22 of 22 active users: /: not reported (22 users)",
        ),
        (
            "recovery-off",
            "acme.example",
            "sources/altcloud/policies.json",
            |record| record["policies"][4]["setting"]["value"]["enableAccountRecovery"] = json!(true),
            "fail",
            "recovery_allowed",
            "account recovery is on for 3 of 3 super administrators: /: on (3 users)",
        ),
        (
            "leavers-removed",
            "acme.example",
            "sources/altcloud/leavers.json",
            |record| record["people"][0]["directory"]["state"] = json!("suspended"),
            "fail",
            "leaver_active",
            "1 of 1 mapped people left and can still sign in: max.member@acme.example (codehost olivia-owner)",
        ),
        (
            "inactive-users",
            "acme.example",
            "sources/altcloud/user_activity.json",
            |record| record["users"] = json!([]),
            "not_applicable",
            "nothing_in_scope",
            "no active user",
        ),
    ];
    let rules: std::collections::BTreeSet<_> = table.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(rules.len(), evidence_rules::rules().count());
    for (rule, subject, path, edit, status, reason, actual) in table {
        let mut other = honest.clone();
        other.edit(path, edit);
        // The old verdict does not follow from the new fact.
        assert_eq!(other.clone().agree().judged(), Some(Reason::JudgementDiffers), "{rule}");
        let mut changed = 0;
        other.edit(NORMALIZED, |normalized| {
            for control in normalized["controls"].as_array_mut().unwrap() {
                for check in control["checks"].as_array_mut().unwrap() {
                    if check["rule"] == *rule && check["subject"] == *subject {
                        (check["status"], check["reason"]) = (json!(status), json!(reason));
                        check["actual"] = json!(actual);
                        changed += 1;
                    }
                    // Where alerts are reported, their age is judged too.
                    if *rule == "vulnerability-alerts"
                        && check["rule"] == "vulnerabilities-in-time"
                        && check["subject"] == *subject
                    {
                        (check["status"], check["reason"]) = (json!("pass"), json!("ok"));
                        check["actual"] = json!("no open alert of high or critical severity");
                    }
                }
            }
        });
        assert_eq!(changed, 1, "{rule}");
        other.agree().verdict().unwrap_or_else(|failure| panic!("{rule}: {failure}"));
    }
}

/// The numbers that the rules judge by, forged with the key.
#[test]
fn no_forged_setting_is_verified() {
    let honest = Forged::sample();
    // (rule, setting, a stricter value, the text of the default, that of the value)
    let table = [
        ("password-policy", "minimum_length", 20, "at least 8 characters", "at least 20 characters"),
        ("log-retention", "minimum_days", 500, "at least 90 days", "at least 500 days"),
        (
            "branch-protection",
            "approvals",
            2,
            "at least 1 approving review,",
            "at least 2 approving reviews,",
        ),
        (
            "vulnerabilities-in-time",
            "critical_days",
            7,
            "30 days if it is critical",
            "7 days if it is critical",
        ),
        ("vulnerabilities-in-time", "high_days", 7, "60 days if it is high", "7 days if it is high"),
        ("owners-count", "minimum", 3, "2 to 5 owners", "3 to 5 owners"),
        ("owners-count", "maximum", 4, "2 to 5 owners", "2 to 4 owners"),
        ("access-key-age", "maximum_days", 10, "within 90 days", "within 10 days"),
        ("unused-credentials", "maximum_days", 1, "within 90 days", "within one day"),
        ("database-backup", "minimum_days", 35, "for at least 7 days", "for at least 35 days"),
        ("inactive-users", "maximum_days", 1, "signed in within 90 days", "signed in within one day"),
        (
            "workspace-password-policy",
            "minimum_length",
            20,
            "at least 12 characters",
            "at least 20 characters",
        ),
        ("session-length", "maximum_hours", 8, "at most 24 hours", "at most 8 hours"),
        ("inactive-users", "grace_days", 366, "created within 30 days", "created within 366 days"),
    ];
    let names =
        table.iter().map(|(rule, name, ..)| (*rule, *name)).collect::<std::collections::BTreeSet<_>>();
    let declared = evidence_rules::rules().flat_map(|rule| rule.settings);
    assert_eq!(names, declared.map(|setting| (setting.rule, setting.name)).collect());
    let edited = |rule: &str, edit: &dyn Fn(&mut Value)| {
        let mut forged = honest.clone();
        forged.edit(SCOPE, |scope| {
            let rules = scope["rules"].as_array_mut().unwrap().iter_mut();
            rules.filter(|record| record["code"] == rule).for_each(edit);
        });
        forged
    };
    for (rule, name, value, default, stricter) in table {
        let text = |record: &Value| json!(record["expected"].as_str().unwrap().replace(default, stricter));
        // A value without its sentence, and a sentence without its value.
        let forged = edited(rule, &|record| record["settings"] = json!({name: value}));
        assert_eq!(forged.judged(), Some(Reason::JudgementDiffers), "{rule}");
        let forged = edited(rule, &|record| record["expected"] = text(record));
        assert_eq!(forged.judged(), Some(Reason::JudgementDiffers), "{rule}");
        // Values that no configuration can have.
        for wrong in [json!({name: 0}), json!({name: 1_000_000}), json!({"made_up": 9})] {
            let forged = edited(rule, &|record| record["settings"] = wrong.clone());
            assert_eq!(forged.judged(), Some(Reason::JudgementDiffers), "{rule} {wrong}");
        }
        // Both, with the verdicts of the default: those of the sample depend on every number but this one.
        if ["grace_days", "maximum", "critical_days"].contains(&name) {
            continue;
        }
        let mut forged = edited(rule, &|record| {
            record["expected"] = text(record);
            record["settings"] = json!({name: value});
        });
        assert_eq!(forged.judged(), Some(Reason::JudgementDiffers), "{rule}");
        forged.edit(NORMALIZED, |normalized| {
            for control in normalized["controls"].as_array_mut().unwrap() {
                if let Some(expected) = control["expected"].get_mut(rule) {
                    *expected = json!(expected.as_str().unwrap().replace(default, stricter));
                }
            }
        });
        assert_eq!(forged.agree().refused(rule), Reason::JudgementDiffers);
    }
}

/// A rule that this program does not have: it counts as not repeated, and `--require-judgement` refuses the bundle.
#[test]
fn a_rule_of_another_version_is_refused_only_on_request() {
    let lab = Lab::new(acme());
    let verify = |more: &[&str]| lab.run(&[&["verify", "b.tar.gz", "-k", "key.pub.pem"], more].concat());
    let honest = Forged::sample();
    let checks = honest.checks();
    let of_branch = checks.iter().filter(|(_, _, check)| check["rule"] == "branch-protection").count();
    for (code, version) in [("branch-protection", 7), ("made-up-rule", 1)] {
        let mut other = honest.clone().by_version("9.9.9");
        for (_, content) in other.0.iter_mut().filter(|(path, _)| path.starts_with("derived/")) {
            let text = std::str::from_utf8(content).unwrap();
            *content = text.replace("\"branch-protection\"", &format!("\"{code}\"")).into_bytes();
        }
        other.edit(SCOPE, |scope| {
            let mut rules = scope["rules"].as_array_mut().unwrap().iter_mut();
            rules.find(|rule| rule["code"] == code).unwrap()["version"] = json!(version);
        });
        lab.write("b.tar.gz", other.agree().written());
        let unknown = format!("not repeated: {of_branch} checks of {code} version {version}");
        let text = verify(&[]).exits(0).stdout;
        assert!(text.contains(&unknown) && text.ends_with("VERIFIED\n"), "{text}");
        assert!(!text.contains("judgement   OK"), "{text}");
        let report: Value = serde_json::from_str(&verify(&["--json"]).exits(0).stdout).unwrap();
        assert_eq!(
            report["judgement"]["not_repeated"],
            json!([{"rule": code, "version": version, "checks": of_branch}])
        );
        let repeated = checks.len() - of_branch;
        let refused = format!(
            "FAILED judgement-not-repeated: {repeated} of {} checks were judged again; unknown here: {code} version {version}",
            checks.len()
        );
        verify(&["--require-judgement"]).exits(7).says(&refused).says_not("VERIFIED");
        let run = verify(&["--require-judgement", "--json"]).exits(7);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(
            (&report["verdict"], &report["reason"]),
            (&json!("failed"), &json!("judgement-not-repeated"))
        );
    }
    // The version that this program is never had such a rule.
    let mut forged = honest.clone();
    forged.edit(SCOPE, |scope| scope["rules"][0]["version"] = json!(7));
    lab.write("b.tar.gz", forged.agree().written());
    verify(&[]).exits(7).says("FAILED judgement-differs").says_not("VERIFIED");
}
