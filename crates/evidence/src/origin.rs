//! Where credentials go: the origins of a run's requests, and which of them belong to a provider.
//!
//! Nothing here reads a credential. An origin only names the variable.

use evidence_settings::format::is_loopback;
use evidence_settings::problem::Complaint;
use url::Url;

/// An origin that a run sends credentials to.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The source that sends them, or [`PLATFORM`].
    pub sender: &'static str,
    /// An address at the origin.
    pub url: Url,
    /// The variables whose values, or what was obtained with them, go there.
    pub variables: Vec<String>,
    /// The file that names the address, if it is neither the configuration nor this program.
    pub named_by: Option<NamedBy>,
}

/// The sender of an upload.
pub const PLATFORM: &str = "platform";

/// A file beside the configuration that names an address.
#[derive(Debug, Clone)]
pub struct NamedBy {
    /// The key of the configuration that leads to the file.
    pub key: &'static str,
    /// The file, for a message.
    pub file: String,
    /// The provider's own hosts for this address.
    pub own: &'static OwnHosts,
}

/// A provider's own hosts: exact names, or names that only the provider gives. Never all names with some ending, since
/// strangers can rent names such as `bucket.s3.amazonaws.com`.
#[derive(Debug)]
pub struct OwnHosts {
    /// Their addresses in words; empty if there are none.
    pub shown: &'static str,
    /// Whether a host, in lower case and with international names in their `xn--` form, is one of them.
    pub is_own: fn(&str) -> bool,
    /// What is wrong with an address that needs no approval, because it cannot be that of the service.
    pub mistaken: fn(&Url) -> Option<Complaint>,
}

impl OwnHosts {
    /// Whether credentials for the provider may go to this address without further approval.
    pub fn accept(&self, url: &Url) -> bool {
        let own = || url.host_str().is_some_and(self.is_own);
        is_loopback(url) || (url.scheme() == "https" && url.port().is_none() && own())
    }
}
