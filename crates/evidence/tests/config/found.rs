//! What a configuration may say that was found and not named: the domains of addresses and names, value by value.

use std::path::Path;

use evidence::config::{Config, ConfigError, ConfigFile};

use super::{MINIMAL, env};

/// All sources, with every key that names a variable or an address, at its default or at a harmless value.
const COMPLETE: &str = "\
framework: soc2_type1
controls: [CC6.1, CC6.6, CC7.2]
sources:
  codehost:
    mode: token
    token_env: CODEHOST_TOKEN
    org: acme
    repos: \"*\"
    api_url: https://api.github.com
  cloud:
    mode: env
    region: eu-central-1
    endpoint_url: https://sts.eu-central-1.amazonaws.com
    access_key_id_env: CLOUD_ACCESS_KEY_ID
    secret_access_key_env: CLOUD_SECRET_ACCESS_KEY
    session_token_env: CLOUD_SESSION_TOKEN
  altcloud:
    mode: service_account
    credentials_env: ALTCLOUD_APPLICATION_CREDENTIALS
    admin_email: auditor@acme.example
    api_url: https://admin.googleapis.com
    cloud_identity_url: https://cloudidentity.googleapis.com
bundle:
  signing:
    private_key_env: EVIDENCE_SIGNING_KEY
    passphrase_env: EVIDENCE_KEY_PASSPHRASE
    trusted_keys: [/etc/evidence/keys.pem]
upload:
  api_url: http://127.0.0.1:8321
  platform_url: http://localhost:8321
  api_key_env: EVIDENCE_API_KEY
";

fn found(text: &str) -> Result<Config, ConfigError> {
    Config::of(ConfigFile::Found(&[]), text.as_bytes(), &env())
}

/// Whether a found file may have this value in place of a harmless one; a named file may.
#[track_caller]
fn accepts(key: &str, harmless: &str, value: &str) -> bool {
    let name = key.rsplit('.').next().unwrap();
    let line = format!("{name}: {harmless}\n");
    assert_eq!(COMPLETE.matches(&line).count(), 1, "{line}");
    let text = COMPLETE.replace(&line, &format!("{name}: \"{value}\"\n"));
    let named = Config::of(ConfigFile::Named(Path::new("./evidence.yaml")), text.as_bytes(), &env());
    named.unwrap_or_else(|error| panic!("{key}: {value}: {}", error.render(false)));
    match found(&text) {
        Ok(_) => true,
        Err(error) => {
            let problems = &error.problems;
            assert_eq!(problems.len(), 1, "{key}: {value}: {problems:?}");
            assert_eq!(problems[0].key, key);
            assert!(problems[0].line.is_some());
            assert_eq!(problems[0].help.as_deref(), Some("name the file with --config if you trust it"));
            false
        }
    }
}

#[test]
fn harmless_files_need_no_approval() {
    found(COMPLETE).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let inside = MINIMAL.replace("~/.config/evidence/signing-key.pem", "key.pem");
    found(&inside).unwrap_or_else(|error| panic!("{}", error.render(false)));
    found(&evidence::config::template("soc2_type1", "acme", "./evidence-signing-key.pem")).unwrap();
}

