//! A dry run ends with the code that the collection ends with, and says when a token ends too soon.

use sandbox::codehost::{
    CodeHost, File, Limits, Organization, Permission, Primary, Repository, Role, Sso, Token, Visibility,
};
use sandbox::workspace::ServiceAccount;
use sandbox::{Fault, FaultKind};

use super::common::{Lab, TOKEN, acme, repository, sound};
use super::several_sources::Company;

/// A state of the world, and the code with which both runs end.
type State = (&'static str, fn() -> Lab, i32);

fn two() -> CodeHost {
    acme().repository(sound("api")).repository(sound("web"))
}

fn fine(permissions: &[&str]) -> CodeHost {
    let token = Token::fine_grained(TOKEN).resource_owner("acme").login("olivia-owner");
    two().token(token.permissions(permissions.iter().copied()))
}

const ALL: [&str; 4] =
    ["metadata:read", "contents:read", "administration:read", "organization_administration:read"];

fn with(host: CodeHost, key: &'static str, value: &'static str) -> Lab {
    Lab::new(host).with(|config| config.source(key, value))
}

fn failing(pattern: &str, status: u16) -> CodeHost {
    let body = serde_json::json!({ "message": "Server Error" });
    two().fault(Fault::on(pattern).kind(FaultKind::Json(status, Vec::new(), body)))
}

fn without_source(config: super::common::Config) -> super::common::Config {
    config.source("controls", "[CC7.2]")
}

fn limited(remaining: u64) -> Lab {
    let limits = Limits::primary(Primary::new(5_000, remaining).reset_in(3_000));
    with(two().limits(limits), "rate_limit_pause", "false")
}

/// Repositories that prove nothing come first in the list.
fn late(repository: fn(&str) -> Repository) -> CodeHost {
    let names = ["a", "b", "c"];
    names
        .iter()
        .fold(fine(&["metadata:read", "contents:read"]), |host, name| host.repository(repository(name)))
}

const STATES: &[State] = &[
    ("all is well", || Lab::new(two()), 0),
    ("a fine-grained token", || Lab::new(fine(&ALL)), 0),
    ("a token that was revoked", || Lab::new(two().token(Token::classic(TOKEN).revoked(true))), 2),
    (
        "a token of another host",
        || Lab::new(two()).env("CODEHOST_TOKEN", "ghp_NobodyKnowsThisTokenNotReal000001"),
        2,
    ),
    ("no token", || Lab::new(two()).without_env("CODEHOST_TOKEN"), 2),
    ("a token that can write", || Lab::new(two().token(Token::classic(TOKEN).scopes(["repo"]))), 1),
    (
        "a token without the scope",
        || {
            Lab::new(
                two().token(
                    Token::classic(TOKEN).login("olivia-owner").sees_private(true).scopes(["read:user"]),
                ),
            )
        },
        3,
    ),
    (
        "a token of a member",
        || {
            Lab::new(
                two().token(Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]).sees_private(true)),
            )
        },
        3,
    ),
    ("no such organization", || with(two(), "org", "nobody"), 2),
    ("no such address", || with(two(), "api_url", "http://127.0.0.1:9"), 2),
    (
        "single sign-on that the token lacks",
        || {
            Lab::new(
                two()
                    .organization(Organization::new("acme").two_factor(true).sso(Sso::Required))
                    .token(Token::classic(TOKEN).scopes(["read:org"]).sso_authorized(false)),
            )
        },
        2,
    ),
    (
        "repositories that the token does not see",
        || {
            Lab::new(
                two()
                    .token(Token::classic(TOKEN).login("olivia-owner").scopes(["read:org"]))
                    .repository(sound("vault").private(true)),
            )
        },
        3,
    ),
    (
        "a list that single sign-on shortens",
        || Lab::new(two().organization(Organization::new("acme").two_factor(true).sso(Sso::PartialResults))),
        3,
    ),
    ("a total that is not reported", || Lab::new(outside()), 3),
    ("the same, accepted", || with(outside(), "accept_unconfirmed", "true"), 3),
    (
        "the same, accepted, without the organization's settings",
        || {
            with(outside(), "accept_unconfirmed", "true")
                .with(|config| config.controls("[CC7.2]").source("accept_unconfirmed", "true"))
        },
        0,
    ),
    ("an exclusion", || with(two(), "exclude", "[acme/web]"), 0),
    ("an exclusion of everything", || with(two(), "exclude", "[acme/web, acme/api]"), 0),
    ("a list", || with(two(), "repos", "[acme/web, acme/api]"), 0),
    (
        "a list with an exclusion",
        || {
            Lab::new(two())
                .with(|config| config.source("repos", "[acme/web, acme/api]").source("exclude", "[acme/web]"))
        },
        0,
    ),
    ("a list whose second name is missing", || with(two(), "repos", "[acme/web, acme/nowhere]"), 3),
    ("a list with a name twice", || with(two(), "repos", "[acme/web, acme/WEB]"), 1),
    (
        "a list with the old name of a repository",
        || with(two().repository(sound("old").renamed_to("new")), "repos", "[acme/web, acme/old]"),
        0,
    ),
    (
        "a list whose second repository the token does not administer",
        || with(two().repository(sound("zeta").admin(false)), "repos", "[acme/web, acme/zeta]"),
        3,
    ),
    (
        "a list whose second repository fails",
        || with(failing("*/repos/acme/web/*", 500), "repos", "[acme/api, acme/web]"),
        3,
    ),
    (
        "no permission for protections",
        || Lab::new(fine(&["metadata:read", "contents:read", "organization_administration:read"])),
        3,
    ),
    (
        "no permission for CODEOWNERS",
        || {
            let host = fine(&["metadata:read", "administration:read", "organization_administration:read"]);
            Lab::new(host.repository(sound("a").private(true)))
        },
        3,
    ),
    (
        "no permission for the organization's settings",
        || Lab::new(fine(&["metadata:read", "contents:read", "administration:read"])),
        0,
    ),
    ("the limit is used up", || limited(0), 2),
    ("the limit ends after the organization", || limited(2), 3),
    ("an empty organization", || Lab::new(acme()), 0),
    ("archived repositories alone", || Lab::new(acme().repository(sound("attic").archived(true))), 0),
    (
        "archived repositories first, then one that is refused",
        || Lab::new(late(|name| sound(name).archived(true))),
        3,
    ),
    (
        "empty repositories first, then one that is refused",
        || Lab::new(late(|name| Repository::new("acme", name).empty())),
        3,
    ),
    (
        "disabled repositories first, then one that is refused",
        || Lab::new(late(|name| sound(name).disabled())),
        3,
    ),
    ("an empty repository", || Lab::new(acme().repository(Repository::new("acme", "new").empty())), 0),
    (
        "a repository that was deleted after it was listed",
        || Lab::new(two().repository(sound("a").vanished())),
        0,
    ),
    (
        "a plan that does not allow protection",
        || Lab::new(acme().repository(repository("a").plan_limited())),
        0,
    ),
    (
        "an internal repository without rules",
        || Lab::new(acme().repository(repository("a").visibility(Visibility::Internal))),
        0,
    ),
    (
        "a repository without write permission",
        || Lab::new(acme().repository(sound("a").permission(Permission::Pull))),
        3,
    ),
    ("a listing that fails", || Lab::new(failing("/orgs/acme/repos*", 422)), 3),
    ("an organization that fails", || Lab::new(failing("/orgs/acme", 422)), 2),
    ("protections that fail", || Lab::new(failing("*/protection", 422)), 3),
    ("files that fail", || Lab::new(failing("*/contents/*", 422)), 3),
    (
        "a large file",
        || Lab::new(acme().repository(sound("a").file("CODEOWNERS", File::text("* @acme/everyone\n")))),
        0,
    ),
    ("a control that no source collects", || Lab::new(two()).with(without_source), 3),
    ("an unknown key", || with(two(), "branhc", "main"), 1),
    (
        "no signing key",
        || Lab::new(two()).with(|config| config.signing("private_key_path", "nowhere.pem")),
        1,
    ),
];

