//! The checks of a bundle: paged, filtered, searched and sorted by links and a form, or as a CSV table.

use std::fs::File;
use std::io::{BufWriter, Seek as _};

use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts};
use evidence_view::csv::BYTE_ORDER_MARK;
use evidence_view::words::StatusLabel;
use evidence_view::{CheckPage, CheckReader, CheckTable, SortBy, sanitized};
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use super::page::{Frame, page};
use super::query::{Asked, address};
use super::raw::streamed;
use super::words::{self, Moment};
use crate::api::App;
use crate::api::bundles::file_name;
use crate::api::input::{Id, Parameters};
use crate::error::Error;
use crate::principal::Principal;
use crate::store::SeriesName;

/// Rows per page.
const ROWS: usize = 100;
#[derive(Template)]
#[template(path = "checks.html")]
struct ChecksPage {
    frame: Frame,
    id: String,
    subject: String,
    framework: String,
    /// The bundles that this one is among.
    series: SeriesName,
    collected: Moment,
    asked: Asked,
    /// The statuses, each with the number of matches.
    tabs: Vec<Tab>,
    fields: Vec<Field>,
    columns: Vec<Column>,
    checks: CheckPage,
    known: bool,
}

/// One status, or all of them.
struct Tab {
    label: Option<StatusLabel>,
    count: u64,
    address: String,
    chosen: bool,
}

/// A filter of the form.
struct Field {
    name: &'static str,
    label: &'static str,
    /// The values with their titles, and whether each is selected.
    choices: Vec<(String, String, bool)>,
}

/// The head of a column.
struct Column {
    title: &'static str,
    /// The address that sorts by it.
    address: Option<String>,
    /// Its direction as a value of `aria-sort`, if the page is sorted by it.
    direction: Option<&'static str>,
}

/// The page.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Invalid`], [`Error::Damaged`], [`Error::Unavailable`]
/// or [`Error::Internal`].
pub async fn checks(
    State(app): State<App>,
    principal: Principal,
    Id(id): Id,
    parameters: Parameters,
) -> Result<Response, Error> {
    let asked = Asked::read(parameters)?;
    let bundle = app.service.bundle(&principal, &id).await?;
    let reader = CheckPage::new(asked.query.clone(), asked.sort, asked.after.clone(), ROWS);
    let viewer = app.service.viewer(&principal).await?;
    let CheckReader { sink: checks, known, .. } =
        viewer.rows(&principal, &bundle, CheckReader::new(reader)).await?.0;
    let checks_page = ChecksPage {
        frame: Frame::of(&principal),
        subject: sanitized(&bundle.overview.organization),
        series: SeriesName {
            subject: bundle.overview.organization.clone(),
            framework: bundle.overview.framework.clone(),
        },
        framework: sanitized(&bundle.overview.framework),
        collected: Moment::of(bundle.collected_at),
        tabs: tabs(&asked, checks.found),
        fields: fields(&asked, &checks),
        columns: columns(&asked),
        id,
        asked,
        checks,
        known,
    };
    page(StatusCode::OK, &checks_page)
}

impl ChecksPage {
    /// The address of a subject's page over time.
    fn over_time(&self, subject: &str) -> String {
        let pairs = [
            ("name", subject.to_owned()),
            ("subject", self.series.subject.clone()),
            ("framework", self.series.framework.clone()),
        ];
        format!("/period/subject{}", address(&pairs))
    }

    /// The expected value, if it differs from the actual one.
    fn expected<'a>(&self, check: &'a Check) -> Option<&'a String> {
        match check.status {
            Status::Fail | Status::NotVerifiable => check.expected.as_ref(),
            Status::Pass | Status::NotApplicable => None,
        }
    }

    /// The numbers of the first and the last row.
    fn range(&self) -> String {
        let last =
            self.checks.skipped.saturating_add(u64::try_from(self.checks.rows.len()).unwrap_or_default());
        let first = self.checks.skipped.saturating_add(1);
        format!(
            "{}–{} of {}",
            words::grouped(first),
            words::grouped(last),
            words::grouped(self.checks.matching)
        )
    }
}

fn tabs(asked: &Asked, found: Counts) -> Vec<Tab> {
    let Counts { pass, fail, not_verifiable, not_applicable } = found;
    let all = [pass, fail, not_verifiable, not_applicable].into_iter().fold(0, u64::saturating_add);
    let chosen = &asked.query.filter.statuses;
    let first = Tab { label: None, count: all, address: asked.with_status(None), chosen: chosen.is_empty() };
    let each = Status::BY_URGENCY.map(|status| Tab {
        label: Some(words::label(status)),
        count: match status {
            Status::Fail => fail,
            Status::NotVerifiable => not_verifiable,
            Status::Pass => pass,
            Status::NotApplicable => not_applicable,
        },
        address: asked.with_status(Some(status)),
        chosen: chosen.contains(&status),
    });
    std::iter::once(first).chain(each).collect()
}

