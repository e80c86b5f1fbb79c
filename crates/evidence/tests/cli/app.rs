//! Signing in as an app, as a user sees it.

use sandbox::codehost::{App, CodeHost, File, Installation, Organization};

use crate::common::{Lab, acme, sound};

fn host(installation: Installation) -> CodeHost {
    let app = App::new(12, "evidence-reader").installed(installation);
    acme().organization(Organization::new("acme").two_factor(true)).repository(sound("web")).app(app)
}

fn granted() -> Installation {
    ["administration", "contents", "organization_administration"]
        .into_iter()
        .fold(Installation::new(77, "acme"), |installation, name| installation.permission(name, "read"))
}

/// A lab that signs in with a key in a file.
fn lab(installation: Installation) -> Lab {
    let lab = Lab::new(host(installation)).without_env("CODEHOST_TOKEN").with(|config| {
        config.source("mode", "app").source("app_id", "12").source("private_key_path", "app.pem")
    });
    lab.write("app.pem", App::private_key());
    lab.set_mode("app.pem", 0o600);
    lab
}

#[test]
fn the_bundle_proves_what_the_app_could_read() {
    let lab = lab(granted());
    let run = lab.collect(&["--verbose"]).exits(0);
    let bundle = run.bundle();
    let run_record = bundle.json("run.json");
    let app = &run_record["sources"][0]["identity"]["app"];
    assert_eq!(
        *app,
        serde_json::json!({
            "app_id": 12, "slug": "evidence-reader", "installation_id": 77, "repository_selection": "all",
            "permissions": {
                "administration": "read", "contents": "read", "metadata": "read",
                "organization_administration": "read",
            },
        })
    );
    // Neither the token nor the proof is in the output or the bundle.
    let everything: Vec<u8> = bundle.entries.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let everything = format!("{}{}", String::from_utf8_lossy(&everything), run.all());
    for secret in ["ghs_", "eyJ", "BEGIN RSA"] {
        assert!(!everything.contains(secret), "{secret}");
    }
    let path = bundle.path.to_string_lossy().into_owned();
    let verify = lab.run(&["verify", "--public-key", "key.pub.pem", &path]).exits(0);
    let access = "codehost by app 12 (evidence-reader), installation 77, all repositories; granted administration: read, \
                  contents: read, metadata: read, organization_administration: read";
    assert!(verify.stdout.contains(access), "{}", verify.stdout);
    let json = lab.run(&["verify", "--public-key", "key.pub.pem", "--json", &path]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["apps"][0]["source"], "codehost");
    assert_eq!(json["apps"][0]["permissions"]["contents"], "read");
}

#[test]
fn a_missing_permission_ends_the_dry_run_too() {
    let lacking = Installation::new(77, "acme").permission("organization_administration", "read");
    let lab = lab(lacking);
    for arguments in [&["--dry-run"][..], &[]] {
        lab.collect(arguments)
            .exits(2)
            .says("does not have the permission Administration: read, Contents: read, which the configured rules need");
    }
}

