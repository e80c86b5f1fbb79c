//! The provider, as the topics and the stages call it.
//!
//! `api` reads listings page by page, and `listing` holds them; `access` obtains tokens for the `service_account` with a
//! signed `assertion`, in the exchange that `token` describes. The key of a `credentials_file` signs, or the provider
//! (`sign_jwt`) for an `identity`, which is attached to the machine or follows from a `federation`. `dialect` is the protocol, `answer` knows the meaning of
//! status, reason and message, `scopes` the permissions. Nothing here knows a topic or a stage.

pub(crate) mod access;
pub(crate) mod answer;
pub(crate) mod api;
mod assertion;
pub(crate) mod compare;
pub(crate) mod credentials_file;
pub(crate) mod dialect;
pub(crate) mod federation;
pub(crate) mod identity;
pub(crate) mod listing;
pub(crate) mod scopes;
pub(crate) mod service_account;
pub(crate) mod sign_jwt;
pub(crate) mod token;
