//! `init`, `keygen`, `schema`, `completions`, `man` and every `--help`: their output and their files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{Lab, acme, names, sound};
use crate::validator::Validator;
use evidence::manual::EVERY;

fn lab() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

#[test]
fn help() {
    let lab = lab();
    let run = lab.run(&["--help"]).exits(0);
    assert!(run.stderr.is_empty());
    insta::assert_snapshot!("help", run.stdout);
    for command in EVERY {
        assert!(run.stdout.contains(&format!("\n  {command} ")), "{command}");
        let run = lab.run(&[command, "--help"]).exits(0);
        insta::assert_snapshot!(format!("help_{command}"), run.stdout);
        assert!(!run.stdout.contains('\u{1b}'));
    }
    // A wrong command, and no command.
    insta::assert_snapshot!("usage", lab.run(&["colect"]).exits(1).shown());
}

#[test]
fn the_specifications_flags_are_all_there() {
    let help = lab().run(&["collect", "-h"]).exits(0).stdout;
    for flag in [
        "-c, --config",
        "-o, --output",
        "-u, --upload",
        "-d, --dry-run",
        "-v, --verbose",
        "-q, --quiet",
        "-h, --help",
        "./evidence.yaml",
        "./evidence-bundles",
    ] {
        assert!(help.contains(flag), "{flag} is not in\n{help}");
    }
}

#[test]
fn version() {
    let lab = lab();
    let run = lab.run(&["--version"]).exits(0);
    assert_eq!(run.stdout, concat!("evidence ", env!("CARGO_PKG_VERSION"), "\n"));
    lab.run(&["collect", "--version"]).exits(0);
}

#[test]
fn completions() {
    let lab = lab();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = lab.run(&["completions", shell]).exits(0);
        assert!(run.stdout.len() > 1_000, "{shell}");
        assert!(run.stdout.contains("collect") && run.stdout.contains("dry-run"), "{shell}");
        assert!(run.stderr.is_empty());
    }
    let script = lab.run(&["completions", "bash"]).stdout;
    lab.write("completions.bash", script);
    let checked = Command::new("bash").arg("-n").arg(lab.path("completions.bash")).status().unwrap();
    assert!(checked.success(), "bash cannot read its completions");
}

#[test]
fn manual_pages() {
    let lab = lab();
    let write = |date: &str| {
        let mut command = lab.command(&["man", "--output", "out/man"]);
        command.env("SOURCE_DATE_EPOCH", date);
        lab.run_command(command)
    };
    write("1795251913").exits(0);
    let page = |name: &str| fs::read_to_string(lab.path("out/man").join(name)).unwrap();
    let main = page("evidence.1");
    assert!(main.contains(".TH evidence 1 2026-11-21 \"evidence "), "{main}");
    assert!(!main.contains("Exit codes: 0"), "{main}");
    for command in EVERY {
        assert!(main.contains(&format!("evidence\\-{command}(1)")), "{command}: {main}");
        let page = page(&format!("evidence-{command}.1"));
        assert!(page.contains(&format!(".TH evidence-{command} 1 2026-11-21 ")), "{page}");
    }
    assert!(page("evidence-verify.1").contains("max\\-age"));
    for name in EVERY.iter().map(|command| format!("evidence-{command}.1")).chain(["evidence.1".to_string()])
    {
        let page = page(&name);
        for heading in ["EXIT STATUS", "ENVIRONMENT", "EXAMPLES"] {
            assert!(
                page.contains(&format!(".SH \"{heading}\"")) || page.contains(&format!(".SH {heading}\n")),
                "{name}"
            );
        }
    }
    insta::assert_snapshot!(
        "man_collect",
        page("evidence-collect.1").split_once(".SH \"EXIT STATUS\"").unwrap().1
    );
    lint(&lab.path("out/man"));
    // The program itself, and the two commands of `waivers`.
    assert_eq!(fs::read_dir(lab.path("out/man")).unwrap().count(), EVERY.len() + 1 + 2);
    // The tool accepts an existing directory and rejects an invalid date.
    write("0").exits(0);
    assert!(page("evidence.1").contains(" 1970-01-01 "));
    insta::assert_snapshot!("man_date", write("yesterday").exits(1).shown());
    lab.write("file", "");
    lab.run(&["man", "--output", "file/man"]).exits(1).says("file/man");
}

/// Checks the pages as the release does.
fn lint(directory: &std::path::Path) {
    let pages = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    match Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).args(pages).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        Err(_) => eprintln!("SKIPPED: the check of the manual pages needs mandoc"),
    }
}

#[test]
fn schemas() {
    let lab = lab();
    for of in ["config", "manifest", "run", "normalized", "hints"] {
        let run = lab.run(&["schema", of]).exits(0);
        let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(schema["$schema"].as_str().unwrap().contains("2020-12"), "{of}");
        assert!(Validator::new(schema).validate(&serde_json::json!({})).is_err(), "{of}");
    }
    assert_eq!(lab.run(&["schema"]).stdout, lab.run(&["schema", "config"]).stdout);
}

