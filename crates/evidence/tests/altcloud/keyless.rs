//! `mode: sign_jwt`: the provider signs for the identity attached to the machine, or for one of another identity provider.

use std::fs;

use sandbox::workspace::{AUDIENCE, REQUEST_TOKEN, SUBJECT};
use sandbox::{Fault, FaultKind};

use super::*;

const IAM: &str = "https://www.googleapis.com/auth/cloud-platform";
const MACHINE: &str = "collector@acme-evidence.iam.gserviceaccount.com";
const METADATA: &str = "/computeMetadata/v1/instance/service-accounts/default/";
const SIGN: &str = "/v1/projects/-/serviceAccounts/";

fn account() -> ServiceAccount {
    ServiceAccount::new(ACCOUNT).delegated(SCOPES.into_iter().chain(MORE_SCOPES))
}

/// The workspace, with a machine whose identity may have assertions signed.
fn attached() -> Workspace {
    workspace().service_account(account().token_creator(MACHINE)).attached(MACHINE, [IAM])
}

/// The workspace, with a pool that accepts the jobs of another identity provider.
fn federated() -> Workspace {
    workspace().service_account(account().token_creator(SUBJECT)).federated(SUBJECT)
}

fn on_machine(server: &Server<Workspace>) -> Setup {
    let host = server.url().replace("http://", "");
    Setup { keyless: Some(vec![("GCE_METADATA_HOST", host)]), ..Setup::default() }
}

/// A run with a federation file.
fn in_job(file: &tempfile::NamedTempFile, content: &str) -> Setup {
    fs::write(file.path(), content).unwrap();
    let path = file.path().to_str().unwrap().to_string();
    Setup {
        keyless: Some(vec![("ALTCLOUD_FEDERATION", path)]),
        extra: "    credentials_env: ALTCLOUD_FEDERATION\n",
        ..Setup::default()
    }
}

fn file() -> tempfile::NamedTempFile {
    tempfile::Builder::new().suffix(".json").tempfile().unwrap()
}

