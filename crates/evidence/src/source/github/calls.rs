//! The code host's calls, all by GET, one row each. A row defines the call's address, its limit, its parser, what is
//! kept between runs, and its entry in the documents.
//!
//! Invariant: [`wire`](super::wire) must parse a kept record into the same value as the original answer. A lost field
//! would look like a changed setting. Only the name of the subject may be lost: it was compared before.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use super::answer::said;
use super::interpret::{self, RepositoryName};
use super::owners;
use super::subject;
use super::wire::{self, Contents, Listing, Organization, Repository, User};
use crate::observation::{Inspection, Observation};
use evidence_rules::codehost::branch_protection::{self, BRANCH_PROTECTION, BranchFacts, passes_alone};
use evidence_rules::codehost::record::{
    BranchProtection, BranchRule, BranchState, CodeownersErrors, Ruleset,
};
use evidence_text::saturating_u64;

use crate::source::endpoint::{Endpoint, endpoint};
use crate::source::{CollectionItem, PopulationScope};
use evidence_bundle::document;
use evidence_http::{Call, Keeping, Meta, Reply};

const MIB: usize = 1024 * 1024;
const JSON: &str = "application/vnd.github+json";
const RAW: &str = "application/vnd.github.raw+json";

/// Repositories per page: the host's maximum.
pub(super) const PAGE_SIZE: u64 = 100;

/// Every call. The seeds of the fuzzer depend on the order: append new calls.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(ORGANIZATION, organization_offline),
    endpoint!(REPOSITORIES, repositories_offline),
    endpoint!(PROTECTION, protection_offline),
    endpoint!(PLACES[1].record, contents_offline),
    endpoint!(PLACES[1].raw, nothing),
    endpoint!(PLACES[0].record, contents_offline),
    endpoint!(PLACES[0].raw, nothing),
    endpoint!(REPOSITORY, nothing),
    endpoint!(RULES, rules_offline),
    endpoint!(RULESET, nothing),
    endpoint!(PLACES[2].record, contents_offline),
    endpoint!(PLACES[2].raw, nothing),
    endpoint!(ERRORS, nothing),
    endpoint!(BRANCH, nothing),
    endpoint!(PLACES[1].directory, nothing),
    endpoint!(PLACES[0].directory, nothing),
    endpoint!(PLACES[2].directory, nothing),
    endpoint!(USER, nothing),
];

/// The connection test, so a resumed run requests it anew. Its headers report the token's scopes.
pub(super) static ORGANIZATION: Call<Organization> = Call {
    name: "/orgs/{org}",
    purpose: "the connection test, and `two-factor-required`",
    times: "once; one answer serves both",
    kind: None,
    media_type: JSON,
    // A real answer is under 4 kB.
    limit: MIB,
    parse: Organization::parse,
    subject: Some(subject::ORGANIZATION),
    keep: Some(Keeping {
        headers: &["x-oauth-scopes", "github-authentication-token-expiration"],
        ..Keeping::new(1, wire::reduced_organization)
    }),
};

/// Whom the token acts for. Kept answers depend on it, so it is not kept itself.
pub(super) static USER: Call<User> = Call {
    name: "/user",
    purpose: "the account behind the token, for `run.json`; `--resume` continues the run of the same account",
    times: "once; never for an app's installation token",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse: wire::user,
    subject: None,
    keep: None,
};

/// A page of the listing, sorted by name: in the default order, by age, a repository created meanwhile would shift
/// every page. The headers contain the next page and whether repositories were omitted. A resumed run requests it anew.
pub(super) static REPOSITORIES: Call<Vec<Repository>> = Call {
    name: "/orgs/{org}/repos?per_page=100&sort=full_name&direction=asc",
    purpose: "discovery, with `repos: \"*\"`",
    times: "once per 100 repositories",
    kind: Some("repository discovery"),
    media_type: JSON,
    // A page of 100 repositories is about 0.6 MB.
    limit: 16 * MIB,
    parse: wire::repositories,
    subject: None,
    keep: Some(Keeping { headers: &["link", "x-github-sso"], ..Keeping::new(2, wire::json_bytes) }),
};

/// The branch protection of one branch.
pub(super) static PROTECTION: Call<BranchProtection> = Call {
    name: "/repos/{owner}/{repo}/branches/{branch}/protection",
    purpose: "`branch-protection`",
    times: "once per repository",
    kind: Some("branch protection"),
    media_type: JSON,
    // Long lists of people and teams: each entry is under 3 kB and the host allows 100 of each.
    limit: 4 * MIB,
    parse: wire::protection,
    subject: Some(subject::PROTECTION),
    keep: Some(Keeping {
        // A rule that passes alone, or the host's report that there is no rule. Everything else is judged together with
        // rulesets, which are requested anew.
        resumable: |reply| match reply {
            Ok(answered) => passes_alone(&answered.value),
            Err(refused) => said(refused).is_settled(),
        },
        ..Keeping::new(3, wire::reduced_protection)
    }),
};

