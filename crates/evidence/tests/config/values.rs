//! The values that a valid file produces: defaults, overrides, expansion.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence::config::{Config, ConfigError, KeySource};
use evidence::env::{Clock, Env};
use evidence::source::github::config::{
    AppKey, AppSettings, Branch, CodeHostConfig, Issuer, Repositories, SignIn,
};

use super::{MINIMAL, accept, refuse, with_host_line};

fn with_env(variables: &[(&str, &str)], text: &str) -> Result<Config, ConfigError> {
    let env = Env::new(variables.iter().copied(), Clock::System);
    Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env)
}

fn controls(config: &Config) -> Vec<&str> {
    config.controls.iter().map(|control| control.id).collect()
}

fn rules(host: &CodeHostConfig) -> Vec<&str> {
    host.rules.iter().map(|rule| rule.code).collect()
}

#[test]
fn what_is_left_out_has_the_documented_default() {
    let config = accept(MINIMAL);
    assert_eq!(config.framework.id, "soc2_type1");
    assert_eq!(controls(&config), ["CC6.1", "CC6.6", "CC7.2"]);
    assert_eq!(config.path, Path::new("evidence.yaml"));
    assert_eq!(config.file_sha256.len(), 64);
    let host = config.source::<CodeHostConfig>().cloned().unwrap();
    assert_eq!(host.sign_in, SignIn::Token("CODEHOST_TOKEN".to_owned()));
    assert_eq!(host.repos, Repositories::All);
    assert_eq!(host.branch, Branch::Unset);
    assert_eq!(rules(&host), ["two-factor-required", "codeowners-default-rule", "branch-protection"]);
    assert!(host.rate_limit_pause);
    assert_eq!(host.timeout, Duration::from_secs(60));
    assert_eq!(host.api_url.as_str(), "https://api.github.com/");
    assert_eq!(host.max_concurrency, NonZeroUsize::new(32).unwrap());
    assert_eq!(host.requests_per_minute, 900);
    assert_eq!(host.ca_file, None);
    assert_eq!(config.bundle.max_size_bytes, 50_000_000);
    assert_eq!(config.bundle.signing.key, KeySource::File(PathBuf::from("signing-key.pem")));
    assert_eq!(config.bundle.signing.passphrase_env, None);
    assert!(config.bundle.signing.trusted_keys.is_empty());
    assert!(config.upload.is_none());

    let upload =
        accept(format!("{MINIMAL}upload: {{api_url: \"https://evidence.example.com\"}}\n")).upload.unwrap();
    assert_eq!(upload.platform_url, upload.api_url);
    assert_eq!(upload.api_key_env, "EVIDENCE_API_KEY");
    assert_eq!(upload.organization_id, None);
    assert_eq!(upload.retention_days, 365);
    assert!(upload.tags.is_empty());
    assert!(upload.verify_before_upload);
    assert!(!upload.delete_after_upload);
    assert_eq!(upload.timeout, Duration::from_secs(300));
    assert_eq!(upload.retry_attempts, 3);
    // The same as without a file.
    let at = evidence::config::UploadConfig::at(upload.api_url.clone());
    assert_eq!(format!("{at:?}"), format!("{upload:?}"));
}

