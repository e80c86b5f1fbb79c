//! The picture of the crates and the table of their dependencies, from the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The programs and their crates.
const PROGRAMS: [(&str, &str); 3] =
    [("tool", "evidence"), ("platform", "evidence-platform"), ("sandbox", "sandbox")];

/// The crates of the workspace and what each uses of the others, as a Mermaid graph.
pub(crate) fn picture() -> String {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeSet<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let mut lines = BTreeSet::new();
    for package in packages {
        let user = package["name"].as_str().unwrap();
        for used in package["dependencies"].as_array().unwrap() {
            let name = used["name"].as_str().unwrap();
            let arrow = if used["kind"] == "dev" { "-. tests .->" } else { "-->" };
            if names.contains(name) && name != user {
                lines.insert(format!("    {user} {arrow} {name}\n"));
            }
        }
    }
    format!("```mermaid\ngraph TD\n{}```\n", lines.into_iter().collect::<String>())
}

/// Every external dependency: its reason, from the workspace's manifest, and the programs whose own crates use it.
pub(crate) fn reasons() -> String {
    let mut used: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for package in metadata()["packages"].as_array().unwrap() {
        let user = package["name"].as_str().unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() {
                let name = dependency["name"].as_str().unwrap().to_owned();
                used.entry(name).or_default().push((user.to_owned(), dependency.clone()));
            }
        }
    }
    let compiled = PROGRAMS.map(|(program, package)| (program, compiled(package)));
    let manifest = include_str!("../../../../Cargo.toml");
    let (_, dependencies) = manifest.split_once("\n[workspace.dependencies]\n").unwrap();
    let (dependencies, _) = dependencies.split_once("\n[").unwrap();
    let mut table = String::from("| Dependency | Why | Where |\n|---|---|---|\n");
    let mut reason = None;
    for line in dependencies.lines() {
        // `##` starts a heading.
        if let Some(text) = line.strip_prefix("# ") {
            reason = Some(text);
        } else if let Some((name, _)) = line.split_once(" = ").filter(|(_, value)| !value.contains("path = "))
        {
            let reason =
                reason.take().unwrap_or_else(|| panic!("{name} needs a reason above it in Cargo.toml"));
            let users = used.remove(name).unwrap_or_else(|| panic!("no crate uses {name}"));
            let parts: Vec<_> = users.iter().filter(|(_, dependency)| dependency["kind"].is_null()).collect();
            // A program contains an optional dependency only if its dependency tree does.
            let part_of = |names: &BTreeSet<String>| {
                names.contains(name) && parts.iter().any(|(user, _)| names.contains(user))
            };
            let programs = compiled.iter().filter(|(_, names)| part_of(names));
            let programs: Vec<&str> = programs.map(|(program, _)| *program).collect();
            let place = match programs.as_slice() {
                [] if users.iter().any(|(_, dependency)| dependency["kind"] == "build") => "build".to_owned(),
                [] => match parts.first() {
                    Some((_, dependency)) => {
                        dependency["target"].as_str().unwrap_or("not on Linux").to_owned()
                    }
                    None => "tests".to_owned(),
                },
                programs => programs.join(", "),
            };
            table.push_str(&format!("| `{name}` | {reason} | {place} |\n"));
        } else {
            reason = None;
        }
    }
    assert!(used.is_empty(), "not in the workspace's Cargo.toml: {:?}", used.keys());
    table
}

/// The names of the packages compiled into a package, for Linux on every host.
fn compiled(package: &str) -> BTreeSet<String> {
    let options =
        ["--edges", "normal,no-proc-macro", "--prefix", "none", "--target", "x86_64-unknown-linux-gnu"];
    let output = cargo(&[["tree", "--locked", "--package", package].as_slice(), &options].concat());
    let names = output.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

fn metadata() -> Value {
    serde_json::from_str(&cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"])).unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
