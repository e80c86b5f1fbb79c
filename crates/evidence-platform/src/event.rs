//! The events that webhooks report. Their names are part of the API.

use std::str::FromStr;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// A bundle was stored.
    BundleStored,
    /// An uploaded bundle was refused.
    BundleRefused,
    /// An uploaded bundle was refused, because no trusted key signed it.
    SignerUnknown,
    /// Controls fail that did not in the bundle before.
    ControlFailed,
    /// Controls can no longer be verified that could in the bundle before.
    ControlLost,
    /// A bundle is overdue.
    OrganizationLate,
    /// The stored bytes of a bundle are not what was accepted.
    BundleDamaged,
}

impl Event {
    /// Every event.
    pub const ALL: [Event; 7] = [
        Event::BundleStored,
        Event::BundleRefused,
        Event::SignerUnknown,
        Event::ControlFailed,
        Event::ControlLost,
        Event::OrganizationLate,
        Event::BundleDamaged,
    ];

    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::BundleStored => "bundle.stored",
            Event::BundleRefused => "bundle.refused",
            Event::SignerUnknown => "signer.unknown",
            Event::ControlFailed => "control.failed",
            Event::ControlLost => "control.lost",
            Event::OrganizationLate => "organization.late",
            Event::BundleDamaged => "bundle.damaged",
        }
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Event, String> {
        Event::ALL.into_iter().find(|event| event.as_str() == text).ok_or_else(|| {
            let known: Vec<&str> = Event::ALL.iter().map(|event| event.as_str()).collect();
            format!("the events are {}", known.join(", "))
        })
    }
}
