//! Reads what a client sends: names in paths, parameters, JSON bodies, the announced digest. Everything is bounded.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_bundle::document::is_bundle_id;
use futures_util::{Stream, StreamExt as _};
use http::HeaderMap;
use http::header::EXPECT;
use http::request::Parts;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::Error;
use crate::id::BlobDigest;

/// The most bytes of a form or a JSON body.
const SMALL_BYTES: usize = 64 << 10;
/// How long such a body may take to arrive.
const SMALL_TIME: Duration = Duration::from_secs(20);
/// How many bytes of a refused request's body to read, so that the client reads the answer.
pub(super) const DRAIN_BYTES: usize = 16 << 20;
/// How long to read a refused body.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// A name in the path. A malformed name is not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|_| Error::NotFound(NAME))?;
        Id::parse(text)
    }
}

/// What a malformed name is called in the error.
const NAME: &str = "thing of this name";

impl Id {
    /// Parses a name that does not come from the path.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] if the name is malformed.
    pub fn parse(text: String) -> Result<Id, Error> {
        // The names of bundles and of keys, whose ids have a colon.
        if is_bundle_id(&text.replace(':', "-")) { Ok(Id(text)) } else { Err(Error::NotFound(NAME)) }
    }
}

/// A name and a path below it. A path that is not UTF-8 is not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for Inside {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Inside, Error> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((id, path)) = path.map_err(|_| Error::NotFound(NAME))?;
        let Id(id) = Id::parse(id)?;
        Ok(Inside(id, path))
    }
}

