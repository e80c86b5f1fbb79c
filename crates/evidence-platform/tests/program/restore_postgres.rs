//! The backup and the restore of PostgreSQL as the documentation has them, with the bundles in a bucket.

use std::process::Command;

use super::restore::documented;
use super::rows::every_home;
use crate::process::{Serving, client, upload};
use crate::support::bundles;

/// A database of its own, which the tools of PostgreSQL and the platform both know by its address.
async fn fresh_database(url: &str) -> String {
    sqlx::any::install_default_drivers();
    let name = format!("restore_{}", crate::support::random());
    let pool = sqlx::AnyPool::connect(url).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&pool).await.unwrap();
    pool.close().await;
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_of_postgres_with_a_bucket_loses_no_bundle_and_revives_keys() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(url), Some(_)) = (variable("EVIDENCE_TEST_POSTGRES"), variable("EVIDENCE_TEST_S3")) else {
        crate::support::loudly("SKIPPED: a restore; needs EVIDENCE_TEST_POSTGRES and EVIDENCE_TEST_S3");
        return;
    };
    let programs = variable("EVIDENCE_TEST_POSTGRES_PROGRAMS").unwrap_or_default();
    let directory = tempfile::tempdir().unwrap();
    let mut home = every_home(directory.path()).await.pop().unwrap();
    assert_eq!(home.name, "PostgreSQL, bucket");
    let database = fresh_database(&url).await;
    for (name, value) in &mut home.variables {
        if name == "EVIDENCE_PLATFORM_DATABASE" {
            value.clone_from(&database);
        }
    }
    let run = |script: &str| {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_evidence-platform")).parent().unwrap();
        let path = format!("{programs}:{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.env_clear().envs(home.variables.iter().cloned()).env("PATH", path);
        command.current_dir(directory.path()).args(["-euo", "pipefail", "-c", script]).output().unwrap()
    };
    let sh = |script: &str| {
        let output = run(script);
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let [backup] = <[String; 1]>::try_from(documented("Backup of PostgreSQL")).unwrap();
    let [restore] = <[String; 1]>::try_from(documented("Restore of PostgreSQL")).unwrap();
    let key = home.organization(directory.path());
    let create = |name: &str| {
        home.ask(&["key", "create", "--organization", "acme", "--role", "upload", "--name", name])
    };
    let late = create("late");
    let client = client();
    let serving = Serving::start(&home, "127.0.0.1:0");
    assert_eq!(upload(&client, &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 201);
    // While the server runs.
    sh(&backup);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(directory.path().join("platform.dump")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the copy has the hashes of keys, and what bundles say");
    let (status, id) = upload(&client, &serving.url, &key, &bundles::bundle(2)).await.unwrap();
    assert_eq!(status, 201);
    home.ask(&["key", "revoke", "--organization", "acme", "late"]);
    assert_eq!(upload(&client, &serving.url, &late, &bundles::bundle(3)).await.unwrap().0, 401);
    let younger = create("younger");
    serving.terminate();

    // The storage is newer than the database.
    let keys = sh(&restore);
    assert!(keys.contains("  late  ") && !keys.contains("revoked") && !keys.contains("younger"), "{keys}");
    let serving = Serving::start(&home, "127.0.0.1:0");
    let listed = client.get(format!("{}/api/v1/bundles/{id}", serving.url)).bearer_auth(&key).send();
    assert_eq!(listed.await.unwrap().status(), 404);
    assert_eq!(upload(&client, &serving.url, &younger, &bundles::bundle(3)).await.unwrap().0, 401);
    assert_eq!(
        upload(&client, &serving.url, &late, &bundles::bundle(3)).await.unwrap().0,
        201,
        "valid again"
    );
    home.ask(&["key", "revoke", "--organization", "acme", "late"]);
    assert_eq!(upload(&client, &serving.url, &late, &bundles::bundle(4)).await.unwrap().0, 401);
    // The proof that everything is there, and what is there without a bundle.
    let said = home.ask(&["check", "--all"]);
    let digest = crate::support::digest(&bundles::bundle(2)).to_string();
    assert!(
        said.lines().any(|line| line.contains("blob-without-bundle") && line.contains(&digest)),
        "{said}"
    );
    assert!(said.starts_with("checked 2 bundles") || said.contains("checked 2 bundles"), "{said}");
    assert!(said.ends_with(": 0 damaged, 1 blobs without a bundle"), "{said}");
    // An upload of the same bytes adopts the blob.
    assert_eq!(upload(&client, &serving.url, &key, &bundles::bundle(2)).await.unwrap(), (201, id));
    let said = home.ask(&["check", "--all"]);
    assert!(said.ends_with(": 0 damaged, 0 blobs without a bundle"), "{said}");
    // What may not change still cannot: the triggers are there.
    let pool = sqlx::AnyPool::connect(&database).await.unwrap();
    let refused = sqlx::query("DELETE FROM audit_log").execute(&pool).await.unwrap_err().to_string();
    assert!(refused.contains("append"), "{refused}");
    serving.terminate();
}
