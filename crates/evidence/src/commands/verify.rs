//! `evidence verify`: is this bundle what a key I trust has signed?
//!
//! It reads the bundle and nothing that the bundle names, asks no network, and never says VERIFIED without a trust
//! root that came from outside the bundle.

use std::io::{self, BufReader, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use evidence_bundle::document::{ErrorRecord, Excluded, Warning, write_json};
use evidence_bundle::read::{
    Failure, Intact, Limits, NewerBundle, UntrustedBundle, VerifiedBundle, VerifyError,
};
use evidence_bundle::text::{Chain, Printable};
use evidence_os::input;
use serde::Serialize;

use super::trust::{Terms, terms};
use crate::cli::VerifyArgs;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::format::{counted, shell_path, thousands};

const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// What `--json` prints: one object, version 1. A field is never renamed.
#[derive(Debug, Serialize)]
struct Report<'a> {
    verdict: &'static str,
    reason: Option<&'a str>,
    detail: Option<&'a str>,
    path: Option<&'a str>,
    bundle_id: Option<&'a str>,
    key_id: Option<String>,
    trusted_by: Option<&'a str>,
    files: Option<u64>,
    bytes: Option<u64>,
    created_at: Option<String>,
    organization: Option<&'a str>,
    framework: Option<&'a str>,
    controls: &'a [String],
    complete: Option<bool>,
    unreadable_checks: Option<u64>,
    warnings: &'a [Warning],
    excluded: &'a [Excluded],
    errors: &'a [ErrorRecord],
    source_date_epoch: Option<i64>,
}

