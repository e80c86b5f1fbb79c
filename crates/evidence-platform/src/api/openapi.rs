//! The OpenAPI 3.1 description, derived from the table of routes and the types of requests and answers.

use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Content, Ref, RefOr, Response, SecurityRequirement};

use super::access::Access;
use super::problem::{MEDIA_TYPE, Problem, ProblemKind};
use super::routes::{Route, table};
use super::{status, views};

const SCHEME: &str = "api_key";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Evidence platform",
        description = "Takes signed evidence bundles in, verifies them, keeps them unchanged, and shows them.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(
        Problem,
        views::BundleBytes,
        views::WhoAmI,
        views::StoredView,
        views::VerificationView,
        views::BundleView,
        views::BundleList,
        views::KeyView,
        views::KeyList,
        views::NewKeyRequest,
        views::NewKeyView,
        views::TrustedKeyView,
        views::TrustedKeyList,
        views::NewTrustedKey,
        views::TrustValidity,
        views::TrustRevocation,
        views::ChangedTrust,
        views::LegalHold,
        views::Retention,
        views::AuditView,
        views::AuditList,
        super::period::PeriodView,
        super::period::StoredAtView,
        status::StatusView,
        status::OrganizationStatus,
        super::fleet::FleetView,
        super::fleet::FleetOrganization,
        super::fleet::LatestView,
        super::fleet::ControlStateView,
        super::holds::HoldView,
        super::holds::HoldList,
        super::holds::NewHold,
    ))
)]
struct Types;

/// The description.
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Types::openapi();
    document.components.get_or_insert_with(Components::new).add_security_scheme(
        SCHEME,
        SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("evp_...").build()),
    );
    for route in table() {
        let problems = problems(&route);
        let Route { method, path, access, operation: Some(mut operation), .. } = route else { continue };
        describe(&mut operation, access, &problems);
        let method = match method.as_str() {
            "POST" => utoipa::openapi::HttpMethod::Post,
            "PUT" => utoipa::openapi::HttpMethod::Put,
            "DELETE" => utoipa::openapi::HttpMethod::Delete,
            _ => utoipa::openapi::HttpMethod::Get,
        };
        document.paths.add_path_operation(path, vec![method], operation);
    }
    document
}

/// Every problem that a route can answer with.
pub fn problems(route: &Route) -> Vec<ProblemKind> {
    let mut problems = route.problems.to_vec();
    // The server refuses a request before its route.
    problems.extend([ProblemKind::InvalidRequest, ProblemKind::Misdirected, ProblemKind::UnsupportedCoding]);
    match route.access {
        Access::Open | Access::OpenPage => {}
        Access::Needs(_) | Access::NeedsAny(_) | Access::NeedsGroup(_) => {
            problems.extend([ProblemKind::Unauthenticated, ProblemKind::Forbidden]);
            problems.extend([ProblemKind::Internal, ProblemKind::StorageRefused, ProblemKind::Unavailable]);
        }
        Access::Page(_) | Access::AnyPage(_) => {
            problems.extend([ProblemKind::Unauthenticated, ProblemKind::Forbidden, ProblemKind::Busy]);
            problems.extend([ProblemKind::Internal, ProblemKind::StorageRefused, ProblemKind::Unavailable]);
        }
    }
    problems
}

fn describe(operation: &mut Operation, access: Access, problems: &[ProblemKind]) {
    match access {
        // Pages have no OpenAPI operation.
        Access::Open | Access::OpenPage | Access::Page(_) | Access::AnyPage(_) => {
            operation.security = Some(Vec::new())
        }
        Access::Needs(capability) | Access::NeedsAny(capability) | Access::NeedsGroup(capability) => {
            operation.security = Some(vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())]);
            let group = match access {
                Access::Needs(_) => {
                    " A key of a group names the organization in the header `Evidence-Organization`."
                }
                _ => "",
            };
            let whose = if matches!(access, Access::NeedsGroup(_)) { " of a group" } else { "" };
            let note = format!("Needs a key{whose} that may {}.{group}", capability.as_str());
            let text =
                operation.description.take().map_or_else(|| note.clone(), |text| format!("{text}\n\n{note}"));
            operation.description = Some(text);
        }
    }
    for kind in ProblemKind::ALL {
        if !problems.contains(&kind) {
            continue;
        }
        let status = kind.status().as_u16().to_string();
        let line = format!("`{}`: {}.", kind.code(), kind.title());
        match operation.responses.responses.get_mut(&status) {
            Some(RefOr::T(response)) => response.description = format!("{} {line}", response.description),
            _ => {
                let content = Content::builder().schema(Some(Ref::from_schema_name("Problem"))).build();
                let response = Response::builder().description(line).content(MEDIA_TYPE, content).build();
                operation.responses.responses.insert(status, RefOr::T(response));
            }
        }
    }
}
