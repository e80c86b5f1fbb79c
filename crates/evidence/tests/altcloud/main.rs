//! The source `altcloud` against the sandbox's workspace, in this process.
//!
//! Waits use a manual clock and take no time. Everything else is real: the port, the assertion and its signature, which
//! the sandbox verifies with a different library.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]

#[path = "../support/repeated.rs"]
mod repeated;

mod access;
mod answers;
mod documents;
mod groups;
mod inactive;
mod keyless;
mod policies;
mod workspaces;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, Once};

use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::evaluate::{Check, checks_alone};
use evidence::observation::Seen;
use evidence::report::{Event, Reporter};
use evidence::source::{CollectionItem, ConnectError, Plan, RunContext, SessionSummary};
use evidence_screen::Screen;
use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use sandbox::workspace::{Activity, MORE_SCOPES, Person, SCOPES, Server, ServiceAccount, Workspace};
use serde_json::Value;

/// The tests do not use TLS, but the client requires a crypto provider.
fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The administrator for whom the service account acts.
const ADMIN: &str = "auditor@acme.example";
const ACCOUNT: &str = "evidence@acme-evidence.iam.gserviceaccount.com";
const USERS: &str = "/admin/directory/v1/users*";
const ROLES: &str = "/admin/directory/v1/customer/my_customer/roles*";
const ASSIGNMENTS: &str = "/admin/directory/v1/customer/my_customer/roleassignments*";
const REPORTS: &str = "/admin/reports/*";

/// A workspace that passes every check: two super administrators, one other administrator, and some staff.
fn workspace() -> Workspace {
    Workspace::new("C01acme99", ["acme.example", "acme-labs.example"])
        .service_account(ServiceAccount::new(ACCOUNT).delegated(SCOPES.into_iter().chain(MORE_SCOPES)))
        .person(Person::new(ADMIN, "Ada", "Auditor").super_admin(true))
        .person(Person::new("root@acme.example", "Ruth", "Root").super_admin(true))
        .person(Person::new("help@acme.example", "Hal", "Helpful").admin_role("_HELP_DESK_ADMIN_ROLE"))
        .person(Person::new("mia@acme.example", "Mia", "Made"))
        .person(
            Person::new("gone@acme.example", "Gil", "Gone").suspended(true).enforced(false).enrolled(false),
        )
        .person(Person::new("lab@acme-labs.example", "Lou", "Labs"))
        .good_policies()
        .activity(Activity::new(3, ADMIN, "SUSPEND_USER", "gone@acme.example"))
        .activity(Activity::new(90, "root@acme.example", "CREATE_USER", "mia@acme.example"))
        .activity(Activity::new(100, ADMIN, "CREATE_USER", "help@acme.example").and(
            "ASSIGN_ROLE",
            [("USER_EMAIL", "help@acme.example"), ("ROLE_NAME", "_HELP_DESK_ADMIN_ROLE")],
        ))
}

/// How a run is configured. The defaults are those of a good run.
#[derive(Clone)]
struct Setup {
    framework: &'static str,
    controls: &'static str,
    admin: &'static str,
    extra: &'static str,
    /// A key in place of the service account's own.
    key: Option<&'static str>,
    /// How far the local clock is ahead.
    ahead: SignedDuration,
    /// The variables of a run in which the provider signs, and no key is here.
    keyless: Option<Vec<(&'static str, String)>>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            framework: "soc2_type1",
            controls: "[CC6.1, CC6.6]",
            admin: ADMIN,
            extra: "",
            key: None,
            ahead: SignedDuration::ZERO,
            keyless: None,
        }
    }
}

/// The results of a session.
struct Collected {
    /// Rule, subject, status and reason of every check, a line each.
    checks: Vec<String>,
    /// The `actual` text, by rule and subject.
    actual: BTreeMap<String, String>,
    /// Content by file name.
    artifacts: BTreeMap<String, Value>,
    /// Path of the request in the manifest, by file name.
    requests: BTreeMap<String, String>,
    /// Codes.
    warnings: Vec<String>,
    warning_texts: Vec<String>,
    /// Messages of collection errors.
    errors: Vec<String>,
    population: String,
    identity: String,
    organization: String,
    account: SessionSummary,
    plan: Option<Plan>,
    /// How far waits moved the clock.
    waited: SignedDuration,
    /// All reported events, in debug form.
    told: String,
    screen: Arc<Screen>,
}

/// Records every event.
#[derive(Default)]
struct Ear(Mutex<String>);

impl Reporter for Ear {
    fn event(&self, event: Event<'_>) {
        self.0.lock().unwrap().push_str(&format!("{event:?}\n"));
    }

