//! Commands at the wrong place: they name it, and create nothing.

use std::net::TcpListener;

use crate::process::Home;

fn complaint(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

const COMMANDS: [&[&str]; 7] = [
    &["organization", "list"],
    &["organization", "create", "Acme", "--slug", "acme"],
    &["key", "list", "--organization", "acme"],
    &["key", "create", "--organization", "acme", "--role", "admin"],
    &["key", "revoke", "--organization", "acme", "evp_0000000000000000"],
    &["trust", "add", "--organization", "acme", "/dev/null"],
    &["audit-log"],
];

#[test]
fn only_serve_and_init_create_a_platform() {
    let directory = tempfile::tempdir().unwrap();
    let missing = Home::local(directory.path());
    let mut empty = Home::default();
    let folder = directory.path().join("empty");
    std::fs::create_dir(&folder).unwrap();
    empty.variables.push(("EVIDENCE_PLATFORM_DATA".into(), folder.to_str().unwrap().to_owned()));
    let mut file = Home::default();
    file.variables.push(("EVIDENCE_PLATFORM_DATA".into(), "/dev/null".to_owned()));
    for (home, folder) in
        [(&missing, directory.path().join("data")), (&empty, folder.clone()), (&file, "/dev/null".into())]
    {
        for arguments in COMMANDS {
            let said = complaint(home, arguments);
            let expected = format!(
                "error: there is no platform in {}: name its folder with --data, or create a platform with \
                 `evidence-platform init`\n",
                folder.display()
            );
            assert_eq!(said, expected, "{arguments:?}");
        }
    }
    assert!(!directory.path().join("data").exists());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);

    let said = missing.ask(&["init"]);
    assert!(
        said.starts_with(&format!("the platform is in {}", directory.path().join("data").display())),
        "{said}"
    );
    assert!(said.contains("organization create \"ACME Corp\" --slug acme"), "{said}");
    let key = missing.organization(directory.path());
    // A second time it changes nothing.
    assert_eq!(missing.ask(&["init"]).lines().count(), 1);
    assert!(missing.ask(&["key", "list", "--organization", "acme"]).starts_with(&key[..20]));
}

/// With PostgreSQL the platform is in the database.
#[tokio::test]
async fn a_database_without_a_platform_is_named() {
    let Ok(url) = std::env::var("EVIDENCE_TEST_POSTGRES") else {
        crate::support::loudly(
            "SKIPPED: PostgreSQL; set EVIDENCE_TEST_POSTGRES=postgres://user@host/database",
        );
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    let url = crate::support::fresh_schema(&url).await;
    home.variables.push(("EVIDENCE_PLATFORM_DATABASE".into(), url));
    assert!(complaint(&home, &["organization", "list"]).contains("there is no platform in "));
    std::fs::create_dir(directory.path().join("data")).unwrap();
    for arguments in COMMANDS {
        assert_eq!(
            complaint(&home, arguments),
            "error: the database has no platform: `evidence-platform init` creates one\n",
            "{arguments:?}"
        );
    }
    home.organization(directory.path());
    assert!(home.ask(&["organization", "list"]).contains("acme"));
}

#[test]
fn a_key_is_revoked_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    home.organization(directory.path());
    let create = |name| {
        let arguments = ["key", "create", "--organization", "acme", "--role", "read", "--name", name];
        let key = home.ask(&arguments);
        key[..key.rfind('_').unwrap()].to_owned()
    };
    let (ci, one, two) = (create("ci"), create("twice"), create("twice"));
    let revoke = |key| ["key", "revoke", "--organization", "acme", key];
    assert_eq!(home.ask(&revoke("ci")), format!("revoked {ci}"));
    let several = complaint(&home, &revoke("twice"));
    assert!(several.starts_with("error: 2 keys have this name; revoke one by its prefix: "), "{several}");
    assert!(several.contains(&one) && several.contains(&two), "{several}");
    home.ask(&revoke(&one));
    assert_eq!(home.ask(&revoke("twice")), format!("revoked {two}"));
    // A revoked key has given its name free.
    assert_eq!(complaint(&home, &revoke("ci")), "error: no such key\n");
    let again = create("ci");
    assert_eq!(home.ask(&revoke("ci")), format!("revoked {again}"));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |address: &str| {
        let output = home.run(&["serve", "--listen", address]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = serve(&address);
    let expected =
        format!("error: cannot listen at {address}: the port is in use; stop the program that uses it");
    assert!(said.starts_with(&expected) && !said.contains("database"), "{said}");
    let said = serve("192.0.2.7:8321");
    assert!(said.starts_with("error: cannot listen at 192.0.2.7:8321: this machine does not have"), "{said}");
}
