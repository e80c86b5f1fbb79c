//! `evidence waivers`: checks a file of waivers, and lists the waivers of a bundle.

use std::io;
use std::path::Path;

use evidence_bundle::document::{Check, WaiverRecord, WaiverState, WaiversFile, WaiversSummary};
use evidence_bundle::read::Limits;
use evidence_bundle::waiver::{Applying, Checks, NamedCheck};
use evidence_text::shown::counted;
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::waivers::{self, Waiver, Waivers as Shown, WaiversReader};
use evidence_view::{CheckReader, CheckSink, ControlHead, read};
use serde::Serialize;

use super::print::{json, unwritable};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::{TrustArgs, WaiversCheckArgs, WaiversCommand, WaiversListArgs};
use crate::config::{Config, ConfigFile};
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::{BOLD, DIM, RED, YELLOW};
use crate::waivers::{Waivers, expiries};

/// The width of lines of prose.
const LINE_WIDTH: usize = 80;
/// The begin of the lines below the head of a waiver.
const BELOW: &str = "    ";

/// The sections of the configuration that the check of a file does not use.
const UNUSED: &[&str] = &["sources", "bundle", "upload"];

/// Runs the command.
pub(super) fn run(command: &WaiversCommand, env: &Env) -> Result<Exit, Error> {
    match command {
        WaiversCommand::Check(args) => check(args, env),
        WaiversCommand::List(args) => list(args, env),
    }
}

fn check(args: &WaiversCheckArgs, env: &Env) -> Result<Exit, Error> {
    let file = ConfigFile::new(args.trust.config.as_deref(), UNUSED);
    let config = Config::load(file, env).map_err(Error::Config)?;
    let Some(path) = &config.waivers else {
        return Err(Error::Usage {
            message: format!("{} names no file of waivers", config.path.display()),
            help: "add `waivers: waivers.yaml` at the top level of the configuration".to_string(),
        });
    };
    let waivers = Waivers::load(path, config.framework, env).map_err(Error::Config)?;
    let now = env.clock.now().as_second();
    let count = counted(saturating_u64(waivers.entries.len()), "waiver", "waivers");
    let mut text = safe!("{}: {count}, valid\n", Safe::of(&path.display().to_string()); count);
    if let Some(bundle) = &args.bundle {
        let checks = checks_of(bundle, &args.trust, env)?.sorted();
        let mut applying = Applying::new(&checks, now);
        let mut all: Vec<Waiver> = Vec::new();
        for record in &waivers.entries {
            let Some(applied) = applying.apply(record) else { continue };
            let mut record = record.clone();
            record.state = applied.state;
            if let Some(check) = &mut record.compensating_check {
                check.status = applied.compensating;
            }
            let matches = saturating_u64(applied.named.len());
            all.push(Waiver { record, matches, failures: applied.failures });
        }
        all.sort_by_key(|waiver| waiver.record.state);
        let sentence = Safe::of(&waivers::sentence(&applying.summary()));
        let name = Safe::of(&bundle.display().to_string());
        text.push(&safe!("today, with {name}: {sentence}\n\n"; name, sentence));
        all.iter().for_each(|waiver| text.push(&block(waiver)));
    }
    for warning in waivers.warnings() {
        text.push(&safe!("{YELLOW}warning{YELLOW:#}: {}\n", Safe::of(&warning.message); YELLOW));
    }
    for expiry in expiries(&waivers, now) {
        let style = if expiry.days < 0 { RED } else { YELLOW };
        text.push(&safe!("{style}expiry{style:#}: {}\n", Safe::of(&expiry.sentence()); style));
    }
    put(&text)
}

