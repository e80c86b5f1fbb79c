//! Signatures: parses what a request claims, and recomputes it with the provider's own signer.

use crate::server::Call;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningParams, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use jiff::Timestamp;
use std::time::SystemTime;

/// How far a clock may be off, in seconds.
pub(super) const SKEW: i64 = 300;

/// The parsed `Authorization` header.
pub(super) struct Claim<'a> {
    pub(super) access_key: &'a str,
    pub(super) date: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Claim<'a> {
    /// `None` without a signature; an error describes a malformed one.
    pub(super) fn of(call: &'a Call) -> Result<Option<Self>, String> {
        let Some(header) = call.header("authorization") else { return Ok(None) };
        // Another scheme does not count as a signature.
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

    /// Whether this secret gives this request its signature.
    pub(super) fn holds(&self, call: &Call, secret: &str, token: Option<&str>, at: Timestamp) -> bool {
        let made = self.recompute(call, secret, token, at);
        made.is_some_and(|(signed, signature)| signed == self.signed && signature == self.signature)
    }

    /// The names of the signed headers, and the signature.
    fn recompute(
        &self,
        call: &Call,
        secret: &str,
        token: Option<&str>,
        at: Timestamp,
    ) -> Option<(String, String)> {
        let headers: Vec<(&str, &str)> =
            self.signed.split(';').filter_map(|name| Some((name, call.header(name)?))).collect();
        // HTTP/2 has no host header: the signer takes the host from the address.
        let address = format!("{}{}", call.origin, call.path_and_query);
        let request =
            SignableRequest::new(&call.method, address, headers.into_iter(), SignableBody::Bytes(&call.body))
                .ok()?;
        let identity =
            Credentials::new(self.access_key, secret, token.map(str::to_owned), None, "sandbox").into();
        // Every header that the client lists counts, even those that its own signer would omit.
        let mut settings = SigningSettings::default();
        settings.excluded_headers = None;
        if self.service == "s3" {
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        }
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

/// The header as the real provider quotes it in messages, here without the signature.
fn redacted(header: &str) -> String {
    header.split("Signature=").next().unwrap_or_default().trim_end().to_owned()
}

/// `20261121T153000Z`.
pub(super) fn parse_date(text: &str) -> Option<Timestamp> {
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// The inverse of `parse_date`.
pub(super) fn write_date(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
