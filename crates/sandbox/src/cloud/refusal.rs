//! Refusals, in the form of the service that refuses: XML with 403 or 400, or JSON with 400.

use super::wire::{Service, Xml};
use serde_json::json;

/// Why a call is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Whether the service itself refuses, and not the gateway of all services.
    own: bool,
    /// The region that has the bucket.
    pub(super) region: Option<String>,
}

impl Refusal {
    /// A refusal by the service itself.
    pub(super) fn own(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), own: true, region: None }
    }

    /// The refusal of a region that is not the bucket's.
    pub(super) fn in_region(self, region: &str) -> Self {
        Self { region: Some(region.to_owned()), ..self }
    }

    fn front(
        service: Service,
        query: (u16, &'static str),
        json: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let (status, code) = if service.json() { (400, json) } else { query };
        Self { status, code, message: message.into(), own: false, region: None }
    }

    pub(super) fn missing(service: Service) -> Self {
        let message = match service.json() {
            true => "Missing Authentication Token",
            false => "Request is missing Authentication Token",
        };
        let query = (403, "MissingAuthenticationToken");
        Self::front(service, query, "MissingAuthenticationTokenException", message)
    }

    pub(super) fn incomplete(service: Service, message: impl Into<String>) -> Self {
        Self::front(service, (400, "IncompleteSignature"), "IncompleteSignatureException", message)
    }

    /// An unknown access key, a wrong session token, or a disabled region.
    pub(super) fn invalid_token(service: Service) -> Self {
        if service == Service::Ec2 {
            let message = "AWS was not able to validate the provided access credentials";
            return Self::own(401, "AuthFailure", message);
        }
        if service == Service::S3 {
            let message = "The AWS Access Key Id you provided does not exist in our records.";
            return Self::own(403, "InvalidAccessKeyId", message);
        }
        let message = "The security token included in the request is invalid.";
        Self::front(service, (403, "InvalidClientTokenId"), "UnrecognizedClientException", message)
    }

    pub(super) fn expired(service: Service) -> Self {
        if service == Service::Ec2 {
            return Self::own(400, "RequestExpired", "Request has expired.");
        }
        let message = "The security token included in the request is expired";
        Self::front(service, (403, "ExpiredToken"), "ExpiredTokenException", message)
    }

    pub(super) fn signature(service: Service, message: impl Into<String>) -> Self {
        Self::front(service, (403, "SignatureDoesNotMatch"), "InvalidSignatureException", message)
    }

    pub(super) fn wrong_signature(service: Service) -> Self {
        Self::signature(
            service,
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
             Access Key and signing method. Consult the service documentation for details.",
        )
    }

    pub(super) fn throttled(service: Service) -> Self {
        if service == Service::Ec2 {
            return Self::own(503, "RequestLimitExceeded", "Request limit exceeded.");
        }
        if service == Service::S3 {
            return Self::own(503, "SlowDown", "Please reduce your request rate.");
        }
        Self::front(service, (400, "Throttling"), "ThrottlingException", "Rate exceeded")
    }

    pub(super) fn denied(service: Service, message: impl Into<String>) -> Self {
        let message = message.into();
        match service {
            Service::Ec2 => {
                let first = "You are not authorized to perform this operation.";
                Self::own(403, "UnauthorizedOperation", format!("{first} {message}"))
            }
            Service::Organizations => {
                Self::own(400, "AccessDeniedException", "You don't have permissions to access this resource.")
            }
            Service::GuardDuty => Self::own(403, "AccessDeniedException", message),
            _ if service.json() => Self::own(400, "AccessDeniedException", message),
            _ => Self::own(403, "AccessDenied", message),
        }
    }

    pub(super) fn unknown_operation(service: Service, operation: &str) -> Self {
        let message = match (service.json(), operation) {
            (true, _) => String::new(),
            (false, "") => "Missing Action".to_owned(),
            (false, name) => format!("Could not find operation {name} for version {}", service.version()),
        };
        let code = if operation.is_empty() { "MissingAction" } else { "InvalidAction" };
        Self::front(service, (400, code), "UnknownOperationException", message)
    }

    /// A parameter that violates a rule of the interface.
    pub(super) fn constraint(service: Service, value: Option<&str>, at: &str, rule: &str) -> Self {
        let value = value.map_or_else(|| "null".to_owned(), |value| format!("'{value}'"));
        let message = format!(
            "1 validation error detected: Value {value} at '{at}' failed to satisfy constraint: Member must {rule}"
        );
        match service.json() {
            true => Self::own(400, "InvalidParameterException", message),
            false => Self::own(400, "ValidationError", message),
        }
    }

    /// A failure of the provider, or any other refusal with this status.
    pub(super) fn failure(service: Service, status: u16) -> Self {
        match status {
            // The text of the 503 comes from the services with forms; those of the others are not known for
            // certain.
            503 => Self {
                status,
                ..Self::front(
                    service,
                    (503, "ServiceUnavailable"),
                    "ServiceUnavailableException",
                    "Service is unable to handle request.",
                )
            },
            400..500 => Self { status, ..Self::throttled(service) },
            _ => Self {
                status,
                ..Self::front(
                    service,
                    (500, "InternalFailure"),
                    "InternalFailure",
                    "The request processing has failed because of an unknown error, exception or failure.",
                )
            },
        }
    }

    pub(super) fn body(&self, service: Service, request_id: &str) -> String {
        if service.json() {
            // CloudTrail writes its own messages with a capital letter.
            let key = if self.own && matches!(service, Service::Trail | Service::Organizations) {
                "Message"
            } else {
                "message"
            };
            return match self.message.is_empty() {
                true => json!({ "__type": self.code }).to_string(),
                false => json!({ "__type": self.code, key: self.message }).to_string(),
            };
        }
        let mut xml = Xml::default();
        if service == Service::Ec2 {
            xml.open("Response");
            xml.open("Errors");
            xml.open("Error");
            xml.text("Code", self.code);
            xml.text("Message", &self.message);
            xml.close("Error");
            xml.close("Errors");
            xml.text("RequestID", request_id);
            xml.close("Response");
            return xml.finish();
        }
        if service == Service::S3 {
            xml.open("Error");
            xml.text("Code", self.code);
            xml.text("Message", &self.message);
            // With a redirect, the region is in a header.
            if let Some(region) = self.region.as_ref().filter(|_| self.status == 400) {
                xml.text("Region", region);
            }
            xml.text("RequestId", request_id);
            xml.text("HostId", "aGVsbG8=");
            xml.close("Error");
            return xml.finish();
        }
        xml.root("ErrorResponse", service);
        xml.open("Error");
        xml.text("Type", if self.status < 500 { "Sender" } else { "Receiver" });
        xml.text("Code", self.code);
        xml.text("Message", &self.message);
        xml.close("Error");
        xml.text("RequestId", request_id);
        xml.close("ErrorResponse");
        xml.finish()
    }
}