#[test]
fn keygen() {
    let lab = lab();
    let run = lab.run(&["keygen"]).exits(0);
    insta::assert_snapshot!("keygen", run.shown());
    let mode = |name: &str| fs::metadata(lab.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("evidence-signing-key.pem"), 0o600);
    assert_eq!(mode("evidence-signing-key.pub.pem"), 0o644);
    assert!(!run.all().contains("PRIVATE"));
    // A second run overwrites nothing.
    let before = fs::read(lab.path("evidence-signing-key.pem")).unwrap();
    let run = lab.run(&["keygen"]).exits(1);
    insta::assert_snapshot!("keygen_again", run.shown());
    assert_eq!(fs::read(lab.path("evidence-signing-key.pem")).unwrap(), before);
    // The same if only one of the two files exists.
    fs::remove_file(lab.path("evidence-signing-key.pem")).unwrap();
    lab.run(&["keygen"]).exits(1).says("evidence-signing-key.pub.pem");
    assert!(!lab.path("evidence-signing-key.pem").exists(), "half a key pair");
    lab.run(&["keygen", "--output", "nowhere/key.pem"]).exits(1).says("nowhere/key.pem");
}

/// OpenSSL reads the keys that `keygen` writes, and computes the same key id.
#[test]
fn openssl_reads_the_keys() {
    let lab = lab();
    let printed = lab.run(&["keygen", "-o", "acme.pem"]).exits(0).stdout;
    let script = "openssl pkey -in acme.pem -pubout -outform DER | sha256sum; \
                  openssl pkey -pubin -in acme.pub.pem -outform DER | sha256sum";
    let output = Command::new("sh").args(["-c", script]).current_dir(lab.path("")).output().unwrap();
    let ids = String::from_utf8(output.stdout).unwrap();
    let ids: Vec<&str> = ids.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(ids[0], ids[1]);
    assert!(printed.contains(&format!("sha256:{}", ids[0])), "{printed}");
}

#[test]
fn init() {
    let lab = lab();
    fs::remove_file(lab.path("evidence.yaml")).unwrap();
    let run = lab.run(&["init", "--org", "acme", "--generate-keys"]).exits(0);
    insta::assert_snapshot!("init", run.shown());
    insta::assert_snapshot!("init_evidence_yaml", fs::read_to_string(lab.path("evidence.yaml")).unwrap());
    // The generated configuration works unedited.
    let url = lab.server.url();
    let lab = lab.env("CODEHOST_API_URL", &url);
    lab.collect(&[]).exits(0);
    let bundle = format!("evidence-bundles/{}", lab.output()[0]);
    lab.run(&["verify", "--quiet", "-k", "evidence-signing-key.pub.pem", &bundle]).exits(0);
}

#[test]
fn init_overwrites_nothing() {
    let lab = lab();
    let before = fs::read(lab.path("evidence.yaml")).unwrap();
    let run = lab.run(&["init", "--generate-keys"]).exits(1);
    insta::assert_snapshot!("init_again", run.shown());
    assert_eq!(fs::read(lab.path("evidence.yaml")).unwrap(), before);
    assert_eq!(names(&lab.path("")), ["evidence.yaml", "key.pem", "key.pub.pem"], "no keys half way");
    // `init` also keeps an existing key, and leaves no partial configuration.
    lab.run(&["init", "--generate-keys", "--config", "new.yaml", "--key", "key.pem"]).exits(1).says("key");
    assert!(!lab.path("new.yaml").exists());
}

#[test]
fn init_quotes_what_yaml_would_misread() {
    for org in ["a: b", "x'y\"z #1"] {
        lab().run(&["init", "--config", "new.yaml", "--org", org]).exits(1).says("is not a valid name");
    }
    for org in ["acme", "123", "null"] {
        let lab = lab();
        lab.run(&["init", "--config", "new.yaml", "--org", org, "--key", "./a key's \"name\".pem"]).exits(0);
        let text = fs::read_to_string(lab.path("new.yaml")).unwrap();
        assert!(text.contains("org: "), "{text}");
        let run = lab.run(&["collect", "-d", "-c", "new.yaml"]);
        // The error for an invalid name is about the name, not about YAML.
        assert_eq!(run.code, Some(1), "{org}: {}", run.all());
        assert!(!run.stderr.contains("syntax"), "{org}: {}", run.stderr);
    }
}

/// The tool reports all problems of a configuration at once, with their places.
#[test]
fn configuration_problems_are_reported_at_once() {
    let lab = lab();
    lab.write(
        "evidence.yaml",
        "framework: soc2_type2\ncontrols: [CC6.1, CC6.1, CC8.1]\nsources:\n  codehots:\n    mode: token\n  codehost:\n    \
         mode: app\n    org: acme\n    repos: [acme/web, other/web]\n    timeout_seconds: soon\n    api_url: \
         http://code.example.com\nbundle:\n  signing: {}\n",
    );
    let run = lab.collect(&[]).exits(1);
    insta::assert_snapshot!("configuration_problems", run.shown());
    lab.write("evidence.yaml", "framework: soc2_type1\nsources:\n  codehost:\n    repos: *\n");
    insta::assert_snapshot!("configuration_unquoted_star", lab.collect(&[]).exits(1).shown());
    lab.write("evidence.yaml", "");
    insta::assert_snapshot!("configuration_empty", lab.collect(&[]).exits(1).shown());
}
