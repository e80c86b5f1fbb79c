//! Authentication: scopes, keys, administrators, clocks, tokens that expire.

use evidence::source::ConnectErrorKind;
use sandbox::{Fault, FaultKind};

use super::*;

fn error(status: u16, reason: &str, message: &str) -> FaultKind {
    let errors = serde_json::json!([{"domain": "global", "reason": reason, "message": message}]);
    let body = serde_json::json!({"error": {"code": status, "message": message, "errors": errors}});
    FaultKind::Json(status, Vec::new(), body)
}

#[test]
fn each_scope_that_is_not_delegated_costs_its_own_checks_and_no_others() {
    let denied =
        |at: usize| format!("{} not_verifiable permission_denied", GOOD[at].rsplitn(3, ' ').last().unwrap());
    let table = [(0, vec![0, 1]), (1, vec![1]), (2, vec![2])];
    for (missing, lost) in table {
        let scopes = (0..3).filter(|at| *at != missing).map(|at| SCOPES[at]);
        let server =
            workspace().service_account(ServiceAccount::new(ACCOUNT).delegated(scopes)).serve().unwrap();
        let collected = collect(&server);
        let expected: Vec<String> =
            (0..3).map(|at| if lost.contains(&at) { denied(at) } else { GOOD[at].to_string() }).collect();
        assert_eq!(collected.checks, expected, "without {}", SCOPES[missing]);
        assert_eq!(collected.warnings, ["scope_not_delegated"]);
        let name = SCOPES[missing].rsplit('/').next().unwrap();
        let short = name.strip_prefix("admin.").unwrap().strip_suffix(".readonly").unwrap();
        assert!(collected.warning_texts[0].contains(name), "{:?}", collected.warning_texts);
        assert!(!collected.identity.contains(short), "{}", collected.identity);
        assert!(
            collected.errors.is_empty(),
            "a scope that is not delegated is no error: {:?}",
            collected.errors
        );
        assert_eq!(asked(&server, "/token"), 5, "all, each alone, and what is left together");
    }
}

#[test]
fn without_any_scope_the_error_says_what_to_paste() {
    let account = ServiceAccount::new(ACCOUNT);
    let client_id = account.client_id();
    let server = workspace().service_account(account).serve().unwrap();
    let error = refused(&server, &Setup::default());
    assert_eq!(error.kind, ConnectErrorKind::Connection);
    assert!(error.message.contains("unauthorized_client"), "{error}");
    let help = error.help.join("\n");
    assert!(help.contains(&format!("client id: {client_id}")), "{help}");
    assert!(help.contains(&format!("scopes: {}", SCOPES.join(","))), "{help}");
    assert_eq!(error.requests, 4);
    // A single scope is not requested again by itself.
    server.clear_log();
    let error = refused(&server, &Setup { controls: "[CC6.1]", ..Setup::default() });
    assert_eq!(error.requests, 1);
    assert!(error.help.contains(&format!("scopes: {}", SCOPES[0])), "{error:?}");
}

#[test]
fn keys_and_accounts_that_are_gone() {
    let account = || ServiceAccount::new(ACCOUNT).delegated(SCOPES);
    let table = [
        (account().key_revoked(true), "invalid_grant (Invalid JWT Signature", "create a new key"),
        (account().deleted(true), "a token for auditor@acme.example: invalid_client", ACCOUNT),
    ];
    for (account, words, advice) in table {
        let server = workspace().service_account(account).serve().unwrap();
        let error = refused(&server, &Setup::default());
        assert!(error.message.contains(words), "{error}");
        assert!(error.help.join("\n").contains(advice), "{error:?}");
        assert_eq!(asked(&server, "/token"), 1, "what is refused for good is not asked again");
        assert_eq!(asked(&server, "/admin"), 0);
    }
}

#[test]
fn a_key_that_is_another_accounts() {
    let server = workspace().serve().unwrap();
    let key = include_str!("../../../evidence-bundle/tests/keys/rsa.pem");
    let error = refused(&server, &Setup { key: Some(key), ..Setup::default() });
    assert!(error.message.contains("Invalid JWT Signature"), "{error}");
}

