//! One test for every row of the table of exit codes. `failures` tests the messages.

use sandbox::codehost::{Body, Fault, FaultKind, File, Limits, Organization, Primary, Protection, Token};

use crate::common::{Lab, TOKEN, acme, repository, sound};

fn one_sound() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

#[test]
fn success_is_0() {
    let run = one_sound().collect(&[]).exits(0);
    assert_eq!(run.bundle().json("run.json")["exit_code"], 0);
}

#[test]
fn failing_controls_are_no_error() {
    let host = acme().organization(Organization::new("acme")).repository(repository("bare"));
    let run = Lab::new(host).collect(&[]).exits(0);
    for control in ["CC6.1", "CC6.6", "CC7.2"] {
        assert_eq!(run.bundle().control(control), "fail");
    }
}

#[test]
fn usage_is_1() {
    let lab = one_sound();
    for arguments in [
        &["collect", "--nonsense"][..],
        &["collect", "unexpected"],
        &["colect"],
        &[],
        &["collect", "--config"],
        &["collect", "--quiet", "--verbose"],
        &["collect", "-qv"],
        &["verify"],
        &["verify", "x", "--json", "--quiet"],
        &["verify", "x", "-k", "a", "--fingerprint", "b"],
        &["schema", "everything"],
        &["completions", "tcl"],
    ] {
        let run = lab.run(arguments).exits(1);
        assert!(run.stdout.is_empty(), "{arguments:?} printed on stdout: {}", run.stdout);
        assert!(!run.stderr.is_empty(), "{arguments:?} said nothing");
    }
    assert!(lab.requested().is_empty());
}

#[test]
fn invalid_configuration_is_1() {
    let lab = one_sound().with(|config| config.controls("[CC6.1, CC9.9]").source("branhc", "main"));
    lab.collect(&[]).exits(1).says("CC9.9").says("branhc").leaves_nothing();
    assert!(lab.requested().is_empty());
}

#[test]
fn missing_configuration_is_1() {
    let lab = one_sound();
    lab.collect(&["--config", "nowhere.yaml"]).exits(1).says("nowhere.yaml").leaves_nothing();
    lab.collect(&["--config", "."]).exits(1).leaves_nothing();
}

