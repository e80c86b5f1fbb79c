//! `collect --reproducible`: the same facts give the same bytes, however and wherever the run went.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use sandbox::codehost::{Limits, Primary};
use sandbox::{Fault, FaultKind};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::common::{Bundle, Lab, acme, sound};
use super::several_sources::Company;

const EPOCH: &str = "1795251913";
const NAME: &str = "evidence-bundle-20261121-090513.tar.gz";

/// All three hosts, with rulesets, refusals and missing files at the code host.
pub(crate) fn company() -> Company {
    let host = sandbox::demo_organization().token(
        sandbox::codehost::Token::classic(super::common::TOKEN)
            .login("olivia-owner")
            .scopes(["read:org"])
            .sees_private(true),
    );
    let mut company = Company::with_host(host, sandbox::demo_account(), sandbox::demo_workspace());
    company.lab.server.update(|host| host.clear_faults());
    company.lab.set_env("SOURCE_DATE_EPOCH", EPOCH);
    let credentials = company.lab.path("credentials.json").display().to_string();
    company.lab.set_env("ALTCLOUD_APPLICATION_CREDENTIALS", &credentials);
    company
}

/// One way in which a run can differ without different facts.
pub(crate) struct Variation {
    name: &'static str,
    /// More lines of `sources.codehost`.
    settings: &'static str,
    /// More variables.
    env: &'static [(&'static str, &'static str)],
    /// A program that starts the tool.
    under: &'static [&'static str],
    /// The working directory, below that of the lab.
    directory: &'static str,
    /// The output directory.
    output: &'static str,
    arguments: &'static [&'static str],
    /// What the hosts do.
    hosts: fn(&Company),
}

pub(crate) const PLAIN: Variation = Variation {
    name: "plain",
    settings: "",
    env: &[],
    under: &[],
    directory: "",
    output: "bundles",
    arguments: &["-q"],
    hosts: |_| {},
};

/// Answers overtake each other.
fn uneven(seed: u64) -> Fault {
    Fault::on("*").kind(FaultKind::SlowBody { bytes_per_second: 20_000 }).chance(0.4, seed)
}

const VARIATIONS: &[Variation] = &[
    Variation { name: "again, with other request ids and counters", ..PLAIN },
    Variation { name: "one request at a time", settings: "    max_concurrency: 1\n", ..PLAIN },
    Variation { name: "many requests at a time", settings: "    max_concurrency: 50\n", ..PLAIN },
    Variation {
        name: "another pace",
        settings: "    rate_limit_pause: false\n    timeout_seconds: 29\n",
        ..PLAIN
    },
    Variation {
        name: "a latency",
        hosts: |company| company.lab.server.update(|host| host.set_latency(Duration::from_millis(15))),
        ..PLAIN
    },
    Variation {
        name: "answers in another order",
        settings: "    max_concurrency: 16\n",
        hosts: |company| {
            company.lab.server.update(|host| host.add_fault(uneven(7)));
            company.cloud.update(|cloud| cloud.add_fault(uneven(8)));
            company.workspace.update(|workspace| workspace.add_fault(uneven(9)));
        },
        ..PLAIN
    },
    Variation {
        name: "retries",
        hosts: |company| {
            let fault = Fault::on("*/protection").kind(FaultKind::Reset).times(2);
            company.lab.server.update(|host| host.add_fault(fault));
        },
        ..PLAIN
    },
    Variation {
        name: "another limit",
        hosts: |company| {
            let limits = Limits::primary(Primary::new(9_999, 7_777));
            company.lab.server.update(|host| host.set_limits(limits));
        },
        ..PLAIN
    },
    Variation { name: "an empty cache", settings: "    revalidate: true\n", ..PLAIN },
    Variation {
        name: "a cache of an earlier run",
        settings: "    revalidate: true\n",
        hosts: |company| {
            company.lab.run(&["collect", "-q", "-c", "evidence.yaml", "-o", "earlier"]);
        },
        ..PLAIN
    },
    Variation {
        name: "another clock of the host",
        hosts: |company| company.lab.server.advance(Duration::from_secs(3600)),
        ..PLAIN
    },
    Variation {
        name: "another locale and time zone",
        env: &[("LANG", "de_DE.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Pacific/Kiritimati")],
        ..PLAIN
    },
    Variation { name: "another umask", under: &["sh", "-c", "umask 0; exec \"$@\"", "sh"], ..PLAIN },
    Variation { name: "a strict umask", under: &["sh", "-c", "umask 077; exec \"$@\"", "sh"], ..PLAIN },
    Variation { name: "one processor", under: &["taskset", "-c", "0"], ..PLAIN },
    Variation { name: "another working directory", directory: "deep/below", ..PLAIN },
    Variation { name: "another output directory", output: "elsewhere/with a space", ..PLAIN },
    Variation { name: "another command line", arguments: &["--verbose"], ..PLAIN },
    Variation {
        name: "a key that others can read",
        hosts: |company| company.lab.set_mode("key.pem", 0o644),
        ..PLAIN
    },
];