/// A location of CODEOWNERS. Each is given up separately: a missing file in one says nothing about another.
pub(super) struct CodeownersLocation {
    /// The path in the repository.
    pub(super) path: &'static str,
    /// The file's record.
    pub(super) record: Call<Contents>,
    /// The file's own bytes: for files of 1 to 3 MB, whose content the record omits.
    pub(super) raw: Call<Vec<u8>>,
    /// The directory of the file. Its listing has an entity tag even if the file is missing.
    pub(super) directory: Call<Listing>,
}

/// The locations of the file, in the host's own order: the first existing file takes effect.
pub(super) static PLACES: [CodeownersLocation; 3] = [
    place(
        ".github/CODEOWNERS",
        "/repos/{owner}/{repo}/contents/.github/CODEOWNERS",
        "once per repository",
        "`codeowners-default-rule`; for `branch-protection`, whether a repository without the branch is empty",
        directory(
            "/repos/{owner}/{repo}/contents/.github",
            "once for a repository that has this directory and no CODEOWNERS in it, with `revalidate: true`",
        ),
    ),
    place(
        "CODEOWNERS",
        "/repos/{owner}/{repo}/contents/CODEOWNERS",
        "once for a repository that has no file in `.github/`",
        "`codeowners-default-rule`",
        directory(
            "/repos/{owner}/{repo}/contents/",
            "once for a repository that has no CODEOWNERS in `.github/`, with `revalidate: true`",
        ),
    ),
    place(
        "docs/CODEOWNERS",
        "/repos/{owner}/{repo}/contents/docs/CODEOWNERS",
        "once for a repository that has no file in `.github/` or the root",
        "`codeowners-default-rule`",
        directory(
            "/repos/{owner}/{repo}/contents/docs",
            "once for a repository that has this directory and no CODEOWNERS in `.github/` or the root, with \
                `revalidate: true`",
        ),
    ),
];

const fn place(
    path: &'static str,
    name: &'static str,
    times: &'static str,
    purpose: &'static str,
    directory: Call<Listing>,
) -> CodeownersLocation {
    let record = Call {
        name,
        purpose,
        times,
        kind: Some(path),
        media_type: JSON,
        // Up to 1 MB in base64; a directory of 1,000 files is about 1 MB.
        limit: 8 * MIB,
        parse: Contents::parse,
        subject: Some(subject::CONTENTS),
        keep: Some(Keeping {
            clear: Contents::decoded,
            resumable: is_whole_file,
            ..Keeping::new(4, wire::reduced_contents)
        }),
    };
    let raw = Call {
        name,
        purpose: "the same, for the file's own bytes",
        times: "once for a file over 1 MB in this place",
        kind: Some("large CODEOWNERS files"),
        media_type: RAW,
        // The host does not load files of this size or larger.
        limit: 3 * MIB,
        parse: |bytes| Ok(bytes.to_vec()),
        subject: None,
        keep: Some(Keeping::new(5, Vec::clone)),
    };
    CodeownersLocation { path, record, raw, directory }
}

/// The listing of a directory. Only the names on the way to CODEOWNERS are kept.
const fn directory(name: &'static str, times: &'static str) -> Call<Listing> {
    Call {
        name,
        purpose: "`codeowners-default-rule`: what is missing, in an answer that has an entity tag",
        times,
        kind: Some("directories"),
        media_type: JSON,
        // The host truncates it at 1,000 entries, about 1 MB.
        limit: 8 * MIB,
        parse: Listing::parse,
        subject: Some(subject::DIRECTORY),
        keep: Some(Keeping::new(10, wire::reduced_listing)),
    }
}

/// A branch. Only its name and whether it is protected are kept, because the commit names people.
pub(super) static BRANCH: Call<BranchState> = Call {
    name: "/repos/{owner}/{repo}/branches/{branch}",
    purpose: "`branch-protection`: whether there is a classic rule, where the host hides the rule; no classic rule, in \
              an answer that has an entity tag",
    times: "once for a repository whose classic protection is hidden and that no ruleset protects, and with \
            `revalidate: true` for one without classic protection",
    kind: Some("branches"),
    media_type: JSON,
    // A commit with a long message and signature.
    limit: 4 * MIB,
    parse: wire::branch,
    subject: Some(subject::BRANCH),
    keep: Some(Keeping::new(11, wire::json_bytes)),
};

/// A repository that only the configuration names: whether it is visible, its default branch, and whether it is
/// archived.
pub(super) static REPOSITORY: Call<Repository> = Call {
    name: "/repos/{owner}/{repo}",
    purpose: "default branch and archived state; distinguishing \"no such repository\" from \"not visible to the token\"",
    times: "once for each repository that `repos` names; once more for a repository that was shown and about which every \
            later answer is `Not Found`",
    kind: Some("repository"),
    media_type: JSON,
    // A real answer is under 20 kB.
    limit: MIB,
    parse: wire::repository,
    subject: Some(subject::REPOSITORY),
    keep: Some(Keeping::new(6, wire::json_bytes)),
};

