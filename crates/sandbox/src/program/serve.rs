//! `sandbox serve`: a scenario behind a port, and what to type to look at it.

use clap::{Args as ClapArgs, ValueEnum};
use sandbox::codehost::{CodeHost, Limits};
use sandbox::{
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_TOKEN, DEMO_WRITE_TOKEN,
    demo_organization, large_organization,
};
use std::io;
use std::time::Duration;

/// What is served.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Scenario {
    /// Fourteen repositories, each in another situation.
    Demo,
    /// As many repositories as wanted, generated while they are asked for.
    Large,
}

/// The options.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The port; any free one by default.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The scenario.
    #[arg(long, value_enum, default_value_t = Scenario::Demo)]
    scenario: Scenario,
    /// How many repositories the large scenario has.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repositories: u32,
    /// How long every answer takes; the real host needs 300 to 400.
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Enforce the documented limits: 5,000 an hour, 100 at once, 900 a minute for an endpoint.
    #[arg(long)]
    enforce_limits: bool,
}

/// Serves until the process is interrupted.
pub(crate) fn run(args: &Args) -> io::Result<()> {
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
    host.log_limit(0).port(args.port).latency(Duration::from_millis(args.latency_ms))
}