#[test]
fn an_administrator_who_does_not_exist_or_has_no_access() {
    let server = workspace().serve().unwrap();
    let error = refused(&server, &Setup { admin: "nobody@acme.example", ..Setup::default() });
    assert!(
        error.message.contains("invalid_grant") && error.message.contains("nobody@acme.example"),
        "{error}"
    );
    assert!(error.help.join("\n").contains("sources.altcloud.admin_email"), "{error:?}");

    let error = refused(&server, &Setup { admin: "mia@acme.example", ..Setup::default() });
    assert!(error.message.contains("denies mia@acme.example access"), "{error}");
    assert!(error.help.join("\n").contains("Admin API, Users: Read"), "{error:?}");
}

#[test]
fn an_administrator_who_may_read_users_only() {
    let server = workspace().serve().unwrap();
    let collected = collect_with(&server, &Setup { admin: "help@acme.example", ..Setup::default() });
    let expected = [
        GOOD[0],
        "administrators acme.example not_verifiable permission_denied",
        "user-lifecycle-log acme.example not_verifiable permission_denied",
    ];
    assert_eq!(collected.checks, expected);
    assert_eq!(collected.warnings, ["privilege_missing", "privilege_missing"]);
    assert!(collected.warning_texts[1].contains("Reports"), "{:?}", collected.warning_texts);
    assert!(collected.errors.is_empty(), "{:?}", collected.errors);
    assert_eq!(
        asked(&server, "/admin/reports"),
        1,
        "whoever may not read the log is not asked for eleven parts of it"
    );
}

#[test]
fn an_api_that_is_switched_off() {
    let server = workspace().api_disabled(true).serve().unwrap();
    let error = refused(&server, &Setup::default());
    assert!(error.help.join("\n").contains("enable the Admin SDK API"), "{error:?}");
}

#[test]
fn a_clock_that_is_wrong_is_corrected_by_the_providers_own() {
    for hours in [-30, -2, 2, 30] {
        let server = workspace().serve().unwrap();
        let setup = Setup { ahead: SignedDuration::from_hours(hours), ..Setup::default() };
        let collected = collect_with(&server, &setup);
        assert_eq!(collected.checks, GOOD, "{hours} h");
        assert_eq!(collected.warnings, ["clock_skewed"]);
        let side = if hours < 0 { "behind" } else { "ahead of" };
        assert!(collected.warning_texts[0].contains(side), "{:?}", collected.warning_texts);
        assert_eq!(asked(&server, "/token"), 2);
        // The log's period also uses the provider's time.
        let end: Timestamp =
            collected.artifacts["user_lifecycle.json"]["endTime"].as_str().unwrap().parse().unwrap();
        assert!(end.duration_since(Timestamp::now()).abs() < SignedDuration::from_mins(2), "{end}");
    }
}

#[test]
fn a_token_that_is_rejected_in_the_middle_is_renewed_once() {
    let fault = Fault::on(ASSIGNMENTS).kind(error(401, "authError", "Invalid Credentials")).times(1);
    let server = workspace().fault(fault).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks, GOOD);
    assert_eq!(asked(&server, "/token"), 2);
}

#[test]
fn a_part_that_rejects_every_token_does_not_take_the_others_along() {
    let fault = Fault::on(ASSIGNMENTS).kind(error(401, "authError", "Invalid Credentials"));
    let server = workspace().fault(fault).serve().unwrap();
    let collected = collect(&server);
    let expected = [GOOD[0], "administrators acme.example not_verifiable permission_denied", GOOD[2]];
    assert_eq!(collected.checks, expected);
    assert_eq!(collected.errors.len(), 1);
    assert!(collected.errors[0].contains("the credentials are no longer accepted"), "{:?}", collected.errors);
    assert_eq!(asked(&server, "/admin/directory/v1/customer/my_customer/roleassignments"), 2);
    assert_eq!(asked(&server, "/token"), 2, "a fresh token is asked for once");
}

