//! `sandbox serve`: serves a scenario, and shows how to use it.

use clap::{Args as ClapArgs, ValueEnum};
use sandbox::codehost::{CodeHost, Limits};
use sandbox::workspace::Workspace;
use sandbox::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_EXTERNAL_ID, DEMO_CLOUD_ROLE_ARN, DEMO_CLOUD_SECRET_ACCESS_KEY,
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_TOKEN, DEMO_WORKSPACE_ADMIN,
    DEMO_WORKSPACE_CUSTOMER, DEMO_WRITE_TOKEN, Server, demo_account, demo_organization, demo_workspace,
    large_account, large_organization, large_workspace,
};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Which host is played.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Host {
    /// The code host.
    Codehost,
    /// The cloud provider.
    Cloud,
    /// The workspace directory.
    Workspace,
}

/// What is served.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Scenario {
    /// A little of everything, each in another situation.
    Demo,
    /// As much as wanted.
    Large,
}

/// The options.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Which host is played.
    #[arg(long, value_enum, default_value_t = Host::Codehost)]
    host: Host,
    /// The port; any free one by default.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The scenario.
    #[arg(long, value_enum, default_value_t = Scenario::Demo)]
    scenario: Scenario,
    /// How many repositories, log groups or people the large scenario has.
    #[arg(long, visible_alias = "size", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repositories: u32,
    /// How long every answer takes; the real hosts need 100 to 400.
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Enforce the code host's documented limits: 5,000 an hour, 100 at once, 900 a minute for an endpoint.
    #[arg(long)]
    enforce_limits: bool,
    /// Where to write, as JSON and when Ctrl-C or SIGTERM ends it, what was counted: for measurements.
    #[arg(long, value_name = "PATH")]
    summary: Option<PathBuf>,
    /// Where to write the credentials file of the workspace's service account.
    #[arg(long, value_name = "PATH")]
    credentials_file: Option<PathBuf>,
    /// Where to write a federation file, with which the workspace can be read without a key.
    #[arg(long, value_name = "PATH")]
    federation_file: Option<PathBuf>,
}

impl Args {
    fn latency(&self) -> Duration {
        Duration::from_millis(self.latency_ms)
    }
}

/// Serves until the process is interrupted.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let counting = args.summary.as_deref().map(Counting::to).transpose()?;
    match args.host {
        Host::Codehost => codehost(args, counting),
        Host::Cloud => cloud(args, counting),
        Host::Workspace => workspace(args, counting),
    }
}

fn codehost(args: &Args, counting: Option<Counting<'_>>) -> io::Result<()> {
    let server = host(args).serve()?;
    let url = server.url();
    let tokens: &[(&str, &str)] = match args.scenario {
        Scenario::Demo => &[
            ("owner", DEMO_TOKEN),
            ("owner, fine-grained", DEMO_FINE_GRAINED_TOKEN),
            ("owner, ends soon", DEMO_EXPIRING_TOKEN),
            ("owner, scopes that write", DEMO_WRITE_TOKEN),
            ("member", DEMO_MEMBER_TOKEN),
        ],
        Scenario::Large => &[("owner", DEMO_TOKEN), ("owner, fine-grained", DEMO_FINE_GRAINED_TOKEN)],
    };
    anstream::println!("The code host is at {url}, organization acme. Tokens:");
    for (whose, token) in tokens {
        anstream::println!("  {whose:26}{token}");
    }
    anstream::println!("Try:\n  curl -si -H 'Authorization: token {DEMO_TOKEN}' {url}/orgs/acme");
    anstream::println!("Ctrl-C ends it.");
    wait(server, counting)
}

fn host(args: &Args) -> CodeHost {
    let host = match args.scenario {
        Scenario::Demo => demo_organization(),
        Scenario::Large => large_organization(args.repositories),
    };
    let host = if args.enforce_limits { host.limits(Limits::documented()) } else { host };
    // No one reads the log here.
    host.log_limit(0).port(args.port).latency(args.latency())
}