/// The parameters of the query. Every one must be taken by name.
#[derive(Debug, Clone, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn decode(text: &[u8]) -> Parameters {
        let pairs = url::form_urlencoded::parse(text);
        Parameters(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
    }

    /// Whether there is a parameter of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Takes an optional parameter.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if it is given more than once.
    pub fn one(&mut self, name: &str) -> Result<Option<String>, Error> {
        let mut values = self.all(name);
        match (values.pop(), values.is_empty()) {
            (value, true) => Ok(value),
            (_, false) => Err(Error::Invalid(format!("{name} is given more than once"))),
        }
    }

    /// Takes an optional numeric parameter.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`].
    pub fn integer(&mut self, name: &str) -> Result<Option<u32>, Error> {
        let read = |text: String| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse()
                .ok()
                .filter(|_| digits)
                .ok_or_else(|| Error::Invalid(format!("{name} must be a whole number")))
        };
        self.one(name)?.map(read).transpose()
    }

    /// Takes a parameter that may repeat.
    pub fn all(&mut self, name: &str) -> Vec<String> {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| key == name);
        self.0 = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Refuses parameters that were not taken, so that a misspelt one is reported.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`].
    pub fn end(self) -> Result<(), Error> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::Invalid(format!("unknown parameter {:?}", shortened(name)))),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Parameters, Error> {
        Ok(Parameters::decode(parts.uri.query().unwrap_or_default().as_bytes()))
    }
}

/// The fields of a form.
#[derive(Debug, Clone, Default)]
pub struct Form(pub Parameters);

impl Form {
    /// Reads the body of a form (`application/x-www-form-urlencoded`).
    ///
    /// # Errors
    /// Fails with [`Error::TooLarge`], [`Error::TooSlow`] or [`Error::BodyIncomplete`].
    pub async fn read(request: Request) -> Result<Form, Error> {
        let bytes = small_body(request).await?;
        Ok(Form(Parameters::decode(&bytes)))
    }
}

/// A JSON body.
#[derive(Debug, Clone)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Json<T>, Error> {
        let bytes = small_body(request).await?;
        let value = serde_json::from_slice(&bytes);
        value.map(Json).map_err(|error| Error::unusable("the JSON body cannot be used", error))
    }
}

/// Reads a small body completely.
async fn small_body(request: Request) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut body = request.into_body().into_data_stream();
    let read = async {
        while let Some(chunk) = body.next().await {
            bytes.extend_from_slice(&chunk.map_err(|_| Error::BodyIncomplete)?);
            if bytes.len() > SMALL_BYTES {
                return Err(Error::TooLarge(u64::try_from(SMALL_BYTES).unwrap_or_default()));
            }
        }
        Ok(())
    };
    timeout(SMALL_TIME, read).await.map_err(|_| Error::TooSlow)??;
    Ok(bytes)
}

/// The SHA-256 that `Content-Digest` announces (RFC 9530, section 2).
///
/// # Errors
/// Fails with [`Error::DigestMissing`] if it is missing, repeated or malformed.
pub fn content_digest(headers: &HeaderMap) -> Result<BlobDigest, Error> {
    let mut found = None;
    for value in headers.get_all("content-digest") {
        for member in value.to_str().map_err(|_| Error::DigestMissing)?.split(',') {
            let Some(encoded) = member.trim_matches([' ', '\t']).strip_prefix("sha-256=") else { continue };
            let encoded = encoded.strip_prefix(':').and_then(|rest| rest.strip_suffix(':'));
            let digest = encoded.and_then(|text| STANDARD.decode(text).ok());
            let digest = digest.and_then(|bytes| bytes.try_into().ok()).ok_or(Error::DigestMissing)?;
            if found.replace(BlobDigest(digest)).is_some() {
                return Err(Error::DigestMissing);
            }
        }
    }
    found.ok_or(Error::DigestMissing)
}

/// Whether the client waits for permission before it sends the body (RFC 9110, section 10.1.1). Reading would grant it.
pub(super) fn waits(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Reads and discards the body of a refused request, within bounds: a client that is still sending would not read
/// the answer.
pub(super) async fn refuse(request: Request, bytes: usize) {
    if !waits(request.headers()) {
        drain(&mut request.into_body().into_data_stream(), bytes).await;
    }
}

/// Like [`refuse`], for a body that was read in part.
pub(super) async fn drain<T, E>(body: &mut (impl Stream<Item = Result<T, E>> + Unpin), bytes: usize)
where
    T: AsRef<[u8]>,
{
    let read = async {
        let mut left = bytes;
        while let Some(Ok(chunk)) = body.next().await {
            match left.checked_sub(chunk.as_ref().len()) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // A client that sends for longer loses the answer.
    let _ = timeout(DRAIN_TIME, read).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_the_standard_says() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("content-digest", value.parse().unwrap());
            }
            content_digest(&headers)
        };
        let sha = format!("sha-256=:{}:", STANDARD.encode([7; 32]));
        assert_eq!(read(&[&sha]).unwrap(), BlobDigest([7; 32]));
        assert_eq!(read(&[&format!("sha-512=:AAAA:, {sha}")]).unwrap(), BlobDigest([7; 32]));
        assert_eq!(read(&["md5=:AAAA:", &sha]).unwrap(), BlobDigest([7; 32]));
        let short = format!("sha-256=:{}:", STANDARD.encode([7; 31]));
        let twice = format!("{sha}, {sha}");
        for values in
            [&[][..], &["sha-512=:AAAA:"], &["sha-256=AAAA"], &["sha-256=:!:"], &[&short], &[&twice]]
        {
            assert!(matches!(read(values), Err(Error::DigestMissing)), "{values:?}");
        }
    }

    #[test]
    fn parameters_are_taken_one_by_one() {
        let pairs = [("limit", "5"), ("tag", "a=b"), ("tag", "c=d"), ("limt", "6")];
        let mut parameters =
            Parameters(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect());
        assert_eq!(parameters.integer("limit").unwrap(), Some(5));
        assert!(parameters.clone().one("tag").is_err());
        assert_eq!(parameters.all("tag"), ["a=b", "c=d"]);
        assert_eq!(parameters.one("cursor").unwrap(), None);
        assert!(parameters.end().unwrap_err().to_string().contains("limt"));
        for text in ["", "-1", "+1", "1.5", "99999999999"] {
            assert!(Parameters(vec![("n".into(), text.into())]).integer("n").is_err(), "{text}");
        }
    }
}