    fn wants_debug(&self) -> bool {
        true
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}

/// Collects from `server` as `setup` says; with `dry_run`, plans instead.
fn run(server: &Server<Workspace>, setup: &Setup, dry_run: bool) -> Result<Collected, ConnectError> {
    provider();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    let mut file: Value = serde_json::from_str(&Workspace::service_account_file(server)).unwrap();
    if let Some(key) = setup.key {
        file["private_key"] = key.into();
    }
    std::fs::write(&path, file.to_string()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let start = Timestamp::now() + setup.ahead;
    let with_key = || vec![("ALTCLOUD_APPLICATION_CREDENTIALS", path.to_str().unwrap().to_string())];
    let variables = setup.keyless.clone().unwrap_or_else(with_key);
    let env = Env::new(variables, Clock::manual(start));
    let Setup { framework, controls, admin, extra, .. } = setup;
    let url = server.url();
    let mode = match setup.keyless {
        None => "mode: service_account".to_string(),
        Some(_) => format!(
            "mode: sign_jwt\n    service_account: {ACCOUNT}\n    iam_url: {url}\n    token_uri: {url}/token"
        ),
    };
    let text = format!(
        "framework: {framework}\ncontrols: {controls}\nsources:\n  altcloud:\n    {mode}\n    \
         admin_email: {admin}\n    api_url: {url}\n    cloud_identity_url: {url}\n{extra}bundle:\n  signing:\n    private_key_path: key.pem\n"
    );
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env).unwrap();
    let ear = Arc::new(Ear::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let source = &config.sources[0];
        let secrets = source.credentials(&env)?;
        let screen = Arc::new(Screen::new(&secrets.iter().map(String::as_str).collect::<Vec<_>>()));
        let surroundings = RunContext {
            env: env.clone(),
            reporter: ear.clone(),
            screen: Arc::clone(&screen),
            dry_run,
            resume: false,
            cache_secret: Arc::default(),
            budgets: evidence_http::Budgets::default(),
        };
        let session = source.connect(&surroundings).await?;
        let warnings: Vec<_> = session.warnings().to_vec();
        let plan = if dry_run { Some(session.plan().await?) } else { None };
        let mut items = Vec::new();
        if !dry_run {
            let mut stream = session.collect();
            while let Some(item) = stream.next().await {
                items.push(item);
            }
        }
        let mut collected = Collected {
            checks: Vec::new(),
            actual: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            requests: BTreeMap::new(),
            warnings: warnings.iter().map(|warning| warning.code.clone()).collect(),
            warning_texts: warnings.iter().map(|warning| warning.message.clone()).collect(),
            errors: Vec::new(),
            population: String::new(),
            identity: session.identity(),
            organization: session.organization().to_string(),
            account: session.account(),
            plan,
            waited: env.clock.now().duration_since(start),
            told: ear.0.lock().unwrap().clone(),
            screen,
        };
        if !dry_run {
            let mut again = repeated::Repeated::new(&config, &env);
            items.iter().for_each(|item| again.add(item));
            again.agrees();
        }
        items.into_iter().for_each(|item| collected.take(item));
        Ok(collected)
    })
}

impl Collected {
    fn take(&mut self, item: CollectionItem) {
        let inspection = match item {
            CollectionItem::Population { text, .. } => {
                self.population = text;
                return;
            }
            CollectionItem::Inspected(inspection) => inspection,
            CollectionItem::Listed { .. } => return,
            CollectionItem::Warned(warning) => panic!("{warning:?}"),
        };
        for observation in &inspection.observations {
            match &observation.seen {
                Seen::Artifact { artifact, .. } => {
                    let name = artifact.path().as_str().rsplit('/').next().unwrap().to_string();
                    let content = serde_json::from_slice(artifact.bytes()).unwrap();
                    assert!(self.artifacts.insert(name.clone(), content).is_none(), "{name} twice");
                    let request = observation.requests.first().unwrap();
                    self.requests.insert(name, request.path.clone());
                }
                Seen::Failed(failed) => self.errors.push(failed.message.clone()),
                Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Withheld { .. } => {}
            }
        }
        for Check { rule, subject, verdict, .. } in checks_alone(inspection) {
            let status = serde_json::to_value(verdict.status).unwrap();
            let status = status.as_str().unwrap();
            self.checks.push(format!("{} {subject} {status} {}", rule.code, verdict.reason.code));
            let key = format!("{} {subject}", rule.code);
            self.actual.entry(key).or_default().push_str(&verdict.actual.unwrap_or_default());
        }
    }
}

/// A good run; panics with the reason if it fails.
fn collect(server: &Server<Workspace>) -> Collected {
    collect_with(server, &Setup::default())
}

fn collect_with(server: &Server<Workspace>, setup: &Setup) -> Collected {
    run(server, setup, false).unwrap_or_else(|error| panic!("{error}: {:?}", error.help))
}

fn refused(server: &Server<Workspace>, setup: &Setup) -> ConnectError {
    match run(server, setup, false) {
        Ok(collected) => panic!("it was connected: {}", collected.identity),
        Err(error) => error,
    }
}

/// The checks of a good workspace.
const GOOD: [&str; 3] = [
    "two-step-verification acme.example pass ok",
    "administrators acme.example pass ok",
    "user-lifecycle-log acme.example not_applicable information",
];

/// The number of requests for `path`.
fn asked(server: &Server<Workspace>, path: &str) -> usize {
    server.requests().iter().filter(|request| request.path_and_query.starts_with(path)).count()
}
