//! CC6.6: a CODEOWNERS file assigns an owner to every file.

use super::reason;
use crate::evaluate::Verdict;
use crate::source::codehost::codeowners::{CodeOwners, DefaultRule};
use crate::source::codehost::record::CodeownersFile;

/// Passes when the file assigns at least one team or user, and a default rule with an owner covers all files.
pub fn judge(file: &CodeownersFile) -> Verdict {
    let owners = CodeOwners::parse(&file.decoded);
    if owners.owner_count() == 0 {
        return Verdict::fail(&reason::CODEOWNERS_NO_OWNER, format!("{} assigns no owner", file.path));
    }
    match owners.default_rule() {
        DefaultRule::Covers { line, owners } => {
            let noun = if owners == 1 { "owner" } else { "owners" };
            Verdict::pass(format!("{} line {line}: default rule with {owners} {noun}", file.path))
        }
        DefaultRule::CancelledBy { line, by } => Verdict::fail(
            &reason::CODEOWNERS_NO_DEFAULT_RULE,
            format!("{} line {line}: default rule, cancelled by line {by}, which names no owner", file.path),
        ),
        DefaultRule::Missing => {
            Verdict::fail(&reason::CODEOWNERS_NO_DEFAULT_RULE, format!("{} has no default rule", file.path))
        }
    }
}
