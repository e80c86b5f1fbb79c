//! The provider, as the topics and the stages call it.
//!
//! `api` makes the calls, which `action` describes; `endpoint` knows the services' addresses, `sign` and `login` the
//! credentials, `provider` where they come from (with `command` and `metadata`), `dialect` the protocol, and `answer` the meaning of status and code. `sts` identifies the credentials and
//! assumes roles. `refusal` holds what all topics conclude alike from an answer. Nothing here knows a topic or a stage.

pub(crate) mod action;
pub(crate) mod answer;
pub(crate) mod api;
mod command;
pub(crate) mod compare;
mod dialect;
pub(crate) mod endpoint;
mod login;
pub(crate) mod metadata;
pub(crate) mod provider;
pub(crate) mod refusal;
pub(crate) mod sign;
pub(crate) mod sts;
pub(crate) mod xml;
