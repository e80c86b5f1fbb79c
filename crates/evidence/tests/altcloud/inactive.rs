//! Users who do not sign in: a rule of the second framework, over the list of users that other rules read too.

use sandbox::workspace::{Body, Fault, FaultKind, Person, Workspace};

use crate::{Collected, Setup, USERS, collect_with, workspace};

const CRITERIA: Setup = Setup {
    framework: "tsc_2017",
    controls: "[CC6.2]",
    admin: crate::ADMIN,
    extra: "",
    key: None,
    ahead: jiff::SignedDuration::ZERO,
    keyless: None,
};

fn collect(workspace: Workspace, setup: &Setup) -> Collected {
    collect_with(&workspace.serve().unwrap(), setup)
}

fn of(collected: &Collected) -> Vec<&str> {
    let own = collected.checks.iter().map(String::as_str);
    own.filter(|check| check.starts_with("inactive-users ")).collect()
}

/// A person who signed in and was created so many days ago.
fn person(name: &str, login: Option<u32>, created: u32) -> Person {
    let email = format!("{name}@acme.example");
    Person::new(email, name, "Person").last_login_days_ago(login).created_days_ago(created)
}

#[test]
fn every_age() {
    for (login, created, expected) in [
        (Some(1), 500, "pass ok"),
        (Some(89), 500, "pass ok"),
        (Some(91), 500, "fail user_inactive"),
        // Never: the host says 1970.
        (None, 500, "fail user_inactive"),
        (None, 29, "pass ok"),
        (None, 31, "fail user_inactive"),
    ] {
        let collected = collect(workspace().person(person("new", login, created)), &CRITERIA);
        assert_eq!(
            of(&collected),
            [format!("inactive-users acme.example {expected}")],
            "{login:?} {created}"
        );
    }
    // Who cannot sign in is not idle.
    let gone = person("gone", None, 500).suspended(true);
    assert_eq!(of(&collect(workspace().person(gone), &CRITERIA)), ["inactive-users acme.example pass ok"]);
}

/// The list that other rules read serves this one too; what the judgement does not need is not in its artifact.
#[test]
fn what_is_read_and_kept() {
    let server = workspace().serve().unwrap();
    let all = Setup { controls: "\"*\"", ..CRITERIA };
    let collected = collect_with(&server, &all);
    let users = |path: &str| path.starts_with("/admin/directory/v1/users");
    let asked = server.requests().iter().filter(|request| users(&request.path_and_query)).count();
    assert_eq!(asked, 1);
    let activity = &collected.artifacts["user_activity.json"];
    let fields: Vec<&str> = activity["users"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        fields,
        ["archived", "creationTime", "id", "isGuestUser", "lastLoginTime", "primaryEmail", "suspended"]
    );
    // Alone, it needs one scope and one page.
    let server = workspace().serve().unwrap();
    let alone = collect_with(&server, &CRITERIA);
    assert!(alone.artifacts.contains_key("user_activity.json"));
    assert!(!alone.artifacts.contains_key("two_step_verification.json"));
}

/// A list that was not read to its end fails for those that it shows, and otherwise decides nothing.
#[test]
fn an_incomplete_list() {
    let broken = || Fault::on(USERS).kind(FaultKind::Status(403, Body::Json)).after(1);
    for (login, expected) in [(Some(1), "not_verifiable"), (Some(200), "fail user_inactive")] {
        let many = (0..600).fold(workspace(), |all, number| {
            all.person(person(&format!("a{number:04}"), if number == 3 { login } else { Some(1) }, 500))
        });
        let collected = collect(many.fault(broken()), &CRITERIA);
        let found = of(&collected);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(expected), "{found:?}");
    }
}
