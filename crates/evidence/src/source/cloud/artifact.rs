//! The records as artifacts: what each is called, how it is written, and by which rule it is judged.

use super::record::{AuditTrailsRecord, LogGroupsRecord, PasswordPolicyRecord, TrailStatus};
use super::rules::password;
use crate::observation::Record;
use crate::rule::Verdict;
use evidence_bundle::document::write_json;
use std::io;

impl Record for PasswordPolicyRecord {
    fn artifact_type(&self) -> &'static str {
        "password_policy"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        Some(password::judge(&self.policy))
    }
}

/// An artifact that is judged together with others.
macro_rules! part {
    ($record:ty, $artifact_type:literal) => {
        impl Record for $record {
            fn artifact_type(&self) -> &'static str {
                $artifact_type
            }

            fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
                write_json(out, self)
            }

            fn judge(&self) -> Option<Verdict> {
                None
            }
        }
    };
}

part!(AuditTrailsRecord, "audit_trails");
part!(TrailStatus, "trail_status");
part!(LogGroupsRecord, "log_groups");
