//! The workspace's policies: five rules of the second framework over one listing, with overrides by unit and group.

use sandbox::workspace::{
    Body, Fault, FaultKind, MORE_SCOPES, Person, Policy, SCOPES, ServiceAccount, Workspace,
};
use serde_json::json;

use crate::{ACCOUNT, ADMIN, Collected, Setup, asked, collect_with, run, workspace};

const RULES: [&str; 5] =
    ["two-step-policy", "two-step-strength", "workspace-password-policy", "session-length", "recovery-off"];
const POLICIES: &str = "/v1/policies";
const UNITS: &str = "/admin/directory/v1/customer/my_customer/orgunits";
const TWO_STEP: &str = "security.two_step_verification_enforcement";

const CRITERIA: Setup = Setup {
    framework: "tsc_2017",
    controls: "\"*\"",
    admin: ADMIN,
    extra: "",
    key: None,
    ahead: jiff::SignedDuration::ZERO,
    keyless: None,
};

fn collect(workspace: Workspace) -> Collected {
    let server = workspace.serve().unwrap();
    let collected = collect_with(&server, &CRITERIA);
    assert_eq!(server.violations().len(), 0);
    collected
}

/// The results of the five rules, in order.
fn of(collected: &Collected) -> Vec<String> {
    let result = |rule: &&str| {
        let start = format!("{rule} acme.example ");
        let own: Vec<&str> = collected.checks.iter().filter_map(|check| check.strip_prefix(&start)).collect();
        assert_eq!(own.len(), 1, "{rule}: {own:?}");
        own[0].to_string()
    };
    RULES.iter().map(result).collect()
}

fn two_step(enforced: bool) -> Policy {
    let from = if enforced { "2024-03-01T00:00:00Z" } else { "1970-01-01T00:00:00Z" };
    Policy::new(TWO_STEP, json!({ "enforcedFrom": from })).order(Some(2.0))
}

