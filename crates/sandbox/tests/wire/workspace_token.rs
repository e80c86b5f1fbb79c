//! The token endpoint: valid assertions, and every way to make one invalid.

use crate::client::{Answer, raw_with_body};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use sandbox::workspace::{SCOPES, ServiceAccount, Throttle, Workspace};
use sandbox::{DEMO_WORKSPACE_ADMIN, DEMO_WORKSPACE_SERVICE_ACCOUNT, Server, demo_workspace};
use serde_json::{Value, json};

/// An assertion according to the credentials file, before signing: header and claims.
pub(crate) fn assertion(server: &Server<Workspace>, scopes: &[&str]) -> (Value, Value) {
    let file: Value = serde_json::from_str(&Workspace::service_account_file(server)).unwrap();
    let now = jiff::Timestamp::now().as_second();
    (
        json!({ "alg": "RS256", "typ": "JWT", "kid": file["private_key_id"] }),
        json!({
            "iss": file["client_email"], "sub": DEMO_WORKSPACE_ADMIN, "scope": scopes.join(" "),
            "aud": file["token_uri"], "iat": now, "exp": now + 3600,
        }),
    )
}

pub(crate) fn signed(server: &Server<Workspace>, header: &Value, claims: &Value) -> String {
    let file: Value = serde_json::from_str(&Workspace::service_account_file(server)).unwrap();
    let pem = file["private_key"].as_str().unwrap();
    let der: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(der).unwrap()).unwrap();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(header), part(claims));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

pub(crate) fn trade(server: &Server<Workspace>, assertion: &str) -> Answer {
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
    raw_with_body(server, "POST", "/token", &form, &format!("grant_type={grant}&assertion={assertion}"))
}

/// An access token for the administrator.
pub(crate) fn token(server: &Server<Workspace>) -> String {
    let (header, claims) = assertion(server, &SCOPES);
    let answer = trade(server, &signed(server, &header, &claims));
    answer.json()["access_token"].as_str().unwrap_or_else(|| panic!("{}", answer.text())).to_owned()
}

fn with(server: &Server<Workspace>, change: impl FnOnce(&mut Value, &mut Value)) -> (u16, String, String) {
    let (mut header, mut claims) = assertion(server, &SCOPES);
    change(&mut header, &mut claims);
    said(&trade(server, &signed(server, &header, &claims)))
}

fn said(answer: &Answer) -> (u16, String, String) {
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("error"), text("error_description"))
}

#[test]
fn a_good_assertion() {
    let server = demo_workspace().serve().unwrap();
    let (header, claims) = assertion(&server, &SCOPES);
    let answer = trade(&server, &signed(&server, &header, &claims));
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["expires_in"], &body["token_type"]),
        (200, &json!(3599), &json!("Bearer"))
    );
    assert!(body["access_token"].as_str().unwrap().starts_with("ya29."));
    assert!(server.violations().is_empty());
    // The provider's own libraries use its public address, whatever the file says.
    assert_eq!(
        with(&server, |_, claims| claims["aud"] = "https://oauth2.googleapis.com/token".into()).0,
        200
    );
    assert_eq!(with(&server, |header, _| drop(header.as_object_mut().unwrap().remove("kid"))).0, 200);
}

#[test]
fn the_credentials_file() {
    let server = demo_workspace().serve().unwrap();
    let file: Value = serde_json::from_str(&Workspace::service_account_file(&server)).unwrap();
    assert_eq!(file["type"], "service_account");
    assert_eq!(file["client_email"], DEMO_WORKSPACE_SERVICE_ACCOUNT);
    assert_eq!(file["project_id"], "acme-audit");
    assert_eq!(file["token_uri"], format!("{}/token", server.url()));
    assert_eq!(file["private_key_id"].as_str().unwrap().len(), 40);
    assert!(file["private_key"].as_str().unwrap().starts_with("-----BEGIN PRIVATE KEY-----\n"));
}

#[test]
fn assertions_that_are_wrong() {
    let server = demo_workspace().serve().unwrap();
    let grant = |text: &str| (400, "invalid_grant".to_owned(), text.to_owned());
    let signature = grant("Invalid JWT Signature.");
    let times = grant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp \
         values in the JWT claim.",
    );
    assert_eq!(with(&server, |header, _| header["kid"] = "0".repeat(40).into()), signature);
    assert_eq!(with(&server, |header, _| header["alg"] = "none".into()), signature);
    let (header, mut claims) = assertion(&server, &SCOPES);
    let good = signed(&server, &header, &claims);
    claims["sub"] = "quinn.quick@acme.example".into();
    let other = signed(&server, &header, &claims);
    let (text, _) = other.rsplit_once('.').unwrap();
    let (_, seal) = good.rsplit_once('.').unwrap();
    assert_eq!(said(&trade(&server, &format!("{text}.{seal}"))), signature, "the seal of another text");

    for (issued, ends) in [(-4000, -400), (0, 3601), (600, 4000), (0, 0)] {
        let changed = with(&server, |_, claims| {
            let now = claims["iat"].as_i64().unwrap();
            claims["iat"] = (now + issued).into();
            claims["exp"] = (now + ends).into();
        });
        assert_eq!(changed, times, "{issued} {ends}");
    }
    let audience = with(&server, |_, claims| claims["aud"] = "https://elsewhere.example/token".into());
    assert_eq!(audience, grant("Invalid JWT: Failed audience check."));
    let issuer = with(&server, |_, claims| claims["iss"] = "x@y.iam.gserviceaccount.com".into());
    assert_eq!(issuer, grant("Invalid grant: account not found"));
    let nobody = with(&server, |_, claims| claims["sub"] = "nobody@acme.example".into());
    assert_eq!(nobody, grant("Invalid email or User ID"));
    assert_eq!(said(&trade(&server, "a.b.c")).1, "invalid_request");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = raw_with_body(&server, "POST", "/token", &form, "grant_type=password");
    assert_eq!(said(&answer).1, "unsupported_grant_type");
}

#[test]
fn scopes_and_accounts() {
    let server = demo_workspace().serve().unwrap();
    let refusal = "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of \
        the scopes requested.";
    let more = |claims: &mut Value, scope: &str| {
        claims["scope"] = format!("{} {scope}", claims["scope"].as_str().unwrap()).into();
    };
    let group = "https://www.googleapis.com/auth/admin.directory.group";
    let one_too_many = with(&server, |_, claims| more(claims, group));
    assert_eq!(one_too_many, (401, "unauthorized_client".to_owned(), refusal.to_owned()));
    assert_eq!(with(&server, |_, claims| more(claims, "nonsense")).1, "invalid_scope");
    assert_eq!(with(&server, |_, claims| claims["scope"] = "".into()).1, "invalid_scope");

    let account = || ServiceAccount::new(DEMO_WORKSPACE_SERVICE_ACCOUNT).delegated(SCOPES);
    server.update(|workspace| workspace.put_service_account(account().key_revoked(true)));
    assert_eq!(with(&server, |_, _| {}).2, "Invalid JWT Signature.");
    server.update(|workspace| workspace.put_service_account(account().deleted(true)));
    assert_eq!(with(&server, |_, _| {}).0, 401);
    server.update(|workspace| workspace.put_service_account(account()));
    assert_eq!(with(&server, |_, _| {}).0, 200);

    let limited =
        demo_workspace().throttle(Throttle::on("/token").first(1), sandbox::workspace::Limit::TooMany);
    let server = limited.serve().unwrap();
    assert_eq!((with(&server, |_, _| {}).0, with(&server, |_, _| {}).0), (429, 200));
}
