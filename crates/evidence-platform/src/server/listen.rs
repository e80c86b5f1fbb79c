//! Accepts connections, serves each within its limits, and stops in order.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use super::client::{Peer, Proxies};
use super::connections::{Admission, Connections, Slot};
use super::head::{LONGEST, StrictHeads};
use super::host::HostNames;
use super::metrics::Metrics;
use super::observe;
use crate::api::within::Within;
use crate::api::{self, App};

use crate::error::Error;
use crate::service::Service;

/// The limits of connections.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open at once.
    pub connections: usize,
    /// How long the head of a request may take, and a connection may wait for one.
    pub head: Duration,
    /// The age at which a connection closes after its current request, and how long that may take.
    pub age: Duration,
    /// How long active requests may take after the server is asked to stop.
    pub shutdown_grace: Duration,
    /// Whether clients use https only, through a proxy.
    pub https: bool,
    /// The networks of the reverse proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Vec<IpNet>,
    /// The names under which clients reach the server, besides IP addresses and `localhost`.
    pub host_names: Vec<String>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4_096,
            head: Duration::from_secs(10),
            age: Duration::from_secs(20 * 60),
            shutdown_grace: Duration::from_secs(30),
            https: false,
            proxies: Vec::new(),
            host_names: Vec::new(),
        }
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    router: Router,
    metrics: Arc<Metrics>,
    limits: Limits,
}

impl Server {
    /// Listens at this address.
    ///
    /// # Errors
    /// Fails with [`Error::Unusable`] if the address cannot be bound.
    pub async fn bind(address: SocketAddr, service: Service, limits: Limits) -> Result<Server, Error> {
        let mut metrics = Metrics::default();
        metrics.add_checks(service.check_gauges());
        let metrics = Arc::new(metrics);
        let app = App {
            description: api::openapi::document().to_json().unwrap_or_default().into(),
            service,
            metrics: Arc::clone(&metrics),
            secure_cookies: limits.https,
            proxies: Proxies::within(&limits.proxies),
            hosts: HostNames::new(&limits.host_names),
        };
        let router = api::routes::router(&app).layer(from_fn_with_state(app.clone(), check_host));
        let router = router.layer(from_fn_with_state(app, observe::observe));
        let listener = TcpListener::bind(address).await.map_err(|error| cannot_listen(address, error))?;
        Ok(Server { listener, router, metrics, limits })
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub fn address(&self) -> Result<SocketAddr, Error> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves until `stop`, then lets active requests finish.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { listener, router, metrics, limits } = self;
        let connections = Connections::new(limits.connections);
        let (ending, _) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let slot = match connections.admit() {
                            Admission::Free(slot) => slot,
                            Admission::Evicting(slot) => { metrics.evicted(); slot }
                            // All are active: close this one at once, so that its client can try again.
                            Admission::Full => continue,
                        };
                        let (router, limits, metrics) = (router.clone(), limits.clone(), Arc::clone(&metrics));
                        let peer = Peer(peer.ip());
                        tasks.spawn(serve(stream, peer, slot, router, limits, metrics, ending.subscribe()));
                    }
                    Err(error) => {
                        // Most likely out of file descriptors, where only waiting helps.
                        tracing::warn!(error = %error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
        drop(listener);
        tracing::info!(connections = tasks.len(), "stopping");
        let _ = ending.send(true);
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(limits.shutdown_grace, all).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
    }
}

/// Refuses what is not for this server, before any route.
async fn check_host(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.hosts.check(request.uri(), request.headers(), request.version()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn cannot_listen(address: SocketAddr, error: io::Error) -> Error {
    let help = match error.kind() {
        io::ErrorKind::AddrInUse => {
            ": the port is in use; stop the program that uses it, or choose another with --listen"
        }
        io::ErrorKind::AddrNotAvailable => {
            ": this machine does not have the address; choose another with --listen"
        }
        _ => "",
    };
    Error::unusable(format!("cannot listen at {address}{help}"), error)
}

async fn serve(
    stream: TcpStream,
    peer: Peer,
    slot: Slot,
    router: Router,
    limits: Limits,
    metrics: Arc<Metrics>,
    mut ending: watch::Receiver<bool>,
) {
    metrics.connected();
    let came_by = Arc::clone(&slot.connection);
    let answer = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Arc::clone(&came_by));
        request.extensions_mut().insert(peer);
        Within::take(&mut request);
        let router = router.clone();
        // `StrictHeads` does not find the end of a body in chunks.
        let last = request.headers().contains_key(TRANSFER_ENCODING);
        async move {
            let answer = router.oneshot(request.map(axum::body::Body::new)).await;
            let mut answer = answer.unwrap_or_default();
            if last {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(LONGEST)
        .serve_connection(TokioIo::new(StrictHeads::new(stream)), answer);
    let mut connection = std::pin::pin!(connection);
    let mut polite = false;
    let mut end = std::pin::pin!(tokio::time::sleep(limits.age));
    loop {
        tokio::select! {
            // A client's own connection errors are not logged.
            _ = connection.as_mut() => break,
            () = slot.closing() => break,
            _ = ending.changed(), if !polite => {
                polite = true;
                connection.as_mut().graceful_shutdown();
            }
            () = &mut end => {
                if polite {
                    break;
                }
                polite = true;
                connection.as_mut().graceful_shutdown();
                end.as_mut().reset(tokio::time::Instant::now() + limits.age);
            }
        }
    }
    metrics.disconnected();
}
