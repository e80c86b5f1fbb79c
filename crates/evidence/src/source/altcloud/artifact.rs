//! The kinds of artifacts, and the rules that use each.

use crate::observation::ArtifactKind;
use evidence_rules::altcloud::{ADMINISTRATORS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG};

/// `two_step_verification.json`
pub(super) static TWO_STEP: ArtifactKind =
    ArtifactKind { name: "two_step_verification", rules: &[&TWO_STEP_VERIFICATION] };

/// `admin_roles.json`
pub(super) static ADMIN_ROLES: ArtifactKind = ArtifactKind { name: "admin_roles", rules: &[&ADMINISTRATORS] };

/// `user_lifecycle.json`
pub(super) static USER_LIFECYCLE: ArtifactKind =
    ArtifactKind { name: "user_lifecycle", rules: &[&USER_LIFECYCLE_LOG] };