/// Addresses on this machine are good for every key, others only for the key of their provider.
#[test]
fn every_kind_of_address() {
    let keys = [
        ("sources.codehost.api_url", "https://api.github.com"),
        ("sources.cloud.endpoint_url", "https://sts.eu-central-1.amazonaws.com"),
        ("sources.altcloud.api_url", "https://admin.googleapis.com"),
        ("sources.altcloud.cloud_identity_url", "https://cloudidentity.googleapis.com"),
        ("upload.api_url", "http://127.0.0.1:8321"),
        ("upload.platform_url", "http://localhost:8321"),
    ];
    let here = [
        "http://127.0.0.1",
        "http://127.0.0.1:1/base",
        "http://127.255.255.254:8080",
        "https://127.0.0.1:8443",
        "http://localhost:9",
        "https://LOCALHOST:9/x/",
        "http://[::1]:9",
        "https://[0:0:0:0:0:0:0:1]",
        // The library reads these as 127.0.0.1, and that is where the request goes.
        "https://0x7f.1",
        "https://2130706433",
        "https://127.1",
    ];
    let nowhere = [
        "https://stranger.example",
        "https://127.0.0.1.stranger.example",
        "https://localhost.stranger.example",
        "https://localhost.",
        "https://www.localhost",
        "https://localhost.localdomain",
        "https://128.0.0.1",
        "https://0.0.0.0",
        "https://[::]",
        "https://[::ffff:127.0.0.1]",
        "https://169.254.169.254",
        "https://api.github.com.",
        "https://api.github.com:8443",
        "https://api.github.com.stranger.example",
        "https://api-github.com",
        "https://xapi.github.com",
        "https://x.api.github.com",
        "https://codeload.github.com",
        "https://api.github.co",
        "https://api.acme.ghe.com",
        "https://acme.github.io",
        "https://api.g\u{456}thub.com",
        "https://xn--gthub-n4a.com",
        "https://stranger.example/api.github.com",
        "https://stranger.example/https://api.github.com",
        "https://bucket.s3.amazonaws.com",
        "https://s3.eu-central-1.amazonaws.com",
        "https://vpce-0a.sts.eu-central-1.vpce.amazonaws.com",
        "https://abc.execute-api.eu-central-1.amazonaws.com",
        "https://sts.eu-central-1.amazonaws.com:444",
        "https://sts.eu-central-1.amazonaws.com.stranger.example",
        "https://stranger.googleapis.com",
        "https://googleapis.com",
        "https://stranger-dot-x.appspot.com",
        "https://storage.googleapis.com/stranger",
    ];
    let owns = [
        ("https://api.github.com", "sources.codehost.api_url"),
        ("https://API.GitHub.com/", "sources.codehost.api_url"),
        ("https://api.github.com:443", "sources.codehost.api_url"),
        ("https://api%2egithub.com", "sources.codehost.api_url"),
        ("https://api\u{ff0e}github.com", "sources.codehost.api_url"),
        ("https://logs.us-east-1.amazonaws.com", "sources.cloud.endpoint_url"),
        ("https://iam.amazonaws.com", "sources.cloud.endpoint_url"),
        ("https://sts.cn-north-1.amazonaws.com.cn", "sources.cloud.endpoint_url"),
        ("https://admin.googleapis.com/x", "sources.altcloud.api_url"),
    ];
    for (key, harmless) in keys {
        let judge = |address: &str| accepts(key, harmless, address);
        here.iter().for_each(|address| assert!(judge(address), "{key}: {address}"));
        nowhere.iter().for_each(|address| assert!(!judge(address), "{key}: {address}"));
        owns.iter().for_each(|(address, of)| assert_eq!(judge(address), *of == key, "{key}: {address}"));
    }
}

/// Forms that the HTTP client would read in another way than a person are refused in every file.
#[test]
fn deceptive_addresses_are_refused_in_named_files_too() {
    for address in [
        "https://api.github.com@stranger.example",
        "https://api.github.com:x@stranger.example",
        "https://stranger.example#@api.github.com",
        "https://stranger.example?api.github.com",
        "https://stranger.example\\\\api.github.com",
        "https:stranger.example",
        "https:///stranger.example",
        "http://localhost.",
        "http://0x7f.1",
        "http://2130706433",
        "http://127.0.0.1.stranger.example",
        "http://api.github.com",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
    ] {
        let text =
            COMPLETE.replace("api_url: https://api.github.com\n", &format!("api_url: \"{address}\"\n"));
        for file in [ConfigFile::Found(&[]), ConfigFile::Named(Path::new("./evidence.yaml"))] {
            if address == "https:///stranger.example" && matches!(file, ConfigFile::Named(_)) {
                // The library drops the third slash; the host is the visible one.
                continue;
            }
            let result = Config::of(file, text.as_bytes(), &env());
            assert!(result.is_err(), "{address}");
        }
    }
}

