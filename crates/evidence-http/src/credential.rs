//! How a client proves who asks.
//!
//! A [`Credential`] is one way to sign in, apart from the [`Dialect`](super::Dialect) of the host: a key that never
//! changes, a signature over each request, or a token that expires. A client first waits for all limits, then for
//! [`Credential::ready`], and only then calls [`Credential::authorize`], so that what expires is fresh when it is sent.
//! [`Login`](super::Login) holds what a credential sends, and renews it.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::Timestamp;
use reqwest::header::HeaderMap;

use super::reply::CallError;
use super::request::Request;

/// One way to sign in.
pub trait Credential: Send + Sync {
    /// Ensures that the next request can be authorized, for example by exchanging an assertion for a token. The client
    /// awaits it before every attempt, with a place in its own gate: requests that it makes need a client with another
    /// gate ([`Client::sibling`](super::Client::sibling)).
    ///
    /// # Errors
    ///
    /// Fails if there is nothing valid to send. The client does not send the request, and returns this error instead.
    fn ready(&self) -> BoxFuture<'_, Result<(), CallError>> {
        ready(Ok(())).boxed()
    }

    /// Adds to the request what proves who asks. `now` is the time of sending, by this machine's clock.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be made. The text says why, without any part of a secret.
    fn authorize(&self, request: &mut Request, now: Timestamp) -> Result<(), String>;

    /// Learns that the host accepted a request with these headers.
    fn accepted(&self, _sent: &HeaderMap) {}

    /// Learns that the host did not accept who sent these headers. Returns whether it has, or can get, something else
    /// to send: the client then sends the same request once more. Otherwise the client sends no further request.
    fn refused(&self, _sent: &HeaderMap) -> bool {
        false
    }
}

/// For questions that anyone may ask, or that carry their proof in the body.
#[derive(Debug, Clone, Copy)]
pub struct Anonymous;

impl Credential for Anonymous {
    fn authorize(&self, _request: &mut Request, _now: Timestamp) -> Result<(), String> {
        Ok(())
    }
}
