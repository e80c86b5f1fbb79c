//! How a run is signed in: with a token, or as an app's installation.

use evidence_bundle::document::AppIdentity;

use super::token::Token;

/// How a run is signed in.
pub(crate) enum SignedIn {
    /// With a token.
    Token(Token),
    /// As an app, whose tokens are renewed.
    App(AppIdentity),
}

impl SignedIn {
    /// The app and its installation, with `mode: app`.
    pub(crate) fn app(&self) -> Option<&AppIdentity> {
        match self {
            SignedIn::App(app) => Some(app),
            SignedIn::Token(_) => None,
        }
    }

    /// The kind of token, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            SignedIn::Token(token) => token.kind(),
            SignedIn::App(_) => "app",
        }
    }

    /// Whether no account is behind it.
    pub(crate) fn is_of_installation(&self) -> bool {
        match self {
            SignedIn::Token(token) => token.is_of_installation(),
            SignedIn::App(_) => true,
        }
    }
}
