//! `evidence-platform apply --prune`: what the file does not name is retired, and never a bundle.

use super::rows::every_home;
use crate::process::{Serving, client, upload};
use crate::support::bundles;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_file_does_not_name_is_listed_and_retired_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    for home in every_home(directory.path()).await {
        println!("{}", home.name);
        let folder = directory.path().join(format!("files {}", home.name));
        std::fs::create_dir(&folder).unwrap();
        let (file, keys) = (folder.join("organizations.yaml"), folder.join("keys"));
        std::fs::create_dir(&keys).unwrap();
        std::fs::write(folder.join("ci.pub.pem"), bundles::public_pem(&bundles::key())).unwrap();
        std::fs::write(folder.join("old.pub.pem"), bundles::public_pem(&bundles::other_key())).unwrap();
        let (file, keys) = (file.to_str().unwrap(), keys.to_str().unwrap());
        let apply = |text: &str, arguments: &[&str]| {
            std::fs::write(file, text).unwrap();
            let mut all = vec!["apply", file, "--keys", keys];
            all.extend(arguments);
            home.run(&all)
        };
        let done = |text: &str, arguments: &[&str]| {
            let output = apply(text, arguments);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        home.ask(&["init"]);
        let full = "groups:\n  emea: {name: EMEA, keys: {auditors: read, alerts: monitor}}\n  apac: {name: APAC, keys: \
                    {auditors: read}}\norganizations:\n  acme: {name: ACME Corp, group: emea, expect_hours: 26, trust: \
                    [ci.pub.pem, old.pub.pem], keys: {ci: upload, laptop: read}}\n  beta: {name: Beta, group: apac, \
                    expect_hours: 26, trust: [ci.pub.pem], keys: {ci: upload}}\n";
        done(full, &[]);
        let key =
            |name: &str| std::fs::read_to_string(format!("{keys}/{name}.key")).unwrap().trim().to_owned();
        let (acme, laptop, beta, apac) =
            (key("acme-ci"), key("acme-laptop"), key("beta-ci"), key("apac-auditors"));
        let serving = Serving::start(&home, "127.0.0.1:0");
        let status = async |key: &str, path: &str| {
            client()
                .get(format!("{}{path}", serving.url))
                .bearer_auth(key)
                .send()
                .await
                .unwrap()
                .status()
                .as_u16()
        };
        assert_eq!(upload(&client(), &serving.url, &acme, &bundles::bundle(1)).await.unwrap().0, 201);
        let by_old = bundles::signed(2, b"{}\n", &bundles::other_key());
        assert_eq!(upload(&client(), &serving.url, &acme, &by_old).await.unwrap().0, 201);
        let verified = async |id: &str| {
            let url = format!("{}/api/v1/bundles/{id}/verify", serving.url);
            let answer = client().post(url).bearer_auth(&acme).send().await.unwrap();
            answer.json::<serde_json::Value>().await.unwrap()["verified"].as_bool().unwrap()
        };
        let old = "00000000-0000-4000-8000-000000000002";
        assert!(verified(old).await);

        // The file now names less.
        let less = "groups:\n  emea: {name: EMEA, keys: {auditors: read}}\norganizations:\n  acme: {name: ACME Corp, group: \
                    emea, expect_hours: 26, trust: [ci.pub.pem], keys: {ci: upload}}\n";
        let listed = done(less, &[]);
        let prefix = |key: &str| key.rsplit_once('_').unwrap().0.to_owned();
        let other = bundles::other_key().public_key().key_id().to_string();
        for line in [
            "not in the file, left as it is: group apac".to_owned(),
            format!("not in the file, left as it is: key {} of acme: laptop", prefix(&laptop)),
            "not in the file, left as it is: trusted key old.pub.pem of acme".to_owned(),
            "not in the file, left as it is: organization beta".to_owned(),
        ] {
            assert!(listed.lines().any(|found| found == line), "{line}\n{listed}");
        }
        assert!(
            listed.contains("not in the file, left as it is: key ") && listed.contains(" of emea: alerts")
        );
        assert!(listed.ends_with("nothing to change, 5 as in the file\n"), "{listed}");
        assert_eq!(
            (status(&laptop, "/api/v1/bundles").await, status(&apac, "/api/v1/status").await),
            (200, 200)
        );

        // A file that says nothing of keys and trust does not manage them.
        let silent = done(
            "organizations:\n  acme: {name: ACME Corp, group: emea, expect_hours: 26}\n  beta: {name: \
                           Beta, group: apac, expect_hours: 26}\n",
            &["--prune", "--dry-run"],
        );
        assert!(silent.contains("left as it is: trusted key ci.pub.pem of acme"), "{silent}");
        assert!(
            !silent.contains("revoke") && silent.ends_with("nothing to change, 2 as in the file\n"),
            "{silent}"
        );

        // The plan changes nothing; then it is followed, once.
        let wanted = [
            format!("revoke key {} of acme: laptop, read", prefix(&laptop)),
            format!("end trust in {other} for acme: old.pub.pem"),
            format!("revoke key {} of beta: ci, upload", prefix(&beta)),
            "update organization beta: group apac -> none, bundles every 26 h -> nothing".to_owned(),
            format!("revoke key {} of apac: auditors, read", prefix(&apac)),
        ];
        let plan = done(less, &["--prune", "--dry-run"]);
        assert!(wanted.iter().all(|line| plan.lines().any(|found| found == line)), "{plan}");
        assert!(plan.ends_with("7 changes to make, 5 as in the file\n"), "{plan}");
        assert_eq!(
            (status(&laptop, "/api/v1/bundles").await, status(&apac, "/api/v1/status").await),
            (200, 200)
        );
        let pruned = done(less, &["--prune"]);
        assert!(pruned.ends_with("7 changes made, 5 as in the file\n"), "{pruned}");
        let again = done(less, &["--prune"]);
        assert!(again.ends_with("nothing to change, 5 as in the file\n"), "{again}");
        for gone in [&laptop, &beta, &apac] {
            assert_eq!(status(gone, "/api/v1/whoami").await, 401);
        }
        assert_eq!(status(&acme, "/api/v1/whoami").await, 200);
        // What the ended key has signed stays verified; it signs nothing more.
        assert!(verified(old).await);
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let later = bundles::signed(3, b"{}\n", &bundles::other_key());
        assert_eq!(upload(&client(), &serving.url, &acme, &later).await.unwrap().0, 422);
        // Named again, it does not count again by itself.
        let named = done(full, &["--dry-run"]);
        assert!(
            named.contains("in the file, and no longer valid: trusted key old.pub.pem of acme"),
            "{named}"
        );

        // An organization with bundles is not retired by its absence, and nothing else is.
        let without = "organizations:\n  beta: {name: Beta, keys: {}, trust: []}\n";
        let output = apply(without, &["--prune"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{errors}");
        assert!(
            errors.contains("acme (2 bundles)") && errors.contains("`keys: {}` and `trust: []`"),
            "{errors}"
        );
        assert_eq!(status(&acme, "/api/v1/whoami").await, 200);
        assert!(home.ask(&["trust", "list", "--organization", "acme"]).contains("ci.pub.pem"));
        // As the help says: its keys end, its bundles stay.
        let retired =
            "groups:\n  emea: {name: EMEA}\norganizations:\n  acme: {name: ACME Corp, keys: {}, trust: []}\n";
        done(retired, &["--prune"]);
        assert_eq!(status(&acme, "/api/v1/whoami").await, 401);
        let admin = home.ask(&["key", "create", "--organization", "acme", "--role", "admin"]);
        let list = client().get(format!("{}/api/v1/bundles", serving.url)).bearer_auth(&admin);
        let list: serde_json::Value = list.send().await.unwrap().json().await.unwrap();
        assert_eq!(list["items"].as_array().unwrap().len(), 2, "{list}");
        serving.terminate();
        let said = home.ask(&["check", "--all"]);
        assert!(said.starts_with("checked 2 bundles") && said.contains(": 0 damaged"), "{said}");
        let log = home.ask(&["audit-log", "--organization", "acme"]);
        assert!(log.contains("key.revoke") && log.contains("trust.update"), "{log}");
    }
}
