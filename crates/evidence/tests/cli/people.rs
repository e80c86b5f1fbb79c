//! The people of an organization: the list, the rules over it, and who may see it.

use sandbox::codehost::{Affiliation, Organization, Person, Role, Token};
use serde_json::{Value, json};

use super::common::{Lab, TOKEN, acme};
use super::security::checks;

/// The lists of people take a fine-grained token: a classic one that only reads may not filter them.
fn reader() -> Token {
    Token::fine_grained(TOKEN).login("olivia-owner").resource_owner("acme").permissions([
        "administration:read",
        "contents:read",
        "members:read",
        "metadata:read",
    ])
}

fn lab(organization: Organization, token: Token) -> Lab {
    Lab::new(acme().organization(organization).token(token)).with(|config| {
        config.framework("tsc_2017").controls("\"*\"").rest(
            "rules:\n  exclude: [branch-protection, history-protected, stale-approvals-dismissed, codeowners-default-rule, \
             secret-scanning, push-protection, vulnerability-alerts, default-permission, two-factor-required, \
             vulnerabilities-in-time, changes-approved, no-direct-push]\n",
        )
    })
}

fn organization(people: impl IntoIterator<Item = Person>) -> Organization {
    Organization::new("acme").two_factor(true).people(people)
}

fn owner(login: &str) -> Person {
    Person::new(login, Affiliation::Owner)
}

fn member(login: &str) -> Person {
    Person::new(login, Affiliation::Member)
}

fn outsider(login: &str) -> Person {
    Person::new(login, Affiliation::Outside)
}

#[test]
fn members_and_owners() {
    let people = [
        owner("olivia-owner"),
        owner("owen-owner"),
        member("mia"),
        outsider("oscar").without_two_factor(),
        outsider("olga"),
    ];
    let lab = lab(organization(people), reader());
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(checks(&bundle), ["members-two-factor acme pass ok", "owners-count acme pass ok"]);
    let actual = bundle.check_record("CC6.1", "acme")["actual"].to_string();
    assert_eq!(
        actual,
        "\"3 members have a second factor; 2 outside collaborators, 1 without a second factor\""
    );
    let record = bundle.artifact("people.json").unwrap();
    let expected: Vec<Value> = [
        ("olivia-owner", "owner", true),
        ("owen-owner", "owner", true),
        ("mia", "member", true),
        ("olga", "outside_collaborator", true),
        ("oscar", "outside_collaborator", false),
    ]
    .into_iter()
    .zip(record["people"].as_array().unwrap())
    .map(|((login, role, factor), found)| json!({"id": found["id"], "login": login, "role": role, "two_factor": factor}))
    .collect();
    assert_eq!(record["people"], json!(expected));
    assert_eq!(
        (&record["members_total"], &record["seen_by_owner"], &record["outside_collaborators_shown"]),
        (&json!(3), &json!(true), &json!(true))
    );
    assert_eq!(
        lab.requested().into_iter().filter(|path| path.starts_with("/orgs/acme/")).collect::<Vec<_>>(),
        [
            "/orgs/acme/members?role=admin&filter=all&per_page=100",
            "/orgs/acme/members?role=member&filter=all&per_page=100",
            "/orgs/acme/members?role=all&filter=2fa_disabled&per_page=100",
            "/orgs/acme/outside_collaborators?filter=all&per_page=100",
            "/orgs/acme/outside_collaborators?filter=2fa_disabled&per_page=100",
            "/orgs/acme/members?per_page=1",
        ]
    );
    // The dry run reads the same, and counts it.
    let dry = lab.collect(&["--dry-run"]).exits(0);
    assert!(dry.all().contains("1 people") && dry.all().contains("requests       8;"), "{}", dry.all());
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    // The list and its length are shown.
    let line = "People of codehost: 5 entries, 3 of 3 members listed; `evidence sample --from people`";
    for (format, line) in
        [("text", format!("\nList:  {line}\n")), ("markdown", format!("\n- List: {line}\n"))]
    {
        let shown = lab.run(&["show", "-k", "key.pub.pem", "--format", format, &path]).exits(0).stdout;
        // A back-tick is escaped in Markdown.
        assert!(shown.replace("\\`", "`").contains(&line), "{shown}");
    }
}

