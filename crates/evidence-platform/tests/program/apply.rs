//! `evidence-platform apply`: a file of organizations, and what it changes.

use std::path::Path;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

/// Every available database, each with its name.
pub(crate) async fn homes(directory: &Path) -> Vec<Home> {
    let mut homes = vec![Home::local(&directory.join("sqlite"))];
    std::fs::create_dir(directory.join("sqlite")).unwrap();
    match std::env::var("EVIDENCE_TEST_POSTGRES") {
        Ok(url) => {
            std::fs::create_dir(directory.join("postgres")).unwrap();
            let mut home = Home::local(&directory.join("postgres"));
            home.name = "PostgreSQL, directory".into();
            let schema = crate::support::fresh_schema(&url).await;
            home.variables.push(("EVIDENCE_PLATFORM_DATABASE".into(), schema));
            homes.push(home);
        }
        Err(_) => crate::support::loudly(
            "SKIPPED: PostgreSQL; set EVIDENCE_TEST_POSTGRES=postgres://user@host/database",
        ),
    }
    homes
}

#[tokio::test]
async fn a_file_is_applied_once_and_again_without_a_change() {
    let directory = tempfile::tempdir().unwrap();
    for home in homes(directory.path()).await {
        println!("{}", home.name);
        let folder = directory.path().join(home.name.replace([' ', ','], ""));
        std::fs::create_dir(&folder).unwrap();
        let (file, keys) = (folder.join("organizations.yaml"), folder.join("keys"));
        std::fs::create_dir(&keys).unwrap();
        std::fs::write(folder.join("ci.pub.pem"), bundles::public_pem(&bundles::key())).unwrap();
        let wanted = "groups:\n  emea:\n    name: EMEA\n    keys: {auditors: read}\norganizations:\n  acme:\n    \
                      name: ACME Corp\n    group: emea\n    expect_hours: 26\n    trust: [ci.pub.pem]\n    \
                      keys: {ci: upload}\n  beta:\n    name: Beta\n";
        std::fs::write(&file, wanted).unwrap();
        let (file, keys) = (file.to_str().unwrap(), keys.to_str().unwrap());
        home.ask(&["init"]);
        home.ask(&["organization", "create", "Gamma", "--slug", "gamma"]);
        home.ask(&["organization", "create", "Bet", "--slug", "beta", "--expect-hours", "24"]);

        let plan = home.ask(&["apply", file, "--dry-run"]);
        let expected = [
            "not in the file, left as it is: organization gamma".to_owned(),
            "create group emea: EMEA".to_owned(),
            "create organization acme: ACME Corp, group emea, a bundle every 26 h".to_owned(),
            format!("trust {} for acme: ci.pub.pem", bundles::key().public_key().key_id()),
            "update organization beta: name Bet -> Beta, bundles every 24 h -> nothing".to_owned(),
            "create key auditors for emea: read".to_owned(),
            "create key ci for acme: upload".to_owned(),
        ];
        let lines: Vec<&str> = plan.lines().collect();
        assert_eq!(lines[..7], expected.iter().map(String::as_str).collect::<Vec<_>>()[..], "{plan}");
        assert_eq!(lines[7], "6 changes to make, 0 as in the file");
        assert!(!home.ask(&["organization", "list"]).contains("acme"), "a dry run changed something");
        assert_eq!(std::fs::read_dir(keys).unwrap().count(), 0);

        let output = home.run(&["apply", file]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("2 new API keys") && errors.contains("--keys"), "{errors}");
        assert!(!home.ask(&["organization", "list"]).contains("acme"));

        let done = home.ask(&["apply", file, "--keys", keys]);
        assert_eq!(done.lines().last(), Some("6 changes made, 0 as in the file"), "{done}");
        assert_eq!(done.lines().count(), 8);
        for arguments in
            [&["apply", file, "--keys", keys][..], &["apply", file], &["apply", file, "--dry-run"]]
        {
            let again = home.ask(arguments);
            assert_eq!(again.lines().last(), Some("nothing to change, 6 as in the file"), "{again}");
        }
        assert!(
            home.ask(&["organization", "list"])
                .contains("  acme  ACME Corp  (a bundle every 26 h)  (group emea)")
        );
        assert!(home.ask(&["group", "list"]).ends_with("  emea  EMEA  (1 organization)"));

        // The keys work, and only their owner can read them.
        use std::os::unix::fs::PermissionsExt as _;
        let key = std::fs::read_to_string(format!("{keys}/acme-ci.key")).unwrap();
        let mode = std::fs::metadata(format!("{keys}/acme-ci.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let serving = Serving::start(&home, "127.0.0.1:0");
        let (status, _) = upload(&client(), &serving.url, key.trim(), &bundles::bundle(1)).await.unwrap();
        assert_eq!(status, 201);
        let auditors = std::fs::read_to_string(format!("{keys}/emea-auditors.key")).unwrap();
        let url = format!("{}/api/v1/organizations", serving.url);
        let fleet = client().get(url).bearer_auth(auditors.trim()).send().await.unwrap();
        let fleet: serde_json::Value = fleet.json().await.unwrap();
        assert_eq!(fleet["organizations"][0]["organization"], "acme", "{fleet}");
        assert!(home.ask(&["key", "list", "--group", "emea"]).contains("  read  "));
        drop(serving);

        // Interrupted between the file of a key and the platform: the next run takes the key of the file.
        home.ask(&["key", "revoke", "--group", "emea", "auditors"]);
        let fresh = evidence_platform::secret::ApiKey::random().unwrap();
        std::fs::write(format!("{keys}/emea-auditors.key"), format!("{}\n", fresh.reveal())).unwrap();
        let done = home.ask(&["apply", file, "--keys", keys]);
        assert_eq!(done.lines().last(), Some("1 change made, 5 as in the file"), "{done}");
        assert!(home.ask(&["key", "list", "--group", "emea"]).contains(fresh.prefix()));

        // The group has an audit log too.
        let log = home.ask(&["audit-log", "--organization", "emea"]);
        assert!(log.contains("group.create") && log.contains("key.revoke"), "{log}");

        // What cannot become true changes nothing.
        for (text, part) in [
            (
                "organizations:\n  new: {name: New}\n  acme: {name: A, group: none}\n",
                "there is no group none",
            ),
            ("groups:\n  acme: {name: A}\n", "acme is an organization, not a group"),
            ("organizations:\n  emea: {name: A}\n", "emea is a group, not an organization"),
            (
                "organizations:\n  new: {name: New}\n  acme: {name: A, keys: {ci: read}}\n",
                "has the role upload",
            ),
            ("organizations:\n  new: {name: New}\n  Acme!: {name: A}\n", "a slug has"),
            ("organizations:\n  new: {name: New, trust: [none.pem]}\n", "none.pem"),
            ("organizations:\n  new: {nome: New}\n", "nome"),
            ("groups:\n  new: {name: New, keys: {ci: upload}}\n", "only looks"),
        ] {
            std::fs::write(file, text).unwrap();
            let output = home.run(&["apply", file, "--keys", keys]);
            let errors = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && errors.contains(part), "{text}: {errors}");
            assert!(!home.ask(&["organization", "list"]).contains("  new  "), "{text}");
        }
        // Two owners, or none.
        for arguments in [&["key", "list"][..], &["key", "list", "--organization", "acme", "--group", "emea"]]
        {
            assert!(!home.run(arguments).status.success());
        }
    }
}
