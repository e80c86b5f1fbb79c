//! `evidence show`: prints the contents of a bundle that a trusted key signed.
//!
//! The checks are spooled while the bundle is verified, and printed only after the last byte was: nothing of a damaged
//! bundle is shown.

mod json;
mod markdown;
mod row;
mod table;
mod text;

pub(super) use self::row::Shown;

use std::collections::HashSet;
use std::io;
use std::path::Path;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts, Hint};
use evidence_bundle::read::Limits;
use evidence_bundle::text::Printable;
use evidence_rules::{reason_of, rule_of};
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::waivers::WaiversReader;
use evidence_view::{
    CheckFilter, CheckReader, CheckSink, ControlHead, ListLengths, Row as BundleRow, Sink, UnknownName, read,
    waivers,
};

use self::row::{Control, Row, Summary};
use super::bundles;
use super::print::{note_empty, unwritable};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::{CheckFilterArgs, FailOn, ShowArgs, ShowFormat, StatusName};
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::finding::FindingKey;
use crate::finding::group::Findings;
use crate::hint;
use crate::report::style::BOLD;
use crate::waivers::Gate;

/// Runs the command.
pub(super) fn run(args: &ShowArgs, env: &Env) -> Result<Exit, Error> {
    let terms = terms(&args.trust, env)?;
    let named = bundles::named(&args.bundles)?;
    if !named.is_one && args.format == ShowFormat::Csv {
        return Err(one_table());
    }
    let as_text = !named.is_one && args.format == ShowFormat::Text;
    bundles::each(&named, args.format == ShowFormat::Json, |path| {
        if as_text {
            print_name(path);
        }
        one(args, path, &terms)
    })
}

/// Several bundles would be several tables, each with a heading.
pub(super) fn one_table() -> Error {
    Error::Usage {
        message: "--format csv prints the table of one bundle".to_string(),
        help: "run the command once for each bundle, or use --format json".to_string(),
    }
}

/// Prints which of several bundles follows.
pub(super) fn print_name(path: &Path) {
    console::print(&safe!("\n{BOLD}{}{BOLD:#}\n", verify::file_name(path); BOLD));
}

