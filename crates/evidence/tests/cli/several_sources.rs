//! All three sources in one run: one bundle in a fixed order, and a failed source does not stop the others.

use sandbox::cloud::{Cloud, Fault, FaultKind};
use sandbox::codehost::CodeHost;
use sandbox::workspace::Workspace;
use sandbox::{Body, Server};
use serde_json::Value;

use super::common::{Bundle, Lab, TOKEN, acme, sound};

/// A code host, a cloud and a directory, and a configuration for all three.
pub(crate) struct Company {
    pub(crate) lab: Lab,
    pub(crate) cloud: Server<Cloud>,
    pub(crate) workspace: Server<Workspace>,
}

const CREDENTIALS: &str = "credentials.json";

impl Company {
    pub(crate) fn new() -> Company {
        Company::of(sandbox::demo_account(), sandbox::demo_workspace())
    }

    pub(crate) fn of(cloud: Cloud, workspace: Workspace) -> Company {
        Company::with_host(acme().repository(sound("api")).repository(sound("web")), cloud, workspace)
    }

    pub(crate) fn with_host(host: CodeHost, cloud: Cloud, workspace: Workspace) -> Company {
        let lab = Lab::new(host)
            .env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_ACCESS_KEY_ID)
            .env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY)
            .env("ALTCLOUD_APPLICATION_CREDENTIALS", CREDENTIALS);
        let company = Company { lab, cloud: cloud.serve().unwrap(), workspace: workspace.serve().unwrap() };
        company.lab.write(CREDENTIALS, Workspace::service_account_file(&company.workspace));
        company.lab.set_mode(CREDENTIALS, 0o600);
        let text = company.text("", "");
        company.lab.write("evidence.yaml", text);
        company
    }

    /// The configuration; `codehost` and `cloud` are further lines of these sections.
    pub(crate) fn text(&self, codehost: &str, cloud: &str) -> String {
        format!(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  altcloud:\n    mode: \
             service_account\n    admin_email: {}\n    api_url: {}\n    cloud_identity_url: {}\n  codehost:\n    mode: token\n    org: acme\n    \
             repos: \"*\"\n    api_url: {}\n    requests_per_minute: 0\n{codehost}  cloud:\n    mode: env\n    \
             regions: [eu-west-1, us-east-1]\n    endpoint_url: {}\n{cloud}bundle:\n  signing:\n    \
             private_key_path: key.pem\n",
            sandbox::DEMO_WORKSPACE_ADMIN,
            self.workspace.url(),
            self.workspace.url(),
            self.lab.server.url(),
            self.cloud.url()
        )
    }

    fn env(mut self, name: &str, value: &str) -> Company {
        self.lab.set_env(name, value);
        self
    }

    /// With expired temporary credentials.
    fn with_an_expired_key(self) -> Company {
        self.env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID)
            .env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY)
            .env("CLOUD_SESSION_TOKEN", sandbox::DEMO_CLOUD_EXPIRED_SESSION_TOKEN)
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.cloud.violations().is_empty(), "{:?}", self.cloud.violations());
            assert!(self.workspace.violations().is_empty(), "{:?}", self.workspace.violations());
        }
    }
}

/// Each check as `control source rule subject status reason`.
pub(crate) fn checks(bundle: &Bundle) -> Vec<String> {
    let normalized = bundle.json("derived/normalized.json");
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let mut checks = Vec::new();
    for control in normalized["controls"].as_array().unwrap() {
        for check in control["checks"].as_array().unwrap() {
            let columns = ["source", "rule", "subject", "status", "reason"].map(|key| text(&check[key]));
            checks.push(format!("{} {}", text(&control["id"]), columns.join(" ")));
        }
    }
    checks
}

