//! The command line: its arguments, without their implementation.

mod when;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use ipnet::IpNet;

use crate::event::Event;
use crate::role::Role;
use crate::server::host::host_name;
use crate::verify::LIMITS;

pub use self::when::{End, When};
use self::when::{end, when};

/// A private place where evidence bundles arrive, are verified, never change, and can be fetched.
#[derive(Debug, Parser)]
#[command(name = "evidence-platform", version, propagate_version = true)]
pub struct Cli {
    /// Where data is kept.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Where the platform keeps things. Every command needs to know.
#[derive(Args, Clone)]
pub struct PlaceArgs {
    /// The directory for everything that is kept on this machine; `serve` and `init` create it
    #[arg(long, global = true, default_value = "evidence-platform-data", env = "EVIDENCE_PLATFORM_DATA")]
    pub data: PathBuf,
    /// postgres://user:password@host/database, also in a file that EVIDENCE_PLATFORM_DATABASE_FILE names; SQLite in the
    /// data directory by default
    #[arg(long, global = true, env = "EVIDENCE_PLATFORM_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// A directory, or s3://bucket/prefix, with the AWS_... variables (keys also as AWS_..._FILE) or the machine's role; `blobs` in the data
    /// directory by default
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
    /// Serve the API and the pages; create a platform if there is none
    Serve(ServeArgs),
    /// Create a platform without starting a server; an existing one stays as it is
    Init,
    /// Manage organizations
    #[command(subcommand)]
    Organization(OrganizationCommand),
    /// Manage groups of organizations
    #[command(subcommand)]
    Group(GroupCommand),
    /// Create and change organizations and groups until they are as a file says; running it again changes nothing
    Apply {
        /// The file, YAML
        file: PathBuf,
        /// Only print what would change
        #[arg(long)]
        dry_run: bool,
        /// Also revoke the API keys and end the trust that the file does not name; an organization that it does not name loses its
        /// keys, unless it has bundles. Bundles are never deleted
        #[arg(long)]
        prune: bool,
        /// The folder for new API keys, each in a file of its own that only you can read
        #[arg(long, value_name = "FOLDER")]
        keys: Option<PathBuf>,
    },
    /// Manage API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage the public keys whose bundles are accepted
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Show refused keys and failed sign-ins, or the audit log of an organization, newest first
    AuditLog {
        /// The short name of the organization or the group; the platform's own log by default
        #[arg(long)]
        organization: Option<String>,
        /// Number of records; 100 by default
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
        /// Print every record as a line of JSON
        #[arg(long, conflicts_with = "limit")]
        jsonl: bool,
    },
    /// Show and delete what is due: bundles whose retention has ended
    #[command(subcommand)]
    Retention(RetentionCommand),
    /// Manage holds by tag: what has the tag is not deleted
    #[command(subcommand)]
    Hold(HoldCommand),
    /// Manage webhooks: addresses that receive events
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Show how fresh the evidence of each organization is; exit code 1 if a bundle is overdue
    Status {
        /// Print JSON, as `GET /api/v1/status` answers
        #[arg(long)]
        json: bool,
    },
    /// Check every stored byte against digest and signature, rows without blobs and blobs without rows; exit code 1 if
    /// anything is damaged
    Check {
        /// Check everything; an interrupted check goes on where it ended
        #[arg(long, required = true)]
        all: bool,
        /// Begin anew instead
        #[arg(long)]
        restart: bool,
        /// Read at most this many megabytes a second
        #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=100_000))]
        pace: Option<u64>,
    },
    /// Ask the server on this machine whether it runs, for health checks of containers
    Health(ListenArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: evidence_cli::Shell,
    },
    /// Write the manual pages: one for each command
    Man {
        /// The directory for the pages; their date is that of SOURCE_DATE_EPOCH, or today's
        #[arg(short, long, value_name = "DIRECTORY")]
        output: PathBuf,
    },
}

/// Where the server listens.
#[derive(Clone, Copy, Debug, Args)]
pub struct ListenArgs {
    /// The address to listen on. Anything but this machine needs a reverse proxy with TLS
    #[arg(long, default_value = "127.0.0.1:8321", env = "EVIDENCE_PLATFORM_LISTEN")]
    pub listen: SocketAddr,
}

/// How to serve.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen.
    #[command(flatten)]
    pub place: ListenArgs,
    /// The largest bundle, in bytes
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_bundle_size: u64,
    /// The largest inflated bundle, in bytes, up to 16 GiB
    #[arg(long, default_value_t = 2 << 30, value_parser = clap::value_parser!(u64).range(1..=LIMITS.inflated_bytes))]
    pub max_inflated_size: u64,
    /// Days to keep a bundle if the upload does not set them
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub retention_days: u32,
    /// The fewest days that an upload can set; by default 365, or `--retention-days` if that is fewer
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub min_retention_days: Option<u32>,
    /// Delete bundles this many days after their retention ended, unless something holds them; never by default
    #[arg(long, env = "EVIDENCE_PLATFORM_PURGE_AFTER_DAYS", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub purge_after_days: Option<u32>,
    /// Concurrent uploads; one organization gets at most half
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_uploads: u32,
    /// Bundles verified or shown at once; one organization gets at most half. Two per processor by default
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub max_verifications: Option<u32>,
    /// Open connections
    #[arg(long, default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// Mark cookies as Secure: browsers then send sessions over https only
    #[arg(long, env = "EVIDENCE_PLATFORM_SECURE_COOKIES")]
    pub secure_cookies: bool,
    /// Networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas
    #[arg(long, env = "EVIDENCE_PLATFORM_TRUSTED_PROXIES", value_name = "CIDR", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// Keys that no longer count, for bundles received from SINCE on: one FINGERPRINT SINCE WHY per line, # for comments
    #[arg(long, env = "EVIDENCE_PLATFORM_REVOKED_KEYS", value_name = "FILE")]
    pub revoked_keys: Option<PathBuf>,
    /// Let webhooks use plain HTTP and addresses of private networks
    #[arg(long, env = "EVIDENCE_PLATFORM_PRIVATE_WEBHOOKS")]
    pub private_webhooks: bool,
    /// Refuse bundles with checks that this version cannot judge again, because it does not know their rule
    #[arg(long, env = "EVIDENCE_PLATFORM_REQUIRE_JUDGEMENT")]
    pub require_judgement: bool,
    /// Names under which clients reach the server, separated by commas; IP addresses and localhost need none
    #[arg(long, env = "EVIDENCE_PLATFORM_HOST_NAMES", value_name = "NAME", value_delimiter = ',', value_parser = host_name)]
    pub host_names: Vec<String>,
    /// Believe the clock although it is more than a day ahead of the last recorded time: deletions are possible again
    #[arg(long)]
    pub accept_clock: bool,
    /// Check everything that is stored when the last check is this many days old; 0 for never
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u32).range(..=3_650))]
    pub check_every: u32,
    /// Megabytes a second that this check reads at most
    #[arg(long, value_name = "MB", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub check_pace: u64,
    /// The most bytes of kept rows, on this machine's disk; the oldest make room
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 30, value_parser = clap::value_parser!(u64).range(1_000_000..))]
    pub max_rows_size: u64,
    /// Megabytes a second of stored bundles to read at most in the background, for rows that this machine does not have; 0 for never
    #[arg(long, value_name = "MB", default_value_t = 5, value_parser = clap::value_parser!(u64).range(..=100_000))]
    pub fill_pace: u64,
    /// Open connections to the database
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub max_database_connections: u32,
}

