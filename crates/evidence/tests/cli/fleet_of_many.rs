//! Two hundred organizations: on one machine, killed and started again, and as four shards at once.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use sandbox::codehost::Limits;
use serde_json::Value;

use crate::common::Lab;
use crate::fleet::{fleet, with_outcome};

const ORGANIZATIONS: u64 = 200;

fn rows(lab: &Lab, folder: &str) -> Value {
    serde_json::from_slice(&fs::read(lab.path(&format!("{folder}/fleet.json"))).unwrap()).unwrap()
}

fn complete(lab: &Lab, folder: &str) -> BTreeSet<String> {
    with_outcome(&rows(lab, folder), "bundle").into_iter().collect()
}

fn start(lab: &Lab, arguments: &[&str]) -> Child {
    lab.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Prints the times; asserts what became of each organization.
#[test]
#[ignore = "a measurement of 200 organizations, several times: minutes"]
fn two_hundred_organizations() {
    let limits = Limits { primary: None, ..Limits::default() };
    let (lab, names) = fleet(ORGANIZATIONS, |host| host.limits(limits).latency(Duration::from_millis(20)));
    let lab = lab.with(|config| config.source("org", "\"{org}\"").source("requests_per_minute", "0"));
    let collect = |folder: &str, more: &[&str]| {
        let mut arguments = vec!["fleet", "--orgs", &names, "-o", folder, "-q"];
        arguments.extend(more);
        let (begun, asked) = (Instant::now(), lab.requested().len());
        lab.run(&arguments).exits(0);
        println!(
            "{folder}: {:.1} s, {} requests, {} complete",
            begun.elapsed().as_secs_f64(),
            lab.requested().len() - asked,
            complete(&lab, folder).len()
        );
    };
    collect("one-worker", &["--workers", "1"]);
    collect("four-workers", &["--workers", "4"]);
    assert_eq!(complete(&lab, "four-workers").len(), 200);

    // Killed after 3 s, then started again.
    let mut killed = start(&lab, &["fleet", "--orgs", &names, "-o", "killed", "-q"]);
    std::thread::sleep(Duration::from_secs(3));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = fs::read_dir(lab.path("killed")).map_or(0, Iterator::count);
    assert!(!lab.path("killed/fleet.json").exists());
    println!("killed: after 3 s, {before} folders");
    collect("killed", &[]);
    assert_eq!(complete(&lab, "killed").len(), 200);
    lab.run(&["verify", "-k", "key.pub.pem", "killed/fleet.json"]).exits(0);

    // As four machines would: four processes at once.
    let (begun, parts) =
        (Instant::now(), [1, 2, 3, 4].map(|part| (format!("part-{part}"), format!("{part}/4"))));
    let mut children = parts.clone().map(|(folder, shard)| {
        start(&lab, &["fleet", "--orgs", &names, "-o", &folder, "--shard", &shard, "-q"])
    });
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let of_parts = parts.map(|(folder, _)| complete(&lab, &folder));
    let sizes = of_parts.each_ref().map(BTreeSet::len);
    println!("four shards at once: {:.1} s, {sizes:?} organizations", begun.elapsed().as_secs_f64());
    assert_eq!(sizes.iter().sum::<usize>(), 200, "each organization in one part");
    assert_eq!(of_parts.into_iter().flatten().collect::<BTreeSet<_>>().len(), 200);
}
