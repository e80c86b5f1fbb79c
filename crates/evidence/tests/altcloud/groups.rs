//! Super administrators through groups, and guests: rules of the second framework.

use sandbox::workspace::{Assignment, Person, SCOPES, Server, ServiceAccount, Workspace};

use crate::{ACCOUNT, Collected, Setup, asked, collect_with, run, workspace};

const EVERY_RULE: Setup = Setup {
    framework: "tsc_2017",
    controls: "\"*\"",
    admin: crate::ADMIN,
    extra: "",
    key: None,
    ahead: jiff::SignedDuration::ZERO,
    keyless: None,
};

const SUPER: &str = "_SEED_ADMIN_ROLE";
const GROUPS: &str = "/admin/directory/v1/groups/";

fn of(collected: &Collected, rule: &str) -> Vec<String> {
    let start = format!("{rule} acme.example ");
    collected.checks.iter().filter_map(|check| check.strip_prefix(&start)).map(str::to_string).collect()
}

fn collect(workspace: Workspace) -> (Server<Workspace>, Collected) {
    let server = workspace.serve().unwrap();
    let collected = collect_with(&server, &EVERY_RULE);
    (server, collected)
}

fn person(name: &str) -> Person {
    Person::new(format!("{name}@acme.example"), name, "Person")
}

#[track_caller]
fn is(workspace: Workspace, expected: &str) -> Collected {
    let (server, collected) = collect(workspace);
    assert_eq!(of(&collected, "administrators-by-group"), [expected], "{:?}", collected.actual);
    assert_eq!(server.violations().len(), 0);
    collected
}

/// Without a group with the role, nothing more is asked.
#[test]
fn direct_super_administrators() {
    let (server, collected) = collect(workspace());
    assert_eq!(of(&collected, "administrators-by-group"), ["pass ok"]);
    assert_eq!(asked(&server, GROUPS), 0);
    // A group with another role is not expanded.
    let helpers = workspace().assignment(Assignment::group("_HELP_DESK_ADMIN_ROLE", "group-help"));
    let (server, collected) = collect(helpers.group("group-help", ["mia@acme.example"]));
    assert_eq!(of(&collected, "administrators-by-group"), ["pass ok"]);
    assert_eq!(asked(&server, GROUPS), 0);
}

/// Prowler counts direct users only, and passes five who have the role through a group.
#[test]
fn super_administrators_through_groups() {
    let names = ["a", "b", "c"];
    let all = names.iter().fold(workspace(), |all, name| all.person(person(name)));
    let with = |members: &[&str]| {
        let members = members.iter().map(|name| (*name).to_string());
        all.clone().assignment(Assignment::group(SUPER, "group-root")).group("group-root", members)
    };
    let collected = is(with(&["a@acme.example", "b@acme.example"]), "pass ok");
    let record = &collected.artifacts["administrators_effective.json"];
    assert_eq!(record["groups"][0]["groupId"], "group-root");
    assert_eq!(record["groups"][0]["members"][0]["memberFromUsersList"]["primaryEmail"], "a@acme.example");
    // The address of a member is not asked for: the list of users has it.
    assert!(!record.to_string().contains("planted-7f3c"), "{record}");
    let five = ["a@acme.example", "b@acme.example", "c@acme.example"];
    is(with(&five), "fail super_administrators_too_many");
    // In a group inside the group, and in a circle.
    let nested = with(&["group-inner"]).group("group-inner", ["group-root", "a@acme.example"]);
    is(nested.clone(), "pass ok");
    let (server, _) = collect(nested);
    assert_eq!(asked(&server, GROUPS), 2);
    // Those who have the role twice count once, and those who are suspended do not.
    is(with(&["root@acme.example", crate::ADMIN]), "pass ok");
    is(with(&["gone@acme.example"]), "pass ok");
    let one = with(&["gone@acme.example"])
        .person(Person::new("root@acme.example", "Ruth", "Root").super_admin(true).suspended(true));
    is(one, "fail super_administrators_too_few");
}

#[test]
fn groups_that_are_not_shown() {
    let with = |workspace: Workspace| workspace.assignment(Assignment::group(SUPER, "group-root"));
    // The group does not exist, as far as the administrator sees.
    let collected = is(with(workspace()), "not_verifiable group_not_expanded");
    assert!(collected.errors.iter().any(|text| text.contains("group-root")), "{:?}", collected.errors);
    let hidden =
        with(workspace()).group("group-root", ["mia@acme.example"]).deny("/admin/directory/v1/groups/*");
    is(hidden, "not_verifiable group_not_expanded");
    // The scope is not delegated: only this rule is open, and only if there is such a group.
    let limited = || workspace().service_account(ServiceAccount::new(ACCOUNT).delegated(SCOPES));
    let collected = is(limited(), "pass ok");
    assert_eq!(of(&collected, "administrators"), ["pass ok"]);
    assert!(collected.warnings.contains(&"scope_not_delegated".to_string()), "{:?}", collected.warnings);
    let collected =
        is(with(limited()).group("group-root", ["mia@acme.example"]), "not_verifiable group_not_expanded");
    assert_eq!(of(&collected, "inactive-users"), ["pass ok"]);
}

/// The dry run counts what the run asks for, groups among it.
#[test]
fn the_plan_counts_groups() {
    let server = workspace()
        .assignment(Assignment::group(SUPER, "group-root"))
        .group("group-root", ["group-inner", "mia@acme.example"])
        .group("group-inner", ["lab@acme-labs.example"])
        .serve()
        .unwrap();
    let plan = run(&server, &EVERY_RULE, true).unwrap().plan.unwrap();
    server.clear_log();
    collect_with(&server, &EVERY_RULE);
    let sent = server.request_count();
    assert!((plan.requests_minimum..=plan.requests_maximum).contains(&sent), "{sent} {plan:?}");
}

#[test]
fn guests_are_a_list() {
    let (_, collected) = collect(workspace());
    assert_eq!(of(&collected, "guests"), ["not_applicable information"]);
    let (_, collected) = collect(workspace().person(person("visitor").guest(true)));
    assert_eq!(of(&collected, "guests"), ["not_applicable information"]);
    assert!(collected.actual["guests acme.example"].contains("1 guest: visitor@acme.example"));
    let users = collected.artifacts["user_activity.json"]["users"].as_array().unwrap();
    assert!(users.iter().any(|user| user["isGuestUser"] == true));
    // The first framework asks for no such field, and stores none.
    let server = workspace().person(person("visitor").guest(true)).serve().unwrap();
    let first = crate::collect(&server);
    assert!(first.artifacts.values().all(|artifact| !artifact.to_string().contains("isGuestUser")));
    assert!(server.requests().iter().all(|request| !request.path_and_query.contains("isGuestUser")));
}
