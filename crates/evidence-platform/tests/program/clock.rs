//! A server whose clock is ahead of what its database knows: it says so, and deletes after `--accept-clock`.

use crate::process::{Home, Serving, client};
use crate::support::{bundles, content_digest};

#[tokio::test]
async fn a_clock_that_is_ahead_is_accepted_by_the_operator_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.serve = vec!["--min-retention-days", "0"];
    let key = home.organization(directory.path());
    let client = client();
    let serving = Serving::start(&home, "127.0.0.1:0");
    let bytes = bundles::bundle(1);
    let upload = client.post(format!("{}/api/v1/bundles?retention_days=0", serving.url)).bearer_auth(&key);
    let upload = upload.header("content-digest", content_digest(&bytes)).body(bytes);
    let stored: serde_json::Value = upload.send().await.unwrap().json().await.unwrap();
    let path = format!("/api/v1/bundles/{}", stored["bundle_id"].as_str().unwrap());
    let delete = async |serving: &Serving| {
        let answer = client.delete(format!("{}{path}", serving.url)).bearer_auth(&key).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    serving.terminate();

    // As if two years had passed, or the clock had jumped.
    sqlx::any::install_default_drivers();
    let file = directory.path().join("data/platform.sqlite");
    let pool = sqlx::AnyPool::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::query("UPDATE clock SET seen = seen - 63072000000").execute(&pool).await.unwrap();
    pool.close().await;
    for _ in 0..2 {
        let serving = Serving::start(&home, "127.0.0.1:0");
        let (status, said) = delete(&serving).await;
        assert!(
            status == 409 && said.contains("urn:evidence-platform:problem:clock-ahead"),
            "{status} {said}"
        );
        let (_, log) = serving.terminate();
        assert!(log.contains("no leftovers are removed, and no bundle can be deleted"), "{log}");
        assert!(log.contains("--accept-clock"), "{log}");
    }
    home.serve = vec!["--accept-clock", "--min-retention-days", "0"];
    let serving = Serving::start(&home, "127.0.0.1:0");
    assert_eq!(delete(&serving).await.0, 204);
    let (_, log) = serving.terminate();
    assert!(log.contains("the clock is accepted") && !log.contains("no bundle can be deleted"), "{log}");
}
