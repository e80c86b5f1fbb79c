//! The grammar of the command line, without its behaviour.

#[macro_use]
mod trust;
mod fleet;
mod read;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use evidence_view::history::Day;

pub use self::fleet::FleetArgs;
pub use self::read::{
    CheckFilterArgs, FailOn, RejudgeArgs, ReportArgs, ShowArgs, ShowFormat, StatusName, VerifyArgs,
};
pub use self::trust::TrustArgs;
use crate::exit::Exit;
use crate::source::github::names::EXAMPLE_ORGANIZATION;
use evidence_rules::framework::IDS;

/// Collects SOC 2 evidence through read-only calls and packs it as one signed bundle.
#[derive(Debug, Parser)]
#[command(
    name = "evidence",
    version,
    about,
    propagate_version = true,
    after_help = Exit::summary()
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Collect evidence from every configured source into one signed bundle.
    Collect(CollectArgs),
    /// Collect many organizations with one configuration, and list what became of each.
    Fleet(FleetArgs),
    /// Check a bundle, strictly and offline.
    Verify(VerifyArgs),
    /// Verify a bundle, then print its results.
    Show(ShowArgs),
    /// Verify a bundle, then make its report from its documents: one HTML page for people.
    Report(ReportArgs),
    /// Verify a bundle, then draw a sample that anyone can reproduce from the same seed.
    Sample(SampleArgs),
    /// Verify two bundles, then print how the second differs from the first.
    Diff(DiffArgs),
    /// Verify the bundles of a period, then print what was covered, what failed and for how long, and what changed.
    History(HistoryArgs),
    /// Verify a bundle, then judge its facts again by this version's rules, another framework or other numbers.
    Rejudge(RejudgeArgs),
    /// Check a file of waivers, or list the waivers of a bundle: failures that management accepts.
    Waivers(WaiversArgs),
    /// Write the verifier page: one HTML file that verifies bundles offline in a browser.
    Verifier(VerifierArgs),
    /// Upload a bundle to an evidence platform, which verifies it.
    Upload(UploadArgs),
    /// Write a commented evidence.yaml, and a key pair with --generate-keys; never overwrites.
    Init(InitArgs),
    /// Generate a key pair to sign bundles; never overwrites.
    Keygen(KeygenArgs),
    /// Print the JSON Schema of the configuration or of a document, for editors and validators.
    Schema(SchemaArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages: one for each command.
    Man(ManArgs),
}

/// `evidence collect`
#[derive(Debug, Args)]
#[command(
    after_help = "Secrets are read from the environment variables that the configuration names, such as CODEHOST_TOKEN. \
                  Add _FILE to the name of a variable to give the path of a file with the secret: CODEHOST_TOKEN_FILE."
)]
pub struct CollectArgs {
    /// Configuration file. Naming it approves the addresses, variables and files in it [default: ./evidence.yaml]
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Output directory for bundles.
    #[arg(short, long, value_name = "DIRECTORY", default_value = "./evidence-bundles")]
    pub output: PathBuf,
    /// Upload after collection.
    #[arg(short, long)]
    pub upload: bool,
    /// Test connections and estimate the run without collecting. Exits with the code that the collection would have, as
    /// far as is known.
    #[arg(short, long)]
    pub dry_run: bool,
    /// Resume a run interrupted in the last 24 hours. Needs `revalidate: true`.
    #[arg(long)]
    pub resume: bool,
    /// End with code 8 if checks fail without a waiver. With not-verifiable, checks that could not be verified count too.
    #[arg(long, value_enum, value_name = "STATUS")]
    pub fail_on: Option<FailOn>,
    /// Count failures with a waiver too for --fail-on.
    #[arg(long)]
    pub ignore_waivers: bool,
    /// Make the same answers give the same bytes: every time is SOURCE_DATE_EPOCH, and nothing about this run is recorded.
    #[arg(long)]
    pub reproducible: bool,
    /// Show every request, and every artifact with its size.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print only the path of the bundle; standard error has rate-limit waits, and a line for each cause of an exit code
    /// other than 0.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `evidence waivers`
#[derive(Debug, Args)]
pub struct WaiversArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: WaiversCommand,
}

