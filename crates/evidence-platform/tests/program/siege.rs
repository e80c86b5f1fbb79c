//! Ten thousand clients that hardly say anything: memory stays bounded, and those who say something are served.

use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

const SLOW: usize = 10_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_slow_connections_do_not_take_it_down() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let slow = SLOW.min(usize::try_from(files.saturating_sub(300)).unwrap_or(usize::MAX));
    if slow < SLOW {
        println!("REDUCED to {slow} connections: the system allows {files} files");
    }
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let serving = Serving::start(&home, &crate::process::free_address());
    let key = home.organization(directory.path());
    let before = memory(serving.child.id());
    let address = serving.url.strip_prefix("http://").unwrap().to_owned();

    let mut silent = Vec::with_capacity(slow);
    let mut generator = fastrand::Rng::new();
    for number in 0..slow {
        // A connection may be refused while the queue is full; the siege goes on.
        let Ok(Ok(mut stream)) =
            tokio::time::timeout(Duration::from_secs(5), TcpStream::connect(&address)).await
        else {
            continue;
        };
        // Most of them begin an upload without a good key.
        let part: &[u8] = match number % 6 {
            0 => b"",
            1 => b"POST /api/v1/bundles HTTP/1.1\r\nX-Slow: ",
            _ => b"POST /api/v1/bundles HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nAuthorization: Bearer x\r\n\r\nabc",
        };
        let _ = stream.write_all(part).await;
        silent.push(stream);
    }
    let client = client();
    let mut slowest = Duration::ZERO;
    for number in 0..20 {
        let began = Instant::now();
        let answer = upload(&client, &serving.url, &key, &bundles::bundle(number)).await;
        assert_eq!(answer.map(|(status, _)| status), Some(201));
        slowest = slowest.max(began.elapsed());
        for stream in silent.iter_mut().filter(|_| generator.u8(..) < 8) {
            let _ = stream.write_all(b"x").await;
        }
    }
    let after = memory(serving.child.id());
    println!(
        "{} slow connections: {before} kB before, {after} kB with them; slowest upload {slowest:?}",
        silent.len()
    );
    assert!(silent.len() > slow / 2, "{}", silent.len());
    assert!(after < before + 250_000, "{before} kB, then {after} kB");
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
}

/// The resident memory of a process in kB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}
