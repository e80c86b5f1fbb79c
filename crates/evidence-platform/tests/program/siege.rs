//! Ten thousand nearly silent clients: memory stays bounded, and active clients are served.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

const SLOW: usize = 10_000;
/// How many to open at once.
const WAVE: usize = 500;
/// The most memory for ten thousand connections, in kB.
const MEMORY: u64 = 250_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_slow_connections_do_not_take_it_down() {
    // The oldest connections without a valid key are closed.
    siege("4,096 connections at most", 6, Vec::new()).await;
}

/// Those that never complete their heads stay for ten seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: another ten thousand connections"]
async fn ten_thousand_slow_connections_with_room_for_all_do_not_take_it_down() {
    siege("12,000 connections at most", 2, vec!["--max-connections", "12000"]).await;
}

/// `kinds` is the number of kinds of [`open`].
async fn siege(name: &str, kinds: usize, serve: Vec<&'static str>) {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let slow = SLOW.min(usize::try_from(files.saturating_sub(300)).unwrap_or(usize::MAX));
    if slow < SLOW {
        println!("REDUCED to {slow} connections: the system allows {files} files");
    }
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.serve = serve;
    let serving = Serving::start(&home, &crate::process::free_address());
    let key = home.organization(directory.path());
    let before = serving.most_memory();
    let address = serving.url.strip_prefix("http://").unwrap().to_owned();

    let mut silent = Vec::with_capacity(slow);
    let mut generator = fastrand::Rng::new();
    for _ in 0..slow / WAVE {
        let wave = join_all((0..WAVE).map(|number| open(&address, number % kinds))).await;
        // A connection may be refused while the queue is full; the siege continues.
        silent.extend(wave.into_iter().flatten());
    }
    let client = client();
    let held = connections(&client, &serving.url).await;
    let mut took = Vec::new();
    for number in 0..20 {
        let began = Instant::now();
        let answer = upload(&client, &serving.url, &key, &bundles::bundle(number)).await;
        assert_eq!(answer.unwrap().0, 201);
        took.push(began.elapsed());
        for stream in silent.iter_mut().filter(|_| generator.u8(..) < 8) {
            let _ = stream.write_all(b"x").await;
        }
    }
    took.sort_unstable();
    let after = serving.most_memory();
    println!(
        "{name}: {} slow connections, {held} of them open at once; at most {before} kB before, {after} kB with them; \
         an upload meanwhile: median {:?}, slowest {:?}",
        silent.len(),
        took[took.len() / 2],
        took[took.len() - 1]
    );
    assert!(silent.len() > slow / 2, "{}", silent.len());
    assert!(after < before + MEMORY, "{before} kB, then {after} kB");
}

/// Sends almost nothing; `None` if no server answers.
async fn open(address: &str, kind: usize) -> Option<TcpStream> {
    let connection = TcpStream::connect(address);
    let mut stream = tokio::time::timeout(Duration::from_secs(5), connection).await.ok()?.ok()?;
    // Most of them begin an upload without a valid key.
    let part: &[u8] = match kind {
        0 => b"",
        1 => b"POST /api/v1/bundles HTTP/1.1\r\nX-Slow: ",
        _ => b"POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\nAuthorization: Bearer x\r\n\r\nabc",
    };
    let _ = stream.write_all(part).await;
    Some(stream)
}

/// How many open connections the server reports.
async fn connections(client: &reqwest::Client, url: &str) -> u64 {
    let text = client.get(format!("{url}/metrics")).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("evidence_platform_connections "));
    line.unwrap().parse().unwrap()
}
