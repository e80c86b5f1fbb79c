//! One loopback port with a backend behind it, on its own thread so that synchronous tests can use it.
//!
//! The engine passes each request to the faults, then to the backend, and records the result. It never decides
//! the content of an answer: that is the backend's state.

mod answer;
mod backend;
mod connection;
mod held;
mod log;
mod options;
mod plan;
mod spelling;
mod tally;

pub(crate) use answer::{Action, Answer, Call, gzip, identity_etag, uuid};
pub(crate) use backend::{Backend, Backing, Settings, State};
pub(crate) use held::{Held, Hosted};
pub use log::{Identity, Request};
pub(crate) use options::engine_options;
pub(crate) use plan::{End, Plan, Step};

use crate::clock::Clock;
use crate::fault::{FaultBook, Outcome};
use log::Log;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
pub use tally::Summary;
use tally::Tally;
use tokio::sync::{mpsc, oneshot};

/// A running host. Dropping it closes the port and every connection.
pub struct Server<Host> {
    engine: Arc<Engine>,
    state: Option<Arc<dyn State<Host>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<Host> std::fmt::Debug for Server<Host> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl<Host> Server<Host> {
    pub(crate) fn start(
        settings: Settings,
        clock: Clock,
        backing: impl FnOnce(&str) -> Backing<Host>,
    ) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let origin = format!("http://{address}");
        let (stop, stopped) = oneshot::channel();
        let (refuse, refusals) = mpsc::unbounded_channel();
        let (backend, state) = backing(&format!("{origin}{}", settings.base_path));
        let engine = Arc::new(Engine {
            backend,
            faults: FaultBook::new(settings.faults.clone()),
            log: Log::new(settings.log_limit),
            clock,
            address,
            origin,
            tally: Tally::default(),
            refuse,
            spelling: OnceLock::new(),
            settings: RwLock::new(settings),
        });
        let accepting = engine.clone();
        let (started, starting) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
            // Created here because the caller may be inside another runtime.
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            let _ = accepting.spelling.set(spelling::learn(&runtime));
            let _ = started.send(Ok(()));
            runtime.block_on(connection::accept(listener, accepting, refusals, stopped));
        })?;
        starting
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the server's thread ended at its start")))?;
        Ok(Self { engine, state, stop: Some(stop), thread: Some(thread) })
    }

    /// The base of the API, for a client's configuration.
    pub fn url(&self) -> String {
        format!("{}{}", self.engine.origin, self.engine.settings().base_path)
    }

    /// Scheme, address and port alone.
    pub fn origin(&self) -> &str {
        &self.engine.origin
    }

    /// The address listened on.
    pub fn address(&self) -> SocketAddr {
        self.engine.address
    }

    /// Every request since the start or [`Self::clear_log`], in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.engine.log.all()
    }

    /// How many requests arrived, whether or not the log still holds them.
    pub fn request_count(&self) -> u64 {
        self.engine.tally.requests()
    }

    /// The counts since the start or [`Self::clear_log`].
    pub fn summary(&self) -> Summary {
        self.engine.tally.summary()
    }

    /// Requests that a read-only client must not send.
    pub fn violations(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.violation).collect()
    }

    /// Clears the requests and the peak; limits and faults keep their counts.
    pub fn clear_log(&self) {
        self.engine.log.clear();
        self.engine.tally.clear();
    }

    /// The most requests in flight at any moment. Without latency the host answers at once, so this says something
    /// about the client only if [`CodeHost::latency`](crate::codehost::CodeHost::latency) is set.
    pub fn highest_concurrency(&self) -> u64 {
        self.engine.tally.summary().highest_concurrency
    }

    /// How many faults were injected, by kind.
    pub fn faults_injected(&self) -> BTreeMap<&'static str, u64> {
        self.engine.faults.counts()
    }

    /// Changes the state while serving. Does nothing for a replay, which has no state.
    ///
    /// Existing faults keep their counts; limits restart only if they changed.
    pub fn update(&self, change: impl FnOnce(&mut Host)) {
        if let Some(state) = &self.state {
            let settings = state.change(Box::new(change));
            self.engine.faults.replace(settings.faults.clone());
            let port = self.engine.address.port();
            *self.engine.settings.write().unwrap_or_else(PoisonError::into_inner) =
                Settings { port, ..settings };
        }
    }

    /// A copy of the current state. `None` for a replay.
    pub fn state(&self) -> Option<Host> {
        self.state.as_ref().map(|state| state.current())
    }

    /// Moves the host's clock forward, so that a limit's window passes without sleeping.
    pub fn advance(&self, by: Duration) {
        self.engine.clock.shift(i64::try_from(by.as_secs()).unwrap_or(i64::MAX));
    }

    /// Waits until the process is stopped, for the program.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<Host> Drop for Server<Host> {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Shared by the handle and every connection.
