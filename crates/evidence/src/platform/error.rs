//! Why a bundle is not on the platform, and what to do about it.

use std::fmt;

use evidence_bundle::read::NewerBundle;
use url::Url;

use super::problem::{ProblemDetails, joined};
use crate::exit::Exit;
use evidence_http::{HelpTarget, Obstacle};

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadStep {
    /// Signing in.
    Authenticate,
    /// Handing over.
    Upload,
    /// Having it verified.
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

/// What the platform refuses, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot {step}: {api_url} answers HTTP {}{}{}{}",
    .problem.status,
    after_colon(.problem.text()),
    in_brackets(.problem.request_id.as_deref()),
    after_attempts(*attempts)
)]
pub struct PlatformRefusal {
    /// What was asked.
    pub step: UploadStep,
    /// The platform's address.
    pub api_url: String,
    /// Its words.
    pub problem: ProblemDetails,
    /// How often it was asked.
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

/// What to do if this is not a platform.
const ADDRESS: &str = "check that this is the address of an evidence platform: upload.api_url (or --endpoint) is \
                       the part before /api/v1";

/// What to do about a bundle that is not what a key signed that the platform trusts. What is wrong with it decides: a code
/// of the bundle format, or of the platform's store.
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

/// What to do about a key that may only look.
const ROLE: &str = "create a key with the role `upload` on the platform";

/// What to do if the platform does not trust the signer.
const TRUST: &str = "the platform must trust the key that signed the bundle: have its administrator add your public \
                     key; `evidence verify` shows its id";

/// What to do if the platform is older than the bundle.
const UPDATE: &str = "have the platform's administrator update it, then upload the bundle again";

/// Why a bundle is not on the platform, or is not verified there. Every text has passed the screen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The bundle that was just written is no longer what it was.
    #[error("the bundle was not uploaded: {0}")]
    Local(String),
    /// The client cannot be made.
    #[error("{0}")]
    Client(String),
    /// The platform refuses.
    #[error("{0}")]
    Refused(Box<PlatformRefusal>),
    /// There is no answer, or none of the platform's.
    #[error(
        "cannot {step}: {api_url}{} {text}{}",
        if *foreign { " answers" } else { ":" },
        after_attempts(*attempts)
    )]
    NoAnswer {
        /// What was asked.
        step: UploadStep,
        /// The platform's address.
        api_url: String,
        /// What came instead.
        text: String,
        /// How often it was asked.
        attempts: u32,
        /// Something answered that is not a platform.
        foreign: bool,
        /// What stays in the way, if it stays.
        obstacle: Option<Box<Obstacle>>,
    },
    /// The platform's answer says something else than documented, or than can be true.
    #[error("cannot {step}: {text}")]
    Strange {
        /// What was asked.
        step: UploadStep,
        /// What is wrong with the answer.
        text: String,
    },
    /// The file changed while it was sent.
    #[error("the bundle changed while it was uploaded; the platform does not have it")]
    Changed,
    /// The file could not be read to its end.
    #[error("cannot read the whole bundle: {0}")]
    Unreadable(String),
    /// The key belongs to another organization.
    #[error("the API key belongs to the organization {actual}, not to {expected}")]
    OtherOrganization {
        /// The one that was asked for.
        expected: String,
        /// The key's.
        actual: String,
    },
    /// The platform says it keeps other bytes than were sent.
    #[error("the platform stored other bytes than were sent: sha256 {kept}, not {sent}")]
    OtherDigest {
        /// What was sent.
        sent: String,
        /// What it says it keeps.
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
        /// The reason in words.
        words: Option<String>,
    },
    /// The platform says another key signed than was found here.
    #[error("the platform reports the signing key {platform}; the bundle was signed by {local}")]
    OtherKey {
        /// The key that was found here.
        local: String,
        /// The key that the platform says.
        platform: String,
    },
    /// The key may only look.
    #[error("the API key has the role {role}, which cannot upload")]
    ReadOnly {
        /// What the platform calls the role.
        role: String,
    },
    /// The platform would refuse every bundle of this key.
    #[error("the platform does not trust the signing key {key}")]
    SignerNotTrusted {
        /// Its name.
        key: String,
    },
    /// A signal.
    #[error("interrupted: the upload is not complete")]
    Interrupted(Exit),
}

impl UploadError {
    /// Whether sending the same again can end better without anybody changing anything.
    pub fn may_pass(&self) -> bool {
        match self {
            UploadError::NoAnswer { foreign, obstacle, .. } => !foreign && obstacle.is_none(),
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

    /// What to do about it.
    pub fn help(&self) -> Vec<String> {
        let text = match self {
            UploadError::Refused(refusal) => return refusal.help().into_iter().collect(),
            UploadError::NoAnswer { obstacle: Some(obstacle), api_url, .. } => {
                let url = Url::parse(api_url).ok();
                let host = url.as_ref().and_then(Url::host_str).unwrap_or("the platform");
                return obstacle.help(HelpTarget { host, address: "upload.api_url", ca_file: None });
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