fn sources(bundle: &Bundle) -> Vec<String> {
    let run = bundle.json("run.json");
    let sources = run["sources"].as_array().unwrap();
    sources.iter().map(|source| source["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn one_bundle_of_all_three() {
    let company = Company::new();
    let run = company.lab.collect(&[]).exits(0);
    let bundle = run.bundle();
    // The tool fixes the order, whatever the order of the configuration and the answers.
    assert_eq!(sources(&bundle), ["codehost", "cloud", "altcloud"]);
    insta::assert_snapshot!("checks_of_all_three", checks(&bundle).join("\n"));
    insta::assert_snapshot!("files_of_all_three", bundle.paths().join("\n"));
    let manifest = bundle.json("manifest.json");
    assert_eq!(manifest["complete"], true);
    assert_eq!(manifest["organization"], "acme");
    // Every control covers every source that serves it.
    for (control, names) in [
        ("CC6.1", ["codehost", "cloud", "altcloud"].as_slice()),
        ("CC6.6", &["codehost", "altcloud"]),
        ("CC7.2", &["codehost", "cloud"]),
    ] {
        for name in names {
            let start = format!("{control} {name} ");
            assert!(checks(&bundle).iter().any(|check| check.starts_with(&start)), "{start}");
        }
    }
    let path = bundle.path.to_string_lossy().into_owned();
    company.lab.run(&["verify", "-k", "key.pub.pem", &path]).exits(0);
}

#[test]
fn what_is_printed() {
    let run = Company::new().lab.collect(&[]).exits(0);
    insta::assert_snapshot!("all_three", run.shown());
}

/// Two runs produce the same bytes, although three hosts answer in any order.
#[test]
fn the_result_does_not_depend_on_who_answers_first() {
    let documents = |latency: [u64; 3]| {
        let company = Company::of(
            sandbox::demo_account().latency(std::time::Duration::from_millis(latency[1])),
            sandbox::demo_workspace().latency(std::time::Duration::from_millis(latency[2])),
        );
        company
            .lab
            .server
            .update(|host| *host = host.clone().latency(std::time::Duration::from_millis(latency[0])));
        let bundle = company.lab.collect(&[]).exits(0).bundle();
        let paths: Vec<String> = bundle.paths().into_iter().map(str::to_string).collect();
        (checks(&bundle), paths, sources(&bundle))
    };
    assert_eq!(documents([30, 0, 0]), documents([0, 20, 10]));
}

#[test]
fn an_expired_key_does_not_stop_the_others() {
    let company = Company::new().with_an_expired_key();
    let run = company.lab.collect(&[]).exits(2).says("have expired");
    // A quiet run says it in one line, with what to do.
    for arguments in [&["--quiet", "-o", "quiet"][..], &["--quiet", "--dry-run"]] {
        let quiet = company.lab.collect(arguments).exits(2).stderr;
        let causes: Vec<&str> = quiet.lines().collect();
        assert_eq!(causes.len(), 1, "{quiet}");
        assert!(causes[0].starts_with("incomplete: cloud: not reached: "), "{quiet}");
        assert!(causes[0].contains("have expired") && causes[0].contains("; "), "{quiet}");
    }
    let bundle = run.bundle();
    let manifest = bundle.json("manifest.json");
    assert_eq!(manifest["complete"], false);
    let errors = manifest["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!((&errors[0]["code"], &errors[0]["source"]), (&"connection_failed".into(), &"cloud".into()));
    assert_eq!(sources(&bundle), ["codehost", "cloud", "altcloud"]);
    let unread: Vec<String> =
        checks(&bundle).into_iter().filter(|check| check.contains("connection_failed")).collect();
    assert_eq!(
        unread,
        [
            "CC6.1 cloud password-policy cloud not_verifiable connection_failed",
            "CC7.2 cloud audit-trail cloud not_verifiable connection_failed",
            "CC7.2 cloud log-retention cloud not_verifiable connection_failed",
        ]
    );
    // The bundle contains everything except the failed source, and a control that needs the source does not pass.
    assert!(!bundle.paths().iter().any(|path| path.starts_with("sources/cloud/")));
    assert!(bundle.paths().iter().any(|path| path.starts_with("sources/altcloud/")));
    let seven = &bundle.json("derived/normalized.json")["controls"][2];
    assert_eq!((&seven["id"], &seven["status"]), (&"CC7.2".into(), &"not_verifiable".into()));
    // Two rules of one control lack the same permission, and each still has its own hint.
    let hints = bundle.json("derived/hints.json");
    let mut ids: Vec<&str> =
        hints["hints"].as_array().unwrap().iter().map(|hint| hint["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.contains(&"CC7.2:connection_failed:cloud:2"), "{ids:?}");
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    // The count includes the requests of the failed source.
    assert_eq!(bundle.json("run.json")["sources"][1]["requests"], 1);
    insta::assert_snapshot!("expired_key", run.shown());
    for secret in [
        sandbox::DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY,
        sandbox::DEMO_CLOUD_EXPIRED_SESSION_TOKEN,
        sandbox::DEMO_FINE_GRAINED_TOKEN,
    ] {
        assert!(!run.all().contains(secret));
        assert!(
            bundle.entries.iter().all(|(_, content)| { !String::from_utf8_lossy(content).contains(secret) })
        );
    }
}

#[test]
fn a_dry_run_says_what_would_be_missing() {
    let company = Company::new().with_an_expired_key();
    let run = company.lab.collect(&["--dry-run"]).exits(2);
    insta::assert_snapshot!("dry_run_with_an_expired_key", run.shown());
    assert!(company.lab.output().is_empty());
    let all = Company::new().lab.collect(&["--dry-run"]).exits(0);
    insta::assert_snapshot!("dry_run_of_all_three", all.shown());
}

/// The tool reports all of them at once, before its first request to any source.
#[test]
fn missing_variables_are_found_before_anything_is_asked() {
    let company = Company::new();
    for arguments in [&["collect"][..], &["collect", "--dry-run"]] {
        let mut command = company.lab.command(arguments);
        command.env_remove("ALTCLOUD_APPLICATION_CREDENTIALS").env_remove("CODEHOST_TOKEN");
        let run = company.lab.run_command(command).exits(2).leaves_nothing();
        run.says("ALTCLOUD_APPLICATION_CREDENTIALS is not set").says("CODEHOST_TOKEN is not set");
        let mut command = company.lab.command(arguments);
        command.env_remove("CLOUD_SECRET_ACCESS_KEY");
        company.lab.run_command(command).exits(2).says("CLOUD_SECRET_ACCESS_KEY").leaves_nothing();
    }
    assert!(company.lab.requested().is_empty(), "{:?}", company.lab.requested());
    assert_eq!((company.cloud.request_count(), company.workspace.request_count()), (0, 0));
}

/// Every secret of every source, the signing key and the platform's key, all in files instead of variables.
#[test]
fn every_secret_can_be_in_a_file() {
    let company = Company::new();
    let names = ["CODEHOST_TOKEN", "CLOUD_ACCESS_KEY_ID", "CLOUD_SECRET_ACCESS_KEY"];
    let values = [TOKEN, sandbox::DEMO_CLOUD_ACCESS_KEY_ID, sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY];
    let run = |arguments: &[&str]| {
        let mut command = company.lab.command(arguments);
        for name in names {
            command.env_remove(name).env(format!("{name}_FILE"), name);
        }
        company.lab.run_command(command)
    };
    // The tool reports all missing secrets before its first request.
    let missing = run(&["collect"]).exits(2).leaves_nothing();
    missing.says("CODEHOST_TOKEN_FILE names").says("CLOUD_ACCESS_KEY_ID_FILE names");
    for (name, value) in names.iter().zip(values) {
        company.lab.write(name, format!("{value}\n"));
    }
    company.lab.write("CLOUD_SECRET_ACCESS_KEY", "");
    let empty =
        run(&["collect"]).exits(2).says("the file CLOUD_SECRET_ACCESS_KEY (CLOUD_SECRET_ACCESS_KEY_FILE)");
    assert!(!values.iter().any(|value| empty.all().contains(value)));
    assert_eq!((company.lab.requested().len(), company.cloud.request_count()), (0, 0));
    company.lab.write("CLOUD_SECRET_ACCESS_KEY", values[2]);
    let collected = run(&["collect", "--verbose"]).exits(0);
    assert!(!values.iter().any(|value| collected.all().contains(value)));
    let from_files = checks(&collected.bundle());
    std::fs::remove_dir_all(company.lab.path("evidence-bundles")).unwrap();
    assert_eq!(from_files, checks(&company.lab.collect(&[]).exits(0).bundle()));
}

#[test]
fn when_none_can_be_connected_there_is_no_bundle() {
    let company = Company::new().with_an_expired_key();
    let lab = &company.lab;
    // The file of a service account of another directory.
    let other = sandbox::demo_workspace().serve().unwrap();
    lab.write(CREDENTIALS, Workspace::service_account_file(&other));
    let mut command = lab.command(&["collect"]);
    command.env("CODEHOST_TOKEN", "ghp_nobodys");
    let run = lab.run_command(command).exits(2);
    assert!(lab.output().is_empty());
    let run = run.says("codehost: 'Bad credentials'").says("cloud: ").says("altcloud: ");
    assert_eq!(run.stderr.matches("error: connection test failed: ").count(), 3, "{}", run.stderr);
}

/// A token that can write ends the run for every source, because the fault is in the configuration: the tool collects
/// nothing.
#[test]
fn a_token_that_can_write_ends_the_run_for_all() {
    let company = Company::new();
    let token = "ghp_CliTestsWritesTokenIsNotARealSecret7";
    company.lab.server.update(|host| {
        let writes = sandbox::codehost::Token::classic(token).login("w").scopes(["repo", "read:org"]);
        host.put_token(writes);
    });
    let company = company.env("CODEHOST_TOKEN", token);
    company.lab.collect(&[]).exits(1).says("Forbidden scope");
    assert!(company.lab.output().is_empty());
}

/// A lasting fault affects only its own host: exit code 3, and the bundle contains everything else.
#[test]
fn a_host_that_fails_in_the_middle_costs_its_own_part() {
    let broken = Fault::on("cloudtrail:GetTrailStatus").kind(FaultKind::Status(500, Body::Json));
    let company = Company::of(sandbox::demo_account().fault(broken), sandbox::demo_workspace());
    let run = company.lab.collect(&[]).exits(3);
    let bundle = run.bundle();
    let manifest = bundle.json("manifest.json");
    assert_eq!(manifest["complete"], false);
    let errors = manifest["errors"].as_array().unwrap();
    assert!(!errors.is_empty() && errors.iter().all(|error| error["source"] == "cloud"), "{errors:?}");
    let checks = checks(&bundle);
    assert!(
        checks.iter().any(|check| check.starts_with("CC7.2 cloud audit-trail 123456789012 not_verifiable")),
        "{checks:?}"
    );
    assert!(bundle.paths().contains(&"sources/cloud/log_groups.json"));
}

/// The configuration without the sections of the other sources.
fn only(source: &str, text: &str) -> String {
    let (mut kept, mut skipping) = (String::new(), false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            skipping = ["altcloud:", "codehost:", "cloud:"].contains(&name) && name != format!("{source}:");
        } else if !line.starts_with(' ') {
            skipping = false;
        }
        if !skipping {
            kept.push_str(&format!("{line}\n"));
        }
    }
    kept
}

/// A dry run's estimate and the collected result, for sources of this size.
fn estimates(size: u32) {
    let host = sandbox::large_organization(size);
    let large = Company::with_host(host, sandbox::large_account(size), sandbox::large_workspace(size))
        .env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    let all = large.text("", "");
    for (source, controls) in
        [("codehost", "CC6.1, CC6.6, CC7.2"), ("cloud", "CC6.1, CC7.2"), ("altcloud", "CC6.1, CC6.6")]
    {
        let text = only(source, &all).replace("CC6.1, CC6.6, CC7.2", controls);
        large.lab.write("evidence.yaml", text);
        let plan = large.lab.run(&["collect", "--dry-run"]).exits(0).stdout;
        let line = plan.lines().find(|line| line.contains(" size ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = match words[4].trim_end_matches(',') {
            "kB" => 1e3,
            "MB" => 1e6,
            other => panic!("{other}: {line}"),
        };
        let estimate = words[3].parse::<f64>().unwrap() * unit;
        let run = large.lab.run(&["collect", "--quiet", "--output", source]);
        let written = std::fs::metadata(large.lab.path(run.stdout.trim())).unwrap().len() as f64;
        println!("{source:<9} {size:>6}: estimate {estimate:>9} B, bundle {written:>9} B");
        assert!(
            estimate < 2.0 * written && written < 2.0 * estimate,
            "{source} of {size}: {line}, {written} B"
        );
    }
}

#[test]
fn estimates_are_within_twice_the_size() {
    estimates(50);
    estimates(500);
}

/// The test above checks the same at smaller sizes.
#[test]
#[ignore = "long: collects from three sources of 5,000 subjects each"]
fn estimates_of_large_sources() {
    estimates(5_000);
}