/// Parses a network, or a single address.
fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| "write networks as 10.0.0.0/8, or single addresses".to_owned())
}

/// About organizations.
#[derive(Debug, Subcommand)]
pub enum OrganizationCommand {
    /// Create an organization
    Create {
        /// Its name
        name: String,
        /// Its short name: a-z 0-9 -
        #[arg(long)]
        slug: String,
        /// Hours after which the next bundle is expected; later, the organization is late
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8_784))]
        expect_hours: Option<u32>,
        /// The short name of its group
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
    },
    /// Change an organization
    Update {
        /// Its short name
        slug: String,
        /// Its new name
        #[arg(long)]
        name: Option<String>,
        /// Hours after which the next bundle is expected; later, the organization is late
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8_784))]
        expect_hours: Option<u32>,
        /// Expect nothing
        #[arg(long, conflicts_with = "expect_hours")]
        expect_nothing: bool,
        /// The short name of its group
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
        /// Take it out of its group
        #[arg(long, conflicts_with = "group")]
        no_group: bool,
    },
    /// List all organizations
    List,
}

/// About groups of organizations.
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Create a group
    Create {
        /// Its name
        name: String,
        /// Its short name: a-z 0-9 -
        #[arg(long)]
        slug: String,
    },
    /// Rename a group
    Update {
        /// Its short name
        slug: String,
        /// Its new name
        #[arg(long)]
        name: String,
    },
    /// List all groups
    List,
}

