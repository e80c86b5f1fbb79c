//! Only keys that the caller names are trusted, never those in the directory. Also: the commands that `collect` prints
//! work.

use std::fs;
use std::path::Path;
use std::process::Command;

use evidence_bundle::PublicKey;

use crate::common::{Lab, Run, acme, sound};

fn lab() -> Lab {
    Lab::new(acme().repository(sound("web")))
}

/// The lines below "Next": the commands that verify, show and upload.
fn next(run: &Run) -> [String; 3] {
    let lines = run.stdout.lines().skip_while(|line| *line != "Next").skip(1);
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    lines.try_into().unwrap()
}

/// Runs the command in a POSIX shell, in the lab's directory and with its variables.
fn typed(lab: &Lab, line: &str) -> Run {
    let binary = Path::new(env!("CARGO_BIN_EXE_evidence")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(binary.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = Command::new("sh");
    let like = lab.command(&[]);
    command.args(["-c", line]).current_dir(lab.path("")).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", path.unwrap());
    lab.run_command(command)
}

/// A folder from an untrusted source: a bundle, a configuration beside it, and the key that signed it.
#[test]
fn a_strangers_folder_is_not_trusted() {
    let lab = lab();
    let bundle = lab.collect(&["--quiet"]).exits(0).stdout.trim().to_owned();
    let run = lab.run(&["verify", &bundle]).exits(1).says_not("your own signing key");
    assert!(run.stdout.contains("INTACT, NOT AUTHENTICATED"), "{}", run.stdout);
    let report = lab.run(&["verify", "--json", &bundle]).exits(1).stdout;
    assert!(report.contains("\"not_authenticated\""), "{report}");
    lab.run(&["verify", &bundle, "--config", "evidence.yaml"]).exits(0);
    // The tool does not read the configuration: it reports neither invalid contents nor a missing key.
    fs::remove_file(lab.path("key.pem")).unwrap();
    assert!(lab.run(&["verify", &bundle]).exits(1).stderr.contains("INTACT, NOT AUTHENTICATED"));
    lab.write("evidence.yaml", "nonsense: [");
    assert!(lab.run(&["verify", &bundle]).exits(1).stderr.contains("INTACT, NOT AUTHENTICATED"));
    lab.run(&["verify", &bundle, "--config", "evidence.yaml"]).exits(1).says("evidence.yaml");
}

/// An upload from the same folder uses the platform's address but not the keys.
#[test]
fn an_upload_trusts_what_is_named() {
    let platform = sandbox::platform::Platform::new()
        .organization(sandbox::platform::Organization::new("org_4711", "acme", "Acme GmbH"))
        .key(sandbox::platform::Key::new("evp_CliTestsTrustKeyIsNotARealSecret42", "org_4711"))
        .serve()
        .unwrap();
    let section = format!("upload:\n  api_url: {}\n", platform.url());
    let lab = lab()
        .env("EVIDENCE_API_KEY", "evp_CliTestsTrustKeyIsNotARealSecret42")
        .with(|config| config.rest(&section));
    let bundle = lab.collect(&["--quiet"]).exits(0).stdout.trim().to_owned();
    lab.run(&["upload", &bundle]).exits(0).says("intact, not authenticated").says_not("trusted by");
    lab.run(&["upload", &bundle, "--config", "evidence.yaml"]).exits(0).says("verified, trusted by");
    let lab = lab.env("EVIDENCE_TRUSTED_KEYS", "key.pub.pem");
    lab.run(&["upload", &bundle]).exits(0).says("verified, trusted by key.pub.pem");
}

#[test]
fn what_collect_prints_as_next_works() {
    type Change = fn(Lab) -> Lab;
    let table: [(&str, Change, &[&str], &str); 7] = [
        ("a public key beside it", |lab| lab, &[], " -k key.pub.pem"),
        (
            "OpenSSH's public key beside it",
            |lab| {
                let key = PublicKey::parse(&fs::read(lab.path("key.pub.pem")).unwrap()).unwrap();
                fs::remove_file(lab.path("key.pub.pem")).unwrap();
                lab.write("key.pem.pub", format!("{} nightly@acme\n", key.to_openssh()));
                lab
            },
            &[],
            " -k key.pem.pub",
        ),
        (
            "no public key",
            |lab| {
                fs::remove_file(lab.path("key.pub.pem")).unwrap();
                lab
            },
            &[],
            " --config ./evidence.yaml",
        ),
        (
            "another public key in its place",
            |lab| {
                lab.run(&["keygen", "-o", "other.pem"]).exits(0);
                fs::rename(lab.path("other.pub.pem"), lab.path("key.pub.pem")).unwrap();
                lab
            },
            &[],
            " --config ./evidence.yaml",
        ),
        (
            "a key in a variable, and names that a shell would take apart",
            |lab| {
                let pem = fs::read_to_string(lab.path("key.pem")).unwrap();
                let lab = lab.env("KEY", &pem).with(|config| config.signing("private_key_env", "KEY"));
                fs::rename(lab.path("evidence.yaml"), lab.path("Bob's $HOME & co.yaml")).unwrap();
                lab
            },
            &["--config", "Bob's $HOME & co.yaml", "--output", "my bundles"],
            " --config ",
        ),
        (
            "a configuration that trusts another key",
            |lab| {
                lab.run(&["keygen", "-o", "other.pem"]).exits(0);
                fs::remove_file(lab.path("key.pub.pem")).unwrap();
                let text = fs::read_to_string(lab.path("evidence.yaml")).unwrap();
                lab.write("evidence.yaml", format!("{text}    trusted_keys: [other.pub.pem]\n"));
                lab
            },
            &[],
            " --fingerprint sha256:",
        ),
        (
            "a variable that trusts another key",
            |lab| {
                lab.run(&["keygen", "-o", "other.pem"]).exits(0);
                fs::remove_file(lab.path("key.pub.pem")).unwrap();
                lab.env("EVIDENCE_TRUSTED_KEYS", "other.pub.pem")
            },
            &[],
            " --fingerprint sha256:",
        ),
    ];
    for (name, change, arguments, expected) in table {
        let lab = change(lab());
        let [verify, show, upload] = next(&lab.collect(arguments).exits(0));
        assert!(verify.contains(expected), "{name}: {verify}");
        assert!(upload.contains(" --config "), "{name}: {upload}");
        let run = typed(&lab, &verify).exits(0);
        assert!(run.stdout.ends_with("\nVERIFIED\n"), "{name}: {}", run.all());
        let run = typed(&lab, &show).exits(0);
        assert!(run.stdout.contains("CC7.2  pass"), "{name}: {}", run.all());
        // The configuration has no platform: the command is valid and fails only for that reason.
        typed(&lab, &upload).exits(1).says("no evidence platform");
    }
}

/// Paths of keys and certificates are relative to the configuration; paths in variables and `--output` are not.
#[test]
fn paths_of_the_configuration_are_relative_to_it() {
    let lab = lab();
    fs::create_dir_all(lab.path("settings/keys")).unwrap();
    fs::rename(lab.path("key.pem"), lab.path("settings/keys/key.pem")).unwrap();
    fs::rename(lab.path("key.pub.pem"), lab.path("settings/keys/key.pub.pem")).unwrap();
    lab.write("settings/ca.pem", "read, and not needed on loopback");
    let lab = lab.with(|config| {
        config
            .source("ca_file", "ca.pem")
            .signing("private_key_path", "keys/key.pem")
            .rest("    trusted_keys: [keys/key.pub.pem]\n")
    });
    fs::rename(lab.path("evidence.yaml"), lab.path("settings/evidence.yaml")).unwrap();
    let run = lab.collect(&["--config", "settings/evidence.yaml"]).exits(0);
    let [verify, ..] = next(&run);
    assert!(verify.ends_with(" -k settings/keys/key.pub.pem"), "{verify}");
    assert_eq!(lab.output().len(), 1, "--output is relative to the working directory");
    let bundle = format!("evidence-bundles/{}", lab.output()[0]);
    lab.run(&["verify", &bundle, "--config", "settings/evidence.yaml"]).exits(0);
    // From a different directory, with another path of the same file.
    fs::create_dir(lab.path("elsewhere")).unwrap();
    let mut command = lab.command(&["collect", "--config", "../settings/evidence.yaml", "--quiet"]);
    command.current_dir(lab.path("elsewhere"));
    lab.run_command(command).exits(0);
    assert!(lab.path("elsewhere/evidence-bundles").is_dir());
}

/// `init` writes a path that leads to the key, wherever the configuration is.
#[test]
fn init_writes_a_path_that_leads_to_the_key() {
    let lab = lab();
    fs::create_dir(lab.path("settings")).unwrap();
    let url = lab.server.url();
    let lab = lab.env("CODEHOST_API_URL", &url);
    for (config, key) in [
        ("settings/here.yaml", "settings/new.pem"),
        ("settings/there.yaml", "new.pem"),
        ("plain.yaml", "settings/other.pem"),
    ] {
        lab.run(&["init", "--org", "acme", "--generate-keys", "--config", config, "--key", key]).exits(0);
        lab.collect(&["--config", config, "--quiet", "--output", config.trim_end_matches(".yaml")]).exits(0);
    }
}
