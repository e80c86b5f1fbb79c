//! Writing and verifying a bundle of 20,000 files of 2.5 KB, beside what stock tools take for the same files: `tar | pigz`
//! and `sha256sum` to write, `tar`, `openssl` and `sha256sum` to verify.
//!
//! `cargo bench -p evidence-bundle`. Each step runs in a process of its own, so that its peak of memory is its own. The
//! whole phase is what the tool does from the files to the name of the bundle: hash, sign, compress, read back and
//! verify, and put on the disk for good.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a benchmark"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use sha2::{Digest, Sha256};

use evidence_bundle::{BundlePath, Entry, Expectations, Limits, TrustRoot, UnsignedBundle, UntrustedBundle};

const FILES: usize = 20_000;
const RUNS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("write") => write(Path::new(&arguments[2]), Path::new(&arguments[3]), false),
        Some("phase") => write(Path::new(&arguments[2]), Path::new(&arguments[3]), true),
        Some("list") => list(Path::new(&arguments[2])),
        Some("verify") => verify(Path::new(&arguments[2])),
        // `cargo test --benches` runs this without the flag: then there is nothing to measure.
        _ if arguments.iter().any(|argument| argument == "--bench") => compare(),
        _ => {}
    }
}

fn compare() {
    let scratch = tempfile::tempdir().unwrap();
    let spool = scratch.path().join("spool");
    let count = std::env::var("BENCH_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(FILES);
    let bytes = generate(&spool, count);
    let bundle = scratch.path().join("bundle.tar.gz");
    println!("{count} artifacts, {bytes} bytes with the documents; median of {RUNS} runs");
    println!("{:<38} {:>9} {:>14}", "step", "seconds", "peak memory");
    let myself = std::env::current_exe().unwrap();
    let written = row("hash, sign, write the bundle", || {
        run(Command::new(&myself).arg("write").arg(&spool).arg(&bundle))
    });
    row("  of it: read and hash the files", || run(Command::new(&myself).arg("list").arg(&spool)));
    let phase = row("the whole phase, read back and synced", || {
        run(Command::new(&myself).arg("phase").arg(&spool).arg(&bundle))
    });
    let verified = row("verify the bundle", || run(Command::new(&myself).arg("verify").arg(&bundle)));

    let key = scratch.path().join("key.pem");
    fs::write(&key, support::key().public_key().to_spki_pem()).unwrap();
    let plain = scratch.path().join("plain.tar.gz");
    let pigz = stock("tar | pigz -p2, and sha256sum", PIGZ, &["pigz"], &[&spool, &plain]);
    stock("tar | gzip, and sha256sum", GZIP, &["gzip"], &[&spool, &plain]);
    let unpacked = scratch.path().join("unpacked");
    let checked = stock("tar -x, openssl, sha256sum -c", VERIFY, &["openssl"], &[&bundle, &key, &unpacked]);
    for (name, ours, theirs) in
        [("write", written, pigz), ("the whole phase", phase, pigz), ("verify", verified, checked)]
    {
        if let Some(theirs) = theirs {
            println!("{name}: {:.2} of the stock tools' time", ours / theirs);
        }
    }
    println!("size of the bundle: {} bytes", fs::metadata(&bundle).unwrap().len());
}

const PIGZ: &str = "cd \"$0\" && tar -cf - . | pigz -p2 -6 > \"$1\" && find . -type f -print0 | xargs -0 sha256sum > \"$1.sums\"";
const GZIP: &str = "cd \"$0\" && tar -cf - . | gzip -6 > \"$1\" && find . -type f -print0 | xargs -0 sha256sum > \"$1.sums\"";
const VERIFY: &str = "rm -rf \"$2\" && mkdir \"$2\" && tar -xzf \"$0\" -C \"$2\" && cd \"$2\" && \
    openssl pkeyutl -verify -pubin -inkey \"$1\" -rawin -in checksums.sha256 -sigfile signature.sig > \"$2.said\" && \
    sha256sum --strict --quiet -c checksums.sha256";

/// The time that stock tools take, if they are installed.
fn stock(name: &str, command: &str, programs: &[&str], arguments: &[&Path]) -> Option<f64> {
    let found = |program: &&&str| {
        let look = format!("command -v {program}");
        Command::new("sh")
            .args(["-c", &look])
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if let Some(missing) = programs.iter().find(|program| !found(program)) {
        println!("{missing} is not installed: not compared");
        return None;
    }
    Some(row(name, || {
        let start = Instant::now();
        assert!(
            Command::new("sh").args(["-c", command]).args(arguments).status().unwrap().success(),
            "{command}"
        );
        (start.elapsed().as_secs_f64(), 0)
    }))
}

/// Prints the median of several runs, and gives its seconds.
fn row(name: &str, mut step: impl FnMut() -> (f64, u64)) -> f64 {
    let mut results: Vec<(f64, u64)> = (0..RUNS).map(|_| step()).collect();
    results.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (seconds, memory) = results[RUNS / 2];
    println!("{name:<38} {seconds:>9.3} {memory:>11} kB");
    seconds
}

/// Runs a step in its own process, which prints its seconds and its peak memory in kB.
fn run(command: &mut Command) -> (f64, u64) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace();
    (words.next().expect("seconds").parse().unwrap(), words.next().expect("memory").parse().unwrap())
}

fn report(start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    println!("{seconds} {}", peak.split_whitespace().next().unwrap_or("0"));
}

/// Writes the files of a bundle under a directory, with a branch protection of about 2.5 KB per repository.
fn generate(spool: &Path, count: usize) -> u64 {
    let artifacts = (0..count).map(|number| {
        let mut noise = number as u64;
        let mut contexts = String::new();
        while contexts.len() < 2_200 {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            contexts.push_str(&format!("      \"ci/build-{:08x}/linux\",\n", noise >> 32));
        }
        let contents = format!(
            "{{\n  \"url\": \"https://api.example.com/repos/acme/repo-{number}/branches/main/protection\",\n  \
             \"required_status_checks\": {{\n    \"strict\": true,\n    \"contexts\": [\n{contexts}      \"end\"\n    ]\n  \
             }},\n  \"enforce_admins\": {{ \"enabled\": true }}\n}}\n"
        );
        (format!("sources/codehost/repo_acme_repo-{number:07}_branch_protection.json"), contents.into_bytes())
    });
    let files = support::with_manifest(support::with_documents(artifacts.collect()), &support::key());
    let mut bytes = 0;
    for (path, contents) in files {
        let path = spool.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        bytes += contents.len() as u64;
        fs::write(path, contents).unwrap();
    }
    bytes
}

fn paths(directory: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            paths(&entry.path(), &format!("{path}/"), found);
        } else {
            found.push(path);
        }
    }
}