/// A page of the rules from rulesets of every level for one branch.
pub(super) static RULES: Call<Vec<BranchRule>> = Call {
    name: "/repos/{owner}/{repo}/rules/branches/{branch}?per_page=100",
    purpose: "`branch-protection`: the rules of rulesets",
    times: "once per 100 rules for a repository whose classic protection does not pass",
    kind: Some("branch rules"),
    media_type: JSON,
    // A hundred rules with long lists of checks; most answers are under 10 kB.
    limit: 4 * MIB,
    parse: wire::rules,
    subject: Some(subject::RULES),
    keep: Some(Keeping { headers: &["link"], ..Keeping::new(7, wire::json_bytes) }),
};

/// A ruleset: the only answer that says who can bypass it.
pub(super) static RULESET: Call<Ruleset> = Call {
    name: "/repos/{owner}/{repo}/rulesets/{ruleset}",
    purpose: "`branch-protection`: who can bypass a ruleset",
    times: "once for each ruleset of a repository on whose bypass list the result depends; an organization's ruleset \
            once for all repositories, if the user is an organization owner",
    kind: Some("rulesets"),
    media_type: JSON,
    limit: 4 * MIB,
    parse: wire::ruleset,
    subject: Some(subject::RULESET),
    keep: Some(Keeping::new(8, wire::json_bytes)),
};

/// The problems that the host finds in the CODEOWNERS file in effect.
pub(super) static ERRORS: Call<CodeownersErrors> = Call {
    name: "/repos/{owner}/{repo}/codeowners/errors",
    purpose: "`codeowners-default-rule`: owners that the host does not know",
    times: "with `codeowners_errors: true`, once for a repository whose file passes",
    kind: Some("CODEOWNERS errors"),
    media_type: JSON,
    limit: 8 * MIB,
    parse: wire::codeowners_errors,
    subject: None,
    keep: Some(Keeping::new(9, wire::json_bytes)),
};

/// A file with its content. Any other answer about a location is judged together with those about the other locations.
fn is_whole_file(reply: &Reply<Contents>) -> bool {
    let Ok(answered) = reply else { return false };
    let Contents::File(file) = &answered.value else { return false };
    file.content.as_deref().is_some_and(|content| !content.is_empty()) || file.size == Some(0)
}

/// The repository for an answer that is read on its own.
static SUBJECT: LazyLock<Arc<str>> = LazyLock::new(|| "acme/web".into());

fn target() -> RepositoryName<'static> {
    RepositoryName::new(&SUBJECT)
}

fn organization_offline(organization: Organization) -> Vec<CollectionItem> {
    vec![CollectionItem::Inspected(interpret::organization("acme", &organization.settings, &Meta::default()))]
}

fn repositories_offline(repositories: Vec<Repository>) -> Vec<CollectionItem> {
    let count = saturating_u64(repositories.len());
    vec![CollectionItem::Population {
        discovered: Some(count),
        expected: 0,
        text: String::new(),
        members: Vec::new(),
        scope: PopulationScope::new(document::Scope::Unconfirmed, "acme", super::MEMBER, count),
    }]
}

fn protection_offline(protection: BranchProtection) -> Vec<CollectionItem> {
    let (observation, classic) = interpret::protection_shown(target(), protection, &Meta::default());
    judged_offline(observation, BranchFacts { classic, ..BranchFacts::unprotected("main") })
}

/// Assumes that there is no classic rule, and that no ruleset's bypass list was read.
fn rules_offline(rules: Vec<BranchRule>) -> Vec<CollectionItem> {
    let (observation, rules) = interpret::rules_shown(target(), rules, &Meta::default());
    judged_offline(observation, BranchFacts { rules, ..BranchFacts::unprotected("main") })
}

fn judged_offline(observation: Observation, facts: BranchFacts) -> Vec<CollectionItem> {
    let verdict = branch_protection::judge(&facts);
    let inspection =
        Inspection::from(observation).concluded(&BRANCH_PROTECTION, Arc::clone(&SUBJECT), verdict);
    vec![CollectionItem::Inspected(inspection)]
}

/// Empty if the file must be read separately, or is not a file.
fn contents_offline(contents: Contents) -> Vec<CollectionItem> {
    let Contents::File(file) = contents else { return Vec::new() };
    let reading = owners::file_shown(target(), "CODEOWNERS", &file, &Meta::default());
    reading
        .map(|reading| CollectionItem::Inspected(reading.judged(target(), &HashSet::new())))
        .into_iter()
        .collect()
}

/// An answer without a meaning of its own.
fn nothing<T>(_: T) -> Vec<CollectionItem> {
    Vec::new()
}

#[cfg(test)]
mod tests;
