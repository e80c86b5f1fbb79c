//! The workspace directory: access, people, roles, the log, limits.

use crate::client::{Answer, raw, raw_with_body};
use crate::workspace_token::{assertion, signed, token, trade};
use sandbox::workspace::{Limit, Person, SCOPES, Throttle, Workspace};
use sandbox::{
    Body, DEMO_WORKSPACE_ADMIN, DEMO_WORKSPACE_MEMBER, Fault, FaultKind, Identity, Server, demo_workspace,
    large_workspace,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const USERS: &str = "/admin/directory/v1/users?customer=my_customer";
const ROLES: &str = "/admin/directory/v1/customer/my_customer/roles";
const ASSIGNMENTS: &str = "/admin/directory/v1/customer/C0acme42/roleassignments";
const LOG: &str = "/admin/reports/v1/activity/users/all/applications/admin";

fn get(server: &Server<Workspace>, token: &str, path: &str) -> Answer {
    raw(server, "GET", path, &[("Authorization", &format!("Bearer {token}"))])
}

fn error(answer: &Answer) -> (u16, String, String) {
    let body = answer.json();
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    (answer.status, text("/error/message"), text("/error/errors/0/reason"))
}

/// All rows of a listing, page by page.
fn all(server: &Server<Workspace>, path: &str, rows: &str) -> Vec<Value> {
    let token = token(server);
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let join = if path.contains('?') { '&' } else { '?' };
        let answer = get(server, &token, &format!("{path}{join}{next}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let page = answer.json();
        found.extend(page[rows].as_array().cloned().unwrap_or_default());
        match page["nextPageToken"].as_str() {
            Some(token) => next = format!("pageToken={token}"),
            None => return found,
        }
    }
}

#[test]
fn people_with_everything_about_them() {
    let server = demo_workspace().serve().unwrap();
    let people = all(&server, &format!("{USERS}&maxResults=7&orderBy=email"), "users");
    assert_eq!(people.len(), 24);
    let addresses: Vec<&str> = people.iter().map(|person| person["primaryEmail"].as_str().unwrap()).collect();
    assert!(addresses.is_sorted() && addresses.iter().collect::<BTreeSet<_>>().len() == 24);
    let count = |name: &str| people.iter().filter(|person| person[name] == true).count();
    assert_eq!((count("isAdmin"), count("suspended"), count("archived")), (3, 1, 1));
    assert_eq!(count("isDelegatedAdmin"), 3);
    let loose: Vec<_> = people
        .iter()
        .filter(|person| person["isEnrolledIn2Sv"] == true && person["isEnforcedIn2Sv"] == false)
        .collect();
    assert_eq!((loose.len(), &loose[0]["primaryEmail"]), (1, &json!("nora.newcomer@acme.example")));
    for name in
        ["id", "etag", "emails", "phones", "addresses", "recoveryEmail", "lastLoginTime", "creationTime"]
    {
        assert!(people[0].get(name).is_some(), "{name}");
    }
    assert_eq!(
        (&people[0]["kind"], people[0]["id"].as_str().unwrap().len()),
        (&json!("admin#directory#user"), 21)
    );
    server.update(|workspace| {
        workspace.change_person(DEMO_WORKSPACE_MEMBER, |person| person.last_login_days_ago(None));
    });
    let answer = get(&server, &token(&server), &format!("{USERS}&query=email:max*"));
    assert_eq!(answer.json()["users"][0]["lastLoginTime"], "1970-01-01T00:00:00.000Z");
}

#[test]
fn parts_of_answers_and_other_questions() {
    let server = demo_workspace().serve().unwrap();
    let token = token(&server);
    let path = "/admin/directory/v1/users?domain=acme-labs.example&fields=kind%2Cusers(primaryEmail%2Cname%2FfullName)";
    let expected = json!({ "kind": "admin#directory#users", "users": [
        { "primaryEmail": "vic@acme-labs.example", "name": { "fullName": "Vic Volt" } },
        { "primaryEmail": "wanda@acme-labs.example", "name": { "fullName": "Wanda Wheel" } },
    ] });
    assert_eq!(get(&server, &token, path).json(), expected);
    let answer = get(&server, &token, &format!("{USERS}&prettyPrint=false&query=isSuspended%3Dtrue"));
    assert!(!answer.text().contains('\n'));
    assert_eq!(answer.json()["users"][0]["primaryEmail"], "sid.spring@acme.example");
    let none = get(&server, &token, &format!("{USERS}&query=email:nobody*")).json();
    assert_eq!(none.get("users"), None, "an empty listing has no rows, not an empty list");
    let deleted = get(&server, &token, &format!("{USERS}&showDeleted=true")).json();
    assert!(
        deleted["users"][0]["deletionTime"].is_string() && deleted["users"].as_array().unwrap().len() == 1
    );
    assert!(get(&server, &token, &format!("{USERS}&projection=full")).text().contains("customSchemas"));

    let invalid = |path: &str| error(&get(&server, &token, path));
    let users = "/admin/directory/v1/users";
    assert_eq!(invalid(users), (400, "Bad Request".into(), "badRequest".into()));
    assert_eq!(
        invalid(&format!("{users}?domain=x.example")),
        (404, "Domain not found.".into(), "notFound".into())
    );
    assert_eq!(
        invalid(&format!("{users}?customer=C0other")),
        (400, "Invalid Input".into(), "invalid".into())
    );
    for wrong in
        ["maxResults=0", "maxResults=501", "maxResults=x", "pageToken=x", "fields=users(shoe)", "fields=a("]
    {
        let (status, _, reason) = invalid(&format!("{USERS}&{wrong}"));
        assert_eq!((status, reason.as_str()), (400, "invalidParameter"), "{wrong}");
    }
    assert_eq!(invalid(&format!("{ROLES}?maxResults=101")).0, 400);
    assert_eq!(invalid(&format!("{ASSIGNMENTS}?maxResults=201")).0, 400);
    let page = get(&server, &token, "/admin/directory/v2/users");
    assert!(page.status == 404 && page.text().contains("<title>Error 404"));
}

#[test]
fn roles_and_who_has_them() {
    let server = demo_workspace().page_size(2).serve().unwrap();
    let roles = all(&server, ROLES, "items");
    let first = &roles[0];
    assert_eq!((&first["roleName"], &first["isSuperAdminRole"]), (&json!("_SEED_ADMIN_ROLE"), &json!(true)));
    assert_eq!(roles[1].get("isSuperAdminRole"), None, "what is not so is not there");
    assert!(first["roleId"].is_string() && first["rolePrivileges"].is_array());
    let assignments = all(&server, ASSIGNMENTS, "items");
    let of = |name: &str| {
        let role = roles.iter().find(|role| role["roleName"] == name).unwrap();
        assignments.iter().filter(|one| one["roleId"] == role["roleId"]).count()
    };
    assert_eq!((of("_SEED_ADMIN_ROLE"), of("_HELP_DESK_ADMIN_ROLE"), of("Directory auditor")), (3, 2, 1));
    let group = assignments.iter().find(|one| one["assigneeType"] == "group").unwrap();
    assert_eq!(group["scopeType"], "ORG_UNIT");
    let people = all(&server, USERS, "users");
    let sid = people.iter().find(|person| person["suspended"] == true).unwrap();
    assert!(assignments.iter().any(|one| one["assignedTo"] == sid["id"]), "he still has it");
    let mine = all(&server, &format!("{ASSIGNMENTS}?userKey={DEMO_WORKSPACE_ADMIN}"), "items");
    assert_eq!(mine.len(), 1);
}

#[test]
fn the_log_newest_first() {
    let server = demo_workspace().serve().unwrap();
    let log = all(&server, &format!("{LOG}?maxResults=3"), "items");
    assert_eq!(log.len(), 11, "what is older than six months is gone");
    let times: Vec<&str> = log.iter().map(|one| one["id"]["time"].as_str().unwrap()).collect();
    assert!(times.iter().rev().is_sorted(), "{times:?}");
    assert_eq!(log[0]["events"][0]["parameters"][0]["value"], "nora.newcomer@acme.example");
    let suspended = all(&server, &format!("{LOG}?eventName=SUSPEND_USER"), "items");
    assert_eq!(suspended.len(), 3);
    let since = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * 15);
    assert_eq!(all(&server, &format!("{LOG}?startTime={since}"), "items").len(), 3);
    let token = token(&server);
    assert_eq!(get(&server, &token, &format!("{LOG}?startTime=yesterday")).status, 400);
    assert_eq!(
        get(&server, &token, &format!("{LOG}?startTime={since}&endTime=2020-01-01T00:00:00Z")).status,
        400
    );
    assert_eq!(all(&server, &LOG.replace("all", "piet.platform@acme.example"), "items").len(), 5);
    assert_eq!(all(&server, &LOG.replace("applications/admin", "applications/login"), "items").len(), 0);
}

#[test]
fn who_may_look() {
    let server = demo_workspace().serve().unwrap();
    for path in [USERS, ROLES, ASSIGNMENTS, LOG] {
        for headers in
            [vec![], vec![("Authorization", "Bearer ya29.unknown")], vec![("Authorization", "Basic x")]]
        {
            let answer = raw(&server, "GET", path, &headers);
            let body = answer.json();
            assert_eq!((answer.status, &body["error"]["status"]), (401, &json!("UNAUTHENTICATED")));
            assert_eq!(body["error"]["errors"][0]["message"], "Invalid Credentials");
            assert!(answer.header("www-authenticate").is_some());
        }
    }
    // Each call requires its own scope.
    for (place, path) in [(0, USERS), (1, ROLES), (1, ASSIGNMENTS), (2, LOG)] {
        for (other, scope) in SCOPES.iter().enumerate() {
            let (header, claims) = assertion(&server, &[scope]);
            let answer = trade(&server, &signed(&server, &header, &claims)).json();
            let answer = get(&server, answer["access_token"].as_str().unwrap(), path);
            assert_eq!(answer.status, if place == other { 200 } else { 403 }, "{path} {scope}");
            if place != other {
                assert_eq!(answer.json()["error"]["status"], "PERMISSION_DENIED");
                assert_eq!(error(&answer).1, "Request had insufficient authentication scopes.");
            }
        }
    }
    // And an administrator with the right privilege: a member has none, an auditor with a custom role has some.
    for (who, expected) in
        [(DEMO_WORKSPACE_MEMBER, [403, 403, 403]), ("tess.tunnel@acme.example", [200, 403, 200])]
    {
        let (header, mut claims) = assertion(&server, &SCOPES);
        claims["sub"] = who.into();
        let answer = trade(&server, &signed(&server, &header, &claims)).json();
        let token = answer["access_token"].as_str().unwrap();
        let seen = [USERS, ROLES, LOG].map(|path| get(&server, token, path).status);
        assert_eq!(seen, expected, "{who}");
        let refused = error(&get(&server, token, ROLES));
        assert_eq!(refused, (403, "Not Authorized to access this resource/api".into(), "forbidden".into()));
        let identity = server.requests().pop().unwrap().identity;
        assert_eq!(identity, Identity::User { login: who.to_owned(), kind: "delegated" });
    }
    // A token expires by the host's clock.
    let token = token(&server);
    server.advance(Duration::from_secs(3600));
    assert_eq!(get(&server, &token, USERS).status, 401);
    assert!(!format!("{:?} {server:?}", server.requests()).contains("ya29."));
}

#[test]
fn limits_denials_and_faults() {
    let throttle = || Throttle::on("/admin/directory/v1/users").first(1);
    let server = demo_workspace()
        .throttle(throttle(), Limit::UserRate)
        .throttle(throttle(), Limit::Quota)
        .throttle(throttle(), Limit::TooMany)
        .deny("/admin/reports/*")
        .fault(
            Fault::on("/admin/directory/v1/customer/*/roles")
                .times(1)
                .kind(FaultKind::Status(503, Body::Json)),
        )
        .fault(Fault::on("*/roleassignments").times(1).kind(FaultKind::Status(502, Body::Html)))
        .serve()
        .unwrap();
    let token = token(&server);
    let seen: Vec<_> = (0..4).map(|_| error(&get(&server, &token, USERS))).map(|(s, _, r)| (s, r)).collect();
    let expected =
        [(403, "userRateLimitExceeded"), (403, "quotaExceeded"), (429, "rateLimitExceeded"), (200, "")];
    assert_eq!(seen, expected.map(|(status, reason)| (status, reason.to_owned())));
    assert_eq!(error(&get(&server, &token, LOG)).2, "forbidden");
    let answer = get(&server, &token, ROLES);
    assert_eq!((answer.status, answer.json()["error"]["status"].as_str()), (503, Some("UNAVAILABLE")));
    assert!(get(&server, &token, ASSIGNMENTS).text().contains("<title>Error 502 (Bad Gateway)!!1</title>"));
    assert_eq!(get(&server, &token, ROLES).status, 200);
    server.update(|workspace| {
        workspace.set_denials(Vec::<String>::new());
        workspace.put_person(Person::new("new@acme.example", "New", "Comer"));
    });
    assert_eq!(get(&server, &token, LOG).status, 200);
    assert_eq!(all(&server, USERS, "users").len(), 25);
    server.update(|workspace| *workspace = workspace.clone().api_disabled(true));
    assert_eq!(error(&get(&server, &token, USERS)).2, "accessNotConfigured");
}

#[test]
fn nothing_can_be_written() {
    let server = demo_workspace().serve().unwrap();
    let token = token(&server);
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str())];
    let answer = raw_with_body(&server, "POST", "/admin/directory/v1/users", &headers, "{}");
    assert_eq!(answer.status, 403);
    assert_eq!(raw(&server, "DELETE", "/admin/directory/v1/users", &headers).status, 403);
    let methods: Vec<_> = server.violations().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["POST", "DELETE"], "and not the sign-in");
}

#[test]
fn very_many_people() {
    let server = large_workspace(1_700).serve().unwrap();
    let people = all(&server, &format!("{USERS}&maxResults=500&fields=nextPageToken,users(id)"), "users");
    let ids: BTreeSet<_> = people.iter().map(|person| person["id"].as_str().unwrap()).collect();
    assert_eq!((people.len(), ids.len()), (1_700, 1_700));
    assert_eq!(all(&server, LOG, "items").len(), 1_000);
}