/// Files that are not a configuration, as wrong paths and damaged files produce them.
#[test]
fn hostile_configuration_files_are_1() {
    let bomb: String = std::iter::once("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_string())
        .chain((1..12).map(|level| {
            let below = vec![format!("*a{}", level - 1); 9].join(", ");
            format!("a{level}: &a{level} [{below}]\n")
        }))
        .collect();
    let deep = format!("framework: {}\n", "[".repeat(100_000));
    let files: [(&str, Vec<u8>); 7] = [
        ("empty", Vec::new()),
        ("binary", (0..=255).cycle().take(5_000).collect()),
        ("not UTF-8", b"framework: \xff\xfe\n".to_vec()),
        ("null bytes", vec![0; 10_000]),
        ("an alias bomb", bomb.into_bytes()),
        ("nested deeply", deep.into_bytes()),
        ("escape codes", b"framework: \x1b[31msoc2_type1\n".to_vec()),
    ];
    let lab = one_sound();
    for (name, content) in files {
        lab.write("evidence.yaml", content);
        let begun = std::time::Instant::now();
        let run = lab.collect(&[]).exits(1).leaves_nothing();
        assert!(run.stderr.contains("evidence.yaml") && run.stderr.len() < 20_000, "{name}: {}", run.stderr);
        assert!(!run.stderr.contains('\u{1b}') && !run.stderr.contains("panicked"), "{name}: {}", run.stderr);
        assert!(begun.elapsed().as_secs() < 60, "{name} took {:?}", begun.elapsed());
    }
    // A sparse file of 100 MB.
    let file = std::fs::File::create(lab.path("evidence.yaml")).unwrap();
    file.set_len(100_000_000).unwrap();
    lab.collect(&[]).exits(1).says("evidence.yaml");
    assert!(lab.requested().is_empty());
}

#[test]
fn bad_addresses_and_certificates_are_1() {
    for url in ["ftp://host.example", "http://host.example", "nonsense", "https://user:secret@host.example"] {
        let lab = one_sound().env("CODEHOST_API_URL", url);
        lab.collect(&[]).exits(1).says("CODEHOST_API_URL").says_not("secret@").leaves_nothing();
    }
    let lab = one_sound().with(|config| config.source("ca_file", "nowhere.pem"));
    lab.named().collect(&[]).exits(1).says("ca_file").says("nowhere.pem").leaves_nothing();
}

#[test]
fn upload_without_upload_configuration_is_1() {
    let lab = one_sound().env("EVIDENCE_API_KEY", "evp_key-for-the-platform");
    lab.collect(&["--upload"]).exits(1).says("--upload").says("upload").leaves_nothing();
    assert!(lab.requested().is_empty());
}

#[test]
fn a_signing_key_that_cannot_be_used_is_1() {
    let refused = |change: &dyn Fn(&Lab)| {
        let lab = one_sound();
        change(&lab);
        let run = lab.collect(&[]).exits(1).says("key.pem").leaves_nothing();
        assert!(lab.requested().is_empty(), "asked before the key was known to be good");
        run
    };
    refused(&|lab| std::fs::remove_file(lab.path("key.pem")).unwrap()).says("No such file");
    refused(&|lab| {
        std::fs::remove_file(lab.path("key.pem")).unwrap();
        std::fs::create_dir(lab.path("key.pem")).unwrap();
    });
    refused(&|lab| lab.write("key.pem", RSA_KEY)).says("RSA");
    refused(&|lab| lab.write("key.pem", b""));
    refused(&|lab| lab.write("key.pem", "not a key\n"));
    refused(&|lab| lab.write("key.pem", [0xff; 300]));
    refused(&|lab| lab.write("key.pem", vec![b'a'; 1_000_000]));
    // The public key in place of the private one: a likely mistake.
    refused(&|lab| lab.write("key.pem", std::fs::read(lab.path("key.pub.pem")).unwrap())).says("public");
    for mode in [0o620, 0o602, 0o666] {
        refused(&|lab| lab.set_mode("key.pem", mode)).says("chmod 600");
    }
}

#[test]
fn an_unreadable_signing_key_is_1() {
    let lab = one_sound();
    lab.set_mode("key.pem", 0o000);
    let Some(run) = lab.run_unprivileged(&["collect"]) else {
        eprintln!("SKIPPED: root reads files that nobody may read, and cannot become nobody");
        return;
    };
    run.exits(1).says("key.pem").says("Permission denied").leaves_nothing();
}

#[test]
fn a_signing_key_readable_by_others_is_a_warning() {
    let lab = one_sound();
    lab.set_mode("key.pem", 0o644);
    let run = lab.collect(&[]).exits(0).says("can be read by other users");
    let warnings = run.bundle().manifest()["warnings"].to_string();
    assert!(warnings.contains("signing_key_readable"), "{warnings}");
}

#[test]
fn a_signing_key_in_a_variable() {
    let key = |lab: &Lab| std::fs::read_to_string(lab.path("key.pem")).unwrap();
    let lab = one_sound().with(|config| config.signing("private_key_env", "EVIDENCE_SIGNING_KEY"));
    lab.collect(&[]).exits(1).says("EVIDENCE_SIGNING_KEY").leaves_nothing();
    let pem = key(&lab);
    let lab = lab.env("EVIDENCE_SIGNING_KEY", &pem);
    let run = lab.collect(&[]).exits(0);
    run.bundle();
    assert!(!run.all().contains("PRIVATE KEY"));
}

#[test]
fn forbidden_scope_is_1_and_nothing_else_is_asked() {
    for scope in ["repo", "admin:org", "delete_repo", "admin:repo_hook", "workflow", "write:packages"] {
        let token = Token::classic(TOKEN).scopes([scope, "read:org"]);
        let lab = Lab::new(acme().token(token).repository(sound("web")));
        lab.collect(&[]).exits(1).says("Forbidden scope").says(scope).leaves_nothing();
        assert_eq!(lab.requested(), ["/orgs/acme"], "{scope}");
        lab.collect(&["--dry-run"]).exits(1).says("Forbidden scope");
    }
}

#[test]
fn forbidden_scope_counts_also_on_a_refusal() {
    let token = Token::classic(TOKEN).scopes(["repo"]);
    let host = acme().token(token).organization(Organization::new("acme").ip_allow_list(true));
    Lab::new(host).collect(&[]).exits(1).says("Forbidden scope").leaves_nothing();
}

#[test]
fn token_variable_unset_is_2_and_named() {
    let lab = one_sound().without_env("CODEHOST_TOKEN");
    lab.collect(&[]).exits(2).says("CODEHOST_TOKEN").leaves_nothing();
    lab.collect(&["--dry-run"]).exits(2).says("CODEHOST_TOKEN");
    let lab = lab.with(|config| config.source("token_env", "GH_AUDIT_TOKEN")).env("GH_AUDIT_TOKEN", "");
    lab.collect(&[]).exits(2).says("GH_AUDIT_TOKEN").leaves_nothing();
    assert!(lab.requested().is_empty());
}

#[test]
fn api_key_unset_with_upload_is_2_before_anything_is_asked() {
    let upload = "upload:\n  api_url: https://platform.example\n";
    let lab = one_sound().named().with(|config| config.rest(upload));
    lab.collect(&["--upload"]).exits(2).says("EVIDENCE_API_KEY").leaves_nothing();
    let lab = lab.with(|config| config.rest(upload).rest("  api_key_env: PLATFORM_KEY\n"));
    lab.collect(&["--upload"]).exits(2).says("PLATFORM_KEY").leaves_nothing();
    assert!(lab.requested().is_empty());
}

#[test]
fn connection_refusals_are_2() {
    let refusing = |organization: Organization| acme().organization(organization).repository(sound("web"));
    let acme_is = || Organization::new("acme");
    let hosts = [
        ("401", acme().token(Token::classic(TOKEN).revoked(true)), "'Bad credentials' (HTTP 401)"),
        (
            "403",
            refusing(acme_is().refusal(403, "Resource not accessible by personal access token")),
            "'Resource not accessible by personal access token' (HTTP 403)",
        ),
        ("404", sandbox::codehost::CodeHost::new().token(Token::classic(TOKEN)), "'Not Found' (HTTP 404)"),
        ("sso", refusing(acme_is().sso(sandbox::codehost::Sso::Required)), "single sign-on"),
        ("sso hidden", refusing(acme_is().sso(sandbox::codehost::Sso::Hidden)), "'Not Found' (HTTP 404)"),
        ("allow list", refusing(acme_is().ip_allow_list(true)), "IP allow list enabled"),
        ("classic tokens banned", refusing(acme_is().bans_classic_tokens(true)), "forbids access"),
        ("suspended", acme().token(Token::classic(TOKEN).suspended(true)), "suspended"),
    ];
    for (name, host, text) in hosts {
        let lab = Lab::new(host);
        for arguments in [&[][..], &["--dry-run"]] {
            let run = lab.collect(arguments).exits(2).leaves_nothing();
            assert!(run.stderr.contains(text), "{name}: {}", run.stderr);
        }
        assert_eq!(lab.requested(), ["/orgs/acme", "/orgs/acme"], "{name}: asked more than once per run");
    }
}

/// The tool tries each of these five times with growing waits, so they run in parallel.
#[test]
fn connection_failures_are_2() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let port = |lab: &Lab| lab.server.origin().replace("http://", "https://");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let lab = one_sound().with(|config| config.source("api_url", &closed));
            lab.collect(&[]).exits(2).says("cannot connect").says("refused").leaves_nothing();
        });
        scope.spawn(|| {
            let host = acme().fault(Fault::everywhere().kind(FaultKind::Hang));
            let lab = Lab::new(host).with(|config| config.source("timeout_seconds", "0.3"));
            lab.collect(&[]).exits(2).says("no answer within 0.3 s").leaves_nothing();
        });
        scope.spawn(|| {
            let lab =
                one_sound().named().with(|config| config.source("api_url", "https://evidence-tests.invalid"));
            lab.collect(&[]).exits(2).says("evidence-tests.invalid").leaves_nothing();
        });
        scope.spawn(|| {
            let lab = one_sound();
            let url = port(&lab);
            let lab = lab.with(|config| config.source("api_url", &url));
            lab.collect(&[]).exits(2).says("127.0.0.1").leaves_nothing();
        });
        scope.spawn(|| {
            let host = acme().fault(Fault::everywhere().kind(FaultKind::Status(503, Body::Html)));
            Lab::new(host).collect(&[]).exits(2).says("HTTP 503").says_not("<html").leaves_nothing();
        });
        scope.spawn(|| {
            let host = acme().fault(Fault::everywhere().kind(FaultKind::LoginPage));
            Lab::new(host).collect(&[]).exits(2).says("api_url").says_not("<html").leaves_nothing();
        });
    });
}