#[test]
fn an_api_that_rejects_every_token_is_no_missing_privilege() {
    let rejected = || error(401, "authError", "Invalid Credentials");
    let server = workspace().fault(Fault::on("/admin/*").kind(rejected())).serve().unwrap();
    let error = refused(&server, &Setup { controls: "[CC6.1]", ..Setup::default() });
    let help = error.help.join("\n");
    assert!(
        help.contains("the credentials are no longer accepted") && !help.contains("Admin API"),
        "{error:?}"
    );

    let server = workspace().fault(Fault::on(ROLES).kind(rejected())).serve().unwrap();
    let collected = collect(&server);
    assert!(collected.warnings.is_empty(), "{:?}", collected.warning_texts);
    assert!(collected.errors[0].contains("the credentials are no longer accepted"), "{:?}", collected.errors);
    let plan = run(&server, &Setup::default(), true).unwrap().plan.unwrap();
    assert!(plan.failed[0].starts_with("administrator roles: the credentials are no"), "{:?}", plan.failed);
}

#[test]
fn a_token_is_renewed_before_it_expires() {
    // The wait that the provider asks for outlasts the token.
    let throttled = FaultKind::Json(
        429,
        vec![("retry-after".to_string(), "300".to_string())],
        serde_json::json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}),
    );
    let fault = Fault::on("/admin/directory/v1/customer/my_customer/roles?*").kind(throttled).times(1);
    let server = workspace().token_seconds(120).fault(fault).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks, GOOD);
    assert!(collected.waited >= SignedDuration::from_secs(300), "{:?}", collected.waited);
    assert!(asked(&server, "/token") >= 2, "the sandbox's clock stands, the tool's has moved on");
}

#[test]
fn an_exchange_that_stops_in_the_middle_ends_the_asking() {
    let rejected = Fault::on(ASSIGNMENTS).kind(error(401, "authError", "Invalid Credentials"));
    let body = serde_json::json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."});
    let revoked = Fault::on("/token").kind(FaultKind::Json(400, Vec::new(), body)).after(1);
    let server = workspace().fault(rejected).fault(revoked).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[0], GOOD[0], "what was read stays");
    assert_eq!(collected.checks[1], "administrators acme.example not_verifiable permission_denied");
    assert!(
        collected.errors[0].contains("could not be renewed: Invalid JWT Signature."),
        "{:?}",
        collected.errors
    );
    assert_eq!(asked(&server, "/token"), 2);
}

#[test]
fn tokens_that_are_only_asked_for_are_known_to_the_screen_too() {
    let account = ServiceAccount::new(ACCOUNT).delegated([SCOPES[0], SCOPES[2]]);
    let token = |number: u32| format!("ya29.made-up-{number}-fZ3kQ9wL2xVb7Tn5");
    let body = |number: u32| {
        let body =
            serde_json::json!({"access_token": token(number), "expires_in": 3599, "token_type": "Bearer"});
        FaultKind::Json(200, Vec::new(), body)
    };
    let faults = Fault::on("/token").kind(body(1)).after(1).times(1);
    let server = workspace().service_account(account).fault(faults).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.warnings, ["scope_not_delegated"]);
    assert!(!collected.screen.check(format!("x {} y", token(1)).as_bytes()).is_empty());
    assert!(collected.screen.check(format!("x {} y", token(2)).as_bytes()).is_empty(), "another is none");
}

#[test]
fn no_secret_is_reported() {
    let fault = Fault::on(ASSIGNMENTS).kind(error(401, "authError", "Invalid Credentials")).times(1);
    let server = workspace().fault(fault).serve().unwrap();
    let collected = collect(&server);
    let file: Value = serde_json::from_str(&Workspace::service_account_file(&server)).unwrap();
    let key = file["private_key"].as_str().unwrap();
    for text in [&collected.told, &format!("{:?}", collected.artifacts), &format!("{:?}", collected.account)]
    {
        assert!(collected.screen.check(text.as_bytes()).is_empty());
        assert!(!text.contains("assertion=") && !text.contains("Bearer "));
        for line in key.lines().filter(|line| !line.is_empty()) {
            assert!(!text.contains(line));
        }
    }
    // The screen knew the key before the first request, and learned the credentials that the run obtained.
    assert!(!collected.screen.check(key.replace("PRIVATE KEY", "").as_bytes()).is_empty());
}
