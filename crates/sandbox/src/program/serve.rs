//! `sandbox serve`: a scenario behind a port, and what to type to look at it.

use clap::{Args as ClapArgs, ValueEnum};
use sandbox::codehost::{CodeHost, Limits};
use sandbox::workspace::Workspace;
use sandbox::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_EXTERNAL_ID, DEMO_CLOUD_ROLE_ARN, DEMO_CLOUD_SECRET_ACCESS_KEY,
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_TOKEN, DEMO_WORKSPACE_ADMIN,
    DEMO_WORKSPACE_CUSTOMER, DEMO_WRITE_TOKEN, demo_account, demo_organization, demo_workspace,
    large_account, large_organization, large_workspace,
};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Where to write the credentials file of the workspace's service account.
    #[arg(long, value_name = "PATH")]
    credentials_file: Option<PathBuf>,
}

impl Args {
    fn latency(&self) -> Duration {
        Duration::from_millis(self.latency_ms)
    }
}

/// Serves until the process is interrupted.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    match args.host {
        Host::Codehost => codehost(args),
        Host::Cloud => cloud(args),
        Host::Workspace => workspace(args),
    }
}

fn codehost(args: &Args) -> io::Result<()> {
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
    server.join();
    Ok(())
}

fn host(args: &Args) -> CodeHost {
    let host = match args.scenario {
        Scenario::Demo => demo_organization(),
        Scenario::Large => large_organization(args.repositories),
    };
    let host = if args.enforce_limits { host.limits(Limits::documented()) } else { host };
    // Nobody reads the log of a program.
    host.log_limit(0).port(args.port).latency(args.latency())
}

fn cloud(args: &Args) -> io::Result<()> {
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
    server.join();
    Ok(())
}

fn workspace(args: &Args) -> io::Result<()> {
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
    anstream::println!("Ctrl-C ends it.");
    server.join();
    Ok(())
}
