//! `evidence verify`: checks that a trusted key signed this bundle.
//!
//! It reads the bundle and nothing that the bundle refers to, uses no network, and never prints VERIFIED without a
//! trust root from outside the bundle.

use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use evidence_bundle::read::{Expectations, Failure, Limits, VerifiedBundle};
use evidence_bundle::text::{Chain, Printable};
use evidence_os::input;
use evidence_text::{counted, saturating_u64, thousands};
use evidence_view::verdict::{COMPLETE, Fact, Report, Tone, Verdict};
use serde::Serialize;

use super::bundles::{self, Worst};
use super::chain;
use super::print::json;
use super::trust::{Terms, terms};
use crate::cli::VerifyArgs;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::format::shell_path;

pub(super) const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();

/// Runs the command.
pub(super) fn run(args: &VerifyArgs, env: &Env) -> Result<Exit, Error> {
    // 0. Load the trust root before reading a bundle.
    let named = terms(&args.trust, env).and_then(|terms| Ok((terms, bundles::named(&args.bundles)?)));
    let (terms, named) = match named {
        Ok(named) => named,
        Err(error) => {
            // A program that asked for a verdict gets one, even if the bundle cannot be judged.
            if args.json {
                put(&document(&Report::not_judged(Chain(&error).to_string())));
            }
            return Err(error);
        }
    };
    match named.paths.as_slice() {
        [only] if named.is_one && !args.chain => one(args, only, &terms),
        paths => several(args, paths, &terms),
    }
}

/// Verifies one bundle.
fn judged(args: &VerifyArgs, path: &Path, terms: &Terms) -> Result<VerifiedBundle, Failure> {
    let file = input::open(path).map_err(Failure::CannotJudge)?;
    let bundle = BufReader::with_capacity(256 * 1024, file);
    let expectations = Expectations { judgement: args.require_judgement, ..terms.expectations.clone() };
    evidence_rules::repeat::verify(bundle, &terms.trust, &expectations, &Limits::default())
}

fn one(args: &VerifyArgs, path: &Path, terms: &Terms) -> Result<Exit, Error> {
    let verdict = judged(args, path, terms);
    match &verdict {
        Ok(bundle) => say(args, || verified_text(args, path, bundle), &Report::of(Ok(bundle))),
        Err(Failure::CannotJudge(error)) => cannot_judge(path, error, args.json),
        Err(failure) => {
            say(args, || failure_text(path, "verify", failure), &Report::of(Err(failure)));
            if args.quiet || !io::stdout().is_terminal() {
                say_cause(path, failure);
            }
        }
    }
    verdict.map(|_| Exit::Success).map_err(|failure| error(&failure))
}

/// The verdicts on several bundles, for programs.
#[derive(Serialize)]
struct Reports<'a> {
    bundles: Vec<NamedReport<'a>>,
}

#[derive(Serialize)]
struct NamedReport<'a> {
    /// The path as it was given, or below the given folder.
    file: String,
    #[serde(flatten)]
    report: Report<'a>,
}

/// Verifies several bundles: a row each, and the worst exit code.
fn several(args: &VerifyArgs, paths: &[PathBuf], terms: &Terms) -> Result<Exit, Error> {
    let verdicts = bundles::in_parallel(paths, |path| judged(args, path, terms));
    let verdicts: Vec<(&PathBuf, Result<VerifiedBundle, Failure>)> = paths.iter().zip(verdicts).collect();
    let mut worst = Worst::default();
    for failure in verdicts.iter().filter_map(|(_, verdict)| verdict.as_ref().err()) {
        worst.add(&error(failure));
    }
    if args.chain {
        if !args.json && !args.quiet {
            let _ = console::stdout().write_all(rows(args, &verdicts).as_bytes());
        }
        say_causes(args, &verdicts);
        let judged: Vec<chain::Judged<'_>> =
            verdicts.iter().map(|(path, verdict)| (path.to_string_lossy().into_owned(), verdict)).collect();
        return chain::print(&judged, args.json, args.quiet, worst.exit());
    }
    if args.json {
        let bundles = verdicts.iter().map(|(path, verdict)| NamedReport {
            file: path.to_string_lossy().into_owned(),
            report: match verdict {
                Err(Failure::CannotJudge(error)) => Report::not_judged(error.to_string()),
                verdict => Report::of(verdict.as_ref()),
            },
        });
        put(&document(&Reports { bundles: bundles.collect() }));
    } else if !args.quiet {
        let _ = console::stdout().write_all(rows(args, &verdicts).as_bytes());
    }
    say_causes(args, &verdicts);
    worst.exit()
}

/// Says on standard error which bundles are not verified.
fn say_causes(args: &VerifyArgs, verdicts: &[(&PathBuf, Result<VerifiedBundle, Failure>)]) {
    for (path, verdict) in verdicts {
        match verdict {
            Err(Failure::CannotJudge(error)) if args.json || args.quiet => cannot_judge(path, error, false),
            Err(failure) if args.quiet || !io::stdout().is_terminal() => say_cause(path, failure),
            _ => {}
        }
    }
}

