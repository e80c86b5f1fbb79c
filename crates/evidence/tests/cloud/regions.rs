//! The scope: the configured regions beside those that are enabled.

use evidence_bundle::document::Scope;
use sandbox::cloud::Principal;

use super::*;

const ENABLED: [&str; 17] = [
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
];

/// Scope, listed, the provider's total, and how many enabled regions are left out.
fn scope(cloud: Cloud, lines: &[&str]) -> (Scope, u64, Option<u64>, usize) {
    let server = cloud.serve().unwrap();
    let collected = collect(&server, lines);
    assert!(!collected.warned().contains(&"permission_denied") && collected.failed.is_empty());
    let (scope, outside) = collected.scope.unwrap();
    assert_eq!(scope.kind, "region");
    (scope.scope, scope.listed, scope.host_total, outside.len())
}

#[test]
fn the_scope_is_whole_if_every_enabled_region_is_read() {
    let every = format!("regions: [{}]", ENABLED.join(", "));
    assert_eq!(scope(good(), TWO_REGIONS), (Scope::Chosen, 2, Some(17), 15));
    assert_eq!(scope(good(), &[&every]), (Scope::Whole, 17, Some(17), 0));
    // One that was opted into counts as well.
    assert_eq!(scope(good().region("eu-south-1"), &[&every]), (Scope::Chosen, 17, Some(18), 1));
    // What is chosen inside a region is not everything.
    assert_eq!(scope(good(), &[&every, "log_groups: [/app/*]"]), (Scope::Chosen, 17, Some(17), 0));
}

/// The scope is then less exact, and nothing else changes.
#[test]
fn without_the_permission_only_the_number_is_unknown() {
    let allowed = PERMISSIONS.into_iter().filter(|permission| *permission != "ec2:DescribeRegions");
    let cloud = good().principal(Principal::user(KEY, SECRET, USER).allow(allowed));
    assert_eq!(scope(cloud, TWO_REGIONS), (Scope::Chosen, 2, None, 0));
}

/// An organization with two more accounts, one of them closed.
fn organization(cloud: Cloud) -> Cloud {
    let members = [(MEMBER, "ACTIVE"), ("999900001111", "SUSPENDED")];
    members.into_iter().fold(cloud, |cloud, (account, state)| cloud.organization_account(account, state))
}

const MEMBER: &str = "444455556666";

/// The scope, and how it reads.
fn sentence(cloud: Cloud, lines: &[&str]) -> (Scope, String, Vec<String>) {
    let server = cloud.serve().unwrap();
    let collected = collect(&server, lines);
    assert!(collected.failed.is_empty(), "{:?}", collected.failed);
    let (scope, outside) = collected.scope.unwrap();
    let (kind, in_scope) = (scope.scope, scope.listed);
    let record = scope.record(evidence::source::aws::KIND.name, in_scope, in_scope);
    (kind, evidence_view::scope::sentence(&record), outside)
}

#[test]
fn the_accounts_of_the_organization_are_in_the_population() {
    let every = format!("regions: [{}]", ENABLED.join(", "));
    // In no organization, or alone in one, this account is all there is.
    let alone = Cloud::new(ACCOUNT).principal(Principal::user(KEY, SECRET, USER).allow(PERMISSIONS));
    for cloud in [alone, good()] {
        let (scope, text, outside) = sentence(cloud, &[&every]);
        assert_eq!((scope, outside.len()), (Scope::Whole, 0));
        assert_eq!(text, format!("all 17 enabled regions of {ACCOUNT}"));
    }
    let (scope, text, outside) = sentence(organization(good()), &[&every]);
    assert_eq!((scope, outside), (Scope::Chosen, vec![MEMBER.to_string()]));
    let whose = format!("{ACCOUNT} (1 of 2 active accounts of the organization)");
    assert_eq!(text, format!("17 of 17 enabled regions of {whose}, chosen by name"));
    // Without the permission the checks and the scope are the same; only the sentence says what is not known.
    let allowed = PERMISSIONS.into_iter().filter(|permission| *permission != "organizations:ListAccounts");
    let refused = good().principal(Principal::user(KEY, SECRET, USER).allow(allowed));
    let (scope, text, outside) = sentence(organization(refused), &[&every]);
    assert_eq!((scope, outside.len()), (Scope::Whole, 0));
    let whose = format!("{ACCOUNT} (further accounts of its organization: not known)");
    assert_eq!(text, format!("all 17 enabled regions of {whose}"));
}
