//! Maps a path to an endpoint. Paths are split before decoding, so `%2F` stays inside a branch's name.

use super::app::Whose;
use super::part;
use super::parts::{ORGANIZATION_PARTS, PARTS};
use percent_encoding::percent_decode_str;

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Root,
    User,
    RateLimit,
    Organization(OrganizationPath),
    OrganizationRepositories(OrganizationPath),
    /// An endpoint below an organization with a file of its own.
    OrganizationPart(OrganizationPath, &'static part::OrganizationPart),
    Repository(RepositoryPath, Part),
    /// The search for issues and pull requests.
    Search,
    /// An app's installation.
    Installation(Whose),
    Installations,
    /// The tokens of an installation with this number.
    AccessTokens(String),
    Nothing,
}

/// An organization in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OrganizationPath {
    Login(String),
    Id(String),
}

/// A repository in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RepositoryPath {
    Name { owner: String, name: String },
    Id(String),
}

/// The part of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Itself,
    /// An endpoint with a file of its own, and the parameter of its path.
    Known(&'static part::Part, String),
    Contents(String),
    /// Contents with a trailing slash, which redirects.
    ContentsSlash,
    Nothing,
}

impl Route {
    pub(super) fn of(path: &str) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .skip(1)
            .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
            .collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            [""] | [] => Self::Root,
            ["user"] => Self::User,
            ["search", "issues"] => Self::Search,
            ["rate_limit"] => Self::RateLimit,
            ["orgs", login] if !login.is_empty() => {
                Self::Organization(OrganizationPath::Login((*login).to_owned()))
            }
            ["organizations", id] => Self::Organization(OrganizationPath::Id((*id).to_owned())),
            ["orgs", login, "repos"] => {
                Self::OrganizationRepositories(OrganizationPath::Login((*login).to_owned()))
            }
            ["organizations", id, "repos"] => {
                Self::OrganizationRepositories(OrganizationPath::Id((*id).to_owned()))
            }
            ["orgs", login, "installation"] => Self::Installation(Whose::Organization((*login).to_owned())),
            ["app", "installations"] => Self::Installations,
            ["app", "installations", id] => Self::Installation(Whose::Number((*id).to_owned())),
            ["app", "installations", id, "access_tokens"] => Self::AccessTokens((*id).to_owned()),
            ["repos", owner, name, rest @ ..] => Self::Repository(
                RepositoryPath::Name { owner: (*owner).to_owned(), name: (*name).to_owned() },
                part(rest),
            ),
            ["repositories", id, rest @ ..] => {
                Self::Repository(RepositoryPath::Id((*id).to_owned()), part(rest))
            }
            ["orgs", login, rest @ ..] => organization_part(rest).map_or(Self::Nothing, |part| {
                Self::OrganizationPart(OrganizationPath::Login((*login).to_owned()), part)
            }),
            ["organizations", id, rest @ ..] => organization_part(rest).map_or(Self::Nothing, |part| {
                Self::OrganizationPart(OrganizationPath::Id((*id).to_owned()), part)
            }),
            _ => Self::Nothing,
        }
    }

    /// The endpoint's name, since secondary limits count per endpoint.
    pub(super) fn endpoint(&self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
            Self::Search => "search",
            Self::RateLimit => "rate_limit",
            Self::Organization(_) => "organization",
            Self::OrganizationRepositories(_) => "repositories",
            Self::OrganizationPart(_, part) => part.name,
            Self::Repository(_, part) => match part {
                Part::Itself => "repository",
                Part::Known(known, _) => known.name,
                Part::Contents(_) | Part::ContentsSlash => "contents",
                Part::Nothing => "nothing",
            },
            Self::Installation(_) => "installation",
            Self::Installations => "installations",
            Self::AccessTokens(_) => "access_tokens",
            Self::Nothing => "nothing",
        }
    }

    /// `X-Accepted-OAuth-Scopes`: any one of them suffices. Empty if the host does not report it.
    pub(super) fn accepted_scopes(&self) -> &'static str {
        match self {
            Self::Organization(_) => "admin:org, read:org, repo, user, write:org",
            Self::Repository(_, Part::Itself) => "repo",
            _ => "",
        }
    }

    /// `X-Accepted-GitHub-Permissions`.
    pub(super) fn accepted_permissions(&self) -> &'static str {
        match self {
            Self::Organization(_)
            | Self::Search
            | Self::User
            | Self::RateLimit
            | Self::Root
            | Self::Installation(_)
            | Self::Installations
            | Self::AccessTokens(_)
            | Self::Nothing => "allows_permissionless_access=true",
            Self::OrganizationRepositories(_) => "metadata=read",
            Self::OrganizationPart(_, part) => part.permissions,
            Self::Repository(_, part) => match part {
                Part::Known(known, _) => known.permissions,
                Part::Contents(_) | Part::ContentsSlash => "contents=read",
                Part::Itself | Part::Nothing => "metadata=read",
            },
        }
    }
}

fn organization_part(rest: &[&str]) -> Option<&'static part::OrganizationPart> {
    ORGANIZATION_PARTS.iter().copied().find(|known| known.path == rest)
}

fn part(rest: &[&str]) -> Part {
    match rest {
        [] => Part::Itself,
        ["contents"] | ["contents", ""] => Part::Contents(String::new()),
        ["contents", path @ ..] => match path.split_last() {
            Some((&"", _)) => Part::ContentsSlash,
            _ if path.iter().any(|part| matches!(*part, "" | "." | "..")) => Part::Nothing,
            _ => Part::Contents(path.join("/")),
        },
        _ => PARTS
            .iter()
            .find_map(|known| Some(Part::Known(known, known.parameter(rest)?.to_owned())))
            .unwrap_or(Part::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let at = |part| Route::Repository(RepositoryPath::Name { owner: "a".into(), name: "b".into() }, part);
        let known = |name: &str, parameter: &str| {
            let known = PARTS.iter().find(|known| known.name == name).unwrap();
            Part::Known(known, parameter.to_owned())
        };
        for (path, route) in [
            ("/", Route::Root),
            ("/user", Route::User),
            ("/user/", Route::Nothing),
            ("/orgs/acme", Route::Organization(OrganizationPath::Login("acme".into()))),
            ("/orgs/acme/", Route::Nothing),
            ("/orgs//repos", Route::OrganizationRepositories(OrganizationPath::Login(String::new()))),
            ("/repos/a/b", at(Part::Itself)),
            ("/repos/a/b/branches/release%2Fv2/protection", at(known("protection", "release/v2"))),
            ("/repos/a/b/branches/release/v2/protection", at(Part::Nothing)),
            ("/repos/a/b/contents/.github/CODEOWNERS", at(Part::Contents(".github/CODEOWNERS".into()))),
            ("/repos/a/b/contents/.github%2FCODEOWNERS", at(Part::Contents(".github/CODEOWNERS".into()))),
            ("/repos/a/b/rules/branches/release%2Fv2", at(known("rules", "release/v2"))),
            ("/repos/a/b/rulesets/42", at(known("ruleset", "42"))),
            ("/orgs/a/rulesets/42", Route::Nothing),
            ("/repos/a/b/codeowners/errors", at(known("codeowners_errors", ""))),
            ("/repos/a/b/contents/js/", at(Part::ContentsSlash)),
            ("/repos/a/b/contents/../secret", at(Part::Nothing)),
            (
                "/repositories/7/branches/main",
                Route::Repository(RepositoryPath::Id("7".into()), known("branch", "main")),
            ),
        ] {
            assert_eq!(Route::of(path), route, "{path}");
        }
    }
}