fn unsigned(spool: &Path) -> UnsignedBundle {
    let mut found = Vec::new();
    paths(spool, "", &mut found);
    let mut buffer = vec![0; 64 * 1024];
    let entries = found.iter().map(|path| {
        let mut file = File::open(spool.join(path)).unwrap();
        let (mut hasher, mut size) = (Sha256::new(), 0);
        loop {
            let read = file.read(&mut buffer).unwrap();
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            size += read as u64;
        }
        Entry { path: BundlePath::new(path).unwrap(), sha256: hasher.finalize().into(), size }
    });
    UnsignedBundle::new(support::CREATED_AT, entries.collect()).unwrap()
}

fn list(spool: &Path) {
    let start = Instant::now();
    drop(unsigned(spool));
    report(start);
}

fn write(spool: &Path, bundle: &Path, whole_phase: bool) {
    let start = Instant::now();
    let unsigned = unsigned(spool);
    let signed = unsigned.sign(&support::key()).unwrap();
    let mut out = BufWriter::new(File::create(bundle).unwrap());
    signed.write(&mut out, None, |entry| File::open(spool.join(entry.path.as_str()))).unwrap();
    out.flush().unwrap();
    if whole_phase {
        judge(bundle);
        out.get_ref().sync_all().unwrap();
    }
    report(start);
}

fn verify(bundle: &Path) {
    let start = Instant::now();
    judge(bundle);
    report(start);
}

fn judge(bundle: &Path) {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", support::key().public_key());
    let file = File::open(bundle).unwrap();
    UntrustedBundle::new(file).verify(&trust, &Expectations::default(), &Limits::DEFAULT).unwrap();
}