#[test]
fn a_redirect_to_another_host_is_2_and_not_followed() {
    let other = acme().serve().unwrap();
    let target = format!("{}/orgs/acme", other.url());
    let host = acme().fault(Fault::everywhere().kind(FaultKind::Redirect(target)));
    Lab::new(host).collect(&[]).exits(2).says("redirect").leaves_nothing();
    assert_eq!(other.request_count(), 0, "the token left the origin");
}

#[test]
fn exhausted_limit_without_pause_is_2() {
    let limits = Limits::primary(Primary::new(5000, 0));
    let lab = Lab::new(acme().limits(limits)).with(|config| config.source("rate_limit_pause", "false"));
    lab.collect(&[]).exits(2).says("API rate limit exceeded").says("0 of 5000").leaves_nothing();
}

#[test]
fn a_limit_that_ends_midway_without_pause_is_3_with_a_partial_bundle() {
    let mut host = acme().limits(Limits::primary(Primary::new(5000, 13)));
    for number in 0..10 {
        host = host.repository(sound(&format!("service-{number:02}")));
    }
    let lab = Lab::new(host)
        .with(|config| config.source("rate_limit_pause", "false").source("max_concurrency", "1"));
    let run = lab.collect(&[]).exits(3).says("API rate limit exceeded");
    let bundle = run.bundle();
    assert_eq!(bundle.json("run.json")["exit_code"], 3);
    assert_eq!(bundle.manifest()["complete"], false);
    // 13 requests: the organization, the account, one page, ten protections.
    assert_eq!(bundle.source()["collected"], 11);
    assert_eq!(bundle.source()["failed"], 10);
    assert_eq!(bundle.errors().len(), 10);
    for (code, _, message) in bundle.errors() {
        assert_eq!(code, "host_error");
        assert!(message.contains("API rate limit exceeded") && message.contains(": 0 of 5000"), "{message}");
        assert!(message.contains("resets at"), "{message}");
    }
    assert!(run.stdout.contains("incomplete"), "{}", run.stdout);
    assert!(lab.requested().len() <= 14, "asked on after the limit: {:?}", lab.requested());
}

