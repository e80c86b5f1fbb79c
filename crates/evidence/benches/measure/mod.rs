//! Runs the binary and measures it, for the benchmarks that time whole commands.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The cost of one command.
pub(crate) struct Measured {
    pub(crate) wall: Duration,
    pub(crate) peak_kilobytes: u64,
    pub(crate) cpu: Duration,
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    pub(crate) fn megabytes(&self) -> f64 {
        self.peak_kilobytes as f64 / 1_000.0
    }
}

/// The median by wall time.
pub(crate) fn median(mut all: Vec<Measured>) -> io::Result<Measured> {
    all.sort_by_key(|measured| measured.wall);
    let middle = all.len() / 2;
    all.into_iter().nth(middle).ok_or_else(|| io::Error::other("nothing was measured"))
}

/// Runs the binary to its end and measures it.
pub(crate) fn run(directory: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> io::Result<Measured> {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_evidence"))
        .args(arguments)
        .current_dir(directory)
        .envs(variables.iter().copied())
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

/// Polls the process every few milliseconds until it ends. The kernel tracks its peak memory and CPU time.
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
