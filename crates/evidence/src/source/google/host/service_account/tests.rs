use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::*;

/// A key without an owner.
const KEY: &str = include_str!("../../../../../../evidence-bundle/tests/keys/rsa.pem");
const VARIABLE: &str = "ALTCLOUD_APPLICATION_CREDENTIALS";

fn file() -> Value {
    json!({
        "type": "service_account",
        "project_id": "evidence",
        "private_key_id": "0123456789abcdef",
        "private_key": KEY,
        "client_email": "reader@evidence.example",
        "client_id": "112233445566778899001",
        "token_uri": "https://oauth2.example/token",
    })
}

/// The file with one field changed, or removed for `Null`.
fn with(name: &str, value: Value) -> Value {
    let mut file = file();
    if value.is_null() {
        file.as_object_mut().unwrap().remove(name);
    } else {
        file[name] = value;
    }
    file
}

fn parsed(file: &Value) -> Result<SignIn, CredentialsError> {
    parse(file.to_string().as_bytes())
}

#[test]
fn a_good_file() {
    let SignIn { account, signer } = parsed(&file()).unwrap();
    assert_eq!(account.email, "reader@evidence.example");
    assert_eq!(account.client_id.as_deref(), Some("112233445566778899001"));
    let Signer::Key(key) = &signer else { panic!() };
    assert_eq!(key.id, "0123456789abcdef");
    assert_eq!(account.audience, "https://oauth2.example/token");
    assert!(!format!("{account:?} {signer:?}").contains("0123456789abcdef"));
    let account = parsed(&with("token_uri", Value::Null)).unwrap().account;
    assert_eq!(account.token_uri.as_str(), DEFAULT_TOKEN_URI);
    assert_eq!(parsed(&with("client_id", json!("not a number"))).unwrap().account.client_id, None);
    let windows = KEY.replace('\n', "\r\n");
    assert!(parsed(&with("private_key", json!(windows))).is_ok());
}

#[test]
fn every_way_to_be_wrong_is_said_and_nothing_is_quoted() {
    let not_rsa = include_str!("../../../../../../evidence-bundle/tests/keys/pkcs8_v1.pem");
    let pkcs1 = include_str!("../../../../../../evidence-bundle/tests/keys/rsa_pkcs1.pem");
    let public = KEY.replace("PRIVATE", "PUBLIC");
    let table = [
        (with("type", json!("authorized_user")), "of type authorized_user"),
        (with("type", json!("external_account")), "of type external_account"),
        (with("type", json!("impersonated_service_account")), "of type impersonated_service_account"),
        (with("type", json!("SECRET")), "of a type that is not supported"),
        (with("type", json!(["SECRET"])), "has no `type`"),
        (json!({"installed": {"client_secret": "SECRET"}}), "the file of an OAuth client"),
        (json!({}), "has no `type`"),
        (json!(["SECRET"]), "is JSON, but not an object"),
        (with("client_email", Value::Null), "has no client_email"),
        (with("client_email", json!("")), "an empty client_email"),
        (with("client_email", json!("SECRET")), "a client_email that is not an e-mail address"),
        (with("client_email", json!("SECRET\u{1b}@x")), "a client_email that is not an e-mail address"),
        (with("client_email", json!(["SECRET"])), "a client_email that is not text"),
        (with("private_key_id", Value::Null), "has no private_key_id"),
        (with("private_key_id", json!("two words")), "an invalid private_key_id"),
        (with("private_key", Value::Null), "has no private_key"),
        (with("private_key", json!("SECRET")), "not in PEM form"),
        (with("private_key", json!(KEY.replace('\n', "\\n"))), "escaped twice"),
        (with("private_key", json!(pkcs1)), "in PKCS#1 form"),
        (with("private_key", json!(public)), "not in PKCS#8 form"),
        (with("private_key", json!(not_rsa)), "not a usable RSA key"),
        (with("token_uri", json!("SECRET")), "a token_uri that is not a URL"),
        (with("token_uri", json!("http://oauth2.example/token")), "is not https"),
        (with("token_uri", json!("file:///etc/passwd")), "names no host"),
        (with("token_uri", json!("https://user:SECRET@oauth2.example/token")), "has a user"),
        (with("token_uri", json!(7)), "a token_uri that is not text"),
    ];
    for (file, expected) in table {
        let trouble = parsed(&file).unwrap_err();
        assert!(trouble.message.contains(expected), "{expected}: {}", trouble.message);
        let shown = format!("{trouble:?}");
        assert!(!shown.contains("SECRET") && !shown.contains("MII"), "{shown}");
        assert!(!trouble.help.is_empty());
    }
    for (text, expected) in [
        (KEY.as_bytes(), "is a key in PEM form"),
        (b"{\"type\": \"SECRET", "is not JSON (line 1, column"),
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
    ] {
        let trouble = parse(text).unwrap_err();
        assert!(trouble.message.contains(expected), "{}", trouble.message);
        assert!(!trouble.message.contains("SECRET"));
    }
    for loopback in ["http://127.0.0.1:8080/token", "http://localhost/token", "http://[::1]:1/token"] {
        assert!(parsed(&with("token_uri", json!(loopback))).is_ok(), "{loopback}");
    }
}

