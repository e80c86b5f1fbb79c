//! The report of a bundle, made from its documents and shown in a frame. The signer's own report is never shown as a
//! page: it is a file, which its page shows as text.

use std::io::{self, Write};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_report::{Kept, Signed, Unknown, with_inner_links};
use http::StatusCode;

use super::page::{Frame, PAGE_BYTES, framed, framing};
use super::words::Moment;
use crate::api::App;
use crate::api::input::Id;
use crate::error::Error;
use crate::principal::Principal;
use crate::store::BundleRow;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    frame: Frame,
    id: String,
    collected: Moment,
    report: Made,
    /// Whether a platform of this version and the tool that made the bundle make the same report.
    same_version: bool,
}

/// The report, or why there is none.
enum Made {
    Page { html: String, signed: Signed },
    TooLarge,
    Unknown,
}

/// The page around the report. It makes the report too, so that it knows what to say about it.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Damaged`], [`Error::Refused`], [`Error::Unavailable`] or
/// [`Error::Internal`].
pub async fn report(State(app): State<App>, principal: Principal, Id(id): Id) -> Result<Response, Error> {
    let (bundle, report) = make(&app, &principal, &id).await?;
    let report_page = ReportPage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        report,
        same_version: bundle.overview.tool_version == env!("CARGO_PKG_VERSION"),
    };
    framing(StatusCode::OK, &report_page)
}

/// The report alone, for the frame of its page.
///
/// # Errors
/// Fails like [`report`], and with [`Error::NotFound`] if there is no report to show.
pub async fn frame(State(app): State<App>, principal: Principal, Id(id): Id) -> Result<Response, Error> {
    match make(&app, &principal, &id).await? {
        (_, Made::Page { html, .. }) => Ok(framed(with_inner_links(&html))),
        (_, Made::TooLarge | Made::Unknown) => Err(Error::NotFound("report of this bundle")),
    }
}

async fn make(app: &App, principal: &Principal, id: &str) -> Result<(BundleRow, Made), Error> {
    let bundle = app.service.bundle(principal, id).await?;
    let viewer = app.service.viewer(principal).await?;
    if let Some(made) = viewer.report(principal, &bundle).await?.and_then(|kept| Made::of(&kept)) {
        return Ok((bundle, made));
    }
    let kept = Kept::new(viewer.scratches());
    let kept = viewer.read(principal, &bundle, kept).await?;
    let made = viewer.work(move || {
        let mut html = Limited(Vec::new());
        kept.report(&mut html).map(|signed| (html.0, signed))
    });
    let made = match made.await? {
        Ok((html, signed)) => Made::Page { html: String::from_utf8_lossy(&html).into_owned(), signed },
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Made::TooLarge,
        Err(error) if error.get_ref().is_some_and(|error| error.is::<Unknown>()) => Made::Unknown,
        Err(error) => return Err(error.into()),
    };
    viewer.keep_report(&bundle, made.to_kept()).await?;
    Ok((bundle, made))
}

impl Made {
    /// The form in which it is kept: a letter, then the page.
    fn to_kept(&self) -> Vec<u8> {
        let (letter, html) = match self {
            Made::Page { html, signed: Signed::Same } => (b's', html.as_str()),
            Made::Page { html, signed: Signed::Different } => (b'd', html.as_str()),
            Made::Page { html, signed: Signed::Absent } => (b'a', html.as_str()),
            Made::TooLarge => (b't', ""),
            Made::Unknown => (b'u', ""),
        };
        [&[letter], html.as_bytes()].concat()
    }

    /// Reads that form. `None` for any other.
    fn of(kept: &[u8]) -> Option<Made> {
        let (letter, html) = kept.split_first()?;
        let page = |signed| Some(Made::Page { html: String::from_utf8(html.to_vec()).ok()?, signed });
        match letter {
            b's' => page(Signed::Same),
            b'd' => page(Signed::Different),
            b'a' => page(Signed::Absent),
            b't' => Some(Made::TooLarge),
            b'u' => Some(Made::Unknown),
            _ => None,
        }
    }
}

/// A page with the size limit of all pages.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > PAGE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