/// What to do about waivers.
#[derive(Debug, Subcommand)]
pub enum WaiversCommand {
    /// Check the file of waivers that the configuration names, and list what ends within 30 days.
    Check(WaiversCheckArgs),
    /// Verify a bundle, then list its waivers.
    List(WaiversListArgs),
}

/// `evidence waivers check`
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The configuration is the one in --config, or else ./evidence.yaml. With a bundle, the waivers are applied to its \
     checks as of today; the bundle is verified first.\n\n",
    trust_help!()
))]
pub struct WaiversCheckArgs {
    /// A bundle: shows what would apply to its checks.
    #[arg(value_name = "BUNDLE")]
    pub bundle: Option<PathBuf>,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// `evidence waivers list`
#[derive(Debug, Args)]
#[command(after_help = trust_help!())]
pub struct WaiversListArgs {
    /// The bundle.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `evidence sample`
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The order is the hex SHA-256 of SEED:IDENTITY, smallest first. The identity of a check is \
     control|source|rule|subject, that of a member of the population source|kind|name, that of a \
     day YYYY-MM-DD. \
     docs/sampling.md shows how to draw the same sample with sha256sum and sort. Let the auditor \
     choose the seed after the bundle is made.\n\n",
    trust_help!()
))]
pub struct SampleArgs {
    /// The bundles: files, and folders with bundles, without their subfolders.
    #[arg(value_name = "BUNDLE", required_unless_present = "from_date")]
    pub bundles: Vec<PathBuf>,
    /// The first day, YYYY-MM-DD; with --from days.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "to_date")]
    pub from_date: Option<Day>,
    /// The last day, YYYY-MM-DD; with --from days.
    #[arg(long, value_name = "DAY", value_parser = day, requires = "from_date")]
    pub to_date: Option<Day>,
    /// What to draw from.
    #[arg(long, value_enum, value_name = "LIST")]
    pub from: SampleFrom,
    /// Number of items to draw, at most 10,000; all if there are fewer.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub count: u32,
    /// Seed text that determines the sample; chosen by the auditor.
    #[arg(long, value_name = "TEXT")]
    pub seed: String,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Which checks it is drawn from; source and subject apply to the other lists too.
    #[command(flatten)]
    pub filter: CheckFilterArgs,
    /// Only members of this kind, such as repository or user; with --from population.
    #[arg(long, value_name = "KIND", help_heading = read::FILTERS)]
    pub kind: Vec<String>,
    /// Only members in scope; with --from population.
    #[arg(long, help_heading = read::FILTERS)]
    pub in_scope: bool,
    /// How to print.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SampleFormat::Text)]
    pub format: SampleFormat,
}

/// `evidence diff`
#[derive(Debug, Args)]
#[command(after_help = trust_help!())]
pub struct DiffArgs {
    /// The first bundle.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The second bundle.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Whom to trust, and what the bundles must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// How to print.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// End with exit code 8 if there is such a check; may be repeated.
    #[arg(long, value_enum, value_name = "CLASS")]
    pub fail_on: Vec<DiffersOn>,
    /// Compare as if there were no waivers, and count every regression.
    #[arg(long)]
    pub ignore_waivers: bool,
}

/// How differences are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For a terminal
    Text,
    /// Tables for a ticket or a wiki
    Markdown,
}

/// What `--fail-on` of `diff` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffersOn {
    /// A check passed and fails without a waiver
    Regression,
    /// A check can no longer be verified
    LostSight,
    /// Any check differs
    Any,
}

/// `evidence history`
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Days are those of UTC, both ends included. Bundles outside the period are not looked at. The same bundles give the \
     same output in any order.\n\n",
    trust_help!()
))]
pub struct HistoryArgs {
    /// The bundles: files, and folders with bundles, without their subfolders.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// The first day, YYYY-MM-DD [default: that of the first bundle]
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub from: Option<Day>,
    /// The last day, YYYY-MM-DD [default: that of the last bundle]
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub to: Option<Day>,
    /// Whom to trust, and which organization is meant.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Also write period.html, days.csv, failures.csv, population.csv, events.csv and inputs.csv into this folder.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Show the failures as if there were no waivers.
    #[arg(long)]
    pub ignore_waivers: bool,
}

