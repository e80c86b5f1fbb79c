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
