//! Workspaces of every kind: the findings in each, and their verdicts.

use sandbox::workspace::{Assignment, Person};
use sandbox::{Body, Fault, FaultKind};

use super::*;

#[test]
fn everything_as_it_should_be() {
    let server = workspace().serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks, GOOD, "{:?}", collected.actual);
    assert_eq!((collected.warnings.len(), collected.errors.len()), (0, 0), "{:?}", collected.warning_texts);
    assert_eq!(collected.population, "6 users of acme.example");
    assert_eq!(collected.organization, "acme.example");
    assert_eq!(
        collected.identity,
        format!(
            "service account {ACCOUNT} for admin {ADMIN}, read-only scopes directory.user, \
             directory.rolemanagement, reports.audit"
        )
    );
    assert_eq!(collected.account.identity.login.as_deref(), Some(ACCOUNT));
    let scopes = "admin.directory.user.readonly, admin.directory.rolemanagement.readonly, admin.reports.audit.readonly";
    assert_eq!(collected.account.identity.scopes, scopes, "documents have the scopes' whole names");
    assert_eq!(collected.account.requests, 15);
    assert_eq!(collected.account.paused_seconds, 0);
    assert_eq!((server.request_count(), server.violations().len()), (15, 0));
    assert_eq!(asked(&server, "/token"), 1);

    let users = &collected.artifacts["two_step_verification.json"]["users"];
    assert_eq!(users.as_array().unwrap().len(), 6);
    let mut fields: Vec<&str> = users[0].as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let expected = [
        "archived",
        "creationTime",
        "id",
        "isAdmin",
        "isDelegatedAdmin",
        "isEnforcedIn2Sv",
        "isEnrolledIn2Sv",
        "lastLoginTime",
        "primaryEmail",
        "suspended",
    ];
    assert_eq!(fields, expected);

    let roles = &collected.artifacts["admin_roles.json"];
    let assignments = roles["roleAssignments"].as_array().unwrap();
    let named: Vec<&str> = assignments
        .iter()
        .map(|each| each["assigneeFromUsersList"]["primaryEmail"].as_str().unwrap())
        .collect();
    assert_eq!(named, [ADMIN, "root@acme.example", "help@acme.example"]);

    let events = collected.artifacts["user_lifecycle.json"]["events"].as_array().unwrap();
    let listed: Vec<String> =
        events.iter().map(|event| format!("{} {}", event["name"], event["parameters"])).collect();
    let expected = [
        r#""CREATE_USER" {"USER_EMAIL":"help@acme.example"}"#,
        r#""ASSIGN_ROLE" {"ROLE_NAME":"_HELP_DESK_ADMIN_ROLE","USER_EMAIL":"help@acme.example"}"#,
        r#""CREATE_USER" {"USER_EMAIL":"mia@acme.example"}"#,
        r#""SUSPEND_USER" {"USER_EMAIL":"gone@acme.example"}"#,
    ];
    assert_eq!(listed, expected);
}

#[test]
fn nothing_personal_beyond_addresses_is_asked_for_or_stored() {
    let server = workspace().serve().unwrap();
    let collected = collect(&server);
    let stored = format!("{:?}", collected.artifacts);
    for name in ["Ada", "Auditor", "Ruth", "Mia", "203.0.113.24", "rolePrivileges"] {
        assert!(!stored.contains(name), "{name}");
    }
    for request in server.requests().iter().filter(|request| request.method == "GET") {
        let fields = request.path_and_query.split("fields=").nth(1).unwrap();
        assert!(!fields.contains("name(") && !fields.contains("phones") && !fields.contains('*'), "{fields}");
    }
}

#[test]
fn a_person_without_an_enforced_second_step() {
    for enrolled in [false, true] {
        let lazy = Person::new("lazy@acme.example", "Liv", "Lazy").enforced(false).enrolled(enrolled);
        let server = workspace().person(lazy).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(collected.checks[0], "two-step-verification acme.example fail two_step_not_enforced");
        let actual = &collected.actual["two-step-verification acme.example"];
        assert!(
            actual.contains("1 of 6 active users") && actual.ends_with(": lazy@acme.example"),
            "{actual}"
        );
        assert!(actual.contains(&format!("({} of them enrolled", u8::from(enrolled))), "{actual}");
        assert_eq!(collected.checks[1..], GOOD[1..]);
    }
}

#[test]
fn a_person_who_left_and_still_administers() {
    let left = || Person::new("left@acme.example", "Len", "Left").admin_role("_HELP_DESK_ADMIN_ROLE");
    for person in [left().suspended(true), left().archived(true)] {
        let server = workspace().person(person).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(collected.checks[1], "administrators acme.example fail inactive_administrator");
        let actual = &collected.actual["administrators acme.example"];
        assert!(actual.starts_with("1 suspended or archived: left@acme.example;"), "{actual}");
        assert_eq!([&collected.checks[0], &collected.checks[2]], [GOOD[0], GOOD[2]]);
    }
}

