//! Audit trails.

use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A trail. It belongs to its home region; a multi-region one has shadows in all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Trail {
    pub(super) name: String,
    pub(super) home: String,
    pub(super) multi_region: bool,
    /// The account it belongs to, if not this one.
    pub(super) management_account: Option<String>,
    pub(super) organization: bool,
    pub(super) logging: bool,
    pub(super) validation: bool,
    pub(super) bucket: String,
    pub(super) kms_key: Option<String>,
    pub(super) log_group: Option<String>,
    delivered: Delivered,
    /// Its own event selectors: the member of the answer and its value. `None` for the defaults of a new trail.
    pub(super) selectors: Option<(&'static str, Value)>,
    pub(super) delivery_error: Option<String>,
    pub(super) digest_error: Option<String>,
    digested: Option<Option<f64>>,
    /// Errors of the deliveries from other regions, by region.
    errors_elsewhere: BTreeMap<String, String>,
    /// The regions where nothing happens.
    quiet: BTreeSet<String>,
    pub(super) started: Option<f64>,
    pub(super) stopped: Option<f64>,
}

/// When a trail last delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Delivered {
    Never,
    /// In seconds since 1970.
    At(f64),
    /// Shortly after the last midnight.
    Today,
}

impl Trail {
    /// A trail of one region that is logging and has delivered.
    pub fn new(name: impl Into<String>, home_region: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            bucket: format!("{name}-logs"),
            name,
            home: home_region.into(),
            multi_region: false,
            management_account: None,
            organization: false,
            logging: true,
            validation: false,
            kms_key: None,
            log_group: None,
            delivered: Delivered::Today,
            selectors: None,
            delivery_error: None,
            digest_error: None,
            digested: None,
            errors_elsewhere: BTreeMap::new(),
            quiet: BTreeSet::new(),
            started: Some(1_704_103_200.587),
            stopped: None,
        }
    }

    /// Whether it records all regions.
    pub fn multi_region(mut self, all: bool) -> Self {
        self.multi_region = all;
        self
    }

    /// A trail of the whole organization.
    pub fn organization(mut self) -> Self {
        self.organization = true;
        self
    }

    /// A trail of the whole organization that belongs to another account and is only visible here.
    pub fn organization_of(mut self, management_account: impl Into<String>) -> Self {
        self.organization = true;
        self.management_account = Some(management_account.into());
        self
    }

    /// Whether it is logging.
    pub fn logging(mut self, logging: bool) -> Self {
        self.logging = logging;
        if !logging && self.stopped.is_none() {
            self.stopped = Some(1_735_689_600.25);
        }
        self
    }

    /// Whether its files are signed.
    pub fn validation(mut self, validated: bool) -> Self {
        self.validation = validated;
        self
    }

    /// The bucket it delivers to.
    pub fn bucket(mut self, bucket: impl Into<String>) -> Self {
        self.bucket = bucket.into();
        self
    }

    /// The key its files are encrypted with.
    pub fn kms_key(mut self, arn: impl Into<String>) -> Self {
        self.kms_key = Some(arn.into());
        self
    }

    /// The log group it writes to as well, by its ARN.
    pub fn log_group(mut self, arn: impl Into<String>) -> Self {
        self.log_group = Some(arn.into());
        self
    }

    /// When it last delivered, in seconds since 1970; `None` for never. Today by default.
    pub fn latest_delivery(mut self, at: Option<f64>) -> Self {
        self.delivered = at.map_or(Delivered::Never, Delivered::At);
        self
    }

    /// When logging was started, in seconds since 1970.
    pub fn started(mut self, at: f64) -> Self {
        self.started = Some(at);
        self
    }

    /// Event selectors of its own, as the provider lists them.
    pub fn event_selectors(mut self, selectors: Value) -> Self {
        self.selectors = Some(("EventSelectors", selectors));
        self
    }

    /// Advanced event selectors, as the provider lists them.
    pub fn advanced_event_selectors(mut self, selectors: Value) -> Self {
        self.selectors = Some(("AdvancedEventSelectors", selectors));
        self
    }

    /// Why its last delivery failed, such as `AccessDenied`.
    pub fn delivery_error(mut self, code: impl Into<String>) -> Self {
        self.delivery_error = Some(code.into());
        self
    }

    /// Why its last delivery of a digest failed.
    pub fn digest_error(mut self, code: impl Into<String>) -> Self {
        self.digest_error = Some(code.into());
        self
    }

    /// When it last delivered a digest, in seconds since 1970, whether or not its files are signed now. By default with the
    /// logs, if they are.
    pub fn latest_digest(mut self, at: Option<f64>) -> Self {
        self.digested = Some(at);
        self
    }

    /// Why its last delivery from another region than its home failed.
    pub fn delivery_error_in(mut self, region: impl Into<String>, code: impl Into<String>) -> Self {
        self.errors_elsewhere.insert(region.into(), code.into());
        self
    }

    /// Nothing happens in this region, so nothing was ever delivered from it.
    pub fn quiet_in(mut self, region: impl Into<String>) -> Self {
        self.quiet.insert(region.into());
        self
    }

    /// The trail as a region reports it.
    pub(super) fn in_region(&self, region: &str) -> Self {
        let mut shown = self.clone();
        if let Some(error) = self.errors_elsewhere.get(region) {
            shown.delivery_error = Some(error.clone());
        }
        if self.quiet.contains(region) {
            (shown.delivered, shown.digested) = (Delivered::Never, Some(None));
        }
        shown
    }

    /// When it last delivered a digest, as seen at `now`.
    pub(super) fn digested(&self, now: Timestamp) -> Option<f64> {
        self.digested.unwrap_or_else(|| self.delivered(now).filter(|_| self.validation))
    }

    pub(super) fn arn(&self, account: &str) -> String {
        let owner = self.management_account.as_deref().unwrap_or(account);
        format!("arn:aws:cloudtrail:{}:{owner}:trail/{}", self.home, self.name)
    }

    /// When it last delivered, as seen at `now`.
    pub(super) fn delivered(&self, now: Timestamp) -> Option<f64> {
        match self.delivered {
            Delivered::Never => None,
            Delivered::At(at) => Some(at),
            Delivered::Today => Some((now.as_second() - now.as_second().rem_euclid(86_400)) as f64 + 0.341),
        }
    }

    /// Whether the region shows it: in its home region, or as a shadow.
    pub(super) fn seen_in(&self, region: &str) -> bool {
        self.home == region || self.multi_region
    }
}