#[test]
fn a_path_is_asked_for_and_a_variable_that_holds_more_is_not_shown() {
    for value in [None, Some(""), Some("  \n")] {
        let trouble = load(VARIABLE, value).unwrap_err();
        assert!(trouble.message.contains(VARIABLE) && trouble.message.contains("is not set"), "{trouble:?}");
    }
    let long = format!("/{}", "x.".repeat(300));
    for value in [file().to_string().as_str(), KEY, &long] {
        let trouble = load(VARIABLE, Some(value)).unwrap_err();
        assert!(trouble.message.contains("does not hold a path"), "{trouble:?}");
        assert!(trouble.message.contains("not its content"), "{trouble:?}");
        assert!(trouble.message.len() < 250 && !format!("{trouble:?}").contains("MII"), "{trouble:?}");
    }
}

/// Credentials in place of their path, in every pasted form, whole and cut anywhere.
#[test]
fn no_piece_of_what_was_pasted_is_shown() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    let json = file().to_string();
    let pretty = serde_json::to_string_pretty(&file()).unwrap();
    let body: String = KEY.lines().filter(|line| !line.starts_with("---")).collect();
    let pem_line = KEY.replace('\n', " ");
    let escaped = KEY.replace('\n', "\\n");
    let (base64, url_safe) = (STANDARD.encode(&pretty), URL_SAFE_NO_PAD.encode(&json));
    let wrapped: String =
        base64.as_bytes().chunks(76).map(|line| format!("{}\n", str::from_utf8(line).unwrap())).collect();
    for whole in [&json, &pretty, &KEY.to_string(), &body, &pem_line, &escaped, &base64, &url_safe, &wrapped]
    {
        let check = |value: &str| {
            let trouble = load(VARIABLE, Some(value)).unwrap_err();
            assert!(trouble.message.contains(VARIABLE), "{trouble:?}");
            let shown = format!("{}\n{}", trouble.message, trouble.help.join("\n"));
            let mut pieces = value.as_bytes().windows(16).filter_map(|piece| str::from_utf8(piece).ok());
            let leaked = pieces.any(|piece| shown.contains(piece));
            assert!(!leaked, "{value:?}: {shown}");
            trouble
        };
        assert!(check(whole).message.contains("not its content"));
        for start in (0..whole.len()).step_by(61) {
            for length in [16, 17, 40, 64, 100, 199, 201, 400, 511, 513] {
                check(whole.get(start..whole.len().min(start + length)).unwrap());
            }
        }
    }
    // Base64 can contain slashes at the beginning and in between.
    for value in [
        "/MIIEvQIBADANBgkqhkiG9w0BAQEF",
        "//MIIEvQIBADANBgkq",
        "/tmp/MIIEvQIBADANBgkqhkiG9w0B",
        "MIIEvQIBADANBgkq",
    ] {
        let shown = format!("{:?}", load(VARIABLE, Some(value)).unwrap_err());
        assert!(!shown.contains("MII"), "{shown}");
    }
    for value in ["/srv/nowhere/acme-evidence-0123456789ab.json", "nowhere.json", "/tmp/nowhere"] {
        let shown = load(VARIABLE, Some(value)).unwrap_err().message;
        assert!(shown.contains(value), "what is a path is shown: {shown}");
    }
}