#[test]
fn too_few_and_too_many_super_administrators() {
    for (others, reason) in [
        (0, "fail too_few_super_administrators"),
        (1, "pass ok"),
        (3, "pass ok"),
        (4, "fail too_many_super_administrators"),
    ] {
        let mut workspace = workspace();
        workspace.change_person("root@acme.example", Person::no_admin_roles);
        for number in 0..others {
            let email = format!("super{number}@acme.example");
            workspace = workspace.person(Person::new(email, "Sam", "Super").super_admin(true));
        }
        let collected = collect(&workspace.serve().unwrap());
        assert_eq!(collected.checks[1], format!("administrators acme.example {reason}"), "{others} others");
    }
}

#[test]
fn a_group_with_a_role_is_said_to_be_unread() {
    let server = workspace()
        .assignment(Assignment::group("_HELP_DESK_ADMIN_ROLE", "03l18frh3abcdef"))
        .serve()
        .unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[1], "administrators acme.example not_verifiable group_members_not_read");
}

#[test]
fn a_service_account_with_a_role_is_no_user() {
    let server = workspace()
        .assignment(Assignment::other("_HELP_DESK_ADMIN_ROLE", "100000000000000000001"))
        .serve()
        .unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks, GOOD);
    let actual = &collected.actual["administrators acme.example"];
    assert!(actual.ends_with("; 1 missing from the list of users"), "{actual}");
}

#[test]
fn two_thousand_users_are_read_to_the_last_page() {
    let mut workspace = workspace();
    for number in 0..2_000 {
        workspace.put_person(Person::new(format!("user{number:04}@acme.example"), "Uma", "User"));
    }
    workspace.change_person("user1999@acme.example", |person| person.enforced(false));
    let server = workspace.serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.population, "2,006 users of acme.example");
    assert_eq!(asked(&server, "/admin/directory/v1/users?"), 5);
    assert_eq!(collected.checks[0], "two-step-verification acme.example fail two_step_not_enforced");
    let record = &collected.artifacts["two_step_verification.json"];
    assert_eq!(record["users"].as_array().unwrap().len(), 2_006);
    let listings = serde_json::json!([{"customer": "my_customer", "read": "complete", "users": 2_006}]);
    assert_eq!(record["listings"], listings);
    // Requests are named without their list of fields.
    let path = "/admin/directory/v1/users?customer=my_customer&maxResults=500&orderBy=email&projection=basic";
    assert_eq!(collected.requests["two_step_verification.json"], path);
}

#[test]
fn each_domain_is_judged_and_administrators_of_others_are_not_guessed() {
    let server = workspace().serve().unwrap();
    let setup = Setup { extra: "    domains: [acme.example, Acme-Labs.example]\n", ..Setup::default() };
    let collected = collect_with(&server, &setup);
    let expected = [
        "two-step-verification acme.example pass ok",
        "two-step-verification acme-labs.example pass ok",
        GOOD[1],
        GOOD[2],
    ];
    assert_eq!(collected.checks, expected);
    assert_eq!(collected.population, "6 users of 2 domains");

    let setup = Setup { extra: "    domains: [acme-labs.example]\n", ..Setup::default() };
    let collected = collect_with(&server, &setup);
    assert_eq!(collected.population, "1 user of acme-labs.example");
    let expected = [
        "two-step-verification acme-labs.example pass ok",
        "administrators acme.example not_verifiable assignee_not_read",
        GOOD[2],
    ];
    assert_eq!(collected.checks, expected);
}

#[test]
fn a_domain_that_is_not_the_customers() {
    let server = workspace().serve().unwrap();
    let setup = Setup { extra: "    domains: [acme.example, stranger.example]\n", ..Setup::default() };
    let collected = collect_with(&server, &setup);
    assert_eq!(collected.checks[0], "two-step-verification acme.example pass ok");
    assert!(collected.checks[1].starts_with("two-step-verification stranger.example not_verifiable"));
    assert_eq!(collected.warnings, ["domain_not_found"]);
    let text = &collected.warning_texts[0];
    assert!(text.starts_with("users of stranger.example are not shown"), "{text}");
    assert!(text.contains("does not belong to") && text.contains("sources.altcloud.domains"), "{text}");
    assert!(!text.contains("Admin API"), "no privilege is missing: {text}");
    assert_eq!(collected.artifacts["two_step_verification.json"]["listings"][1]["read"], "not_read");
    let plan = run(&server, &setup, true).unwrap().plan.unwrap();
    assert!(plan.failed.is_empty(), "it is a warning already: {:?}", plan.failed);

    let setup = Setup { extra: "    domains: [stranger.example]\n", controls: "[CC6.1]", ..Setup::default() };
    let error = refused(&server, &setup);
    assert!(error.help.join("\n").contains("sources.altcloud.domains"), "{error:?}");
}

