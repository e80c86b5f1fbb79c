//! What the answers for the second framework carry and no rule needs is nowhere: not in the bundle, not in the cache, not in
//! the log, and not in what a killed run leaves.
//!
//! The simulated hosts plant the markers in every such field: titles, texts and labels of changes, texts of advisories,
//! descriptions, tags and owners in the cloud, addresses and descriptions in the directory.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use sandbox::Server;
use sandbox::cloud::Cloud;
use sandbox::workspace::Workspace;

use crate::common::{Lab, names};
use crate::search::Traces;

/// The markers of the simulated hosts.
const MARKERS: [&str; 2] = ["planted-7f3c", "MARKER-"];

/// At how many points a run is killed.
const KILLS: u32 = 8;

/// Three hosts, and a configuration with every rule, a cache and a map of people.
struct Hosts {
    lab: Lab,
    cloud: Server<Cloud>,
    workspace: Server<Workspace>,
}

fn hosts(latency: Duration) -> Hosts {
    let lab = Lab::new(sandbox::demo_organization().latency(latency))
        .env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN)
        .env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_ACCESS_KEY_ID)
        .env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY)
        .env("ALTCLOUD_APPLICATION_CREDENTIALS", "credentials.json");
    let cloud = sandbox::demo_account().latency(latency).serve().unwrap();
    // A policy for a group, so that members of groups are read too.
    let policy = sandbox::workspace::Policy::new("security.password", serde_json::json!({}));
    let workspace = sandbox::demo_workspace()
        .latency(latency)
        .policy(policy.group("group-x").order(Some(0.5)))
        .group("group-x", [sandbox::DEMO_WORKSPACE_ADMIN])
        .serve()
        .unwrap();
    lab.write("credentials.json", Workspace::service_account_file(&workspace));
    lab.set_mode("credentials.json", 0o600);
    lab.write("people.csv", "altcloud,codehost\nmax.member@acme.example,olivia-owner\n");
    let text = format!(
        "framework: tsc_2017\ncontrols: \"*\"\npeople:\n  map: people.csv\nsources:\n  altcloud:\n    mode: service_account\n    \
         admin_email: {}\n    api_url: {workspace}\n    cloud_identity_url: {workspace}\n  codehost:\n    mode: token\n    \
         org: acme\n    repos: \"*\"\n    api_url: {}\n    requests_per_minute: 0\n    revalidate: true\n  cloud:\n    mode: env\n    \
         regions: [eu-west-1, us-east-1]\n    endpoint_url: {}\nbundle:\n  signing:\n    private_key_path: key.pem\n",
        sandbox::DEMO_WORKSPACE_ADMIN,
        lab.server.url(),
        cloud.url(),
        workspace = workspace.url(),
    );
    lab.write("evidence.yaml", text);
    Hosts { lab, cloud, workspace }
}

/// Whatever is below the directory, unpacked as far as that goes.
fn nothing_below(traces: &Traces, directory: &Path) -> u32 {
    let mut files = 0;
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            files += nothing_below(traces, &path);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        traces.absent(&name, &bytes);
        let mut unpacked = Vec::new();
        // A killed run leaves the beginning of an archive.
        let _ = MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked);
        traces.absent(&name, &unpacked);
        files += 1;
    }
    files
}

#[test]
fn nothing_that_no_rule_needs_is_kept_or_shown() {
    let traces = Traces::of(MARKERS);
    let hosts = hosts(Duration::ZERO);
    // With an empty cache, and with a full one.
    for _ in 0..2 {
        let run = hosts.lab.collect(&["--verbose"]);
        assert!(matches!(run.code, Some(0 | 3 | 4)), "{:?}: {}", run.code, run.all());
        traces.absent("the output", run.all().as_bytes());
        traces.absent("the log", run.stderr.as_bytes());
        let files = nothing_below(&traces, &hosts.lab.path("."));
        assert!(files > 5, "{files} files");
    }
    // The hosts did plant them, in each new answer of each host.
    let asked =
        |paths: &[String], part: &str| assert!(paths.iter().any(|path| path.contains(part)), "{part}");
    let codehost = hosts.lab.requested();
    ["/pulls", "/dependabot/alerts", "/search/issues", "/activity", "/members"]
        .iter()
        .for_each(|part| asked(&codehost, part));
    let cloud: Vec<String> =
        hosts.cloud.requests().into_iter().filter_map(|request| request.action).collect();
    ["GetCredentialReport", "DescribeSecurityGroups", "DescribeDBInstances", "GetDetector", "GetBucketAcl"]
        .iter()
        .for_each(|part| asked(&cloud, part));
    let workspace: Vec<String> =
        hosts.workspace.requests().into_iter().map(|request| request.path_and_query).collect();
    ["/v1/policies", "/orgunits", "/groups/group-x/members"].iter().for_each(|part| asked(&workspace, part));
}

#[test]
fn a_killed_run_leaves_nothing_of_it() {
    let traces = Traces::of(MARKERS);
    let hosts = hosts(Duration::from_millis(3));
    let begun = Instant::now();
    let whole = hosts.lab.collect(&["-q"]);
    assert!(matches!(whole.code, Some(0 | 3 | 4)));
    let took = begun.elapsed();
    for kill in 1..=KILLS {
        let mut child = hosts
            .lab
            .command(&["collect", "--verbose"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(took.mul_f64(f64::from(kill) / f64::from(KILLS + 1)));
        let _ = child.kill();
        child.wait().unwrap();
        nothing_below(&traces, &hosts.lab.path("."));
    }
    let resumed = hosts.lab.collect(&["--resume", "--verbose"]);
    traces.absent("the resumed run", resumed.all().as_bytes());
    nothing_below(&traces, &hosts.lab.path("."));
}
