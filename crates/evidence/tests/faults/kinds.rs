//! Every kind of fault, and the expected result of a run that meets it.

use sandbox::{AmbiguousLength, BadLink, Body, FaultKind};
use serde_json::json;

/// The effect of a lasting fault on the answer that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// The answer is lost, and an error with this code reports it.
    Lost(&'static str),
    /// The answer may be lost, with this code; if the fault hits only unused parts, nothing changes.
    Maybe(&'static str),
    /// The host denies the answer: no error, but a "not verifiable" check with this reason.
    Denied(&'static str),
    /// Nothing is lost.
    None,
    /// The host omits entries of a listing, in a well-formed answer, so the tool cannot know which. If other entries
    /// appear twice it reports an error, otherwise a warning with the number of missing entries.
    Unseen,
}

/// Whether the tool retries a request that meets the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// The tool retries it, so a temporary fault leaves no trace.
    Asked,
    /// The same after the host's first good answer. Before it, the address is wrong, and one attempt is enough.
    AskedLater,
    /// The tool accepts the answer, because a retry would return the same: even a temporary fault affects what it hits.
    Stands,
}

/// Where a kind can occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Everywhere,
    /// Only in paged listings.
    Listings,
}

/// The time-out for slow faults.
const SHORT: &str = "1";

/// The time-out for all other faults.
pub(crate) const LONG: &str = "30";

/// How often a temporary fault occurs: fewer times than the number of attempts.
pub(crate) const PASSING: u64 = 2;

impl Kind {
    /// The time-out of a request, in seconds.
    pub(crate) fn timeout(&self) -> &'static str {
        if self.slow { SHORT } else { LONG }
    }
}

/// One line of the table.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) fault: FaultKind,
    pub(crate) harm: Harm,
    pub(crate) again: Again,
    pub(crate) place: Place,
    /// The fault lasts until the client's time-out, in real time.
    pub(crate) slow: bool,
}

const HOST_ERROR: Harm = Harm::Lost("host_error");

/// 2 GiB.
const HUGE: u64 = 2 << 30;

fn kind(name: &'static str, fault: FaultKind, harm: Harm, again: Again) -> Kind {
    Kind { name, fault, harm, again, place: Place::Everywhere, slow: false }
}

fn listing(name: &'static str, fault: FaultKind, harm: Harm, again: Again) -> Kind {
    Kind { place: Place::Listings, ..kind(name, fault, harm, again) }
}

fn header(name: &str, value: &str) -> (String, Option<String>) {
    (name.to_owned(), Some(value.to_owned()))
}