/// Whose keys.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct KeyOwner {
    /// The short name of the organization
    #[arg(long)]
    pub organization: Option<String>,
    /// The short name of the group; its keys look at all of its organizations
    #[arg(long)]
    pub group: Option<String>,
}

/// About API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key and print it; it is shown only once
    Create {
        /// Whose key
        #[command(flatten)]
        owner: KeyOwner,
        /// The role of the key
        #[arg(long)]
        role: Role,
        /// Its name
        #[arg(long, default_value = "created on the command line")]
        name: String,
        /// End the key after this many days; it never ends by default
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires: Option<u32>,
    },
    /// Revoke a key; takes effect immediately
    Revoke {
        /// Whose key
        #[command(flatten)]
        owner: KeyOwner,
        /// The name or the prefix (evp_...) of the key
        key: String,
    },
    /// List the keys of an organization or a group, with their ends and last uses
    List {
        /// Whose keys
        #[command(flatten)]
        owner: KeyOwner,
    },
}

/// About retention.
#[derive(Debug, Subcommand)]
pub enum RetentionCommand {
    /// List the bundles whose retention has ended, and which of them are held
    List {
        /// The short name of the organization; all by default
        #[arg(long)]
        organization: Option<String>,
        /// List those too whose retention ends within this many days
        #[arg(long, value_name = "DAYS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=36_500))]
        within: u32,
    },
    /// Delete every bundle that is due and that nothing holds
    Purge {
        /// The short name of the organization; all by default
        #[arg(long)]
        organization: Option<String>,
        /// Really delete; without it, only count
        #[arg(long)]
        yes: bool,
    },
}

/// About holds by tag.
#[derive(Debug, Subcommand)]
pub enum HoldCommand {
    /// Hold every bundle that has a tag, now and later
    Set {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The tag, name=value
        #[arg(long)]
        tag: String,
        /// Why, for the audit log
        #[arg(long)]
        reason: String,
    },
    /// End the hold of a tag
    Release {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The tag, name=value
        #[arg(long)]
        tag: String,
    },
    /// List the tags that hold bundles
    List {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
    },
}

/// About webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Add a webhook and print the secret that signs its messages; it is shown only once
    Create {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The address, https
        #[arg(long)]
        url: String,
        /// An event, any number of times; all events by default
        #[arg(long = "event", value_name = "EVENT")]
        events: Vec<Event>,
    },
    /// List the webhooks of an organization, what waits for them, and why the last message failed
    List {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
    },
    /// Remove a webhook, and what waits for it
    Remove {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// Its id
        webhook: String,
    },
}

/// About trust.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// Accept bundles signed by this key
    Add {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// Its name; the name of the file by default
        #[arg(long)]
        name: Option<String>,
        /// Count it only for bundles that are received from this day or time on (UTC)
        #[arg(long, value_name = "TIME", value_parser = when)]
        valid_from: Option<When>,
        /// Count it only for bundles that are received until the end of this day, or until this time (UTC)
        #[arg(long, value_name = "TIME", value_parser = when)]
        valid_until: Option<When>,
        /// The file with the public key, PEM or OpenSSH
        file: PathBuf,
    },
    /// Change when a key counts: bundles that were received in that time stay verified
    Update {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The first day or time of receipt (UTC), or `none`
        #[arg(long, value_name = "TIME", value_parser = end)]
        valid_from: Option<End>,
        /// The last day or time of receipt (UTC), or `none`
        #[arg(long, value_name = "TIME", value_parser = end, required_unless_present = "valid_from")]
        valid_until: Option<End>,
        /// The id, the OpenSSH fingerprint or the name of the key
        key: String,
    },
    /// Revoke a key: bundles that were received since then no longer verify
    Revoke {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The first day or time of receipt (UTC) at which it does not count
        #[arg(long, value_name = "TIME", value_parser = when)]
        since: When,
        /// Why, for the audit log and for those who verify
        #[arg(long)]
        reason: String,
        /// The id, the OpenSSH fingerprint or the name of the key
        key: String,
    },
    /// List the trusted keys of an organization, and when they count
    List {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
    },
    /// Remove a key that was added by mistake: no bundle that it signed verifies any longer. To rotate a key, use `update`
    Remove {
        /// The short name of the organization
        #[arg(long)]
        organization: String,
        /// The id, the OpenSSH fingerprint or the name of the key
        key: String,
    },
}
