//! How many requests a repository takes, by what there is in it: the table of docs/sources/codehost.md.

use std::path::Path;

use sandbox::codehost::{File, Repository, Ruleset};

use crate::common::{Lab, acme, repository, sound, strong};

fn owners() -> File {
    File::text("* @acme/everyone\n")
}

/// With sufficient classic protection, and these files.
fn protected(paths: &[&str]) -> Repository {
    let protected = repository("web").protection("main", strong());
    paths.iter().fold(protected, |repository, path| repository.file(*path, owners()))
}

fn cases() -> Vec<(&'static str, Repository)> {
    let ruled = || sound("web").unprotected("main");
    let full = || Ruleset::new(1, "full").reviews(1).status_checks(["ci/build"]);
    vec![
        ("protected, CODEOWNERS in `.github/`", sound("web")),
        ("protected, CODEOWNERS in the root", protected(&["CODEOWNERS"])),
        ("protected, CODEOWNERS in `docs/`", protected(&["docs/CODEOWNERS"])),
        ("protected, no CODEOWNERS", protected(&["README.md"])),
        ("protected by a ruleset alone, CODEOWNERS in `.github/`", ruled().ruleset(full())),
        ("not protected, CODEOWNERS in `.github/`", ruled()),
        ("neither protected nor CODEOWNERS", repository("web").file("README.md", owners())),
        ("archived, CODEOWNERS in `.github/`", sound("web").archived(true)),
        ("archived, nothing", repository("web").archived(true)),
        ("empty", repository("web").empty()),
    ]
}

/// The requests about the repository.
fn about_it(lab: &Lab) -> usize {
    let count = lab.requested().iter().filter(|path| path.starts_with("/repos/acme/web")).count();
    lab.server.clear_log();
    count
}

/// Requests left in the hour.
fn remaining(lab: &Lab) -> u64 {
    let bundle = lab.collect(&[]).bundle();
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    bundle.source()["rate_limit"]["remaining"].as_u64().unwrap()
}

/// Counts the first run, and the next one with `revalidate: true`; `UPDATE_DOCS=1` writes the table.
#[test]
fn every_case_takes_the_least_requests() {
    let mut table = "| repository | requests | second run with `revalidate: true` | of these counted |\n\
                     |---|---:|---:|---:|\n"
        .to_string();
    for (case, repository) in cases() {
        let lab = Lab::new(acme().repository(repository.clone()));
        lab.collect(&[]);
        let first = about_it(&lab);
        let lab = Lab::new(acme().repository(repository)).with(|config| config.source("revalidate", "true"));
        let before = remaining(&lab);
        about_it(&lab);
        let after = remaining(&lab);
        let again = about_it(&lab);
        // The question for the account counts in every run.
        let counted = before - after - 1;
        table.push_str(&format!("| {case} | {first} | {again} | {counted} |\n"));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources/codehost.md");
    let before = std::fs::read_to_string(&page).unwrap();
    let (begin, end) = ("<!-- generated: least requests -->\n", "<!-- end: least requests -->\n");
    let (head, rest) = before.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let after = format!("{head}{begin}\n{table}\n{end}{tail}");
    if before != after {
        assert!(std::env::var_os("UPDATE_DOCS").is_some(), "run this once with UPDATE_DOCS=1: {table}");
        std::fs::write(page, after).unwrap();
    }
}
