//! CC6.6: a CODEOWNERS file assigns an owner to every file.

use super::reason;
use crate::rule::Verdict;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason as shared};

    /// Each form that the judgement tells apart, with what is told of it.
    #[test]
    fn every_form_of_a_file() {
        let (ok, no_owner, no_default) =
            (&shared::OK, &reason::CODEOWNERS_NO_OWNER, &reason::CODEOWNERS_NO_DEFAULT_RULE);
        for (text, status, expected, said) in [
            ("", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("# nobody\n*\n", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("/docs @acme/docs\n", Status::Fail, no_default, "CODEOWNERS has no default rule"),
            ("* @acme/all\n", Status::Pass, ok, "CODEOWNERS line 1: default rule with 1 owner"),
            (
                "# All\n* @acme/all @acme/more\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 2: default rule with 2 owners",
            ),
            (
                "* @acme/all\n*\n",
                Status::Fail,
                no_default,
                "CODEOWNERS line 1: default rule, cancelled by line 2, which names no owner",
            ),
        ] {
            let verdict = judge(&CodeownersFile {
                name: "CODEOWNERS".to_string(),
                path: "CODEOWNERS".to_string(),
                content: String::new(),
                encoding: "base64",
                size: 0,
                decoded: text.as_bytes().to_vec(),
            });
            assert_eq!((verdict.status, verdict.reason), (status, expected), "{text}");
            assert_eq!(verdict.actual.as_deref(), Some(said), "{text}");
        }
    }
}
