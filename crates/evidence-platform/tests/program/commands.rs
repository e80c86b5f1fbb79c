//! The commands, one after another, as an operator would type them.

use std::io::BufRead as _;

use hyper::Method;

use crate::process::{Home, Serving, client, upload};
use crate::support::bucket::{Bucket, Fault};
use crate::support::bundles;

#[tokio::test]
async fn from_nothing_to_a_stored_bundle() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    // Without an organization the server prints what to do.
    let mut serving = Serving::start(&home, "127.0.0.1:0");
    let mut hints = String::new();
    for _ in 0..4 {
        serving.said.read_line(&mut hints).unwrap();
    }
    assert!(hints.contains("organization create \"ACME Corp\" --slug acme"), "{hints}");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(directory.path().join("data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others can read the data directory");
    // Commands work while the server runs, and take effect at once.
    let key = home.organization(directory.path());
    assert!(key.starts_with("evp_") && !key.contains('\n'), "{key}");
    let client = client();
    let (status, id) = upload(&client, &serving.url, &key, &bundles::bundle(1)).await.unwrap();
    assert_eq!((status, id.len()), (201, 36));
    let list = home.ask(&["key", "list", "--organization", "acme"]);
    let prefix = list.split(' ').next().unwrap();
    assert!(key.starts_with(prefix) && !list.contains(&key));
    assert_eq!(home.ask(&["key", "revoke", "--organization", "acme", prefix]), format!("revoked {prefix}"));
    assert_eq!(upload(&client, &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 401);

    let (well, log) = serving.terminate();
    assert!(well, "{log}");
    let secret = key.rsplit('_').next().unwrap();
    assert!(!log.contains(secret), "{log}");
    let mut requests = 0;
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["message"] == "request" {
            requests += 1;
            assert_eq!(line["route"], "/api/v1/bundles");
            assert_eq!(line["request_id"].as_str().unwrap().len(), 24);
        }
    }
    assert_eq!(requests, 2, "{log}");
}

