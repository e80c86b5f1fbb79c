//! The specification's failure conditions: for every row, the words that it quotes and the help for the user.
//!
//! The snapshots contain the complete output.

use sandbox::codehost::{File, Limits, Organization, Primary, Token};

use crate::common::{Lab, TOKEN, acme, repository, sound, strong};

fn one_sound() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

#[test]
fn token_invalid_or_revoked() {
    let lab = Lab::new(acme().token(Token::classic(TOKEN).revoked(true)));
    let run = lab.collect(&[]).exits(2).says("Bad credentials").says("401");
    insta::assert_snapshot!("bad_credentials", run.shown());
}

/// A token in a variable with the wrong name counts as not set.
#[test]
fn token_unset_or_in_a_wrongly_named_variable() {
    let lab = one_sound().without_env("CODEHOST_TOKEN").env("CODEHOST_TOKEM", TOKEN);
    let run = lab.collect(&[]).exits(2).says("CODEHOST_TOKEN").says("Bad credentials");
    insta::assert_snapshot!("token_unset", run.shown());
}

#[test]
fn token_that_cannot_be_one() {
    for value in ["two words", "line\nbreak", "  ", "t\u{f6}ken", "tab\tbed"] {
        let lab = one_sound().env("CODEHOST_TOKEN", value);
        let run = lab.collect(&[]).exits(2).says("CODEHOST_TOKEN").leaves_nothing();
        assert!(lab.requested().is_empty());
        assert!(value.trim().is_empty() || !run.stderr.contains(value), "{value:?} is in {}", run.stderr);
    }
    // The tool accepts the whitespace that shells leave around a value.
    one_sound().env("CODEHOST_TOKEN", &format!(" {TOKEN}\n")).collect(&[]).exits(0);
}

#[test]
fn token_without_access_to_the_organization() {
    let text = "Resource not accessible by personal access token";
    let host = acme().organization(Organization::new("acme").refusal(403, text)).repository(sound("web"));
    let run = Lab::new(host).collect(&[]).exits(2).says(text).says("403");
    insta::assert_snapshot!("resource_not_accessible", run.shown());
}

#[test]
fn organization_that_is_not_found() {
    let lab = one_sound().with(|config| config.source("org", "amce"));
    let run = lab.collect(&[]).exits(2).says("Not Found").says("404");
    insta::assert_snapshot!("organization_not_found", run.shown());
}

#[test]
fn repository_that_is_not_found() {
    let lab = one_sound().with(|config| config.source("repos", "[acme/web, acme/wbe]"));
    let run = lab.collect(&[]).exits(3).says("Not Found");
    insta::assert_snapshot!("repository_not_found", run.shown());
    for (_, subject, message) in run.bundle().errors() {
        assert_eq!(subject, "acme/wbe");
        assert!(message.contains("Not Found"), "{message}");
    }
}

#[test]
fn rate_limit_exhausted() {
    let lab = Lab::new(acme().limits(Limits::primary(Primary::new(5000, 0))))
        .with(|config| config.source("rate_limit_pause", "false"));
    let run = lab.collect(&[]).exits(2).says("API rate limit exceeded").says("0 of 5000").says("resets at");
    insta::assert_snapshot!("rate_limit_exhausted", run.shown());
}

/// A 200 with no requests left is a valid answer, and the tool does not retry it.
#[test]
fn the_last_request_is_a_good_answer() {
    let lab = Lab::new(acme().limits(Limits::primary(Primary::new(5000, 2))))
        .with(|config| config.controls("[CC6.1]").source("rate_limit_pause", "false"));
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(bundle.source()["rate_limit"]["remaining"], 0);
    assert_eq!(lab.requested(), ["/orgs/acme", "/user"]);
}

/// With the pause enabled and fewer than 100 requests left, all requests wait until the reset and then continue.
#[test]
fn the_pause_waits_for_the_reset_and_goes_on() {
    let limits = Limits::primary(Primary::new(5000, 101).reset_in(3));
    let lab = Lab::new(acme().limits(limits).repository(sound("web")));
    let run = lab.collect(&[]).exits(0).says("waiting").says("Ctrl-C");
    let bundle = run.bundle();
    assert!(bundle.source()["paused_seconds"].as_u64().unwrap() >= 1, "{}", bundle.source());
    assert_eq!(bundle.control("CC7.2"), "pass");
    assert!(lab.server.requests().iter().all(|request| request.status == Some(200)), "met the limit");
}

#[test]
fn a_reset_in_the_past_is_no_busy_loop() {
    let limits = Limits::primary(Primary::new(5000, 50).reset_in(-100));
    let lab = Lab::new(acme().limits(limits).repository(sound("web")));
    lab.collect(&[]).exits(0);
    assert!(lab.requested().len() < 10, "{:?}", lab.requested());
}

