//! The API: how the service is asked over HTTP.
//!
//! [`routes`] is the one table of all routes; the router and the OpenAPI description are both made from it. Handlers
//! translate and nothing else: who may do what is decided by the table and, again, by the service.

pub mod access;
pub mod administration;
pub mod bundles;
pub mod input;
pub mod openapi;
pub mod problem;
pub mod routes;
pub mod system;
pub mod views;

use std::sync::Arc;

use crate::server::client::Proxies;
use crate::server::metrics::Metrics;
use crate::service::Service;

/// What every handler can reach.
#[derive(Debug, Clone)]
pub struct App {
    /// The service.
    pub service: Service,
    /// The description of the API, as JSON.
    pub description: Arc<str>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Whether people come over https only, so that cookies are sent over nothing else.
    pub secure_cookies: bool,
    /// The proxies whose `X-Forwarded-For` is used.
    pub proxies: Proxies,
}
