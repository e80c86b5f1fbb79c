//! Where credentials may go: a configuration that lay in the working directory, one that the user named, and what a
//! run says about it before its first request.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sandbox::Server;
use sandbox::platform::{Key, Organization, Platform};
use sandbox::workspace::Workspace;

use crate::common::{Config, Lab, Run, acme, sound};

/// A secret that has nothing to do with the tool, under a name that the screen does not know.
const PASSWORD: &str = "ghp_CliTestsOwnerTokenIsNotARealSecret01";

const UPLOAD_KEY: &str = "evp_CliTestsOriginsKeyIsNotARealSecret42";

const SENTENCE: &str = "help: name the file with --config if you trust it";

/// A lab whose environment has a secret of another program.
fn lab() -> Lab {
    Lab::new(acme().repository(sound("web"))).env("DATABASE_PASSWORD", PASSWORD)
}

fn platform() -> Server<Platform> {
    let organization = Organization::new("org_4711", "acme", "Acme GmbH");
    Platform::new().organization(organization).key(Key::new(UPLOAD_KEY, "org_4711")).serve().unwrap()
}

/// A proxy that only counts connections: whatever the tool sends to another machine would arrive here.
struct Tap {
    address: String,
    connections: Arc<AtomicUsize>,
}

impl Tap {
    fn new() -> Tap {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Tap { address, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Asserts that the run ended because of the configuration, and named each of these keys with its line.
#[track_caller]
fn refused(run: Run, lab: &Lab, keys: &[&str]) {
    let run = run.exits(1).leaves_nothing().says_not(PASSWORD);
    let text = fs::read_to_string(lab.path("evidence.yaml")).unwrap();
    for key in keys {
        let name = key.rsplit('.').next().unwrap();
        let line =
            text.lines().position(|line| line.trim_start().starts_with(&format!("{name}:"))).unwrap() + 1;
        let problem = run.stderr.split("error[").find(|problem| problem.starts_with(&format!("{key}]")));
        let problem = problem.unwrap_or_else(|| panic!("{key} is not in\n{}", run.stderr));
        assert!(problem.contains(&format!("--> ./evidence.yaml:{line}:")), "{problem}");
        assert!(problem.contains(SENTENCE), "{problem}");
    }
    assert_eq!(run.stderr.matches(SENTENCE).count(), keys.len(), "{}", run.stderr);
    assert!(lab.requested().is_empty());
}

/// The attack: a folder whose configuration sends any variable to any address.
#[test]
fn a_strangers_folder_sends_nothing_anywhere() {
    let tap = Tap::new();
    let proxy = format!("http://{}", tap.address);
    let stranger = "https://stranger.example";
    let lab = lab().env("HTTPS_PROXY", &proxy).env("EVIDENCE_API_KEY", UPLOAD_KEY);
    let upload = format!("upload:\n  api_key_env: DATABASE_PASSWORD\n  platform_url: {stranger}\n");
    let lab = lab.with(|config| {
        config
            .source("token_env", "DATABASE_PASSWORD")
            .source("api_url", stranger)
            .source("ca_file", "key.pub.pem")
            .rest(&upload)
            .rest(&format!("  retention_days: 1\n  {}: {stranger}/upload\n", "api_url"))
    });
    let sources = ["token_env", "api_url", "ca_file"].map(|key| format!("sources.codehost.{key}"));
    let everything: Vec<&str> =
        sources.iter().map(String::as_str).chain(["upload.api_key_env", "upload.platform_url"]).collect();
    for arguments in
        [&["--dry-run"][..], &[], &["--quiet"], &["--verbose"], &["--upload"], &["--upload", "--dry-run"]]
    {
        let run = lab.collect(arguments).exits(1).leaves_nothing().says_not(PASSWORD);
        for key in everything.iter().chain(&["upload.api_url"]) {
            assert!(run.stderr.contains(&format!("error[{key}]: ")), "{key} is not in\n{}", run.stderr);
        }
        assert!(run.stderr.ends_with("6 problems in ./evidence.yaml\n"), "{}", run.stderr);
        assert_eq!(run.stderr.matches(SENTENCE).count(), 6, "{}", run.stderr);
    }
    // An upload uses only its own section.
    lab.write("bundle.tar.gz", "is not read");
    let run = lab.run(&["upload", "bundle.tar.gz"]).exits(1).says("3 problems in ./evidence.yaml");
    assert!(!run.stderr.contains("sources."), "{}", run.stderr);
    // The address on the command line approves the address, not the variable.
    let run = lab.run(&["upload", "bundle.tar.gz", "--endpoint", stranger]).exits(1).says("1 problem in");
    assert!(run.stderr.contains("error[upload.api_key_env]"), "{}", run.stderr);
    assert_eq!((tap.connections(), lab.requested().len()), (0, 0));
    // Naming the file is the approval, and shows that the proxy would have seen the attack.
    let lab = lab.with(|config| config.source("token_env", "DATABASE_PASSWORD").source("api_url", stranger));
    lab.collect(&["--dry-run", "--config", "evidence.yaml"]).exits(2).says_not(PASSWORD);
    assert!(tap.connections() > 0);
}

/// On this machine, a host sees what arrives.
#[test]
fn only_a_named_file_sends_another_programs_variable() {
    let lab = lab().with(|config| config.source("token_env", "DATABASE_PASSWORD"));
    for arguments in [&[][..], &["--dry-run"], &["--quiet"]] {
        refused(lab.collect(arguments), &lab, &["sources.codehost.token_env"]);
    }
    let head = "  codehost  DATABASE_PASSWORD  http://127.0.0.1:";
    lab.collect(&["--config", "./evidence.yaml", "--dry-run"]).exits(0).says(head).says_not(PASSWORD);
    assert!(!lab.requested().is_empty());
    lab.collect(&["-c", "evidence.yaml"]).exits(0).says(head);
}

#[test]
fn variables_of_the_use_need_no_approval() {
    for (variable, good) in [
        ("GH_TOKEN", true),
        ("GITHUB_TOKEN", true),
        ("CODEHOST_AUDIT", true),
        ("GHTOKEN", false),
        ("gh_token", false),
        ("MY_GH_TOKEN", false),
        ("AWS_SECRET_ACCESS_KEY", false),
        ("EVIDENCE_API_KEY", false),
    ] {
        for name in [variable.to_string(), format!("{variable}_FILE")] {
            let lab = lab().with(|config| config.source("token_env", variable));
            lab.write("token", PASSWORD);
            let value = if name == variable { PASSWORD } else { "token" };
            let lab = lab.env(&name, value);
            if good {
                let head = format!("  codehost  {name}  http://127.0.0.1:");
                lab.collect(&["--dry-run"]).exits(0).says(&head);
            } else {
                refused(lab.collect(&["--dry-run"]), &lab, &["sources.codehost.token_env"]);
            }
        }
    }
}

/// The signing key is in the folder, whatever its path looks like, or the file is named.
#[test]
fn a_signing_key_outside_the_folder_needs_approval() {
    type Change = fn(&Lab);
    type Name<'a> = &'a dyn Fn(&Lab) -> String;
    let outside = tempfile::Builder::new().prefix("evidence-home-").tempdir().unwrap();
    let key = outside.path().join("key.pem");
    let prepared = || {
        let lab = lab().env("HOME", outside.path().to_str().unwrap());
        fs::copy(lab.path("key.pem"), &key).unwrap();
        fs::create_dir(lab.path("keys")).unwrap();
        fs::copy(lab.path("key.pem"), lab.path("keys/key.pem")).unwrap();
        symlink(&key, lab.path("link.pem")).unwrap();
        symlink(outside.path(), lab.path("directory")).unwrap();
        symlink("keys", lab.path("inner")).unwrap();
        lab
    };
    let nothing: Change = |_| {};
    let gone: Change = |lab| fs::remove_file(lab.path("keys/key.pem")).unwrap();
    let absolute = |lab: &Lab, name: &str| lab.path(name).to_str().unwrap().to_string();
    let table: [(Name<'_>, Change, bool); 11] = [
        (&|_| "key.pem".into(), nothing, true),
        (&|_| "./keys/key.pem".into(), nothing, true),
        (&|_| "keys/../key.pem".into(), nothing, true),
        (&|_| "inner/key.pem".into(), nothing, true),
        (&|lab| absolute(lab, "key.pem"), nothing, true),
        (&|_| key.to_str().unwrap().to_string(), nothing, false),
        (&|_| "~/key.pem".into(), nothing, false),
        (&|_| "link.pem".into(), nothing, false),
        (&|_| "directory/key.pem".into(), nothing, false),
        (&|_| "directory/nothing.pem".into(), nothing, true),
        (&|_| "../nothing.pem".into(), gone, false),
    ];
    for (path, change, good) in table {
        let lab = prepared();
        change(&lab);
        let path = path(&lab);
        let lab = lab.with(|config| config.signing("private_key_path", &path));
        if path.contains("nothing") && good {
            // It does not exist, so no key leaves the folder.
            lab.collect(&["--quiet"]).exits(1).says("cannot read the signing key").leaves_nothing();
        } else if good {
            assert_eq!(lab.collect(&["--quiet"]).code, Some(0), "{path}");
        } else {
            refused(lab.collect(&["--quiet"]), &lab, &["bundle.signing.private_key_path"]);
            if !path.contains("nothing") {
                lab.collect(&["--quiet", "--config", "evidence.yaml"]).exits(0);
            }
        }
    }
}

/// The credentials file of a service account names an address too.
#[test]
fn the_address_in_a_credentials_file_is_an_origin() {
    let tap = Tap::new();
    let workspace = sandbox::demo_workspace().serve().unwrap();
    let file = Workspace::service_account_file(&workspace);
    let section = format!(
        "  altcloud:\n    mode: service_account\n    admin_email: {}\n    api_url: {}\nbundle:\n",
        sandbox::DEMO_WORKSPACE_ADMIN,
        workspace.url()
    );
    let lab = lab()
        .env("HTTPS_PROXY", &format!("http://{}", tap.address))
        .env("GOOGLE_APPLICATION_CREDENTIALS", "credentials.json");
    let text = lab.config().text().replace("bundle:\n", &section);
    let text = text
        .replace("    admin_email", "    credentials_env: GOOGLE_APPLICATION_CREDENTIALS\n    admin_email");
    lab.write("evidence.yaml", text);
    let with_address = |address: &str| {
        let mut file: serde_json::Value = serde_json::from_str(&file).unwrap();
        file["token_uri"] = address.into();
        lab.write("credentials.json", file.to_string());
        lab.set_mode("credentials.json", 0o600);
    };
    lab.write("credentials.json", &file);
    lab.set_mode("credentials.json", 0o600);
    lab.collect(&["--quiet"]).exits(0);
    lab.server.clear_log();
    workspace.clear_log();
    for address in [
        "https://stranger.example/token",
        "https://oauth2.googleapis.com.stranger.example/token",
        "https://oauth2.googleapis.com:8443/token",
        "https://stranger.googleapis.com/token",
    ] {
        with_address(address);
        let run = lab.collect(&["--dry-run"]).exits(1).says(SENTENCE).says("GOOGLE_APPLICATION_CREDENTIALS");
        let origin = address.trim_end_matches("/token");
        assert!(run.stderr.contains("error[sources.altcloud.credentials_env]: "), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("`{origin}`")), "{}", run.stderr);
    }
    assert_eq!((tap.connections(), lab.requested().len(), workspace.requests().len()), (0, 0, 0));
    with_address("https://stranger.example/token");
    lab.collect(&["--dry-run", "--config", "evidence.yaml"]).exits(2).says("https://stranger.example\n");
    assert!(tap.connections() > 0);
}

/// A platform's key begins as one, wherever it comes from and whoever named the file.
#[test]
fn only_a_platforms_key_is_sent_to_a_platform() {
    let platform = platform();
    let url = platform.url();
    for value in
        [PASSWORD, "correct-horse-battery-staple", "EVP_0123456789", " evp _x", "Bearer evp_0123456789"]
    {
        let lab = lab()
            .env("EVIDENCE_API_KEY", value)
            .env("OTHER", value)
            .with(|config| config.rest(&format!("upload:\n  api_url: {url}\n  api_key_env: OTHER\n")));
        lab.write("bundle.tar.gz", "is not read");
        for arguments in [
            &["upload", "bundle.tar.gz", "--config", "evidence.yaml"][..],
            &["upload", "bundle.tar.gz", "--config", "evidence.yaml", "--endpoint", &url],
            &["collect", "--upload", "--dry-run", "--config", "evidence.yaml"],
            &["collect", "--upload", "--config", "evidence.yaml"],
        ] {
            let run = lab.run(arguments).exits(2).leaves_nothing().says("keys begin with evp_");
            assert!(!run.all().contains(value), "{}", run.all());
        }
        fs::remove_file(lab.path("evidence.yaml")).unwrap();
        lab.run(&["upload", "bundle.tar.gz", "--endpoint", &url]).exits(2).says("keys begin with evp_");
    }
    assert!(platform.requests().is_empty());
}

/// A platform on this machine needs no approval; another one needs the file's name, or its own address.
#[test]
fn an_upload_from_a_folder() {
    let (near, other) = (platform(), platform());
    let lab = lab().env("EVIDENCE_API_KEY", UPLOAD_KEY);
    let of =
        |config: Config, url: &str, more: &str| config.rest(&format!("upload:\n  api_url: {url}\n{more}"));
    let lab = lab.with(|config| of(config, &near.url(), ""));
    let head = "  platform  EVIDENCE_API_KEY  http://127.0.0.1:";
    let bundle = lab.collect(&["--upload"]).exits(0).says(head).bundle().path;
    let bundle = bundle.to_str().unwrap();
    lab.run(&["upload", bundle]).exits(0).says(head).says_not("CODEHOST_TOKEN");
    let run = lab.run(&["upload", bundle, "--quiet"]).exits(0);
    assert_eq!(run.stderr, "");
    near.clear_log();
    // Neither the address nor the page of the folder's configuration counts beside the one on the command line.
    for own in [other.url(), "https://stranger.example".to_string()] {
        let lab = {
            let page = "  platform_url: https://stranger.example\n";
            lab.write("evidence.yaml", of(lab.config(), &own, page).text());
            &lab
        };
        lab.run(&["upload", bundle]).exits(1).says("error[upload.platform_url]").says(SENTENCE);
        let run = lab.run(&["upload", bundle, "--endpoint", &other.url(), "--quiet"]).exits(0);
        assert!(run.stdout.starts_with(&other.url()), "{}", run.stdout);
        // Named, its page counts.
        let all = ["upload", bundle, "--endpoint", &other.url(), "--quiet", "--config", "evidence.yaml"];
        let page = if own == other.url() { "https://stranger.example" } else { &other.url() };
        let run = lab.run(&all).exits(0);
        assert!(run.stdout.starts_with(page), "{}", run.stdout);
    }
    assert!(near.requests().is_empty());
}

/// The head of a run, in every kind of run but a quiet one, and never a value.
#[test]
fn a_run_names_each_origin_first() {
    let platform = platform();
    let lab = lab().env("EVIDENCE_API_KEY", UPLOAD_KEY);
    let lab = lab.with(|config| config.rest(&format!("upload:\n  api_url: {}\n", platform.url())));
    for (arguments, lines) in [
        (&[][..], 1),
        (&["--verbose"], 1),
        (&["--dry-run"], 1),
        (&["--upload", "--dry-run"], 2),
        (&["--upload"], 2),
        (&["--quiet"], 0),
    ] {
        let run = lab.collect(arguments).exits(0).says_not(UPLOAD_KEY);
        let head: Vec<&str> = run
            .stderr
            .lines()
            .skip_while(|line| *line != "Credentials")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .collect();
        assert_eq!(head.len(), lines, "{}", run.stderr);
        let code_host = format!(
            "  codehost  {:<w$}  {}",
            "CODEHOST_TOKEN",
            lab.server.url(),
            w = if lines == 2 { 16 } else { 14 }
        );
        assert!(head.first().is_none_or(|line| **line == *code_host), "{code_host:?} {head:?}");
        if let Some(last) = head.get(1) {
            assert_eq!(*last, format!("  platform  EVIDENCE_API_KEY  {}", platform.url()));
        }
        let connections = run.stderr.find("\nConnections\n");
        assert!(lines == 0 || run.stderr.find("\nCredentials\n") < connections, "{}", run.stderr);
    }
}
