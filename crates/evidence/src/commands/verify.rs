//! `evidence verify`: checks that a trusted key signed this bundle.
//!
//! It reads the bundle and nothing that the bundle refers to, uses no network, and never prints VERIFIED without a
//! trust root from outside the bundle.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use evidence_bundle::read::{Expectations, Failure, Limits, VerifiedBundle};
use evidence_bundle::text::Chain;
use evidence_os::shell;
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::verdict::{COMPLETE, Fact, Report, Tone, Verdict};
use serde::Serialize;

use super::bundles::{self, Worst};
use super::chain;
use super::fleet;
use super::print::json;
use super::trust::{VerifyOptions, terms};
use crate::bundle_file;
use crate::cli::VerifyArgs;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::{self, Style};

pub(super) const GREEN: Style = style::GREEN.bold();
const YELLOW: Style = style::YELLOW.bold();
pub(super) const RED: Style = style::RED.bold();

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
    if let ([list], false, true) = (named.paths.as_slice(), args.chain, named.is_one)
        && fleet::is_list(list)
    {
        return fleet::verify::run(list, &terms, (args.json, args.quiet), |path| judged(args, path, &terms));
    }
    match named.paths.as_slice() {
        [only] if named.is_one && !args.chain => one(args, only, &terms),
        paths => several(args, paths, &terms),
    }
}

/// Verifies one bundle.
fn judged(args: &VerifyArgs, path: &Path, terms: &VerifyOptions) -> Result<VerifiedBundle, Failure> {
    let bundle = bundle_file::open(path)?;
    let expectations = Expectations { judgement: args.require_judgement, ..terms.expectations.clone() };
    evidence_rules::repeat::verify(bundle, &terms.trust, &expectations, &Limits::default())
}

