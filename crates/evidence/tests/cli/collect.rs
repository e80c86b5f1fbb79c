//! The flags of `collect`, and its output in every mode.

use sandbox::codehost::{File, Limits, Primary, Protection};

use crate::common::{Lab, acme, names, repository, sound, strong};

/// A small organization that covers every kind of result.
fn various() -> Lab {
    let host = acme()
        .repository(sound("api"))
        .repository(sound("app").file("CODEOWNERS", File::text("/docs/ @acme/writers\n")))
        .repository(repository("bare"))
        .repository(sound("hidden").admin(false))
        .repository(repository("legacy").default_branch("master").file("CODEOWNERS", File::directory()))
        .repository(repository("mirror").blocked("dmca"))
        .repository(sound("old").archived(true).protection("main", Protection::new().reviews(1)))
        .repository(sound("one-review").protection("main", strong().reviews(1)));
    // One request at a time, for a fixed order of the verbose lines.
    Lab::new(host).with(|config| config.source("max_concurrency", "1"))
}

#[test]
fn normal() {
    let run = various().collect(&[]).exits(3);
    insta::assert_snapshot!(run.shown());
}

#[test]
fn verbose() {
    let run = various().collect(&["--verbose"]).exits(3);
    insta::assert_snapshot!(run.shown());
    let lines = run.stderr.lines().filter(|line| line.contains(" GET /")).count();
    assert_eq!(lines as u64, run.bundle().source()["requests"].as_u64().unwrap(), "a line per request");
    let manifest = run.bundle().manifest();
    for artifact in manifest["artifacts"].as_array().unwrap() {
        assert!(run.stderr.contains(artifact["filename"].as_str().unwrap()), "{artifact}");
    }
}

#[test]
fn dry_run() {
    let lab = various();
    let run = lab.collect(&["--dry-run"]).exits(0);
    insta::assert_snapshot!(run.shown());
    assert!(!lab.path("evidence-bundles").exists(), "a dry run makes no directory");
    assert_eq!(names(&lab.path("")), ["evidence.yaml", "key.pem", "key.pub.pem"]);
    // The connection test reads one repository.
    let beside = |path: &&String| !path.starts_with("/orgs/acme") && *path != "/user";
    let requested = lab.requested();
    let probed: Vec<&String> = requested.iter().filter(beside).collect();
    assert!(
        probed.len() == 2 && probed.iter().all(|path| path.starts_with("/repos/acme/api/")),
        "{probed:?}"
    );
}

#[test]
fn dry_run_of_many_pages_reads_only_the_first_and_the_last() {
    let lab = Lab::new(sandbox::large_organization(950)).env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    let run = lab.collect(&["-d"]).exits(0);
    insta::assert_snapshot!(run.shown());
    let pages = lab.requested().iter().filter(|path| path.contains("/repos?")).count();
    assert_eq!(pages, 2, "{:?}", lab.requested());
}

/// A dry run reports what the token cannot see, before any collection.
#[test]
fn dry_run_says_what_is_not_listed() {
    let lab = Lab::new(sandbox::demo_organization()).env("CODEHOST_TOKEN", sandbox::DEMO_MEMBER_TOKEN);
    let run = lab.collect(&["--dry-run"]).exits(3);
    let said =
        "not listed     6 of 14 repositories of acme; 8 are not visible to this token. Give the token access";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    lab.collect(&[]).exits(3).says("codehost  6 of 14 repositories of acme; 8 are not visible to this token");
}

/// At least 1,201 requests with 500 left: the plan estimates when the rate limit lets the run finish.
#[test]
fn dry_run_says_when_the_limit_would_let_it_finish() {
    let host = sandbox::large_organization(600).limits(Limits::primary(Primary::new(1000, 500)));
    let lab = Lab::new(host).env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    let run = lab.collect(&["--dry-run"]).exits(0);
    assert!(run.stdout.contains("done about"), "{}", run.stdout);
    assert!(run.stdout.contains("for the limit"), "{}", run.stdout);
}

#[test]
fn dry_run_never_waits_for_the_limit() {
    let lab = Lab::new(acme().repository(sound("web")).limits(Limits::primary(Primary::new(5000, 40))));
    let begun = std::time::Instant::now();
    lab.collect(&["--dry-run"]).exits(0).says_not("waiting");
    assert!(begun.elapsed().as_secs() < 30);
    // With no requests left, the connection test fails.
    let lab = Lab::new(acme().limits(Limits::primary(Primary::new(5000, 0))));
    lab.collect(&["--dry-run"])
        .exits(2)
        .says("API rate limit exceeded")
        .says("after the reset")
        .says("not asked");
    // With one request left, the tool does not read the list.
    let lab = Lab::new(acme().repository(sound("web")).limits(Limits::primary(Primary::new(5000, 1))));
    let run = lab.collect(&["--dry-run"]).exits(3);
    for text in ["not planned", "resets at", "after the reset", "not asked: the list of repositories"] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
}

