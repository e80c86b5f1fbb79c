//! Instruction counts of the pure parts, compared with the figures in `bench/baselines`.
//!
//! `cargo bench -p evidence --bench baselines`; `-- --save` replaces those figures, and `-- WORD` counts only the cases
//! with that word in their names. Instruction counts do not depend on the load of the machine, so a difference comes
//! from the code. Valgrind counts them and must be installed. It does not support the SHA-256 instructions, so hashing
//! counts for more here than it costs. A measurement, never a test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking and prints what it found"
)]

mod cases;
#[path = "../../../evidence-screen/benches/screen/clean.rs"]
mod clean;
#[path = "../../../evidence-screen/benches/screen/form.rs"]
#[allow(dead_code, reason = "the benchmark of the screen uses all of it")]
mod form;
#[path = "../../../evidence-screen/benches/screen/hostile.rs"]
mod hostile;
#[path = "../../../evidence-bundle/tests/support/sample.rs"]
#[allow(dead_code, unreachable_pub, reason = "the tests of the format use all of it")]
mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["run", name, times] => run(name, times.parse().unwrap()),
        // `cargo test --benches` runs this without the flag: then there is nothing to measure.
        arguments if arguments.contains(&"--bench") => {
            let word = arguments.iter().find(|argument| !argument.starts_with("--"));
            compare(word.copied().unwrap_or_default(), arguments.contains(&"--save"));
        }
        _ => {}
    }
}

/// The work of one process: one case, `times` times.
fn run(name: &str, times: u32) {
    let case = cases::all().into_iter().find(|case| case.name == name).expect("a case of that name");
    let mut work = (case.make)();
    (0..times).for_each(|_| work());
}

fn compare(word: &str, save: bool) {
    if !Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        println!("valgrind is not installed: nothing is counted");
        return;
    }
    let mut kept = read(&file());
    println!("{:<58} {:>14} {:>14} {:>8}", "instructions", "now", "baseline", "change");
    for case in cases::all().iter().filter(|case| case.name.contains(word)) {
        let now = instructions(&case.name);
        let before = kept.insert(case.name.clone(), now);
        let change = before.map_or_else(String::new, |before| {
            format!("{:+.1} %", (now as f64 / before as f64 - 1.0) * 100.0)
        });
        let before = before.map_or_else(|| "-".to_owned(), |before| before.to_string());
        println!("{:<58} {now:>14} {before:>14} {change:>8}", case.name);
    }
    if save {
        let rows: String = kept.iter().map(|(name, count)| format!("{count}\t{name}\n")).collect();
        fs::write(file(), heading() + &rows).unwrap();
    }
}

/// Instructions of one iteration, without the setup: half of the difference between one iteration and three.
fn instructions(name: &str) -> u64 {
    let count = |times: &str| -> u64 {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .args(["run", name, times])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}");
        let line = text.lines().find_map(|line| line.split_once("Collected : ")).expect("a count");
        line.1.trim().parse().unwrap()
    };
    count("3").saturating_sub(count("1")) / 2
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/baselines/instructions.tsv")
}

/// The saved figures, by name.
fn read(file: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    rows.filter_map(|(count, name)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

/// The machine and the date of the figures.
fn heading() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.unwrap_or_default().trim_start_matches(['\t', ' ', ':']);
    format!(
        "# Instructions of one go of each case: cargo bench -p evidence --bench baselines -- --save\n# {} {}, {model}, {}\n",
        std::env::consts::OS,
        std::env::consts::ARCH,
        jiff::Timestamp::now().strftime("%Y-%m-%d")
    )
}
