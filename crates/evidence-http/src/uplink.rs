//! Sends a host something to keep.
//!
//! An [`Uplink`] is a client like any other (its waits, retries, limits and proxy are the same), and the only one that
//! takes an [`UplinkRequest`]. It never follows redirects: an order is for the named host. It may send an order again,
//! so the host must store the same bytes in the same place.

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use url::Url;

use super::call::{Parse, Reading};
use super::client::Client;
use super::parcel::Parcel;
use super::reply::{Reply, RequestFailure};
use super::request::{Method, Request};

/// A client of a host that keeps what it receives.
pub struct Uplink(Client);

/// A request to such a host.
pub struct UplinkRequest(Request);

impl UplinkRequest {
    /// A GET request.
    pub fn question(url: Url) -> UplinkRequest {
        let label = url.path().to_string();
        UplinkRequest(Request { order: true, ..Request::get(url, label) })
    }

    /// A POST without a body.
    pub fn command(url: Url) -> UplinkRequest {
        let UplinkRequest(request) = UplinkRequest::question(url);
        UplinkRequest(Request { method: Method::Post, ..request })
    }

    /// A POST of a file to keep, with its digest.
    pub fn parcel(url: Url, media_type: &'static str, parcel: &Parcel) -> UplinkRequest {
        let UplinkRequest(mut request) = UplinkRequest::command(url);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        request.headers.insert(CONTENT_LENGTH, HeaderValue::from(parcel.bytes()));
        if let Ok(digest) = HeaderValue::from_str(&parcel.content_digest()) {
            request.headers.insert("content-digest", digest);
        }
        UplinkRequest(Request { parcel: Some(parcel.clone()), ..request })
    }
}

impl Uplink {
    /// Allows this client to send orders.
    pub fn new(client: Client) -> Uplink {
        Uplink(client)
    }

    /// Sends the request until there is a final answer of at most `limit` bytes, which `parse` reads.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestFailure`] if there is no answer.
    pub async fn send<T>(
        &self,
        order: &UplinkRequest,
        limit: usize,
        parse: Parse<'_, T>,
    ) -> Result<Reply<T>, RequestFailure> {
        self.0.send_for(&order.0, Reading { raw: false, limit, parse, subject: None }).await
    }
}
