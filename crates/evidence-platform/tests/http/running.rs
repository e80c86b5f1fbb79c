//! A running server, and a client for it.

use std::net::SocketAddr;

use evidence_platform::server::{Limits, Server};
use evidence_platform::service::{Service, Settings};
use reqwest::{Client, Method, Response};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{Place, Tenant, VirtualTime, content_digest, tenant};

pub(crate) struct Running {
    pub(crate) place: Place,
    pub(crate) service: Service,
    pub(crate) hands: VirtualTime,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn local() -> Running {
        Running::at(Place::local(), Settings::default(), Limits::default()).await
    }

    pub(crate) async fn at(place: Place, settings: Settings, limits: Limits) -> Running {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (service, hands) = place.open(settings).await;
        let server = Server::bind(([127, 0, 0, 1], 0).into(), service.clone(), limits).await.unwrap();
        let address = server.address().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        let client =
            Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Running { place, service, hands, address, client, stop: Some(stop), task }
    }

    pub(crate) async fn tenant(&self, slug: &str) -> Tenant {
        tenant(&self.service, slug).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<Value>,
    ) -> Answer {
        let mut request = self.client.request(method, self.url(path));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        Answer::of(request.send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        self.call(Method::GET, path, Some(key), None).await
    }

    /// Requests a page like a browser, with this cookie. Does not follow redirects.
    pub(crate) async fn page(&self, path: &str, cookie: Option<&str>) -> Answer {
        let mut request = self.client.get(self.url(path)).header("accept", "text/html");
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        Answer::of(request.send().await.unwrap()).await
    }

    /// Submits a form like a browser, from one of our pages.
    pub(crate) async fn submit(&self, path: &str, fields: &str, cookie: Option<&str>) -> Answer {
        let mut request = self.client.post(self.url(path)).header("sec-fetch-site", "same-origin");
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Answer::of(request.body(fields.to_owned()).send().await.unwrap()).await
    }

    /// The cookie of a new session with this key.
    pub(crate) async fn sign_in(&self, key: &str) -> String {
        let answer = self.submit("/sign-in", &format!("key={key}&next="), None).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.headers["location"], "/bundles");
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(crate) async fn upload(&self, key: &str, bytes: &[u8]) -> Answer {
        self.upload_with(key, bytes, "", Some(content_digest(bytes))).await
    }

    pub(crate) async fn upload_with(
        &self,
        key: &str,
        bytes: &[u8],
        query: &str,
        digest: Option<String>,
    ) -> Answer {
        let mut request = self.client.post(self.url("/api/v1/bundles") + query).bearer_auth(key);
        if let Some(digest) = digest {
            request = request.header("content-digest", digest);
        }
        Answer::of(request.body(bytes.to_vec()).send().await.unwrap()).await
    }
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) request_id: String,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) json: Value,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Answer {
        let headers = response.headers().clone();
        let text = |name: &str| {
            headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (kind, request_id) = (text("content-type"), text("x-request-id"));
        let status = response.status().as_u16();
        let bytes = response.bytes().await.unwrap().to_vec();
        let json = serde_json::from_slice(&bytes).unwrap_or_default();
        Answer { status, kind, request_id, headers, bytes, json }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The code of the problem, after checking its form.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.kind, "application/problem+json", "{self:?}");
        assert_eq!(self.json["status"], self.status, "{self:?}");
        assert_eq!(self.json["request_id"], self.request_id.as_str());
        assert!(!self.json["detail"].as_str().unwrap().is_empty());
        let kind = self.json["type"].as_str().unwrap();
        kind.strip_prefix("urn:evidence-platform:problem:").unwrap().to_owned()
    }
}
