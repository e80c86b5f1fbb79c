//! The backup and the restore of the documentation, typed as it says.

use std::process::Command;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

/// The commands of the documentation's section of this name.
pub(crate) fn documented(section: &str) -> Vec<String> {
    let page = include_str!("../../../../docs/platform.md");
    let (_, rest) = page.split_once(&format!("\n### {section}\n")).unwrap();
    let rest = rest.split("\n### ").next().unwrap().split("\n## ").next().unwrap();
    rest.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_restore_revives_keys_and_leaves_blobs_and_the_documentation_says_what_to_do() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        crate::support::loudly("SKIPPED: the documented restore needs sqlite3");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.variables = vec![(
        "EVIDENCE_PLATFORM_DATA".into(),
        directory.path().join("evidence-platform-data").to_str().unwrap().to_owned(),
    )];
    let sh = |script: &str| {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_evidence-platform")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.env_clear().env("PATH", path).current_dir(directory.path());
        let output = command.args(["-euo", "pipefail", "-c", script]).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let [backup, restore, check] = <[String; 3]>::try_from(
        [documented("Backup of SQLite"), documented("Restore"), documented("Blobs without a bundle")]
            .concat(),
    )
    .unwrap();
    let key = home.organization(directory.path());
    let late = home.ask(&["key", "create", "--organization", "acme", "--role", "upload", "--name", "late"]);
    let client = client();
    let serving = Serving::start(&home, "127.0.0.1:0");
    assert_eq!(upload(&client, &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 201);
    sh(&backup);
    // The copy has the hashes of keys, and what bundles say: it is for its owner alone, as what it was copied from.
    let closed = |path: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(directory.path().join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
    };
    ["platform.backup", "blobs.backup", "evidence-platform-data/platform.sqlite"]
        .into_iter()
        .for_each(closed);
    // After the backup.
    let (status, id) = upload(&client, &serving.url, &key, &bundles::bundle(2)).await.unwrap();
    assert_eq!(status, 201);
    home.ask(&["key", "revoke", "--organization", "acme", "late"]);
    assert_eq!(upload(&client, &serving.url, &late, &bundles::bundle(3)).await.unwrap().0, 401);
    serving.terminate();

    // The storage is newer than the database.
    assert_eq!(sh(&check), "");
    sh(&restore);
    closed("evidence-platform-data/platform.sqlite");
    let serving = Serving::start(&home, "127.0.0.1:0");
    let listed =
        |id: &str| client.get(format!("{}/api/v1/bundles/{id}", serving.url)).bearer_auth(&key).send();
    assert_eq!(listed(&id).await.unwrap().status(), 404);
    assert_eq!(
        upload(&client, &serving.url, &late, &bundles::bundle(3)).await.unwrap().0,
        201,
        "valid again"
    );
    home.ask(&["key", "revoke", "--organization", "acme", "late"]);
    assert_eq!(upload(&client, &serving.url, &late, &bundles::bundle(3)).await.unwrap().0, 401);
    let left = sh(&check);
    assert_eq!(left.lines().count(), 1, "{left}");
    assert!(left.trim().ends_with(&crate::support::digest(&bundles::bundle(2)).to_string()), "{left}");
    // An upload of the same bytes adopts the blob.
    assert_eq!(upload(&client, &serving.url, &key, &bundles::bundle(2)).await.unwrap(), (201, id));
    assert_eq!(sh(&check), "");
    serving.terminate();
}
