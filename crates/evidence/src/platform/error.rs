//! Upload errors: why a bundle is not on the platform, and what to do about it.

use std::fmt;

use evidence_bundle::read::NewerBundle;
use url::Url;

use super::problem::{ProblemDetails, joined};
use crate::exit::Exit;
use evidence_http::{HelpTarget, PermanentFailure};

/// The step of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadStep {
    /// Signing in.
    Authenticate,
    /// Uploading the bundle.
    Upload,
    /// Having the platform verify it.
    Verify,
}

impl fmt::Display for UploadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UploadStep::Authenticate => "sign in at the evidence platform",
            UploadStep::Upload => "upload the bundle",
            UploadStep::Verify => "have the platform verify the bundle",
        })
    }
}

/// A refusal by the platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot {step}: {api_url} answers HTTP {}{}{}{}",
    .problem.status,
    after_colon(.problem.text()),
    in_brackets(.problem.request_id.as_deref()),
    after_attempts(*attempts)
)]
pub struct PlatformRefusal {
    /// The step that failed.
    pub step: UploadStep,
    /// The platform's address.
    pub api_url: String,
    /// The platform's message.
    pub problem: ProblemDetails,
    /// The number of attempts.
    pub attempts: u32,
    /// The variable that holds the key.
    pub api_key_env: String,
}

impl PlatformRefusal {
    fn may_pass(&self) -> bool {
        matches!(self.problem.status, 408 | 429 | 500..=599) || self.problem.is_damage()
    }

    fn help(&self) -> Option<String> {
        if self.problem.code.as_deref() == Some("no-trusted-key") {
            return Some(TRUST.to_string());
        }
        if self.problem.code.as_deref() == Some(NewerBundle::CODE) {
            return Some(UPDATE.to_string());
        }
        let text = match (self.problem.status, self.step) {
            (401, _) => {
                let variable = &self.api_key_env;
                format!("set {variable} to a key of this platform that has not been revoked")
            }
            (403, UploadStep::Authenticate) => {
                "the platform knows the key but grants it no permission: ask the platform's administrator"
                    .to_string()
            }
            (403, _) => ROLE.to_string(),
            (404, UploadStep::Authenticate) => ADDRESS.to_string(),
            (413, _) => {
                "have the platform's administrator raise its limit, or collect fewer repositories per \
                         configuration"
                    .to_string()
            }
            (422, _) => not_trusted(self.problem.reason.as_deref()),
            _ => return None,
        };
        Some(text)
    }
}

/// The help if the address is not that of a platform.
const ADDRESS: &str = "check that this is the address of an evidence platform: upload.api_url (or --endpoint) is \
                       the part before /api/v1";

/// The help for a bundle that the platform rejects. It depends on `reason`: a code of the bundle format, or of the
/// platform's store.
fn not_trusted(reason: Option<&str>) -> String {
    match reason {
        None | Some("signature-invalid" | "key-outside-validity" | "no-trusted-key") => TRUST.to_string(),
        Some(NewerBundle::CODE) => UPDATE.to_string(),
        Some("blob-missing" | "digest-mismatch") => {
            "the platform lost or changed the bundle: report this to its administrator".to_string()
        }
        Some(_) => "the file is damaged or not a bundle: check it with `evidence verify`".to_string(),
    }
}

/// The help for a read-only API key.
const ROLE: &str = "create a key with the role `upload` on the platform";

/// The help for an untrusted signing key.
const TRUST: &str = "the platform must trust the key that signed the bundle: have its administrator add your public \
                     key; `evidence verify` shows its id";

/// The help for a platform older than the bundle.
const UPDATE: &str = "have the platform's administrator update it, then upload the bundle again";

/// Why a bundle is not on the platform, or not verified there. Every text has passed the screen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The new bundle changed after it was written.
    #[error("the bundle was not uploaded: {0}")]
    Local(String),
    /// The HTTP client cannot be created.
    #[error("{0}")]
    Client(String),
    /// The platform refused the request.
    #[error("{0}")]
    Refused(Box<PlatformRefusal>),
    /// No answer came, or none from the platform.
    #[error(
        "cannot {step}: {api_url}{} {text}{}",
        if *foreign { " answers" } else { ":" },
        after_attempts(*attempts)
    )]
    NoAnswer {
        /// The step that failed.
        step: UploadStep,
        /// The platform's address.
        api_url: String,
        /// The answer or failure instead.
        text: String,
        /// The number of attempts.
        attempts: u32,
        /// Whether something other than a platform answered.
        foreign: bool,
        /// The permanent, if it will not go away by itself.
        permanent: Option<Box<PermanentFailure>>,
    },
    /// The platform's answer contradicts its documentation or the facts.
    #[error("cannot {step}: {text}")]
    Strange {
        /// The step that failed.
        step: UploadStep,
        /// The problem with the answer.
        text: String,
    },
    /// The file changed during the upload.
    #[error("the bundle changed while it was uploaded; the platform does not have it")]
    Changed,
    /// The file could not be read completely.
    #[error("cannot read the whole bundle: {0}")]
    Unreadable(String),
    /// The key belongs to another organization.
    #[error("the API key belongs to the organization {actual}, not to {expected}")]
    OtherOrganization {
        /// The expected organization.
        expected: String,
        /// The key's organization.
        actual: String,
    },
    /// The platform reports storing other bytes than were sent.
    #[error("the platform stored other bytes than were sent: sha256 {kept}, not {sent}")]
    OtherDigest {
        /// The digest of the sent bytes.
        sent: String,
        /// The digest that the platform reports.
        kept: String,
    },
    /// The platform could not verify the bundle.
    #[error(
        "the platform stored the bundle but could not verify it{}",
        after_colon(joined(.reason.as_deref(), .words.as_deref()))
    )]
    NotVerified {
        /// The code of its reason.
        reason: Option<String>,
        /// The reason as text.
        words: Option<String>,
    },
    /// The platform reports another signing key than was found here.
    #[error("the platform reports the signing key {platform}; the bundle was signed by {local}")]
    OtherKey {
        /// The key that was found here.
        local: String,
        /// The key that the platform reports.
        platform: String,
    },
    /// The API key is read-only.
    #[error("the API key has the role {role}, which cannot upload")]
    ReadOnly {
        /// The platform's name of the role.
        role: String,
    },
    /// The platform would refuse every bundle that this key signs.
    #[error("the platform does not trust the signing key {key}")]
    SignerNotTrusted {
        /// The name of the key.
        key: String,
    },
    /// A signal.
    #[error("interrupted: the upload is not complete")]
    Interrupted(Exit),
}

