//! A run under the documented limits takes the computed time: a small version of docs/scale.md.
//!
//! Uses a clock that jumps when every task waits (see `simulate`), so the results do not depend on the machine.

use evidence::forecast::schedule::schedule;
use jiff::SignedDuration;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::simulate::forecasts::{self, Forecasted};
use crate::simulate::organization::{LATENCY, Organization, Run, USUAL, requests};
use crate::simulate::{PER_HOUR, PER_HOUR_OF_APP, Simulation, table};

/// The allowed difference between the simulated and the computed time.
const PERCENT: f64 = 2.0;

fn difference(simulated: SignedDuration, computed: SignedDuration) -> f64 {
    (simulated.as_secs_f64() / computed.as_secs_f64() - 1.0) * 100.0
}

/// More requests than an hour allows.
#[test]
#[ignore = "long: hours of simulated time"]
fn a_run_of_hours_takes_the_computed_time() {
    let organization = Organization { repositories: 2_400, mix: USUAL };
    let phases = organization.ours(Run::First);
    let computed = schedule(&phases, &organization.our_terms());
    let run = Simulation::new(2_400, LATENCY).unwrap().collect("").unwrap();

    assert_eq!((run.requests, run.refused), (requests(&phases), 0));
    let percent = difference(run.after, computed.after);
    assert!(percent.abs() <= PERCENT, "{:#} where {:#} was computed", run.after, computed.after);
    assert_eq!(computed.waits, 1, "one hour is not enough");
    println!(
        "scale: {} requests, {:#} by the clock, {percent:+.2} % of what was computed; {:.1} s on this machine",
        run.requests,
        run.after,
        run.wall.as_secs_f64()
    );
}

/// A run too short for the hourly limit, so that pacing decides its duration; and the next run, without changes.
#[test]
fn a_run_of_minutes_takes_the_computed_time_every_night() {
    let organization = Organization { repositories: 1_000, mix: USUAL };
    let simulation = Simulation::new(1_000, LATENCY).unwrap();
    for (night, kept) in [Run::Keeping, Run::Again].into_iter().enumerate() {
        let phases = organization.ours(kept);
        let computed = schedule(&phases, &organization.our_terms()).after;
        let run = simulation.collect("    revalidate: true\n").unwrap();
        assert_eq!((run.requests, run.refused), (requests(&phases), 0));
        let percent = difference(run.after, computed).abs();
        assert!(percent <= PERCENT, "night {night}: {:#} where {computed:#} was computed", run.after);
        simulation.pass(Duration::from_hours(24));
    }
}

/// In bulk, the host's time for queries decides how long a run takes, and the run uses nearly all that the host allows.
#[test]
fn a_run_in_bulk_takes_the_host_s_time() {
    const REPOSITORIES: u32 = 2_000;
    let run = |per_hour| {
        let simulation = Simulation::limited(REPOSITORIES, LATENCY, per_hour).unwrap();
        simulation.collect("    bulk: true\n").unwrap()
    };
    let (run, as_app) = (run(PER_HOUR), run(PER_HOUR_OF_APP));
    assert_eq!((run.requests, run.bulk), (as_app.requests, as_app.bulk));
    let bulk = run.bulk.unwrap();
    assert_eq!((run.refused, bulk.queries), (0, u64::from(REPOSITORIES) / 25));
    // 1.25 s for 50 repositories, a few less in the last page of each query.
    assert!((99..=100).contains(&bulk.host_seconds), "{bulk:?}");
    // Without the host's limit it would be 34 s; one by one it takes more than an hour.
    let (least, most) = (SignedDuration::from_secs(60), SignedDuration::from_secs(150));
    assert!((least..most).contains(&run.after), "{:#}", run.after);
    println!(
        "scale: {bulk:?}, {} requests, {:#} by the clock, {:.1} s here",
        run.requests,
        run.after,
        run.wall.as_secs_f64()
    );
}

/// The forecast of a dry run may be off by this much of the duration, and that of the progress by this much from its first
/// tenth on.
const PLANNED: f64 = 25.0;
const PROGRESS: f64 = 15.0;

/// In a run of several minutes, a request more or less can decide over one more minute of the pace.
const MINUTE: f64 = 60.0;
const MINUTES: f64 = 4.0 * MINUTE;

