//! The HTTP API of the service.
//!
//! [`routes`] is the one table of all routes; the router and the OpenAPI description both derive from it. Handlers
//! only translate: the table decides who may do what, and the service checks it again.

pub mod access;
pub mod administration;
pub mod bundles;
pub mod filter;
pub mod fleet;
pub mod group;
pub mod holds;
pub mod input;
pub mod openapi;
pub mod period;
pub mod problem;
pub mod routes;
pub mod status;
pub mod system;
pub mod views;
pub(crate) mod within;

use std::sync::Arc;

use crate::server::client::Proxies;
use crate::server::host::HostNames;
use crate::server::metrics::Metrics;
use crate::service::Service;

/// The state that every handler can use.
#[derive(Debug, Clone)]
pub struct App {
    /// The service.
    pub service: Service,
    /// The description of the API, as JSON.
    pub description: Arc<str>,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// Whether clients use https only, so that cookies get the `Secure` attribute.
    pub secure_cookies: bool,
    /// The names under which the server may be reached.
    pub hosts: HostNames,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Proxies,
}
