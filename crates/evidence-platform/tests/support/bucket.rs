//! A bucket with configurable faults, and the credentials of a machine's role.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use evidence_platform::blobs::BucketAccess;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// The fault of a request.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Answers with this status and nothing else.
    Status(u16),
    /// Never answers.
    Hang,
}

#[derive(Default)]
struct State {
    objects: Mutex<BTreeMap<String, Bytes>>,
    fault: Mutex<Option<(Method, Fault)>>,
    seen: Mutex<Vec<Seen>>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub path: String,
    pub authorization: String,
    pub token: String,
}

#[derive(Clone)]
pub struct Bucket {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Bucket {
    pub async fn start() -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bucket = Bucket { address: listener.local_addr().unwrap(), state: Arc::default() };
        let state = Arc::clone(&bucket.state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = Arc::clone(&state);
                let answer = service_fn(move |request| answer(Arc::clone(&state), request));
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), answer));
            }
        });
        bucket
    }

    /// Makes requests of this method fail like this from now on.
    pub fn fail(&self, method: Method, fault: Fault) {
        *self.state.fault.lock().unwrap() = Some((method, fault));
    }

    pub fn heal(&self) {
        *self.state.fault.lock().unwrap() = None;
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub fn count(&self, method: &Method) -> usize {
        self.seen().iter().filter(|seen| seen.method == method).count()
    }

    pub fn objects(&self) -> Vec<String> {
        self.state.objects.lock().unwrap().keys().cloned().collect()
    }

    /// The access that the variables of a machine configure: these, and the endpoint.
    pub fn access(&self, variables: &[(&str, String)]) -> BucketAccess {
        let endpoint = format!("http://{}", self.address);
        let mut access = BucketAccess::from_variables(|name| match name {
            "AWS_ENDPOINT_URL" => Some(endpoint.clone().into()),
            name => variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()),
        })
        .unwrap();
        // A short time limit for tests.
        access.patience = Duration::from_secs(2);
        access
    }

    pub fn keys(&self) -> BucketAccess {
        let keys = [("AWS_ACCESS_KEY_ID", "test".to_owned()), ("AWS_SECRET_ACCESS_KEY", "test".to_owned())];
        self.access(&keys)
    }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let (authorization, token) = (header("authorization"), header("x-amz-security-token"));
    let create = !header("if-none-match").is_empty();
    state.seen.lock().unwrap().push(Seen {
        method: method.clone(),
        path: path.clone(),
        authorization,
        token,
    });
    let plain = |status: u16, body: Bytes| {
        let response = Response::builder().status(status).header("etag", "\"same\"");
        let response = response.header("last-modified", "Sat, 21 Nov 2026 00:00:00 GMT");
        Ok(response.body(Full::new(body)).unwrap())
    };
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let fault = state.fault.lock().unwrap().clone();
    match fault.filter(|(failing, _)| *failing == method) {
        Some((_, Fault::Status(status))) => return plain(status, Bytes::from_static(b"<Code>Made</Code>")),
        Some((_, Fault::Hang)) => std::future::pending().await,
        None => {}
    }
    // The requests of a container or an instance for its role.
    let role = |name: &str| {
        Bytes::from(format!(
            "{{\"AccessKeyId\": \"{name}\", \"SecretAccessKey\": \"made-up\", \"Token\": \"token-of-{name}\", \
             \"Expiration\": \"2099-01-01T00:00:00Z\"}}"
        ))
    };
    match path.as_str() {
        "/container" => return plain(200, role("CONTAINER")),
        "/latest/api/token" => return plain(200, Bytes::from_static(b"token")),
        "/latest/meta-data/iam/security-credentials/" => return plain(200, Bytes::from_static(b"platform")),
        "/latest/meta-data/iam/security-credentials/platform" => return plain(200, role("INSTANCE")),
        _ => {}
    }
    let mut objects = state.objects.lock().unwrap();
    match method {
        Method::PUT if create && objects.contains_key(&path) => plain(412, Bytes::new()),
        Method::PUT => {
            objects.insert(path, body);
            plain(200, Bytes::new())
        }
        Method::DELETE => {
            objects.remove(&path);
            plain(204, Bytes::new())
        }
        _ => match objects.get(&path) {
            Some(object) => plain(200, object.clone()),
            None => plain(404, Bytes::new()),
        },
    }
}
