//! Signing in without a key file: good answers, and every way to be refused.

use crate::client::{raw, raw_with_body};
use sandbox::Server;
use sandbox::workspace::{AUDIENCE, SUBJECT, ServiceAccount, Workspace};
use serde_json::{Value, json};

const ACCOUNT: &str = "evidence@acme-audit.iam.gserviceaccount.com";
const MACHINE: &str = "collector@acme-audit.iam.gserviceaccount.com";
const IAM: &str = "https://www.googleapis.com/auth/iam";
const FLAVOR: (&str, &str) = ("Metadata-Flavor", "Google");

/// The fields of a form.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

fn serve(workspace: impl FnOnce(Workspace) -> Workspace) -> Server<Workspace> {
    let account = ServiceAccount::new(ACCOUNT).token_creator(MACHINE).token_creator(SUBJECT);
    let plain = Workspace::new("C0acme42", ["acme.example"])
        .service_account(account)
        .attached(MACHINE, [IAM])
        .federated(SUBJECT);
    workspace(plain).serve().unwrap()
}

fn metadata(server: &Server<Workspace>, what: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let path = format!("/computeMetadata/v1/instance/service-accounts/default/{what}");
    let answer = raw(server, "GET", &path, headers);
    (answer.status, answer.text())
}

fn token(server: &Server<Workspace>) -> String {
    let (status, text) = metadata(server, "token", &[FLAVOR]);
    assert_eq!(status, 200, "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&body["expires_in"], &body["token_type"]), (&json!(3599), &json!("Bearer")));
    body["access_token"].as_str().unwrap().to_owned()
}

fn sign(server: &Server<Workspace>, token: &str, account: &str, payload: &Value) -> (u16, Value) {
    let path = format!("/v1/projects/-/serviceAccounts/{account}:signJwt");
    let bearer = format!("Bearer {token}");
    let headers = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    let body = json!({ "payload": payload.to_string() }).to_string();
    let answer = raw_with_body(server, "POST", &path, &headers, &body);
    (answer.status, answer.json())
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[test]
fn the_metadata_service_answers_only_who_names_it() {
    let server = serve(|workspace| workspace);
    assert_eq!(metadata(&server, "email", &[FLAVOR]), (200, MACHINE.to_owned()));
    assert_eq!(metadata(&server, "token", &[]).0, 403);
    assert_eq!(metadata(&server, "nothing", &[FLAVOR]).0, 404);
    let none = Workspace::new("C0acme42", ["acme.example"]).serve().unwrap();
    assert_eq!(metadata(&none, "token", &[FLAVOR]).0, 404);
    let path = "/computeMetadata/v1/instance/service-accounts/default/token";
    assert_eq!(raw(&server, "GET", path, &[FLAVOR]).header("metadata-flavor"), Some("Google"));
}

#[test]
fn the_service_signs_for_who_may_ask() {
    let server = serve(|workspace| workspace);
    let token = token(&server);
    let claims = json!({"iss": ACCOUNT, "exp": now() + 3600});
    let (status, body) = sign(&server, &token, ACCOUNT, &claims);
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["signedJwt"].as_str().unwrap().split('.').count(), 3);
    let reason = |(status, body): (u16, Value)| {
        (status, body["error"]["details"][0]["reason"].as_str().unwrap_or_default().to_owned())
    };
    let other = "other@acme-audit.iam.gserviceaccount.com";
    assert_eq!(reason(sign(&server, &token, other, &claims)), (403, "IAM_PERMISSION_DENIED".to_owned()));
    assert_eq!(sign(&server, "ya29.unknown", ACCOUNT, &claims).0, 401);
    assert_eq!(sign(&server, &token, ACCOUNT, &json!({"exp": now() - 1})).0, 400);
    assert_eq!(sign(&server, &token, ACCOUNT, &json!({"exp": now() + 13 * 3600})).0, 400);
    assert_eq!(sign(&server, &token, ACCOUNT, &json!("text")).0, 400);
    let narrow = serve(|workspace| workspace.attached(MACHINE, ["https://www.googleapis.com/auth/x"]));
    let refused = reason(sign(&narrow, &self::token(&narrow), ACCOUNT, &claims));
    assert_eq!(refused, (403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT".to_owned()));
    let disabled = serve(|workspace| workspace.iam_disabled(true));
    let refused = reason(sign(&disabled, &self::token(&disabled), ACCOUNT, &claims));
    assert_eq!(refused, (403, "SERVICE_DISABLED".to_owned()));
    assert!(server.violations().is_empty());
}

#[test]
fn the_exchange_takes_what_the_pool_accepts() {
    let server = serve(|workspace| workspace);
    let form = |pairs: &[(&str, &str)]| -> String {
        let encoded = |text: &str| text.replace(':', "%3A").replace('/', "%2F");
        pairs.iter().map(|(name, value)| format!("{name}={}&", encoded(value))).collect()
    };
    let good = Workspace::subject_token(&server, SUBJECT, 60);
    let asked = |change: &dyn Fn(&mut Pairs<'_>)| {
        let mut pairs = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
            ("audience", AUDIENCE),
            ("scope", IAM),
            ("subject_token", good.as_str()),
        ];
        change(&mut pairs);
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = raw_with_body(&server, "POST", "/v1/token", &headers, &form(&pairs));
        (answer.status, answer.json())
    };
    let (status, body) = asked(&|_| {});
    assert_eq!(status, 200, "{body}");
    let token = body["access_token"].as_str().unwrap();
    assert_eq!(sign(&server, token, ACCOUNT, &json!({"exp": now() + 60})).0, 200);
    for at in 0..6 {
        let (status, body) = asked(&|pairs| pairs[at].1 = "x");
        let is_refused = status == 400 && body["error"].is_string();
        // Any scope can be asked for; what it permits shows when the token is used.
        assert!(if at == 4 { status == 200 } else { is_refused }, "{at}: {status} {body}");
    }
    for (subject, seconds, said) in [("repo:x/y", 60, "unauthorized_client"), (SUBJECT, -1, "invalid_grant")]
    {
        let other = Workspace::subject_token(&server, subject, seconds);
        let (_, body) = asked(&|pairs| pairs[5].1 = Box::leak(other.clone().into_boxed_str()));
        assert_eq!(body["error"], said);
    }
}