/// Every key that names a variable takes the prefixes of its use and no other.
#[test]
fn every_kind_of_variable() {
    let prefixes = ["CODEHOST_", "GITHUB_", "GH_", "CLOUD_", "AWS_", "ALTCLOUD_", "GOOGLE_", "EVIDENCE_"];
    let keys = [
        ("sources.codehost.token_env", "CODEHOST_TOKEN", &["CODEHOST_", "GITHUB_", "GH_"][..]),
        ("sources.cloud.access_key_id_env", "CLOUD_ACCESS_KEY_ID", &["CLOUD_", "AWS_"]),
        ("sources.cloud.secret_access_key_env", "CLOUD_SECRET_ACCESS_KEY", &["CLOUD_", "AWS_"]),
        ("sources.cloud.session_token_env", "CLOUD_SESSION_TOKEN", &["CLOUD_", "AWS_"]),
        ("sources.altcloud.credentials_env", "ALTCLOUD_APPLICATION_CREDENTIALS", &["ALTCLOUD_", "GOOGLE_"]),
        ("bundle.signing.private_key_env", "EVIDENCE_SIGNING_KEY", &["EVIDENCE_"]),
        ("bundle.signing.passphrase_env", "EVIDENCE_KEY_PASSPHRASE", &["EVIDENCE_"]),
        ("upload.api_key_env", "EVIDENCE_API_KEY", &["EVIDENCE_"]),
    ];
    for (key, harmless, own) in keys {
        for prefix in prefixes {
            for name in [format!("{prefix}A"), format!("{prefix}TOKEN_FILE"), prefix.to_string()] {
                assert_eq!(accepts(key, harmless, &name), own.contains(&prefix), "{key}: {name}");
            }
            let bare = prefix.trim_end_matches('_');
            for name in [
                bare.to_string(),
                format!("{bare}X"),
                format!("X{prefix}A"),
                format!("_{prefix}A"),
                format!("{prefix}A").to_lowercase(),
            ] {
                assert!(!accepts(key, harmless, &name), "{key}: {name}");
            }
        }
        for name in ["DATABASE_PASSWORD", "PATH", "HOME", "NPM_TOKEN", "SSH_AUTH_SOCK"] {
            assert!(!accepts(key, harmless, name), "{key}: {name}");
        }
    }
}

#[test]
fn every_problem_is_reported_at_once_with_what_is_wrong_anyway() {
    let text = COMPLETE
        .replace("CODEHOST_TOKEN", "DATABASE_PASSWORD")
        .replace("https://api.github.com", "https://stranger.example")
        .replace("http://127.0.0.1:8321", "https://stranger.example")
        .replace("soc2_type1", "soc3")
        .replace("    repos: \"*\"\n", "    repos: \"*\"\n    ca_file: ca.pem\n")
        .replace("private_key_env: EVIDENCE_SIGNING_KEY", "private_key_path: ~/.config/key.pem");
    let error = found(&text).unwrap_err();
    let keys: Vec<&str> = error.problems.iter().map(|problem| problem.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "framework",
            "sources.codehost.token_env",
            "sources.codehost.ca_file",
            "sources.codehost.api_url",
            "bundle.signing.private_key_path",
            "upload.api_url",
        ]
    );
    insta::assert_snapshot!("found", error.render(false));
}

/// Without a key file, the configuration itself names where the proof of identity and the assertion go.
#[test]
fn the_addresses_of_a_sign_in_without_a_key() {
    let keyless = |iam_url: &str, token_uri: &str| {
        let own = "mode: service_account\n    credentials_env: ALTCLOUD_APPLICATION_CREDENTIALS\n";
        let lines = format!(
            "mode: sign_jwt\n    service_account: reader@acme.example\n    iam_url: {iam_url}\n    token_uri: {token_uri}\n"
        );
        assert!(COMPLETE.contains(own));
        let problems = found(&COMPLETE.replace(own, &lines)).err().map(|error| error.problems);
        problems.unwrap_or_default().into_iter().map(|problem| problem.key).collect::<Vec<_>>()
    };
    let (iam, token) = ("https://iamcredentials.googleapis.com", "https://oauth2.googleapis.com/token");
    assert_eq!(keyless(iam, token), [""; 0]);
    assert_eq!(keyless("http://127.0.0.1:9", "http://127.0.0.1:9/token"), [""; 0]);
    for stranger in ["https://stranger.example", "https://x.googleapis.com", token] {
        assert_eq!(keyless(stranger, token), ["sources.altcloud.iam_url"], "{stranger}");
    }
    for stranger in ["https://stranger.example/token", "https://sts.googleapis.com/v1/token", iam] {
        assert_eq!(keyless(iam, stranger), ["sources.altcloud.token_uri"], "{stranger}");
    }
}