/// The checks of a bundle that is verified.
fn checks_of(path: &Path, trust: &TrustArgs, env: &Env) -> Result<Checks, Error> {
    let VerifyOptions { trust, expectations } = terms(trust, env)?;
    let checks = bundle_file::open(path).and_then(|bundle| {
        let reader = CheckReader::new(Found::default());
        read(bundle, &trust, &expectations, &Limits::default(), reader)
    });
    match checks {
        Ok((_, checks)) if checks.known => Ok(checks.sink.0),
        Ok(_) => Err(Error::Usage {
            message: "the bundle is verified, but its results have an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        }),
        Err(failure) => {
            verify::print_failure(path, "waivers check", &failure, false);
            Err(verify::error(&failure))
        }
    }
}

/// The checks so far.
#[derive(Default)]
struct Found(Checks);

impl CheckSink for Found {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        self.0.add(NamedCheck {
            control: &control.id,
            source: &check.source,
            rule: &check.rule,
            subject: &check.subject,
            status: check.status,
            reason: &check.reason,
        });
        Ok(())
    }
}

fn list(args: &WaiversListArgs, env: &Env) -> Result<Exit, Error> {
    let VerifyOptions { trust, expectations } = terms(&args.trust, env)?;
    let read = bundle_file::open(&args.bundle)
        .and_then(|bundle| read(bundle, &trust, &expectations, &Limits::default(), WaiversReader::default()));
    let (bundle, reader) = match read {
        Ok(read) => read,
        Err(failure) => {
            verify::print_failure(&args.bundle, "waivers list", &failure, args.json);
            return Err(verify::error(&failure));
        }
    };
    let shown = reader.waivers.as_ref();
    if args.json {
        let report = ListReport {
            verdict: "verified",
            bundle_id: &bundle.bundle_id,
            created_at: evidence_bundle::time::format(bundle.created_at),
            organization: &bundle.organization,
            waivers: shown.map(WaiversReport::of),
        };
        return match json(io::BufWriter::new(io::stdout().lock()), &report) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
            _ => Ok(Exit::Success),
        };
    }
    put(&match shown {
        None => "no waivers: the run had no file of waivers\n".into(),
        Some(shown) => {
            let mut text = safe!("{}\n", Safe::of(&waivers::sentence(&shown.summary)));
            shown.all.iter().for_each(|waiver| text.push(&block(waiver)));
            text
        }
    })
}

/// The output of `list --json`. A field is never renamed.
#[derive(Serialize)]
struct ListReport<'a> {
    verdict: &'static str,
    bundle_id: &'a str,
    created_at: Option<String>,
    organization: &'a str,
    /// Absent if the run had no file of waivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    waivers: Option<WaiversReport<'a>>,
}

/// The waivers of a bundle as JSON, with the field names of the document.
#[derive(Serialize)]
pub(super) struct WaiversReport<'a> {
    file: &'a WaiversFile,
    summary: &'a WaiversSummary,
    waivers: Vec<WaiverReport<'a>>,
}

#[derive(Serialize)]
struct WaiverReport<'a> {
    #[serde(flatten)]
    record: &'a WaiverRecord<()>,
    /// How many checks it names.
    checks: u64,
    /// How many failures it accepts, or would accept on another day.
    failures: u64,
}

impl<'a> WaiversReport<'a> {
    pub(super) fn of(waivers: &'a Shown) -> WaiversReport<'a> {
        let row = |waiver: &'a Waiver| WaiverReport {
            record: &waiver.record,
            checks: waiver.matches,
            failures: waiver.failures,
        };
        let Shown { file, summary, all, .. } = waivers;
        WaiversReport { file, summary, waivers: all.iter().map(row).collect() }
    }
}

/// A waiver on several lines.
pub(super) fn block(waiver: &Waiver) -> Safe {
    let style = match waiver.record.state {
        WaiverState::Expired => RED,
        WaiverState::Applied | WaiverState::NotYetValid => YELLOW,
        WaiverState::NotMatched | WaiverState::NotNeeded | WaiverState::Unused => DIM,
    };
    let word = waivers::state(waiver.record.state);
    let (id, counts) = (Safe::cut(&waiver.record.id), Safe::of(&waiver.counts()));
    let mut text =
        safe!("  {style}{word}{style:#}  {BOLD}{id}{BOLD:#}  {counts}\n"; style, word, BOLD, id, counts);
    let why = format!("reason: {}", waiver.record.reason);
    let instead = waiver.compensating().map(|instead| format!("instead: {instead}"));
    for line in [waiver.about(), waiver.decision(), why].into_iter().chain(instead) {
        for line in Safe::cut(&line).filled(LINE_WIDTH - BELOW.len()) {
            text.push(&safe!("{BELOW}{line}\n"; BELOW, line));
        }
    }
    text
}

fn put(text: &Safe) -> Result<Exit, Error> {
    let mut out = console::stdout();
    match out.put(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}