/// A token of somebody else, to whom the host does not report the total.
fn outside() -> CodeHost {
    two().token(
        Token::classic(TOKEN).role(Role::Outsider).login("otto").scopes(["read:org"]).repository_admin(true),
    )
}

#[test]
fn a_dry_run_ends_as_the_collection_does() {
    let mut wrong = Vec::new();
    for (name, lab, code) in STATES {
        let dry = lab().collect(&["--dry-run"]);
        let run = lab().collect(&["-q"]);
        println!("{name}: {:?}, the collection {:?}", dry.code, run.code);
        if (dry.code, run.code) != (Some(*code), Some(*code)) {
            let text =
                format!("{name}: {:?}, the collection {:?}\n{}{}", dry.code, run.code, dry.all(), run.all());
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), STATES.len(), wrong.join("\n"));
}

type Companies = (&'static str, fn(&mut Company), i32);

const COMPANIES: &[Companies] = &[
    ("all three", |_| {}, 0),
    (
        "cloud: a key that is not known",
        |company| company.lab.set_env("CLOUD_SECRET_ACCESS_KEY", "wrongSecretWrongSecretWrongSecret0000000"),
        2,
    ),
    (
        "cloud: a key that may read little",
        |company| {
            company.lab.set_env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_LIMITED_ACCESS_KEY_ID);
            company.lab.set_env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY);
        },
        3,
    ),
    (
        "cloud: a region that is not enabled",
        |company| {
            let text = company.text("", "").replace("[eu-west-1, us-east-1]", "[eu-west-1, eu-south-1]");
            company.lab.write("evidence.yaml", text);
        },
        3,
    ),
    (
        "cloud: a region that fails",
        |company| {
            let fault =
                Fault::on("*us-east-1*").kind(FaultKind::Json(400, Vec::new(), serde_json::json!({})));
            company.cloud.update(|cloud| cloud.add_fault(fault));
        },
        3,
    ),
    (
        "codehost: a dead token beside two good sources",
        |company| company.lab.server.update(|host| host.change_tokens(|token| token.revoked(true))),
        2,
    ),
    (
        "altcloud: a directory that refuses users",
        |company| company.workspace.update(|directory| directory.set_denials(["/admin/directory/v1/users"])),
        3,
    ),
    (
        "altcloud: roles are refused",
        |company| {
            company
                .workspace
                .update(|directory| directory.set_denials(["/admin/directory/v1/customer/my_customer/roles"]))
        },
        3,
    ),
    (
        "altcloud: the log is refused",
        |company| {
            company.workspace.update(|directory| {
                directory.set_denials(["/admin/reports/v1/activity/users/all/applications/admin"])
            })
        },
        3,
    ),
    (
        "altcloud: the scope of the log is not delegated",
        |company| {
            let scopes = ["user.readonly", "rolemanagement.readonly"];
            let scopes =
                scopes.map(|scope| format!("https://www.googleapis.com/auth/admin.directory.{scope}"));
            let account = ServiceAccount::new(sandbox::DEMO_WORKSPACE_SERVICE_ACCOUNT).delegated(scopes);
            company.workspace.update(|directory| directory.put_service_account(account));
        },
        3,
    ),
    (
        "two sources are dead",
        |company| {
            company.lab.server.update(|host| host.change_tokens(|token| token.revoked(true)));
            company.lab.set_env("CLOUD_SECRET_ACCESS_KEY", "wrongSecretWrongSecretWrongSecret0000000");
        },
        2,
    ),
];

