//! The criteria for the password policy, the audit trail and log retention. Pure functions over what was read.
//!
//! What was not read neither passes nor fails: an unknown region or status prevents a failure if it might be the one
//! that passes. Nothing here sends a request or guesses.

pub mod access_key_age;
pub mod admin_ports;
pub mod credentials;
pub mod database_backup;
pub mod database_encrypted;
pub mod database_public;
pub mod databases;
pub mod disk_encryption;
pub mod password;
pub mod reason;
pub mod record;
pub mod regional;
pub mod retention;
pub mod root_keys;
pub mod root_mfa;
pub mod storage;
pub mod threat_detection;
pub mod trail;
pub mod unused_credentials;
pub mod user_mfa;

pub use self::access_key_age::ACCESS_KEY_AGE;
pub use self::admin_ports::ADMIN_PORTS_CLOSED;
pub use self::database_backup::DATABASE_BACKUP;
pub use self::database_encrypted::DATABASE_ENCRYPTED;
pub use self::database_public::DATABASE_NOT_PUBLIC;
pub use self::disk_encryption::DISK_ENCRYPTION_DEFAULT;
pub use self::password::PASSWORD_POLICY;
pub use self::retention::LOG_RETENTION;
pub use self::root_keys::ROOT_KEYS;
pub use self::root_mfa::ROOT_MFA;
pub use self::storage::STORAGE_NOT_PUBLIC;
pub use self::threat_detection::THREAT_DETECTION;
pub use self::trail::AUDIT_TRAIL;
pub use self::trail::integrity::TRAIL_INTEGRITY;
pub use self::unused_credentials::UNUSED_CREDENTIALS;
pub use self::user_mfa::USER_MFA;

use self::admin_ports::OpenPorts;
use self::credentials::Credentials;
use self::databases::Databases;
use self::disk_encryption::DiskEncryption;
use self::password::PasswordFacts;
use self::record::{RegionLogGroups, RootAccount};
use self::regional::Regions;
use self::storage::PublicAccess;
use self::threat_detection::Detectors;
use self::trail::AuditTrail;
use crate::rule::Judge;
use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "cloud",
    kinds: artifact::ALL,
    rules: &[
        &PASSWORD_POLICY,
        &AUDIT_TRAIL,
        &LOG_RETENTION,
        &ROOT_MFA,
        &ROOT_KEYS,
        &USER_MFA,
        &ACCESS_KEY_AGE,
        &UNUSED_CREDENTIALS,
        &TRAIL_INTEGRITY,
        &DISK_ENCRYPTION_DEFAULT,
        &ADMIN_PORTS_CLOSED,
        &STORAGE_NOT_PUBLIC,
        &DATABASE_ENCRYPTED,
        &DATABASE_NOT_PUBLIC,
        &DATABASE_BACKUP,
        &THREAT_DETECTION,
    ],
    reasons: reason::ALL,
};

/// The rules over the root user of an account.
pub static OF_ROOT_ACCOUNT: &[&Judge<RootAccount>] = &[&root_mfa::JUDGE, &root_keys::JUDGE];

/// The rules over the credential report of an account.
pub static OF_CREDENTIALS: &[&Judge<Credentials>] =
    &[&user_mfa::JUDGE, &access_key_age::JUDGE, &unused_credentials::JUDGE];

/// The rules over the disks of an account's regions.
pub static OF_DISK_ENCRYPTION: &[&Judge<Regions<DiskEncryption>>] = &[&disk_encryption::JUDGE];

/// The rules over the security groups of an account's regions.
pub static OF_OPEN_PORTS: &[&Judge<Regions<OpenPorts>>] = &[&admin_ports::JUDGE];

/// The rules over the buckets of an account.
pub static OF_PUBLIC_ACCESS: &[&Judge<PublicAccess>] = &[&storage::JUDGE];

/// The rules over the databases of an account's regions.
pub static OF_DATABASES: &[&Judge<Regions<Databases>>] =
    &[&database_encrypted::JUDGE, &database_public::JUDGE, &database_backup::JUDGE];

/// The rules over the detectors of an account's regions.
pub static OF_DETECTORS: &[&Judge<Regions<Detectors>>] = &[&threat_detection::JUDGE];

/// The rules over the password policy of an account.
pub static OF_PASSWORDS: &[&Judge<PasswordFacts>] = &[&password::JUDGE];

