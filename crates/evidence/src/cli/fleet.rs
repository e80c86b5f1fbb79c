//! `evidence fleet`

use std::path::PathBuf;

use clap::Args;

use crate::fleet::Shard;

/// `evidence fleet`
#[derive(Debug, Args)]
#[command(
    after_help = "The configuration is a template: {org} in it becomes the name of an organization, as in `org: \"{org}\"`. \
                  Each organization gets its own folder and bundle in the output directory, which also gets fleet.json, \
                  the signed list of all of them: check it with `evidence verify DIRECTORY/fleet.json`. The exit code is the \
                  worst of all: 0, then 3, 4, 5, 6, 1, 2."
)]
pub struct FleetArgs {
    /// Configuration file with {org} in it. Naming it approves the addresses, variables and files in it [default:
    /// ./evidence.yaml]
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The organizations, separated by commas. With `mode: app`, all that the app is installed for if none is named.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub orgs: Vec<String>,
    /// Output directory: a folder for each organization, and the list.
    #[arg(short, long, value_name = "DIRECTORY", default_value = "./evidence-fleet")]
    pub output: PathBuf,
    /// How many organizations are collected at the same time. All of them share the limits of their credential.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub workers: u16,
    /// Collect only this part of the organizations: its number, from 1, and how many parts there are. The parts depend
    /// only on the ids of the organizations.
    #[arg(long, value_name = "NUMBER/PARTS")]
    pub shard: Option<Shard>,
    /// Skip organizations that have a complete bundle since this day or time, in UTC [default: today]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Upload each bundle after its collection.
    #[arg(short, long)]
    pub upload: bool,
    /// Print only the path of the list; errors, waits and causes of an exit code other than 0 still go to standard error.
    #[arg(short, long)]
    pub quiet: bool,
}
