//! Log groups.

/// A log group of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGroup {
    pub(super) name: String,
    pub(super) retention_days: Option<u32>,
    pub(super) created_ms: i64,
    pub(super) stored_bytes: u64,
    pub(super) class: &'static str,
    pub(super) kms_key: Option<String>,
    pub(super) protected: bool,
}

impl LogGroup {
    /// A log group that keeps everything forever, with a few bytes in it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            retention_days: None,
            created_ms: 1_704_103_200_123,
            stored_bytes: 48_213_002,
            class: "STANDARD",
            kms_key: None,
            protected: false,
        }
    }

    /// How many days it keeps its events. Forever by default, and the answer then lacks the member.
    pub fn retention_days(mut self, days: u32) -> Self {
        self.retention_days = Some(days);
        self
    }

    /// When it was created, in milliseconds since 1970.
    pub fn created_ms(mut self, at: i64) -> Self {
        self.created_ms = at;
        self
    }

    /// What is stored in it.
    pub fn stored_bytes(mut self, bytes: u64) -> Self {
        self.stored_bytes = bytes;
        self
    }

    /// Sets the class for infrequent access.
    pub fn infrequent_access(mut self) -> Self {
        self.class = "INFREQUENT_ACCESS";
        self
    }

    /// Sets the delivery class: it keeps its events for a fixed two days.
    pub fn delivery(mut self) -> Self {
        self.class = "DELIVERY";
        self.retention_days = Some(2);
        self
    }

    /// Encrypts it with this key.
    pub fn kms_key(mut self, arn: impl Into<String>) -> Self {
        self.kms_key = Some(arn.into());
        self
    }

    /// Whether it is protected from deletion.
    pub fn deletion_protected(mut self) -> Self {
        self.protected = true;
        self
    }
}
