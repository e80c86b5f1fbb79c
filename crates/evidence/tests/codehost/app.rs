//! `mode: app`: the token is asked for with exactly the needed permissions, renewed in time, and given up when the host
//! refuses it.

use std::path::Path;
use std::sync::Arc;

use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::observation::Seen;
use evidence::source::{CollectionItem, ConnectError, RunContext};
use evidence_screen::Screen;
use futures_util::StreamExt as _;
use jiff::Timestamp;
use sandbox::codehost::{
    App, CodeHost, Fault, FaultKind, Installation, Limits, Organization, Primary, Protection, Repository,
    Selection, Visibility,
};
use sandbox::{Body, Server};

use super::{Collected, Waits, provider};

const REPOSITORIES: usize = 30;
const TOKENS: &str = "/app/installations/77/access_tokens";

fn granted() -> Installation {
    ["administration", "contents", "organization_administration"]
        .into_iter()
        .fold(Installation::new(77, "acme"), |installation, name| installation.permission(name, "read"))
}

/// An organization that passes every check, half of it private.
fn host(app: App) -> CodeHost {
    let protection = || Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    let host = CodeHost::new().organization(Organization::new("acme").two_factor(true)).app(app);
    (0..REPOSITORIES).fold(host, |host, number| {
        let visibility = if number % 2 == 0 { Visibility::Private } else { Visibility::Public };
        host.repository(
            Repository::new("acme", format!("service-{number:02}"))
                .visibility(visibility)
                .protection("main", protection())
                .file(".github/CODEOWNERS", sandbox::codehost::File::text("* @acme/all\n")),
        )
    })
}

fn app() -> App {
    App::new(12, "evidence-reader").installed(granted())
}

/// A server with the run's clock.
fn serve(host: CodeHost) -> (Server, Clock) {
    let clock = Clock::manual("2026-11-21T09:00:00Z".parse::<Timestamp>().unwrap());
    let hands = clock.clone();
    (host.clock(move || hands.now()).serve().unwrap(), clock)
}

/// Connects as the app and collects everything.
fn collect(server: &Server, clock: &Clock, extra: &[&str]) -> Result<(Collected, Vec<String>), ConnectError> {
    provider();
    let url = server.url();
    let env = Env::new([("CODEHOST_API_URL", url.as_str()), ("APP_KEY", &App::private_key())], clock.clone());
    let extra: String = extra.iter().map(|line| format!("    {line}\n")).collect();
    let id = if extra.contains("client_id") { "" } else { "    app_id: 12\n" };
    let text = format!(
        "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  codehost:\n    mode: app\n{id}    \
         private_key_env: APP_KEY\n    org: acme\n    repos: \"*\"\n{extra}bundle:\n  signing:\n    private_key_path: \
         key.pem\n"
    );
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env).unwrap();
    let waits = Arc::new(Waits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let surroundings = RunContext {
            env: env.clone(),
            reporter: waits.clone(),
            screen: Arc::new(Screen::new(&[])),
            dry_run: false,
            resume: false,
            cache_secret: Arc::default(),
            budgets: evidence_http::Budgets::default(),
        };
        let session = config.sources[0].connect(&surroundings).await?;
        let warnings = session.warnings().iter().map(|warning| warning.code.clone()).collect();
        let mut observations = Vec::new();
        let mut items = session.collect();
        while let Some(item) = items.next().await {
            if let CollectionItem::Inspected(inspection) = item {
                observations.extend(inspection.observations);
            }
        }
        drop(items);
        let waits = waits.0.lock().unwrap().iter().map(|(reason, _, left)| (*reason, *left)).collect();
        Ok((
            Collected {
                observations,
                checks: Vec::new(),
                warnings: Vec::new(),
                account: session.account(),
                waits,
            },
            warnings,
        ))
    })
}

fn tokens(server: &Server) -> usize {
    server.requests().iter().filter(|request| request.path() == TOKENS && request.status == Some(201)).count()
}

fn artifacts(collected: &Collected) -> usize {
    let artifact = |seen: &Seen| matches!(seen, Seen::Artifact { .. });
    collected.observations.iter().filter(|observation| artifact(&observation.seen)).count()
}

