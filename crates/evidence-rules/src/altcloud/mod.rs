//! The workspace's rules, with their reasons, advice and judgements, one file each.
//!
//! Pure functions over what was read. What was not read neither passes nor fails.

pub mod administrators;
pub mod effective;
pub mod guests;
pub mod inactive_users;
mod judge;
pub mod leavers;
pub mod lifecycle;
pub mod policies;
pub mod policy_rules;
pub mod reason;
pub mod record;
pub mod recovery_off;
pub mod session_length;
pub mod two_step;
pub mod two_step_policy;
pub mod two_step_strength;
mod words;
pub mod workspace_password;

pub use self::administrators::ADMINISTRATORS;
pub use self::effective::ADMINISTRATORS_BY_GROUP;
pub use self::guests::GUESTS;
pub use self::inactive_users::INACTIVE_USERS;
pub use self::judge::ListingJudge;
pub use self::leavers::LEAVERS_REMOVED;
pub use self::lifecycle::USER_LIFECYCLE_LOG;
pub use self::recovery_off::RECOVERY_OFF;
pub use self::session_length::SESSION_LENGTH;
pub use self::two_step::TWO_STEP_VERIFICATION;
pub use self::two_step_policy::TWO_STEP_POLICY;
pub use self::two_step_strength::TWO_STEP_STRENGTH;
pub use self::workspace_password::WORKSPACE_PASSWORD_POLICY;

use self::effective::EffectiveFacts;
use self::inactive_users::Activity;
use self::leavers::Leavers;
use self::policies::PolicyFacts;
use self::record::{AdminRoles, UserLifecycle};
use crate::rule::Judge;
use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "altcloud",
    kinds: artifact::ALL,
    rules: &[
        &TWO_STEP_VERIFICATION,
        &ADMINISTRATORS,
        &USER_LIFECYCLE_LOG,
        &INACTIVE_USERS,
        &GUESTS,
        &ADMINISTRATORS_BY_GROUP,
        &TWO_STEP_POLICY,
        &TWO_STEP_STRENGTH,
        &WORKSPACE_PASSWORD_POLICY,
        &SESSION_LENGTH,
        &RECOVERY_OFF,
        &LEAVERS_REMOVED,
    ],
    reasons: reason::ALL,
};

/// The rules over the users.
pub static OF_USERS: &[&ListingJudge] = &[&two_step::JUDGE];

/// The rules over administrator roles.
pub static OF_ADMIN_ROLES: &[&Judge<AdminRoles>] = &[&administrators::JUDGE];

/// The rules over administrator roles and the members of groups.
pub static OF_EFFECTIVE: &[&Judge<EffectiveFacts>] = &[&effective::JUDGE];

/// The rules over the users and their last sign-ins.
pub static OF_USER_ACTIVITY: &[&Judge<Activity>] = &[&inactive_users::JUDGE, &guests::JUDGE];

/// The rules over the policies.
pub static OF_POLICIES: &[&Judge<PolicyFacts>] = &[
    &two_step_policy::JUDGE,
    &two_step_strength::JUDGE,
    &workspace_password::JUDGE,
    &session_length::JUDGE,
    &recovery_off::JUDGE,
];

/// The rules over the people of all sources.
pub static OF_LEAVERS: &[&Judge<Leavers>] = &[&leavers::JUDGE];

/// The rules over the log of user accounts.
pub static OF_USER_LIFECYCLE: &[&Judge<UserLifecycle>] = &[&lifecycle::JUDGE];

/// The kinds of artifacts, and the rules that use each.
pub mod artifact {
    use crate::inspection::ArtifactKind;

    /// `two_step_verification.json`
    pub static TWO_STEP: ArtifactKind =
        ArtifactKind { name: "two_step_verification", rules: &[&super::TWO_STEP_VERIFICATION] };

    /// `admin_roles.json`
    pub static ADMIN_ROLES: ArtifactKind =
        ArtifactKind { name: "admin_roles", rules: &[&super::ADMINISTRATORS] };

    /// `user_lifecycle.json`
    pub static USER_LIFECYCLE: ArtifactKind =
        ArtifactKind { name: "user_lifecycle", rules: &[&super::USER_LIFECYCLE_LOG] };

    /// `user_activity.json`
    pub static USER_ACTIVITY: ArtifactKind =
        ArtifactKind { name: "user_activity", rules: &[&super::INACTIVE_USERS, &super::GUESTS] };

    /// `people.json`: a list, made of the same users.
    pub static PEOPLE: ArtifactKind = ArtifactKind { name: "directory_people", rules: USER_ACTIVITY.rules };

    /// `administrators_effective.json`
    pub static ADMINISTRATORS_EFFECTIVE: ArtifactKind =
        ArtifactKind { name: "administrators_effective", rules: &[&super::ADMINISTRATORS_BY_GROUP] };

    /// `policies.json`
    pub static POLICIES: ArtifactKind = ArtifactKind {
        name: "policies",
        rules: &[
            &super::TWO_STEP_POLICY,
            &super::TWO_STEP_STRENGTH,
            &super::WORKSPACE_PASSWORD_POLICY,
            &super::SESSION_LENGTH,
            &super::RECOVERY_OFF,
        ],
    };

    /// `leavers.json`
    pub static LEAVERS: ArtifactKind = ArtifactKind { name: "leavers", rules: &[&super::LEAVERS_REMOVED] };

    /// Every kind.
    pub static ALL: &[&ArtifactKind] = &[
        &TWO_STEP,
        &ADMIN_ROLES,
        &USER_LIFECYCLE,
        &USER_ACTIVITY,
        &PEOPLE,
        &ADMINISTRATORS_EFFECTIVE,
        &POLICIES,
        &LEAVERS,
    ];
}
