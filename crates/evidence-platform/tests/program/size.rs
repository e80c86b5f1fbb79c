//! What pages cost on a large platform: a measurement, not a test of bounds.
//!
//! `ORGANIZATIONS=60 BUNDLES=16 CHECKS=300 NIGHTS=40 LARGE=20000 cargo test --workspace --test program -- --ignored size
//! --nocapture`: so many organizations with so many bundles of so many checks, and one more with so many nights of large
//! bundles.

use std::io::Read as _;
use std::time::{Duration, Instant};

use evidence_bundle::Status;
use evidence_bundle::document::Check;
use flate2::read::GzDecoder;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

const DAY: u32 = 1_440;

fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A bundle of this day with so many checks, some of which fail.
fn night(day: u32, checks: u32) -> Vec<u8> {
    let mut parts = bundles::parts(day * DAY);
    let check = parts.normalized.controls[0].checks[0].clone();
    let one = |n: u32| Check {
        subject: format!("acme/repository-{n:05}"),
        status: if (n + day).is_multiple_of(97) { Status::Fail } else { Status::Pass },
        ..check.clone()
    };
    parts.normalized.controls[0].checks = (0..checks).map(one).collect();
    bundles::pack(day * DAY, &parts, &bundles::key(), |_| {})
}

struct Browser {
    client: reqwest::Client,
    url: String,
    cookie: String,
}

impl Browser {
    async fn sign_in(url: &str, key: &str) -> Browser {
        let client = client();
        let form = client.post(format!("{url}/sign-in")).header("sec-fetch-site", "same-origin");
        let form = form.header("content-type", "application/x-www-form-urlencoded");
        // The redirect is followed without the cookie; the cookie is in the first answer.
        let plain = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let form = form.body(format!("key={key}&next=")).build().unwrap();
        let answer = plain.execute(form).await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        Browser { client: plain, url: url.to_owned(), cookie }
    }

    /// The time of a page, its bytes as sent, and its bytes.
    async fn page(&self, path: &str) -> (Duration, usize, usize) {
        let begun = Instant::now();
        let request = self.client.get(format!("{}{path}", self.url)).header("cookie", &self.cookie);
        let answer = request.header("accept-encoding", "gzip").send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let packed = answer.headers().contains_key("content-encoding");
        let sent = answer.bytes().await.unwrap();
        let took = begun.elapsed();
        let mut text = Vec::new();
        if packed {
            GzDecoder::new(&*sent).read_to_end(&mut text).unwrap();
        } else {
            text.extend_from_slice(&sent);
        }
        (took, sent.len(), text.len())
    }

    async fn show(&self, what: &str, path: &str) {
        let (first, sent, bytes) = self.page(path).await;
        let (second, ..) = self.page(path).await;
        println!("{what}: first {first:?}, second {second:?}, {bytes} bytes, {sent} sent");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement that takes minutes"]
async fn pages_of_a_large_platform() {
    let (organizations, bundles_each, checks) =
        (setting("ORGANIZATIONS", 60), setting("BUNDLES", 16), setting("CHECKS", 300));
    let (nights, large) = (setting("NIGHTS", 40), setting("LARGE", 20_000));
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    std::fs::write(directory.path().join("ci.pem"), bundles::public_pem(&bundles::key())).unwrap();
    let mut file = "groups:\n  all: {name: All, keys: {auditors: read}}\norganizations:\n".to_owned();
    for n in 0..=organizations {
        file.push_str(&format!(
            "  org-{n:02}: {{name: Organization {n}, group: all, expect_hours: 26, trust: [ci.pem], keys: {{ci: admin}}}}\n"
        ));
    }
    let wanted = directory.path().join("organizations.yaml");
    std::fs::write(&wanted, file).unwrap();
    let keys = directory.path().join("keys");
    std::fs::create_dir(&keys).unwrap();
    home.ask(&["init"]);
    let begun = Instant::now();
    home.ask(&["apply", wanted.to_str().unwrap(), "--keys", keys.to_str().unwrap()]);
    println!("apply: {organizations} organizations with keys and trust in {:?}", begun.elapsed());
    let key =
        |name: &str| std::fs::read_to_string(keys.join(format!("{name}.key"))).unwrap().trim().to_owned();
    let serving = Serving::start(&home, "127.0.0.1:0");
    let client = client();
    let mut small = Vec::new();
    for day in 0..bundles_each {
        small.push(night(day, checks));
    }
    let mut times = Vec::new();
    for n in 0..organizations {
        for bytes in &small {
            let begun = Instant::now();
            let (status, _) =
                upload(&client, &serving.url, &key(&format!("org-{n:02}-ci")), bytes).await.unwrap();
            assert_eq!(status, 201);
            times.push(begun.elapsed());
        }
    }
    times.sort();
    println!(
        "{} bundles of {checks} checks in {:?}; an upload: median {:?}, p99 {:?}",
        times.len(),
        times.iter().sum::<Duration>(),
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
    let (begun, last) = (Instant::now(), key(&format!("org-{organizations:02}-ci")));
    let mut newest = String::new();
    for day in 0..nights {
        let (status, id) = upload(&client, &serving.url, &last, &night(day, large)).await.unwrap();
        assert_eq!(status, 201);
        newest = id;
    }
    println!("{nights} bundles of {large} checks in {:?}", begun.elapsed());
    let browser = Browser::sign_in(&serving.url, &key("all-auditors")).await;
    browser.show("fleet", "/fleet").await;
    let of = format!("/organizations/org-{organizations:02}");
    browser.show("overview of the large one", &format!("{of}/bundles")).await;
    browser.show("a large bundle", &format!("{of}/bundles/{newest}")).await;
    browser.show("its checks", &format!("{of}/bundles/{newest}/checks")).await;
    browser.show("its observations", &format!("{of}/bundles/{newest}/observations")).await;
    browser.show("its report", &format!("{of}/bundles/{newest}/report")).await;
    browser.show("the period", &format!("{of}/period")).await;
    browser.show("a control of it", &format!("{of}/period/control")).await;
    browser.show("a subject of it", &format!("{of}/period/subject?name=acme/repository-00097")).await;
    let (status, _) = upload(&client, &serving.url, &last, &night(nights, large)).await.unwrap();
    assert_eq!(status, 201);
    browser.show("the period after a further bundle", &format!("{of}/period")).await;
    let rows = std::fs::read_dir(directory.path().join("data/rows")).unwrap();
    let rows: Vec<u64> = rows.map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
    println!("rows: {} files, {} bytes", rows.len(), rows.iter().sum::<u64>());
    println!("memory of the server: {} kB now, {} kB at most", serving.memory(), serving.most_memory());
}
