//! The call about an organization, which is the connection test too.

use serde::{Deserialize, Serialize};

use crate::json::object;
use crate::source::github::host::api::{JSON, MIB};
use crate::source::github::host::compare::differs;
use crate::source::github::host::kept::{json_bytes, map};
use evidence_http::call::decoded;
use evidence_http::{Call, Keeping, ParseError, Subject};
use evidence_rules::codehost::record::OrganizationSettings;

/// The connection test, so a resumed run requests it anew. Its headers report the token's scopes.
pub(crate) static ORGANIZATION: Call<Organization> = Call {
    name: "/orgs/{org}",
    purpose: "the connection test, `two-factor-required` and `default-permission`",
    times: "once; one answer serves all",
    kind: None,
    media_type: JSON,
    // A real answer is under 4 kB.
    limit: MIB,
    parse: Organization::parse,
    subject: Some(Subject {
        fields: "`login`",
        other: |organization, about| {
            let asked = about.subject.strip_prefix("/orgs/")?;
            let login = organization.settings.login.value()?;
            differs(login.eq_ignore_ascii_case(&decoded(asked)), login, asked)
        },
    }),
    keep: Some(Keeping {
        headers: &["x-oauth-scopes", "github-authentication-token-expiration"],
        ..Keeping::new(1, reduced)
    }),
};

/// `GET /orgs/{org}`
#[derive(Debug, Clone)]
pub(crate) struct Organization {
    pub(crate) settings: OrganizationSettings,
    pub(crate) counts: RepositoryCounts,
}

/// The organization's repository counts, as far as this token may see them.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(crate) struct RepositoryCounts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) public_repos: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_private_repos: Option<u64>,
}

impl RepositoryCounts {
    /// How many repositories there are, if the host reports both counts.
    pub(crate) fn total(&self) -> Option<u64> {
        Some(self.public_repos?.saturating_add(self.total_private_repos?))
    }
}

impl Organization {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Organization, ParseError> {
        let settings: OrganizationSettings = object(bytes)?;
        if settings.login.value().is_none() && settings.id.value().is_none() {
            return Err(ParseError::Shape("neither the login nor the id of an organization".to_string()));
        }
        let counts = object(bytes).unwrap_or_default();
        Ok(Organization { settings, counts })
    }
}

fn reduced(organization: &Organization) -> Vec<u8> {
    let mut kept = map(&organization.settings);
    kept.extend(map(&organization.counts));
    json_bytes(&kept)
}
