//! A log that cannot be written costs lines of the log, and nothing else.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

const REQUESTS: usize = 1_000;

/// A pipe that takes nothing more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    while writer.write(b"\n").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

fn full_disk() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

fn dropped(metrics: &str) -> u64 {
    let line =
        metrics.lines().find_map(|line| line.strip_prefix("evidence_platform_log_lines_dropped_total "));
    line.unwrap().parse().unwrap()
}

/// Asks and uploads; returns how many lines were lost.
async fn is_served(serving: &Serving, key: &str) -> u64 {
    let client = client();
    let begun = Instant::now();
    for _ in 0..REQUESTS {
        assert_eq!(client.get(format!("{}/healthz", serving.url)).send().await.unwrap().status(), 200);
    }
    for number in 0..3 {
        assert_eq!(upload(&client, &serving.url, key, &bundles::bundle(number)).await.unwrap().0, 201);
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let metrics = client.get(format!("{}/metrics", serving.url)).send().await.unwrap().text().await.unwrap();
    dropped(&metrics)
}

fn ends_well(serving: Serving) {
    let begun = Instant::now();
    assert!(serving.terminate().0);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_log_that_takes_nothing_costs_no_request() {
    let broken = || {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        writer
    };
    let (_unread, full) = full_pipe();
    let cases: [(&str, Stdio); 3] = [
        ("a full disk", full_disk().into()),
        ("a closed pipe", broken().into()),
        ("an unread pipe", full.into()),
    ];
    for (name, stderr) in cases {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::local(directory.path());
        let key = home.organization(directory.path());
        let serving = Serving::start_with(&home, "127.0.0.1:0", stderr);
        let lost = is_served(&serving, &key).await;
        println!("{name}: {lost} lines lost");
        // Those of the unread pipe wait in the queue.
        assert!(if name == "an unread pipe" { lost == 0 } else { lost > 900 }, "{name}: {lost}");
        ends_well(serving);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_read_again_says_how_much_was_lost() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    let key = home.organization(directory.path());
    let (mut reader, full) = full_pipe();
    let serving = Serving::start_with(&home, "127.0.0.1:0", full.into());
    // More than the queue holds.
    let mut lost = 0;
    while lost == 0 {
        lost =
            futures_util::future::join_all((0..8).map(|_| flood(&serving))).await.into_iter().max().unwrap();
    }
    let read = std::thread::spawn(move || {
        let mut log = String::new();
        reader.read_to_string(&mut log).unwrap();
        log
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    is_served(&serving, &key).await;
    ends_well(serving);
    let log = read.join().unwrap();
    let lines = log.lines().filter(|line| !line.is_empty());
    let lines: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let reports: Vec<_> = lines.iter().filter(|line| line["message"] == "log lines were lost").collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0]["lines"].as_u64().unwrap() >= lost && reports[0]["level"] == "WARN", "{reports:?}");
    assert!(lines.last().unwrap()["message"] != "log lines were lost", "lines follow it");
}

async fn flood(serving: &Serving) -> u64 {
    let client = client();
    for _ in 0..200 {
        client.get(format!("{}/healthz", serving.url)).send().await.unwrap();
    }
    dropped(&client.get(format!("{}/metrics", serving.url)).send().await.unwrap().text().await.unwrap())
}

/// The address cannot be read from its output, so it is given.
#[tokio::test]
async fn a_server_without_any_output_serves() {
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.organization(directory.path());
    let both = |name: &str| -> (Stdio, Stdio) {
        match name {
            "full" => (full_disk().into(), full_disk().into()),
            _ => {
                let (reader, writer) = full_pipe();
                // It stays open, and unread.
                std::mem::forget(reader);
                (writer.try_clone().unwrap().into(), writer.into())
            }
        }
    };
    for name in ["full", "unread", "closed"] {
        let address = crate::process::free_address();
        home.variables.retain(|(name, _)| name != "EVIDENCE_PLATFORM_LISTEN");
        home.variables.push(("EVIDENCE_PLATFORM_LISTEN".into(), address.clone()));
        let mut command = match name {
            "closed" => {
                let mut command = Command::new("sh");
                let program = env!("CARGO_BIN_EXE_evidence-platform");
                command.env_clear().envs(home.variables.iter().cloned());
                command.args(["-c", "exec \"$0\" serve >&- 2>&-", program]);
                command
            }
            name => {
                let mut command = home.command(&["serve"]);
                let (stdout, stderr) = both(name);
                command.stdout(stdout).stderr(stderr);
                command
            }
        };
        let child = command.spawn().unwrap();
        let said = std::io::BufReader::new(
            std::process::Command::new("true").stdout(Stdio::piped()).spawn().unwrap().stdout.take().unwrap(),
        );
        let serving = Serving { child, url: format!("http://{address}"), said };
        let client = client();
        let begun = Instant::now();
        while client.get(format!("{}/healthz", serving.url)).send().await.is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{name}: it does not answer");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        for _ in 0..100 {
            assert_eq!(client.get(format!("{}/healthz", serving.url)).send().await.unwrap().status(), 200);
        }
        ends_well(serving);
    }
}

#[test]
fn commands_without_output_end_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    home.organization(directory.path());
    let run = |arguments: &[&str], stdout: Stdio, stderr: Stdio| {
        let child = home.command(arguments).stdout(stdout).stderr(stderr).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let list = ["key", "list", "--organization", "acme"];
    let broken = || Stdio::from(pipe().unwrap().1);
    // A reader that has read enough, as `head` does.
    assert_eq!(run(&list, broken(), Stdio::piped()), (Some(0), String::new()));
    let (code, said) = run(&list, full_disk().into(), Stdio::piped());
    assert_eq!(code, Some(1));
    assert!(said.starts_with("error: cannot write to standard output: No space left"), "{said}");
    // A key is shown only once.
    let create = ["key", "create", "--organization", "acme", "--role", "read"];
    for stdout in [broken(), full_disk().into()] {
        let (code, said) = run(&create, stdout, Stdio::piped());
        assert_eq!(code, Some(1));
        let prefix = said.strip_prefix("error: the key ").unwrap().split(' ').next().unwrap().to_owned();
        assert!(said.contains("is created, but cannot be printed: revoke it"), "{said}");
        home.ask(&["key", "revoke", "--organization", "acme", &prefix]);
    }
    // Messages of errors, help and wrong arguments.
    for arguments in [&["key", "list", "--organization", "other"][..], &["--help"], &["wrong"], &["health"]] {
        for stderr in [broken(), full_disk().into()] {
            let (code, _) = run(arguments, full_disk().into(), stderr);
            assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {code:?}");
        }
    }
}
