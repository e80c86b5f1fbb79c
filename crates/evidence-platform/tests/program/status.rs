//! `evidence-platform status` as a scheduler runs it.

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

#[tokio::test]
async fn a_late_organization_is_an_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let key = home.organization(directory.path());
    home.ask(&["organization", "create", "Beta", "--slug", "beta", "--expect-hours", "26"]);
    let serving = Serving::start(&home, "127.0.0.1:0");
    assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 201);
    serving.terminate();
    // Nothing is expected of one, and the other is new.
    let said = home.ask(&["status"]);
    assert!(said.starts_with("acme  last bundle "), "{said}");
    assert!(said.ends_with("beta  no bundle yet, expected every 26 h  0 bundles  0 bytes"), "{said}");
    let changed = home.ask(&["organization", "update", "acme", "--expect-hours", "1"]);
    assert!(changed.ends_with("  acme  ACME Corp  (a bundle every 1 h)"), "{changed}");
    assert!(home.ask(&["organization", "list"]).contains("(a bundle every 26 h)"));
    for arguments in [&["status"][..], &["status", "--json"]] {
        let output = home.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.starts_with("error: late: acme since 20"), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        if arguments.len() == 1 {
            assert!(
                text.lines().next().unwrap().contains("  1 bundles  ") && text.contains("  LATE since 20")
            );
        } else {
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["organizations"][0]["late"], true, "{json}");
            assert_eq!(json["organizations"][1]["late"], false, "{json}");
        }
    }
    let output = home.run(&["organization", "update", "acme"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("nothing to change"));
    home.ask(&["organization", "update", "acme", "--expect-nothing"]);
    home.ask(&["status"]);
}