#[test]
fn files_that_cannot_be_the_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    let refused = |path: &str| {
        let trouble = load(VARIABLE, Some(path)).unwrap_err();
        assert!(trouble.message.contains(path) && trouble.message.contains(VARIABLE), "{trouble:?}");
        trouble.message
    };
    assert!(refused(&path("absent")).contains("cannot be read: No such file"));
    assert!(refused(directory.path().to_str().unwrap()).contains("a directory, not a file"));
    assert!(refused("/dev/zero").contains("a device, not a file"));
    fs::write(path("large"), vec![b' '; 70_000]).unwrap();
    assert!(refused(&path("large")).contains("is larger than"));
    fs::write(path("empty"), "").unwrap();
    assert!(refused(&path("empty")).contains("is not JSON"));
}

#[test]
fn others_who_can_read_the_file_are_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    fs::write(&path, file().to_string()).unwrap();
    for (mode, warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        // A trailing line break, as from `$(cat file)`, is not part of the path.
        let value = format!("{}\n", path.display());
        let warning = load(VARIABLE, Some(&value)).unwrap().warning;
        assert_eq!(warning.is_some(), warned, "{mode:o}: {warning:?}");
        assert!(warning.is_none_or(|text| text.contains(&format!("(mode {mode:o})"))));
    }
}

#[test]
fn the_key_is_found_however_it_is_written() {
    let secrets = parsed(&file()).unwrap().secrets();
    let borrowed: Vec<&str> = secrets.iter().map(String::as_str).collect();
    let screen = evidence_screen::Screen::new(&borrowed);
    let body: String = KEY.lines().filter(|line| !line.starts_with("---")).collect();
    let wrapped = |width: usize| -> String {
        body.as_bytes().chunks(width).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect()
    };
    let mut texts = vec![KEY.to_string(), file().to_string(), body.clone()];
    // The last line is too short for the screen to look for it alone.
    texts.extend(KEY.lines().filter(|line| line.len() == 64).map(str::to_string));
    texts.extend([48, 60, 64, 70, 72, 76, 80, 120].map(wrapped));
    for text in texts {
        let found = screen.check(format!("x {text} y").as_bytes());
        assert!(found.iter().any(|finding| finding.rule == evidence_screen::OWN_CREDENTIAL), "{text}");
    }
    assert!(screen.check(b"reader@evidence.example 112233445566778899001").is_empty());
}

#[test]
fn the_content_of_a_variable_is_read_like_the_file() {
    let content = file().to_string();
    let loaded = from_content("ACME_JSON", Some(&content)).unwrap();
    assert_eq!((loaded.value.account.email.as_str(), loaded.warning), ("reader@evidence.example", None));
    let missing = from_content("ACME_JSON", None).unwrap_err();
    assert!(
        missing.message.starts_with("the environment variable ACME_JSON is not set"),
        "{}",
        missing.message
    );
    for content in ["/srv/evidence/credentials.json", KEY, "{}"] {
        let wrong = from_content("ACME_JSON", Some(content)).unwrap_err();
        assert!(wrong.message.starts_with("the content of ACME_JSON "), "{}", wrong.message);
        assert!(!format!("{wrong:?}").contains("/srv"), "{wrong:?}");
    }
}