fn one(args: &VerifyArgs, path: &Path, terms: &VerifyOptions) -> Result<Exit, Error> {
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
fn several(args: &VerifyArgs, paths: &[PathBuf], terms: &VerifyOptions) -> Result<Exit, Error> {
    let verdicts = bundles::in_parallel(paths, |path| judged(args, path, terms));
    let verdicts: Vec<(&PathBuf, Result<VerifiedBundle, Failure>)> = paths.iter().zip(verdicts).collect();
    let mut worst = Worst::default();
    for failure in verdicts.iter().filter_map(|(_, verdict)| verdict.as_ref().err()) {
        worst.add(&error(failure));
    }
    if args.chain {
        if !args.json && !args.quiet {
            console::print(&rows(args, &verdicts));
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
        console::print(&rows(args, &verdicts));
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
fn rows(args: &VerifyArgs, verdicts: &[(&PathBuf, Result<VerifiedBundle, Failure>)]) -> Safe {
    let width =
        verdicts.iter().map(|(path, _)| file_name(path).as_str().chars().count()).max().unwrap_or_default();
    let mut text = Safe::default();
    for (path, verdict) in verdicts {
        match verdict {
            Ok(bundle) if args.verbose => {
                text.push(&verified_text(args, path, bundle));
                text.push(&"\n".into());
            }
            _ => text.push(&row(path, verdict, width)),
        }
    }
    let verified = verdicts.iter().filter(|(_, verdict)| verdict.is_ok()).count();
    let all = counted(saturating_u64(verdicts.len()), "bundle", "bundles");
    text.push(&safe!("{} of {all} verified\n", thousands(saturating_u64(verified)); all));
    text
}

/// The file of a bundle, and the verdict in one line.
pub(super) fn row(path: &Path, verdict: &Result<VerifiedBundle, Failure>, width: usize) -> Safe {
    let name = file_name(path);
    match verdict {
        Ok(bundle) => {
            let time = Safe::of(&evidence_bundle::time::format(bundle.created_at).unwrap_or_default());
            let organization = Safe::of(&bundle.organization);
            let complete = match bundle.complete {
                true => Safe::default(),
                false => safe!("  {YELLOW}incomplete{YELLOW:#}"; YELLOW),
            };
            safe!(
                "{name:<width$}  {GREEN}VERIFIED{GREEN:#}  {time}  {organization}{complete}\n";
                name, width = width, GREEN, time, organization, complete
            )
        }
        Err(failure) => {
            let headline = headline(&Verdict::of(Err(failure)));
            safe!("{name:<width$}  {headline}"; name, width = width, headline)
        }
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
pub(super) fn print_failure(bundle: &Path, command: &'static str, failure: &Failure, json: bool) {
    match failure {
        Failure::CannotJudge(error) => cannot_judge(bundle, error, json),
        _ if json => {
            put(&document(&Report::of(Err(failure))));
            say_cause(bundle, failure);
        }
        _ => {
            console::note(&failure_text(bundle, command, failure));
        }
    }
}

/// Says in one line on stderr why the bundle is not verified. Job logs and the mail of a scheduler show that stream, while
/// a program may read the other.
fn say_cause(bundle: &Path, failure: &Failure) {
    console::note(&safe!("{}: {}", file_name(bundle), headline(&Verdict::of(Err(failure)))));
}

/// Ignores a closed pipe: the exit code has the result as well.
fn put(text: &[u8]) {
    let _ = io::stdout().lock().write_all(text);
}

/// Prints the verdict to stdout, as text or as JSON.
fn say(args: &VerifyArgs, text: impl FnOnce() -> Safe, report: &impl Serialize) {
    if args.json {
        put(&document(report));
    } else if !args.quiet {
        console::print(&text());
    }
}

pub(super) fn file_name(bundle: &Path) -> Safe {
    Safe::of(&bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy())
}

/// The styled headline of a verdict, and the rest of its line.
fn headline(verdict: &Verdict) -> Safe {
    let style = match verdict.tone {
        Tone::Good => GREEN,
        Tone::Caution => YELLOW,
        Tone::Bad => RED,
    };
    safe!("{style}{}{style:#}{}\n", verdict.headline, Safe::of(&verdict.detail); style)
}

fn verified_text(args: &VerifyArgs, path: &Path, bundle: &VerifiedBundle) -> Safe {
    let verdict = Verdict::of(Ok(bundle));
    let mut text = safe!("{}\n", file_name(path));
    for Fact { label, checked, text: said } in &verdict.facts {
        let checked = if *checked { safe!("{GREEN}OK{GREEN:#}   "; GREEN) } else { Safe::default() };
        let help = if *label == COMPLETE { ": see `evidence show --status not_verifiable`" } else { "" };
        text.push(&safe!("  {:<12}{checked}{}{help}\n", *label, Safe::of(said); checked, help));
    }
    if args.verbose {
        for warning in &bundle.warnings {
            let subject =
                warning.subject.as_deref().map(|subject| format!("{subject}: ")).unwrap_or_default();
            let warning = Safe::of(&format!("{subject}{}", warning.message));
            text.push(&safe!("    warning   {warning}\n"; warning));
        }
        for excluded in &bundle.excluded {
            let (name, rule) = (Safe::of(&excluded.filename), Safe::of(&excluded.rule));
            text.push(&safe!("    excluded  {name} (rule {rule})\n"; name, rule));
        }
        for error in &bundle.errors {
            let (subject, message) = (Safe::of(&error.subject), Safe::of(&error.message));
            text.push(&safe!("    error     {subject}: {message}\n"; subject, message));
        }
    }
    text.push(&headline(&verdict));
    text
}

fn failure_text(bundle: &Path, command: &'static str, failure: &Failure) -> Safe {
    let verdict = Verdict::of(Err(failure));
    let mut text = safe!("{}\n{}", file_name(bundle), headline(&verdict));
    for line in &verdict.meaning {
        text.push(&safe!("  {}", Safe::of(line)));
        if matches!(failure, Failure::IntactNotAuthenticated(_)) {
            text.push(&safe!(
                " and run\n  evidence {command} --public-key <file> {}\n  For a bundle of your own, `--config \
                 <file>` names the configuration it was collected with.",
                Safe::of(&shell::path(bundle)); command
            ));
        }
        text.push(&"\n".into());
    }
    text
}

fn cannot_judge(bundle: &Path, error: &io::Error, as_json: bool) {
    let detail = error.to_string();
    if as_json {
        put(&document(&Report::not_judged(detail.clone())));
    }
    let (path, detail) = (Safe::of(&bundle.to_string_lossy()), Safe::of(&detail));
    // An error is printed even with `--quiet` and JSON: nothing was judged.
    console::note(&safe!("{RED}error{RED:#}: cannot read the bundle {path}: {detail}\n"; RED, path, detail));
}

fn document(report: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing plain strings and numbers into memory does not fail.
    let _ = json(&mut bytes, report);
    bytes
}
