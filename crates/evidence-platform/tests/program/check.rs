//! `check --all` and the dates of keys as an operator types them.

use crate::process::{Home, Serving, client, upload};
use crate::support::{bundles, digest};

/// The stored file of this bundle.
fn stored(directory: &std::path::Path, bytes: &[u8]) -> std::path::PathBuf {
    let name = digest(bytes).to_string();
    let blobs = directory.join("data/blobs");
    let organization = std::fs::read_dir(blobs).unwrap().map(|entry| entry.unwrap().path());
    let mut found = organization.map(|folder| folder.join(&name[..2]).join(&name));
    found.find(|path| path.exists()).unwrap()
}

#[tokio::test]
async fn damage_is_an_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let key = home.organization(directory.path());
    let serving = Serving::start(&home, "127.0.0.1:0");
    for number in 1..4 {
        assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(number)).await.unwrap().0, 201);
    }
    // While the server runs.
    let said = home.ask(&["check", "--all"]);
    assert!(
        said.starts_with("checked 3 bundles (") && said.ends_with(": 0 damaged, 0 blobs without a bundle")
    );
    serving.terminate();
    let good = bundles::bundle(2);
    let file = stored(directory.path(), &good);
    let mut bytes = good.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    std::fs::remove_file(stored(directory.path(), &bundles::bundle(3))).unwrap();
    let output = home.run(&["check", "--all", "--pace", "100"]);
    let (said, errors) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{said} {errors}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("acme  00000000-0000-4000-8000-000000000002  digest-mismatch"), "{said}");
    assert!(lines[1].starts_with("acme  00000000-0000-4000-8000-000000000003  blob-missing"), "{said}");
    assert!(lines[2].ends_with(": 2 damaged, 0 blobs without a bundle"), "{said}");
    assert!(errors.lines().last().unwrap().starts_with("error: 2 stored bundles are damaged"), "{errors}");
    assert_eq!(errors.matches("a stored bundle is damaged").count(), 2, "{errors}");
    // The server shows what was found.
    let serving = Serving::start(&home, "127.0.0.1:0");
    let metrics = client().get(format!("{}/metrics/organizations", serving.url)).bearer_auth(&key);
    let metrics = metrics.send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("evidence_platform_damaged_bundles{organization=\"acme\"} 2"), "{metrics}");
    serving.terminate();
    // Restored.
    std::fs::write(&file, &good).unwrap();
    let output = home.run(&["check", "--all"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 stored bundle is damaged"));
}

#[tokio::test]
async fn keys_have_dates_and_a_last_use() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let key = home.organization(directory.path());
    let list = |what: &str| home.ask(&[what, "list", "--organization", "acme"]);
    assert!(list("key").ends_with("  never used"), "{}", list("key"));
    let serving = Serving::start(&home, "127.0.0.1:0");
    assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 201);
    home.ask(&[
        "key",
        "create",
        "--organization",
        "acme",
        "--role",
        "read",
        "--name",
        "a b",
        "--expires",
        "30",
    ]);
    let keys = list("key");
    let lines: Vec<&str> = keys.lines().collect();
    assert!(lines[0].contains("  last used 20") && !lines[0].contains("  ends "), "{keys}");
    assert!(lines[1].contains("  a b  never used  ends 20"), "{keys}");
    home.ask(&["key", "revoke", "--organization", "acme", "a b"]);

    let trust = |arguments: &[&str]| {
        let mut all = vec!["trust", arguments[0], "--organization", "acme"];
        all.extend(&arguments[1..]);
        home.run(&all)
    };
    let said = |output: std::process::Output| String::from_utf8(output.stdout).unwrap();
    assert!(list("trust").ends_with("  key.pub.pem"), "{}", list("trust"));
    let ended = said(trust(&["update", "key.pub.pem", "--valid-until", "2026-01-31"]));
    assert!(ended.contains("  until 2026-01-31T23:59:59Z\n"), "{ended}");
    assert!(
        ended.contains("1 stored bundle by this key was received later and no longer verifies"),
        "{ended}"
    );
    assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(2)).await.unwrap().0, 422);
    assert!(!said(trust(&["update", "key.pub.pem", "--valid-until", "none"])).contains("until"));
    assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(2)).await.unwrap().0, 201);
    let fingerprint = bundles::key().public_key().ssh_fingerprint();
    let revoked = said(trust(&["revoke", &fingerprint, "--since", "2026-01-01", "--reason", "lost"]));
    assert!(revoked.contains("  REVOKED since 2026-01-01T00:00:00Z: lost"), "{revoked}");
    assert!(revoked.contains("2 stored bundles by this key were received later"), "{revoked}");
    assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(3)).await.unwrap().0, 422);
    assert!(said(trust(&["remove", "key.pub.pem"])).starts_with("removed sha256:"));
    for (arguments, wanted) in [
        (&["remove", "key.pub.pem"][..], "no such trusted key"),
        (&["update", "x"], "--valid-until"),
        (&["update", "x", "--valid-until", "soon"], "write a day as 2026-11-20"),
    ] {
        let output = trust(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && errors.contains(wanted), "{arguments:?}: {errors}");
    }
    serving.terminate();
}