fn forecast_well(runs: &[Forecasted]) {
    let rows: String = runs.iter().map(Forecasted::row).collect();
    println!("{}{rows}", forecasts::HEAD);
    for run in runs {
        let Forecasted { planned, simulated, .. } = run;
        let seconds = simulated.after.as_secs_f64();
        let is_one_minute = seconds >= MINUTES && run.worst() / 100.0 * seconds <= MINUTE;
        assert!(run.worst() <= PROGRESS || is_one_minute, "{}", run.row());
        let tolerance = SignedDuration::from_secs(3);
        let is_near = (planned.usual.after - simulated.after).abs() <= tolerance;
        assert!(is_near || run.plan_error().abs() <= PLANNED, "{:.0} %: {}", run.plan_error(), run.row());
        let range = planned.least.after - tolerance..=planned.most.after + tolerance;
        assert!(range.contains(&simulated.after), "{}", run.row());
    }
}

/// First, resumed, second, with an app's limits and in bulk.
#[test]
fn every_forecast_is_near_what_the_run_takes() {
    forecast_well(&forecasts::runs(500).unwrap());
}

#[test]
#[ignore = "long: hours of simulated time"]
fn every_forecast_of_hours_is_near_what_the_run_takes() {
    forecast_well(&forecasts::runs(2_000).unwrap());
}

/// Simulates runs over so many repositories. With `UPDATE_DOCS=1`, writes the table of this name in docs/scale.md.
fn forecasts_of_the_page(name: &str, sizes: &[u32]) {
    let runs = sizes.iter().flat_map(|repositories| forecasts::runs(*repositories).unwrap());
    let runs: Vec<Forecasted> = runs.collect();
    let rows: String = runs.iter().map(Forecasted::row).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = std::fs::read_to_string(documents().join("scale.md")).unwrap();
        let table = format!("{}{rows}", forecasts::HEAD);
        std::fs::write(documents().join("scale.md"), with_table(&page, name, &table)).unwrap();
    }
    forecast_well(&runs);
}

#[test]
#[ignore = "a measurement for the page: a minute or two"]
fn the_forecasts_of_the_page() {
    forecasts_of_the_page("forecasts", &[50, 500, 5_000]);
}

/// Days of simulated time.
#[test]
#[ignore = "a measurement for the page, of 700,000 requests: ten minutes and more"]
fn forecasts_of_fifty_thousand_repositories() {
    forecasts_of_the_page("forecasts of 50,000", &[50_000]);
}

/// The page with this table between the markers of this name.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let (head, rest) = page.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once(&end).unwrap();
    format!("{head}{begin}\n{table}\n{end}{tail}")
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The page's tables and the picture's curve match the computed figures; `UPDATE_DOCS=1` writes them.
#[test]
fn the_figures_are_the_arithmetic_s() {
    let page = std::fs::read_to_string(documents().join("scale.md")).unwrap();
    let mut tables = page.clone();
    for (name, table) in [("runs", table::runs()), ("mixes", table::mixes())] {
        tables = with_table(&tables, name, &table);
    }
    for (name, text) in [("scale.md", tables), ("scale.csv", table::curve())] {
        let file = documents().join(name);
        if std::fs::read_to_string(&file).is_ok_and(|before| before == text) {
            continue;
        }
        assert!(std::env::var_os("UPDATE_DOCS").is_some(), "docs/{name}: run this once with UPDATE_DOCS=1");
        std::fs::write(file, text).unwrap();
    }
}

/// Every point of the picture has a label that matches the table.
#[test]
fn the_picture_is_the_table_s() {
    let picture = std::fs::read_to_string(documents().join("scale.svg")).unwrap();
    let table = table::runs();
    let mut points = 0;
    for row in table.lines().skip(2) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for (run, column) in [("naive", 3), ("first run", 5), ("re-run", 7)] {
            let title = format!("<title>{run}, {} repositories: {}</title>", cells[1], cells[column]);
            assert!(picture.contains(&title), "{title} is not in docs/scale.svg: run bench/scale_chart.py");
            points += 1;
        }
    }
    assert_eq!(picture.matches("<title>").count(), points, "and no other point");
}
