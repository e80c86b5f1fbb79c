//! Signatures: what a request claims, and what its signature should have been, by the provider's own signer.

use crate::server::Call;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign};
use aws_sigv4::sign::v4;
use jiff::Timestamp;
use std::time::SystemTime;

/// How far a clock may be off, in seconds.
pub(super) const SKEW: i64 = 300;

/// The `Authorization` header, taken apart.
pub(super) struct Claim<'a> {
    pub(super) access_key: &'a str,
    pub(super) date: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Claim<'a> {
    /// `None` without a signature; an error is what is wrong with its form.
    pub(super) fn of(call: &'a Call) -> Result<Option<Self>, String> {
        let Some(header) = call.header("authorization") else { return Ok(None) };
        // Another scheme is no signature at all.
        let Some(rest) = header.strip_prefix("AWS4-HMAC-SHA256") else { return Ok(None) };
        let part = |name: &str| {
            let mut parts = rest.split(',').filter_map(|part| part.trim().split_once('='));
            parts.find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let missing = |name: &str| {
            format!("Authorization header requires '{name}' parameter. Authorization={}", redacted(header))
        };
        let credential = part("Credential").ok_or_else(|| missing("Credential"))?;
        let signature = part("Signature").ok_or_else(|| missing("Signature"))?;
        let signed = part("SignedHeaders").ok_or_else(|| missing("SignedHeaders"))?;
        let mut scope = credential.split('/');
        match (scope.next(), scope.next(), scope.next(), scope.next(), scope.next(), scope.next()) {
            (Some(access_key), Some(date), Some(region), Some(service), Some("aws4_request"), None) => {
                Ok(Some(Self { access_key, date, region, service, signed, signature }))
            }
            _ => Err(format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got \
                 '{credential}'"
            )),
        }
    }

    /// Whether the signature is the one that this secret makes of this request.
    pub(super) fn holds(&self, call: &Call, secret: &str, token: Option<&str>, at: Timestamp) -> bool {
        let made = self.recompute(call, secret, token, at);
        made.is_some_and(|(signed, signature)| signed == self.signed && signature == self.signature)
    }

    /// The names of the headers that were signed, and the signature.
    fn recompute(
        &self,
        call: &Call,
        secret: &str,
        token: Option<&str>,
        at: Timestamp,
    ) -> Option<(String, String)> {
        let headers: Vec<(&str, &str)> =
            self.signed.split(';').filter_map(|name| Some((name, call.header(name)?))).collect();
        // Over HTTP/2 the host is not among the headers: the signer takes it from the address.
        let address = format!("{}{}", call.origin, call.path_and_query);
        let request =
            SignableRequest::new(&call.method, address, headers.into_iter(), SignableBody::Bytes(&call.body))
                .ok()?;
        let identity =
            Credentials::new(self.access_key, secret, token.map(str::to_owned), None, "sandbox").into();
        // Every header that the client names counts, also those that its own signer would have left out.
        let mut settings = SigningSettings::default();
        settings.excluded_headers = None;
        let params: SigningParams<'_> = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name(self.service)
            .time(SystemTime::from(at))
            .settings(settings)
            .build()
            .ok()?
            .into();
        let (instructions, signature) = sign(request, &params).ok()?.into_parts();
        let made = instructions.headers().find(|(name, _)| *name == "authorization")?.1.to_owned();
        let signed = made.split("SignedHeaders=").nth(1)?.split(',').next()?.trim().to_owned();
        Some((signed, signature))
    }
}

/// What the real provider repeats of the header in its messages; here without the signature's text.
fn redacted(header: &str) -> String {
    header.split("Signature=").next().unwrap_or_default().trim_end().to_owned()
}

/// `20261121T153000Z`.
pub(super) fn parse_date(text: &str) -> Option<Timestamp> {
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// The same, written.
pub(super) fn write_date(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
