//! The rows of a bundle are kept when it is uploaded, so that no page reads the whole bundle; whatever a kill, an update
//! or another instance leaves without rows is read in the background.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::apply::homes;
use crate::process::{Home, Serving, client, upload};
use crate::support::{bundles, content_digest, digest};

/// The homes of `apply`, and PostgreSQL with a bucket.
pub(crate) async fn every_home(directory: &Path) -> Vec<Home> {
    let mut homes = homes(directory).await;
    let variable = |name: &str| std::env::var(name).ok();
    let Some(bucket) = variable("EVIDENCE_TEST_S3") else {
        crate::support::loudly("SKIPPED: a bucket; set EVIDENCE_TEST_S3=s3://bucket");
        return homes;
    };
    if let Some(url) = variable("EVIDENCE_TEST_POSTGRES") {
        std::fs::create_dir(directory.join("bucket")).unwrap();
        let mut home = Home::local(&directory.join("bucket"));
        home.name = "PostgreSQL, bucket".into();
        for (name, value) in [
            ("EVIDENCE_PLATFORM_DATABASE", crate::support::fresh_schema(&url).await),
            ("EVIDENCE_PLATFORM_STORAGE", format!("{bucket}/{}", crate::support::random())),
            ("AWS_ENDPOINT_URL", variable("AWS_ENDPOINT_URL").unwrap_or_default()),
            ("AWS_ACCESS_KEY_ID", variable("AWS_ACCESS_KEY_ID").unwrap_or_else(|| "test".into())),
            ("AWS_SECRET_ACCESS_KEY", variable("AWS_SECRET_ACCESS_KEY").unwrap_or_else(|| "test".into())),
        ] {
            home.variables.push((name.into(), value));
        }
        homes.push(home);
    }
    homes
}

/// The files with rows, without those that are being written.
fn kept(home: &Home) -> Vec<PathBuf> {
    let folder = Path::new(&home.variables[0].1).join("rows");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| !file.file_name().unwrap().to_str().unwrap().starts_with('.')).collect();
    files.sort();
    files
}

/// Waits until the rows of these bundles are kept, and returns how long that took.
async fn all_kept(home: &Home, wanted: &[Vec<u8>]) -> Duration {
    let begun = Instant::now();
    loop {
        let files = kept(home);
        let is_kept = |bytes: &Vec<u8>| {
            let name = digest(bytes).to_string();
            files.iter().any(|file| file.file_name().unwrap().to_str().unwrap().starts_with(&name))
        };
        if wanted.iter().all(is_kept) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}: {files:?}", home.name);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A page as a signed-in person sees it, without when the bundle was verified.
async fn page(serving: &Serving, key: &str, path: &str) -> String {
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(30))
        .build()
        .unwrap();
    let form = client.post(format!("{}/sign-in", serving.url)).header("sec-fetch-site", "same-origin");
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let answer = form.body(format!("key={key}&next=")).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let answer = client.get(format!("{}{path}", serving.url)).header("cookie", cookie).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let text = answer.text().await.unwrap();
    match text.split_once("verified to the last byte, ") {
        Some((before, after)) => format!("{before}{}", &after[19..]),
        None => text,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_keeps_its_rows_and_whatever_misses_them_is_read() {
    const BUNDLES: u32 = 6;
    let directory = tempfile::tempdir().unwrap();
    for mut home in every_home(directory.path()).await {
        let folder = Path::new(&home.variables[0].1).parent().unwrap().to_owned();
        let key = home.organization(&folder);
        // Nothing is read in the background: what is kept, the uploads have kept.
        home.serve = vec!["--fill-pace", "0"];
        let serving = Serving::start(&home, "127.0.0.1:0");
        let all: Vec<Vec<u8>> = (0..BUNDLES).map(bundles::bundle).collect();
        let mut ids = Vec::new();
        for bytes in &all {
            let (status, id) = upload(&client(), &serving.url, &key, bytes).await.unwrap();
            assert_eq!(status, 201);
            ids.push(id);
        }
        all_kept(&home, &all).await;
        assert_eq!(kept(&home).len(), all.len());
        // Refused bytes leave nothing.
        let mut wrong = bundles::bundle(77);
        let middle = wrong.len() / 2;
        wrong[middle] ^= 1;
        let request = client().post(format!("{}/api/v1/bundles", serving.url)).bearer_auth(&key);
        let request = request.header("content-digest", content_digest(&wrong)).body(wrong);
        assert_eq!(request.send().await.unwrap().status(), 422);
        assert_eq!(kept(&home).len(), all.len());
        let path = format!("/bundles/{}", ids[0]);
        let from_upload = page(&serving, &key, &path).await;
        serving.terminate();

        // From another version, from another instance, and one that is damaged: the first two are read again, and the
        // page is the same.
        let files = kept(&home);
        for (at, file) in files.iter().enumerate() {
            if at % 2 == 0 {
                let name = file.file_name().unwrap().to_str().unwrap();
                let (digest, _) = name.split_once('.').unwrap();
                std::fs::rename(file, file.with_file_name(format!("{digest}.0.0.0.1"))).unwrap();
            } else {
                std::fs::remove_file(file).unwrap();
            }
        }
        home.serve = Vec::new();
        let serving = Serving::start(&home, "127.0.0.1:0");
        let begun = Instant::now();
        loop {
            let now = kept(&home);
            if files.iter().all(|file| now.contains(file)) {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{}: {now:?}", home.name);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        println!("{}: {BUNDLES} bundles without rows are read after {:?}", home.name, begun.elapsed());
        assert_eq!(page(&serving, &key, &path).await, from_upload);
        let (_, log) = serving.terminate();
        assert!(log.contains("read bundles whose rows were missing"), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_answer_and_the_rows_loses_nothing() {
    const KILLS: u32 = 8;
    let directory = tempfile::tempdir().unwrap();
    for home in every_home(directory.path()).await {
        let folder = Path::new(&home.variables[0].1).parent().unwrap().to_owned();
        let key = home.organization(&folder);
        let (mut acknowledged, mut without) = (Vec::new(), 0);
        for number in 0..KILLS {
            let serving = Serving::start(&home, "127.0.0.1:0");
            let bytes = bundles::bundle(number);
            // Killed the moment that the answer arrives.
            let (status, _) = upload(&client(), &serving.url, &key, &bytes).await.unwrap();
            serving.kill();
            assert_eq!(status, 201);
            acknowledged.push(bytes);
            without = acknowledged.len() - kept(&home).len();
        }
        let serving = Serving::start(&home, "127.0.0.1:0");
        let took = all_kept(&home, &acknowledged).await;
        println!("{}: {KILLS} kills, {without} bundles without rows, read after {took:?}", home.name);
        let list = client().get(format!("{}/api/v1/bundles", serving.url)).bearer_auth(&key);
        let list: serde_json::Value = list.send().await.unwrap().json().await.unwrap();
        assert_eq!(list["items"].as_array().unwrap().len(), acknowledged.len(), "{list}");
        serving.terminate();
        let said = home.ask(&["check", "--all"]);
        assert!(said.ends_with(": 0 damaged, 0 blobs without a bundle"), "{said}");
    }
}
