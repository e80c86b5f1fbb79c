//! The records as artifacts: what each is called, how it is written, and by which rule it is judged.

use super::record::{BranchProtection, CodeownersFile, OrganizationSettings};
use super::rules::{branch_protection, default_owners, two_factor};
use crate::observation::Record;
use crate::rule::Verdict;
use evidence_bundle::document::write_json;
use std::io;

impl Record for OrganizationSettings {
    fn artifact_type(&self) -> &'static str {
        "org_settings"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        Some(two_factor::judge(self))
    }
}

impl Record for BranchProtection {
    fn artifact_type(&self) -> &'static str {
        "branch_protection"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        Some(branch_protection::judge(self))
    }
}

impl Record for CodeownersFile {
    fn artifact_type(&self) -> &'static str {
        "codeowners"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn decoded(&self) -> Option<&[u8]> {
        Some(&self.decoded)
    }

    fn written(&mut self) {
        // Up to 4 MB that are in the artifact's bytes now, and in `decoded` for the judgement.
        self.content = String::new();
    }

    fn judge(&self) -> Option<Verdict> {
        Some(default_owners::judge(self))
    }
}
