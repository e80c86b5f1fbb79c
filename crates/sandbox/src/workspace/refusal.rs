//! Refusals, in one form for the directory's interfaces and another for the token endpoint.

use serde_json::{Value, json};

/// The form of the refusal of too many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// 403 `userRateLimitExceeded`: the older form, for one user.
    UserRate,
    /// 403 `quotaExceeded`: the project's queries per minute.
    Quota,
    /// 429 `rateLimitExceeded`, `RESOURCE_EXHAUSTED`.
    TooMany,
}

/// Why a call is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
}

const QUOTA: &str = "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service \
    'admin.googleapis.com' for consumer 'project_number:482910573661'.";

impl Refusal {
    fn new(status: u16, message: &str, domain: &str, reason: &str, kind: Option<&str>) -> Self {
        let mut error = json!({
            "code": status,
            "message": message,
            "errors": [{ "message": message, "domain": domain, "reason": reason }],
        });
        if let (Some(kind), Some(error)) = (kind, error.as_object_mut()) {
            error.insert("status".to_owned(), kind.into());
        }
        Self { status, body: json!({ "error": error }) }
    }

    /// A refusal of the token endpoint.
    pub(super) fn token(status: u16, error: &str, description: &str) -> Self {
        Self { status, body: json!({ "error": error, "error_description": description }) }
    }

    pub(super) fn unauthenticated() -> Self {
        let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or \
            other valid authentication credential. See \
            https://developers.google.com/identity/sign-in/web/devconsole-project.";
        let error = json!({
            "code": 401,
            "message": message,
            "errors": [{
                "message": "Invalid Credentials",
                "domain": "global",
                "reason": "authError",
                "location": "Authorization",
                "locationType": "header",
            }],
            "status": "UNAUTHENTICATED",
        });
        Self { status: 401, body: json!({ "error": error }) }
    }

    pub(super) fn scope() -> Self {
        let error = json!({
            "code": 403,
            "message": "Request had insufficient authentication scopes.",
            "errors": [{
                "message": "Insufficient Permission",
                "domain": "global",
                "reason": "insufficientPermissions",
            }],
            "status": "PERMISSION_DENIED",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
                "domain": "googleapis.com",
                "metadata": { "service": "admin.googleapis.com" },
            }],
        });
        Self { status: 403, body: json!({ "error": error }) }
    }

    pub(super) fn not_authorized() -> Self {
        Self::new(403, "Not Authorized to access this resource/api", "global", "forbidden", None)
    }

    /// A refusal of the interface for policies. The exact texts are not known for certain.
    pub(super) fn caller() -> Self {
        let error = json!({
            "code": 403,
            "message": "The caller does not have permission",
            "status": "PERMISSION_DENIED",
        });
        Self { status: 403, body: json!({ "error": error }) }
    }

    /// A parameter that the interface for policies does not understand.
    pub(super) fn argument(message: &str) -> Self {
        let error = json!({ "code": 400, "message": message, "status": "INVALID_ARGUMENT" });
        Self { status: 400, body: json!({ "error": error }) }
    }

    pub(super) fn api_disabled() -> Self {
        let message = "Admin SDK API has not been used in project 482910573661 before or it is disabled. Enable it by \
            visiting https://console.developers.google.com/apis/api/admin.googleapis.com/overview?project=482910573661 \
            then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems \
            and retry.";
        Self::new(403, message, "usageLimits", "accessNotConfigured", Some("PERMISSION_DENIED"))
    }

    /// A refusal of the service that signs, in the newer form.
    fn iam(status: u16, message: &str, kind: &str, detail: Option<(&str, Value)>) -> Self {
        let mut error = json!({ "code": status, "message": message, "status": kind });
        if let (Some((reason, metadata)), Some(error)) = (detail, error.as_object_mut()) {
            let detail = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": reason,
                "domain": "iam.googleapis.com",
                "metadata": metadata,
            }]);
            error.insert("details".to_owned(), detail);
        }
        Self { status, body: json!({ "error": error }) }
    }

    pub(super) fn may_not_sign() -> Self {
        let message = "Permission 'iam.serviceAccounts.signJwt' denied on resource (or it may not exist).";
        let metadata = json!({ "permission": "iam.serviceAccounts.signJwt" });
        Self::iam(403, message, "PERMISSION_DENIED", Some(("IAM_PERMISSION_DENIED", metadata)))
    }

    pub(super) fn signing_scope() -> Self {
        let message = "Request had insufficient authentication scopes.";
        let metadata = json!({ "service": "iamcredentials.googleapis.com" });
        Self::iam(403, message, "PERMISSION_DENIED", Some(("ACCESS_TOKEN_SCOPE_INSUFFICIENT", metadata)))
    }

    pub(super) fn iam_disabled() -> Self {
        let message = "IAM Service Account Credentials API has not been used in project 482910573661 before or it is \
            disabled.";
        let metadata = json!({ "service": "iamcredentials.googleapis.com" });
        Self::iam(403, message, "PERMISSION_DENIED", Some(("SERVICE_DISABLED", metadata)))
    }

    pub(super) fn invalid_argument() -> Self {
        Self::iam(400, "Request contains an invalid argument.", "INVALID_ARGUMENT", None)
    }

    pub(super) fn domain_not_found() -> Self {
        Self::new(404, "Domain not found.", "global", "notFound", None)
    }

    pub(super) fn group_not_found() -> Self {
        Self::new(404, "Resource Not Found: groupKey", "global", "notFound", None)
    }

    pub(super) fn invalid_input() -> Self {
        Self::new(400, "Invalid Input", "global", "invalid", None)
    }

    pub(super) fn bad_request() -> Self {
        Self::new(400, "Bad Request", "global", "badRequest", None)
    }

    /// A parameter out of bounds, or malformed. The exact texts are not known for certain.
    pub(super) fn parameter(name: &str, message: &str) -> Self {
        let mut refusal = Self::new(400, message, "global", "invalidParameter", None);
        if let Some(error) = refusal.body.pointer_mut("/error/errors/0").and_then(Value::as_object_mut) {
            error.insert("location".to_owned(), name.into());
            error.insert("locationType".to_owned(), "parameter".into());
        }
        refusal
    }

    pub(super) fn limit(limit: Limit) -> Self {
        match limit {
            Limit::UserRate => {
                Self::new(403, "User Rate Limit Exceeded", "usageLimits", "userRateLimitExceeded", None)
            }
            Limit::Quota => Self::new(403, QUOTA, "usageLimits", "quotaExceeded", None),
            Limit::TooMany => {
                Self::new(429, QUOTA, "usageLimits", "rateLimitExceeded", Some("RESOURCE_EXHAUSTED"))
            }
        }
    }

    /// A failure of the provider, or any other refusal with this status.
    pub(super) fn failure(status: u16) -> Self {
        match status {
            429 => Self::limit(Limit::TooMany),
            503 => Self::new(
                503,
                "The service is currently unavailable.",
                "global",
                "backendError",
                Some("UNAVAILABLE"),
            ),
            400..500 => Self::new(status, "Bad Request", "global", "badRequest", None),
            _ => Self::new(status, "Internal error encountered.", "global", "backendError", Some("INTERNAL")),
        }
    }
}
