//! Service accounts. They all sign with one made-up key, which is in the repository and no secret.

use super::shape::{number_of_21_digits, opaque};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rsa::KeyPair;
use serde_json::json;

/// The scopes that reading takes.
pub const SCOPES: [&str; 3] = [
    "https://www.googleapis.com/auth/admin.directory.user.readonly",
    "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
    "https://www.googleapis.com/auth/admin.reports.audit.readonly",
];

const FIXTURE: &str = include_str!("../../fixtures/service_account_key.pem");

/// A service account of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    pub(crate) email: String,
    pub(super) delegated: Vec<String>,
    pub(super) deleted: bool,
    pub(super) key_revoked: bool,
}

impl ServiceAccount {
    /// One to which nothing is delegated, by its address: `name@project.iam.gserviceaccount.com`.
    pub fn new(email: impl Into<String>) -> Self {
        Self { email: email.into(), delegated: Vec::new(), deleted: false, key_revoked: false }
    }

    /// The scopes that the customer has delegated to it for the whole domain.
    pub fn delegated<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.delegated = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Deleted: its assertions are refused.
    pub fn deleted(mut self, deleted: bool) -> Self {
        self.deleted = deleted;
        self
    }

    /// Its key was taken away: what it signs does not hold.
    pub fn key_revoked(mut self, revoked: bool) -> Self {
        self.key_revoked = revoked;
        self
    }

    /// Its number, which is what scopes are delegated to.
    pub fn client_id(&self) -> String {
        number_of_21_digits(&self.email)
    }

    fn project(&self) -> &str {
        self.email.split(['@', '.']).nth(1).unwrap_or_default()
    }

    pub(super) fn key_id(&self) -> String {
        hex::encode(opaque(&self.email, 20))
    }

    /// The credentials file that the provider's console hands out.
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

/// The key without the words before it.
fn pem() -> &'static str {
    FIXTURE.find("-----BEGIN").and_then(|at| FIXTURE.get(at..)).unwrap_or(FIXTURE)
}

/// The public half, as verifying takes it.
pub(super) fn public_key() -> Option<Vec<u8>> {
    let text: String = pem().lines().filter(|line| !line.starts_with("-----")).collect();
    let key = KeyPair::from_pkcs8(&STANDARD.decode(text).ok()?).ok()?;
    Some(key.public().as_ref().to_vec())
}
