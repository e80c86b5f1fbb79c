//! A large organization.

use crate::codehost::{CodeHost, Fleet, Limits, Organization, Token};

/// An organization `acme` of this many repositories, with the demo's tokens. No limits, as on a self-hosted server;
/// set [`Limits::documented`] to measure pacing.
pub fn large_organization(repositories: u32) -> CodeHost {
    let fleet = Fleet::new("acme", repositories);
    let mut organization = Organization::new("acme").name("Acme").two_factor(true).plan("enterprise");
    organization.fleet = Some(fleet);
    CodeHost::new()
        .organization(organization)
        .token(Token::classic(super::DEMO_TOKEN).scopes(["read:org"]).sees_private(true))
        .token(super::demo::fine_grained())
        .limits(Limits::self_hosted())
}
