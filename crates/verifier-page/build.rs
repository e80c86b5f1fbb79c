//! Compiles the verifier to WebAssembly with a separate Cargo and puts everything into one HTML file.
#![allow(clippy::expect_used, clippy::panic, reason = "a build fails by panicking")]
#![allow(clippy::print_stdout, reason = "Cargo reads what a build script prints")]

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

const TARGET: &str = "wasm32-unknown-unknown";

/// The environment variable that leaves the page out, for a build that is in a hurry.
const OMITTED: &str = "EVIDENCE_WITHOUT_VERIFIER_PAGE";

/// The environment variables that the nested Cargo inherits: where its downloads are, how to get them, and how many
/// jobs may run. All other settings of the outer Cargo concern another package, profile, target or wrapper.
const KEPT: [&str; 6] =
    ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_MAKEFLAGS", "CARGO_TERM_"];

fn main() {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let crates = own.parent().expect("the crates are in one directory");
    let workspace = crates.parent().expect("the crates are in a workspace");
    let out = PathBuf::from(variable("OUT_DIR"));
    for path in
        [workspace.join("Cargo.toml"), workspace.join("Cargo.lock"), own.join("page"), own.join("build.rs")]
    {
        changed(&path);
    }
    println!("cargo::rerun-if-env-changed=EVIDENCE_COMMIT");
    println!("cargo::rerun-if-env-changed={OMITTED}");
    let html = match target_library() {
        _ if env::var_os(OMITTED).is_some() => {
            println!("cargo::warning=the verifier page is left out: {OMITTED} is set");
            String::new()
        }
        Some(library) if library.is_dir() => page(&own.join("page"), &compile(crates, workspace, &out)),
        library => {
            // A directory that appears later triggers a rebuild.
            library.iter().for_each(|path| changed(path));
            println!(
                "cargo::warning=the verifier page is left out: `rustup target add {TARGET}`, then build again"
            );
            String::new()
        }
    };
    fs::write(out.join("verify.html"), html).expect("the page can be written");
}

fn changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name}"))
}

/// The directory of the standard library for WebAssembly, installed or not.
fn target_library() -> Option<PathBuf> {
    let output = Command::new(variable("RUSTC"))
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(path.trim()))
}

/// Compiles the verifier to WebAssembly.
fn compile(crates: &Path, workspace: &Path, out: &Path) -> Vec<u8> {
    // One target directory for all profiles and targets of the outer Cargo, since the page is the same. Cargo marks
    // its own with CACHEDIR.TAG.
    let outer = out.ancestors().find(|directory| directory.join("CACHEDIR.TAG").is_file());
    let target = outer.unwrap_or(out).join("verifier-page");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.current_dir(workspace).args(["rustc", "--quiet", "--locked", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--profile", "verifier", "--target", TARGET, "--manifest-path"]);
    cargo.arg(crates.join("evidence-verifier/Cargo.toml")).arg("--target-dir").arg(&target);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let is_outer = text.starts_with("CARGO") || text.starts_with("RUST") && !text.starts_with("RUSTUP_");
        if is_outer && !KEPT.iter().any(|kept| text.starts_with(kept)) {
            cargo.env_remove(&name);
        }
    }
    // Reproducible output: remove the paths of this machine.
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=/evidence", workspace.display())];
    flags.extend(home.map(|home| format!("--remap-path-prefix={}=/cargo", home.display())));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    let status = cargo.status().expect("Cargo starts");
    assert!(status.success(), "the verifier page's WebAssembly does not build: see above");
    let made = target.join(TARGET).join("verifier/evidence_verifier");
    let sources = fs::read_to_string(made.with_extension("d")).expect("Cargo has listed the sources");
    sources_of(&sources).for_each(|path| changed(&path));
    fs::read(made.with_extension("wasm")).expect("Cargo has made the WebAssembly")
}

/// The files of the workspace that the WebAssembly is made of, by Cargo's list, and the manifests of their crates.
fn sources_of(list: &str) -> impl Iterator<Item = PathBuf> {
    // The form of a rule of make: a space inside of a path has a backslash.
    let files = list.replace("\\ ", "\0");
    let files = files.split(' ').skip(1).map(|path| PathBuf::from(path.trim_end().replace('\0', " ")));
    let files: std::collections::BTreeSet<PathBuf> = files.collect();
    let crates = files.iter().flat_map(|path| path.ancestors().map(|parent| parent.join("Cargo.toml")));
    let manifests: std::collections::BTreeSet<PathBuf> = crates.filter(|path| path.is_file()).collect();
    files.into_iter().chain(manifests)
}

/// Combines everything into one file.
fn page(parts: &Path, wasm: &[u8]) -> String {
    let part = |name: &str| {
        // A browser normalizes every line end to one character.
        fs::read_to_string(parts.join(name)).expect("the parts of the page are there").replace("\r\n", "\n")
    };
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(wasm).expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    let script = part("page.js");
    let commit = env::var("EVIDENCE_COMMIT").unwrap_or_default();
    assert!(commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "EVIDENCE_COMMIT is the hash of a commit");
    let commit = if commit.is_empty() { String::new() } else { format!(", commit {commit}") };
    let mut html = part("verify.html").trim_end().to_owned();
    for (place, text) in [
        ("{{style}}", part("style.css")),
        ("{{script-hash}}", STANDARD.encode(Sha256::digest(&script))),
        ("{{worker}}", part("worker.js")),
        ("{{release}}", format!("evidence {}{commit}", variable("CARGO_PKG_VERSION"))),
        ("{{self}}", "0".repeat(64)),
        ("{{wasm}}", STANDARD.encode(packed)),
        ("{{script}}", script),
    ] {
        assert!(html.matches(place).count() == 1, "{place} is in the page once");
        html = html.replace(place, &text);
    }
    seal(&html)
}

/// Inserts the hash of the page, computed with zeros in its place: see `evidence-verifier`, `page.rs`.
fn seal(html: &str) -> String {
    let (before, after) = html.split_once(&"0".repeat(64)).expect("there is a place for the hash");
    format!("{before}{}{after}", hex::encode(Sha256::digest(html)))
}