#[test]
fn a_customer_by_its_id_is_the_subject_and_its_alias_never_is() {
    let server = workspace().serve().unwrap();
    let setup = Setup { extra: "    customer_id: C01acme99\n", ..Setup::default() };
    let collected = collect_with(&server, &setup);
    let expected = GOOD.map(|check| check.replace("acme.example", "C01acme99"));
    assert_eq!(collected.checks, expected);
    assert_eq!(collected.population, "6 users of C01acme99");
    assert_eq!(collected.organization, "C01acme99");
    assert_eq!(collected.artifacts["two_step_verification.json"]["listings"][0]["customer"], "C01acme99");

    let fault = Fault::on(USERS).kind(FaultKind::Status(502, Body::Html));
    let collected = collect(&workspace().fault(fault).serve().unwrap());
    for text in collected.checks.iter().chain(&collected.errors).chain(collected.actual.values()) {
        assert!(!text.contains("my_customer"), "{text}");
    }
}

#[test]
fn only_what_a_control_needs_is_asked_for() {
    let account = ServiceAccount::new(ACCOUNT).delegated([SCOPES[0]]);
    let server = workspace().service_account(account).serve().unwrap();
    let setup = Setup { controls: "[CC6.1]", ..Setup::default() };
    let collected = collect_with(&server, &setup);
    assert_eq!(collected.checks, [GOOD[0]]);
    assert_eq!(server.request_count(), 2, "an exchange and a page of users");
    assert_eq!(collected.artifacts.len(), 1);
    assert!(collected.identity.ends_with("read-only scopes directory.user"), "{}", collected.identity);

    let setup = Setup { controls: "[CC6.6]", ..Setup::default() };
    let collected = collect_with(&workspace().serve().unwrap(), &setup);
    assert_eq!(collected.checks, GOOD[1..]);
}

#[test]
fn a_dry_run_estimates_a_run() {
    let mut workspace = workspace();
    for number in 0..1_200 {
        workspace.put_person(Person::new(format!("user{number:04}@acme.example"), "Uma", "User"));
    }
    let server = workspace.serve().unwrap();
    let plan = run(&server, &Setup::default(), true).unwrap().plan.unwrap();
    assert_eq!(plan.artifact_count(), 3);
    assert!(plan.failed.is_empty(), "{:?}", plan.failed);
    server.clear_log();
    let collected = collect(&server);
    assert_eq!((plan.requests_minimum, plan.requests_maximum), (17, 17));
    assert_eq!(collected.account.requests, 17);
}

#[test]
fn a_dry_run_says_what_could_not_be_asked_for() {
    let fault = |pattern: &str| Fault::on(pattern).kind(FaultKind::Status(503, Body::Html));
    // (pattern, controls, beginning of each line)
    let table: [(&str, &str, &[&str]); 6] = [
        (ROLES, "[CC6.6]", &["administrator roles: "]),
        (ASSIGNMENTS, "[CC6.6]", &["role assignments: "]),
        (USERS, "[CC6.1, CC6.6]", &["users of acme.example: "]),
        ("/admin/reports/*?*eventName=ARCHIVE_USER*", "[CC6.6]", &["events ARCHIVE_USER: "]),
        ("/admin/directory/v1/customer/*", "[CC6.6]", &["administrator roles: ", "role assignments: "]),
        (ASSIGNMENTS, "[CC6.1]", &[]),
    ];
    for (pattern, controls, expected) in table {
        let server = workspace().fault(fault(pattern)).serve().unwrap();
        let plan = run(&server, &Setup { controls, ..Setup::default() }, true).unwrap().plan.unwrap();
        assert_eq!(plan.failed.len(), expected.len(), "{pattern}: {:?}", plan.failed);
        for (line, expected) in plan.failed.iter().zip(expected) {
            assert!(line.starts_with(expected) && line.contains("HTTP 503"), "{pattern}: {line}");
            assert!(line.contains("after 5 attempts"), "{pattern}: {line}");
        }
    }
    let server = workspace().fault(fault(REPORTS)).serve().unwrap();
    let plan = run(&server, &Setup::default(), true).unwrap().plan.unwrap();
    assert_eq!(plan.failed.len(), 11, "one line for each event: {:?}", plan.failed);
    // A listing that fails on a later page is partly missing.
    let server =
        workspace().page_size(2).fault(fault("/admin/directory/v1/users?*pageToken=*")).serve().unwrap();
    let plan = run(&server, &Setup::default(), true).unwrap().plan.unwrap();
    assert!(
        plan.failed.len() == 1 && plan.failed[0].starts_with("users of acme.example, after page 1: "),
        "{plan:?}"
    );
    // The plan does not list refused calls as missing.
    for path in [ROLES, ASSIGNMENTS, REPORTS] {
        let server = workspace().deny(path).serve().unwrap();
        let plan = run(&server, &Setup::default(), true).unwrap().plan.unwrap();
        assert!(plan.failed.is_empty(), "{path}: {:?}", plan.failed);
    }
}