pub(crate) struct Engine {
    backend: Arc<dyn Backend>,
    faults: FaultBook,
    log: Log,
    clock: Clock,
    address: SocketAddr,
    origin: String,
    tally: Tally,
    refuse: mpsc::UnboundedSender<Duration>,
    spelling: OnceLock<hyper::http::Extensions>,
    settings: RwLock<Settings>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Engine {
    fn settings(&self) -> std::sync::RwLockReadGuard<'_, Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner)
    }

    async fn handle(
        &self,
        request: hyper::Request<hyper::body::Incoming>,
        wire: &mpsc::UnboundedSender<Plan>,
    ) -> hyper::Response<http_body_util::Full<bytes::Bytes>> {
        let counted = self.tally.arrive();
        let (number, in_flight) = (counted.number, counted.in_flight);

        let (parts, body) = request.into_parts();
        let (latency, compression, max_body, mut call) = {
            let settings = self.settings();
            let call = Call::new(parts, &settings.base_path, &self.clock, number, in_flight, &self.origin);
            let max_body = if settings.max_body == 0 { answer::MAX_BODY } else { settings.max_body };
            (settings.latency, settings.compression, max_body, call)
        };
        let early = self.faults.pick_early(&call);
        match &early {
            // A client that disconnects in the middle of its request ends the connection, and this future with
            // it.
            None => match answer::read_body(body, max_body).await {
                Ok(Some(body)) => call.body = body,
                Ok(None) => call.body_too_large = true,
                Err(_) => {}
            },
            Some(crate::fault::FaultKind::CutUpload(bytes)) => answer::read_some(body, *bytes).await,
            // Read and discard it: if the host closed the connection now, the answer would be lost.
            Some(_) => drop(tokio::spawn(answer::read_some(body, usize::MAX))),
        }
        call.action = self.backend.action(&call);
        let fault = early.or_else(|| self.faults.pick(&call));
        let name = fault.as_ref().map(crate::fault::FaultKind::name);
        let violation = self.backend.is_violation(&call);
        let ticket = self.log.arrive(&call, self.backend.identify(&call), name, violation);
        let outcome = match &fault {
            None => Outcome::Answer(self.backend.answer(&call)),
            Some(kind) => crate::fault::act(kind, &call, self.backend.as_ref()),
        };
        let takes = match &outcome {
            Outcome::Answer(answer) => answer.takes,
            Outcome::Wire { .. } | Outcome::Silence | Outcome::Refuse => Duration::ZERO,
        };
        self.clock.sleep(latency + takes).await;
        match outcome {
            Outcome::Answer(answer) => {
                self.log.answered(ticket, answer.status);
                answer.into_response(&call, compression, self.spelling.get())
            }
            Outcome::Wire { status, plan } => {
                if let Some(status) = status {
                    self.log.answered(ticket, status);
                }
                // The bytes are HTTP/1.1. On an HTTP/2 connection, which requests share, reset instead.
                let _ = wire.send(if call.http2 { Plan::reset() } else { plan });
                std::future::pending().await
            }
            Outcome::Silence => std::future::pending().await,
            Outcome::Refuse => {
                let pause = self.settings().refused_for;
                let _ = self.refuse.send(pause);
                let _ = wire.send(Plan::reset());
                std::future::pending().await
            }
        }
    }
}