/// The rules over the trails of an account.
pub static OF_TRAILS: &[&Judge<AuditTrail>] = &[&trail::JUDGE, &trail::integrity::JUDGE];

/// The rules over the log groups of a region.
pub static OF_LOG_GROUPS: &[&Judge<RegionLogGroups>] = &[&retention::JUDGE];

/// The kinds of artifacts, and the rules that use each.
pub mod artifact {
    use crate::inspection::ArtifactKind;

    /// `password_policy.json`
    pub static PASSWORD_POLICY: ArtifactKind =
        ArtifactKind { name: "password_policy", rules: &[&super::PASSWORD_POLICY] };

    /// `account_summary.json`
    pub static ACCOUNT_SUMMARY: ArtifactKind =
        ArtifactKind { name: "account_summary", rules: &[&super::PASSWORD_POLICY] };

    /// `audit_trails.json`
    pub static AUDIT_TRAILS: ArtifactKind =
        ArtifactKind { name: "audit_trails", rules: &[&super::AUDIT_TRAIL, &super::TRAIL_INTEGRITY] };

    /// `trail_{name}_status.json`, and `trail_{name}_status_{region}.json` for other regions than its home
    pub static TRAIL_STATUS: ArtifactKind =
        ArtifactKind { name: "trail_status", rules: &[&super::AUDIT_TRAIL, &super::TRAIL_INTEGRITY] };

    /// `trail_{name}_event_selectors.json`
    pub static EVENT_SELECTORS: ArtifactKind = ArtifactKind {
        name: "trail_event_selectors",
        rules: &[&super::AUDIT_TRAIL, &super::TRAIL_INTEGRITY],
    };

    /// `log_groups.json`
    pub static LOG_GROUPS: ArtifactKind =
        ArtifactKind { name: "log_groups", rules: &[&super::LOG_RETENTION] };

    /// `root_account.json`
    pub static ROOT_ACCOUNT: ArtifactKind =
        ArtifactKind { name: "root_account", rules: &[&super::ROOT_MFA, &super::ROOT_KEYS] };

    /// `credential_report.json`
    pub static CREDENTIAL_REPORT: ArtifactKind = ArtifactKind {
        name: "credential_report",
        rules: &[&super::USER_MFA, &super::ACCESS_KEY_AGE, &super::UNUSED_CREDENTIALS],
    };

    /// `people.json`: a list, made of the same report.
    pub static PEOPLE: ArtifactKind = ArtifactKind { name: "account_people", rules: CREDENTIAL_REPORT.rules };

    /// `disk_encryption_{region}.json`
    pub static DISK_ENCRYPTION: ArtifactKind =
        ArtifactKind { name: "disk_encryption", rules: &[&super::DISK_ENCRYPTION_DEFAULT] };

    /// `open_ports_{region}.json`
    pub static OPEN_PORTS: ArtifactKind =
        ArtifactKind { name: "open_ports", rules: &[&super::ADMIN_PORTS_CLOSED] };

    /// `public_access.json`
    pub static PUBLIC_ACCESS: ArtifactKind =
        ArtifactKind { name: "public_access", rules: &[&super::STORAGE_NOT_PUBLIC] };

    /// `databases_{region}.json`
    pub static DATABASES: ArtifactKind = ArtifactKind {
        name: "databases",
        rules: &[&super::DATABASE_ENCRYPTED, &super::DATABASE_NOT_PUBLIC, &super::DATABASE_BACKUP],
    };

    /// `detectors_{region}.json`
    pub static DETECTORS: ArtifactKind =
        ArtifactKind { name: "detectors", rules: &[&super::THREAT_DETECTION] };

    /// The kinds of which each region has an artifact, judged together.
    pub static REGIONAL: &[&ArtifactKind] = &[&DISK_ENCRYPTION, &OPEN_PORTS, &DATABASES, &DETECTORS];

    /// Every kind.
    pub static ALL: &[&ArtifactKind] = &[
        &PASSWORD_POLICY,
        &ACCOUNT_SUMMARY,
        &AUDIT_TRAILS,
        &TRAIL_STATUS,
        &EVENT_SELECTORS,
        &LOG_GROUPS,
        &ROOT_ACCOUNT,
        &CREDENTIAL_REPORT,
        &PEOPLE,
        &DISK_ENCRYPTION,
        &OPEN_PORTS,
        &PUBLIC_ACCESS,
        &DATABASES,
        &DETECTORS,
    ];
}