/// Nothing that signs in is in a message, an artifact or the record of the run.
fn keeps_secrets(server: &Server<Workspace>, collected: &Collected) {
    let account = format!("{:?}", collected.account);
    let artifacts = format!("{:?}", collected.artifacts);
    for text in [&collected.told, &artifacts, &account, &collected.identity] {
        assert!(collected.screen.check(text.as_bytes()).is_empty(), "{text}");
        for secret in ["assertion=", "subject_token=", "Bearer ", "eyJ", "ya29.", REQUEST_TOKEN] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    assert_eq!(collected.account.requests, server.request_count(), "every request is counted");
}

#[test]
fn the_identity_of_the_machine_has_the_provider_sign() {
    let server = attached().serve().unwrap();
    let collected = collect_with(&server, &on_machine(&server));
    assert_eq!(collected.checks, GOOD);
    assert_eq!(collected.warnings, [""; 0]);
    let expected = format!(
        "service account {ACCOUNT} for admin {ADMIN}, read-only scopes directory.user, \
                 directory.rolemanagement, reports.audit, signed by the provider for the attached identity {MACHINE}"
    );
    assert_eq!(collected.identity, expected);
    assert_eq!(collected.account.identity.login.as_deref(), Some(ACCOUNT));
    for (path, times) in [(METADATA, 2), (SIGN, 1), ("/token", 1)] {
        assert_eq!(asked(&server, path), times, "{path}");
    }
    keeps_secrets(&server, &collected);
    // Reading is the same as with a key.
    let with_key = workspace().serve().unwrap();
    let other = collect(&with_key);
    let read = |server: &Server<Workspace>| asked(server, "/admin");
    assert_eq!(read(&server), read(&with_key));
    assert_eq!(other.checks, collected.checks);
    let plan = run(&server, &on_machine(&server), true).unwrap().plan.unwrap();
    assert!(plan.failed.is_empty() && plan.unreadable.is_empty(), "{plan:?}");
}

#[test]
fn a_token_of_another_identity_provider_is_exchanged_first() {
    let server = federated().serve().unwrap();
    let (file, token) = (file(), file());
    // At an address, as CI services have it.
    let setup = in_job(&file, &Workspace::federation_file(&server, None));
    let collected = collect_with(&server, &setup);
    assert_eq!(collected.checks, GOOD);
    assert!(collected.identity.ends_with(&format!("signed by the provider for an identity of {AUDIENCE}")));
    for (path, times) in [("/idp/token", 1), ("/v1/token", 1), (SIGN, 1), ("/token", 1), (METADATA, 0)] {
        assert_eq!(asked(&server, path), times, "{path}");
    }
    keeps_secrets(&server, &collected);
    // The header is a secret of this run from the beginning.
    assert!(!collected.screen.check(format!("x {REQUEST_TOKEN} y").as_bytes()).is_empty());
    // In a file, as a cluster writes it.
    server.clear_log();
    fs::write(token.path(), Workspace::subject_token(&server, SUBJECT, 300)).unwrap();
    let text = Workspace::federation_file(&server, token.path().to_str());
    let collected = collect_with(&server, &in_job(&file, &text));
    assert_eq!((collected.checks.as_slice(), asked(&server, "/idp/token")), (&GOOD.map(String::from)[..], 0));
    // Such a file has no secret, so everybody may read it.
    fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(collect_with(&server, &in_job(&file, &text)).warnings, [""; 0]);
    let with_header = Workspace::federation_file(&server, None);
    let warned = collect_with(&server, &in_job(&file, &with_header));
    assert_eq!(warned.warnings, ["credentials_file_readable"]);
    // The content in a variable.
    let setup = Setup {
        keyless: Some(vec![("ALTCLOUD_FEDERATION", text)]),
        extra: "    credentials_json_env: ALTCLOUD_FEDERATION\n",
        ..Setup::default()
    };
    assert_eq!(collect_with(&server, &setup).checks, GOOD);
}

/// Tokens of two minutes, and a wait of five: everything is obtained again.
#[test]
fn what_expires_in_a_long_run_is_renewed() {
    let throttled = FaultKind::Json(
        429,
        vec![("retry-after".to_string(), "300".to_string())],
        serde_json::json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}),
    );
    let fault =
        || Fault::on("/admin/directory/v1/customer/my_customer/roles?*").kind(throttled.clone()).times(1);
    let server = attached().token_seconds(120).fault(fault()).serve().unwrap();
    let collected = collect_with(&server, &on_machine(&server));
    assert_eq!(collected.checks, GOOD);
    for (path, least) in
        [("/computeMetadata/v1/instance/service-accounts/default/token", 2), (SIGN, 2), ("/token", 2)]
    {
        assert!(asked(&server, path) >= least, "{path}: {}", asked(&server, path));
    }
    let server = federated().token_seconds(120).fault(fault()).serve().unwrap();
    let file = file();
    let collected = collect_with(&server, &in_job(&file, &Workspace::federation_file(&server, None)));
    assert_eq!(collected.checks, GOOD);
    for path in ["/idp/token", "/v1/token", SIGN, "/token"] {
        assert!(asked(&server, path) >= 2, "{path}: {}", asked(&server, path));
    }
    // The API stops accepting a token: another one is signed for, once.
    let body = serde_json::json!({"error": {"code": 401, "message": "Invalid Credentials",
        "errors": [{"domain": "global", "reason": "authError", "message": "Invalid Credentials"}]}});
    let rejected = Fault::on(ASSIGNMENTS).kind(FaultKind::Json(401, Vec::new(), body)).times(1);
    let server = attached().fault(rejected).serve().unwrap();
    assert_eq!(collect_with(&server, &on_machine(&server)).checks, GOOD);
    assert_eq!((asked(&server, SIGN), asked(&server, "/token")), (2, 2));
}