/// The table. `FaultKind::Refuse`, which also affects other requests, has its own test.
pub(crate) fn kinds() -> Vec<Kind> {
    use Again::{Asked, AskedLater, Stands};
    let secondary = |retry_after, headers, status| FaultKind::SecondaryLimit { retry_after, headers, status };
    let rate = |remaining, reset_in| FaultKind::RateHeaders { limit: 5_000, remaining, reset_in };
    let numbers = |number: &str| FaultKind::Numbers(number.to_owned());
    let names = |name: &str| FaultKind::Names(name.to_owned());
    let mut table = vec![
        // The connection.
        kind("reset", FaultKind::Reset, HOST_ERROR, Asked),
        Kind { slow: true, ..kind("silence", FaultKind::Hang, HOST_ERROR, Asked) },
        Kind {
            slow: true,
            ..kind("one byte a second", FaultKind::SlowBody { bytes_per_second: 1 }, HOST_ERROR, Asked)
        },
        kind("cut off", FaultKind::Truncate(20), HOST_ERROR, Asked),
        kind("broken chunk", FaultKind::BrokenChunk, HOST_ERROR, Asked),
        kind("length and chunks", FaultKind::AmbiguousLength(AmbiguousLength::Chunks), HOST_ERROR, Asked),
        kind(
            "length and packed chunks",
            FaultKind::AmbiguousLength(AmbiguousLength::PackedChunks),
            HOST_ERROR,
            Asked,
        ),
        kind("length twice", FaultKind::AmbiguousLength(AmbiguousLength::Repeated), HOST_ERROR, Asked),
        kind("two lengths", FaultKind::AmbiguousLength(AmbiguousLength::Different), HOST_ERROR, Asked),
        kind("wrong length", FaultKind::WrongContentLength, HOST_ERROR, Asked),
        kind("a megabyte of header", FaultKind::HugeHeader(1 << 20), HOST_ERROR, Asked),
        // Statuses.
        kind("empty 200", FaultKind::Status(200, Body::Empty), HOST_ERROR, Asked),
        kind("empty 204", FaultKind::Status(204, Body::Empty), HOST_ERROR, Asked),
        kind("400 page", FaultKind::Status(400, Body::Html), HOST_ERROR, Stands),
        kind("403 page", FaultKind::Status(403, Body::Html), HOST_ERROR, Stands),
        kind("404 page", FaultKind::Status(404, Body::Html), HOST_ERROR, AskedLater),
        kind("429", FaultKind::Status(429, Body::Json), HOST_ERROR, Asked),
        kind("429 page", FaultKind::Status(429, Body::Html), HOST_ERROR, Asked),
        kind("503 text", FaultKind::Status(503, Body::Text("out of order".into())), HOST_ERROR, Asked),
        kind("599 empty", FaultKind::Status(599, Body::Empty), HOST_ERROR, Asked),
        // Limits.
        kind("secondary, when", secondary(Some(30), true, 403), HOST_ERROR, Asked),
        kind("secondary, bare", secondary(None, false, 403), HOST_ERROR, Asked),
        kind("secondary 429", secondary(Some(1), false, 429), HOST_ERROR, Asked),
        kind("abuse detection", FaultKind::AbuseDetection { retry_after: None }, HOST_ERROR, Asked),
        kind("primary limit", FaultKind::PrimaryLimit { reset_in: 120 }, HOST_ERROR, Asked),
        kind("primary, past reset", FaultKind::PrimaryLimit { reset_in: -7_200 }, HOST_ERROR, Asked),
        kind("spent by this answer", rate(0, 60), Harm::None, Asked),
        kind("low, past reset", rate(3, -7_200), Harm::None, Asked),
        kind("remaining goes up", rate(1_000_000, 600), Harm::None, Asked),
        kind("clock two hours ahead", FaultKind::Clock(7_200), Harm::None, Asked),
        kind("clock two hours behind", FaultKind::Clock(-7_200), Harm::None, Asked),
        kind(
            "headers without sense",
            FaultKind::Headers(vec![
                header("x-ratelimit-remaining", "-1"),
                header("x-ratelimit-reset", "99999999999999999999"),
                header("date", "yesterday"),
                header("retry-after", "soon"),
            ]),
            Harm::None,
            Asked,
        ),
        // Something else.
        kind("login page", FaultKind::LoginPage, HOST_ERROR, AskedLater),
        kind("redirect in circles", FaultKind::Redirect("/circle".into()), HOST_ERROR, Stands),
        kind("redirect elsewhere", FaultKind::Redirect("http://127.0.0.2:9/".into()), HOST_ERROR, Stands),
        kind(
            "redirect to nothing",
            FaultKind::Redirect("/nowhere".into()),
            Harm::Denied("not_found"),
            Stands,
        ),
        kind("another object", FaultKind::Json(200, Vec::new(), json!({"ok": true})), HOST_ERROR, Stands),
        kind("null", FaultKind::Json(200, Vec::new(), json!(null)), HOST_ERROR, Stands),
        kind("not UTF-8", FaultKind::InvalidUtf8, Harm::Maybe("host_error"), Asked),
        kind("10,000 deep", FaultKind::DeepJson(10_000), HOST_ERROR, Stands),
        kind("numbers over 1e308", numbers("1e999"), Harm::Maybe("host_error"), Asked),
        kind("numbers over 2^64", numbers("99999999999999999999"), Harm::Maybe("host_error"), Stands),
        kind("negative numbers", numbers("-1"), Harm::Maybe("host_error"), Stands),
        kind("2 GB", FaultKind::HugeBody(HUGE), HOST_ERROR, Stands),
        kind("gzip bomb", FaultKind::GzipBomb(HUGE), HOST_ERROR, Stands),
        // Pages.
        listing("link to itself", FaultKind::BadLink(BadLink::ToItself), Harm::Maybe("host_error"), Stands),
        listing(
            "link elsewhere",
            FaultKind::BadLink(BadLink::OtherHost("http://127.0.0.2:9".into())),
            Harm::Maybe("host_error"),
            Stands,
        ),
        // It repeats the first page in place of another.
        listing("endless pages", FaultKind::BadLink(BadLink::Endless), Harm::Unseen, Stands),
        listing("an entry again", FaultKind::ShiftPage(-1), Harm::Unseen, Stands),
        listing("an entry skipped", FaultKind::ShiftPage(1), Harm::Unseen, Stands),
        // Names of repositories.
        listing("name ..", names(".."), HOST_ERROR, Stands),
        listing("name with /", names("a/../../b"), HOST_ERROR, Stands),
        listing("name with NUL", names("a\0b"), HOST_ERROR, Stands),
        listing("name with line break", names("a\nb"), HOST_ERROR, Stands),
        listing("name with escapes", names("\u{1b}[2J\u{1b}]0;x\u{7}"), HOST_ERROR, Stands),
        listing("name of 300", names(&"n".repeat(300)), HOST_ERROR, Stands),
    ];
    for (name, status, body) in [
        ("500", 500, Body::Json),
        ("500 page", 500, Body::Html),
        ("502", 502, Body::Json),
        ("502 page", 502, Body::Html),
        ("503", 503, Body::Json),
        ("503 page", 503, Body::Html),
        ("504", 504, Body::Json),
        ("504 page", 504, Body::Html),
    ] {
        table.push(kind(name, FaultKind::Status(status, body), HOST_ERROR, Asked));
    }
    table
}
