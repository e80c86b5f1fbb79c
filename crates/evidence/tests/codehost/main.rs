//! The source `codehost` against the sandbox, in this process: limits, retries and recorded answers.
//!
//! Waits use a manual clock, so an hour's pause takes no time. Everything else is real, including the port. `tests/cli`
//! tests the user-visible behaviour with the real binary.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]

#[path = "../support/repeated.rs"]
mod repeated;

mod app;
mod bulk;
mod foreign;
mod limits;
mod recordings;

use std::path::Path;
use std::sync::{Arc, Mutex, Once};

use clap::Parser as _;
use evidence::cli::Cli;
use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::evaluate::{self, Check};
use evidence::exit::Exit;
use evidence::observation::Observation;
use evidence::report::{Event, Reporter, WaitReason};
use evidence::source::{CollectionItem, ConnectError, RunContext, SessionSummary};
use evidence_screen::Screen;
use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use sandbox::DEMO_TOKEN;

/// The tests do not use TLS, but the client requires a crypto provider.
fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// An environment with a token, and with a clock that only waits advance.
fn environment(url: &str) -> Env {
    Env::new([("CODEHOST_TOKEN", DEMO_TOKEN), ("CODEHOST_API_URL", url)], Clock::manual(Timestamp::now()))
}

/// A configuration for `org`; `extra` adds `key: value` lines to `sources.codehost`.
/// Most recordings are answers to tokens that do not see how many repositories there are.
fn configuration(org: &str, repos: &str, key: &Path, extra: &[&str]) -> String {
    let extra: String = extra.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n  codehost:\n    mode: token\n    org: \
         {org}\n    repos: {repos}\n    accept_unconfirmed: true\n{extra}bundle:\n  signing:\n    private_key_path: {}\n",
        key.display()
    )
}

/// The results of a session.
struct Collected {
    observations: Vec<Observation>,
    /// What follows from each inspection, as text.
    checks: Vec<String>,
    /// The codes of the warnings that are not of an observation.
    warnings: Vec<String>,
    account: SessionSummary,
    waits: Vec<(WaitReason, SignedDuration)>,
}

/// Records every wait and the time at which it begins.
#[derive(Default)]
struct Waits(Mutex<Vec<(WaitReason, Timestamp, SignedDuration)>>);

impl Reporter for Waits {
    fn event(&self, event: Event<'_>) {
        if let Event::Waiting { reason, until, left, .. } = event {
            let mut waits = self.0.lock().unwrap();
            if waits.last().is_none_or(|(_, last, _)| *last != until) {
                waits.push((reason, until, left));
            }
        }
    }

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}

fn described(check: Check) -> String {
    let Check { rule, subject, verdict, .. } = check;
    format!(
        "{} {subject}: {:?} {} {:?} {:?}",
        rule.code,
        verdict.status,
        verdict.reason.code,
        verdict.actual,
        verdict.hint.map(|hint| hint.code)
    )
}

/// Connects to `url` and collects everything.
fn collect(url: &str, extra: &[&str]) -> Result<Collected, ConnectError> {
    collect_of(url, "\"*\"", extra)
}

/// Connects to `url` and collects `repos`.
fn collect_of(url: &str, repos: &str, extra: &[&str]) -> Result<Collected, ConnectError> {
    provider();
    let env = environment(url);
    let text = configuration("acme", repos, Path::new("key.pem"), extra);
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env).unwrap();
    let waits = Arc::new(Waits::default());
    let reporter: Arc<dyn Reporter> = waits.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let screen = Arc::new(Screen::new(&[]));
        let surroundings = RunContext {
            env: env.clone(),
            reporter,
            screen,
            dry_run: false,
            resume: false,
            cache_secret: Arc::default(),
            budgets: evidence_http::Budgets::default(),
        };
        let session = config.sources[0].connect(&surroundings).await?;
        let (mut observations, mut checks) = (Vec::new(), Vec::new());
        let mut warnings: Vec<String> =
            session.warnings().iter().map(|warning| warning.code.clone()).collect();
        let mut again = repeated::Repeated::new(&config, &env);
        let mut items = session.collect();
        while let Some(item) = items.next().await {
            again.add(&item);
            match item {
                CollectionItem::Inspected(inspection) => {
                    checks.extend(evaluate::checks_alone(inspection.clone()).into_iter().map(described));
                    observations.extend(inspection.observations);
                }
                CollectionItem::Warned(warning) => warnings.push(warning.code),
                _ => {}
            }
        }
        drop(items);
        again.agrees();
        let waits = waits.0.lock().unwrap().iter().map(|(reason, _, left)| (*reason, *left)).collect();
        Ok(Collected { observations, checks, warnings, account: session.account(), waits })
    })
}

/// Runs a whole command in this process, with the manual clock.
fn run(env: &Env, arguments: &[&str]) -> Exit {
    provider();
    let arguments: Vec<String> =
        std::iter::once("evidence").chain(arguments.iter().copied()).map(str::to_string).collect();
    evidence::commands::run(Cli::parse_from(&arguments), env, &arguments)
}
