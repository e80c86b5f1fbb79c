//! The picture of the crates, from their manifests.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The crates of the workspace and what each uses of the others, as a Mermaid graph.
pub(crate) fn picture() -> String {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
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