fn all() -> usize {
    1 + 2 * REPOSITORIES
}

#[test]
fn the_token_has_what_the_rules_need_and_the_record_says_so() {
    // The app may do more than the run needs, and the token may not.
    let wide = granted().permission("contents", "write").permission("members", "read");
    let (server, clock) = serve(host(App::new(12, "evidence-reader").installed(wide)));
    let (collected, warnings) = collect(&server, &clock, &[]).unwrap();
    assert_eq!((artifacts(&collected), tokens(&server)), (all(), 1));
    assert!(warnings.is_empty(), "{warnings:?}");
    let identity = collected.account.identity;
    let app = identity.app.unwrap();
    let permissions: Vec<String> =
        app.permissions.iter().map(|(name, level)| format!("{name}={level}")).collect();
    assert_eq!(
        permissions,
        ["administration=read", "contents=read", "metadata=read", "organization_administration=read"]
    );
    assert_eq!((app.app_id, app.installation_id), (12, 77));
    assert_eq!((app.slug.as_deref(), app.repository_selection.as_str()), (Some("evidence-reader"), "all"));
    assert_eq!(identity.login.as_deref(), Some("evidence-reader"));
    let paths: Vec<String> = server.requests().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths[..3], ["/orgs/acme/installation", TOKENS, "/orgs/acme"]);
    assert!(!paths.iter().any(|path| path == "/user"), "an app has no account");
    assert!(server.violations().is_empty());
    assert_eq!(collected.account.requests, u64::try_from(paths.len()).unwrap());
}

#[test]
fn a_client_id_and_the_number_of_the_installation_do_as_well() {
    let (server, clock) = serve(host(app()));
    let id = format!("client_id: {}", app().client_id());
    let (collected, _) = collect(&server, &clock, &[&id, "installation_id: 77"]).unwrap();
    assert_eq!(artifacts(&collected), all());
    assert_eq!(server.requests()[0].path(), "/app/installations/77");
}

#[test]
fn fewer_rules_need_fewer_permissions() {
    let (server, clock) = serve(host(app()));
    let (collected, _) = collect(&server, &clock, &["controls: [CC6.1]"]).unwrap();
    let permissions: Vec<String> = collected.account.identity.app.unwrap().permissions.into_keys().collect();
    assert_eq!(permissions, ["metadata", "organization_administration"]);
}

#[test]
fn selected_repositories_are_always_a_warning() {
    let names = (0..REPOSITORIES).map(|number| format!("service-{number:02}")).collect();
    let selected = granted().repositories(Selection::Selected(names));
    let (server, clock) = serve(host(App::new(12, "evidence-reader").installed(selected)));
    let (collected, warnings) = collect(&server, &clock, &[]).unwrap();
    assert_eq!(warnings, ["app_selected_repositories"]);
    assert_eq!(collected.account.identity.app.unwrap().repository_selection, "selected");
}

/// The token is renewed before it ends, and after a pause; one renewal serves all requests.
#[test]
fn a_long_run_gets_a_new_token_after_each_pause() {
    let limits = Limits::primary(Primary::new(5_000, 130).reset_in(1_800));
    let (server, clock) = serve(host(app()).limits(limits));
    let (collected, _) = collect(&server, &clock, &[]).unwrap();
    assert_eq!(artifacts(&collected), all());
    assert!(collected.waits.iter().any(|(_, left)| left.as_secs() > 60));
    assert_eq!(tokens(&server), 2);
    assert!(server.requests().iter().all(|request| request.status != Some(401)));
}

#[test]
fn a_token_that_lives_shortly_is_not_renewed_for_each_request() {
    let (server, clock) = serve(host(app().token_seconds(240)));
    let (collected, _) = collect(&server, &clock, &[]).unwrap();
    assert_eq!((artifacts(&collected), tokens(&server)), (all(), 1));
}

#[test]
fn a_refusal_renews_the_token_once_and_the_request_is_answered() {
    let body = Body::Json;
    let refused = Fault::on("/repos/acme/service-07/branches/*").times(1).kind(FaultKind::Status(401, body));
    let (server, clock) = serve(host(app()).fault(refused));
    let (collected, _) = collect(&server, &clock, &["max_concurrency: 1"]).unwrap();
    assert_eq!((artifacts(&collected), tokens(&server)), (all(), 2));
}

