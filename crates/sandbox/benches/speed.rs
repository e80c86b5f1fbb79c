//! The speed of the sandbox. Not a check: run it to make sure that a measurement measures the client.
//!
//! `cargo bench -p sandbox --bench speed`

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement that fails says so with a panic"
)]

use sandbox::{DEMO_TOKEN, Server, large_organization};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// Requests the paths over one open connection, and reads nothing but the length of each answer.
fn ask(server: &Server, paths: impl Iterator<Item = String>, gzip: bool) -> (u64, u64) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_nodelay(true).unwrap();
    let encoding = if gzip { "Accept-Encoding: gzip\r\n" } else { "" };
    let (mut requests, mut bytes) = (0, 0);
    let mut buffer = vec![0; 1 << 20];
    for path in paths {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: sandbox\r\nUser-Agent: speed\r\nAccept: application/vnd.github+json\r\n\
             Authorization: token {DEMO_TOKEN}\r\n{encoding}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut filled = 0;
        let whole = loop {
            let read = stream.read(&mut buffer[filled..]).unwrap();
            assert!(read > 0, "closed");
            filled += read;
            if let Some(end) = buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap();
                break end + 4 + length.lines().next().unwrap().parse::<usize>().unwrap();
            }
        };
        while filled < whole {
            filled += stream.read(&mut buffer[filled..]).unwrap();
        }
        requests += 1;
        bytes += whole as u64;
    }
    (requests, bytes)
}

/// Processor time of a thread by its name, from the kernel's own count (in hundredths of a second).
fn processor_seconds(thread: &str) -> f64 {
    let mut total = 0.0;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = stat.rsplit_once(") ") else { continue };
        if name.ends_with(&format!("({thread}")) {
            let fields: Vec<f64> = rest.split(' ').filter_map(|field| field.parse().ok()).collect();
            // utime and stime; the state letter before them is not a number.
            total += (fields[10] + fields[11]) / 100.0;
        }
    }
    total
}

fn run(
    what: &str,
    server: &Server,
    threads: usize,
    gzip: bool,
    path: impl Fn(usize) -> String + Sync,
    each: usize,
) {
    let started = Instant::now();
    let before = processor_seconds("sandbox");
    let (requests, bytes) = std::thread::scope(|scope| {
        let path = &path;
        let threads: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || ask(server, (0..each).map(|n| path(thread * each + n)), gzip)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    });
    let seconds = started.elapsed().as_secs_f64();
    let used = processor_seconds("sandbox") - before;
    println!(
        "{what:40} gzip {gzip:5}: {:8.0} requests/s, {:6.1} MB/s, {:5.1} us of the host's processor each",
        requests as f64 / seconds,
        bytes as f64 / seconds / 1e6,
        used / requests as f64 * 1e6
    );
}

fn main() {
    let server = large_organization(50_000).log_limit(0).serve().unwrap();
    for gzip in [false, true] {
        let service = |n: usize| format!("/repos/acme/service-{:06}", n % 50_000);
        run("protection", &server, 8, gzip, |n| format!("{}/branches/main/protection", service(n)), 6_000);
        run("CODEOWNERS", &server, 8, gzip, |n| format!("{}/contents/CODEOWNERS", service(n)), 6_000);
        let page = |n: usize| format!("/orgs/acme/repos?per_page=100&sort=full_name&page={}", n % 500 + 1);
        run("listing of 100, first time", &server, 4, gzip, page, 125);
        run("listing of 100, again", &server, 4, gzip, page, 500);
    }
    println!("requests in all: {}", server.request_count());
}
