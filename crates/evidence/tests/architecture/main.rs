//! The structure of the crates: no import cycles between modules, a correct picture of the crates, and a reason for
//! every dependency.
//!
//! An import counts towards the module that defines the item, whatever re-exports it. A module and one of its direct
//! children may use each other; a circle of more modules is an error. The check reads the sources of every crate of the workspace, without test-only code.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod circles;
mod dependencies;
#[path = "../support/generated.rs"]
mod generated;
mod posts;
mod sources;

use std::path::PathBuf;

use sources::Crate;

fn crates() -> Vec<Crate> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut crates: Vec<Crate> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("src/lib.rs").exists())
        .map(|path| Crate::read(&path.file_name().unwrap().to_string_lossy(), &path.join("src/lib.rs")))
        .collect();
    crates.sort_by(|one, other| one.name.cmp(&other.name));
    crates
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for this in crates() {
        let imports = this.imports();
        println!("{}: {} modules, {} imports", this.name, this.modules.len(), imports.len());
        for circle in circles::circles(&imports) {
            let mut text = format!("{}: {} modules: {}", this.name, circle.len(), circle.join(", "));
            let closing = circles::closing(&circle, &imports);
            for import in imports.iter().filter(|(from, to)| circle.contains(from) && circle.contains(to)) {
                let note =
                    if closing.contains(import) { "  (without this import there is no circle)" } else { "" };
                text.push_str(&format!("\n    {} -> {}{note}", import.0, import.1));
            }
            found.push(text);
        }
    }
    assert!(found.is_empty(), "{} circles\n{}", found.len(), found.join("\n"));
}

/// The client of all hosts knows none of them: what differs is in a dialect, a credential or a call.
#[test]
fn the_http_crate_names_no_host() {
    const WORDS: [&str; 16] = [
        "github",
        "gitlab",
        "bitbucket",
        "aws",
        "amazon",
        "google",
        "azure",
        "okta",
        "codehost",
        "cloud",
        "organization",
        "repositor",
        "x-amz",
        "ghs_",
        "workspace",
        "installation",
    ];
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../evidence-http");
    let mut open = vec![directory.join("src"), directory.join("tests")];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        for (number, line) in text.lines().enumerate() {
            found.extend(
                WORDS
                    .iter()
                    .filter(|word| line.contains(**word))
                    .map(|word| format!("{}:{}: {word}", path.display(), number + 1)),
            );
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_dependency_has_a_reason() {
    generated::generated("CONTRIBUTING.md", &[("dependencies", dependencies::reasons())]);
}

#[test]
fn the_picture_of_the_crates_is_in_step() {
    generated::generated("docs/architecture.md", &[("crates", dependencies::picture())]);
}

/// Tests the check itself: it finds a cycle through a re-export and through a path in an expression, and accepts one
/// between a module and its children.
#[test]
fn a_circle_is_found() {
    let made = |files: &[(&str, &str)]| Crate::of("made-up", files);
    let straight = made(&[
        ("", "mod one; mod two; pub use one::Item;"),
        ("one", "mod below; pub struct Item; use self::below::Part;"),
        ("one::below", "use super::Item; pub struct Part;"),
        ("two", "use crate::Item;"),
    ]);
    assert_eq!(circles::circles(&straight.imports()), Vec::<Vec<String>>::new());
    assert!(straight.imports().contains(&("two".to_string(), "one".to_string())));
    let round = made(&[
        ("", "mod one; mod two; pub use one::Item;"),
        ("one", "pub struct Item; fn call() { format!(\"{}\", crate::two::called()); }"),
        ("two", "use crate::Item; pub fn called() {}"),
    ]);
    assert_eq!(circles::circles(&round.imports()), [["one", "two"]]);
    let by_tests = made(&[
        ("", "mod one; mod two;"),
        ("one", "pub struct Item; #[cfg(test)] mod tests { use crate::two::called; }"),
        ("two", "use crate::one::Item; pub fn called() {}"),
    ]);
    assert_eq!(circles::circles(&by_tests.imports()), Vec::<Vec<String>>::new());
}
