//! One connection with sequential requests.

use std::fmt::Write as _;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HOST, HeaderMap, HeaderValue, LINK, USER_AGENT,
};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Outcome;

/// The host of all requests.
pub(crate) struct Host {
    address: String,
    base: String,
    headers: HeaderMap,
}

impl Host {
    pub(crate) fn new(base: &str, token: &str, gzip: bool) -> Outcome<Host> {
        let uri: Uri = base.trim_end_matches('/').parse()?;
        let authority =
            uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or("not an http:// address")?;
        let address = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
        headers.insert(USER_AGENT, HeaderValue::from_static("floor"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
        headers.insert("x-github-api-version", HeaderValue::from_static("2022-11-28"));
        headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("token {token}"))?);
        if gzip {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(Host { address, base: uri.path().trim_end_matches('/').to_owned(), headers })
    }
}

/// A connection, opened when it is first needed.
pub(crate) struct Lane<'h> {
    host: &'h Host,
    sender: Option<SendRequest<Empty<Bytes>>>,
    requests: u64,
}

/// An answer.
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<'h> Lane<'h> {
    pub(crate) fn new(host: &'h Host) -> Lane<'h> {
        Lane { host, sender: None, requests: 0 }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    pub(crate) async fn get(&mut self, path: &str) -> Outcome<Answer> {
        let sender = match &mut self.sender {
            Some(sender) => sender,
            empty => {
                let stream = TcpStream::connect(&self.host.address).await?;
                stream.set_nodelay(true)?;
                let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
                tokio::spawn(connection);
                empty.insert(sender)
            }
        };
        self.requests += 1;
        let mut uri = String::with_capacity(self.host.base.len() + path.len());
        let _ = write!(uri, "{}{path}", self.host.base);
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = uri.parse()?;
        *request.headers_mut() = self.host.headers.clone();
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        let (parts, mut incoming) = response.into_parts();
        let mut body = Vec::new();
        while let Some(frame) = incoming.frame().await {
            if let Ok(data) = frame?.into_data() {
                body.extend_from_slice(&data);
            }
        }
        if parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip") {
            let mut plain = Vec::with_capacity(body.len() * 4);
            GzDecoder::new(body.as_slice()).read_to_end(&mut plain)?;
            body = plain;
        }
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

impl Answer {
    /// The body of a 200.
    pub(crate) fn good(self) -> Outcome<Vec<u8>> {
        self.found()?.ok_or_else(|| "not found".into())
    }

    /// The body of a 200; nothing for a 404.
    pub(crate) fn found(self) -> Outcome<Option<Vec<u8>>> {
        match self.status {
            StatusCode::OK => Ok(Some(self.body)),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(format!("the host answered {status}").into()),
        }
    }

    /// The number of the last page that the `Link` names.
    pub(crate) fn last_page(&self) -> Option<u64> {
        let links = self.headers.get(LINK)?.to_str().ok()?;
        let last = links.split(',').find(|link| link.contains("rel=\"last\""))?;
        let query = last.split(['<', '>']).nth(1)?.split_once('?')?.1;
        query.split('&').find_map(|pair| pair.strip_prefix("page="))?.parse().ok()
    }
}