/// A run that cannot reach its host prints progress during the half minute of its attempts.
#[test]
fn attempts_of_the_connection_test_are_shown() {
    use sandbox::codehost::{Fault, FaultKind};
    let lab =
        Lab::new(acme().repository(sound("web")).fault(Fault::on("/orgs/*").times(2).kind(FaultKind::Reset)));
    let run = lab.collect(&[]).exits(0);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains(" wait ")).collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(
        lines[0].contains("127.0.0.1: ") && lines[0].contains("; attempt 1 of 5, retry in 2 s"),
        "{}",
        lines[0]
    );
    // `--quiet` prints none of it.
    let lab =
        Lab::new(acme().repository(sound("web")).fault(Fault::on("/orgs/*").times(1).kind(FaultKind::Reset)));
    assert_eq!(lab.collect(&["-q"]).exits(0).stderr, "");
}

/// A web page instead of the API: the address lacks the path that self-hosted servers require.
#[test]
fn a_page_is_not_the_api() {
    use sandbox::Body;
    use sandbox::codehost::{Fault, FaultKind};
    let fault = Fault::on("/orgs/*").kind(FaultKind::Status(406, Body::Html));
    let lab = Lab::new(acme().fault(fault));
    let set =
        format!("help: on a server of your own, set sources.codehost.api_url to {}/api/v3", lab.server.url());
    lab.collect(&[]).exits(2).says("HTTP 406").says(&set);
}

#[test]
fn dry_run_of_listed_repositories_and_one_control() {
    let lab = various()
        .with(|config| config.controls("[CC7.2]").source("repos", "[acme/api, acme/app, acme/bare]"));
    let run = lab.collect(&["--dry-run"]).exits(0);
    insta::assert_snapshot!(run.shown());
}

/// The run matches the plan.
#[test]
fn the_plan_holds() {
    let lab = various();
    let plan = lab.collect(&["--dry-run"]).exits(0).stdout;
    lab.server.clear_log();
    let run = lab.collect(&[]).exits(3);
    let requests = lab.requested().len();
    let range = plan.lines().find(|line| line.trim_start().starts_with("requests")).unwrap();
    let numbers: Vec<usize> =
        range.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).take(2).collect();
    assert!((numbers[0]..=numbers[1]).contains(&requests), "{requests} requests; {range}");
    assert!(plan.contains("up to 15"), "{plan}");
    // The tool reads rulesets only where they affect the verdict.
    assert!(run.bundle().source()["requested"].as_u64().unwrap() >= 15);
}

#[test]
fn quiet() {
    for flag in ["--quiet", "-q"] {
        let run = various().collect(&[flag]).exits(3);
        // Nothing but why it does not end with 0.
        assert!(run.stderr.lines().all(|line| line.starts_with("incomplete: ")), "{}", run.stderr);
        let path = run.stdout.strip_suffix('\n').unwrap();
        assert!(!path.contains('\n'), "{path}");
        assert!(path.starts_with("./evidence-bundles/evidence-bundle-"), "{path}");
        assert_eq!(run.bundle().path.file_name(), std::path::Path::new(path).file_name());
    }
}

#[test]
fn quiet_prints_the_path_of_a_partial_bundle_too() {
    let lab = various().with(|config| config.source("repos", "[acme/api, acme/nowhere]"));
    let run = lab.collect(&["--quiet"]).exits(3);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    run.bundle();
}

#[test]
fn quiet_says_why_it_fails() {
    let run = various().without_env("CODEHOST_TOKEN").collect(&["--quiet"]).exits(2);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
    insta::assert_snapshot!(run.shown());
}