#[test]
fn what_is_given_is_taken() {
    let config = accept(include_str!("valid/complete.yaml"));
    assert_eq!(controls(&config), ["CC6.1", "CC7.2"]);
    let host = config.source::<CodeHostConfig>().cloned().unwrap();
    assert_eq!(host.sign_in, SignIn::Token("ACME_TOKEN".to_owned()));
    assert_eq!(host.org, "Acme");
    assert_eq!(host.repos, Repositories::Listed(vec!["web".to_owned(), "api.v2".to_owned()]));
    assert_eq!(host.branch.setting(), "release/2026");
    assert_eq!(rules(&host), ["two-factor-required", "codeowners-default-rule"]);
    assert!(!host.rate_limit_pause);
    assert_eq!(host.timeout, Duration::from_millis(2500));
    assert_eq!(host.api_url.as_str(), "https://code.example.com/api/v3");
    assert_eq!(host.max_concurrency, NonZeroUsize::new(8).unwrap());
    assert_eq!(host.requests_per_minute, 0);
    assert_eq!(host.ca_file, Some(PathBuf::from("/home/auditor/company.pem")));
    assert_eq!(config.bundle.signing.key, KeySource::Env("ACME_SIGNING_KEY".to_owned()));
    assert_eq!(config.bundle.signing.passphrase_env.as_deref(), Some("ACME_PASSPHRASE"));
    assert_eq!(
        config.bundle.signing.trusted_keys,
        [PathBuf::from("evidence.pub"), PathBuf::from("/home/auditor/keys/old.pub")]
    );
    assert_eq!(config.bundle.max_size_bytes, 120_000_000);
    let upload = config.upload.unwrap();
    assert_eq!(upload.api_url.as_str(), "https://evidence.example.com/api");
    assert_eq!(upload.platform_url.as_str(), "https://evidence.example.com/");
    assert_eq!(upload.organization_id.as_deref(), Some("org_acme"));
    assert_eq!(upload.retention_days, 730);
    assert_eq!(upload.tags.get("quarter").map(String::as_str), Some("2026 Q3"));
    assert!(!upload.verify_before_upload);
    assert!(upload.delete_after_upload);
    assert_eq!(upload.timeout, Duration::from_secs(30));
    assert_eq!(upload.retry_attempts, 0);
}

#[test]
fn an_app_is_named_by_its_number_or_its_client_id() {
    let app = |text: &str| match accept(text).source::<CodeHostConfig>().unwrap().sign_in.clone() {
        SignIn::App(app) => app,
        other @ SignIn::Token(_) => panic!("{other:?}"),
    };
    let text = include_str!("valid/app.yaml");
    assert_eq!(
        app(text),
        AppSettings {
            issuer: Issuer::AppId(123_456),
            key: AppKey::File(PathBuf::from("/home/auditor/app.pem")),
            installation: Some(7),
        }
    );
    let text = text
        .replace("app_id: 123456", "client_id: Iv23liAbC")
        .replace("private_key_path: ~/app.pem", "private_key_env: CODEHOST_APP_KEY")
        .replace("    installation_id: 7\n", "");
    assert_eq!(
        app(&text),
        AppSettings {
            issuer: Issuer::ClientId("Iv23liAbC".to_owned()),
            key: AppKey::Variable("CODEHOST_APP_KEY".to_owned()),
            installation: None,
        }
    );
}

#[test]
fn anchors_aliases_and_merges_are_read() {
    let config = accept(include_str!("valid/anchors.yaml"));
    let host = config.source::<CodeHostConfig>().cloned().unwrap();
    assert_eq!(host.branch.setting(), "trunk");
    assert_eq!(rules(&host), ["two-factor-required", "codeowners-default-rule", "branch-protection"]);
    assert_eq!(config.bundle.signing.key, KeySource::File(PathBuf::from("acme")));
}

#[test]
fn a_source_may_collect_a_control_the_top_level_does_not_name() {
    let text = with_host_line("controls: [CC7.2]").replace("[CC6.1, CC6.6, CC7.2]", "[CC6.1]");
    let config = accept(text);
    assert_eq!(controls(&config), ["CC6.1"]);
    assert_eq!(rules(config.source().unwrap()), ["branch-protection"]);
}

#[test]
fn the_environment_overrides_the_address_of_the_api() {
    let text = with_host_line("api_url: https://code.example.com");
    let url = |variables: &[(&str, &str)]| {
        with_env(variables, &text)
            .map(|config| config.source::<CodeHostConfig>().cloned().unwrap().api_url.to_string())
    };
    assert_eq!(url(&[]).unwrap(), "https://code.example.com/");
    assert_eq!(url(&[("CODEHOST_API_URL", "")]).unwrap(), "https://code.example.com/");
    assert_eq!(
        url(&[("CODEHOST_API_URL", "http://127.0.0.1:8080/api/")]).unwrap(),
        "http://127.0.0.1:8080/api"
    );

    let error = url(&[("CODEHOST_API_URL", "http://me:correct-horse@code.example.com")]).unwrap_err();
    let [problem] = error.problems.as_slice() else { panic!("{error:?}") };
    assert_eq!((problem.line, problem.column), (None, None));
    assert_eq!(problem.key, "sources.codehost.api_url");
    assert!(problem.message.contains("CODEHOST_API_URL"), "{}", problem.message);
    assert!(!error.render(false).contains("correct-horse"));
}