#[test]
fn the_key_is_the_owner_s_alone_and_an_rsa_key() {
    let lab = lab(granted());
    lab.set_mode("app.pem", 0o644);
    lab.collect(&[]).exits(2).says("app.pem can be read by other users (mode 644)").says("chmod 600");
    lab.set_mode("app.pem", 0o600);
    lab.write("app.pem", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n");
    lab.collect(&[]).exits(2).says("app.pem is not a private key in PEM form");
    std::fs::remove_file(lab.path("app.pem")).unwrap();
    lab.collect(&[]).exits(2).says("cannot read the app's private key app.pem");
    assert!(lab.requested().is_empty());
}

#[test]
fn a_dry_run_names_the_app_and_counts_its_requests() {
    let lab = lab(granted());
    let run = lab.collect(&["--dry-run"]).exits(0);
    let all = run.all();
    for said in ["app evidence-reader, installation 77", "app.pem"] {
        assert!(all.contains(said), "{said}: {all}");
    }
    assert!(!lab.requested().iter().any(|path| path == "/user"));
}

/// The token of a job is not enough, and is named as such.
#[test]
fn the_token_of_a_job_is_named() {
    let lab = Lab::new(host(granted())).without_env("CODEHOST_TOKEN");
    let lab = lab.env("GITHUB_TOKEN", "ghs_NotARealTokenOfAJob00000000000000001");
    lab.collect(&[]).exits(2).says("write `token_env: GITHUB_TOKEN` in sources.codehost");
    let lab = lab.env("GITHUB_ACTIONS", "true");
    lab.collect(&[]).exits(2).says("it is the job's own token").says_not("write `token_env: GITHUB_TOKEN`");
    assert!(lab.requested().is_empty());
}

#[test]
fn init_prints_where_to_get_access() {
    let lab = lab(granted());
    let run = lab.run(&["init", "--org", "acme", "--config", "new.yaml"]).exits(0);
    for said in [
        "https://github.com/settings/personal-access-tokens/new?name=evidence&target_name=acme&expires_in=90&metadata=read&\
         organization_administration=read&administration=read&contents=read",
        "https://github.com/organizations/acme/settings/apps/new?name=evidence-acme&public=false&webhook_active=false&",
        "\"default_permissions\": {\"metadata\": \"read\"",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    // The manifest is JSON as it stands.
    let start = run.stdout.find('{').unwrap();
    let end = run.stdout.rfind('}').unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&run.stdout[start..=end]).unwrap();
    assert_eq!(manifest["public"], false);
    assert_eq!(manifest["default_permissions"]["contents"], "read");
}

/// A lab with answers of earlier runs, and two apps.
fn cached() -> Lab {
    let other = ["administration", "contents", "organization_administration"]
        .into_iter()
        .fold(Installation::new(78, "acme"), |installation, name| installation.permission(name, "read"));
    let host = host(granted()).app(App::new(13, "another-reader").installed(other));
    let lab = Lab::new(host).without_env("CODEHOST_TOKEN");
    lab.write("app.pem", App::private_key());
    lab.set_mode("app.pem", 0o600);
    as_app(lab, "12")
}

fn as_app(lab: Lab, app: &str) -> Lab {
    lab.with(|config| {
        let config = config.source("mode", "app").source("app_id", app).source("private_key_path", "app.pem");
        config.source("revalidate", "true")
    })
}

/// How many answers a run took from the cache; and of each request for the file: its status, and whether it was asked by
/// time and by tag.
fn again(lab: &Lab) -> (u64, Vec<(u16, bool, bool)>) {
    lab.server.clear_log();
    let bundle = lab.collect(&[]).exits(0).bundle();
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    let requests = lab.server.requests();
    let of_file = requests.iter().filter(|request| request.path().ends_with("/contents/.github/CODEOWNERS"));
    let asked = of_file.map(|request| {
        let has = |name: &str| request.header(name).is_some();
        (request.status.unwrap(), has("if-modified-since"), has("if-none-match"))
    });
    (bundle.source()["revalidated"].as_u64().unwrap(), asked.collect())
}

/// An app's token is another one in each run, and the host makes its tags with it. The time of a file's last commit stays.
#[test]
fn a_second_run_asks_for_a_file_by_the_time_of_its_last_change() {
    let lab = cached();
    assert_eq!(again(&lab), (0, vec![(200, false, false)]));
    assert_eq!(again(&lab), (1, vec![(304, true, false)]), "the others have only tags, which are void");
    let write = |text: &str, at: &str| {
        lab.server.update(|host| {
            host.change_repository("acme", "web", |repository| {
                repository.file(".github/CODEOWNERS", File::text(text)).files_changed(at)
            });
        });
    };
    let sees = |owner: &str| {
        let bundle = lab.collect(&[]).bundle();
        std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
        let artifact = bundle.artifact("repo_acme_web_codeowners.json").unwrap();
        use base64::Engine as _;
        let content = artifact["content"].as_str().unwrap().replace('\n', "");
        let content = base64::engine::general_purpose::STANDARD.decode(content).unwrap();
        assert!(String::from_utf8(content).unwrap().contains(owner), "{owner}: {artifact}");
    };
    // A later change, one of the same second, and one that was dated back.
    for (owner, at) in [
        ("@acme/later", "Sat, 31 Oct 2026 15:04:05 GMT"),
        ("@acme/same-time", "Sat, 31 Oct 2026 15:04:05 GMT"),
        ("@acme/dated-back", "Thu, 01 Jan 2015 00:00:00 GMT"),
    ] {
        write(&format!("* {owner}\n"), at);
        sees(owner);
        assert_eq!(again(&lab), (1, vec![(304, true, false)]), "{owner}");
    }
}

/// The cache belongs to an app and its installation.
#[test]
fn another_app_does_not_use_the_answers() {
    let lab = cached();
    again(&lab);
    assert_eq!(again(&lab).0, 1);
    let lab = as_app(lab, "13");
    assert_eq!(again(&lab), (0, vec![(200, false, false)]));
    assert_eq!(again(&lab).0, 1);
    let lab = as_app(lab, "12");
    assert_eq!(again(&lab).0, 1, "its own answers are still there");
}
