//! The provider, as the topics and the stages call it.
//!
//! `api` reads listings page by page, and `listing` holds them; `access` obtains tokens for the `service_account` with a
//! signed `assertion`, in the exchange that `token` describes. `dialect` is the protocol, `answer` knows the meaning of
//! status, reason and message, `scopes` the permissions. Nothing here knows a topic or a stage.

pub(crate) mod access;
pub(crate) mod answer;
pub(crate) mod api;
mod assertion;
pub(crate) mod compare;
pub(crate) mod dialect;
pub(crate) mod listing;
pub(crate) mod scopes;
pub(crate) mod service_account;
pub(crate) mod token;
