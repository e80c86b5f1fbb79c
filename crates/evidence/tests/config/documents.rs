//! The template that `evidence init` writes, and `docs/configuration.md`, against the code.

use std::path::PathBuf;

use evidence::config::{KeySource, found_reference, reference, template};
use evidence::source::github::config::{CodeHostConfig, Repositories};
use proptest::prelude::*;

use super::{accept, refuse};

/// The file behind the sample in the documentation.
const SAMPLE: &str = include_str!("documented-sample.yaml");

#[test]
fn the_template_is_valid_as_it_is() {
    let config = accept(template("soc2_type1", "acme", "~/keys/signing-key.pem"));
    let host = config.source::<CodeHostConfig>().cloned().unwrap();
    assert_eq!(host.org, "acme");
    assert_eq!(host.repos, Repositories::All);
    assert_eq!(config.controls.len(), 3);
    assert_eq!(
        config.bundle.signing.key,
        KeySource::File(PathBuf::from("/home/auditor/keys/signing-key.pem"))
    );
    assert!(config.upload.is_none());
}

/// The settings of modes that the template does not use.
const OTHER_MODES: [&str; 10] = [
    "service_account:",
    "iam_url:",
    "token_uri:",
    "credentials_json_env:",
    "credentials_command:",
    "app_id:",
    "client_id:",
    "installation_id:",
    "private_key_path: ~/.config/evidence/app.",
    "private_key_env: CODEHOST_APP_KEY",
];

#[test]
fn the_template_is_valid_with_everything_uncommented() {
    let template = template("soc2_type1", "acme", "signing-key.pem");
    let mut uncommented = 0;
    let text: String = template
        .lines()
        .map(|line| {
            let indent = line.len() - line.trim_start().len();
            let (indent, rest) = line.split_at(indent);
            match rest.strip_prefix('#').filter(|setting| !setting.is_empty() && !setting.starts_with(' ')) {
                // Each of them excludes settings of the mode that the template uses.
                Some(setting) if OTHER_MODES.iter().any(|key| setting.starts_with(key)) => String::new(),
                Some(setting) => {
                    uncommented += 1;
                    format!("{indent}{setting}\n")
                }
                None => format!("{line}\n"),
            }
        })
        .collect();
    assert!(uncommented >= 20, "only {uncommented} settings");
    // Only this mode accepts a role; the template uses the other mode.
    let text = text.replace("mode: env", "mode: assume_role");
    let config = accept(&text);
    assert!(config.upload.is_some());
    assert!(config.source::<CodeHostConfig>().cloned().unwrap().ca_file.is_some());
}

#[test]
fn the_template_can_be_read_on_a_narrow_screen() {
    assert!(template("soc2_type1", "acme", "key.pem").lines().all(|line| line.chars().count() <= 110));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_put_into_the_template_comes_out(
        org in "[A-Za-z0-9._-]{1,12}", path in "[^\\p{C}~][^\\p{C}]{0,20}",
    ) {
        prop_assume!(org != "." && org != "..");
        let config = accept(template("soc2_type1", &org, &path));
        prop_assert_eq!(config.source::<CodeHostConfig>().cloned().unwrap().org, org);
        prop_assert_eq!(config.bundle.signing.key, KeySource::File(PathBuf::from(path)));
    }
}

#[test]
fn words_that_yaml_takes_for_something_else_are_quoted() {
    for org in ["123", "true", "null", "1e3", "0x10", "-", "---", ".", "~", "1_000", "NULL", ".nan", "-1"] {
        let text = template("soc2_type1", org, "key.pem");
        match org {
            "." | "~" => drop(refuse(&text)),
            _ => assert_eq!(accept(&text).source::<CodeHostConfig>().cloned().unwrap().org, org),
        }
    }
}

#[test]
fn every_variable_is_documented() {
    let documentation = include_str!("../../../../docs/configuration.md");
    let (_, table) = documentation.split_once("## Environment variables").unwrap();
    for name in ["CODEHOST_TOKEN", "CODEHOST_API_URL", "EVIDENCE_API_KEY", "HOME"] {
        assert!(table.contains(&format!("| `{name}`")), "{name}");
    }
}

#[test]
fn the_documentation_is_in_step() {
    let template = format!("```yaml\n{}```\n", template("soc2_type1", "acme", "./evidence-signing-key.pem"));
    let errors = format!("```text\n{}```\n", refuse(SAMPLE).render(false));
    let parts =
        [("keys", reference()), ("found", found_reference()), ("template", template), ("errors", errors)];
    crate::generated::generated("docs/configuration.md", &parts);
    crate::generated::generated("docs/waivers.md", &[("keys", evidence::waivers::reference())]);
}
