//! Sends a host something to keep.
//!
//! An [`UploadClient`] is a client like any other (its waits, retries, limits and proxy are the same), and the only one that
//! takes an [`UploadRequest`]. It never follows redirects: an order is for the named host. It may send an order again,
//! so the host must store the same bytes in the same place.

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use url::Url;

use super::call::{Parse, Reading};
use super::client::Client;
use super::reply::{Reply, RequestFailure};
use super::request::{Method, Request};
use super::upload::UploadFile;

/// A client of a host that keeps what it receives.
pub struct UploadClient(Client);

/// A request to such a host.
pub struct UploadRequest(Request);

impl UploadRequest {
    /// A GET request.
    pub fn question(url: Url) -> UploadRequest {
        let label = url.path().to_string();
        UploadRequest(Request { order: true, ..Request::get(url, label) })
    }

    /// A POST without a body.
    pub fn command(url: Url) -> UploadRequest {
        let UploadRequest(request) = UploadRequest::question(url);
        UploadRequest(Request { method: Method::Post, ..request })
    }

    /// A POST of a short text. Its label is fixed: an address that notes are sent to is often a secret.
    pub fn note(url: Url, text: String) -> UploadRequest {
        UploadRequest(Request {
            order: true,
            ..Request::post(url, "notification", "text/plain; charset=utf-8", text.into_bytes())
        })
    }

    /// A POST of a file to keep, with its digest.
    pub fn upload(url: Url, media_type: &'static str, upload: &UploadFile) -> UploadRequest {
        let UploadRequest(mut request) = UploadRequest::command(url);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        request.headers.insert(CONTENT_LENGTH, HeaderValue::from(upload.bytes()));
        if let Ok(digest) = HeaderValue::from_str(&upload.content_digest()) {
            request.headers.insert("content-digest", digest);
        }
        UploadRequest(Request { upload: Some(upload.clone()), ..request })
    }
}

impl UploadClient {
    /// Allows this client to send orders.
    pub fn new(client: Client) -> UploadClient {
        UploadClient(client)
    }

    /// Sends the request until there is a final answer of at most `limit` bytes, which `parse` reads.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestFailure`] if there is no answer.
    pub async fn send<T: Send>(
        &self,
        order: &UploadRequest,
        limit: usize,
        parse: Parse<'_, T>,
    ) -> Result<Reply<T>, RequestFailure> {
        self.0.send_for(&order.0, Reading { raw: false, limit, parse, subject: None }).await
    }
}