#[test]
fn a_dry_run_of_several_sources_ends_as_the_collection_does() {
    let mut wrong = Vec::new();
    for (name, change, code) in COMPANIES {
        let run = |arguments: &[&str]| {
            let host = acme().repository(sound("api")).repository(sound("web"));
            let mut company = Company::with_host(host, sandbox::demo_account(), sandbox::demo_workspace());
            change(&mut company);
            company.lab.collect(arguments)
        };
        let (dry, run) = (run(&["--dry-run"]), run(&["-q"]));
        println!("{name}: {:?}, the collection {:?}", dry.code, run.code);
        if (dry.code, run.code) != (Some(*code), Some(*code)) {
            wrong.push(format!(
                "{name}: {:?}, the collection {:?}\n{}{}",
                dry.code,
                run.code,
                dry.all(),
                run.all()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), COMPANIES.len(), wrong.join("\n"));
}

/// A token that ends before the run would is a run that lacks something.
#[test]
fn a_token_that_ends_before_the_run() {
    let hour = |hours: i64| {
        let at = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
        at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    };
    // At 60 requests a minute, 300 repositories take more than 20 minutes.
    let many = |token: Token| {
        (0..300).fold(acme().token(token), |host, number| host.repository(sound(&format!("r{number}"))))
    };
    let classic = |expires: String| {
        Token::classic(TOKEN).login("olivia-owner").scopes(["read:org"]).sees_private(true).expires(expires)
    };
    const APP: &str = "ghs_CliTestsInstallationTokenIsNotReal01";
    let app = || {
        Token::app(APP).resource_owner("acme").permissions([
            "metadata:read",
            "contents:read",
            "administration:read",
        ])
    };
    for (case, token, pace, ends) in [
        ("in a day", classic(hour(24)), "60", false),
        ("in a moment", classic(hour(0)), "60", true),
        ("in a moment, and the run is short", classic(hour(1)), "0", false),
        ("an installation, a long run", app(), "10", true),
        ("an installation, a short run", app(), "600", false),
    ] {
        let secret = if case.starts_with("an installation") { APP } else { TOKEN };
        let lab = Lab::new(many(token)).env("CODEHOST_TOKEN", secret);
        let lab = lab.with(|config| {
            config
                .source("requests_per_minute", pace)
                .controls("[CC7.2]")
                .source("accept_unconfirmed", "true")
        });
        let dry = lab.collect(&["--dry-run"]);
        let says = dry.all().contains("before the run would be done at");
        assert_eq!((dry.code, says), (Some(if ends { 3 } else { 0 }), ends), "{case}: {}", dry.all());
    }
}

/// The most requests for a dry run: six repositories of a listing, twenty of a list.
#[test]
fn a_dry_run_looks_at_few_repositories() {
    let many = |count: usize| {
        (0..count).fold(acme(), |host, number| {
            host.repository(Repository::new("acme", format!("r{number:02}")).empty())
        })
    };
    let about = |lab: &Lab| {
        let mut names: Vec<String> = lab
            .requested()
            .iter()
            .filter_map(|path| Some(path.strip_prefix("/repos/acme/")?.split('/').next()?.to_string()))
            .collect();
        names.sort();
        names.dedup();
        names.len()
    };
    let names = |count: usize| {
        format!("[{}]", (0..count).map(|number| format!("acme/r{number:02}")).collect::<Vec<_>>().join(", "))
    };
    for (repos, expected) in [("\"*\"".to_string(), 6), (names(20), 20), (names(21), 6)] {
        let lab = Lab::new(many(30)).with(|config| config.source("repos", &repos));
        lab.collect(&["--dry-run"]).exits(0);
        assert_eq!(about(&lab), expected, "{repos}");
    }
    let lab = Lab::new((0..30).fold(acme(), |host, number| host.repository(sound(&format!("r{number:02}")))));
    lab.collect(&["--dry-run"]).exits(0);
    assert_eq!(about(&lab), 1);
}