/// Shows one bundle.
fn one(args: &ShowArgs, path: &Path, terms: &VerifyOptions) -> Result<Exit, Error> {
    let VerifyOptions { trust, expectations } = terms;
    let shown = bundle_file::open(path).and_then(|bundle| {
        let is_all = args.all || !args.filter.status.is_empty();
        let mut listing = Listing::new(args.format, filter(&args.filter), is_all);
        listing.has_gate = args.fail_on.is_some();
        let reader = Reader {
            checks: CheckReader::new(listing),
            waivers: WaiversReader::default(),
            lists: ListLengths::default(),
        };
        read(bundle, trust, expectations, &Limits::default(), reader)
    });
    let (bundle, Reader { checks, waivers, lists }) = match shown {
        Ok(read) => read,
        Err(failure) => {
            let asks_for_json = args.format == ShowFormat::Json;
            verify::print_failure(path, "show", &failure, asks_for_json);
            return Err(verify::error(&failure));
        }
    };
    if !checks.known {
        return Err(Error::Usage {
            message: "the bundle is verified, but its results have an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        });
    }
    let mut listing = checks.sink;
    listing.waivers = waivers.waivers.filter(|_| !args.ignore_waivers);
    listing.lists = lists;
    if let Some(unknown) = listing.filter.unknown(&listing.heads, &bundle.sources) {
        return Err(unknown_name(&unknown));
    }
    if listing.found == 0 && listing.hidden == 0 && args.format != ShowFormat::Text {
        note_empty();
    }
    let exit = gate(args, &listing);
    match listing.print(&Shown::of(&bundle)) {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(exit),
    }
}

/// The exit code of the gate, if one is given. Says why it is not met.
fn gate(args: &ShowArgs, listing: &Listing) -> Exit {
    let Some(fail_on) = args.fail_on else { return Exit::Success };
    let Listing { failures, waivers, not_verifiable, .. } = listing;
    let is_waived = |failure: &&u64| {
        let waiver = waivers.as_ref().and_then(|waivers| waivers.of(**failure));
        waiver.is_some_and(waivers::Waiver::is_applied)
    };
    let waived = saturating_u64(failures.iter().filter(is_waived).count());
    let failed = saturating_u64(failures.len()).saturating_sub(waived);
    let gate = Gate { failed, waived, not_verifiable: *not_verifiable };
    match gate.refusal(fail_on == FailOn::NotVerifiable) {
        Some(refusal) => {
            console::note(&safe!("gate: {}\n", Safe::of(&refusal)));
            Exit::Differs
        }
        None => Exit::Success,
    }
}

/// The error for a name in a filter that the bundle does not have.
pub(super) fn unknown_name(unknown: &UnknownName) -> Error {
    let UnknownName { what, name, known, is_criterion } = unknown;
    let names: Vec<String> = known.iter().map(|name| Safe::cut(name).to_string()).collect();
    let criterion = if *what == "control" && *is_criterion {
        format!("; or `--criterion {}`", Printable(name))
    } else {
        String::new()
    };
    let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    Error::Usage {
        message: format!("--{what} `{}`: the bundle does not have it", Printable(name)),
        help: format!("use one of: {names}{criterion}"),
    }
}

/// How many groups of checks have a heading of their own, and how much text identifies them.
const GROUPS: usize = 2_000;
const GROUP_BYTES: usize = 1 << 20;

/// The heading of all further groups.
const OTHER_REASONS: &str = "other_reasons";
const OTHER_RULES: &str = "several rules";

/// The filter for these options.
pub(super) fn filter(args: &CheckFilterArgs) -> CheckFilter {
    let status = |name: &StatusName| match name {
        StatusName::Pass => Status::Pass,
        StatusName::Fail => Status::Fail,
        StatusName::NotVerifiable => Status::NotVerifiable,
        StatusName::NotApplicable => Status::NotApplicable,
    };
    CheckFilter {
        statuses: args.status.iter().map(status).collect(),
        controls: args.control.clone(),
        criteria: args.criterion.clone(),
        rules: args.rule.clone(),
        sources: args.source.clone(),
        subjects: args.subject.clone(),
    }
}

/// The requested checks, spooled.
pub(super) struct Listing {
    pub(super) filter: CheckFilter,
    /// Whether to leave out what passed or does not apply.
    only_open: bool,
    /// Every control of the bundle.
    pub(super) heads: Vec<ControlHead>,
    /// The controls that match.
    controls: Vec<Control>,
    pub(super) findings: Findings,
    keys: Keys,
    found: u64,
    /// How many match, but passed or do not apply.
    hidden: u64,
    /// The identities of the failed checks, if there is a gate.
    failures: Vec<u64>,
    not_verifiable: u64,
    /// The waivers of the bundle, unless they are ignored.
    waivers: Option<waivers::Waivers>,
    /// The lists that auditors draw samples from.
    lists: ListLengths,
    /// Whether there is a gate.
    has_gate: bool,
    form: Form,
}

enum Form {
    Text(text::Groups),
    Json(json::Lines),
    Csv(Box<table::Rows>),
    Markdown(markdown::Table),
}

impl Listing {
    /// A listing of the checks that match; `is_all`: also of those that passed or do not apply.
    pub(super) fn new(format: ShowFormat, filter: CheckFilter, is_all: bool) -> Listing {
        let (form, lists_all) = match format {
            ShowFormat::Text => (Form::Text(text::Groups::new()), false),
            ShowFormat::Json => (Form::Json(json::Lines::new()), true),
            ShowFormat::Csv => (Form::Csv(Box::new(table::Rows::new())), true),
            ShowFormat::Markdown => (Form::Markdown(markdown::Table::new()), false),
        };
        Listing {
            filter,
            only_open: !lists_all && !is_all,
            heads: Vec::new(),
            controls: Vec::new(),
            findings: Findings::default(),
            keys: Keys::default(),
            found: 0,
            hidden: 0,
            failures: Vec::new(),
            not_verifiable: 0,
            waivers: None,
            lists: ListLengths::default(),
            has_gate: false,
            form,
        }
    }

    /// Prints the listing.
    pub(super) fn print(self, shown: &Shown<'_>) -> io::Result<()> {
        let Listing { controls, findings, found, hidden, waivers, lists, form, .. } = self;
        let findings = findings.worst_first();
        let waivers = waivers.as_ref();
        let (controls, findings, lists) = (controls.as_slice(), &findings, lists.rows());
        let summary = Summary { shown, controls, findings, found, hidden, waivers, lists: &lists };
        match form {
            Form::Text(groups) => groups.print(&summary, &mut console::stdout()),
            Form::Json(lines) => lines.print(&summary, &mut io::stdout().lock()),
            Form::Csv(table) => table.print(&summary, &mut io::stdout().lock()),
            Form::Markdown(table) => table.print(&summary, &mut io::stdout().lock()),
        }
    }
}

impl CheckSink for Listing {
    fn control(&mut self, control: &ControlHead) {
        let ControlHead { id, title, status, .. } = control;
        if self.filter.has_control(id) {
            let (id, title) = (Safe::cut(id), Safe::cut(title));
            self.controls.push(Control { id, title, status: *status, counts: Counts::default() });
        }
        self.heads.push(control.clone());
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        if !self.filter.has_control(&control.id) {
            return Ok(());
        }
        if let Some(last) = self.controls.last_mut() {
            last.counts.add(check.status);
        }
        if !self.filter.takes(control, &check) {
            return Ok(());
        }
        let identity = waivers::key(&control.id, &check.source, &check.rule, &check.subject);
        if self.has_gate {
            self.failures.extend((check.status == Status::Fail).then_some(identity));
            self.not_verifiable += u64::from(check.status == Status::NotVerifiable);
        }
        let is_open = matches!(check.status, Status::Fail | Status::NotVerifiable);
        if self.only_open && !is_open {
            self.hidden += 1;
            return Ok(());
        }
        self.found += 1;
        let key = self.keys.of(control, &check);
        let mut row =
            Row { control, check: &check, key, identity, severity: None, remediation: "".into(), page: None };
        if is_open {
            self.findings.add(row.key.clone(), &check.subject);
            let advice = hint::by_code(&check.rule, &check.reason);
            row.severity = advice.map(|advice| advice.severity);
            row.remediation = self.findings.advice(&check.rule, &check.reason);
            row.page = self.findings.addresses.page(&check.source, &check.rule, &check.subject);
        }
        match &mut self.form {
            Form::Text(groups) => groups.add(&row)?,
            Form::Json(lines) => lines.add(&row)?,
            Form::Csv(table) => table.add(&row)?,
            Form::Markdown(table) => table.add(&row)?,
        }
        Ok(())
    }
}

/// The groups so far. A stranger's bundle may have a reason of its own for every check.
#[derive(Default)]
struct Keys {
    known: HashSet<FindingKey>,
    bytes: usize,
}

impl Keys {
    /// The group of a check: without room for another group, that of the other reasons of its control.
    fn of(&mut self, control: &ControlHead, check: &Check) -> FindingKey {
        let key = FindingKey {
            control: control.id.clone(),
            source: check.source.clone(),
            rule: check.rule.clone(),
            status: check.status,
            reason: check.reason.clone(),
        };
        if self.known.contains(&key) {
            return key;
        }
        let bytes =
            [&key.control, &key.source, &key.rule, &key.reason].map(String::len).iter().sum::<usize>();
        if self.known.len() == GROUPS || self.bytes.saturating_add(bytes) > GROUP_BYTES {
            let (rule, reason) = (OTHER_RULES.to_string(), OTHER_REASONS.to_string());
            return FindingKey { source: String::new(), rule, reason, ..key };
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.known.insert(key.clone());
        key
    }
}

/// Reads where the sources' pages are, then the checks, the waivers and the lists: `run.json` comes first in a bundle.
struct Reader {
    checks: CheckReader<Listing>,
    waivers: WaiversReader,
    lists: ListLengths,
}

impl Reader {
    /// Keeps the signed advice of rules that judge by numbers of the configuration: it has these numbers.
    fn advice(&mut self, hint: &Hint) {
        let has_settings = rule_of(&hint.rule).is_some_and(|rule| !rule.settings.is_empty());
        if has_settings && reason_of(&hint.reason).is_some() {
            let advice = || Safe::of(&hint.remediation).to_string();
            let signed = &mut self.checks.sink.findings.signed;
            signed.entry((hint.rule.clone(), hint.reason.clone())).or_insert_with(advice);
        }
    }
}

impl Sink for Reader {
    fn row(&mut self, row: BundleRow<'_>) -> io::Result<()> {
        if let BundleRow::Run(run) = row {
            let sources = run.sources.iter();
            let addresses = sources.map(|source| (source.name.clone(), source.api_url.clone())).collect();
            self.checks.sink.findings = Findings::new(addresses);
        }
        if let BundleRow::Observation(observation) = row {
            self.lists.take(observation);
        }
        if let BundleRow::Hint(hint) = row {
            self.advice(hint);
        }
        self.waivers.row(row)?;
        self.checks.row(row)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(reason: &str) -> Check {
        serde_json::from_value(serde_json::json!({
            "rule": "r", "subject": "s", "source": "codehost", "status": "fail", "reason": reason,
            "expected": null, "actual": null, "evidence": [],
        }))
        .unwrap()
    }

    #[test]
    fn many_or_long_reasons_share_a_group() {
        let head = |id: &str| ControlHead {
            id: id.to_string(),
            title: String::new(),
            status: Status::Fail,
            reason: String::new(),
            criteria: BTreeMap::new(),
            expected: BTreeMap::new(),
        };
        let (one, two) = (head("C1"), head("C2"));
        let mut keys = Keys::default();
        for number in 0..GROUPS {
            let reason = format!("r{number}");
            assert_eq!(keys.of(&one, &check(&reason)).reason, reason);
        }
        let further = keys.of(&one, &check("further"));
        assert_eq!((further.reason.as_str(), further.control.as_str()), (OTHER_REASONS, "C1"));
        assert_eq!(keys.of(&one, &check("one more")), further);
        assert_eq!(keys.of(&two, &check("further")).control, "C2");
        assert_eq!(keys.of(&one, &check("r0")).reason, "r0");
        let mut keys = Keys::default();
        assert_eq!(keys.of(&one, &check(&"x".repeat(GROUP_BYTES))).reason, OTHER_REASONS);
        assert_eq!(keys.of(&one, &check("short")).reason, "short");
    }
}