/// A row for each bundle, and how many are verified.
fn rows(args: &VerifyArgs, verdicts: &[(&PathBuf, Result<VerifiedBundle, Failure>)]) -> String {
    let width = verdicts.iter().map(|(path, _)| file_name(path).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (path, verdict) in verdicts {
        match verdict {
            Ok(bundle) if args.verbose => {
                text.push_str(&verified_text(args, path, bundle));
                text.push('\n');
            }
            _ => text.push_str(&row(path, verdict, width)),
        }
    }
    let verified = verdicts.iter().filter(|(_, verdict)| verdict.is_ok()).count();
    let all = counted(saturating_u64(verdicts.len()), "bundle", "bundles");
    text.push_str(&format!("{} of {all} verified\n", thousands(saturating_u64(verified))));
    text
}

/// The file of a bundle, and the verdict in one line.
pub(super) fn row(path: &Path, verdict: &Result<VerifiedBundle, Failure>, width: usize) -> String {
    let name = file_name(path);
    match verdict {
        Ok(bundle) => {
            let time = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
            let organization = Printable(&bundle.organization);
            let complete = match bundle.complete {
                true => String::new(),
                false => format!("  {YELLOW}incomplete{YELLOW:#}"),
            };
            format!("{name:<width$}  {GREEN}VERIFIED{GREEN:#}  {time}  {organization}{complete}\n")
        }
        Err(failure) => format!("{name:<width$}  {}", headline(&Verdict::of(Err(failure)))),
    }
}

/// The error of a command that needs a bundle signed by a trusted key. The failure is already printed.
pub(super) fn error(failure: &Failure) -> Error {
    match failure {
        Failure::NotWhatWasSigned(_) => Error::NotVerified,
        Failure::IntactNotAuthenticated(_) | Failure::NewerVersion(_) | Failure::CannotJudge(_) => {
            Error::CannotJudge
        }
    }
}

/// Prints why `command` shows nothing of a bundle: as a JSON verdict if requested, else as text on stderr.
pub(super) fn print_failure(bundle: &Path, command: &str, failure: &Failure, json: bool) {
    match failure {
        Failure::CannotJudge(error) => cannot_judge(bundle, error, json),
        _ if json => {
            put(&document(&Report::of(Err(failure))));
            say_cause(bundle, failure);
        }
        _ => {
            let _ = console::stderr().write_all(failure_text(bundle, command, failure).as_bytes());
        }
    }
}

/// Says in one line on stderr why the bundle is not verified. Job logs and the mail of a scheduler show that stream, while
/// a program may read the other.
fn say_cause(bundle: &Path, failure: &Failure) {
    let line = format!("{}: {}", file_name(bundle), headline(&Verdict::of(Err(failure))));
    let _ = console::stderr().write_all(line.as_bytes());
}

/// Ignores a closed pipe: the exit code has the result as well.
fn put(text: &[u8]) {
    let _ = io::stdout().lock().write_all(text);
}

/// Prints the verdict to stdout, as text or as JSON.
fn say(args: &VerifyArgs, text: impl FnOnce() -> String, report: &impl Serialize) {
    if args.json {
        put(&document(report));
    } else if !args.quiet {
        let _ = console::stdout().write_all(text().as_bytes());
    }
}

pub(super) fn file_name(bundle: &Path) -> String {
    let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
    Printable(&name).to_string()
}

/// The styled headline of a verdict, and the rest of its line.
fn headline(verdict: &Verdict) -> String {
    let style = match verdict.tone {
        Tone::Good => GREEN,
        Tone::Caution => YELLOW,
        Tone::Bad => RED,
    };
    format!("{style}{}{style:#}{}\n", verdict.headline, verdict.detail)
}

fn verified_text(args: &VerifyArgs, path: &Path, bundle: &VerifiedBundle) -> String {
    let safe = |text: &str| Printable(text).to_string();
    let verdict = Verdict::of(Ok(bundle));
    let mut text = format!("{}\n", file_name(path));
    for Fact { label, checked, text: said } in &verdict.facts {
        let checked = if *checked { format!("{GREEN}OK{GREEN:#}   ") } else { String::new() };
        let help = if *label == COMPLETE { ": see `evidence show --status not_verifiable`" } else { "" };
        text.push_str(&format!("  {label:<12}{checked}{said}{help}\n"));
    }
    if args.verbose {
        for warning in &bundle.warnings {
            let subject =
                warning.subject.as_deref().map(|subject| format!("{subject}: ")).unwrap_or_default();
            text.push_str(&format!("    warning   {}\n", safe(&format!("{subject}{}", warning.message))));
        }
        for excluded in &bundle.excluded {
            text.push_str(&format!(
                "    excluded  {} (rule {})\n",
                safe(&excluded.filename),
                safe(&excluded.rule)
            ));
        }
        for error in &bundle.errors {
            text.push_str(&format!("    error     {}: {}\n", safe(&error.subject), safe(&error.message)));
        }
    }
    text.push_str(&headline(&verdict));
    text
}

fn failure_text(bundle: &Path, command: &str, failure: &Failure) -> String {
    let verdict = Verdict::of(Err(failure));
    let mut text = format!("{}\n{}", file_name(bundle), headline(&verdict));
    for line in &verdict.meaning {
        text.push_str(&format!("  {line}"));
        if matches!(failure, Failure::IntactNotAuthenticated(_)) {
            let path = shell_path(bundle);
            text.push_str(&format!(
                " and run\n  evidence {command} --public-key <file> {path}\n  For a bundle of your own, `--config \
                 <file>` names the configuration it was collected with."
            ));
        }
        text.push('\n');
    }
    text
}

fn cannot_judge(bundle: &Path, error: &io::Error, as_json: bool) {
    let detail = error.to_string();
    if as_json {
        put(&document(&Report::not_judged(detail.clone())));
    }
    let path = bundle.to_string_lossy();
    // An error is printed even with `--quiet` and JSON: nothing was judged.
    let _ = writeln!(
        console::stderr(),
        "{RED}error{RED:#}: cannot read the bundle {}: {detail}",
        Printable(&path)
    );
}

fn document(report: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing plain strings and numbers into memory does not fail.
    let _ = json(&mut bytes, report);
    bytes
}
