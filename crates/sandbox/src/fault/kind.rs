//! The kinds of faults.

use serde_json::Value;

/// One kind of fault.
#[derive(Clone, Debug)]
pub enum FaultKind {
    /// A status with an error body: `500`, `502`, `503`, `504` or any other.
    Status(u16, Body),
    /// The connection is reset before the first byte.
    Reset,
    /// The connection is reset, and all new ones are refused for [`crate::codehost::CodeHost::refused_for`]: a
    /// host that restarts. Open connections stay open.
    Refuse,
    /// The true answer, cut after this many bytes of its body; the announced length stays true.
    Truncate(usize),
    /// The true answer with a `Content-Length` of half its length.
    WrongContentLength,
    /// The true answer with a length that two programs can read differently.
    AmbiguousLength(AmbiguousLength),
    /// The true answer in chunks, the second of which has no valid size.
    BrokenChunk,
    /// The true answer, slowly.
    SlowBody {
        /// 1 is one byte per second.
        bytes_per_second: u64,
    },
    /// No answer, ever.
    Hang,
    /// The connection is reset when this many bytes of the request's body have arrived.
    CutUpload(usize),
    /// The host's own failure with this status, before the request's body is read.
    RefuseUpload(u16),
    /// A secondary limit of the code host; the state of the other hosts covers their refusals.
    SecondaryLimit {
        /// Seconds in `Retry-After`; `None` for no header.
        retry_after: Option<u64>,
        /// Whether to send the `X-RateLimit-*` headers.
        headers: bool,
        /// 403 or 429.
        status: u16,
    },
    /// The older text for the same, as self-hosted servers still send it.
    AbuseDetection {
        /// Seconds in `Retry-After`; `None` for no header.
        retry_after: Option<u64>,
    },
    /// The primary limit of the code host, used up.
    PrimaryLimit {
        /// Seconds from the host's current time until the reset; negative for the past.
        reset_in: i64,
    },
    /// The true answer with other numbers in its limit headers: a remaining that goes up, a reset in the past.
    RateHeaders {
        /// `X-RateLimit-Limit`.
        limit: u64,
        /// `X-RateLimit-Remaining`.
        remaining: u64,
        /// Seconds from the host's current time.
        reset_in: i64,
    },
    /// The true answer with these headers set, or removed if the value is `None`.
    Headers(Vec<(String, Option<String>)>),
    /// 301 to this URL, absolute or a path at this host.
    Redirect(String),
    /// 200 with an HTML sign-in page.
    LoginPage,
    /// The true answer with bytes that are not UTF-8 inside its first string.
    InvalidUtf8,
    /// The true answer with every number replaced by this: `1e999`, `-1`.
    Numbers(String),
    /// The true answer with the first name replaced by this: `..`, a line break.
    Names(String),
    /// The true answer by a clock that is off by this many seconds, including the reset of a limit.
    Clock(i64),
    /// 200 with arrays nested this deep.
    DeepJson(usize),
    /// 200 with a valid body of this many bytes.
    HugeBody(u64),
    /// 200 with a small gzip body that unpacks to this many bytes.
    GzipBomb(u64),
    /// The true answer with one header of this many bytes.
    HugeHeader(usize),
    /// The true answer with a `Link` that misleads.
    BadLink(BadLink),
    /// A listing page shifted by this many repositories: `-1` repeats the one before, `1` skips one.
    ShiftPage(i64),
    /// The true answer to a GET of this path, as a proxy that mixes answers up sends it: undecoded, without the API's base
    /// path.
    AnswerTo(String),
    /// Any answer: status, additional headers, body.
    Json(u16, Vec<(String, String)>, Value),
}

/// How two programs can read the length of an answer differently.
#[derive(Clone, Copy, Debug)]
pub enum AmbiguousLength {
    /// In chunks, with a `Content-Length` too.
    Chunks,
    /// The same, packed with gzip if the client accepts that.
    PackedChunks,
    /// The true `Content-Length` twice.
    Repeated,
    /// Two different ones.
    Different,
}

/// How a `Link` header misleads.
#[derive(Clone, Debug)]
pub enum BadLink {
    /// The next page is this page.
    ToItself,
    /// The next page is at this origin.
    OtherHost(String),
    /// There is always a next page with content.
    Endless,
}

/// The body of an error answer.
#[derive(Clone, Debug)]
pub enum Body {
    /// The host's large page, with images inline.
    Html,
    /// The host's own form for this status: JSON, or XML for the cloud's XML services.
    Json,
    /// Empty.
    Empty,
    /// This plain text.
    Text(String),
}

impl FaultKind {
    /// The name in the counts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status(_, Body::Html) => "status-html",
            Self::Status(_, Body::Json) => "status-json",
            Self::Status(_, Body::Empty) => "status-empty",
            Self::Status(_, Body::Text(_)) => "status-text",
            Self::Reset => "reset",
            Self::Refuse => "refuse",
            Self::Truncate(_) => "truncate",
            Self::WrongContentLength => "wrong-content-length",
            Self::AmbiguousLength(AmbiguousLength::Chunks) => "length-and-chunks",
            Self::AmbiguousLength(AmbiguousLength::PackedChunks) => "length-and-packed-chunks",
            Self::AmbiguousLength(AmbiguousLength::Repeated) => "repeated-length",
            Self::AmbiguousLength(AmbiguousLength::Different) => "different-lengths",
            Self::BrokenChunk => "broken-chunk",
            Self::SlowBody { .. } => "slow-body",
            Self::Hang => "hang",
            Self::CutUpload(_) => "cut-upload",
            Self::RefuseUpload(_) => "refuse-upload",
            Self::SecondaryLimit { headers: true, .. } => "secondary-limit",
            Self::SecondaryLimit { headers: false, .. } => "secondary-limit-no-headers",
            Self::AbuseDetection { .. } => "abuse-detection",
            Self::PrimaryLimit { .. } => "primary-limit",
            Self::RateHeaders { .. } => "rate-headers",
            Self::Headers(_) => "headers",
            Self::Redirect(_) => "redirect",
            Self::LoginPage => "login-page",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::Numbers(_) => "numbers",
            Self::Names(_) => "names",
            Self::Clock(_) => "clock",
            Self::DeepJson(_) => "deep-json",
            Self::HugeBody(_) => "huge-body",
            Self::GzipBomb(_) => "gzip-bomb",
            Self::HugeHeader(_) => "huge-header",
            Self::BadLink(BadLink::ToItself) => "link-to-itself",
            Self::BadLink(BadLink::OtherHost(_)) => "link-to-other-host",
            Self::BadLink(BadLink::Endless) => "link-endless",
            Self::ShiftPage(_) => "shifted-page",
            Self::AnswerTo(_) => "answer-to-another",
            Self::Json(..) => "json",
        }
    }
}
