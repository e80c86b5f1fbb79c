//! `--resume` with another token: that of the same account goes on, any other begins anew. And who ran it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::codehost::Token;

use crate::common::{Lab, TOKEN, acme, sound};

const REPOSITORIES: usize = 300;
const NEXT: &str = "ghp_CliTestsNextTokenIsNotARealSecret002";

fn token(login: &str) -> Token {
    Token::classic(NEXT).login(login).scopes(["read:org"]).sees_private(true)
}

/// A lab whose run was killed after half of its answers.
fn killed(repositories: usize) -> Lab {
    let host =
        (0..repositories).fold(acme(), |host, number| host.repository(sound(&format!("sound-{number}"))));
    let lab =
        Lab::new(host.latency(Duration::from_millis(3))).with(|config| config.source("revalidate", "true"));
    let mut child =
        lab.command(&["collect", "-q"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while about_repositories(&lab) < repositories {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run is too slow");
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    lab.server.clear_log();
    lab
}

fn about_repositories(lab: &Lab) -> usize {
    lab.requested().iter().filter(|path| path.starts_with("/repos/")).count()
}

/// Both topics of a repository take one request each, so half of them were answered.
#[test]
fn a_new_token_of_the_same_account_goes_on() {
    let lab = killed(REPOSITORIES);
    lab.server.update(|host| host.change_tokens(|token| token.revoked(true)));
    lab.server.update(|host| host.put_token(token("olivia-owner")));
    let lab = lab.env("CODEHOST_TOKEN", NEXT);
    let bundle = lab.collect(&["--resume"]).exits(0).says("resumed from the interrupted run").bundle();
    let asked = about_repositories(&lab);
    println!("{asked} of {} requests about repositories were sent again", 2 * REPOSITORIES);
    // Requests were in flight when the run was killed.
    assert!(asked <= REPOSITORIES + 50, "{asked} of {}", 2 * REPOSITORIES);
    assert_eq!(bundle.source()["identity"]["login"], "olivia-owner");
    assert_eq!(lab.requested().iter().filter(|path| *path == "/user").count(), 1);
}

#[test]
fn any_other_account_or_key_begins_anew() {
    const FEW: usize = 20;
    type Change = fn(&Lab);
    let table: [(&str, Change, &str); 3] = [
        (
            "another account",
            |lab| lab.server.update(|host| host.put_token(token("ada-auditor").repository_admin(true))),
            NEXT,
        ),
        (
            "other scopes",
            |lab| {
                lab.server
                    .update(|host| host.put_token(token("olivia-owner").scopes(["read:org", "read:user"])))
            },
            NEXT,
        ),
        (
            "another signing key",
            |lab| {
                let key = evidence_bundle::SigningKey::generate().unwrap();
                lab.write("key.pem", key.to_pkcs8_v1_pem().unwrap().as_bytes());
            },
            TOKEN,
        ),
    ];
    for (case, change, next) in table {
        let lab = killed(FEW);
        change(&lab);
        let lab = lab.env("CODEHOST_TOKEN", next);
        let run = lab.collect(&["--resume"]);
        assert!(run.all().contains("nothing to resume: no run as "), "{case}: {}", run.all());
        assert!(!run.all().contains("resumed from"), "{case}: {}", run.all());
        assert!(about_repositories(&lab) >= 2 * FEW, "{case}: {}", about_repositories(&lab));
    }
}

/// An installation's token cannot ask for an account. Its answers serve that token alone.
#[test]
fn a_token_of_an_installation_is_its_own_account() {
    const APP: &str = "ghs_CliTestsInstallationTokenIsNotReal01";
    let token = Token::app(APP).permissions(["metadata:read", "contents:read", "administration:read"]);
    let lab = Lab::new(acme().token(token).repository(sound("web"))).env("CODEHOST_TOKEN", APP);
    let lab = lab.with(|config| config.source("revalidate", "true").source("accept_unconfirmed", "true"));
    let bundle = lab.collect(&[]).bundle();
    assert!(bundle.source()["identity"].get("login").is_none());
    assert!(lab.requested().iter().all(|path| path != "/user"), "{:?}", lab.requested());
}

#[test]
fn who_ran_it_and_who_prepared_it() {
    let lab = Lab::new(acme().repository(sound("web")));
    let bundle = lab.collect(&["-q"]).exits(0).bundle();
    let identity = &bundle.source()["identity"];
    assert_eq!(identity["login"], "olivia-owner");
    assert!(identity["id"].as_str().unwrap().parse::<u64>().is_ok());
    assert!(bundle.json("run.json").get("prepared_by").is_none());
    assert_eq!(lab.requested().iter().filter(|path| *path == "/user").count(), 1);

    let lab = lab.with(|config| config.rest("prepared_by: Platform team, on behalf of the CISO\n"));
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    let bundle = lab.collect(&["-q"]).exits(0).bundle();
    assert_eq!(bundle.json("run.json")["prepared_by"], "Platform team, on behalf of the CISO");
    // A secret pasted there is in no bundle.
    let lab = lab.with(|config| config.rest(&format!("prepared_by: {TOKEN}\n")));
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    let run = lab.collect(&["-q"]);
    assert!(!run.all().contains(TOKEN));
    if run.code == Some(0) {
        assert!(!run.bundle().json("run.json").to_string().contains(TOKEN));
    }
}

/// A host that does not say whose token it is, or fails to, does not end the run.
#[test]
fn a_run_does_not_need_to_know_its_account() {
    use sandbox::codehost::{Fault, FaultKind};
    for kind in [
        FaultKind::Json(403, Vec::new(), serde_json::json!({"message": "Resource not accessible"})),
        FaultKind::Json(404, Vec::new(), serde_json::json!({"message": "Not Found"})),
        FaultKind::Json(200, Vec::new(), serde_json::json!({"login": 7})),
        FaultKind::LoginPage,
    ] {
        for revalidate in ["false", "true"] {
            let fault = Fault::on("/user").kind(kind.clone());
            let lab = Lab::new(acme().repository(sound("web")).fault(fault));
            let lab = lab.with(|config| config.source("revalidate", revalidate));
            let bundle = lab.collect(&["-q"]).exits(0).bundle();
            assert!(bundle.source()["identity"].get("login").is_none(), "{kind:?} {revalidate}");
        }
    }
}

/// A token that is refused is reported once, whichever request comes first.
#[test]
fn a_refused_token_is_reported_by_the_first_answer() {
    for revalidate in ["false", "true"] {
        let lab = Lab::new(acme().repository(sound("web"))).env("CODEHOST_TOKEN", NEXT);
        let lab = lab.with(|config| config.source("revalidate", revalidate));
        lab.collect(&[]).exits(2).says("'Bad credentials' (HTTP 401) for organization acme").leaves_nothing();
        assert_eq!(lab.requested().len(), 1, "{:?}", lab.requested());
    }
}
