//! Handing something over: the one way to send what is to be kept.
//!
//! An [`Uplink`] is a client like any other (its waits, retries, limits and proxy are the same), and the only one that takes
//! an [`UplinkRequest`]. An order is never redirected: it is meant for the host that was named. Every order may be sent again, so
//! whoever keeps things must give the same bytes the same place.

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use url::Url;

use super::client::{Client, Parse};
use super::parcel::Parcel;
use super::reply::{Reply, RequestFailure};
use super::request::{Method, Request};

/// A client of a host that keeps what it is given.
pub struct Uplink(Client);

/// What such a host is asked.
pub struct UplinkRequest(Request);

impl UplinkRequest {
    /// A question by GET.
    pub fn question(url: Url) -> UplinkRequest {
        let label = url.path().to_string();
        UplinkRequest(Request { order: true, ..Request::get(url, label) })
    }

    /// An order by POST without a body.
    pub fn command(url: Url) -> UplinkRequest {
        let UplinkRequest(request) = UplinkRequest::question(url);
        UplinkRequest(Request { method: Method::Post, ..request })
    }

    /// A file to keep, by POST, with its digest.
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
    /// The client as one that may hand something over.
    pub fn new(client: Client) -> Uplink {
        Uplink(client)
    }

    /// Sends the order until there is an answer that stands, of at most `limit` bytes, which `parse` reads.
    ///
    /// # Errors
    ///
    /// A [`RequestFailure`] if there is no answer.
    pub async fn send<T>(
        &self,
        order: &UplinkRequest,
        limit: usize,
        parse: Parse<'_, T>,
    ) -> Result<Reply<T>, RequestFailure> {
        self.0.send_for(&order.0, false, limit, parse).await
    }
}