#[tokio::test]
async fn a_storage_that_refuses_is_a_500_and_in_the_log_once_a_minute() {
    let directory = tempfile::tempdir().unwrap();
    let bucket = Bucket::start().await;
    bucket.fail(Method::PUT, Fault::Status(403));
    let mut home = Home::local(directory.path());
    for (name, value) in [
        ("EVIDENCE_PLATFORM_STORAGE", "s3://evidence/here".to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://{}", bucket.address)),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
    ] {
        home.variables.push((name.into(), value));
    }
    let key = home.organization(directory.path());
    let serving = Serving::start(&home, "127.0.0.1:0");
    let client = client();
    for number in 0..5 {
        let (status, _) = upload(&client, &serving.url, &key, &bundles::bundle(number)).await.unwrap();
        assert_eq!(status, 500);
    }
    let ready = client.get(format!("{}/readyz", serving.url)).send().await.unwrap();
    assert_eq!(ready.status(), 500);
    let ready: serde_json::Value = ready.json().await.unwrap();
    assert_eq!(ready["type"], "urn:evidence-platform:problem:storage-refused");
    assert_eq!(ready["detail"], "the storage refuses the platform");
    let (_, log) = serving.terminate();
    let lines = || log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let refusals: Vec<_> =
        lines().filter(|line| line["message"] == "the storage refuses the platform").collect();
    assert_eq!(refusals.len(), 1, "{log}");
    assert!(refusals[0]["cause"].as_str().unwrap().contains("403 Forbidden: Made"), "{refusals:?}");
    assert!(lines().any(|line| line["credentials"] == "keys in variables"), "{log}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.organization(directory.path());
    let cases: [(&[&str], &str); 10] = [
        (&["organization", "create", "Again", "--slug", "acme"], "exists already"),
        (&["organization", "create", "X", "--slug", "Not A Slug"], "a-z 0-9 -"),
        (&["key", "create", "--organization", "nobody", "--role", "read"], "no such organization"),
        (&["key", "create", "--organization", "acme", "--role", "root"], "possible values"),
        (&["key", "revoke", "--organization", "acme", "evp_0000000000000000"], "no such key"),
        (&["trust", "add", "--organization", "acme", "/dev/null"], "/dev/null: it is a device, not a file"),
        (&["serve", "--listen", "127.0.0.1"], "invalid"),
        (&["serve", "--trusted-proxies", "10.0.0.0/8,proxy"], "write networks as 10.0.0.0/8"),
        (&["serve", "--retention-days", "9", "--min-retention-days", "10"], "at least --min-retention-days"),
        (&["--storage", "ftp://x", "organization", "list"], "s3://bucket/prefix"),
    ];
    for (arguments, said) in cases {
        let output = home.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?} {text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
    home.variables.push(("EVIDENCE_PLATFORM_DATABASE".into(), "postgres://user:hidden@127.0.0.1:1/x".into()));
    let output = home.run(&["organization", "list"]);
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(!text.contains("hidden"), "{text}");
    assert!(!String::from_utf8_lossy(&home.run(&["--help"]).stdout).contains("hidden"));
    // The same from a file; not from both.
    let file = directory.path().join("database");
    std::fs::write(&file, "postgres://user:hidden@127.0.0.1:1/x\n").unwrap();
    home.variables.push(("EVIDENCE_PLATFORM_DATABASE_FILE".into(), file.to_str().unwrap().to_owned()));
    let both = String::from_utf8(home.run(&["organization", "list"]).stderr).unwrap();
    assert!(
        both.contains("EVIDENCE_PLATFORM_DATABASE and EVIDENCE_PLATFORM_DATABASE_FILE are both set"),
        "{both}"
    );
    home.variables.retain(|(name, _)| name != "EVIDENCE_PLATFORM_DATABASE");
    let from_file = home.run(&["organization", "list"]);
    assert_eq!((from_file.status.code(), &from_file.stdout), (Some(1), &output.stdout));
    assert_eq!(from_file.stderr, output.stderr);
    std::fs::remove_file(&file).unwrap();
    let absent = String::from_utf8(home.run(&["organization", "list"]).stderr).unwrap();
    assert!(absent.contains("(EVIDENCE_PLATFORM_DATABASE_FILE) cannot be read: No such file"), "{absent}");
}

#[tokio::test]
async fn the_operator_reads_what_was_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.serve = vec!["--trusted-proxies", "127.0.0.1,10.0.0.0/8"];
    let serving = Serving::start(&home, "127.0.0.1:0");
    for _ in 0..3 {
        let request = client().get(format!("{}/api/v1/whoami", serving.url)).bearer_auth("evp_guess");
        assert_eq!(request.header("x-forwarded-for", "192.0.2.7").send().await.unwrap().status(), 401);
    }
    let first = home.ask(&["audit-log"]);
    assert_eq!(first.lines().count(), 1, "{first}");
    assert!(first.contains("  key.refuse  address:192.0.2.7  {\"attempts\":1}"), "{first}");
    // The rest of the minute is recorded at the end.
    let (well, log) = serving.terminate();
    assert!(well, "{log}");
    let all = home.ask(&["audit-log", "--limit", "10"]);
    assert!(all.starts_with("20") && all.contains("{\"attempts\":2}"), "{all}");
    assert!(!all.contains("guess") && !log.contains("guess"));
    assert_eq!(log.matches("\"client\":\"192.0.2.7\"").count(), 3, "{log}");
    assert_eq!(home.ask(&["audit-log", "--limit", "1"]), all.lines().next().unwrap());
}

#[test]
fn the_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let data = directory.path().join("data");
    let files =
        || ["platform.sqlite", "platform.sqlite-wal", "platform.sqlite-shm"].map(|name| data.join(name));
    // A directory made by an operator who shares it, and a database made by an older version.
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    for round in ["new", "open to all"] {
        let serving = Serving::start(&home, "127.0.0.1:0");
        if round == "new" {
            home.organization(directory.path());
        }
        for file in files() {
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{round}: {}", file.display());
        }
        // A killed server leaves all three files.
        serving.kill();
        for file in files() {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
    }
    assert!(home.ask(&["organization", "list"]).contains("acme"));
}

#[tokio::test]
async fn health_is_that_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let serving = Serving::start(&home, "0.0.0.0:0");
    let address = serving.url.strip_prefix("http://").unwrap().to_owned();
    let port = address.rsplit(':').next().unwrap();
    let local = format!("127.0.0.1:{port}");
    // Like a container's health check: with the server's own variable, and without access to the data
    // directory.
    let mut asking = Home::default();
    asking.variables.push(("EVIDENCE_PLATFORM_LISTEN".into(), address.clone()));
    asking.variables.push(("EVIDENCE_PLATFORM_DATA".into(), "/proc/absent".into()));
    // A proxy must not be used for this machine.
    asking.variables.push(("http_proxy".into(), "http://127.0.0.1:1".into()));
    assert_eq!(asking.ask(&["health"]), format!("the server at {local} is healthy"));
    assert_eq!(asking.ask(&["health", "--listen", &local]), format!("the server at {local} is healthy"));
    serving.kill();
    let output = asking.run(&["health"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.starts_with(&format!("error: the server at {local} is not healthy: ")), "{said}");
    assert!(said.lines().count() == 1 && output.stdout.is_empty(), "{said}");
}

#[test]
fn a_server_that_says_nothing_or_something_else_is_not_healthy() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (silent, _) = listener.accept().unwrap();
        let (mut other, _) = listener.accept().unwrap();
        // The answer counts only after the request.
        let mut head = [0; 16];
        other.read_exact(&mut head).unwrap();
        other.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").unwrap();
        drop(silent);
    });
    let begun = std::time::Instant::now();
    assert_eq!(Home::default().run(&["health", "--listen", &address]).status.code(), Some(1));
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
    let output = Home::default().run(&["health", "--listen", &address]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("503"), "{said}");
    server.join().unwrap();
}