impl UploadError {
    /// Whether a retry can succeed without any change.
    pub fn may_pass(&self) -> bool {
        match self {
            UploadError::NoAnswer { foreign, permanent, .. } => !foreign && permanent.is_none(),
            UploadError::Refused(refusal) => refusal.may_pass(),
            UploadError::Interrupted(_) | UploadError::Unreadable(_) => true,
            UploadError::Local(_)
            | UploadError::Client(_)
            | UploadError::Strange { .. }
            | UploadError::Changed
            | UploadError::OtherOrganization { .. }
            | UploadError::OtherDigest { .. }
            | UploadError::NotVerified { .. }
            | UploadError::OtherKey { .. }
            | UploadError::ReadOnly { .. }
            | UploadError::SignerNotTrusted { .. } => false,
        }
    }

    /// Whether the platform gave no answer, or only that it is not available. The address of something else is an answer.
    pub fn is_silence(&self) -> bool {
        match self {
            UploadError::NoAnswer { foreign: true, .. } => false,
            UploadError::NoAnswer { permanent: Some(permanent), .. } => !matches!(
                **permanent,
                PermanentFailure::UnknownName | PermanentFailure::Protocol | PermanentFailure::Page
            ),
            UploadError::NoAnswer { .. } => true,
            UploadError::Refused(refusal) => refusal.may_pass(),
            UploadError::Local(_)
            | UploadError::Client(_)
            | UploadError::Strange { .. }
            | UploadError::Changed
            | UploadError::Unreadable(_)
            | UploadError::OtherOrganization { .. }
            | UploadError::OtherDigest { .. }
            | UploadError::NotVerified { .. }
            | UploadError::OtherKey { .. }
            | UploadError::ReadOnly { .. }
            | UploadError::SignerNotTrusted { .. }
            | UploadError::Interrupted(_) => false,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Vec<String> {
        let text = match self {
            UploadError::Refused(refusal) => return refusal.help().into_iter().collect(),
            UploadError::NoAnswer { permanent: Some(permanent), api_url, .. } => {
                let url = Url::parse(api_url).ok();
                let host = url.as_ref().and_then(Url::host_str).unwrap_or("the platform");
                return permanent.help(HelpTarget { host, address: "upload.api_url", ca_file: None });
            }
            UploadError::ReadOnly { .. } => ROLE.to_string(),
            UploadError::SignerNotTrusted { .. } => {
                "have the platform's administrator add the public key that belongs to your signing key".to_string()
            }
            UploadError::NotVerified { reason, .. } => not_trusted(reason.as_deref()),
            UploadError::NoAnswer { foreign: true, .. } => ADDRESS.to_string(),
            UploadError::NoAnswer { step: UploadStep::Upload, .. } => {
                "check the proxy and the network; a proxy that limits the size of requests may also close the \
                 connection"
                    .to_string()
            }
            UploadError::NoAnswer { .. } => "check upload.api_url, the proxy and the network".to_string(),
            UploadError::OtherOrganization { .. } => {
                "use a key of that organization, or correct upload.organization_id (or --organization); nothing was \
                 sent"
                    .to_string()
            }
            UploadError::Changed | UploadError::Local(_) => {
                "another program writes to this file; check it with `evidence verify` before you upload it".to_string()
            }
            UploadError::OtherDigest { .. } | UploadError::OtherKey { .. } => {
                "do not rely on this upload; report it to the platform's administrator".to_string()
            }
            UploadError::Strange { .. } => {
                "this platform and this version of evidence may be incompatible: ask the platform's administrator".to_string()
            }
            UploadError::Client(_)
            | UploadError::Unreadable(_)
            | UploadError::Interrupted(_) => return Vec::new(),
        };
        vec![text]
    }
}

fn after_colon(words: Option<String>) -> String {
    words.map_or_else(String::new, |words| format!(": {words}"))
}

fn in_brackets(request_id: Option<&str>) -> String {
    request_id.map_or_else(String::new, |id| format!(" [request {id}]"))
}

fn after_attempts(attempts: u32) -> String {
    if attempts > 1 { format!(" (after {attempts} attempts)") } else { String::new() }
}