fn cloud(args: &Args, counting: Option<Counting<'_>>) -> io::Result<()> {
    let account = match args.scenario {
        Scenario::Demo => demo_account(),
        Scenario::Large => large_account(args.repositories),
    };
    let server = account.log_limit(0).port(args.port).latency(args.latency()).serve()?;
    let url = server.url();
    anstream::println!("The cloud is at {url}: all services and regions. Its account is 123456789012.");
    anstream::println!("  export CLOUD_ACCESS_KEY_ID={DEMO_CLOUD_ACCESS_KEY_ID}");
    anstream::println!("  export CLOUD_SECRET_ACCESS_KEY={DEMO_CLOUD_SECRET_ACCESS_KEY}");
    anstream::println!("  export CLOUD_REGION=eu-west-1");
    anstream::println!("A role: {DEMO_CLOUD_ROLE_ARN}, external id {DEMO_CLOUD_EXTERNAL_ID}");
    anstream::println!(
        "Try:\n  curl -si --aws-sigv4 aws:amz:us-east-1:iam \
         --user $CLOUD_ACCESS_KEY_ID:$CLOUD_SECRET_ACCESS_KEY \
         -d 'Action=GetAccountPasswordPolicy&Version=2010-05-08' {url}/"
    );
    anstream::println!("Ctrl-C ends it.");
    wait(server, counting)
}

fn workspace(args: &Args, counting: Option<Counting<'_>>) -> io::Result<()> {
    let directory = match args.scenario {
        Scenario::Demo => demo_workspace(),
        Scenario::Large => large_workspace(args.repositories),
    };
    let server = directory.log_limit(0).port(args.port).latency(args.latency()).serve()?;
    let url = server.url();
    anstream::println!("The workspace directory is at {url}, customer {DEMO_WORKSPACE_CUSTOMER}.");
    anstream::println!("Administrator: {DEMO_WORKSPACE_ADMIN}");
    match &args.credentials_file {
        Some(path) => {
            std::fs::write(path, Workspace::service_account_file(&server))?;
            let shown = path.display();
            anstream::println!("The service account's credentials are in {shown}:");
            anstream::println!("  export ALTCLOUD_APPLICATION_CREDENTIALS={shown}");
        }
        None => anstream::println!("--credentials-file PATH writes the service account's credentials."),
    }
    if let Some(path) = &args.federation_file {
        std::fs::write(path, Workspace::federation_file(&server, None))?;
        anstream::println!("A federation file, for `mode: sign_jwt`, is in {}.", path.display());
    }
    anstream::println!("Ctrl-C ends it.");
    wait(server, counting)
}

/// The file for the counts, and the signals that trigger writing it.
struct Counting<'a> {
    path: &'a Path,
    runtime: Runtime,
    interrupts: Signal,
    terminations: Signal,
}

impl<'a> Counting<'a> {
    /// From here on the signals have no default effect.
    fn to(path: &'a Path) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (interrupts, terminations) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        Ok(Self { path, runtime, interrupts, terminations })
    }
}

/// Waits until a signal stops the process; writes the counts first if requested.
fn wait<Host>(server: Server<Host>, counting: Option<Counting<'_>>) -> io::Result<()> {
    let Some(Counting { path, runtime, mut interrupts, mut terminations }) = counting else {
        server.join();
        return Ok(());
    };
    runtime.block_on(async {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
    });
    write_summary(&server, path)
}

fn write_summary<Host>(server: &Server<Host>, path: &Path) -> io::Result<()> {
    let counted = server.summary();
    let seconds = |time: Option<SystemTime>| {
        time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs_f64())
    };
    let document = serde_json::json!({
        "requests": counted.requests,
        "connections": counted.connections,
        "highest_concurrency": counted.highest_concurrency,
        "first_request": seconds(counted.first_request),
        "last_answer": seconds(counted.last_answer),
    });
    std::fs::write(path, format!("{document}\n"))
}