#[test]
fn good_policies() {
    let server = workspace().org_unit("/Sales").serve().unwrap();
    let collected = collect_with(&server, &CRITERIA);
    assert_eq!(of(&collected), ["pass ok"; 5]);
    assert_eq!((asked(&server, POLICIES), asked(&server, UNITS)), (1, 1));
    assert_eq!(asked(&server, "/admin/directory/v1/groups/"), 0);
    let record = &collected.artifacts["policies.json"];
    // Policies of other settings, and fields that no rule judges, are not kept.
    assert_eq!(record["policies"].as_array().unwrap().len(), 5);
    let text = record.to_string();
    for absent in ["login_challenges", "maximumLength", "expirationDuration", "planted-7f3c", "customers/"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    // Users are counted, not listed: two super administrators, three others; the suspended one does not count.
    assert_eq!(
        record["users"],
        json!([
            {"orgUnitPath": "/", "groupIds": [], "isAdmin": true, "certain": true, "users": 2},
            {"orgUnitPath": "/", "groupIds": [], "isAdmin": false, "certain": true, "users": 3},
        ])
    );
    // No other rule asks for the unit, and the first framework asks for none of it.
    let server = workspace().serve().unwrap();
    crate::collect(&server);
    assert_eq!((asked(&server, POLICIES), asked(&server, UNITS)), (0, 0));
    assert!(server.requests().iter().all(|request| !request.path_and_query.contains("orgUnitPath")));
}

#[test]
fn overrides_by_unit_and_group() {
    let sales = || workspace().person(Person::new("sam@acme.example", "Sam", "Sales").unit("/Sales/North"));
    let first = |workspace: Workspace| of(&collect(workspace)).remove(0);
    assert_eq!(first(sales().policy(two_step(false).unit("/Sales"))), "fail two_step_override");
    assert_eq!(first(sales().org_unit("/Empty").policy(two_step(false).unit("/Empty"))), "pass ok");
    let group = |members: &[&str]| {
        sales().policy(two_step(false).group("group-x")).group("group-x", members.iter().copied())
    };
    assert_eq!(first(group(&["sam@acme.example"])), "fail two_step_override");
    // Only a suspended user, or nobody.
    assert_eq!(first(group(&["gone@acme.example"])), "pass ok");
    assert_eq!(first(group(&[])), "pass ok");
    // A group inside the group: the provider does not say whether the policy concerns its members.
    assert_eq!(first(group(&["group-inner"])), "not_verifiable policy_reach_unknown");
    assert_eq!(first(sales().policy(two_step(false).for_licence())), "not_verifiable policy_reach_unknown");
    // Off at the root, and everyone under an override that enforces.
    let mut all = Workspace::new("C01acme99", ["acme.example"])
        .service_account(ServiceAccount::new(ACCOUNT).delegated(SCOPES.into_iter().chain(MORE_SCOPES)))
        .policy(two_step(false).order(Some(1.0)))
        .policy(two_step(true).unit("/Staff"));
    for name in ["auditor", "root"] {
        all = all
            .person(Person::new(format!("{name}@acme.example"), name, "X").super_admin(true).unit("/Staff"));
    }
    assert_eq!(first(all.clone()), "pass ok");
    assert_eq!(
        first(all.person(Person::new("out@acme.example", "Out", "Side"))),
        "fail two_step_not_enforced"
    );
}

/// Nothing set: an answer without members.
#[test]
fn nothing_set() {
    let bare = Workspace::new("C01acme99", ["acme.example"])
        .service_account(ServiceAccount::new(ACCOUNT).delegated(SCOPES.into_iter().chain(MORE_SCOPES)))
        .person(Person::new(ADMIN, "Ada", "Auditor").super_admin(true));
    assert_eq!(
        of(&collect(bare)),
        [
            "fail two_step_not_enforced",
            "fail two_step_any_factor",
            "fail default_value",
            "fail default_value",
            "not_verifiable default_value"
        ]
    );
    // Another empty answer is not a list of policies.
    let other = Fault::on("/v1/policies*").kind(FaultKind::Json(200, Vec::new(), json!({"items": []})));
    assert!(
        of(&collect(workspace().fault(other))).iter().all(|result| result == "not_verifiable host_error")
    );
}

/// Without the role, the scope or the interface only these rules are open.
#[test]
fn what_is_refused() {
    // An administrator who is no super administrator.
    let reader = "reader@acme.example";
    let role = sandbox::workspace::AdminRole::new("Reader", "")
        .privilege("USERS_RETRIEVE")
        .privilege("ORGANIZATION_UNITS_RETRIEVE")
        .privilege("GROUPS_RETRIEVE")
        .privilege("REPORTS_ACCESS");
    let server = workspace()
        .role(role)
        .person(Person::new(reader, "Rea", "Der").admin_role("Reader"))
        .serve()
        .unwrap();
    let collected = collect_with(&server, &Setup { admin: reader, ..CRITERIA });
    assert_eq!(of(&collected), ["not_verifiable permission_denied"; 5]);
    assert!(collected.checks.contains(&"inactive-users acme.example pass ok".to_string()));
    assert!(
        collected.warning_texts.iter().any(|text| text.contains("super administrator")),
        "{:?}",
        collected.warning_texts
    );
    // The scope is not delegated.
    let less = |missing: &str| {
        let scopes = SCOPES.into_iter().chain(MORE_SCOPES).filter(|scope| !scope.contains(missing));
        workspace().service_account(ServiceAccount::new(ACCOUNT).delegated(scopes))
    };
    assert_eq!(of(&collect(less("cloud-identity"))), ["not_verifiable permission_denied"; 5]);
    // Without the units, whether even the root's policy is the root's is not known.
    assert_eq!(of(&collect(less("orgunit"))), ["not_verifiable permission_denied"; 5]);
    // The members of groups are needed only if a policy names one.
    assert_eq!(of(&collect(less("group.member"))), ["pass ok"; 5]);
    let group = || less("group.member").policy(two_step(false).group("group-x")).group("group-x", [ADMIN]);
    let collected = collect(group());
    assert_eq!(of(&collected)[0], "not_verifiable permission_denied");
    assert_eq!(of(&collected)[1..], ["pass ok"; 4]);
    // Another interface than that of the directory.
    let denied = workspace().deny("/v1/policies");
    assert_eq!(of(&collect(denied)), ["not_verifiable permission_denied"; 5]);
    let broken = Fault::on("/v1/policies*").kind(FaultKind::Status(403, Body::Json));
    assert_eq!(of(&collect(workspace().fault(broken))), ["not_verifiable permission_denied"; 5]);
}

/// A listing that breaks off proves nothing, because any policy can be overridden.
#[test]
fn several_pages() {
    let many = (0..250).fold(workspace(), |all, number| {
        all.policy(two_step(true).unit(format!("/Unit{number}")).order(Some(f64::from(number + 2))))
    });
    let server = many.clone().serve().unwrap();
    let collected = collect_with(&server, &CRITERIA);
    assert_eq!((of(&collected), asked(&server, POLICIES)), (vec!["pass ok".to_string(); 5], 3));
    let broken = Fault::on("/v1/policies*").kind(FaultKind::Status(403, Body::Json)).after(1);
    let collected = collect(many.fault(broken));
    assert!(
        of(&collected).iter().all(|result| result.starts_with("not_verifiable")),
        "{:?}",
        collected.checks
    );
}

/// The customer of the answer is compared with the one that was asked for.
#[test]
fn policies_of_another_customer() {
    let setup = |extra| Setup { extra, ..CRITERIA };
    let server = workspace().serve().unwrap();
    let collected = collect_with(&server, &setup("    customer_id: C01acme99\n"));
    let name = "C01acme99";
    assert!(collected.checks.contains(&format!("session-length {name} pass ok")), "{:?}", collected.checks);
    let path =
        server.requests().into_iter().find(|request| request.path_and_query.starts_with(POLICIES)).unwrap();
    assert!(path.path_and_query.contains("customers%2FC01acme99"), "{}", path.path_and_query);
    let other = Fault::on("/v1/policies*").kind(FaultKind::Json(
        200,
        Vec::new(),
        json!({"policies": [{"customer": "customers/C0other"}]}),
    ));
    let server = workspace().fault(other).serve().unwrap();
    let collected = collect_with(&server, &setup("    customer_id: C01acme99\n"));
    assert!(collected.checks.contains(&format!("session-length {name} not_verifiable host_error")));
    assert!(
        collected.errors.iter().any(|text| text.contains("C0other instead of C01acme99")),
        "{:?}",
        collected.errors
    );
}

/// The dry run counts what the run asks for.
#[test]
fn the_plan_counts_policies() {
    let server =
        workspace().policy(two_step(true).group("group-x")).group("group-x", [ADMIN]).serve().unwrap();
    let plan = run(&server, &CRITERIA, true).unwrap().plan.unwrap();
    server.clear_log();
    collect_with(&server, &CRITERIA);
    let sent = server.request_count();
    assert!((plan.requests_minimum..=plan.requests_maximum).contains(&sent), "{sent} {plan:?}");
}
