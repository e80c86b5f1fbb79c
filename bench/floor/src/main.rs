//! The floor: collects an organization with bare hyper and nothing around it.
//!
//! `floor <base url> <organization> <token> <in flight> <output directory> [gzip]` requests the organization, the pages
//! of its repositories, and each repository's branch protection and CODEOWNERS from the code host's API, with this many
//! requests in flight. If the classic rule is not sufficient, it also requests the rules of the branch and their
//! rulesets: the same requests as `evidence`. It keeps the same fields as `evidence`, writes a file for each, lists
//! their checksums, signs the list, and packs everything into one archive. It prints one line with its measurements.
//!
//! It never retries, waits, judges, screens or verifies, and stops at the first unexpected answer: it is a lower bound
//! for the cost of a run, not a tool. Plain HTTP only. With `gzip`, answers may be compressed.

mod lane;
mod pack;
mod record;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use futures_util::future::try_join_all;
use lane::{Host, Lane};
use pack::Files;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One request to make.
enum Task {
    Page(u64),
    Protection(usize),
    Codeowners(usize),
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run())) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("floor: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (base, organization, token, in_flight, output, gzip) = match arguments.as_slice() {
        [base, organization, token, in_flight, output] => {
            (base, organization, token, in_flight, output, false)
        }
        [base, organization, token, in_flight, output, gzip] if gzip == "gzip" => {
            (base, organization, token, in_flight, output, true)
        }
        _ => {
            return Err(
                "usage: floor <base url> <organization> <token> <in flight> <output directory> [gzip]".into(),
            );
        }
    };
    let in_flight: usize = in_flight.parse()?;
    let host = Host::new(base, token, gzip)?;
    let files = RefCell::new(Files::new(PathBuf::from(output))?);

    let begun = Instant::now();
    let mut lanes: Vec<Lane> = (0..in_flight.max(1)).map(|_| Lane::new(&host)).collect();
    let names = repositories(&mut lanes, organization, &files).await?;
    looks(&mut lanes, organization, &names, &files).await?;
    let network = begun.elapsed();
    let requests: u64 = lanes.iter().map(Lane::requests).sum();
    drop(lanes);

    let files = files.into_inner();
    let count = files.count();
    let bytes = files.pack()?;
    Ok(format!(
        "requests={requests} network_s={:.3} wall_s={:.3} files={count} bundle_bytes={bytes}",
        network.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    ))
}

/// Takes tasks from the front, on every lane, until none are left.
async fn work(
    lanes: &mut [Lane<'_>],
    tasks: VecDeque<Task>,
    does: impl AsyncFn(&mut Lane<'_>, Task) -> Outcome<()>,
) -> Outcome<()> {
    let (tasks, does) = (RefCell::new(tasks), &does);
    let next = || tasks.borrow_mut().pop_front();
    let workers = lanes.iter_mut().map(|lane| async move {
        while let Some(task) = next() {
            does(lane, task).await?;
        }
        Ok(())
    });
    try_join_all(workers).await.map(|_: Vec<()>| ())
}

/// The organization's settings, and the names of its repositories in order.
async fn repositories(
    lanes: &mut [Lane<'_>],
    organization: &str,
    files: &RefCell<Files>,
) -> Outcome<Vec<Box<str>>> {
    let first = lanes.first_mut().ok_or("nothing in flight")?;
    let answer = first.get(&format!("/orgs/{organization}")).await?.good()?;
    files.borrow_mut().add("org_settings.json", &record::organization(&answer)?)?;

    let page = first.get(&page(organization, 1)).await?;
    let last = page.last_page().unwrap_or(1);
    let names = RefCell::new(record::names(&page.good()?)?);
    work(lanes, (2..=last).map(Task::Page).collect(), async |lane: &mut Lane<'_>, task| {
        if let Task::Page(number) = task {
            let found = record::names(&lane.get(&self::page(organization, number)).await?.good()?)?;
            names.borrow_mut().extend(found);
        }
        Ok(())
    })
    .await?;
    let mut names = names.into_inner();
    names.sort_unstable();
    Ok(names)
}

fn page(organization: &str, number: u64) -> String {
    format!("/orgs/{organization}/repos?per_page=100&sort=full_name&direction=asc&page={number}")
}

/// The protections, then the CODEOWNERS.
async fn looks(
    lanes: &mut [Lane<'_>],
    organization: &str,
    names: &[Box<str>],
    files: &RefCell<Files>,
) -> Outcome<()> {
    let protections = (0..names.len()).map(Task::Protection);
    let tasks = protections.chain((0..names.len()).map(Task::Codeowners)).collect();
    work(lanes, tasks, async |lane: &mut Lane<'_>, task| match task {
        Task::Page(_) => Ok(()),
        Task::Protection(at) => {
            let name = &names[at];
            let path = format!("/repos/{organization}/{name}/branches/main/protection");
            let mut enough = false;
            if let Some(body) = lane.get(&path).await?.found()? {
                let (bytes, protects) = record::protection(&body)?;
                enough = protects;
                let file = format!("repo_{organization}_{name}_branch_protection.json");
                files.borrow_mut().add(&file, &bytes)?;
            }
            if !enough { rulesets(lane, organization, name, files).await } else { Ok(()) }
        }
        Task::Codeowners(at) => {
            let name = &names[at];
            for place in [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] {
                let path = format!("/repos/{organization}/{name}/contents/{place}");
                if let Some(body) = lane.get(&path).await?.found()? {
                    let bytes = record::codeowners(&body)?;
                    files.borrow_mut().add(&format!("repo_{organization}_{name}_codeowners.json"), &bytes)?;
                    break;
                }
            }
            Ok(())
        }
    })
    .await
}

/// The rules of rulesets for a branch, and each ruleset that they belong to.
async fn rulesets(
    lane: &mut Lane<'_>,
    organization: &str,
    name: &str,
    files: &RefCell<Files>,
) -> Outcome<()> {
    let path = format!("/repos/{organization}/{name}/rules/branches/main?per_page=100");
    let Some(body) = lane.get(&path).await?.found()? else { return Ok(()) };
    let (bytes, rulesets) = record::rules(&body)?;
    files.borrow_mut().add(&format!("repo_{organization}_{name}_branch_rules.json"), &bytes)?;
    for id in rulesets {
        let path = format!("/repos/{organization}/{name}/rulesets/{id}");
        let bytes = record::ruleset(&lane.get(&path).await?.good()?)?;
        files.borrow_mut().add(&format!("repo_{organization}_{name}_ruleset_{id}.json"), &bytes)?;
    }
    Ok(())
}
