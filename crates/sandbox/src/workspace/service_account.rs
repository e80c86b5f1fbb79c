//! Service accounts. They all sign with one made-up key, which is in the repository and not secret.

use super::shape::{number_of_21_digits, opaque};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rsa::KeyPair;
use serde_json::json;

/// The scopes required for the rules of the first framework.
pub const SCOPES: [&str; 3] = [
    "https://www.googleapis.com/auth/admin.directory.user.readonly",
    "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
    "https://www.googleapis.com/auth/admin.reports.audit.readonly",
];

/// The further scopes that rules of the second framework need.
pub const MORE_SCOPES: [&str; 3] = [
    "https://www.googleapis.com/auth/admin.directory.group.member.readonly",
    "https://www.googleapis.com/auth/admin.directory.orgunit.readonly",
    "https://www.googleapis.com/auth/cloud-identity.policies.readonly",
];

const FIXTURE: &str = include_str!("../../fixtures/service_account_key.pem");

/// A service account of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    pub(crate) email: String,
    pub(super) delegated: Vec<String>,
    pub(super) deleted: bool,
    pub(super) key_revoked: bool,
    /// Who may have something signed for it.
    pub(super) token_creators: Vec<String>,
}

impl ServiceAccount {
    /// A service account without delegation, by its address: `name@project.iam.gserviceaccount.com`.
    pub fn new(email: impl Into<String>) -> Self {
        Self {
            email: email.into(),
            delegated: Vec::new(),
            deleted: false,
            key_revoked: false,
            token_creators: Vec::new(),
        }
    }

    /// The scopes that the customer delegated to it for the whole domain.
    pub fn delegated<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.delegated = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether it is deleted: its assertions are then refused.
    pub fn deleted(mut self, deleted: bool) -> Self {
        self.deleted = deleted;
        self
    }

    /// Whether its key is revoked: its signatures are then not valid.
    pub fn key_revoked(mut self, revoked: bool) -> Self {
        self.key_revoked = revoked;
        self
    }

    /// Lets an identity have assertions signed for it: the attached account's address, or the subject of a token of another
    /// identity provider.
    pub fn token_creator(mut self, identity: impl Into<String>) -> Self {
        self.token_creators.push(identity.into());
        self
    }

    /// Its id, to which scopes are delegated.
    pub fn client_id(&self) -> String {
        number_of_21_digits(&self.email)
    }

    fn project(&self) -> &str {
        self.email.split(['@', '.']).nth(1).unwrap_or_default()
    }

    pub(super) fn key_id(&self) -> String {
        hex::encode(opaque(&self.email, 20))
    }

    /// The credentials file, in the form of the provider's console.
    pub(super) fn file(&self, url: &str) -> String {
        let robot = self.email.replace('@', "%40");
        let file = json!({
            "type": "service_account",
            "project_id": self.project(),
            "private_key_id": self.key_id(),
            "private_key": pem(),
            "client_email": self.email,
            "client_id": self.client_id(),
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": format!("{url}/token"),
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
            "client_x509_cert_url": format!("https://www.googleapis.com/robot/v1/metadata/x509/{robot}"),
            "universe_domain": "googleapis.com",
        });
        format!("{file:#}\n")
    }
}

/// The key without the explanation before it.
pub(crate) fn pem() -> &'static str {
    FIXTURE.find("-----BEGIN").and_then(|at| FIXTURE.get(at..)).unwrap_or(FIXTURE)
}

/// The public half, in the form for verification.
pub(super) fn public_key() -> Option<Vec<u8>> {
    let text: String = pem().lines().filter(|line| !line.starts_with("-----")).collect();
    let key = KeyPair::from_pkcs8(&STANDARD.decode(text).ok()?).ok()?;
    Some(key.public().as_ref().to_vec())
}