#[test]
fn two_new_tokens_that_are_refused_end_the_source() {
    let refused = |path: &str| Fault::on(path).kind(FaultKind::Status(401, Body::Json));
    // In the connection test.
    let (server, clock) = serve(host(app()).fault(refused("/orgs/acme")));
    let error = collect(&server, &clock, &[]).err().unwrap();
    assert!(error.message.contains("(HTTP 401) for organization acme"), "{error:?}");
    assert_eq!(tokens(&server), 2, "the first token, and one more");
    // Later: the rest is reported as not read.
    let (server, clock) = serve(host(app()).fault(refused("/repos/*").after(20)));
    let (collected, _) = collect(&server, &clock, &["max_concurrency: 1"]).unwrap();
    assert!((10..30).contains(&artifacts(&collected)), "{}", artifacts(&collected));
    assert!(tokens(&server) <= 3, "{}", tokens(&server));
    let asked = server.requests().len();
    assert!(asked < 40, "{asked}: a host that refuses gets no further request");
}

#[test]
fn a_wrong_clock_costs_one_request() {
    for offset in [-4_000, -700, 700, 4_000] {
        let server = host(app()).clock_offset_seconds(offset).serve().unwrap();
        let clock = Clock::manual(Timestamp::now());
        let (collected, warnings) = collect(&server, &clock, &[]).unwrap();
        assert_eq!((artifacts(&collected), tokens(&server)), (all(), 1), "{offset}");
        assert_eq!(warnings, ["clock_skewed"], "{offset}");
        let refused = server.requests().iter().filter(|request| request.status == Some(401)).count();
        assert_eq!(refused, 1, "{offset}");
    }
}

/// Every way in which signing in can fail: the message, and that no token was used.
#[test]
fn what_is_wrong_with_an_app_is_named() {
    let installed = |installation| App::new(12, "evidence-reader").installed(installation);
    let lacking = Installation::new(77, "acme")
        .permission("organization_administration", "read")
        .permission("contents", "read");
    let cases: [(App, &[&str], &str); 8] = [
        (App::new(13, "other"), &[], "the host knows no app 12; 'Integration not found' (HTTP 404)"),
        (App::new(12, "other"), &[], "the app 12 is not installed for the organization acme"),
        (installed(lacking), &[], "does not have the permission Administration: read, which"),
        (
            installed(granted().suspended("2026-10-01T00:00:00Z")),
            &[],
            "the app's installation for acme is suspended since 2026-10-01T00:00:00Z",
        ),
        (
            app().key_deleted(true),
            &[],
            "the host does not accept the key of the app 12; 'A JSON web token could",
        ),
        (
            installed(granted().granted_anyway("contents", "write")),
            &[],
            "Forbidden scope: the token of the app's installation has write access (contents: write)",
        ),
        (app(), &["installation_id: 78"], "the app 12 is not installed for the organization acme"),
        (app(), &["client_id: Iv23liX"], "the host knows no app Iv23liX"),
    ];
    for (app, extra, said) in cases {
        let (server, clock) = serve(host(app));
        let error = collect(&server, &clock, extra).err().unwrap();
        assert!(error.message.contains(said), "{said}: {}", error.message);
        assert!(!error.help.is_empty(), "{said}");
        assert!(server.requests().iter().all(|request| !request.path().starts_with("/repos")), "{said}");
    }
}

/// The host's refusal counts, whatever the installation said before.
#[test]
fn a_permission_that_is_withdrawn_between_two_requests_is_named() {
    let body = serde_json::json!({
        "message": "The permissions requested are not granted to this installation.",
        "documentation_url": "https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app",
        "status": "422"
    });
    let fault = Fault::on(TOKENS).kind(FaultKind::Status(422, Body::Text(body.to_string())));
    let (server, clock) = serve(host(app()).fault(fault));
    let error = collect(&server, &clock, &[]).err().unwrap();
    assert!(error.message.contains("lacks a permission that the configured rules need"), "{}", error.message);
    assert!(error.help[0].contains("Contents: read"), "{:?}", error.help);
}
