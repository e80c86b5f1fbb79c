//! The request log of the host. It names tokens by their users and never stores their text.

use super::Call;
use crate::lock::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

/// Who a request came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// No credential.
    Anonymous,
    /// A credential the host does not know.
    Unknown,
    /// A credential of this user or principal.
    User {
        /// The user's login; for the cloud the principal's ARN, for the workspace the e-mail address.
        login: String,
        /// `classic`, `fine-grained`, `oauth` or `app`; for the cloud `access-key` or `session`, for the workspace
        /// `delegated` or `service-account`.
        kind: &'static str,
    },
}

/// One request as it arrived, and how it was answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query as sent, undecoded.
    pub path_and_query: String,
    /// The call, on a host that names it outside the path: `iam:GetAccountPasswordPolicy`.
    pub action: Option<String>,
    /// The region the call was for, on a host that has regions.
    pub region: Option<String>,
    /// When it arrived.
    pub at: Instant,
    /// Who sent it.
    pub identity: Identity,
    /// The status of the answer; `None` while it is pending, and if a fault left it without one.
    pub status: Option<u16>,
    /// The fault that was applied.
    pub fault: Option<&'static str>,
    /// Whether a read-only client would not send this. For the code host that is everything except GET and HEAD, for
    /// the cloud every action except `Get…`, `Describe…`, `List…`, `GenerateCredentialReport` and `AssumeRole`, for the workspace everything except GET,
    /// HEAD and `POST /token`.
    pub violation: bool,
    headers: Box<str>,
}

impl Request {
    /// The path without its query.
    pub fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    /// A header's value, by its name in any case. The credential reads `[redacted]`.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers, names in lower case.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.lines().filter_map(|line| line.split_once(": "))
    }
}

/// The log, bounded because a trial against 50,000 repositories makes 200,000 requests.
#[derive(Debug)]
pub(super) struct Log {
    limit: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    /// The number of the first entry in the log.
    first: u64,
    requests: VecDeque<Request>,
}

impl Log {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, entries: Mutex::default() }
    }

    /// Records an arrival and returns the number of its entry.
    pub(super) fn arrive(
        &self,
        call: &Call,
        identity: Identity,
        fault: Option<&'static str>,
        violation: bool,
    ) -> u64 {
        if self.limit == 0 {
            return u64::MAX;
        }
        let request = Request {
            method: call.method.clone(),
            path_and_query: call.path_and_query.clone(),
            action: call.action.as_ref().map(|action| action.name.clone()),
            region: call
                .action
                .as_ref()
                .map(|action| action.region.clone())
                .filter(|region| !region.is_empty()),
            at: Instant::now(),
            identity,
            status: None,
            fault,
            violation,
            headers: flatten(call).into_boxed_str(),
        };
        let mut entries = lock(&self.entries);
        if entries.requests.len() >= self.limit {
            entries.requests.pop_front();
            entries.first += 1;
        }
        entries.requests.push_back(request);
        entries.first + entries.requests.len() as u64 - 1
    }

    pub(super) fn answered(&self, ticket: u64, status: u16) {
        let mut entries = lock(&self.entries);
        let place = ticket.checked_sub(entries.first).and_then(|place| usize::try_from(place).ok());
        if let Some(request) = place.and_then(|place| entries.requests.get_mut(place)) {
            request.status = Some(status);
        }
    }

    pub(super) fn all(&self) -> Vec<Request> {
        lock(&self.entries).requests.iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        let mut entries = lock(&self.entries);
        entries.first += entries.requests.len() as u64;
        entries.requests.clear();
    }
}

/// One allocation for all headers, since the parsed ones would keep the connection's read buffer alive.
fn flatten(call: &Call) -> String {
    let mut text = String::with_capacity(256);
    for (name, value) in &call.headers {
        text.push_str(name.as_str());
        text.push_str(": ");
        if name == hyper::header::AUTHORIZATION || name == "x-amz-security-token" {
            text.push_str("[redacted]");
        } else {
            text.push_str(&String::from_utf8_lossy(value.as_bytes()));
        }
        text.push('\n');
    }
    text
}