#[test]
fn a_listed_repository_that_is_not_found_is_3() {
    let lab = Lab::new(acme().repository(sound("web")))
        .with(|config| config.source("repos", "[acme/web, acme/nowhere]"));
    let run = lab.collect(&[]).exits(3).says("Not Found");
    let bundle = run.bundle();
    assert_eq!(bundle.check("CC7.2", "acme/web"), ("pass".into(), "ok".into()));
    assert_eq!(bundle.check("CC7.2", "acme/nowhere"), ("not_verifiable".into(), "not_found".into()));
    assert_eq!(bundle.check("CC6.6", "acme/nowhere"), ("not_verifiable".into(), "not_found".into()));
    assert_eq!(bundle.manifest()["complete"], false);
}

/// A file that matches a high-confidence rule for secrets.
fn leaking() -> sandbox::codehost::Repository {
    let text = format!("# {}\n* @acme/everyone\n", sandbox::DEMO_SECRET);
    repository("leak").protection("main", crate::common::strong()).file("CODEOWNERS", File::text(text))
}

#[test]
fn an_excluded_artifact_is_4() {
    let run = Lab::new(acme().repository(leaking())).collect(&[]).exits(4);
    let bundle = run.bundle();
    let excluded = bundle.manifest()["excluded"].clone();
    assert_eq!(excluded[0]["filename"], "sources/codehost/repo_acme_leak_codeowners.json", "{excluded}");
    assert_eq!(bundle.warnings("acme/leak"), ["excluded_by_policy"]);
    assert!(bundle.artifact("repo_acme_leak_codeowners.json").is_none());
    assert_eq!(bundle.check("CC6.6", "acme/leak"), ("not_verifiable".into(), "excluded_by_policy".into()));
    assert_eq!(bundle.manifest()["complete"], false);
    assert_eq!(bundle.json("run.json")["exit_code"], 4);
}

#[test]
fn collection_errors_outweigh_excluded_artifacts() {
    let body = serde_json::json!({ "url": 12 });
    let host = acme()
        .repository(leaking())
        .repository(sound("strange").protection("main", Protection::new().body(body)));
    let run = Lab::new(host).collect(&[]).exits(3);
    let bundle = run.bundle();
    assert_eq!(bundle.manifest()["excluded"].as_array().unwrap().len(), 1);
    assert_eq!(bundle.errors().len(), 1);
    assert_eq!(bundle.json("run.json")["exit_code"], 3);
}

#[test]
fn nothing_collected_is_3_without_a_bundle() {
    let lab = Lab::new(acme())
        .with(|config| config.controls("[CC6.6, CC7.2]").source("repos", "[acme/nowhere, acme/elsewhere]"));
    lab.collect(&[]).exits(3).says("no evidence could be collected").says("Not Found").leaves_nothing();
}

#[test]
fn only_refusals_are_a_bundle_all_the_same() {
    // The host answered with a refusal, which the bundle records.
    let host = acme().repository(sound("hidden").admin(false).without_file("CODEOWNERS"));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]"));
    let run = lab.collect(&[]).exits(3);
    assert_eq!(run.bundle().control("CC7.2"), "not_verifiable");
}

const RSA_KEY: &str = include_str!("rsa-key.pem");
