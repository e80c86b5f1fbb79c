//! The source `cloud` against the sandbox, in this process: what it reads, how it handles every refusal, and which
//! answers it rejects.
//!
//! Waits use a manual clock and take no time. Everything else is real: the port, the signatures.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]

#[path = "../support/repeated.rs"]
mod repeated;

mod accounts;
mod buckets;
mod configuration;
mod credentials;
mod faults;
mod hostile;
mod identities;
mod providers;
mod refusals;
mod regions;
mod resources;
mod settings;
mod trails;
mod whole;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Once};

use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::evaluate;
use evidence::observation::Seen;
use evidence::report::{Event, Reporter};
use evidence::source::{
    CollectionItem, ConnectError, Member, Plan, PopulationScope, RunContext, SessionSummary,
};
use evidence_rules::rule::Status;
use evidence_screen::Screen;
use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use sandbox::cloud::{Cloud, LogGroup, PasswordPolicy, Principal, Server, Trail};
use serde_json::Value;

const ACCOUNT: &str = "123456789012";
const KEY: &str = "AKIDSANDBOX";
const SECRET: &str = "not-a-real-secret-access-key";
const USER: &str = "arn:aws:iam::123456789012:user/evidence";
const PERMISSIONS: [&str; 8] = [
    "organizations:ListAccounts",
    "ec2:DescribeRegions",
    "iam:GetAccountPasswordPolicy",
    "iam:GetAccountSummary",
    "cloudtrail:DescribeTrails",
    "cloudtrail:GetTrailStatus",
    "cloudtrail:GetEventSelectors",
    "logs:DescribeLogGroups",
];

/// An account that passes every check, and a user who may read it.
fn good() -> Cloud {
    Cloud::new(ACCOUNT)
        .organization_account(ACCOUNT, "ACTIVE")
        .principal(Principal::user(KEY, SECRET, USER).allow(PERMISSIONS))
        .password_policy(PasswordPolicy::new(14))
        .trail(Trail::new("main", "eu-central-1").multi_region(true).validation(true))
        .log_group("eu-central-1", LogGroup::new("/app/web").retention_days(365))
        .log_group("eu-central-1", LogGroup::new("/app/api"))
        .log_group("us-east-1", LogGroup::new("/app/web").retention_days(400))
}

/// The tests do not use TLS, but the client requires a crypto provider.
fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

struct Silent;

impl Reporter for Silent {
    fn event(&self, _event: Event<'_>) {}

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}

/// How a run is set up: lines of `sources.cloud`, variables, and how wrong the clock is.
struct Setup {
    lines: Vec<String>,
    variables: Vec<(&'static str, String)>,
    clock_is_wrong_by: i64,
    /// The first lines of the configuration.
    head: &'static str,
}

impl Setup {
    fn new(lines: &[&str]) -> Setup {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
        if !lines.iter().any(|line| line.starts_with("mode:")) {
            lines.push("mode: env".to_string());
        }
        let variables = [("CLOUD_ACCESS_KEY_ID", KEY), ("CLOUD_SECRET_ACCESS_KEY", SECRET)];
        let variables = variables.into_iter().map(|(name, value)| (name, value.to_string())).collect();
        let head = "framework: soc2_type1\ncontrols: [CC6.1, CC7.2]\n";
        Setup { lines, variables, clock_is_wrong_by: 0, head }
    }

    fn variable(mut self, name: &'static str, value: &str) -> Setup {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.to_string()));
        self
    }

    fn env(&self) -> Env {
        let now = Timestamp::now().checked_add(SignedDuration::from_secs(self.clock_is_wrong_by)).unwrap();
        Env::new(self.variables.clone(), Clock::manual(now))
    }

    fn yaml(&self, url: &str, key: &Path) -> String {
        let lines: String = self.lines.iter().map(|line| format!("    {line}\n")).collect();
        format!(
            "{}sources:\n  cloud:\n{lines}    endpoint_url: {url}\n\
             bundle:\n  signing:\n    private_key_path: {}\n",
            self.head,
            key.display()
        )
    }
}

/// The results of a run.
struct Collected {
    /// Rule, subject, status, reason.
    checks: Vec<(String, String, Status, String)>,
    artifacts: BTreeMap<String, Value>,
    /// Code and message, of the connection test and the collection.
    warnings: Vec<(String, String)>,
    /// Collection errors: subject, reason, message.
    failed: Vec<(String, String, String)>,
    population: Option<(Option<u64>, u64, u64, String)>,
    /// The scope, and the regions that are not in it.
    scope: Option<(PopulationScope, Vec<String>)>,
    observed: u64,
    account: SessionSummary,
    plan: Plan,
    identity: String,
    screen: Arc<Screen>,
    /// The rules that are asked of the source.
    rules: Vec<&'static str>,
}

impl Collected {
    /// The checks of one rule.
    fn of(&self, rule: &str) -> Vec<(&str, Status, &str)> {
        let checks = self.checks.iter().filter(|(code, ..)| code == rule);
        checks.map(|(_, subject, status, reason)| (subject.as_str(), *status, reason.as_str())).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.artifacts.keys().map(String::as_str).collect()
    }

