//! Credentials, and the signatures made with them.
//!
//! The provider's own signer signs the exact bytes that are sent. The secret key and the session token exist only in
//! the signer's memory, which is wiped; no `Debug` output, message or printed header contains them.

use std::fmt;
use std::time::SystemTime;

use aws_credential_types::Credentials as Key;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode,
};
use aws_sigv4::sign::v4::SigningParams;
use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue};

use super::endpoint::ServiceEndpoint;
use crate::credential::{Expected, trimmed};
use evidence_http::Request;

/// The headers that the signature covers, in addition to `host` and those that the signer adds. `User-Agent` and
/// headers that the client adds later are excluded, because intermediaries may change them.
const SIGNED: [&str; 3] = ["content-type", "x-amz-account-id", "x-amz-target"];

/// What the variables should hold.
pub(crate) static ACCESS_KEY_ID: Expected =
    Expected { noun: "an access key id", own: &["AKIA", "ASIA"], example: "AKIA..." };
pub(crate) static SECRET_ACCESS_KEY: Expected =
    Expected { noun: "a secret access key", own: &[], example: "<40 characters>" };
pub(crate) static SESSION_TOKEN: Expected =
    Expected { noun: "a session token", own: &[], example: "<the token>" };

/// An access key, possibly temporary.
#[derive(Clone)]
pub(crate) struct Credentials {
    key: Key,
    /// When temporary credentials expire, by the provider's clock; `None` if unknown.
    expires: Option<Timestamp>,
}

/// Why a value cannot be an access key. Contains no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialError {
    /// The access key id is invalid.
    #[error("an access key id has letters and digits only")]
    AccessKeyId,
    /// The secret access key is invalid.
    #[error("a secret access key is one word without spaces or line breaks")]
    SecretAccessKey,
    /// The session token is invalid.
    #[error("a session token is one word without spaces or line breaks")]
    SessionToken,
}

