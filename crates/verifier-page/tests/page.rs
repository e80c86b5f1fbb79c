//! The page as a file: its size, its policy, its hash, and that a browser serializes it unchanged.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_verifier::Session;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The page, if this build has one. The gate installs its requirements, and `ci/verifier.sh` fails without the
/// page.
fn page() -> Option<&'static str> {
    let page = verifier_page::page();
    if page.is_none() {
        eprintln!("SKIPPED: this build has no verifier page");
    }
    page.map(|page| str::from_utf8(page).unwrap())
}

/// What the verifier in the page reports about a page.
fn own_hash(html: &str) -> Value {
    let question = json!({ "ask": "page", "html": html }).to_string();
    serde_json::from_slice(&Session::new().ask(question.as_bytes(), std::io::empty()).document).unwrap()
}

#[test]
fn it_is_one_small_file() {
    let Some(page) = page() else { return };
    assert!(page.len() < 1_200_000, "{} bytes", page.len());
    assert!(!page.contains("{{") && !page.contains('\r') && page.ends_with("</script></body></html>"));
    // No address, and nothing that a browser would load by itself.
    let head = page.split("<style>").next().unwrap();
    let body = page.split("</style>").nth(1).unwrap().split("<script").next().unwrap();
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    for outside in ["http://", "https://", "src=", "@import", "url(", "javascript:"] {
        assert!(![head, body, style].iter().any(|part| part.contains(outside)), "{outside}");
    }
}

#[test]
fn its_policy_allows_its_own_script_and_no_connection() {
    let Some(page) = page() else { return };
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    for directive in ["default-src 'none'", "connect-src 'none'", "form-action 'none'", "base-uri 'none'"] {
        assert!(policy.contains(directive), "{policy}");
    }
    assert!(!policy.contains("'unsafe-eval'") && !policy.contains('*') && !policy.contains("http"));
    let (_, script) = page.rsplit_once("<script>").unwrap();
    let script = script.split("</script>").next().unwrap();
    let digest = policy.split("'sha256-").nth(1).unwrap().split('\'').next().unwrap();
    let expected = Sha256::digest(script);
    assert_eq!(STANDARD.decode(digest).unwrap(), expected.as_slice());
    assert_eq!(policy.matches("sha256-").count(), 1);
}

#[test]
fn it_knows_its_hash_and_notices_a_change() {
    let Some(page) = page() else { return };
    assert_eq!(own_hash(page)["sha256"], hex::encode(Sha256::digest(page)));
    assert_eq!(own_hash(&page.replacen("<body>", "<body class=\"extension\">", 1))["sha256"], Value::Null);
    assert_eq!(own_hash("<p>another page</p>")["sha256"], Value::Null);
}

#[test]
fn it_names_the_release() {
    let Some(page) = page() else { return };
    assert!(page.contains(concat!("<dd>evidence ", env!("CARGO_PKG_VERSION"))));
}