fn fields(asked: &Asked, checks: &CheckPage) -> Vec<Field> {
    let (query, choices) = (&asked.query, &checks.choices);
    let field = |name, label, chosen: &[String], values: Vec<(String, String)>| Field {
        name,
        label,
        choices: values
            .into_iter()
            .map(|(value, title)| {
                let is_chosen = chosen.iter().any(|one| one.eq_ignore_ascii_case(&value));
                (value, title, is_chosen)
            })
            .collect(),
    };
    let titled = |values: &std::collections::BTreeSet<String>, title: &dyn Fn(&str) -> String| {
        let mut values: Vec<_> = values.iter().map(|value| (value.clone(), title(value))).collect();
        values.sort_by(|one, other| one.1.cmp(&other.1));
        values
    };
    let controls = choices.controls.iter().map(|(id, title)| (id.clone(), format!("{id} {title}"))).collect();
    let mut fields = vec![
        field("control", "Control", &query.filter.controls, controls),
        field(
            "rule",
            "Rule",
            &query.filter.rules,
            titled(&choices.rules, &|code| words::rule(code).into_owned()),
        ),
        field(
            "reason",
            "Reason",
            &query.reasons,
            titled(&choices.reasons, &|code| words::reason(code).into_owned()),
        ),
    ];
    if choices.sources.len() > 1 {
        let sources = titled(&choices.sources, &str::to_owned);
        fields.push(field("source", "Source", &query.filter.sources, sources));
    }
    fields
}

fn columns(asked: &Asked) -> Vec<Column> {
    let sorted = |title, by: SortBy| {
        let is_current = asked.sort.by == by;
        let descending = is_current && !asked.sort.descending;
        let direction = if asked.sort.descending { "descending" } else { "ascending" };
        Column {
            title,
            address: Some(asked.with_sort(by, descending)),
            direction: is_current.then_some(direction),
        }
    };
    let plain = |title| Column { title, address: None, direction: None };
    vec![
        sorted("Status", SortBy::Status),
        sorted("Subject", SortBy::Subject),
        sorted("Control", SortBy::Control),
        sorted("Rule", SortBy::Rule),
        sorted("Reason", SortBy::Reason),
        plain("Found"),
        plain("Evidence"),
    ]
}

/// All checks that the same filters show, as a table in the order of the bundle. It is sent only after the whole bundle
/// is verified.
///
/// # Errors
/// Fails like [`checks`].
pub async fn table(
    State(app): State<App>,
    principal: Principal,
    Id(id): Id,
    parameters: Parameters,
) -> Result<Response, Error> {
    let asked = Asked::read(parameters)?;
    let bundle = app.service.bundle(&principal, &id).await?;
    let viewer = app.service.viewer(&principal).await?;
    let out = BufWriter::new(viewer.scratch().await?);
    let reader = CheckReader::new(CheckTable::new(asked.query, out)?);
    let CheckReader { sink, known, .. } = viewer.rows(&principal, &bundle, reader).await?.0;
    if !known {
        let text = "this platform does not know the format of this bundle's results; download the bundle";
        return Err(Error::Invalid(text.to_owned()));
    }
    let (file, bytes, mark) = viewer.work(move || rewound(sink)).await??;
    let rest = streamed(file).into_data_stream();
    let mark = Bytes::from_static(mark.as_bytes());
    let length = bytes.saturating_add(u64::try_from(mark.len()).unwrap_or_default());
    let mut response =
        Response::new(Body::from_stream(stream::iter([Ok::<_, axum::Error>(mark)]).chain(rest)));
    let name =
        file_name(bundle.overview.created_at).replace("evidence-bundle", "checks").replace(".tar.gz", ".csv");
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .map_err(|error| Error::internal("a header cannot be written", error))?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The file from its beginning, its size, and its prefix.
fn rewound(table: CheckTable<BufWriter<File>>) -> Result<(File, u64, &'static str), Error> {
    let (out, is_ascii) = table.finish()?;
    let mut file = out.into_inner().map_err(|error| error.into_error())?;
    let bytes = file.stream_position()?;
    file.rewind()?;
    Ok((file, bytes, if is_ascii { "" } else { BYTE_ORDER_MARK }))
}