#[test]
fn secondary_limits_are_waited_out_and_are_no_refusal() {
    use sandbox::codehost::{Fault, FaultKind};
    let path = "/repos/acme/web/branches/main/protection";
    let faults = [
        FaultKind::SecondaryLimit { retry_after: Some(1), headers: false, status: 403 },
        FaultKind::SecondaryLimit { retry_after: Some(1), headers: true, status: 429 },
        FaultKind::AbuseDetection { retry_after: Some(1) },
    ];
    let mut host = acme().repository(sound("web"));
    for kind in faults {
        host = host.fault(Fault::on(path).times(1).kind(kind));
    }
    let run = Lab::new(host).collect(&[]).exits(0).says("waiting");
    assert_eq!(run.bundle().check("CC7.2", "acme/web"), ("pass".into(), "ok".into()));
    assert_eq!(run.bundle().source()["retries"], 3);
}

#[test]
fn token_with_a_write_scope() {
    let lab = Lab::new(acme().token(Token::classic(TOKEN).scopes(["repo", "read:org", "workflow"])));
    let run = lab.collect(&[]).exits(1).says("Forbidden scope").says("configuration validation");
    insta::assert_snapshot!("forbidden_scope", run.shown());
}

/// Whole names: `public_repo` and `read:repo_hook` contain `repo` but are harmless.
#[test]
fn scopes_that_are_no_write_scopes() {
    let scopes = ["public_repo", "read:org", "read:repo_hook", "read:user"];
    let lab = Lab::new(acme().token(Token::classic(TOKEN).scopes(scopes)).repository(sound("web")));
    lab.collect(&[]).exits(0);
}

#[test]
fn artifact_that_matches_a_secret_pattern() {
    let owners = format!("# deploys use {} until the vault is ready\n* @acme/all\n", sandbox::DEMO_SECRET);
    let host = acme()
        .repository(repository("infra").protection("main", strong()).file("CODEOWNERS", File::text(owners)))
        .repository(sound("web"));
    let run = Lab::new(host).collect(&[]).exits(4);
    insta::assert_snapshot!("excluded", run.shown());
    let bundle = run.bundle();
    // The collection continued, and the manifest contains a warning.
    assert_eq!(bundle.check("CC6.6", "acme/web"), ("pass".into(), "ok".into()));
    assert_eq!(bundle.manifest()["excluded"].as_array().unwrap().len(), 1);
    assert!(!run.all().contains(sandbox::DEMO_SECRET));
    for (path, content) in &bundle.entries {
        let text = String::from_utf8_lossy(content);
        assert!(!text.contains(sandbox::DEMO_SECRET), "{path}");
    }
}

/// A name that only resembles a secret does not exclude an artifact.
#[test]
fn artifact_that_only_looks_like_a_secret() {
    let protection = strong().status_checks(["ci/api-key-check: 0a1b2c3d4e5f", "password=required"]);
    let run = Lab::new(acme().repository(sound("web").protection("main", protection))).collect(&[]).exits(0);
    assert!(run.bundle().artifact("repo_acme_web_branch_protection.json").is_some());
}

#[test]
fn branch_protection_that_is_absent_is_a_warning() {
    let owners = File::text("* @acme/all\n");
    let lab = Lab::new(acme().repository(repository("web").file("CODEOWNERS", owners)));
    let run = lab.collect(&[]).exits(0).says("warn").says("branch main has no branch protection");
    insta::assert_snapshot!("unprotected", run.shown());
    assert!(run.bundle().errors().is_empty());
}

/// The token is revoked during the run: the tool sends no further request with it.
#[test]
fn token_revoked_midway() {
    use sandbox::codehost::{Fault, FaultKind};
    let mut host = acme();
    for number in 0..20 {
        host = host.repository(sound(&format!("service-{number:02}")));
    }
    let body = serde_json::json!({ "message": "Bad credentials" });
    host = host.fault(Fault::on("/repos/*").after(5).kind(FaultKind::Json(401, Vec::new(), body)));
    let lab = Lab::new(host).with(|config| config.source("max_concurrency", "1"));
    let run = lab.collect(&[]).exits(3).says("Bad credentials");
    assert_eq!(run.bundle().source()["collected"], 6);
    assert_eq!(lab.requested().len(), 3 + 5 + 1, "asked on with a dead token");
}

/// No text from a host may break lines, colour them, or move the cursor.
#[test]
fn a_hostile_message() {
    use sandbox::codehost::{Fault, FaultKind};
    let message = "\u{1b}[2J\u{1b}[31mVERIFIED\u{7}\nerror: fake\r\u{202e}x".repeat(200);
    let body = serde_json::json!({ "message": message });
    let fault = Fault::on("/orgs/acme").kind(FaultKind::Json(403, Vec::new(), body));
    let run = Lab::new(acme().fault(fault)).collect(&["--verbose"]).exits(2);
    let control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!run.stderr.contains(control), "{:?}", run.stderr);
    assert!(!run.stderr.contains("\nerror: fake"), "{}", run.stderr);
    assert!(run.stderr.len() < 10_000, "{} bytes were printed", run.stderr.len());
}