/// A day on the command line.
fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "not a day; write it as 2026-01-31".to_string())
}

/// What a sample is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SampleFrom {
    /// The checks of derived/normalized.json
    Checks,
    /// Everything that was found, in scope or not: derived/population.json
    Population,
    /// The pull requests that were merged in the period
    Changes,
    /// Everyone with access to a source
    People,
    /// The days from --from-date to --to-date, with or without a bundle
    Days,
}

/// How a sample is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SampleFormat {
    /// Two lines for each item: what it is, and its hash and identity
    Text,
    /// One JSON object
    Json,
    /// A table for spreadsheets, RFC 4180
    Csv,
}

/// `evidence verifier`
#[derive(Debug, Args)]
#[command(
    after_help = "The page contains the verifier of this release and sends nothing anywhere. Auditors should take it from \
                  the project's release and compare its SHA-256: a page from the audited organization proves nothing."
)]
pub struct VerifierArgs {
    /// The file to write; standard output by default.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `evidence upload`
#[derive(Debug, Args)]
#[command(
    after_help = "The API key is read from the environment variable EVIDENCE_API_KEY, or the one that \
                  upload.api_key_env \
                  names, or from the file that EVIDENCE_API_KEY_FILE names. The bundle is verified on this machine first, with the keys that `evidence verify` would \
                  trust: those of EVIDENCE_TRUSTED_KEYS or of the configuration in --config. The local file is \
                  kept, unless upload.delete_after_upload is set and the platform has verified the bundle. \
                  Uploading again is safe: the same bytes keep the same id."
)]
pub struct UploadArgs {
    /// The bundle.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Configuration file. Without it, only the section `upload` of ./evidence.yaml is used, and only for a platform on
    /// this machine or at --endpoint; its keys are not trusted.
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address of the platform, in place of upload.api_url.
    #[arg(short, long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// The organization on the platform that the key must belong to, in place of upload.organization_id.
    #[arg(long, value_name = "ORGANIZATION")]
    pub organization: Option<String>,
    /// A tag for the bundle on the platform; added to upload.tags, replaces a tag of the same name.
    #[arg(long, value_name = "NAME=TEXT")]
    pub tag: Vec<String>,
    /// Print only the address of the uploaded bundle.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `evidence init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// People write `evidence init ADDRESS`: the error shows the option.
    #[arg(value_name = "ORGANIZATION", hide = true)]
    pub misplaced: Option<String>,
    /// Where to write the configuration.
    #[arg(short, long, value_name = "FILE", default_value = "./evidence.yaml")]
    pub config: PathBuf,
    /// The organization on the code host.
    #[arg(long, value_name = "ORGANIZATION", default_value = EXAMPLE_ORGANIZATION)]
    pub org: String,
    /// The compliance framework. With `tsc_2017`, the configuration asks for every control that the sources serve.
    #[arg(long, value_name = "FRAMEWORK", default_value = "soc2_type1", value_parser = clap::builder::PossibleValuesParser::new(IDS))]
    pub framework: String,
    /// Generate a key pair as well.
    #[arg(long)]
    pub generate_keys: bool,
    /// The private key file; --generate-keys writes it.
    #[arg(long, value_name = "FILE", default_value = "./evidence-signing-key.pem")]
    pub key: PathBuf,
}

/// `evidence keygen`
#[derive(Debug, Args)]
pub struct KeygenArgs {
    /// The private key file; the public key is written next to it, with the ending .pub.pem.
    #[arg(short, long, value_name = "FILE", default_value = "./evidence-signing-key.pem")]
    pub output: PathBuf,
}

/// `evidence schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which document to describe.
    #[arg(value_enum, default_value_t = SchemaOf::Config)]
    pub of: SchemaOf,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// evidence.yaml
    Config,
    /// manifest.json
    Manifest,
    /// run.json
    Run,
    /// derived/normalized.json
    Normalized,
    /// derived/hints.json
    Hints,
    /// derived/waivers.json
    Waivers,
}

/// `evidence completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: evidence_cli::Shell,
}

/// `evidence man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The directory for the pages; their date is that of SOURCE_DATE_EPOCH, or today's.
    #[arg(short, long, value_name = "DIRECTORY")]
    pub output: PathBuf,
}