#[test]
fn who_fails() {
    let owners = |count: usize| (0..count).map(|number| owner(&format!("owner-{number}")));
    for (people, expected) in [
        (
            owners(2).chain([member("mia").without_two_factor()]).collect::<Vec<_>>(),
            ["fail member_without_two_factor", "pass ok"],
        ),
        (owners(1).chain([member("mia")]).collect(), ["pass ok", "fail owners_too_few"]),
        (owners(6).collect(), ["pass ok", "fail owners_too_many"]),
        (owners(2).chain([outsider("olga").without_two_factor()]).collect(), ["pass ok", "pass ok"]),
    ] {
        let lab = lab(organization(people), reader());
        let bundle = lab.collect(&[]).exits(0).bundle();
        let [factor, count] = expected;
        assert_eq!(
            checks(&bundle),
            [format!("members-two-factor acme {factor}"), format!("owners-count acme {count}")]
        );
    }
}

/// An empty list from someone who is no owner is no proof, and 422 is a refusal as 403 is (comp PR#2521).
#[test]
fn who_may_not_see_them() {
    let people =
        || organization([owner("o1"), owner("o2"), member("m1").without_two_factor(), owner("o3").public()]);
    let classic = || Token::classic(TOKEN).login("olivia-owner").scopes(["read:org"]);
    let not_visible = ["not_verifiable two_factor_not_visible", "pass ok"];
    let partly = ["not_verifiable members_not_visible"; 2];
    let denied = ["not_verifiable permission_denied"; 2];
    for (token, expected) in [
        (reader().role(Role::Member), partly),
        (classic(), not_visible),
        (classic().role(Role::Member), partly),
        (classic().role(Role::Outsider), partly),
        (reader().permissions(["administration:read", "metadata:read"]), denied),
    ] {
        let lab = lab(people(), token);
        let bundle = lab.collect(&[]).exits(3).bundle();
        let [factor, count] = expected;
        assert_eq!(
            checks(&bundle),
            [format!("members-two-factor acme {factor}"), format!("owners-count acme {count}")]
        );
        let path = bundle.path.to_string_lossy().into_owned();
        lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    }
}

/// More than a page, and a page that the host serves otherwise than the first.
#[test]
fn several_pages() {
    let people =
        [owner("o1"), owner("o2")].into_iter().chain((0..250).map(|number| member(&format!("m{number:03}"))));
    let lab = lab(organization(people), reader());
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(checks(&bundle), ["members-two-factor acme pass ok", "owners-count acme pass ok"]);
    let record = bundle.artifact("people.json").unwrap();
    assert_eq!((record["people"].as_array().unwrap().len(), &record["members_total"]), (252, &json!(252)));
    let dry = lab.collect(&["--dry-run"]).exits(0);
    assert!(dry.all().contains("requests       10;"), "{}", dry.all());
}

/// The page for a token is filled in with what the rules of the framework need, and no more.
#[test]
fn the_permissions_of_a_framework() {
    let lab = lab(organization([owner("o1")]), reader());
    for (framework, needs) in [("soc2_type1", false), ("tsc_2017", true)] {
        let file = format!("{framework}.yaml");
        let run = lab.run(&["init", "--org", "acme", "--framework", framework, "-c", &file]).exits(0);
        for name in ["members", "pull_requests", "vulnerability_alerts"] {
            assert_eq!(run.stdout.contains(&format!("&{name}=read")), needs, "{}", run.stdout);
            assert_eq!(run.stdout.contains(&format!("\"{name}\": \"read\"")), needs, "{}", run.stdout);
        }
    }
}
