//! Many invalid or oversized requests at once: each gets its specific refusal, memory stays bounded, and valid ones
//! are still accepted. `http/hostile.rs` tests the refusals in detail, and that nothing of them is stored.

use bytes::Bytes;
use futures_util::future::join_all;
use reqwest::Client;
use serde_json::Value;

use crate::process::{Home, Serving, client, upload};
use crate::support::{bundles, content_digest};

/// How many of each kind are sent at once.
const AT_ONCE: usize = 8;
/// The most memory for all of them together, in kB.
const MEMORY: u64 = 150_000;
const TOO_LARGE: usize = 101_000_000;

/// A request and its expected answer.
struct Wrong {
    name: &'static str,
    body: Bytes,
    digest: String,
    answer: (u16, &'static str, Option<&'static str>),
}

fn wrong() -> Vec<Wrong> {
    let key = bundles::key();
    let mut noise = vec![0; 4_000_000];
    fastrand::Rng::with_seed(1).fill(&mut noise);
    let good = bundles::signed(1, &noise, &key);
    let mut tampered = good.clone();
    let middle = tampered.len() / 2;
    tampered[middle] ^= 0x10;
    let refused = |reason| (422, "bundle-refused", Some(reason));
    let of = |name, body: Vec<u8>, answer| {
        let digest = content_digest(&body);
        Wrong { name, body: body.into(), digest, answer }
    };
    vec![
        of("truncated", good[..good.len() - 1_000].to_vec(), refused("gzip")),
        of("tampered", tampered, refused("checksum-mismatch")),
        of("unknown signer", bundles::signed(1, &noise, &bundles::other_key()), refused("signature-invalid")),
        of("bomb", bundles::bomb(&good), refused("limit")),
        of("too large", vec![0; TOO_LARGE], (413, "too-large", None)),
        Wrong {
            name: "wrong digest",
            body: good.into(),
            digest: content_digest(b"x"),
            answer: (400, "digest-mismatch", None),
        },
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_uploads_at_once_cost_little_and_keep_no_client_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.serve = vec!["--max-uploads", "128"];
    let serving = Serving::start(&home, &crate::process::free_address());
    let key = home.organization(directory.path());
    let before = serving.most_memory();
    let client = client();
    let wrong = wrong();
    let sent = wrong.iter().flat_map(|wrong| std::iter::repeat_n(wrong, AT_ONCE)).map(|wrong| {
        let (client, url, key) = (&client, &serving.url, &key);
        async move {
            // In chunks without a length, so that the size limit is only reached on the way.
            let body = wrong.body.chunks(1 << 20).map(|part| wrong.body.slice_ref(part));
            let body = futures_util::stream::iter(body.map(Ok::<_, std::io::Error>).collect::<Vec<_>>());
            let answer = send(client, url, key, reqwest::Body::wrap_stream(body), &wrong.digest).await;
            assert_eq!((answer.0, answer.1.as_str(), answer.2.as_deref()), wrong.answer, "{}", wrong.name);
        }
    });
    // Valid uploads meanwhile.
    let good = async {
        for number in 0..20 {
            let answer = upload(&client, &serving.url, &key, &bundles::bundle(number)).await;
            assert_eq!(answer.unwrap().0, 201);
        }
    };
    let (sent, ()) = tokio::join!(join_all(sent), good);
    let hostile = serving.most_memory();

    // A trusted signer's zeros are accepted: they inflate to a thousand times their size, but not in memory.
    let zeros = bundles::signed(100, &vec![0; 256 << 20], &bundles::key());
    assert_eq!(upload(&client, &serving.url, &key, &zeros).await.unwrap().0, 201);
    let after = serving.most_memory();
    println!(
        "{} wrong uploads at once: at most {before} kB before, {hostile} kB with them; {after} kB with {} bytes that \
         inflate to 256 MiB",
        sent.len(),
        zeros.len()
    );
    assert!(after < before + MEMORY, "{before} kB, then {after} kB");
    let list = client.get(format!("{}/api/v1/bundles?limit=100", serving.url)).bearer_auth(&key);
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 21, "only what is good is listed");
}

/// Uploads; returns the status, the problem and the reason.
async fn send(
    client: &Client,
    url: &str,
    key: &str,
    body: reqwest::Body,
    digest: &str,
) -> (u16, String, Option<String>) {
    let request = client.post(format!("{url}/api/v1/bundles")).bearer_auth(key);
    let response = request.header("content-digest", digest).body(body).send().await.unwrap();
    let status = response.status().as_u16();
    let json: Value = response.json().await.unwrap();
    let kind = json["type"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    (status, kind, json["reason"].as_str().map(str::to_owned))
}