/// Collects, and returns the archive.
pub(crate) fn archive(company: &Company, variation: &Variation) -> Option<Vec<u8>> {
    let Variation { name, settings, env, under, directory, output, arguments, hosts } = variation;
    let lab = &company.lab;
    lab.write("evidence.yaml", company.text(settings, ""));
    lab.server.update(|host| host.clear_faults());
    hosts(company);
    let place = lab.path(output);
    // The last variation may have put a bundle there.
    let _ = fs::remove_dir_all(&place);
    let here = lab.path(directory);
    fs::create_dir_all(&here).unwrap();
    let up = PathBuf::from_iter(directory.split('/').filter(|part| !part.is_empty()).map(|_| ".."));
    let mut all = vec!["collect".to_string(), "--reproducible".to_string()];
    all.extend(["-c".to_string(), up.join("evidence.yaml").display().to_string()]);
    all.extend(["-o".to_string(), up.join(output).display().to_string()]);
    all.extend(arguments.iter().map(ToString::to_string));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut command = lab.command(&all);
    if let [program, options @ ..] = under {
        let mut outer = Command::new(program);
        outer.args(options).arg(command.get_program()).args(&all).env_clear();
        outer.envs(command.get_envs().map(|(name, value)| (name, value.unwrap_or_default())));
        command = outer;
    }
    command.current_dir(here).envs(env.iter().copied());
    let run = lab.run_command(command);
    // Without the program, there is nothing to compare.
    if run.code == Some(127) {
        return None;
    }
    assert_eq!(run.code, Some(3), "{name}: {}", run.all());
    Some(fs::read(place.join(NAME)).unwrap())
}

/// The bundle with these bytes.
pub(crate) fn open(bytes: &[u8]) -> Bundle {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bundle.tar.gz");
    fs::write(&path, bytes).unwrap();
    Bundle::open(&path)
}

/// The first file in which two bundles differ, and its contents.
fn difference(one: &[u8], other: &[u8]) -> String {
    let (one, other) = (open(one), open(other));
    let shown = |bundle: &Bundle, path: &str| {
        String::from_utf8_lossy(bundle.file(path).unwrap_or_default())
            .lines()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let mut text = String::new();
    for path in one.paths().into_iter().filter(|path| one.file(path) != other.file(path)) {
        let (left, right) = (shown(&one, path), shown(&other, path));
        let lines = left.iter().zip(&right).find(|(left, right)| left != right);
        text.push_str(&format!("{path}: {lines:#?}\n"));
    }
    text
}

#[test]
fn the_same_facts_give_the_same_bytes() {
    let company = company();
    let plain = archive(&company, &PLAIN).unwrap();
    let mut differ = Vec::new();
    for variation in VARIATIONS {
        match archive(&company, variation) {
            Some(bytes) if bytes != plain => {
                differ.push(format!("{}: {}", variation.name, difference(&plain, &bytes)));
            }
            Some(_) | None => {}
        }
    }
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), VARIATIONS.len(), differ.join("\n"));
}