#[test]
fn every_refusal_says_what_to_do() {
    let may = || account().token_creator(MACHINE);
    let nobody = |scope: &str| workspace().service_account(account()).attached(MACHINE, [scope]);
    let table = [
        (workspace(), "metadata has no token of an attached identity", "write `credentials_env`"),
        (nobody(IAM), "Permission 'iam.serviceAccounts.signJwt' denied", "Service Account Token Creator"),
        (
            attached().attached(MACHINE, ["https://www.googleapis.com/auth/devstorage.read_only"]),
            "insufficient authentication scopes",
            "access scope cloud-platform",
        ),
        (
            attached().iam_disabled(true),
            "has not been used in project",
            "IAM Service Account Credentials API",
        ),
        (
            attached().service_account(ServiceAccount::new(ACCOUNT).token_creator(MACHINE)),
            "unauthorized_client",
            "--format='value(oauth2ClientId)'",
        ),
        (attached().service_account(may().deleted(true)), "(or it may not exist)", "exists"),
    ];
    for (workspace, message, help) in table {
        let server = workspace.serve().unwrap();
        let error = refused(&server, &on_machine(&server));
        let message = message.replace("metadata has", "127.0.0.1 has");
        assert!(error.message.contains(&message), "{error}");
        assert!(error.help.join("\n").contains(help), "{help}: {:?}", error.help);
        assert_eq!(asked(&server, "/admin"), 0);
        assert_eq!(error.requests, server.request_count(), "{error}");
        assert!(!format!("{error:?}").contains("ya29."));
    }
    // A stranger at the address of the metadata service.
    let stranger =
        FaultKind::Json(200, Vec::new(), serde_json::json!({"access_token": "x", "expires_in": 9}));
    let server = attached().fault(Fault::on(format!("{METADATA}token")).kind(stranger)).serve().unwrap();
    let error = refused(&server, &on_machine(&server));
    assert!(error.message.starts_with("no token for the attached identity: "), "{error}");
    assert_eq!(asked(&server, SIGN), 0);
    // A file that nobody reads is noticed.
    let mut setup = on_machine(&server);
    setup.keyless.as_mut().unwrap().push(("GOOGLE_APPLICATION_CREDENTIALS", "/tmp/f.json".to_string()));
    let help = refused(&server, &setup).help.join("\n");
    assert!(help.contains("GOOGLE_APPLICATION_CREDENTIALS is set but not read"), "{help}");
}

#[test]
fn every_refusal_of_a_federation_says_what_to_do() {
    let server = federated().serve().unwrap();
    let (file, token) = (file(), file());
    let text = Workspace::federation_file(&server, token.path().to_str());
    let read = |subject_token: &str, text: &str| {
        fs::write(token.path(), subject_token).unwrap();
        let error = refused(&server, &in_job(&file, text));
        assert!(!format!("{error:?}").contains("eyJ"), "{error:?}");
        (error.message.clone(), error.help.join("\n"))
    };
    let good = Workspace::subject_token(&server, SUBJECT, 300);
    let forged = format!("{}AAAA", &good[..good.len() - 4]);
    let stale = Workspace::subject_token(&server, SUBJECT, -1);
    let other = Workspace::subject_token(&server, "repo:else/where", 300);
    for (subject_token, said) in [
        (stale.as_str(), "stale to sign-in"),
        (other.as_str(), "unauthorized_client (The given credential is rejected by the attribute condition."),
        (forged.as_str(), "issuer"),
        ("eyJ", "Unable to parse the ID Token"),
        ("", "does not hold a token of one word"),
    ] {
        let (message, help) = read(subject_token, &text);
        assert!(message.starts_with(&format!("no token for an identity of {AUDIENCE}: ")), "{message}");
        assert!(message.contains(said), "{said}: {message}");
        assert!(help.contains("attribute condition"), "{help}");
    }
    let (message, _) = read(&good, &text.replace("workloadIdentityPools/ci", "workloadIdentityPools/x"));
    assert!(message.contains("invalid_request"), "{message}");
    for (from, to, said) in [
        ("\"external_account\"", "\"service_account\"", "is the key of a service account"),
        ("\"file\"", "\"executable\"", "runs a program, which the tool does not do"),
        ("http://127", "http://128", "has a token_url that is not https"),
    ] {
        let (message, help) = read(&good, &text.replace(from, to));
        assert!(message.contains(said), "{said}: {message}");
        assert!(!help.is_empty());
    }
    let missing = Setup { keyless: Some(Vec::new()), ..in_job(&file, &text) };
    let error = refused(&server, &missing);
    assert!(error.message.contains("ALTCLOUD_FEDERATION is not set"), "{error}");
    // The identity provider does not give a token.
    let text = Workspace::federation_file(&server, None).replace(REQUEST_TOKEN, "not-a-real-old-token");
    let (message, _) = read(&good, &text);
    assert!(
        message.contains("127.0.0.1 gives no token: (The job's token is missing or has expired., HTTP 401)"),
        "{message}"
    );
    assert!(!message.contains("not-a-real-old"), "{message}");
}
