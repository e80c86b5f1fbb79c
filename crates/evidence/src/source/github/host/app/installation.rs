//! The calls about the app itself: its installation, and a token of it.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::super::api::{JSON, MIB};
use super::super::compare::differs;
use crate::json::object;
use evidence_http::call::decoded;
use evidence_http::{Call, ParseError, Subject};

/// Where the app is installed for the organization.
pub(crate) static INSTALLATION: Call<Installation> = Call {
    name: "/orgs/{org}/installation",
    purpose: "with `mode: app`: the app's installation and its permissions",
    times: "once, without `installation_id`",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse: Installation::parse,
    subject: Some(Subject {
        fields: "`account.login`",
        other: |installation, about| {
            let asked = about.subject.strip_prefix("/orgs/")?.strip_suffix("/installation")?;
            let login = &installation.account.login;
            differs(login.eq_ignore_ascii_case(&decoded(asked)), login, asked)
        },
    }),
    keep: None,
};

/// The installation that the configuration names.
pub(crate) static NAMED_INSTALLATION: Call<Installation> = Call {
    name: "/app/installations/{installation}",
    purpose: "with `mode: app`: the app's installation and its permissions",
    times: "once, with `installation_id`",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse: Installation::parse,
    subject: Some(Subject {
        fields: "`id`",
        other: |installation, about| {
            let asked = about.subject.strip_prefix("/app/installations/")?;
            let id = installation.id.to_string();
            differs(id == asked, &id, asked)
        },
    }),
    keep: None,
};

/// Every installation of the app.
pub(crate) static INSTALLATIONS: Call<Vec<Installation>> = Call {
    name: "/app/installations?per_page=100",
    purpose: "`evidence fleet` with `mode: app`: where the app is installed",
    times: "once per 100 installations",
    kind: None,
    media_type: JSON,
    limit: 8 * MIB,
    parse: |bytes| Ok(serde_json::from_slice(bytes)?),
    subject: None,
    keep: None,
};

/// A token of the installation. The only POST of this source: it changes nothing that the host keeps for others, and the
/// token ends by itself.
pub(crate) static TOKEN: Call<InstallationToken> = Call {
    name: "/app/installations/{installation}/access_tokens",
    purpose: "with `mode: app`: a token with only the permissions that the rules need (POST)",
    times: "once; again five minutes before it ends, after a pause of more than a minute, and when the host refuses it",
    kind: None,
    media_type: "application/json",
    limit: MIB,
    parse: InstallationToken::parse,
    subject: None,
    keep: None,
};

/// An installation of the app. Nothing else of the answer is read.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Installation {
    pub(crate) id: u64,
    pub(crate) app_id: u64,
    pub(crate) app_slug: Option<String>,
    pub(crate) account: Account,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) suspended_at: Option<String>,
}

/// The account that an app is installed for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Account {
    pub(crate) login: String,
    pub(crate) id: Option<u64>,
    /// `Organization`, `User` or `Enterprise`
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
}

impl Installation {
    fn parse(bytes: &[u8]) -> Result<Installation, ParseError> {
        object(bytes)
    }
}

/// A token of an installation, and what the host says that it may do.
pub(crate) struct InstallationToken {
    token: SecretString,
    pub(crate) expires: Timestamp,
    pub(crate) permissions: BTreeMap<String, String>,
    /// `all` or `selected`
    pub(crate) repository_selection: String,
}

impl InstallationToken {
    fn parse(bytes: &[u8]) -> Result<InstallationToken, ParseError> {
        #[derive(Deserialize)]
        struct Answer {
            token: String,
            expires_at: String,
            permissions: BTreeMap<String, String>,
            repository_selection: String,
        }
        let Answer { token, expires_at, permissions, repository_selection } = object(bytes)?;
        let token = Zeroizing::new(token);
        let expires =
            expires_at.parse().map_err(|_| ParseError::Shape("`expires_at` is not a time".to_string()))?;
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ParseError::Shape("`token` is not a token".to_string()));
        }
        if !["all", "selected"].contains(&repository_selection.as_str()) {
            return Err(ParseError::Shape(
                "`repository_selection` is neither `all` nor `selected`".to_string(),
            ));
        }
        let token = SecretString::from(token.as_str());
        Ok(InstallationToken { token, expires, permissions, repository_selection })
    }

    /// The token, to send it and for the screen.
    pub(crate) fn expose(&self) -> &str {
        self.token.expose_secret()
    }
}

impl fmt::Debug for InstallationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstallationToken").field("permissions", &self.permissions).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_and_never_shown() {
        let answer = r#"{"token":"ghs_not_a_real_token","expires_at":"2026-11-24T09:00:00Z",
            "permissions":{"metadata":"read"},"repository_selection":"all"}"#;
        let token = InstallationToken::parse(answer.as_bytes()).unwrap();
        assert_eq!(token.expose(), "ghs_not_a_real_token");
        assert_eq!(token.expires.to_string(), "2026-11-24T09:00:00Z");
        assert!(!format!("{token:?}").contains("ghs_"));
        for (from, to) in [
            ("ghs_not_a_real_token", ""),
            ("ghs_not_a_real_token", "two words"),
            ("2026-11-24T09:00:00Z", "soon"),
            (r#""all""#, r#""some""#),
            (r#""permissions":{"metadata":"read"},"#, ""),
        ] {
            let error = InstallationToken::parse(answer.replace(from, to).as_bytes()).unwrap_err();
            assert!(!format!("{error:?}").contains("ghs_"), "{error:?}");
        }
    }
}
