//! How close `evidence collect` comes to the speed of the network, and how much memory it takes.
//!
//! The real binary (release profile, as `cargo bench` builds it) against the sandbox in this process, pacing off:
//! `cargo bench -p evidence --bench collect -- [repositories] [latency in ms] [max_concurrency]`. Prints the wall
//! time against `ceil(requests / max_concurrency) × latency`, the peak memory, and the user CPU time, and then what
//! `evidence verify` takes for the bundle. A measurement, not a test: it fails only if a command does.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How often each command is measured; the median is shown.
const RUNS: usize = 5;

/// What one command took.
struct Measured {
    wall: Duration,
    peak_kilobytes: u64,
    cpu: Duration,
}

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
    run(directory, &server.url(), &["keygen", "-o", "key.pem"])?;
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
        collects.push(run(directory, &server.url(), &["collect", "--quiet", "-o", &output])?);
    }
    let requests = (server.request_count() - before) / u64::try_from(RUNS).map_err(io::Error::other)?;
    let bundle = fs::read_dir(directory.join("out0"))?.next().ok_or(io::ErrorKind::NotFound)??.path();
    let size = fs::metadata(&bundle)?.len();
    let bundle = bundle.to_string_lossy().into_owned();
    let mut verifies = Vec::new();
    for _ in 0..RUNS {
        verifies.push(run(directory, &server.url(), &["verify", "--quiet", "-k", "key.pub.pem", &bundle])?);
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
        megabytes(&collect)
    );
    anstream::println!(
        "{:<10} {:>9.3} {:>9} {:>9} {:>9.3} {:>10.1}",
        "verify",
        verify.wall.as_secs_f64(),
        "",
        "",
        verify.cpu.as_secs_f64(),
        megabytes(&verify)
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
fn megabytes(measured: &Measured) -> f64 {
    measured.peak_kilobytes as f64 / 1_000.0
}

fn median(mut all: Vec<Measured>) -> io::Result<Measured> {
    all.sort_by_key(|measured| measured.wall);
    let middle = all.len() / 2;
    all.into_iter().nth(middle).ok_or_else(|| io::Error::other("nothing was measured"))
}

/// Runs the binary to its end and measures it.
fn run(directory: &Path, api_url: &str, arguments: &[&str]) -> io::Result<Measured> {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_evidence"))
        .args(arguments)
        .current_dir(directory)
        .env("CODEHOST_API_URL", api_url)
        .env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN)
        .env_remove("SOURCE_DATE_EPOCH")
        .stdout(Stdio::null())
        .spawn()?;
    let (peak_kilobytes, cpu) = watch(&mut child)?;
    let measured = Measured { wall: started.elapsed(), peak_kilobytes, cpu };
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("evidence {} ended with {status}", arguments.join(" "))));
    }
    Ok(measured)
}

/// Looks at the process every few milliseconds until it is gone: the kernel keeps its peak memory and CPU time.
fn watch(child: &mut Child) -> io::Result<(u64, Duration)> {
    let (mut peak, mut ticks) = (0, 0);
    let process = format!("/proc/{}", child.id());
    while child.try_wait()?.is_none() {
        if let Ok(status) = fs::read_to_string(format!("{process}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let value = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
            peak = peak.max(value.unwrap_or(0));
        }
        if let Ok(stat) = fs::read_to_string(format!("{process}/stat")) {
            // Fields 14 and 15 count ticks of a hundredth of a second in user and kernel mode.
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            let field = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            ticks = ticks.max(field(11) + field(12));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok((peak, Duration::from_millis(ticks * 10)))
}
