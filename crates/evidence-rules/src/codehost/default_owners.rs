//! A CODEOWNERS file assigns an owner to every file.

use std::collections::HashSet;

use evidence_bundle::document::Category::{Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::{Low, Medium};

use crate::codehost::codeowners::{CodeOwners, DefaultRule, Owner, OwnersFacts};
use crate::codehost::record::{CodeownersError, CodeownersErrors};
use crate::inspection::Judgement;
use crate::rule::{Judge, Reason, Rule, Status, Verdict};

/// A CODEOWNERS file assigns an owner to every file.
pub static CODEOWNERS_DEFAULT_RULE: Rule = Rule {
    code: "codeowners-default-rule",
    title: "CODEOWNERS default rule",
    version: 1,
    kind: "repository",
    expected: "a CODEOWNERS file in the root or in .github/ with a default rule that has an owner",
    reads: "the CODEOWNERS file on the default branch: the first of .github/, the root and docs/ that has one",
    not_checked: "whether an owner's review is required; whether owners exist and have write access, except with `codeowners_errors`; the branch in `branch`, if it is not the default branch",
    permission: "Give a fine-grained token `Contents: read` on this repository.",
    improvement: None,
    settings: &[],
    hints: &[&CODEOWNERS_UNOWNED_PATHS],
    reasons: &[
        &CODEOWNERS_MISSING,
        &CODEOWNERS_IN_DOCS,
        &CODEOWNERS_NO_OWNER,
        &CODEOWNERS_NO_DEFAULT_RULE,
        &CODEOWNERS_NOT_A_FILE,
        &CODEOWNERS_TOO_LARGE,
    ],
};

/// The repository has no CODEOWNERS file.
pub static CODEOWNERS_MISSING: Reason = Reason::new("codeowners_missing", "No CODEOWNERS file").advice(
    Medium,
    Missing,
    "Add .github/CODEOWNERS with a line `* @organization/team`.",
);

/// The only CODEOWNERS file is in `docs/`.
pub static CODEOWNERS_IN_DOCS: Reason = Reason::new("codeowners_in_docs", "CODEOWNERS only in docs/").advice(
    Medium,
    Misconfigured,
    "Move docs/CODEOWNERS to .github/CODEOWNERS: the criterion asks for a file in the root or in \
                      .github/.",
);

/// The CODEOWNERS file assigns no owner.
pub static CODEOWNERS_NO_OWNER: Reason = Reason::new("codeowners_no_owner", "No owner in CODEOWNERS").advice(
    Medium,
    Misconfigured,
    "Add at least one line with a user or team, beginning with a default rule: `* \
                      @organization/team`.",
);

/// The CODEOWNERS file has no default rule in effect.
pub static CODEOWNERS_NO_DEFAULT_RULE: Reason = Reason::new(
    "codeowners_no_default_rule",
    "No default rule in CODEOWNERS",
)
.advice(Medium, Partial, "Add a default rule as the first line: `* @organization/team`.");

/// Something other than a file has the name CODEOWNERS.
pub static CODEOWNERS_NOT_A_FILE: Reason = Reason::new("codeowners_not_a_file", "CODEOWNERS is not a file")
    .advice(Medium, Misconfigured, "Replace it with a regular file at .github/CODEOWNERS.");

/// The CODEOWNERS file is too large for the host to load.
pub static CODEOWNERS_TOO_LARGE: Reason = Reason::new("codeowners_too_large", "CODEOWNERS file too large")
    .advice(Medium, Misconfigured, "Keep the file under 3 MB: the host ignores a larger one.");

/// Lines after the default rule remove ownership.
pub static CODEOWNERS_UNOWNED_PATHS: Reason =
    Reason::new("codeowners_unowned_paths", "Lines without an owner in CODEOWNERS").advice(
        Low,
        Partial,
        "Add an owner to each of these lines, or remove them so that the default rule applies.",
    );

/// A location that the host reads but the criterion does not accept.
const DOCS: &str = "docs/CODEOWNERS";

/// The maximum number of lines or owners in a sentence; the artifact has all of them.
const LISTED: usize = 20;

/// The judgement.
pub static JUDGE: Judge<OwnersFacts> = Judge {
    rule: &CODEOWNERS_DEFAULT_RULE,
    judge: |facts, _| {
        let OwnersFacts { path, organization, owners, unknown } = facts;
        Some(judge(path, organization, owners.clone(), unknown))
    },
};

/// Whether the file passes as far as it shows: then the host can be asked for owners that it does not know.
pub fn passes(judgements: &[Judgement]) -> bool {
    let own = |judgement: &&Judgement| *judgement.rule == CODEOWNERS_DEFAULT_RULE;
    judgements.iter().find(own).is_some_and(|judgement| judgement.verdict.status == Status::Pass)
}

/// Passes if the file assigns at least one team or user, and a default rule with an owner covers all files.
///
/// Teams of an organization other than `organization` do not count, nor do the owners in `unknown`, each with its line
/// and in lower case.
pub fn judge(
    path: &str,
    organization: &str,
    mut owners: CodeOwners,
    unknown: &HashSet<(usize, String)>,
) -> Verdict {
    if path == DOCS {
        return Verdict::fail(
            &CODEOWNERS_IN_DOCS,
            format!("{path} exists; the root and .github/ have no CODEOWNERS file"),
        );
    }
    let is_unknown =
        |line: usize, owner: &Owner| unknown.contains(&(line, owner.to_string().to_ascii_lowercase()));
    let is_foreign = |owner: &Owner| match owner {
        Owner::Team { organization: other, .. } => !other.eq_ignore_ascii_case(organization),
        Owner::User(_) | Owner::Email(_) => false,
    };
    let aside = owners.partition(|line, owner| !is_foreign(owner) && !is_unknown(line, owner));
    let aside = aside.iter().map(|(line, owner)| {
        let why = if is_foreign(owner) { "a team of another organization" } else { "unknown to the host" };
        format!("{owner} in line {line} ({why})")
    });
    let aside = sentence("; not counted: ", aside);
    if owners.owner_count() == 0 {
        return Verdict::fail(&CODEOWNERS_NO_OWNER, format!("{path} assigns no owner{aside}"));
    }
    match owners.default_rule() {
        DefaultRule::Covers { line, owners: count } => {
            let noun = if count == 1 { "owner" } else { "owners" };
            let decided = line_text(&owners, line);
            let unowned = owners.unowned_after(line);
            let unowned = unowned.iter().map(|line| format!("{} ({})", line.line, line.pattern));
            let unowned = sentence("; without an owner: line ", unowned);
            let hint = (!unowned.is_empty()).then_some(&CODEOWNERS_UNOWNED_PATHS);
            let said =
                format!("{path} line {line} ({decided}): default rule with {count} {noun}{unowned}{aside}");
            Verdict { hint, ..Verdict::pass(said) }
        }
        DefaultRule::CancelledBy { line, by } => Verdict::fail(
            &CODEOWNERS_NO_DEFAULT_RULE,
            format!(
                "{path} line {line} ({}): default rule, overridden by line {by} ({}), which names no owner{aside}",
                line_text(&owners, line),
                line_text(&owners, by)
            ),
        ),
        DefaultRule::Missing => {
            Verdict::fail(&CODEOWNERS_NO_DEFAULT_RULE, format!("{path} has no default rule{aside}"))
        }
    }
}

/// The owners that the host calls unknown in the file at `path`: each with its line, in lower case.
pub fn unknown_owners(path: &str, errors: &CodeownersErrors) -> HashSet<(usize, String)> {
    let owner = |error: &CodeownersError| {
        let is_unknown = error.kind.value()?.trim().eq_ignore_ascii_case("unknown owner");
        let is_here = error.path.value().is_none_or(|at| at.trim_start_matches('/') == path);
        let line = usize::try_from(*error.line.value()?).ok()?;
        let column = usize::try_from(*error.column.value()?).ok()?.checked_sub(1)?;
        let rest: String = error.source.value()?.chars().skip(column).collect();
        let owner = rest.split_whitespace().next()?.to_ascii_lowercase();
        (is_unknown && is_here).then_some((line, owner))
    };
    errors.errors.value().into_iter().flatten().filter_map(owner).collect()
}

/// A line that decides: its pattern, and its owners that count.
fn line_text(owners: &CodeOwners, number: usize) -> String {
    let Some(line) = owners.rules.iter().find(|line| line.line == number) else { return String::new() };
    let mut text = line.pattern.clone();
    for owner in line.owners.iter().take(LISTED) {
        text.push_str(&format!(" {owner}"));
    }
    match line.owners.len().saturating_sub(LISTED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The parts joined after `beginning`; empty without parts.
fn sentence(beginning: &str, mut parts: impl Iterator<Item = String>) -> String {
    let shown = parts.by_ref().take(LISTED).collect::<Vec<_>>().join(", ");
    match (shown.is_empty(), parts.count()) {
        (true, _) => String::new(),
        (false, 0) => format!("{beginning}{shown}"),
        (false, more) => format!("{beginning}{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason as shared};

    /// Each form that the judgement distinguishes, with its description.
    #[test]
    fn every_form_of_a_file() {
        let (ok, no_owner, no_default) = (&shared::OK, &CODEOWNERS_NO_OWNER, &CODEOWNERS_NO_DEFAULT_RULE);
        for (text, status, expected, said) in [
            ("", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("# nobody\n*\n", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("/docs @acme/docs\n", Status::Fail, no_default, "CODEOWNERS has no default rule"),
            ("* @acme/all\n", Status::Pass, ok, "CODEOWNERS line 1 (* @acme/all): default rule with 1 owner"),
            (
                "* @ACME/all oops@\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 1 (* @ACME/all): default rule with 1 owner",
            ),
            (
                "# All\n* @acme/all @acme/more\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 2 (* @acme/all @acme/more): default rule with 2 owners",
            ),
            (
                "* @acme/all\n*\n",
                Status::Fail,
                no_default,
                "CODEOWNERS line 1 (* @acme/all): default rule, overridden by line 2 (*), which names no owner",
            ),
            (
                "* @other/all\n",
                Status::Fail,
                no_owner,
                "CODEOWNERS assigns no owner; not counted: @other/all in line 1 (a team of another organization)",
            ),
            (
                "* @other/all\n/web @ada\n",
                Status::Fail,
                no_default,
                "CODEOWNERS has no default rule; not counted: @other/all in line 1 (a team of another organization)",
            ),
            (
                "* @ghost @ada\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 1 (* @ada): default rule with 1 owner; not counted: @ghost in line 1 (unknown to the host)",
            ),
            (
                "* @acme/all\n/docs\n*.md @other/x\n/lib\n/lib @ada\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 1 (* @acme/all): default rule with 1 owner; without an owner: line 2 (/docs), 3 (*.md); not \
                 counted: @other/x in line 3 (a team of another organization)",
            ),
        ] {
            let unknown = HashSet::from([(1, "@ghost".to_string())]);
            let verdict = judge("CODEOWNERS", "acme", CodeOwners::parse(text.as_bytes()), &unknown);
            assert_eq!((verdict.status, verdict.reason), (status, expected), "{text}");
            assert_eq!(verdict.actual.as_deref(), Some(said), "{text}");
            assert_eq!(verdict.hint.is_some(), said.contains("without an owner"), "{text}");
        }
        let verdict = judge(DOCS, "acme", CodeOwners::parse(b"* @acme/all"), &HashSet::new());
        assert_eq!((verdict.status, verdict.reason), (Status::Fail, &CODEOWNERS_IN_DOCS));
    }

    #[test]
    fn a_sentence_has_an_end() {
        let text: String =
            std::iter::once("* @a\n".to_string()).chain((1..=30).map(|n| format!("/{n}\n"))).collect();
        let verdict = judge("CODEOWNERS", "acme", CodeOwners::parse(text.as_bytes()), &HashSet::new());
        assert!(verdict.actual.unwrap().ends_with("21 (/20) and 10 more"));
    }
}
