//! Answers in gzip: the same bytes as without, and never a download.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::running::{Answer, Running};
use crate::support::bundles;

#[tokio::test]
async fn text_is_compressed_for_those_who_take_it() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let stored = running.upload(&tenant.upload, &bundles::bundle(1)).await;
    let id = stored.json["bundle_id"].as_str().unwrap().to_owned();
    let session = running.sign_in(&tenant.read).await;
    let get = async |path: &str, coding: Option<&str>| {
        let mut request = running.client.get(running.url(path)).header("cookie", &session);
        if path.starts_with("/api") {
            request = request.bearer_auth(&tenant.admin);
        }
        if let Some(coding) = coding {
            request = request.header("accept-encoding", coding);
        }
        Answer::of(request.send().await.unwrap()).await
    };
    for path in [
        "/bundles".to_owned(),
        format!("/bundles/{id}"),
        format!("/bundles/{id}/report/frame"),
        format!("/bundles/{id}/checks.csv"),
        "/assets/style.css".to_owned(),
        "/api/v1/openapi.json".to_owned(),
        "/api/v1/audit-log".to_owned(),
        "/bundles/none".to_owned(),
    ] {
        let plain = get(&path, None).await;
        assert!(plain.headers.get("content-encoding").is_none(), "{path}");
        let vary: Vec<_> =
            plain.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
        assert!(vary.join(",").contains("Accept-Encoding"), "{path}: {vary:?}");
        assert!(get(&path, Some("br, gzip;q=0")).await.headers.get("content-encoding").is_none(), "{path}");
        let packed = get(&path, Some("gzip, deflate, br")).await;
        assert_eq!(packed.status, plain.status);
        if plain.bytes.len() < 1_000 {
            assert!(packed.headers.get("content-encoding").is_none(), "{path}");
            continue;
        }
        assert_eq!(packed.headers["content-encoding"], "gzip", "{path}");
        assert!(packed.headers.get("content-length").is_none(), "{path}");
        let mut text = Vec::new();
        GzDecoder::new(packed.bytes.as_slice()).read_to_end(&mut text).unwrap();
        // Each answer has a request id and a time of its own.
        if path.contains("csv") || path.contains("css") || path.contains("openapi") || path.contains("frame")
        {
            assert!(text == plain.bytes, "{path}");
        }
        assert!(packed.bytes.len() * 4 < text.len() * 3, "{path}: {} of {}", packed.bytes.len(), text.len());
    }
    // The bytes of a bundle and of its files are sent as they are.
    for path in [format!("/bundles/{id}/download"), format!("/api/v1/bundles/{id}/download")] {
        let answer = get(&path, Some("gzip")).await;
        assert!(answer.headers.get("content-encoding").is_none(), "{path}");
        assert!(answer.bytes == bundles::bundle(1), "{path}");
    }
}
