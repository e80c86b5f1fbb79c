//! The one table of all routes: what each requires of its caller, its possible problems, and its handler.
//!
//! The router and the OpenAPI description derive from this table, so every route has an access rule and a description.

use std::fmt;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use http::Method;
use utoipa::openapi::HttpMethod;
use utoipa::openapi::path::Operation;

use super::access::{Access, check};
use super::problem::ProblemKind;
use super::{App, administration, bundles, fleet, group, holds, period as periods, status, system};
use crate::pages::{
    administration as people, artifacts, bundle, checks, compare, fleet as members, integrity, observations,
    period, raw, report, retention, sign_in, style, subject, timeline, verifier,
};
use crate::role::Capability;

/// A row of the table.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with parameter names in braces.
    pub path: String,
    /// What it requires of its caller.
    pub access: Access,
    /// The problems it can answer with, besides those of its access rule.
    pub problems: &'static [ProblemKind],
    /// Its OpenAPI operation, if it is part of the API.
    pub operation: Option<Operation>,
    handler: MethodRouter<App>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({:?})", self.method, self.path, self.access)
    }
}

impl Route {
    /// A route of the API, with the method and path of its description.
    fn of<P, H, T>(access: Access, problems: &'static [ProblemKind], handler: H) -> Route
    where
        P: utoipa::Path,
        H: Handler<T, App>,
        T: 'static,
    {
        let (method, filter) = match P::methods().first() {
            Some(HttpMethod::Post) => (Method::POST, MethodFilter::POST),
            Some(HttpMethod::Put) => (Method::PUT, MethodFilter::PUT),
            Some(HttpMethod::Delete) => (Method::DELETE, MethodFilter::DELETE),
            _ => (Method::GET, MethodFilter::GET),
        };
        let operation = Some(P::operation());
        Route { method, path: P::path(), access, problems, operation, handler: on(filter, handler) }
    }

    /// A route outside the API.
    fn plain<H, T>(path: &str, access: Access, problems: &'static [ProblemKind], handler: H) -> Route
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let (method, handler) = (Method::GET, get(handler));
        Route { method, path: path.to_owned(), access, problems, operation: None, handler }
    }

    /// The target of a form.
    fn form<H, T>(path: &str, problems: &'static [ProblemKind], handler: H) -> Route
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let (method, access, handler) = (Method::POST, Access::OpenPage, post(handler));
        Route { method, path: path.to_owned(), access, problems, operation: None, handler }
    }
}

/// The table.
pub fn table() -> Vec<Route> {
    use Access::{AnyPage, Needs, NeedsAny, NeedsGroup, Open, OpenPage, Page};
    use Capability::{Administer, Identify, Monitor, Read, Upload, Verify};
    use administration as admin;
    const UPLOAD: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::DigestMissing,
        ProblemKind::DigestMismatch,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::NoTrustedKey,
        ProblemKind::TooLarge,
        ProblemKind::BundleRefused,
        ProblemKind::NewerVersion,
        ProblemKind::Busy,
    ];
    const LIST: &[ProblemKind] = &[ProblemKind::InvalidRequest];
    const STATUS: &[ProblemKind] = &[ProblemKind::InvalidRequest, ProblemKind::Late];
    const ONE: &[ProblemKind] = &[ProblemKind::NotFound];
    const VERIFY: &[ProblemKind] = &[ProblemKind::NotFound, ProblemKind::Busy];
    const BODY: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
    ];
    const HOLD: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
        ProblemKind::NotFound,
    ];
    const HELD: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
        ProblemKind::Busy,
    ];
    const RELEASE: &[ProblemKind] = &[ProblemKind::InvalidRequest, ProblemKind::NotFound];
    const RETAIN: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
        ProblemKind::NotFound,
        ProblemKind::RetentionShortened,
    ];
    const INSIDE: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::NotFound,
        ProblemKind::BundleRefused,
        ProblemKind::NewerVersion,
    ];
    const SIGN_OUT: &[ProblemKind] =
        &[ProblemKind::InvalidRequest, ProblemKind::Unavailable, ProblemKind::Internal];
    const SIGN_IN: &[ProblemKind] = &[
        ProblemKind::InvalidRequest,
        ProblemKind::Unauthenticated,
        ProblemKind::Forbidden,
        ProblemKind::BodyIncomplete,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
        ProblemKind::Unavailable,
        ProblemKind::Internal,
    ];
    const DELETE: &[ProblemKind] =
        &[ProblemKind::NotFound, ProblemKind::LegalHold, ProblemKind::Retained, ProblemKind::ClockAhead];
    vec![
        Route::of::<bundles::__path_whoami, _, _>(Needs(Identify), &[], bundles::whoami),
        Route::of::<bundles::__path_upload, _, _>(Needs(Upload), UPLOAD, bundles::upload),
        Route::of::<bundles::__path_verify, _, _>(Needs(Verify), VERIFY, bundles::verify),
        Route::of::<bundles::__path_list, _, _>(Needs(Read), LIST, bundles::list),
        Route::of::<bundles::__path_get, _, _>(Needs(Read), ONE, bundles::get),
        Route::of::<bundles::__path_download, _, _>(Needs(Read), ONE, bundles::download),
        Route::of::<periods::__path_period, _, _>(Needs(Read), LIST, periods::period),
        Route::of::<admin::__path_set_legal_hold, _, _>(Needs(Administer), HOLD, admin::set_legal_hold),
        Route::of::<admin::__path_extend_retention, _, _>(Needs(Administer), RETAIN, admin::extend_retention),
        Route::of::<admin::__path_delete_bundle, _, _>(Needs(Administer), DELETE, admin::delete_bundle),
        Route::of::<admin::__path_create_key, _, _>(Needs(Administer), BODY, admin::create_key),
        Route::of::<admin::__path_list_keys, _, _>(Needs(Administer), &[], admin::list_keys),
        Route::of::<admin::__path_revoke_key, _, _>(Needs(Administer), ONE, admin::revoke_key),
        Route::of::<admin::__path_add_trusted_key, _, _>(Needs(Administer), BODY, admin::add_trusted_key),
        Route::of::<admin::__path_list_trusted_keys, _, _>(Needs(Administer), &[], admin::list_trusted_keys),
        Route::of::<admin::__path_set_trust_window, _, _>(Needs(Administer), HOLD, admin::set_trust_window),
        Route::of::<admin::__path_revoke_trusted_key, _, _>(
            Needs(Administer),
            HOLD,
            admin::revoke_trusted_key,
        ),
        Route::of::<admin::__path_remove_trusted_key, _, _>(
            Needs(Administer),
            ONE,
            admin::remove_trusted_key,
        ),
        Route::of::<admin::__path_export_audit_log, _, _>(Needs(Administer), &[], admin::export_audit_log),
        Route::of::<admin::__path_audit_log, _, _>(Needs(Administer), LIST, admin::audit_log),
        Route::of::<holds::__path_set, _, _>(Needs(Administer), HELD, holds::set),
        Route::of::<holds::__path_list, _, _>(Needs(Administer), &[], holds::list),
        Route::of::<holds::__path_release, _, _>(Needs(Administer), RELEASE, holds::release),
        Route::of::<group::__path_create_key, _, _>(NeedsGroup(Administer), BODY, group::create_key),
        Route::of::<group::__path_list_keys, _, _>(NeedsGroup(Administer), &[], group::list_keys),
        Route::of::<group::__path_revoke_key, _, _>(NeedsGroup(Administer), ONE, group::revoke_key),
        Route::of::<status::__path_status, _, _>(NeedsAny(Monitor), STATUS, status::status),
        Route::of::<fleet::__path_organizations, _, _>(NeedsAny(Read), &[], fleet::organizations),
        Route::of::<system::__path_description, _, _>(Open, &[], system::description),
        Route::plain("/healthz", Open, &[], system::healthz),
        Route::plain(
            "/readyz",
            Open,
            &[ProblemKind::StorageRefused, ProblemKind::Unavailable],
            system::readyz,
        ),
        Route::plain("/metrics", Open, &[], system::metrics),
        Route::plain("/metrics/organizations", NeedsAny(Monitor), &[], status::metrics),
        Route::plain("/assets/style.css", Open, &[], style::style),
        Route::plain("/assets/icon.svg", Open, &[], style::icon),
        Route::plain("/", OpenPage, &[], sign_in::home),
        Route::plain("/verify", OpenPage, ONE, verifier::verifier),
        Route::plain("/sign-in", OpenPage, LIST, sign_in::form),
        Route::form("/sign-in", SIGN_IN, sign_in::sign_in),
        Route::form("/sign-out", SIGN_OUT, sign_in::sign_out),
        Route::plain("/fleet", AnyPage(Read), &[], members::fleet),
        Route::plain("/fleet/keys", AnyPage(Administer), &[], people::group_keys),
        Route::plain("/bundles", Page(Read), LIST, timeline::timeline),
        Route::plain("/bundles/{bundle_id}", Page(Read), ONE, bundle::bundle),
        Route::plain("/bundles/{bundle_id}/download", Page(Read), ONE, bundles::download),
        Route::plain("/bundles/{bundle_id}/report", Page(Read), INSIDE, report::report),
        Route::plain("/bundles/{bundle_id}/report/frame", Page(Read), INSIDE, report::frame),
        Route::plain("/bundles/{bundle_id}/checks", Page(Read), INSIDE, checks::checks),
        Route::plain("/bundles/{bundle_id}/checks.csv", Page(Read), INSIDE, checks::table),
        Route::plain("/bundles/{bundle_id}/artifacts", Page(Read), INSIDE, artifacts::artifacts),
        Route::plain("/bundles/{bundle_id}/observations", Page(Read), INSIDE, observations::observations),
        Route::plain("/bundles/{bundle_id}/files/{*path}", Page(Read), INSIDE, artifacts::file),
        Route::plain("/keys", Page(Administer), &[], people::keys),
        Route::plain("/retention", Page(Administer), &[], retention::retention),
        Route::plain("/trust", Page(Administer), &[], people::trust),
        Route::plain("/audit-log", Page(Administer), LIST, people::audit_log),
        Route::plain("/audit-log.jsonl", Page(Administer), &[], admin::export_audit_log),
        Route::plain("/bundles/{bundle_id}/raw/{*path}", Page(Read), INSIDE, raw::raw),
        Route::plain("/compare", Page(Read), INSIDE, compare::compare),
        Route::plain("/period", Page(Read), LIST, period::period),
        Route::plain("/period/control", Page(Read), LIST, period::control),
        Route::plain("/period/subject", Page(Read), LIST, subject::subject),
        Route::plain("/integrity", Page(Read), &[], integrity::integrity),
    ]
}

/// The router of the table. Any other path is not found.
pub fn router(app: &App) -> Router {
    let mut router = Router::new();
    for route in table() {
        let checked = route.handler.layer(from_fn_with_state((app.clone(), route.access), check));
        router = router.route(&route.path, checked);
    }
    router
        .method_not_allowed_fallback(|| async { ProblemKind::MethodNotAllowed })
        .fallback(|| async { ProblemKind::NotFound })
        .with_state(app.clone())
}
