//! A minimal client: one request per connection, sent and received unchanged.

use sandbox::Server;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer as on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found =
            |line: &&str| line.split(':').next().is_some_and(|known| known.eq_ignore_ascii_case(name));
        self.head.lines().skip(1).find(found).map(|line| line[name.len() + 1..].trim())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn number(&self, name: &str) -> i64 {
        self.header(name).unwrap_or_else(|| panic!("no {name} in {}", self.head)).parse().unwrap()
    }
}

/// Sends, and reads to the end of the connection; returns its error, if any.
pub(crate) fn send<Host>(server: &Server<Host>, request: &str) -> std::io::Result<(String, Vec<u8>)> {
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let body = bytes.split_off(end);
    Ok((String::from_utf8(bytes).unwrap(), body))
}

pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str("Host: sandbox\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}

pub(crate) fn raw<Host>(server: &Server<Host>, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    raw_with_body(server, method, path, headers, "")
}

pub(crate) fn raw_with_body<Host>(
    server: &Server<Host>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let length = body.len().to_string();
    let mut headers = headers.to_vec();
    if !body.is_empty() {
        headers.push(("Content-Length", &length));
    }
    let text = format!("{}{body}", request(method, path, &headers));
    let (head, body) = send(server, &text).unwrap();
    let status = head.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {head:?}")).parse().unwrap();
    Answer { status, head, body }
}

/// A GET with the headers of our own client.
pub(crate) fn get(server: &Server, token: &str, path: &str) -> Answer {
    get_with(server, token, path, &[])
}

pub(crate) fn get_with(server: &Server, token: &str, path: &str, more: &[(&str, &str)]) -> Answer {
    let authorization = format!("token {token}");
    let mut headers = vec![("User-Agent", "evidence/test"), ("Accept", "application/vnd.github+json")];
    if !token.is_empty() {
        headers.push(("Authorization", &authorization));
    }
    headers.retain(|(name, _)| !more.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    headers.extend_from_slice(more);
    raw(server, "GET", path, &headers)
}
