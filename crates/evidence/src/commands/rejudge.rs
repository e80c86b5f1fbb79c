//! `evidence rejudge`: what this version's rules, another framework or other numbers say about the signed facts of a
//! bundle, beside the signed results.

use std::collections::HashMap;
use std::io;

use evidence_bundle::document::EvidenceReference;
use evidence_bundle::read::{Failure, Limits};
use evidence_rules::framework::{ALL, Framework};
use evidence_text::Safe;
use evidence_view::diff::Side;
use evidence_view::rejudged::Again;
use evidence_view::{CheckSink as _, Row, Sink};

use super::print::unwritable;
use super::show::{self, Listing, Shown};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::{DiffFormat, RejudgeArgs, ShowFormat};
use crate::config::{Config, ConfigFile};
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::finding::group::Findings;

/// Runs the command.
pub(super) fn run(args: &RejudgeArgs, env: &Env) -> Result<Exit, Error> {
    let asked = args.framework.as_deref().map(framework).transpose()?;
    let settings = match &args.trust.config {
        Some(path) => Some(Config::load(ConfigFile::Named(path), env).map_err(Error::Config)?.settings),
        None => None,
    };
    let VerifyOptions { trust, expectations } = terms(&args.trust, env)?;
    let reader = Reader { side: Side::default(), evidence: args.json.then(HashMap::new) };
    let judged = bundle_file::open(&args.bundle).and_then(|bundle| {
        evidence_view::rejudge(bundle, &trust, &expectations, &Limits::default(), settings, reader)
    });
    let (bundle, judged, Reader { side, evidence }) = match judged {
        Ok(judged) => judged,
        Err(failure) => {
            verify::print_failure(&args.bundle, "rejudge", &failure, args.json);
            return Err(verify::error(&failure));
        }
    };
    if !side.known() {
        return Err(Error::Usage {
            message: "the bundle is verified, but a document has an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        });
    }
    let framework = match asked {
        Some(framework) => framework,
        None => framework(&bundle.framework)?,
    };
    let mut again = Again::of(&bundle, &side, &judged, framework);
    for check in again.controls.iter_mut().flat_map(|(_, checks)| checks) {
        check.actual =
            check.actual.as_deref().map(|text| evidence_screen::shared().redact(text).into_owned());
        let signed =
            evidence.as_ref().and_then(|all| all.get(&key(&check.source, &check.rule, &check.subject)));
        check.evidence = signed.cloned().unwrap_or_default();
    }
    let is_all = args.all || !args.filter.status.is_empty();
    let mut listing = Listing::new(format(args), show::filter(&args.filter), is_all);
    listing.findings = Findings::new(side.addresses());
    listing.findings.settings = judged.settings;
    for (head, checks) in &mut again.controls {
        listing.control(head);
        for check in checks.drain(..) {
            listing.check(head, check).map_err(|error| verify::error(&Failure::CannotJudge(error)))?;
        }
    }
    if let Some(unknown) = listing.filter.unknown(&listing.heads, &bundle.sources) {
        return Err(show::unknown_name(&unknown));
    }
    match listing.print(&Shown { bundle: &bundle, framework: framework.id, again: Some(&again) }) {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

fn format(args: &RejudgeArgs) -> ShowFormat {
    match (args.json, args.format) {
        (true, _) => ShowFormat::Json,
        (false, DiffFormat::Text) => ShowFormat::Text,
        (false, DiffFormat::Markdown) => ShowFormat::Markdown,
    }
}

/// The framework with this name.
fn framework(id: &str) -> Result<&'static Framework, Error> {
    Framework::from_id(id).ok_or_else(|| Error::Usage {
        message: format!("this version does not know the framework `{}`", Safe::cut(id)),
        help: {
            let known: Vec<&str> = ALL.iter().map(|framework| framework.id).collect();
            format!("name one with --framework: {}", known.join(", "))
        },
    })
}

/// What identifies a check, whatever its control.
fn key(source: &str, rule: &str, subject: &str) -> [Box<str>; 3] {
    [source, rule, subject].map(Into::into)
}

/// Reads the signed results, and the evidence of their checks if it is printed.
struct Reader {
    side: Side,
    evidence: Option<HashMap<[Box<str>; 3], Vec<EvidenceReference>>>,
}

impl Sink for Reader {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        if let (Row::Check(check), Some(evidence)) = (row, &mut self.evidence) {
            evidence.insert(key(&check.source, &check.rule, &check.subject), check.evidence.clone());
        }
        self.side.row(row)
    }
}
