//! The configured limits; `quota` counts the requests.

/// The limits of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests per user and hour; `None` for no limit.
    pub primary: Option<Primary>,
    /// The secondary limits, applied when [`Self::enforce`] is set.
    pub secondary: Secondary,
    /// Whether to send the `X-RateLimit-*` headers; a self-hosted server without limits sends none.
    pub rate_headers: bool,
    /// Whether the secondary limits are enforced. The primary one, if any, always is.
    pub enforce: bool,
}

/// The primary limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primary {
    /// Per hour.
    pub limit: u64,
    /// The remaining requests at the start.
    pub remaining: u64,
    /// When the window ends.
    pub reset: Reset,
}

/// When a window ends, by the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Seconds from the start.
    In(i64),
    /// Seconds since 1970.
    At(i64),
}

/// The secondary limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secondary {
    /// Requests in flight.
    pub concurrent: u64,
    /// Requests per minute to one endpoint.
    pub per_minute: u64,
    /// Seconds in `Retry-After`; `None` for no header, and refusals for a minute.
    pub retry_after: Option<u64>,
    /// Whether such a refusal has the `X-RateLimit-*` headers.
    pub headers: bool,
    /// 403 or 429.
    pub status: u16,
}

impl Default for Secondary {
    fn default() -> Self {
        Self { concurrent: 100, per_minute: 900, retry_after: Some(60), headers: true, status: 403 }
    }
}

impl Default for Limits {
    /// 5,000 an hour, counted; secondary limits not enforced.
    fn default() -> Self {
        Self {
            primary: Some(Primary::new(5000, 5000)),
            secondary: Secondary::default(),
            rate_headers: true,
            enforce: false,
        }
    }
}

impl Limits {
    /// All documented limits, enforced.
    pub fn documented() -> Self {
        Self { enforce: true, ..Self::default() }
    }

    /// A self-hosted server as installed: no limits, no headers, no `/rate_limit`.
    pub fn self_hosted() -> Self {
        Self { primary: None, secondary: Secondary::default(), rate_headers: false, enforce: false }
    }

    /// The default with another primary limit.
    pub fn primary(primary: Primary) -> Self {
        Self { primary: Some(primary), ..Self::default() }
    }
}

impl Primary {
    /// A limit and its remaining requests; the window ends in an hour.
    pub fn new(limit: u64, remaining: u64) -> Self {
        Self { limit, remaining, reset: Reset::In(3600) }
    }

    /// The window ends in this many seconds.
    pub fn reset_in(mut self, seconds: i64) -> Self {
        self.reset = Reset::In(seconds);
        self
    }

    /// The window ends at this second since 1970.
    pub fn reset_at(mut self, epoch_seconds: i64) -> Self {
        self.reset = Reset::At(epoch_seconds);
        self
    }
}
