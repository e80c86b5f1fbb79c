//! Counters, and their output for Prometheus.
//!
//! Every label comes from a closed set: routes of the table, methods of `known`, statuses that handlers return,
//! codes of problems. No request can add a label, and none holds the name of an organization or a bundle.

use std::time::Duration;

use http::Method;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::api::problem::kind;
use crate::error::Error;
use crate::log;
use crate::service::{CheckGauges, Stored};

/// The media type of [`Metrics::render`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The route label of requests without a route.
pub(super) const UNKNOWN: &str = "unknown";

/// Upper bounds of the latency buckets, in seconds.
const CLASSES: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

/// The method for labels and the log. Clients can invent any number of methods of any length.
pub(super) fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::TRACE => "TRACE",
        Method::CONNECT => "CONNECT",
        _ => "OTHER",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    route: String,
    method: &'static str,
}

/// All counters.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    latencies: Family<Served, Histogram>,
    refused: Family<[(&'static str, &'static str); 1], Counter>,
    stored: Counter,
    known: Counter,
    stored_bytes: Counter,
    received_bytes: Counter,
    sent_bytes: Counter,
    evicted: Counter,
    connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("evidence_platform"),
            requests: Family::default(),
            latencies: Family::new_with_constructor(|| Histogram::new(CLASSES)),
            refused: Family::default(),
            stored: Counter::default(),
            known: Counter::default(),
            stored_bytes: Counter::default(),
            received_bytes: Counter::default(),
            sent_bytes: Counter::default(),
            evicted: Counter::default(),
            connections: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests that were answered", metrics.requests.clone());
        let help = "How long answers of a route took, to their first byte; HEAD counts as GET";
        registry.register("request_seconds", help, metrics.latencies.clone());
        let help = "Uploads that were not stored, by the kind of problem";
        registry.register("uploads_refused", help, metrics.refused.clone());
        for (name, help, counter) in [
            ("bundles_stored", "Bundles that were stored by this instance", &metrics.stored),
            ("bundles_known", "Uploads of bytes that were stored already", &metrics.known),
            ("bundles_stored_bytes", "Bytes of bundles that were stored", &metrics.stored_bytes),
            ("received_bytes", "Bytes of request bodies", &metrics.received_bytes),
            ("sent_bytes", "Bytes of answers' bodies", &metrics.sent_bytes),
            ("connections_evicted", "Waiting connections closed to make room", &metrics.evicted),
            ("log_lines_dropped", "Log lines that could not be written", &log::DROPPED),
        ] {
            registry.register(name, help, counter.clone());
        }
        registry.register("connections", "Open connections", metrics.connections.clone());
        metrics
    }
}

impl Metrics {
    /// Adds the numbers of the check of what is stored.
    pub fn add_checks(&mut self, checks: &CheckGauges) {
        for (name, help, gauge) in [
            ("damaged_bundles", "Bundles whose stored bytes are not what was accepted", &checks.damaged),
            (
                "blobs_without_bundle",
                "Blobs that no bundle names, in the last complete check",
                &checks.strays,
            ),
            ("check_finished_timestamp_seconds", "When the last complete check ended", &checks.finished),
        ] {
            self.registry.register(name, help, gauge.clone());
        }
    }

    /// Counts an answered request. `route` is the pattern of the table, not the requested path.
    pub fn request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let method = known(method);
        self.requests.get_or_create(&Request { route: route.to_owned(), method, status }).inc();
        // The latency of an unknown path or method is useless and would add 14 lines per method.
        if route != UNKNOWN && status != 405 {
            let method = if method == "HEAD" { "GET" } else { method };
            let served = Served { route: route.to_owned(), method };
            self.latencies.get_or_create(&served).observe(took.as_secs_f64());
        }
    }

    /// Counts an upload.
    pub fn upload(&self, outcome: &Result<Stored, Error>) {
        match outcome {
            Ok(stored) if stored.created => {
                self.stored.inc();
                self.stored_bytes.inc_by(stored.bundle.size_bytes);
            }
            Ok(_) => {
                self.known.inc();
            }
            Err(error) => {
                self.refused.get_or_create(&[("problem", kind(error).code())]).inc();
            }
        }
    }

    /// Counts bytes of a request body.
    pub fn received(&self, bytes: usize) {
        self.received_bytes.inc_by(u64::try_from(bytes).unwrap_or_default());
    }

    /// Counts bytes of an answer body.
    pub fn sent(&self, bytes: usize) {
        self.sent_bytes.inc_by(u64::try_from(bytes).unwrap_or_default());
    }

    /// Counts an opened connection.
    pub fn connected(&self) {
        self.connections.inc();
    }

    /// Counts a closed connection.
    pub fn disconnected(&self) {
        self.connections.dec();
    }

    /// Counts a connection closed to make room.
    pub fn evicted(&self) {
        self.evicted.inc();
    }

    /// All counters in the OpenMetrics text format.
    pub fn render(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        let took = Duration::from_millis(20);
        metrics.request(&Method::GET, "/api/v1/bundles/{bundle_id}", 200, took);
        metrics.request(&Method::HEAD, "/api/v1/bundles/{bundle_id}", 200, Duration::from_millis(2));
        metrics.request(&Method::from_bytes(&[b'X'; 60_000]).unwrap(), "/bundles", 405, took);
        metrics.request(&Method::from_bytes(b"get").unwrap(), UNKNOWN, 404, took);
        metrics.upload(&Err(Error::Busy));
        metrics.received(7);
        metrics.connected();
        let text = metrics.render();
        for line in [
            "# TYPE evidence_platform_requests counter",
            "evidence_platform_requests_total{route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\",status=\"200\"} 1",
            "evidence_platform_requests_total{route=\"/bundles\",method=\"OTHER\",status=\"405\"} 1",
            "evidence_platform_requests_total{route=\"unknown\",method=\"OTHER\",status=\"404\"} 1",
            "evidence_platform_request_seconds_bucket{le=\"0.005\",route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\"} 1",
            "evidence_platform_request_seconds_bucket{le=\"+Inf\",route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\"} 2",
            "evidence_platform_request_seconds_count{route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\"} 2",
            "evidence_platform_uploads_refused_total{problem=\"busy\"} 1",
            "evidence_platform_received_bytes_total 7",
            "evidence_platform_connections 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert_eq!(text.matches("request_seconds_count").count(), 1, "{text}");
        assert!(text.ends_with("# EOF\n"));
    }
}
