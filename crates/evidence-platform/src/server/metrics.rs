//! What is counted, and how Prometheus reads it. No label ever holds the name of an organization or a bundle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::api::problem::kind;
use crate::error::Error;
use crate::service::Stored;

/// Upper bounds of the classes of latencies, in seconds.
const CLASSES: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

/// Latencies of one route.
#[derive(Debug, Default, Clone)]
struct Latencies {
    /// How many were not above each bound.
    classes: [u64; CLASSES.len()],
    count: u64,
    sum: f64,
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    latencies: Mutex<BTreeMap<(String, String), Latencies>>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
    stored: AtomicU64,
    known: AtomicU64,
    stored_bytes: AtomicU64,
    received_bytes: AtomicU64,
    sent_bytes: AtomicU64,
    connections: AtomicI64,
    evicted: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    /// Counts a request that was answered. The route is the pattern of the table, not what was asked.
    pub fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let mut requests = locked(&self.requests);
        let count = requests.entry((route.to_owned(), method.to_owned(), status)).or_default();
        *count = count.saturating_add(1);
        drop(requests);
        let seconds = took.as_secs_f64();
        let mut latencies = locked(&self.latencies);
        let of_route = latencies.entry((route.to_owned(), method.to_owned())).or_default();
        of_route.count = of_route.count.saturating_add(1);
        of_route.sum += seconds;
        for (class, bound) in of_route.classes.iter_mut().zip(CLASSES) {
            if seconds <= bound {
                *class = class.saturating_add(1);
            }
        }
    }

    /// Counts an upload.
    pub fn upload(&self, outcome: &Result<Stored, Error>) {
        match outcome {
            Ok(stored) if stored.created => {
                self.stored.fetch_add(1, Relaxed);
                self.stored_bytes.fetch_add(stored.bundle.size_bytes, Relaxed);
            }
            Ok(_) => {
                self.known.fetch_add(1, Relaxed);
            }
            Err(error) => {
                let mut refused = locked(&self.refused);
                let count = refused.entry(kind(error).code()).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    /// Counts bytes of a request's body.
    pub fn received(&self, bytes: usize) {
        self.received_bytes.fetch_add(u64::try_from(bytes).unwrap_or_default(), Relaxed);
    }

    /// Counts bytes of an answer's body.
    pub fn sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(u64::try_from(bytes).unwrap_or_default(), Relaxed);
    }

    /// Counts a connection that was opened.
    pub fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Counts a connection that was closed.
    pub fn disconnected(&self) {
        self.connections.fetch_sub(1, Relaxed);
    }

    /// Counts a connection that was closed to make room.
    pub fn evicted(&self) {
        self.evicted.fetch_add(1, Relaxed);
    }

    /// All numbers in Prometheus' text format.
    pub fn render(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        head(out, "requests_total", "counter", "Requests that were answered.")?;
        for ((route, method, status), count) in locked(&self.requests).iter() {
            let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
            writeln!(out, "{PREFIX}requests_total{{{labels}}} {count}")?;
        }
        head(out, "request_seconds", "histogram", "How long answers took, to their first byte.")?;
        for ((route, method), latencies) in locked(&self.latencies).iter() {
            let labels = format!("route=\"{route}\",method=\"{method}\"");
            for (bound, count) in CLASSES.iter().zip(latencies.classes) {
                writeln!(out, "{PREFIX}request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}")?;
            }
            writeln!(out, "{PREFIX}request_seconds_bucket{{{labels},le=\"+Inf\"}} {}", latencies.count)?;
            writeln!(out, "{PREFIX}request_seconds_sum{{{labels}}} {}", latencies.sum)?;
            writeln!(out, "{PREFIX}request_seconds_count{{{labels}}} {}", latencies.count)?;
        }
        head(
            out,
            "uploads_refused_total",
            "counter",
            "Uploads that were not stored, by the kind of problem.",
        )?;
        for (code, count) in locked(&self.refused).iter() {
            writeln!(out, "{PREFIX}uploads_refused_total{{problem=\"{code}\"}} {count}")?;
        }
        let counters = [
            ("bundles_stored_total", "Bundles that were stored by this instance.", &self.stored),
            ("bundles_known_total", "Uploads of bytes that were stored already.", &self.known),
            ("bundles_stored_bytes_total", "Bytes of bundles that were stored.", &self.stored_bytes),
            ("received_bytes_total", "Bytes of request bodies.", &self.received_bytes),
            ("sent_bytes_total", "Bytes of answers' bodies.", &self.sent_bytes),
            ("connections_evicted_total", "Waiting connections closed to make room.", &self.evicted),
        ];
        for (name, help, counter) in counters {
            head(out, name, "counter", help)?;
            writeln!(out, "{PREFIX}{name} {}", counter.load(Relaxed))?;
        }
        head(out, "connections", "gauge", "Open connections.")?;
        writeln!(out, "{PREFIX}connections {}", self.connections.load(Relaxed))
    }
}

const PREFIX: &str = "evidence_platform_";

fn head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.request("GET", "/api/v1/bundles/{bundle_id}", 200, Duration::from_millis(20));
        metrics.request("GET", "/api/v1/bundles/{bundle_id}", 200, Duration::from_millis(2));
        metrics.upload(&Err(Error::Busy));
        metrics.connected();
        let text = metrics.render();
        for line in [
            "evidence_platform_requests_total{route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\",status=\"200\"} 2",
            "evidence_platform_request_seconds_bucket{route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\",le=\"0.005\"} 1",
            "evidence_platform_request_seconds_bucket{route=\"/api/v1/bundles/{bundle_id}\",method=\"GET\",le=\"+Inf\"} 2",
            "evidence_platform_uploads_refused_total{problem=\"busy\"} 1",
            "evidence_platform_connections 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
