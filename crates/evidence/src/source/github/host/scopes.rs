//! The permissions of a token and its end, as far as the host reports them.
//!
//! Every answer contains the scopes of a classic token. No answer contains the permissions of a fine-grained or app
//! token, so they count neither as harmless nor as forbidden.

use jiff::Timestamp;

use evidence_http::Meta;

/// The scopes that cannot change anything, and the two that the specification names.
///
/// An allow-list: any other name is forbidden, including those that the host may add.
const ALLOWED: &[&str] = &[
    "public_repo",
    "repo:read",
    "read:org",
    "read:user",
    "user:email",
    "read:public_key",
    "read:gpg_key",
    "read:ssh_signing_key",
    "read:repo_hook",
    "read:packages",
    "read:project",
    "read:discussion",
    "read:enterprise",
    "read:audit_log",
    "read:network_configurations",
];

/// Scopes that include `read:org`. The host omits a scope that a wider one includes.
const IMPLY_READ_ORG: &[&str] = &["read:org", "write:org", "admin:org"];

/// The host's report about the token's scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scopes {
    /// A classic token with these scopes.
    Classic(Vec<String>),
    /// A classic token without scopes, which can only read public data.
    None,
    /// No header: a fine-grained or app token, whose permissions are never reported.
    NotReported,
}

impl Scopes {
    /// The scopes in an answer.
    pub(crate) fn of(meta: &Meta) -> Scopes {
        Scopes::from_header(meta.header("x-oauth-scopes"))
    }

    /// Parses `X-OAuth-Scopes`; `None` if the header is missing.
    fn from_header(header: Option<&str>) -> Scopes {
        let Some(header) = header else { return Scopes::NotReported };
        let mut names: Vec<String> =
            header.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect();
        names.sort();
        names.dedup();
        if names.is_empty() { Scopes::None } else { Scopes::Classic(names) }
    }

    /// The scopes that could change something. Compares whole names, because `repo` is a part of `public_repo`.
    pub(crate) fn forbidden(&self) -> Vec<&str> {
        match self {
            Scopes::Classic(names) => {
                names.iter().map(String::as_str).filter(|name| !ALLOWED.contains(name)).collect()
            }
            Scopes::None | Scopes::NotReported => Vec::new(),
        }
    }

    /// Whether the token can read the organization as a member; `None` if not reported.
    pub(crate) fn reads_organization(&self) -> Option<bool> {
        match self {
            Scopes::Classic(names) => Some(names.iter().any(|name| IMPLY_READ_ORG.contains(&name.as_str()))),
            Scopes::None => Some(false),
            Scopes::NotReported => None,
        }
    }

    /// The text for `run.json` and the connection line.
    pub(crate) fn text(&self) -> String {
        match self {
            Scopes::Classic(names) => names.join(", "),
            Scopes::None => "none".to_string(),
            Scopes::NotReported => "not reported".to_string(),
        }
    }
}

/// When the token ends, if the host says so.
pub(crate) fn expiration(meta: &Meta) -> Option<Timestamp> {
    expires_at(meta.header("github-authentication-token-expiration")?)
}

/// The time in `github-authentication-token-expiration`, in either of its two formats.
fn expires_at(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let normal = text.strip_suffix(" UTC").map_or_else(|| text.to_string(), |start| format!("{start} +0000"));
    jiff::fmt::strtime::parse("%Y-%m-%d %H:%M:%S %z", &normal).ok()?.to_timestamp().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_expiration_are_read() {
        let table = [
            ("2026-11-24 00:00:00 UTC", Some("2026-11-24T00:00:00Z")),
            ("2026-11-24 01:00:00 +0100", Some("2026-11-24T00:00:00Z")),
            ("2026-12-21 00:00:00 -0500", Some("2026-12-21T05:00:00Z")),
            ("soon", None),
            ("", None),
        ];
        for (text, ends) in table {
            assert_eq!(expires_at(text).map(|ends| ends.to_string()).as_deref(), ends, "{text:?}");
        }
    }

    #[test]
    fn whole_names_are_compared() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("read:org", &[]),
            ("repo:read, read:org", &[]),
            ("public_repo, read:org", &[]),
            ("read:repo_hook", &[]),
            ("repo", &["repo"]),
            ("repo, workflow", &["repo", "workflow"]),
            ("repo:status", &["repo:status"]),
            ("admin:org", &["admin:org"]),
            ("write:org", &["write:org"]),
            ("delete_repo, read:org", &["delete_repo"]),
            ("admin:repo_hook", &["admin:repo_hook"]),
            ("user", &["user"]),
            ("something:new", &["something:new"]),
            ("READ:ORG", &["READ:ORG"]),
            (" read:org ,, read:user ", &[]),
        ];
        for (header, forbidden) in table {
            assert_eq!(Scopes::from_header(Some(header)).forbidden(), *forbidden, "{header:?}");
        }
        assert_eq!(Scopes::from_header(None), Scopes::NotReported);
        assert_eq!(Scopes::from_header(Some("")), Scopes::None);
        assert_eq!(Scopes::from_header(None).text(), "not reported");
        assert_eq!(Scopes::from_header(Some("read:user")).reads_organization(), Some(false));
        assert_eq!(Scopes::from_header(Some("read:org")).reads_organization(), Some(true));
    }
}
