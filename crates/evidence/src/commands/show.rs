//! `evidence show`: prints the contents of a bundle that a trusted key signed.
//!
//! The checks are spooled while the bundle is verified, and printed only after the last byte was: nothing of a damaged
//! bundle is shown.

mod json;
mod markdown;
mod text;

use std::io::{self, BufReader, Seek as _};

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts};
use evidence_bundle::read::{Failure, Limits, VerifiedBundle};
use evidence_os::input;
use evidence_view::csv::{BYTE_ORDER_MARK, CheckRow, Table};
use evidence_view::{CheckFilter, CheckSink, ControlHead, EachCheck, read, sanitized};
use tempfile::SpooledTempFile;

use super::print::{note_empty, unwritable};
use super::trust::{Terms, terms};
use super::verify;
use crate::cli::{CheckFilterArgs, ShowArgs, ShowFormat, StatusName};
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// The size up to which a list stays in memory before it moves to a temporary file.
const IN_MEMORY: usize = 4 << 20;

/// Runs the command.
pub(super) fn run(args: &ShowArgs, env: &Env) -> Result<Exit, Error> {
    let filter = filter(&args.filter);
    let Terms { trust, expectations } = terms(&args.trust, env)?;
    let shown = input::open(&args.bundle).map_err(Failure::CannotJudge).and_then(|file| {
        let bundle = BufReader::with_capacity(256 * 1024, file);
        let reader = EachCheck::new(Listing::new(filter, args.format).map_err(Failure::CannotJudge)?);
        read(bundle, &trust, &expectations, &Limits::default(), reader)
    });
    let (bundle, checks) = match shown {
        Ok(shown) => shown,
        Err(failure) => {
            let asks_for_json = args.format == ShowFormat::Json;
            verify::print_failure(&args.bundle, "show", &failure, asks_for_json);
            return Err(verify::error(&failure));
        }
    };
    if !checks.known {
        return Err(Error::Usage {
            message: "the bundle is verified, but its results have an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        });
    }
    if checks.sink.found == 0 && args.format != ShowFormat::Text {
        note_empty();
    }
    match checks.sink.print(&bundle) {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

/// A check and its control.
struct Row<'a> {
    control: &'a ControlHead,
    check: &'a Check,
}

impl Row<'_> {
    /// The criteria under which the evidence is commonly filed.
    fn criteria(&self) -> &[String] {
        self.control.criteria(&self.check.rule)
    }
}

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
        rules: args.rule.clone(),
        sources: args.source.clone(),
        subjects: args.subject.clone(),
    }
}

/// A control, safe to print, and how many of its checks have each status.
struct Control {
    id: String,
    title: String,
    status: Status,
    counts: Counts,
}

/// The requested checks, spooled.
struct Listing {
    filter: CheckFilter,
    controls: Vec<Control>,
    found: u64,
    form: Form,
}

enum Form {
    Text(text::Groups),
    Json(json::Lines),
    Csv(Box<Table<SpooledTempFile>>),
    Markdown(markdown::Table),
}

impl Listing {
    fn new(filter: CheckFilter, format: ShowFormat) -> io::Result<Listing> {
        let form = match format {
            ShowFormat::Text => Form::Text(text::Groups::new()),
            ShowFormat::Json => Form::Json(json::Lines::new()),
            ShowFormat::Csv => Form::Csv(Box::new(Table::of::<_, CheckRow<'_>>(spooled())?)),
            ShowFormat::Markdown => Form::Markdown(markdown::Table::new()),
        };
        Ok(Listing { filter, controls: Vec::new(), found: 0, form })
    }

    fn print(self, bundle: &VerifiedBundle) -> io::Result<()> {
        let Listing { controls, found, form, .. } = self;
        match form {
            Form::Text(groups) => groups.print(bundle, &controls, &mut io::BufWriter::new(console::stdout())),
            Form::Json(lines) => lines.print(bundle, &controls, &mut io::stdout().lock()),
            Form::Csv(table) => print_csv(*table, &mut io::stdout().lock()),
            Form::Markdown(table) => table.print(bundle, &controls, found, &mut io::stdout().lock()),
        }
    }
}

impl CheckSink for Listing {
    fn control(&mut self, control: &ControlHead) {
        let ControlHead { id, title, status, .. } = control;
        if self.filter.has_control(id) {
            let (id, title) = (sanitized(id), sanitized(title));
            self.controls.push(Control { id, title, status: *status, counts: Counts::default() });
        }
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        if !self.filter.has_control(&control.id) {
            return Ok(());
        }
        if let Some(last) = self.controls.last_mut() {
            last.counts.add(check.status);
        }
        if !self.filter.matches(&check) {
            return Ok(());
        }
        self.found += 1;
        let row = Row { control, check: &check };
        match &mut self.form {
            Form::Text(groups) => groups.add(&row)?,
            Form::Json(lines) => lines.add(&row)?,
            Form::Csv(table) => table.row(&CheckRow(control, &check))?,
            Form::Markdown(table) => table.add(&row)?,
        }
        Ok(())
    }
}

fn print_csv(table: Table<SpooledTempFile>, out: &mut dyn io::Write) -> io::Result<()> {
    if !table.is_ascii() {
        out.write_all(BYTE_ORDER_MARK.as_bytes())?;
    }
    let mut file = table.finish()?;
    file.rewind()?;
    io::copy(&mut file, out)?;
    out.flush()
}

/// A list that may be long, held until the bundle is verified.
fn spooled() -> SpooledTempFile {
    SpooledTempFile::new(IN_MEMORY)
}