#[test]
fn only_loopback_may_do_without_encryption() {
    for good in [
        "https://code.example.com",
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://127.8.9.10:81/api",
        "\"http://[::1]:8080\"",
        "HTTPS://CODE.example.com",
    ] {
        accept(with_host_line(&format!("api_url: {good}")));
    }
    for bad in [
        "http://code.example.com",
        "http://localhost.example.com",
        "http://128.0.0.1",
        "http://0.0.0.0",
        "\"http://[::2]\"",
        "file:///etc/passwd",
        "https://",
        "//code.example.com",
        "https:code.example.com",
        "http://2130706433",
        "https://@code.example.com",
        "https://code.example.com/?",
        "'https:\\\\code.example.com'",
        "' https://code.example.com'",
    ] {
        let error = refuse(with_host_line(&format!("api_url: {bad}")));
        assert_eq!(error.problems[0].key, "sources.codehost.api_url", "{bad}");
    }
}

#[test]
fn a_home_directory_that_is_not_known_is_said() {
    let text = MINIMAL.replace("signing-key.pem", "~/signing-key.pem");
    assert_eq!(
        with_env(&[("HOME", "/home/me")], &text).unwrap().bundle.signing.key,
        KeySource::File(PathBuf::from("/home/me/signing-key.pem"))
    );
    let error = with_env(&[], &text).unwrap_err();
    assert_eq!(error.problems[0].key, "bundle.signing.private_key_path");
    assert!(error.problems[0].message.contains("HOME"), "{}", error.problems[0].message);
}

#[test]
fn names_of_branches_follow_git() {
    for good in ["main", "release/1.2", "feature-x_y", "ünïcode", "v1.0", "a@b", "users/me/x"] {
        assert_eq!(
            accept(with_host_line(&format!("branch: \"{good}\"")))
                .source::<CodeHostConfig>()
                .cloned()
                .unwrap()
                .branch,
            Branch::Named(good.to_string())
        );
    }
    // A bare `~` is null in YAML; these values are text, with and without quotes.
    for word in ["~DEFAULT_BRANCH", "\"~DEFAULT_BRANCH\"", "'~DEFAULT_BRANCH'"] {
        let config = accept(with_host_line(&format!("branch: {word}")));
        assert_eq!(config.source::<CodeHostConfig>().unwrap().branch, Branch::Default, "{word}");
    }
    let error = refuse(with_host_line("branch: ~default_branch"));
    assert!(error.problems[0].help.iter().any(|help| help.contains("~DEFAULT_BRANCH")), "{error:?}");
    for bad in [
        "/a", "a/", "a//b", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\\\b", "a@{1}", "@",
        "a.", "a.lock",
    ] {
        let error = refuse(with_host_line(&format!("branch: \"{bad}\"")));
        assert_eq!(error.problems[0].key, "sources.codehost.branch", "{bad}");
    }
}

#[test]
fn booleans_are_those_of_yaml_1_2() {
    for (text, value) in [("true", true), ("True", true), ("TRUE", true), ("false", false), ("False", false)]
    {
        let config = accept(with_host_line(&format!("rate_limit_pause: {text}")));
        assert_eq!(config.source::<CodeHostConfig>().cloned().unwrap().rate_limit_pause, value);
    }
    for text in ["yes", "no", "on", "off", "y", "0", "tRUE", "\"true\""] {
        refuse(with_host_line(&format!("rate_limit_pause: {text}")));
    }
}

#[test]
fn names_of_variables_are_not_taken_for_secrets() {
    for name in [
        "TOKEN",
        "_",
        "acme_prod_codehost_token_2026",
        "CODEHOST_TOKEN_FOR_THE_AUDIT_OF_2026_Q3",
        "a1",
        "Sk_Translations_Of_The_Year",
    ] {
        assert_eq!(
            accept(with_host_line(&format!("token_env: {name}")))
                .source::<CodeHostConfig>()
                .cloned()
                .unwrap()
                .sign_in,
            SignIn::Token(name.to_owned())
        );
    }
    for branch in ["sk-translations-update", "feature/ghp_docs", "AKIA", "release-20260101-eyJx"] {
        accept(with_host_line(&format!("branch: {branch}")));
    }
}