#[test]
fn what_packages_install() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::default();
    home.variables.push(("SOURCE_DATE_EPOCH".into(), "1795251913".into()));
    home.ask(&["man", "--output", directory.path().to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let title = ".TH evidence-platform-key-create 1 2026-11-21 \"evidence-platform ";
    assert!(page("evidence-platform-key-create.1").contains(title));
    assert!(page("evidence-platform.1").contains("evidence\\-platform\\-serve(1)"));
    assert!(page("evidence-platform-serve.1").contains("EVIDENCE_PLATFORM_LISTEN"));
    for shell in ["bash", "zsh", "fish"] {
        let script = home.ask(&["completions", shell]);
        assert!(script.contains("max-bundle-size") && script.contains("audit-log"), "{shell}");
    }
}

/// A scheduler mails standard error, so no command fails in silence.
#[test]
fn no_command_fails_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    home.organization(directory.path());
    let file = directory.path().join("file");
    std::fs::write(&file, "no key").unwrap();
    let file = file.to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for arguments in [
        &["init"][..],
        &["serve", "--listen", &taken],
        &["organization", "create", "Acme", "--slug", "acme"],
        &["key", "create", "--organization", "nobody", "--role", "upload"],
        &["key", "revoke", "--organization", "acme", "evp_0000000000000000"],
        &["trust", "add", "--organization", "acme", file],
        &["trust", "add", "--organization", "acme", "/nowhere"],
        &["audit-log", "--organization", "nobody"],
        &["health", "--listen", "127.0.0.1:1"],
        &["man", "--output", file],
        &["nonsense"],
        &[],
    ] {
        let output = home.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        if arguments == ["init"] && output.status.success() {
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(!said.trim().is_empty(), "{arguments:?} fails in silence");
    }
}
