//! A session of the page: one verified bundle at a time, and questions about it.

use std::collections::BTreeSet;
use std::io::{Cursor, Read};

use evidence_bundle::document::SourcePopulation;
use evidence_bundle::path::REPORT;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};
use evidence_report::{Kept, Signed};
use evidence_view::csv::{BYTE_ORDER_MARK, CheckRow, Row, Table};
use evidence_view::verdict::{Report, Verdict};
use evidence_view::{
    Sanitize as _, Sink, check_identity, decoded, member_identity, read, sanitized, sanitized_lines, scope,
    words,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::answer::{
    Answer, CheckShown, Contents, FileShown, FileText, MemberShown, Page, PageAnswer, ReportMade, ScopeShown,
    Verified,
};
use crate::collected::{Collected, Wanted};
use crate::page;
use crate::question::{Filter, Members, Question, Refused, SampleOf, Terms};
use crate::sample::{self, Chosen};

/// The most rows to show at once.
const SHOWN: usize = 200;
/// The most bytes of a file to show as text.
const TEXT_BYTES: usize = 1 << 20;

/// The questions of one user, in order.
#[derive(Debug, Default)]
pub struct Session {
    opened: Option<Opened>,
}

/// A completely verified bundle.
#[derive(Debug)]
struct Opened {
    trust: TrustRoot,
    expectations: Expectations,
    bundle: VerifiedBundle,
    collected: Collected,
}

impl Session {
    /// A session without a bundle.
    pub fn new() -> Session {
        Session::default()
    }

    /// Answers a question in JSON. Reads `bundle` from its beginning if the question needs it.
    pub fn ask(&mut self, question: &[u8], bundle: impl Read) -> Answer {
        let answered = match serde_json::from_slice(question) {
            Ok(Question::Page { html }) => Ok(Answer::of(&PageAnswer { sha256: page::sha256(&html) })),
            Ok(Question::Verify(terms)) => self.verify(&terms, bundle),
            Ok(question) => self.opened().and_then(|opened| opened.answer(question, bundle)),
            Err(error) => Err(refused(format!("the question cannot be read: {error}"))),
        };
        answered.unwrap_or_else(|refusal| Answer::refused(&refusal))
    }

    fn opened(&self) -> Result<&Opened, Refused> {
        self.opened.as_ref().ok_or_else(|| refused("no bundle is verified".to_owned()))
    }

    fn verify(&mut self, terms: &Terms, bundle: impl Read) -> Result<Answer, Refused> {
        // Drop the previous bundle, whatever the result.
        self.opened = None;
        let (trust, expectations) = terms.read()?;
        let limits = Limits::default();
        let outcome = read(bundle, &trust, &expectations, &limits, Collected::new());
        let verdict = match &outcome {
            Ok((bundle, _)) => Ok(bundle),
            Err(failure) => Err(failure),
        };
        let contents = outcome.as_ref().ok().map(|(bundle, collected)| contents(bundle, collected));
        let answer = Answer::of(&Verified {
            verdict: Verdict::of(verdict),
            name: sanitized(&terms.name),
            report: Report::of(verdict),
            contents,
        });
        if let Ok((bundle, collected)) = outcome {
            self.opened = Some(Opened { trust, expectations, bundle, collected });
        }
        Ok(answer)
    }
}

fn refused(message: String) -> Refused {
    Refused { message, help: "" }
}

fn contents(bundle: &VerifiedBundle, collected: &Collected) -> Contents {
    let names = |each: &mut dyn Iterator<Item = &String>| {
        let names: BTreeSet<&String> = each.collect();
        names.into_iter().map(|name| sanitized(name)).collect()
    };
    let checks = &collected.checks.sink.rows;
    let members = &collected.members;
    Contents {
        bundle_id: sanitized(&bundle.bundle_id),
        tool_version: sanitized(&bundle.tool_version),
        criteria: collected.criteria(),
        controls: collected.controls(),
        scopes: bundle.populations.iter().map(scope_shown).collect(),
        complete: bundle.complete,
        checks: checks.len(),
        members: Some(members.len()),
        files: collected.files.len(),
        organization: sanitized(&bundle.organization),
        framework: sanitized(&bundle.framework),
        created_at: evidence_bundle::time::format(bundle.created_at).unwrap_or_default(),
        warnings: bundle
            .warnings
            .iter()
            .map(|warning| match &warning.subject {
                Some(subject) => sanitized(&format!("{subject}: {}", warning.message)),
                None => sanitized(&warning.message),
            })
            .collect(),
        excluded: bundle
            .excluded
            .iter()
            .map(|excluded| sanitized(&format!("{} (rule {})", excluded.filename, excluded.rule)))
            .collect(),
        errors: bundle
            .errors
            .iter()
            .map(|error| sanitized(&format!("{}: {}", error.subject, error.message)))
            .collect(),
        rules: names(&mut checks.iter().map(|(_, check)| &check.rule)),
        sources: names(
            &mut checks
                .iter()
                .map(|(_, check)| &check.source)
                .chain(members.iter().map(|member| &member.source)),
        ),
        kinds: names(&mut members.iter().map(|member| &member.kind)),
    }
}

fn scope_shown(source: &SourcePopulation) -> ScopeShown {
    ScopeShown {
        source: sanitized(&source.source),
        sentence: scope::sentence(source),
        scope: source.scope.as_str(),
        kind: sanitized(&source.kind),
        listed: source.listed,
        in_scope: source.in_scope,
        host_total: source.host_total,
    }
}

impl Opened {
    fn answer(&self, question: Question, bundle: impl Read) -> Result<Answer, Refused> {
        match question {
            Question::Page { .. } | Question::Verify(_) => {
                Err(refused("asked in the wrong place".to_owned()))
            }
            Question::File { path, download } => self.file(path, download, bundle),
            Question::Report { download } => self.report(download, bundle),
            Question::AsSigned => self.as_signed(bundle),
            Question::Files { search, skip } => Ok(self.files(&search, skip)),
            Question::Checks { filter, skip, sample, table } => self.checks(filter, skip, sample, table),
            Question::Population { filter, skip, sample, table } => {
                self.population(filter, skip, sample, table)
            }
        }
    }

    /// Reads more of the bundle and verifies it again: the file on disk may have changed.
    fn again<R: Sink>(&self, bundle: impl Read, reader: R) -> Result<R, Refused> {
        let failed = |failure: Failure| Refused {
            message: format!("the bundle changed since it was verified: {failure}"),
            help: "verify it again",
        };
        let (again, reader) =
            read(bundle, &self.trust, &self.expectations, &Limits::default(), reader).map_err(failed)?;
        if again.checksums_sha256 != self.bundle.checksums_sha256 {
            return Err(Refused {
                message: "this is another bundle than the verified one".to_owned(),
                help: "verify it again",
            });
        }
        Ok(reader)
    }

    /// Makes the report from the documents. The signer's own report is never shown as a page.
    fn report(&self, download: bool, bundle: impl Read) -> Result<Answer, Refused> {
        let kept = self.again(bundle, Kept::new(|| Ok(Cursor::new(Vec::new()))))?;
        let mut page = Vec::new();
        let signed = kept.report(&mut page).map_err(|error| Refused {
            message: format!("the report cannot be made: {error}"),
            help: "take the verifier page of a newer release",
        })?;
        let made = ReportMade {
            signed: match signed {
                Signed::Absent => "absent",
                Signed::Same => "same",
                Signed::Different => "different",
            },
            same_version: self.bundle.tool_version == env!("CARGO_PKG_VERSION"),
        };
        if !download {
            page = evidence_report::without_links(&String::from_utf8_lossy(&page)).into_bytes();
        }
        Ok(Answer::with(&made, page))
    }

    /// The signer's report, without anything that acts.
    fn as_signed(&self, bundle: impl Read) -> Result<Answer, Refused> {
        let wanted = self.again(bundle, Wanted { path: REPORT.to_owned(), contents: None })?;
        let signed =
            wanted.contents.ok_or_else(|| refused("the signer put no report into this bundle".to_owned()))?;
        let mut page = Vec::new();
        let unwritten = |error: std::io::Error| refused(format!("the page could not be written: {error}"));
        evidence_report::as_signed(&signed, &mut page).map_err(unwritten)?;
        Ok(Answer::with(&(), page))
    }

    fn file(&self, path: String, download: bool, bundle: impl Read) -> Result<Answer, Refused> {
        let wanted = self.again(bundle, Wanted { path, contents: None })?;
        let contents = wanted.contents.ok_or_else(|| refused("the bundle has no such file".to_owned()))?;
        let text = str::from_utf8(&contents).ok().filter(|text| text.len() <= TEXT_BYTES);
        let decoded = text.filter(|_| !download).and_then(decoded);
        let shown = FileText {
            decoded,
            size: contents.len(),
            sha256: hex::encode(Sha256::digest(&contents)),
            text: text.filter(|_| !download).map(sanitized_lines),
            path: wanted.path,
        };
        Ok(Answer::with(&shown, if download { contents } else { Vec::new() }))
    }

    fn files(&self, search: &str, skip: usize) -> Answer {
        let search = search.trim().to_lowercase();
        let files = self.collected.files.iter();
        let matching: Vec<&FileShown> =
            files.filter(|file| file.path.to_lowercase().contains(&search)).collect();
        let rows = matching.iter().skip(skip).take(SHOWN).map(|file| (*file).clone()).collect();
        Answer::of(&Page::<FileShown> { found: matching.len(), rows })
    }

    fn checks(
        &self,
        filter: Filter,
        skip: usize,
        sample: Option<SampleOf>,
        table: bool,
    ) -> Result<Answer, Refused> {
        let filter = filter.checks();
        let checks = &self.collected.checks.sink;
        let matching = checks.rows.iter().filter_map(|(control, check)| {
            let (head, _) = checks.controls.get(*control)?;
            filter.takes(head, check).then_some((head, check))
        });
        let chosen = sample::choose(matching, sample, |(head, check)| check_identity(&head.id, check))?;
        if table {
            return tabled(chosen.iter().map(|(_, (head, check))| CheckRow(head, check)));
        }
        Ok(shown(chosen, skip, |sha256, (head, check)| {
            let mut safe = check.clone();
            safe.sanitize();
            CheckShown {
                control: sanitized(&head.id),
                criteria: sanitized(&head.criteria(&check.rule).join(" ")),
                status: safe.status.as_str(),
                title: sanitized(&words::reason(&safe.reason)),
                source: safe.source,
                rule: safe.rule,
                subject: safe.subject,
                reason: safe.reason,
                expected: safe.expected.unwrap_or_default(),
                actual: safe.actual.unwrap_or_default(),
                evidence: safe.evidence.into_iter().map(|file| file.filename).collect(),
                sha256,
            }
        }))
    }

    fn population(
        &self,
        filter: Members,
        skip: usize,
        sample: Option<SampleOf>,
        table: bool,
    ) -> Result<Answer, Refused> {
        let filter = filter.members();
        let matching = self.collected.members.iter().filter(|member| filter.matches(member));
        let chosen = sample::choose(matching, sample, |member| member_identity(member))?;
        if table {
            return tabled(chosen.iter().map(|(_, member)| (*member).clone()));
        }
        Ok(shown(chosen, skip, |sha256, member| {
            let mut safe = member.clone();
            safe.sanitize();
            MemberShown {
                reason: safe
                    .reason
                    .as_deref()
                    .map(|code| words::reason(code).into_owned())
                    .unwrap_or_default(),
                source: safe.source,
                kind: safe.kind,
                name: safe.name,
                id: safe.id.unwrap_or_default(),
                default_branch: safe.default_branch.unwrap_or_default(),
                archived: safe.archived,
                visibility: safe.visibility.unwrap_or_default(),
                in_scope: safe.in_scope,
                sha256,
            }
        }))
    }
}

/// A page of rows.
fn shown<T: Copy, S: Serialize>(
    chosen: Chosen<T>,
    skip: usize,
    show: impl Fn(Option<String>, T) -> S,
) -> Answer {
    let found = chosen.len();
    let rows = chosen.into_iter().skip(skip).take(SHOWN);
    Answer::of(&Page { found, rows: rows.map(|(sha256, row)| show(sha256, row)).collect() })
}

/// A table of all rows.
fn tabled<const COLUMNS: usize, R: Row<COLUMNS>>(rows: impl Iterator<Item = R>) -> Result<Answer, Refused> {
    let unwritten = |error: std::io::Error| refused(format!("the table could not be written: {error}"));
    let mut table = Table::of::<COLUMNS, R>(Vec::new()).map_err(unwritten)?;
    let mut count = 0_usize;
    for row in rows {
        table.row(&row).map_err(unwritten)?;
        count = count.saturating_add(1);
    }
    let mark = if table.is_ascii() { "" } else { BYTE_ORDER_MARK };
    let rows = table.finish().map_err(unwritten)?;
    Ok(Answer::with(&Page::<()> { found: count, rows: Vec::new() }, [mark.as_bytes(), &rows].concat()))
}
