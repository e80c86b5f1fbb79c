//! The commands that read a bundle: `verify`, `report`, `show` and `rejudge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DiffFormat;
use super::trust::TrustArgs;

/// The heading of the options that choose checks.
pub(super) const FILTERS: &str = "Filters (each may be repeated)";

/// `evidence verify`
#[derive(Debug, Args)]
#[command(after_help = trust_help!())]
pub struct VerifyArgs {
    /// The bundles: files, and folders with bundles, without their subfolders.
    #[arg(value_name = "BUNDLE", required = true)]
    pub bundles: Vec<PathBuf>,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Check that the bundles form a row, in which each follows the one that it names: order, gaps, forks, missing bundles.
    #[arg(long)]
    pub chain: bool,
    /// Refuse a bundle if one of its checks cannot be judged again, because this program does not know its rule.
    #[arg(long)]
    pub require_judgement: bool,
    /// Check a detached Ed25519 signature over any file instead, such as SHA256SUMS.sig of a release.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["fingerprint", "expect_org", "max_age", "require_judgement", "json", "verbose", "chain"]
    )]
    pub signature: Option<PathBuf>,
    /// Print one JSON object; of several bundles, one with the list `bundles`.
    #[arg(long, conflicts_with_all = ["quiet", "verbose"])]
    pub json: bool,
    /// Print only why the bundle is not verified, on standard error.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show every warning, exclusion and error of the bundle.
    #[arg(short, long)]
    pub verbose: bool,
}

/// `evidence report`
#[derive(Debug, Args)]
#[command(after_help = trust_help!())]
pub struct ReportArgs {
    /// The bundle.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// The file to write; without it, the page goes to standard output, unless that is a terminal.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the report that the signer put into the bundle, with its scripts and links turned off. Needs --output.
    #[arg(long, requires = "output")]
    pub as_signed: bool,
}

/// `evidence show`
#[derive(Debug, Args)]
#[command(after_help = trust_help!())]
pub struct ShowArgs {
    /// The bundles: files, and folders with bundles, without their subfolders.
    #[arg(value_name = "BUNDLE", required = true)]
    pub bundles: Vec<PathBuf>,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Which checks are shown.
    #[command(flatten)]
    pub filter: CheckFilterArgs,
    /// How to print.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    /// Also list the checks that passed or do not apply. JSON and CSV always list them.
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
    /// End with code 8 if one of these checks fails without a waiver. With not-verifiable, checks that could not be verified
    /// count too.
    #[arg(long, value_enum, value_name = "STATUS")]
    pub fail_on: Option<FailOn>,
    /// Show the results as if there were no waivers, and count every failure.
    #[arg(long)]
    pub ignore_waivers: bool,
}

/// What makes a gate fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A check that fails without a waiver
    Fail,
    /// The same, or a check that could not be verified
    NotVerifiable,
}

/// `evidence rejudge`
#[derive(Debug, Args)]
#[command(
    mut_arg("config", |argument| argument.help(
        "Configuration file with the numbers to judge by (rules.settings), and with the trusted keys unless another option \
         names them; no configuration is read without this option"
    )),
    after_help = concat!(
        "The result is not signed. Only the framework's table, the version of the rules and rules.settings differ from the \
         signed results; a setting that was not read is not verifiable. Waivers are not applied.\n\n",
        trust_help!()
    )
)]
pub struct RejudgeArgs {
    /// The bundle.
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// The framework whose controls are shown [default: that of the bundle]
    #[arg(long, value_name = "FRAMEWORK")]
    pub framework: Option<String>,
    /// Whom to trust, and what the bundle must be.
    #[command(flatten)]
    pub trust: TrustArgs,
    /// Which checks are shown below the differences.
    #[command(flatten)]
    pub filter: CheckFilterArgs,
    /// How to print.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Also list the checks that passed or do not apply. JSON always lists them.
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
}

/// Which checks count: an empty list means all, several entries mean any of them.
#[derive(Debug, Default, Args)]
pub struct CheckFilterArgs {
    /// Only checks with this status.
    #[arg(long, value_enum, value_name = "STATUS", help_heading = FILTERS)]
    pub status: Vec<StatusName>,
    /// Only this control, such as CC7.2.
    #[arg(long, value_name = "CONTROL", help_heading = FILTERS)]
    pub control: Vec<String>,
    /// Only this criterion, such as CC8.1, or this control; case is ignored.
    #[arg(long, value_name = "CRITERION", help_heading = FILTERS)]
    pub criterion: Vec<String>,
    /// Only checks of this rule, such as branch-protection.
    #[arg(long, value_name = "RULE", help_heading = FILTERS)]
    pub rule: Vec<String>,
    /// Only this source, such as codehost.
    #[arg(long, value_name = "SOURCE", help_heading = FILTERS)]
    pub source: Vec<String>,
    /// Only subjects (names) that match: `*` matches any text, `?` one character; case is ignored.
    #[arg(long, value_name = "GLOB", help_heading = FILTERS)]
    pub subject: Vec<String>,
}

/// A status on the command line, as documents write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum StatusName {
    /// The setting is as the rule expects.
    Pass,
    /// The setting is not as the rule expects.
    Fail,
    /// The setting could not be read.
    #[value(alias = "not-verifiable")]
    NotVerifiable,
    /// The rule does not apply.
    #[value(alias = "not-applicable")]
    NotApplicable,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Grouped by control, status and reason
    Text,
    /// One JSON object
    Json,
    /// A table for spreadsheets, RFC 4180
    Csv,
    /// Tables for a ticket or a wiki
    Markdown,
}
