//! How close `evidence collect` comes to the speed of the network, and how much memory it uses.
//!
//! The real binary (release profile, as `cargo bench` builds it) against the sandbox in this process, pacing off:
//! `cargo bench -p evidence --bench collect -- [repositories] [latency in ms] [max_concurrency]`. Prints the wall time
//! against `ceil(requests / max_concurrency) × latency`, the peak memory, and the user CPU time, and then the cost of
//! `evidence verify` for the bundle. A measurement, not a test: it fails only if a command does.

mod measure;

use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use measure::{median, run};

/// Measurements of each command; the median is shown.
const RUNS: usize = 5;

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> io::Result<()> {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let (repositories, latency, in_flight) = (number(0, 1_000), number(1, 20), number(2, 32));
    let latency = Duration::from_millis(latency);

    let directory = tempfile::tempdir()?;
    let directory = directory.path();
    let repositories = u32::try_from(repositories).map_err(io::Error::other)?;
    let server = sandbox::large_organization(repositories).log_limit(0).latency(latency).serve()?;
    let url = server.url();
    let variables = [("CODEHOST_API_URL", url.as_str()), ("CODEHOST_TOKEN", sandbox::DEMO_TOKEN)];
    run(directory, &variables, &["keygen", "-o", "key.pem"])?;
    fs::write(
        directory.join("evidence.yaml"),
        format!(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  codehost:\n    mode: token\n    \
             org: acme\n    repos: \"*\"\n    rate_limit_pause: false\n    requests_per_minute: 0\n    \
             max_concurrency: {in_flight}\nbundle:\n  signing:\n    private_key_path: key.pem\n"
        ),
    )?;

    let mut collects = Vec::new();
    let before = server.request_count();
    for index in 0..RUNS {
        let output = format!("out{index}");
        collects.push(run(directory, &variables, &["collect", "--quiet", "-o", &output])?);
    }
    let requests = (server.request_count() - before) / u64::try_from(RUNS).map_err(io::Error::other)?;
    let bundle = fs::read_dir(directory.join("out0"))?.next().ok_or(io::ErrorKind::NotFound)??.path();
    let size = fs::metadata(&bundle)?.len();
    let bundle = bundle.to_string_lossy().into_owned();
    let mut verifies = Vec::new();
    for _ in 0..RUNS {
        verifies.push(run(directory, &variables, &["verify", "--quiet", "-k", "key.pub.pem", &bundle])?);
    }

    let floor = latency * u32::try_from(requests.div_ceil(in_flight)).map_err(io::Error::other)?;
    let collect = median(collects)?;
    let verify = median(verifies)?;
    anstream::println!(
        "{repositories} repositories, {} ms, {in_flight} in flight: {requests} requests, bundle {size} bytes, \
         highest concurrency {}",
        latency.as_millis(),
        server.highest_concurrency()
    );
    anstream::println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>10}",
        "",
        "wall s",
        "floor s",
        "ratio",
        "CPU s",
        "peak MB"
    );
    anstream::println!(
        "{:<10} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>10.1}",
        "collect",
        collect.wall.as_secs_f64(),
        floor.as_secs_f64(),
        collect.wall.as_secs_f64() / floor.as_secs_f64().max(f64::MIN_POSITIVE),
        collect.cpu.as_secs_f64(),
        collect.megabytes()
    );
    anstream::println!(
        "{:<10} {:>9.3} {:>9} {:>9} {:>9.3} {:>10.1}",
        "verify",
        verify.wall.as_secs_f64(),
        "",
        "",
        verify.cpu.as_secs_f64(),
        verify.megabytes()
    );
    Ok(())
}
