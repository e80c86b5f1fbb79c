//! The command line: what may be written, and nothing of what it does.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use ipnet::IpNet;

use crate::role::Role;
use crate::verify::LIMITS;

/// A private place where evidence bundles arrive, are verified, never change, and can be fetched.
#[derive(Debug, Parser)]
#[command(name = "evidence-platform", version, propagate_version = true)]
pub struct Cli {
    /// Where things are.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Where the platform keeps things. Every command needs to know.
#[derive(Args, Clone)]
pub struct PlaceArgs {
    /// The directory for everything that is kept on this machine; created if absent
    #[arg(long, global = true, default_value = "evidence-platform-data", env = "EVIDENCE_PLATFORM_DATA")]
    pub data: PathBuf,
    /// postgres://user:password@host/database; SQLite in the data directory if absent
    #[arg(long, global = true, env = "EVIDENCE_PLATFORM_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// A directory, or s3://bucket/prefix, reached by the AWS_... variables or the machine's role; the directory `blobs`
    /// in the data directory if absent
    #[arg(long, global = true, env = "EVIDENCE_PLATFORM_STORAGE")]
    pub storage: Option<String>,
}

impl fmt::Debug for PlaceArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceArgs")
            .field("data", &self.data)
            .field("storage", &self.storage)
            .finish_non_exhaustive()
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API and the pages
    Serve(ServeArgs),
    /// Organizations
    #[command(subcommand)]
    Organization(OrganizationCommand),
    /// API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Public keys whose bundles are accepted
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Show refused keys and failed sign-ins, newest first
    AuditLog {
        /// How many records to show
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
}

/// How to serve.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The address to listen at. Anything but this machine needs a reverse proxy with TLS in front
    #[arg(long, default_value = "127.0.0.1:8321", env = "EVIDENCE_PLATFORM_LISTEN")]
    pub listen: SocketAddr,
    /// The most bytes a bundle may have
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_bundle_size: u64,
    /// The most bytes a bundle may inflate to, up to 16 GiB
    #[arg(long, default_value_t = 2 << 30, value_parser = clap::value_parser!(u64).range(1..=LIMITS.inflated_bytes))]
    pub max_inflated_size: u64,
    /// How many days a bundle is kept if the uploader does not say
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub retention_days: u32,
    /// The fewest days that an uploader can ask for
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub min_retention_days: u32,
    /// How many uploads may be under way at once; one organization can have half of them
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_uploads: u32,
    /// How many bundles may be verified or shown at once; one organization can have half of them. Two for each processor
    /// if absent
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub max_verifications: Option<u32>,
    /// How many connections may be open at once
    #[arg(long, default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// People come over https, through a proxy: their browsers send a session over nothing else
    #[arg(long, env = "EVIDENCE_PLATFORM_SECURE_COOKIES")]
    pub secure_cookies: bool,
    /// Networks of reverse proxies whose X-Forwarded-For names the client in the logs, separated by commas
    #[arg(long, env = "EVIDENCE_PLATFORM_TRUSTED_PROXIES", value_name = "CIDR", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// How many connections to the database may be open at once
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub max_database_connections: u32,
}

/// A network, or one address.
fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| "write networks as 10.0.0.0/8, or single addresses".to_owned())
}

/// About organizations.
#[derive(Debug, Subcommand)]
pub enum OrganizationCommand {
    /// Make an organization
    Create {
        /// Its name
        name: String,
        /// Its short name: a-z 0-9 -
        #[arg(long)]
        slug: String,
    },
    /// Show all organizations
    List,
}

/// About API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it: the only time that it is shown
    Create {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// What the key is for
        #[arg(long)]
        role: Role,
        /// What to call it
        #[arg(long, default_value = "made on the command line")]
        name: String,
    },
    /// Revoke a key; it counts no more from the next request on
    Revoke {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The name or the prefix (evp_...) of the key
        key: String,
    },
    /// Show the keys of an organization
    List {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
    },
}

/// About trust.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Accept bundles that this key signed
    Add {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// What to call it; the name of the file if absent
        #[arg(long)]
        name: Option<String>,
        /// The file with the public key, PEM or OpenSSH
        file: PathBuf,
    },
}