impl Credentials {
    /// An access key from the values of variables. Surrounding white space is dropped, since a value read from a file
    /// ends with a line break.
    ///
    /// # Errors
    ///
    /// Fails if one of the values is invalid.
    pub(crate) fn new(id: &str, secret: &str, token: Option<&str>) -> Result<Credentials, CredentialError> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let id = trimmed(id);
        // The id appears in the signature between `/` and `,`.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
            return Err(CredentialError::AccessKeyId);
        }
        let secret =
            Some(trimmed(secret)).filter(|secret| is_word(secret)).ok_or(CredentialError::SecretAccessKey)?;
        let token = token.map(trimmed);
        if token.is_some_and(|token| !is_word(token)) {
            return Err(CredentialError::SessionToken);
        }
        let key = Key::new(id, secret, token.map(str::to_string), None, "evidence");
        Ok(Credentials { key, expires: None })
    }

    /// Sets the time at which the credentials expire.
    pub(crate) fn until(self, expires: Option<Timestamp>) -> Credentials {
        Credentials { expires, ..self }
    }

    /// When the credentials expire, if known.
    pub(crate) fn expires(&self) -> Option<Timestamp> {
        self.expires
    }

    /// The id, which is not secret: the provider logs it.
    pub(crate) fn access_key_id(&self) -> &str {
        self.key.access_key_id()
    }

    /// Whether the id is that of temporary credentials, which are worthless without their session token.
    pub(crate) fn is_temporary(&self) -> bool {
        self.access_key_id().starts_with("ASIA")
    }

    /// Whether there is a session token.
    pub(crate) fn has_token(&self) -> bool {
        self.key.session_token().is_some()
    }

    /// The secrets for the screen: the secret key and the session token.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let token = self.key.session_token().map(str::to_string);
        std::iter::once(self.key.secret_access_key().to_string()).chain(token).collect()
    }

    /// Signs `request` for `endpoint` at `time`. Replaces an existing signature.
    ///
    /// # Errors
    ///
    /// Fails if the request cannot be signed. The message contains no part of the credentials.
    pub(crate) fn sign(
        &self,
        request: &mut Request,
        endpoint: &ServiceEndpoint,
        time: SystemTime,
    ) -> Result<(), String> {
        let identity = self.key.clone().into();
        let mut settings = SigningSettings::default();
        if endpoint.service.is_storage() {
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        }
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&endpoint.signing_region)
            .name(endpoint.service.signing_name())
            .time(time)
            .settings(settings)
            .build()
            .map_err(|error| format!("the request cannot be signed: {error}"))?
            .into();
        let headers: Vec<(&str, &str)> = SIGNED
            .into_iter()
            .filter_map(|name| Some((name, request.headers.get(name)?.to_str().ok()?)))
            .collect();
        let body = SignableBody::Bytes(&request.body);
        let method = request.method.name();
        let signable = SignableRequest::new(method, request.url.as_str(), headers.into_iter(), body)
            .map_err(|_| "the request cannot be signed: its address cannot be read".to_string())?;
        let output = aws_sigv4::http_request::sign(signable, &params)
            .map_err(|_| "the request cannot be signed".to_string())?;
        let (instructions, _) = output.into_parts();
        let (headers, _) = instructions.into_parts();
        for header in headers {
            let mut value = HeaderValue::from_str(header.value())
                .map_err(|_| "the signature has characters that a header cannot hold".to_string())?;
            // None of these needs to be printed, and one of them is the session token.
            value.set_sensitive(true);
            request.headers.insert(HeaderName::from_static(header.name()), value);
        }
        Ok(())
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Service;
    use super::*;
    use url::Url;

    fn request(body: &str) -> Request {
        let url = Url::parse("https://sts.us-east-1.amazonaws.com/").unwrap();
        Request::post(
            url,
            "sts:GetCallerIdentity",
            "application/x-www-form-urlencoded",
            body.as_bytes().to_vec(),
        )
    }

    fn endpoint() -> ServiceEndpoint {
        let region = super::super::endpoint::Region::new("us-east-1").unwrap();
        ServiceEndpoint::new(Service::Sts, &region, None).unwrap()
    }

    fn at(text: &str) -> SystemTime {
        text.parse::<Timestamp>().unwrap().into()
    }

    #[test]
    fn secrets_are_never_shown() {
        let credentials =
            Credentials::new(" AKIDEXAMPLE\n", " not-a-real-secret\n", Some("not-a-real-token ")).unwrap();
        assert_eq!(credentials.access_key_id(), "AKIDEXAMPLE");
        assert_eq!(credentials.secrets(), ["not-a-real-secret", "not-a-real-token"]);
        let mut request = request("Action=GetCallerIdentity&Version=2011-06-15");
        credentials.sign(&mut request, &endpoint(), at("2026-11-21T00:00:00Z")).unwrap();
        assert_eq!(request.headers["x-amz-security-token"], "not-a-real-token");
        for shown in [format!("{credentials:?}"), format!("{request:?}")] {
            assert!(!shown.contains("not-a-real") && !shown.contains("Signature="), "{shown}");
        }
        let errors = [
            (Credentials::new("", "s", None), CredentialError::AccessKeyId),
            (Credentials::new("a/b", "s", None), CredentialError::AccessKeyId),
            (Credentials::new("a,b", "s", None), CredentialError::AccessKeyId),
            (Credentials::new("a", " ", None), CredentialError::SecretAccessKey),
            (Credentials::new("a", "two words", None), CredentialError::SecretAccessKey),
            (Credentials::new("a", "s", Some("")), CredentialError::SessionToken),
            (Credentials::new("a", "s", Some("x\ny")), CredentialError::SessionToken),
        ];
        for (result, error) in errors {
            assert_eq!(result.unwrap_err(), error);
        }
    }

    /// The signature covers what is sent: any change to the request changes it.
    #[test]
    fn the_signature_covers_body_time_action_and_place() {
        let credentials = Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None).unwrap();
        let time = at("2026-11-21T00:00:00Z");
        let signature = |mut request: Request, endpoint: &ServiceEndpoint, time| {
            credentials.sign(&mut request, endpoint, time).unwrap();
            // A second signature replaces the first, as in a retry.
            credentials.sign(&mut request, endpoint, time).unwrap();
            assert_eq!(request.headers.get_all("authorization").iter().count(), 1);
            assert!(!request.headers.contains_key("x-amz-security-token"));
            request.headers["authorization"].to_str().unwrap().to_string()
        };
        let one = signature(request("a"), &endpoint(), time);
        assert_eq!(one, signature(request("a"), &endpoint(), time));
        let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/sts/aws4_request, \
                     SignedHeaders=content-type;host;x-amz-date, Signature=";
        assert!(one.starts_with(scope), "{one}");
        let mut elsewhere = endpoint();
        elsewhere.signing_region = "us-west-2".to_string();
        let mut logs = endpoint();
        logs.service = Service::Logs;
        let others = [
            signature(request("b"), &endpoint(), time),
            signature(request("a"), &endpoint(), at("2026-11-21T00:00:01Z")),
            signature(request("a"), &elsewhere, time),
            signature(request("a"), &logs, time),
            signature(request("a").header("x-amz-target", "X.Y"), &endpoint(), time),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(&one, other, "{index}");
        }
    }
}
