//! How long a collection takes under the code host's documented limits: computed, and simulated with a clock that
//! jumps.
//!
//! `cargo bench -p evidence --bench scale -- [repositories ...]`: each a multiple of 50; by default 50, 500, 5,000 and
//! 50,000. With `bulk` it simulates only runs with `bulk: true`. Prints the tables of docs/scale.md first; `-- csv` prints the curve of
//! its picture and nothing else, `-- forecasts` the tool's forecasts beside what its runs take. The
//! simulation is the tool's library against the sandbox, which enforces the limits; hours pass at once. A measurement,
//! not a test: it fails only if a run does.

mod simulate;

use std::process::ExitCode;
use std::time::Duration;

use evidence::forecast::schedule::{Phase, schedule};
use evidence_bundle::document::BulkRecord;
use evidence_text::{duration, thousands};
use jiff::SignedDuration;
use simulate::organization::{LATENCY, Organization, Run, USUAL};
use simulate::{PER_HOUR, PER_HOUR_OF_APP, Simulated, Simulation, forecasts, table};

/// Keeps the answers, so that the next run only asks whether they still hold.
const REVALIDATE: &str = "    revalidate: true\n";

/// Reads many repositories with one query.
const BULK: &str = "    bulk: true\n";

/// The time between two nightly runs.
const DAY: Duration = Duration::from_hours(24);

fn main() -> ExitCode {
    let mut sizes: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![50, 500, 5_000, 50_000];
    }
    if std::env::args().any(|argument| argument == "bulk") {
        return bulk(&sizes);
    }
    if std::env::args().any(|argument| argument == "csv") {
        anstream::print!("{}", table::curve());
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|argument| argument == "forecasts") {
        anstream::print!("{}", forecasts::HEAD);
        let sizes = sizes.into_iter().filter_map(|repositories| u32::try_from(repositories).ok());
        for runs in sizes.map(forecasts::runs) {
            match runs {
                Ok(runs) => runs.iter().for_each(|run| anstream::print!("{}", run.row())),
                Err(error) => {
                    anstream::eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        return ExitCode::SUCCESS;
    }
    anstream::println!("{}\n{}", table::runs(), table::mixes());
    anstream::println!(
        "{:<11} {:<8} {:>12} {:>12} {:>16} {:>16} {:>11} {:>8} {:>10}",
        "repositories",
        "run",
        "requests",
        "computed",
        "computed",
        "simulated",
        "difference",
        "refused",
        "wall s"
    );
    for repositories in sizes {
        if let Err(error) = measured(repositories) {
            anstream::eprintln!("{repositories} repositories: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Simulates reading in bulk, with the limits of a user and of an app.
fn bulk(sizes: &[u64]) -> ExitCode {
    anstream::println!(
        "| repositories | credential | requests | queries | points | the host's time | simulated | refused |\n|---:|---|---:|---:|---:|---:|---:|---:|"
    );
    for repositories in sizes {
        for (credential, per_hour) in [("token", PER_HOUR), ("app", PER_HOUR_OF_APP)] {
            let run = u32::try_from(*repositories).map_err(|error| error.to_string());
            let run = run.and_then(|count| Simulation::limited(count, LATENCY, per_hour)?.collect(BULK));
            let run = match run {
                Ok(run) => run,
                Err(error) => {
                    anstream::eprintln!("{repositories} repositories: {error}");
                    return ExitCode::FAILURE;
                }
            };
            let record = run.bulk.unwrap_or(BulkRecord { queries: 0, points: 0, host_seconds: 0 });
            anstream::println!(
                "| {} | {credential} | {} | {} | {} | {} | {} | {} |",
                thousands(*repositories),
                thousands(run.requests),
                thousands(record.queries),
                thousands(record.points),
                duration(i64::try_from(record.host_seconds).unwrap_or(i64::MAX)),
                duration(run.after.as_secs()),
                run.refused
            );
        }
    }
    ExitCode::SUCCESS
}

fn measured(repositories: u64) -> Result<(), String> {
    let organization = Organization { repositories, mix: USUAL };
    let count = u32::try_from(repositories).map_err(|error| error.to_string())?;
    let simulation = Simulation::new(count, LATENCY)?;
    print(organization, "first", &organization.ours(Run::Keeping), &simulation.collect(REVALIDATE)?);
    simulation.pass(DAY);
    print(organization, "again", &organization.ours(Run::Again), &simulation.collect(REVALIDATE)?);
    Ok(())
}

fn print(organization: Organization, run: &str, phases: &[Phase], simulated: &Simulated) {
    let computed = schedule(phases, &organization.our_terms()).after;
    let seconds = |time: SignedDuration| format!("{:.1} s", time.as_secs_f64());
    let difference = (simulated.after.as_secs_f64() / computed.as_secs_f64() - 1.0) * 100.0;
    anstream::println!(
        "{:<11} {:<8} {:>12} {:>12} {:>16} {:>16} {:>10.2}% {:>8} {:>10.1}",
        thousands(organization.repositories),
        run,
        thousands(simulated.requests),
        duration(computed.as_secs()),
        seconds(computed),
        seconds(simulated.after),
        difference,
        simulated.refused,
        simulated.wall.as_secs_f64()
    );
}
