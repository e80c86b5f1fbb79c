//! Recorded answers, served unchanged, to check that a client understands the real host and not only our model of
//! it.
//!
//! A recording is one JSON object: `source`, `file`, `method`, `path`, `status`, `headers` (a string or a list of
//! strings each) and `body` (JSON, or a string for raw text). Headers of the recorded connection are dropped
//! (framing, compression, hop-by-hop headers); everything else is served as recorded, including dates and limits.

use crate::clock::{Clock, http_date};
use crate::fault::Fault;
use crate::server::{Answer, Backend, Call, Identity, Settings};
use hyper::header::{self, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// One recorded answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    /// Where it was recorded.
    #[serde(default)]
    pub source: String,
    /// The file there.
    #[serde(default)]
    pub file: String,
    /// The method; only GET makes sense here.
    #[serde(default = "get")]
    pub method: String,
    /// Path, with the query if it matters.
    pub path: String,
    /// The status.
    pub status: u16,
    /// The headers.
    #[serde(default)]
    pub headers: BTreeMap<String, Value>,
    /// JSON, or a string for anything else.
    #[serde(default)]
    pub body: Value,
}

fn get() -> String {
    "GET".to_owned()
}

impl Recording {
    /// A handwritten answer.
    pub fn new(path: impl Into<String>, status: u16, body: Value) -> Self {
        Self {
            source: String::new(),
            file: String::new(),
            method: get(),
            path: path.into(),
            status,
            headers: BTreeMap::new(),
            body,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), Value::String(value.into()));
        self
    }

    /// Reads one from a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a recording.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        })
    }
}

/// Recordings by path.
#[derive(Clone, Debug)]
pub struct Replay {
    recordings: Vec<Recording>,
    default: Option<Recording>,
    rewrite: bool,
    faults: Vec<Fault>,
    latency: Duration,
}

impl Default for Replay {
    fn default() -> Self {
        Self::new()
    }
}

impl Replay {
    /// An empty replay: every path is 404 'Not Found'.
    pub fn new() -> Self {
        Self {
            recordings: Vec::new(),
            default: None,
            rewrite: true,
            faults: Vec::new(),
            latency: Duration::ZERO,
        }
    }

    /// Serves a recording at its own path. A later one at the same path replaces it.
    pub fn recording(mut self, recording: Recording) -> Self {
        self.recordings.push(recording);
        self
    }

    /// Serves a recording at another path.
    pub fn at(self, path: impl Into<String>, recording: Recording) -> Self {
        self.recording(Recording { path: path.into(), ..recording })
    }

    /// Serves every `*.json` of a directory, in the order of their names.
    ///
    /// # Errors
    /// Fails if the directory or one of the files cannot be read.
    pub fn directory(mut self, path: impl AsRef<Path>) -> io::Result<Self> {
        let mut files: Vec<_> =
            std::fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        for file in files {
            self.recordings.push(Recording::read(file)?);
        }
        Ok(self)
    }

    /// Serves this recording for every other path.
    pub fn otherwise(mut self, recording: Recording) -> Self {
        self.default = Some(recording);
        self
    }

    /// Whether to replace URLs of the recorded host by this one's in `Location`, `Link` and bodies. True by
    /// default.
    pub fn rewrite(mut self, rewrite: bool) -> Self {
        self.rewrite = rewrite;
        self
    }

    /// Adds a fault.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Delays every answer by this long.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Serves it on a loopback port until the server is dropped.
    ///
    /// # Errors
    /// Fails if no port or thread is available.
    pub fn serve(self) -> io::Result<crate::Server> {
        let settings = Settings {
            faults: self.faults.clone(),
            latency: self.latency,
            compression: true,
            log_limit: 100_000,
            refused_for: Duration::from_millis(50),
            ..Settings::default()
        };
        crate::Server::start(settings, Clock::default(), move |url| (Arc::new(Tape::new(&self, url)), None))
    }
}

/// The recordings as answers.
struct Tape {
    exact: HashMap<String, Answer>,
    by_path: HashMap<String, Answer>,
    default: Answer,
}

/// Headers that described the recorded connection or the encoding of the body.
const DROPPED: [header::HeaderName; 9] = [
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TRAILER,
    header::TE,
    header::UPGRADE,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
];

impl Tape {
    fn new(replay: &Replay, url: &str) -> Self {
        let rewrite = |text: &str| {
            if replay.rewrite { text.replace("https://api.github.com", url) } else { text.to_owned() }
        };
        let mut tape = Self {
            exact: HashMap::new(),
            by_path: HashMap::new(),
            default: replay.default.as_ref().map_or_else(nothing, |recording| answer(recording, rewrite)),
        };
        for recording in &replay.recordings {
            let answer = answer(recording, rewrite);
            let path = recording.path.split('?').next().unwrap_or_default().to_owned();
            // With and without its query: a recording of page 23 also answers requests for the path alone, unless
            // there is a recording of exactly that.
            if path == recording.path {
                tape.by_path.insert(path, answer.clone());
            } else {
                tape.by_path.entry(path).or_insert_with(|| answer.clone());
            }
            tape.exact.insert(recording.path.clone(), answer);
        }
        tape
    }
}

impl Backend for Tape {
    fn identify(&self, call: &Call) -> Identity {
        // A recording has no tokens.
        if call.headers.contains_key(header::AUTHORIZATION) { Identity::Unknown } else { Identity::Anonymous }
    }

    fn answer(&self, call: &Call) -> Answer {
        if !matches!(call.method.as_str(), "GET" | "HEAD") {
            return nothing();
        }
        let found = self.exact.get(&call.path_and_query).or_else(|| self.by_path.get(&call.path));
        found.unwrap_or(&self.default).clone()
    }

    fn dress(&self, call: &Call, answer: &mut Answer) {
        answer.set(header::DATE, &http_date(call.now));
        answer.set_static(header::SERVER, "github.com");
        answer.set(HeaderName::from_static("x-github-request-id"), &call.request_id);
    }
}

fn nothing() -> Answer {
    let body = serde_json::json!({
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    });
    let mut answer = Answer::new(404, body.to_string());
    answer.set_static(header::CONTENT_TYPE, "application/json; charset=utf-8");
    answer
}

fn answer(recording: &Recording, rewrite: impl Fn(&str) -> String) -> Answer {
    let body = match &recording.body {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let mut answer = Answer::new(recording.status, rewrite(&body));
    for (name, value) in &recording.headers {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
        if DROPPED.contains(&name) || name.as_str() == "status" || name.as_str() == "keep-alive" {
            continue;
        }
        let values: Vec<&str> = match value {
            Value::String(value) => vec![value],
            Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for value in values {
            if let Ok(value) = HeaderValue::from_str(&rewrite(value)) {
                answer.headers.append(name.clone(), value);
            }
        }
    }
    answer
}
