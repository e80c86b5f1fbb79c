//! The cost of collecting from three sources at once: the wall time of each source alone, and of all three together.
//!
//! The real binary (release profile, as `cargo bench` builds it) against the three hosts of the sandbox in this
//! process: `cargo bench -p evidence --bench sources -- [latency in ms]`. 50 repositories; 3 trails and 120 log groups;
//! 2,000 users. Prints the medians, and compares all three together with the slowest alone. A measurement, not a test:
//! it fails only if a command does.

mod measure;

use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use measure::{Measured, median, run};
use sandbox::workspace::Workspace;

/// Measurements of each run; the median is shown.
const RUNS: usize = 7;

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
    let latency = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(50);
    let each = Duration::from_millis(latency);
    let codehost = sandbox::large_organization(50).log_limit(0).latency(each).serve()?;
    let cloud = sandbox::large_account(120).log_limit(0).latency(each).serve()?;
    let workspace = sandbox::large_workspace(2_000).log_limit(0).latency(each).serve()?;
    let sections = [
        (
            "codehost",
            format!("mode: token\n    org: acme\n    repos: \"*\"\n    api_url: {}", codehost.url()),
        ),
        ("cloud", format!("mode: env\n    region: eu-west-1\n    endpoint_url: {}", cloud.url())),
        (
            "altcloud",
            format!(
                "mode: service_account\n    admin_email: {}\n    api_url: {}",
                sandbox::DEMO_WORKSPACE_ADMIN,
                workspace.url()
            ),
        ),
    ];

    let directory = tempfile::tempdir()?;
    let directory = directory.path();
    let variables = [
        ("CODEHOST_TOKEN", sandbox::DEMO_TOKEN),
        ("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_ACCESS_KEY_ID),
        ("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY),
        ("ALTCLOUD_APPLICATION_CREDENTIALS", "credentials.json"),
    ];
    fs::write(directory.join("credentials.json"), Workspace::service_account_file(&workspace))?;
    run(directory, &variables, &["keygen", "-o", "key.pem"])?;
    let measured = |name: &str, sections: &[(&str, String)]| -> io::Result<Measured> {
        let sections: String =
            sections.iter().map(|(source, text)| format!("  {source}:\n    {text}\n")).collect();
        let text = format!(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n{sections}bundle:\n  signing:\n    \
             private_key_path: key.pem\n"
        );
        let file = format!("{name}.yaml");
        fs::write(directory.join(&file), text)?;
        let runs = (0..RUNS).map(|index| {
            let output = format!("{name}-{index}");
            run(directory, &variables, &["collect", "--quiet", "--config", &file, "--output", &output])
        });
        median(runs.collect::<io::Result<_>>()?)
    };

    anstream::println!(
        "50 repositories, 3 trails, 120 log groups, 2,000 users; {latency} ms for every answer; medians of {RUNS}"
    );
    anstream::println!("{:<10} {:>9} {:>9} {:>10}", "", "wall s", "CPU s", "peak MB");
    let mut slowest = Duration::ZERO;
    for (name, _) in &sections {
        let alone = sections.iter().filter(|(known, _)| known == name).cloned().collect::<Vec<_>>();
        let alone = measured(name, &alone)?;
        slowest = slowest.max(alone.wall);
        row(name, &alone);
    }
    let together = measured("all", &sections)?;
    row("all", &together);
    let ratio = together.wall.as_secs_f64() / slowest.as_secs_f64().max(f64::MIN_POSITIVE);
    anstream::println!("all together take {ratio:.2} of the slowest alone");
    Ok(())
}

fn row(name: &str, measured: &Measured) {
    anstream::println!(
        "{name:<10} {:>9.3} {:>9.3} {:>10.1}",
        measured.wall.as_secs_f64(),
        measured.cpu.as_secs_f64(),
        measured.megabytes()
    );
}