/// In the same directory the second run finds its own bundle and leaves it as it is.
#[test]
fn the_same_bundle_is_not_written_twice() {
    for extra in ["false", "true"] {
        let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", EPOCH);
        let lab = lab.with(|config| config.bundle("detached_signature", extra));
        let first = lab.collect(&["-q", "--reproducible"]).exits(0);
        let second = lab.collect(&["-q", "--reproducible"]).exits(0);
        assert_eq!(first.stdout, second.stdout);
        let expected = if extra == "true" { 2 } else { 1 };
        assert_eq!(lab.output().len(), expected, "{:?}", lab.output());
    }
}

/// What a run is not reproducible without, and what only a run without the flag records.
#[test]
fn only_a_reproducible_run_leaves_out_what_depends_on_it() {
    let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", EPOCH);
    let paths = [
        ("run.json", "/hostname"),
        ("run.json", "/platform"),
        ("run.json", "/command"),
        ("run.json", "/config/path"),
        ("run.json", "/config/file_sha256"),
        ("run.json", "/sources/0/requests"),
        ("run.json", "/sources/0/retries"),
        ("run.json", "/sources/0/revalidated"),
        ("run.json", "/sources/0/rate_limit"),
        ("run.json", "/sources/0/paused_seconds"),
        ("derived/observations.json", "/observations/0/requests/0/request_id"),
        ("derived/observations.json", "/observations/0/requests/0/etag"),
    ];
    for (flag, is_recorded) in [("-q", true), ("--reproducible", false)] {
        let bundle = lab.collect(&[flag]).exits(0).bundle();
        for (document, pointer) in paths {
            let found = bundle.json(document);
            assert_eq!(
                found.pointer(pointer).is_some(),
                is_recorded,
                "{flag} {document} {pointer}: {found:#}"
            );
        }
        fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    }
}

/// The digest is over the settings that decide what is collected and judged, and over nothing else.
#[test]
fn the_digest_of_the_settings() {
    let lab = Lab::new(acme().repository(sound("web")));
    let digest = |config: String| {
        lab.write("evidence.yaml", config);
        let bundle = lab.collect(&["-q"]).bundle();
        fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
        let run = bundle.json("run.json");
        let scope = bundle.json("derived/scope.json");
        let settings = serde_json::json!({
            "framework": scope["framework"], "controls": bundle.manifest()["controls"], "sources": scope["sources"],
        });
        // As docs/bundle-format.md describes it: keys in order, no white space.
        let expected = hex::encode(Sha256::digest(settings.to_string()));
        assert_eq!(run["config"]["sha256"], Value::from(expected));
        run["config"]["sha256"].as_str().unwrap().to_string()
    };
    let first = digest(lab.config().text());
    for (key, value) in [
        ("max_concurrency", "3"),
        ("requests_per_minute", "6000"),
        ("timeout_seconds", "31"),
        ("rate_limit_pause", "true"),
        ("revalidate", "true"),
        ("token_env", "CODEHOST_TOKEN"),
    ] {
        assert_eq!(digest(lab.config().source(key, value).text()), first, "{key}");
    }
    assert_eq!(digest(format!("# a comment\n{}", lab.config().text())), first);
    assert_eq!(digest(lab.config().bundle("max_size_mb", "49").text()), first);
    for (key, value) in [("branch", "release"), ("exclude", "[acme/nothing]"), ("repos", "[acme/web]")] {
        assert_ne!(digest(lab.config().source(key, value).text()), first, "{key}");
    }
    assert_ne!(digest(lab.config().controls("[CC7.2]").text()), first);
}