#[test]
fn quiet_dry_run_is_silent_and_keeps_its_exit_code() {
    let run = various().collect(&["--quiet", "--dry-run"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    various().with(|config| config.source("org", "amce")).collect(&["-qd"]).exits(2);
}

#[test]
fn dry_run_keeps_the_exit_codes_of_failures() {
    let lab = various();
    lab.set_mode("key.pem", 0o666);
    lab.collect(&["--dry-run"]).exits(1);
    lab.set_mode("key.pem", 0o600);
    lab.collect(&["--dry-run", "--config", "nowhere.yaml"]).exits(1);
    let lab = lab.with(|config| config.controls("[CC9.9]"));
    lab.collect(&["--dry-run"]).exits(1);
    let lab = lab.with(|config| config).without_env("CODEHOST_TOKEN");
    lab.collect(&["--dry-run"]).exits(2);
}

#[test]
fn config_and_output_in_both_spellings() {
    let lab = Lab::new(acme().repository(sound("web")));
    std::fs::rename(lab.path("evidence.yaml"), lab.path("other.yaml")).unwrap();
    lab.collect(&[]).exits(1).says("evidence.yaml");
    lab.collect(&["--config", "other.yaml", "--output", "one"]).exits(0);
    lab.collect(&["-c", "other.yaml", "-o", "two"]).exits(0);
    lab.collect(&["-cother.yaml", "-otwo/three"]).exits(0);
    assert_eq!(names(&lab.path("one")).len(), 1);
    assert_eq!(names(&lab.path("two")).len(), 2);
    assert!(!lab.path("evidence-bundles").exists());
    // From a different directory: `--output` is relative to the working directory.
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = lab.command(&["collect", "--quiet", "--config", "../other.yaml"]);
    command.current_dir(&elsewhere);
    lab.run_command(command).exits(0);
    assert_eq!(names(&elsewhere.join("evidence-bundles")).len(), 1);
}

#[test]
fn short_flags() {
    let lab = various();
    assert!(lab.collect(&["-d"]).exits(0).stdout.contains("Dry run"));
    assert!(lab.collect(&["-v"]).exits(3).stderr.contains("GET /orgs/acme"));
    assert!(lab.collect(&["-u"]).exits(1).stderr.contains("--upload"));
    assert!(lab.collect(&["-h"]).exits(0).stdout.contains("Usage"));
}

#[test]
fn no_escape_codes_when_piped() {
    let lab = various();
    for arguments in [&["-v"][..], &["-d"], &["--nonsense"], &["-c", "nowhere"]] {
        assert!(!lab.collect(arguments).all().contains('\u{1b}'), "{arguments:?}");
    }
}

/// A pseudo terminal (util-linux `script`) shows colours, and `NO_COLOR` disables them.
#[test]
fn no_color_on_a_terminal() {
    let lab = Lab::new(acme().repository(sound("web"))).env("TERM", "xterm-256color");
    let on_a_terminal = |lab: &Lab| {
        let binary = lab.command(&[]).get_program().to_string_lossy().into_owned();
        let mut command = lab.command(&[]);
        command = {
            let mut script = std::process::Command::new("script");
            script.args(["-qec", &format!("'{binary}' collect --dry-run"), "/dev/null"]);
            script.current_dir(lab.path("")).env_clear();
            for (name, value) in command.get_envs() {
                script.env(name, value.unwrap_or_default());
            }
            script.stdin(std::process::Stdio::null());
            script
        };
        command.output()
    };
    let Ok(coloured) = on_a_terminal(&lab) else {
        eprintln!("SKIPPED: there is no `script` to make a terminal with");
        return;
    };
    assert!(coloured.stdout.windows(2).any(|two| two == b"\x1b["), "no colours on a terminal");
    let lab = lab.env("NO_COLOR", "1");
    let plain = String::from_utf8(on_a_terminal(&lab).unwrap().stdout).unwrap();
    assert!(plain.contains("Dry run"), "{plain}");
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert!(!colour.is_match(&plain), "{plain:?}");
}

#[test]
fn the_api_url_of_the_environment_wins() {
    let lab = Lab::new(acme().base_path("/api/v3").repository(sound("web")));
    let url = lab.server.url();
    let lab =
        lab.with(|config| config.source("api_url", "https://nowhere.invalid")).env("CODEHOST_API_URL", &url);
    let bundle = lab.named().collect(&[]).exits(0).bundle();
    assert_eq!(bundle.source()["api_url"], url.as_str());
    // Paths in the bundle are relative to the base.
    assert_eq!(bundle.request_of("sources/codehost/org_settings.json")["path"], "/orgs/acme");
}

/// A closed pipe does not end the run: the tool still writes the bundle.
#[test]
fn a_closed_pipe_ends_nothing() {
    let lab = various();
    let mut command = lab.command(&["collect"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(lab.output().len(), 1);
}

/// The complete request sequence of a normal run.
#[test]
fn requests() {
    let lab = various();
    lab.collect(&[]).exits(3);
    for request in lab.server.requests() {
        assert_eq!(request.method, "GET");
        assert_eq!(request.header("accept"), Some("application/vnd.github+json"));
        assert_eq!(request.header("x-github-api-version"), Some("2022-11-28"));
        assert_eq!(request.header("authorization"), Some("[redacted]"));
        assert!(request.header("user-agent").unwrap().starts_with("evidence/"));
        assert!(matches!(request.identity, sandbox::Identity::User { .. }));
    }
    let paths = lab.requested();
    assert_eq!(paths[0], "/orgs/acme");
    assert_eq!(paths[1], "/user");
    assert!(paths[2].starts_with("/orgs/acme/repos?per_page=100"), "{}", paths[2]);
    // The first repository, as part of the connection test; then branches, then CODEOWNERS, each in the order of names.
    let rest: Vec<&String> =
        paths[3..].iter().skip_while(|path| path.starts_with("/repos/acme/api/")).collect();
    let owners = rest.iter().position(|path| path.contains("/contents/")).unwrap();
    let (branches, owners) = rest.split_at(owners);
    assert!(owners.iter().all(|path| path.contains("/contents/")), "{rest:#?}");
    let protections: Vec<&&String> = branches.iter().filter(|path| path.ends_with("/protection")).collect();
    // Nothing is asked about the archived one.
    assert_eq!(protections.len(), 6, "{rest:#?}");
    assert!(protections.is_sorted());
}