impl Report<'_> {
    fn new(verdict: &'static str) -> Report<'static> {
        Report {
            verdict,
            reason: None,
            detail: None,
            path: None,
            bundle_id: None,
            key_id: None,
            trusted_by: None,
            files: None,
            unreadable_checks: None,
            bytes: None,
            created_at: None,
            organization: None,
            framework: None,
            controls: &[],
            complete: None,
            warnings: &[],
            excluded: &[],
            errors: &[],
            source_date_epoch: None,
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &VerifyArgs, env: &Env) -> Result<Exit, Error> {
    // 0. The trust root, before anything of the bundle is looked at.
    let Terms { trust, expectations } = match terms(&args.trust, env) {
        Ok(terms) => terms,
        Err(error) => {
            // A program that reads the verdict gets one, whatever keeps this from being judged.
            if args.json {
                put(&json(&Report { detail: Some(&Chain(&error).to_string()), ..Report::new("not_judged") }));
            }
            return Err(error);
        }
    };
    let verdict = match input::open(&args.bundle) {
        Ok(file) => UntrustedBundle::new(BufReader::with_capacity(256 * 1024, file)).verify(
            &trust,
            &expectations,
            &Limits::default(),
        ),
        Err(error) => Err(Failure::CannotJudge(error)),
    };
    match &verdict {
        Ok(bundle) => say(args, || verified_text(args, bundle), || verified_report(bundle)),
        Err(Failure::CannotJudge(error)) => cannot_judge(&args.bundle, error, args.json),
        Err(failure) => {
            say(args, || failure_text(&args.bundle, "verify", failure), || failure_report(failure));
        }
    }
    verdict.map(|_| Exit::Success).map_err(|failure| error(&failure))
}

/// How a command ends that needs a bundle which a trusted key signed; what happened is printed already.
pub(super) fn error(failure: &Failure) -> Error {
    match failure {
        Failure::NotWhatWasSigned(_) => Error::NotVerified,
        Failure::IntactNotAuthenticated(_) | Failure::NewerVersion(_) | Failure::CannotJudge(_) => {
            Error::CannotJudge
        }
    }
}

/// Prints why `command` shows nothing of a bundle: a verdict for programs that asked for JSON, else text on stderr.
pub(super) fn print_failure(bundle: &Path, command: &str, failure: &Failure, json: bool) {
    match failure {
        Failure::CannotJudge(error) => cannot_judge(bundle, error, json),
        _ if json => put(&failure_report(failure)),
        _ => {
            let _ = anstream::stderr().write_all(failure_text(bundle, command, failure).as_bytes());
        }
    }
}

fn failure_text(bundle: &Path, command: &str, failure: &Failure) -> String {
    match failure {
        Failure::NotWhatWasSigned(error) => failed_text(bundle, error),
        Failure::IntactNotAuthenticated(intact) => intact_text(bundle, command, intact),
        Failure::NewerVersion(newer) => newer_text(bundle, newer),
        Failure::CannotJudge(error) => error.to_string(),
    }
}

fn failure_report(failure: &Failure) -> Vec<u8> {
    match failure {
        Failure::NotWhatWasSigned(error) => failed_report(error),
        Failure::IntactNotAuthenticated(intact) => intact_report(intact),
        Failure::NewerVersion(newer) => newer_report(newer),
        Failure::CannotJudge(error) => {
            json(&Report { detail: Some(&error.to_string()), ..Report::new("not_judged") })
        }
    }
}

/// A closed pipe is the reader's business: the exit code has the result as well.
fn put(text: &[u8]) {
    let _ = io::stdout().lock().write_all(text);
}

/// Prints the verdict on stdout, as text or as JSON.
fn say(args: &VerifyArgs, text: impl FnOnce() -> String, report: impl FnOnce() -> Vec<u8>) {
    if args.json {
        put(&report());
    } else if !args.quiet {
        let _ = anstream::stdout().write_all(text().as_bytes());
    }
}

fn file_name(bundle: &Path) -> String {
    let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
    Printable(&name).to_string()
}

fn time(seconds: i64) -> String {
    evidence_bundle::time::format(seconds).unwrap_or_else(|| seconds.to_string())
}

fn verified_text(args: &VerifyArgs, bundle: &VerifiedBundle) -> String {
    let safe = |text: &str| Printable(text).to_string();
    let mut text = format!(
        "{}\n  bundle id   {}\n  signature   {GREEN}OK{GREEN:#}   Ed25519, key {}  trusted by {}\n  contents    {GREEN}OK{GREEN:#}   {}, \
         {} bytes, none missing, none extra, none changed\n  collected   {} (claimed by the signer)  {}  {}  {}\n",
        file_name(&args.bundle),
        safe(&bundle.bundle_id),
        bundle.key_id,
        safe(&bundle.trusted_by),
        counted(bundle.files, "file", "files"),
        thousands(bundle.bytes),
        time(bundle.created_at),
        safe(&bundle.organization),
        safe(&bundle.framework),
        safe(&bundle.controls.join(" ")),
    );
    if bundle.source_date_epoch.is_some() {
        text.push_str("  time        fixed with --reproducible: when it was collected is not recorded\n");
    }
    if bundle.warnings_total > 0 {
        text.push_str(&format!("  warnings    {}\n", thousands(bundle.warnings_total)));
    }
    if bundle.excluded_total > 0 {
        let artifacts = counted(bundle.excluded_total, "artifact", "artifacts");
        text.push_str(&format!("  excluded    {artifacts} left out: forbidden data\n"));
    }
    if bundle.errors_total > 0 {
        let errors = counted(bundle.errors_total, "error", "errors");
        text.push_str(&format!("  missing     {errors} during collection\n"));
    }
    if bundle.lacking > 0 {
        let checks = counted(bundle.lacking, "check", "checks");
        text.push_str(&format!("  missing     {checks} of settings that the credentials could not read\n"));
    }
    if !bundle.complete {
        text.push_str("  complete    no: `evidence show --status not_verifiable` names what is missing\n");
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
    text.push_str(&format!("{GREEN}VERIFIED{GREEN:#}\n"));
    text
}

fn verified_report(bundle: &VerifiedBundle) -> Vec<u8> {
    json(&Report {
        bundle_id: Some(&bundle.bundle_id),
        key_id: Some(bundle.key_id.to_string()),
        trusted_by: Some(&bundle.trusted_by),
        files: Some(bundle.files),
        bytes: Some(bundle.bytes),
        created_at: Some(time(bundle.created_at)),
        organization: Some(&bundle.organization),
        framework: Some(&bundle.framework),
        controls: &bundle.controls,
        complete: Some(bundle.complete),
        unreadable_checks: Some(bundle.lacking),
        warnings: &bundle.warnings,
        excluded: &bundle.excluded,
        errors: &bundle.errors,
        source_date_epoch: bundle.source_date_epoch,
        ..Report::new("verified")
    })
}

fn failed_text(bundle: &Path, error: &VerifyError) -> String {
    // The detail of most reasons names the place already.
    let place = error.path.as_deref().filter(|path| !error.detail.contains(path));
    let place = place.map(|path| format!(" ({})", Printable(path))).unwrap_or_default();
    format!(
        "{}\n{RED}FAILED{RED:#} {}: {}{place}\n  {} Do not rely on this bundle.\n",
        file_name(bundle),
        error.reason,
        error.detail,
        error.reason.meaning()
    )
}

fn failed_report(error: &VerifyError) -> Vec<u8> {
    json(&Report {
        reason: Some(error.reason.code()),
        detail: Some(&error.detail),
        path: error.path.as_deref(),
        ..Report::new("failed")
    })
}

fn intact_text(bundle: &Path, command: &str, intact: &Intact) -> String {
    format!(
        "{}\n{YELLOW}INTACT, NOT AUTHENTICATED{YELLOW:#}: signed by {}; no trusted key was given\n  \
         Anyone can make such a bundle. Get the signer's public key through a separate channel and run\n  \
         evidence {command} --public-key <file> {}\n  \
         For a bundle of your own, `--config <file>` names the configuration it was collected with.\n",
        file_name(bundle),
        intact.key_id,
        shell_path(bundle)
    )
}

fn intact_report(intact: &Intact) -> Vec<u8> {
    json(&Report {
        bundle_id: Some(&intact.bundle_id),
        key_id: Some(intact.key_id.to_string()),
        files: Some(intact.files),
        bytes: Some(intact.bytes),
        created_at: Some(time(intact.created_at)),
        organization: Some(&intact.organization),
        ..Report::new("not_authenticated")
    })
}

fn newer_text(bundle: &Path, newer: &NewerBundle) -> String {
    let trust = match &newer.trusted_by {
        Some(label) => format!("trusted by {}", Printable(label)),
        None => "no trusted key was given".to_string(),
    };
    format!(
        "{}\n{YELLOW}NOT JUDGED{YELLOW:#}: {newer}\n  \
         The signature and every checksum are right: key {}, {trust}.\n  \
         The contents of the documents were not checked.\n",
        file_name(bundle),
        newer.key_id,
    )
}

fn newer_report(newer: &NewerBundle) -> Vec<u8> {
    json(&Report {
        reason: Some(NewerBundle::CODE),
        detail: Some(&newer.to_string()),
        key_id: Some(newer.key_id.to_string()),
        trusted_by: newer.trusted_by.as_deref(),
        files: Some(newer.files),
        ..Report::new("not_judged")
    })
}

fn cannot_judge(bundle: &Path, error: &io::Error, as_json: bool) {
    let detail = error.to_string();
    if as_json {
        put(&json(&Report { detail: Some(&detail), ..Report::new("not_judged") }));
        return;
    }
    let path = bundle.to_string_lossy();
    // An error is said even when quiet: nothing was judged.
    let _ = writeln!(
        anstream::stderr(),
        "{RED}error{RED:#}: cannot read the bundle {}: {detail}",
        Printable(&path)
    );
}

fn json(report: &Report<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing plain strings and numbers into memory does not fail.
    let _ = write_json(&mut bytes, report);
    bytes
}
