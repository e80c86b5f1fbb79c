//! The records as artifacts: what each is called, how it is written, and by which rule it is judged.

use super::record::{AdminRoles, TwoStepVerification, UserLifecycle};
use super::rules::{administrators, lifecycle};
use crate::observation::Record;
use crate::rule::Verdict;
use evidence_bundle::document::write_json;
use std::io;

impl Record for TwoStepVerification {
    fn artifact_type(&self) -> &'static str {
        "two_step_verification"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    /// The questions have counted the users already.
    fn written(&mut self) {
        self.users = Vec::new();
    }

    /// Each domain has a check of its own.
    fn judge(&self) -> Option<Verdict> {
        None
    }
}

impl Record for AdminRoles {
    fn artifact_type(&self) -> &'static str {
        "admin_roles"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        administrators::judge(self)
    }
}

impl Record for UserLifecycle {
    fn artifact_type(&self) -> &'static str {
        "user_lifecycle"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        lifecycle::judge(self)
    }
}
