//! The commands, one after another, as an operator would type them.

use std::io::BufRead as _;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

#[tokio::test]
async fn from_nothing_to_a_stored_bundle() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    // Without an organization the server says what to do.
    let mut serving = Serving::start(&home, "127.0.0.1:0");
    let mut hints = String::new();
    for _ in 0..4 {
        serving.said.read_line(&mut hints).unwrap();
    }
    assert!(hints.contains("organization create \"ACME Corp\" --slug acme"), "{hints}");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(directory.path().join("data")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others can read the data directory");
    // Commands work beside the server, and count at once.
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

#[test]
fn what_cannot_be_done_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.organization(directory.path());
    let cases: [(&[&str], &str); 8] = [
        (&["organization", "create", "Again", "--slug", "acme"], "exists already"),
        (&["organization", "create", "X", "--slug", "Not A Slug"], "a-z 0-9 -"),
        (&["key", "create", "--organization", "nobody", "--role", "read"], "no such organization"),
        (&["key", "create", "--organization", "acme", "--role", "root"], "possible values"),
        (&["key", "revoke", "--organization", "acme", "evp_0000000000000000"], "no such key"),
        (&["trust", "add", "--organization", "acme", "/dev/null"], "the key is empty"),
        (&["serve", "--listen", "127.0.0.1"], "invalid"),
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
}
