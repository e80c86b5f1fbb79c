//! The kinds of artifacts, and the rules that use each.

use crate::altcloud::administrators::ADMINISTRATORS;
use crate::altcloud::lifecycle::USER_LIFECYCLE_LOG;
use crate::altcloud::two_step::TWO_STEP_VERIFICATION;
use crate::inspection::ArtifactKind;

/// `two_step_verification.json`
pub static TWO_STEP: ArtifactKind =
    ArtifactKind { name: "two_step_verification", rules: &[&TWO_STEP_VERIFICATION] };

/// `admin_roles.json`
pub static ADMIN_ROLES: ArtifactKind = ArtifactKind { name: "admin_roles", rules: &[&ADMINISTRATORS] };

/// `user_lifecycle.json`
pub static USER_LIFECYCLE: ArtifactKind =
    ArtifactKind { name: "user_lifecycle", rules: &[&USER_LIFECYCLE_LOG] };

/// Every kind.
pub static ALL: &[&ArtifactKind] = &[&TWO_STEP, &ADMIN_ROLES, &USER_LIFECYCLE];
