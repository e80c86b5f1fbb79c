//! The tool's forecasts beside what its runs take by the simulated clock.

use std::time::Duration;

use evidence::forecast::{self, Range};
use evidence_text::{duration, thousands};
use jiff::{SignedDuration, Timestamp};

use super::organization::LATENCY;
use super::{PER_HOUR, PER_HOUR_OF_APP, Simulated, Simulation};

/// Long enough for the limit to begin anew.
const LATER: Duration = Duration::from_hours(3);

const REVALIDATE: &str = "    revalidate: true\n";

/// Reads many repositories with one query.
const BULK: &str = "    bulk: true\n";

/// A run and its forecasts.
#[derive(Debug)]
pub(crate) struct Forecasted {
    repositories: u32,
    run: &'static str,
    /// Of the dry run before it.
    pub(crate) planned: Range,
    pub(crate) simulated: Simulated,
}

/// First, resumed, second, with the limits of an app, and in bulk with the limits of both.
pub(crate) fn runs(repositories: u32) -> Result<Vec<Forecasted>, String> {
    let mut runs = Vec::new();
    let token = Simulation::new(repositories, LATENCY)?;
    let first = forecasted(&token, repositories, "first", "", false)?;
    let half = SignedDuration::from_millis(i64::try_from(first.simulated.after.as_millis() / 2).unwrap_or(0));
    runs.push(first);
    let keeping = Simulation::new(repositories, LATENCY)?;
    keeping.kill_after(REVALIDATE, half)?;
    keeping.pass(LATER);
    runs.push(forecasted(&keeping, repositories, "resumed", REVALIDATE, true)?);
    runs.push(forecasted(&keeping, repositories, "second", REVALIDATE, false)?);
    for (run, settings, per_hour) in
        [("app", "", PER_HOUR_OF_APP), ("bulk", BULK, PER_HOUR), ("bulk, app", BULK, PER_HOUR_OF_APP)]
    {
        let simulation = Simulation::limited(repositories, LATENCY, per_hour)?;
        runs.push(forecasted(&simulation, repositories, run, settings, false)?);
    }
    Ok(runs)
}

/// A run after a dry run, each with the whole limit.
fn forecasted(
    simulation: &Simulation,
    repositories: u32,
    run: &'static str,
    settings: &str,
    resume: bool,
) -> Result<Forecasted, String> {
    let (plan, now) = simulation.plan(settings, resume)?;
    let planned = forecast::of(&plan, now);
    simulation.pass(LATER);
    let simulated = match resume {
        true => simulation.resume(settings)?,
        false => simulation.collect(settings)?,
    };
    simulation.pass(LATER);
    Ok(Forecasted { repositories, run, planned, simulated })
}

impl Forecasted {
    /// By how much the usual value of the dry run differs, in percent of the duration.
    pub(crate) fn plan_error(&self) -> f64 {
        percent(self.planned.usual.after, &self.simulated)
    }

    /// The largest difference of the progress, in percent of the duration, from the first tenth of it on. Three seconds
    /// are no difference.
    pub(crate) fn worst(&self) -> f64 {
        let Simulated { after, began, forecasts, .. } = &self.simulated;
        let tenth = after.as_secs_f64() / 10.0;
        let from = forecasts.iter().filter(|(at, _)| at.duration_since(*began).as_secs_f64() >= tenth);
        let errors = from
            .map(|(_, forecast)| self.of(forecast.done))
            .filter(|total| (*total - *after).abs() > SignedDuration::from_secs(3));
        errors.map(|total| percent(total, &self.simulated).abs()).fold(0.0, f64::max)
    }

    /// The whole duration, as forecast after this many tenths of it.
    fn at(&self, tenths: i32) -> Option<SignedDuration> {
        let Simulated { after, began, forecasts, .. } = &self.simulated;
        let until = after.as_secs_f64() * f64::from(tenths) / 10.0;
        let made = forecasts.iter().rfind(|(at, _)| at.duration_since(*began).as_secs_f64() <= until);
        made.map(|(_, forecast)| self.of(forecast.done))
    }

    fn of(&self, done: Timestamp) -> SignedDuration {
        done.duration_since(self.simulated.began)
    }

    /// The row of the table in docs/scale.md.
    pub(crate) fn row(&self) -> String {
        let Forecasted { repositories, run, planned: Range { least, usual, most }, simulated } = self;
        let text = |after: SignedDuration| duration(after.as_secs());
        let at = |tenths| self.at(tenths).map_or_else(|| "–".to_string(), text);
        format!(
            "| {} | {run} | {} | {} ({} to {}) | {:+.0} % | {} | {} | {} | {} | {:.0} % |\n",
            thousands(u64::from(*repositories)),
            thousands(simulated.requests),
            text(usual.after),
            text(least.after),
            text(most.after),
            self.plan_error(),
            text(simulated.after),
            at(1),
            at(3),
            at(6),
            self.worst(),
        )
    }
}

/// The head of the table.
pub(crate) const HEAD: &str = "| repositories | run | requests | dry run | difference | simulated | after 10 % | after 30 % | after 60 % | largest difference |\n\
     |---:|---|---:|---|---:|---:|---:|---:|---:|---:|\n";

fn percent(forecast: SignedDuration, simulated: &Simulated) -> f64 {
    (forecast.as_secs_f64() / simulated.after.as_secs_f64() - 1.0) * 100.0
}