    fn warned(&self) -> Vec<&str> {
        self.warnings.iter().map(|(code, _)| code.as_str()).collect()
    }
}

/// Connects to `url`, plans (in a separate session) and collects everything.
fn collect_from(url: &str, setup: &Setup, planned: bool) -> Result<Collected, ConnectError> {
    provider();
    let env = setup.env();
    let text = setup.yaml(url, Path::new("key.pem"));
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let screen = Arc::new(Screen::new(&[]));
        let surroundings = RunContext {
            env: env.clone(),
            reporter: Arc::new(Silent),
            screen: Arc::clone(&screen),
            dry_run: false,
            resume: false,
            cache_secret: Arc::default(),
            budgets: evidence_http::Budgets::default(),
        };
        let connect = || config.sources[0].connect(&surroundings);
        let plan = if planned { connect().await?.plan().await? } else { Plan::default() };
        let session = connect().await?;
        let mut collected = Collected {
            checks: Vec::new(),
            artifacts: BTreeMap::new(),
            warnings: Vec::new(),
            failed: Vec::new(),
            population: None,
            scope: None,
            observed: 0,
            account: session.account(),
            plan,
            identity: session.identity(),
            screen: Arc::clone(&screen),
            rules: session.rules().iter().map(|rule| rule.code).collect(),
        };
        collected.warnings.extend(session.warnings().iter().map(|w| (w.code.clone(), w.message.clone())));
        let mut again = repeated::Repeated::new(&config, &env);
        let mut items = session.collect();
        while let Some(item) = items.next().await {
            again.add(&item);
            collected.take(item);
        }
        drop(items);
        again.agrees();
        collected.account = session.account();
        Ok(collected)
    })
}

impl Collected {
    fn take(&mut self, item: CollectionItem) {
        match item {
            CollectionItem::Population { discovered, expected, text, members, scope, .. } => {
                let outside = members.iter().filter(|member| member.out_of_scope == Some("not_configured"));
                self.scope = Some((scope, outside.map(|member| member.name.to_string()).collect()));
                let kept = |member: &&Member| {
                    member.out_of_scope.is_none() && ["trail", "log_group"].contains(&member.kind)
                };
                let in_scope = members.iter().filter(kept).count() as u64;
                assert!(self.population.is_none() && self.observed == 0, "told first, and once");
                self.population = Some((discovered, in_scope, expected, text));
            }
            CollectionItem::Listed { .. } => {}
            CollectionItem::Warned(warning) => self.warnings.push((warning.code, warning.message)),
            CollectionItem::Inspected(inspection) => {
                self.observed += 1;
                for observation in &inspection.observations {
                    self.warnings
                        .extend(observation.warnings.iter().map(|w| (w.code.clone(), w.message.clone())));
                    let subject = observation.subject.to_string();
                    match &observation.seen {
                        Seen::Artifact { artifact, .. } => {
                            let path = artifact.path();
                            let name = path.as_str().strip_prefix("sources/cloud/").unwrap().to_string();
                            let value = serde_json::from_slice(artifact.bytes()).unwrap();
                            assert!(self.artifacts.insert(name, value).is_none(), "{path}");
                        }
                        Seen::Failed(failed) => {
                            let reason = failed.reason.code.to_string();
                            self.failed.push((subject, reason, failed.message.clone()));
                        }
                        _ => {}
                    }
                }
                for check in evaluate::checks_alone(inspection) {
                    if self.rules.contains(&check.rule.code) {
                        self.check(check.rule.code, &check.subject, &check.verdict);
                    }
                }
            }
        }
    }

    fn check(&mut self, rule: &str, subject: &str, verdict: &evidence_rules::rule::Verdict) {
        let (subject, reason) = (subject.to_string(), verdict.reason.code.to_string());
        self.checks.push((rule.to_string(), subject, verdict.status, reason));
    }
}

/// The second framework, with every rule of the cloud.
const EVERY_RULE: &str = "framework: tsc_2017\ncontrols: \"*\"\n";

const TWO_REGIONS: &[&str] = &["regions: [eu-central-1, us-east-1]"];

/// Collects with the default setup and these lines of `sources.cloud`.
fn collect(server: &Server<Cloud>, lines: &[&str]) -> Collected {
    collect_from(&server.url(), &Setup::new(lines), false).unwrap_or_else(|error| panic!("{error}"))
}

/// The number of requests for each action.
fn asked(server: &Server<Cloud>) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for request in server.requests() {
        *asked.entry(request.action.clone().unwrap_or_default()).or_insert(0) += 1;
    }
    asked
}
