//! CC6.6 on the code host: a CODEOWNERS file assigns an owner to every file.

use super::Verdict;
use super::codeowners::{CodeOwners, DefaultRule};
use crate::observation::{CodeownersFile, Reason};

/// Passes when the file assigns at least one team or user, and a default rule with an owner covers all files.
pub(super) fn judge(file: &CodeownersFile) -> Verdict {
    let owners = CodeOwners::parse(&file.decoded);
    if owners.owner_count() == 0 {
        return Verdict::fail(Reason::CodeownersNoOwner, format!("{} assigns no owner", file.path));
    }
    match owners.default_rule() {
        DefaultRule::Covers { line, owners } => {
            let noun = if owners == 1 { "owner" } else { "owners" };
            Verdict::pass(format!("{} line {line}: default rule with {owners} {noun}", file.path))
        }
        DefaultRule::CancelledBy { line, by } => Verdict::fail(
            Reason::CodeownersNoDefaultRule,
            format!("{} line {line}: default rule, cancelled by line {by}, which names no owner", file.path),
        ),
        DefaultRule::Missing => {
            Verdict::fail(Reason::CodeownersNoDefaultRule, format!("{} has no default rule", file.path))
        }
    }
}
