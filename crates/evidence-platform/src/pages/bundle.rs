//! One bundle: its provenance, its results and the changes since the previous one, advice, what is missing, and how to
//! check it by hand. The checks themselves have their own pages.
//!
//! The stored bytes are verified completely once on this machine, and again after each check; the page says when.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use evidence_bundle::{Status, by_hand};
use evidence_view::{Results, sanitized};
use http::StatusCode;

use super::accepted::{Accepted, ResultsAndWaivers};
use super::page::{Frame, page};
use super::query::address;
use super::state::ControlState;
use super::words::{self, Moment, counted, size, tags};
use crate::api::App;
use crate::api::bundles::file_name;
use crate::api::input::Id;
use crate::error::Error;
use crate::principal::Principal;
use crate::store::Standing;

#[derive(Template)]
#[template(path = "bundle.html")]
struct BundlePage {
    frame: Frame,
    id: String,
    subject: String,
    framework: String,
    collected: Moment,
    stored: Moment,
    retention_until: Moment,
    uploaded_by: String,
    /// Reasons to doubt its time.
    time_marks: Vec<&'static str>,
    legal_hold: bool,
    tags: Vec<(String, String)>,
    complete: bool,
    completeness: (&'static str, &'static str, &'static str),
    scopes: Vec<String>,
    sha256: String,
    file_name: String,
    /// The commands for checking it with standard tools.
    by_hand: String,
    size: String,
    files: String,
    tool_version: String,
    sources: String,
    previous_bundle_id: Option<String>,
    signer: Signer,
    verified: Moment,
    /// The previously collected bundle.
    before: Option<(String, Moment)>,
    /// Each control, compared with the previous bundle.
    state: Option<Vec<ControlState>>,
    contents: Contents,
}

/// Who signed the bundle.
struct Signer {
    key_id: String,
    /// The key as the organization knows it, unless it no longer trusts the key.
    trusted: Option<(String, String)>,
    /// What limits the key in time.
    limits: Vec<String>,
    /// Whether it counts for this bundle, by the time of receipt.
    counts: bool,
}

/// The contents, or why they cannot be shown.
enum Contents {
    Intact {
        results: Box<Results>,
        /// The waivers, if the run had a file of waivers.
        accepted: Option<Accepted>,
        nothing_missing: bool,
    },
    Damaged {
        reason: &'static str,
        detail: String,
    },
    /// The key was revoked before the platform received the bundle.
    Revoked {
        reason: &'static str,
        detail: String,
    },
}

/// The page.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn bundle(State(app): State<App>, principal: Principal, Id(id): Id) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let before = app.service.bundle_before(&principal, &bundle).await?;
    let trusted = app.service.signers(&principal).await?;
    let trusted = trusted.into_iter().find(|key| key.key_id == bundle.overview.key_id);
    let viewer = app.service.viewer(&principal).await?;
    let mut verified = app.service.clock().now();
    let contents = match viewer.rows(&principal, &bundle, ResultsAndWaivers::default()).await {
        Ok((ResultsAndWaivers { results, waivers }, at)) => {
            verified = at;
            Contents::Intact {
                nothing_missing: results.nothing_missing(&bundle.overview),
                accepted: Accepted::of(waivers),
                results: Box::new(results),
            }
        }
        Err(Error::Damaged { reason, detail }) => Contents::Damaged { reason, detail },
        Err(Error::Refused { reason, detail }) => Contents::Revoked { reason: reason.code(), detail },
        Err(error) => return Err(error),
    };
    let time_marks = words::time_marks(&bundle);
    let overview = bundle.overview;
    let state = ControlState::all(&overview, before.as_ref().map(|before| &before.overview));
    let completeness = words::completeness(&overview);
    let signer = Signer {
        key_id: overview.key_id,
        limits: trusted.iter().flat_map(words::limits).collect(),
        counts: trusted.as_ref().is_some_and(|key| key.standing(bundle.uploaded_at) == Standing::Counts),
        trusted: trusted.map(|key| (sanitized(&key.label), key.fingerprint)),
    };
    let bundle_page = BundlePage {
        frame: Frame::of(&principal),
        id: bundle.id,
        subject: sanitized(&overview.organization),
        framework: sanitized(&overview.framework),
        verified: Moment::of(verified),
        collected: Moment::of(bundle.collected_at),
        stored: Moment::of(bundle.uploaded_at),
        retention_until: Moment::of(bundle.retention_until),
        uploaded_by: bundle.uploaded_by,
        time_marks,
        legal_hold: bundle.legal_hold,
        tags: tags(bundle.tags),
        complete: overview.complete,
        completeness,
        scopes: overview.scopes,
        sha256: bundle.digest.to_string(),
        by_hand: by_hand::commands(&file_name(overview.created_at)),
        file_name: file_name(overview.created_at),
        size: size(bundle.size_bytes),
        files: counted(overview.files, "file"),
        tool_version: sanitized(&overview.tool_version),
        sources: sanitized(&overview.sources.join(", ")),
        previous_bundle_id: overview.previous.as_deref().map(sanitized),
        signer,
        before: before.map(|before| (before.id, Moment::of(before.collected_at))),
        state,
        contents,
    };
    page(StatusCode::OK, &bundle_page)
}

impl BundlePage {
    /// The criteria of a control, if the bundle lists them.
    fn criteria(&self, control: &str) -> String {
        let Contents::Intact { results, .. } = &self.contents else { return String::new() };
        let mut controls = results.controls.iter();
        let control = controls.find(|known| known.id == control);
        control
            .map(|control| control.criteria.iter().cloned().collect::<Vec<_>>().join(", "))
            .unwrap_or_default()
    }

    /// The address of the checks of a group.
    fn checks_of(&self, control: &str, status: &Status, reason: &str) -> String {
        let pairs = [
            ("status", status.as_str().to_owned()),
            ("control", control.to_owned()),
            ("reason", reason.to_owned()),
        ];
        format!("/bundles/{}/checks{}", self.id, address(&pairs))
    }

    /// Links to the documents that every bundle has.
    fn documents(&self) -> [&'static str; 7] {
        [MANIFEST, RUN, NORMALIZED, HINTS, OBSERVATIONS, POPULATION, SCOPE]
    }
}
