//! Interprets answers of the code host: the only place that compares the host's messages.
//!
//! Pure: [`classify`] turns the status, a few headers and the host's message into a [`Class`], which decides about
//! retries; [`meaning`] turns a refusal into its meaning for the requested resource. Neither sends, waits or reads a
//! clock, so tests cover their whole domain. A message is compared as a whole phrase or from its beginning, ignoring
//! case; a number that happens to occur in a text never counts.

use evidence_http::Refused;
use evidence_http::retry::{Class, RefusalCause, retry_after_seconds};
use evidence_text::saturating_i64;

/// The parts of an answer that determine its meaning.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerParts<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The `Retry-After` header as sent: seconds or an HTTP date.
    pub retry_after: Option<&'a str>,
    /// `X-RateLimit-Remaining`.
    pub remaining: Option<u64>,
    /// `X-RateLimit-Reset`: seconds since 1970, by the host's clock.
    pub reset: Option<i64>,
    /// The `Date` header in seconds since 1970 (see [`http_date`](evidence_http::retry::http_date)).
    pub date: Option<i64>,
    /// Whether `X-GitHub-SSO` begins with `required`.
    pub sso_required: bool,
    /// `message` of an error document.
    pub message: Option<&'a str>,
    /// `documentation_url` of an error document.
    pub documentation_url: Option<&'a str>,
    /// Whether the content type is the requested one: JSON, or any type for a file's raw content. Error documents are
    /// always JSON.
    pub is_json: bool,
}

/// Classifies an answer.
pub fn classify(answer: &AnswerParts<'_>) -> Class {
    match answer.status {
        200 if !answer.is_json => Class::Page,
        200 | 204 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        304 => Class::NotModified,
        401 => Class::Unauthorized,
        403 | 429 => classify_refusal(answer),
        // The host says "not found" in JSON. A page with that text comes from a wrong address or a proxy, and reading
        // it as "there is no such file" would invent a finding.
        404 if !answer.is_json => Class::Page,
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after: wait_asked_for(answer) },
        410 => Class::Gone,
        451 => Class::Blocked,
        _ => Class::Unexpected,
    }
}

/// Classifies a 403 or 429: a limit, or a refusal.
///
/// The order matters: first the host's message, then `Retry-After`, then the counter. A refusal that used up the last
/// request also has zero remaining, but must not be waited for and retried.
fn classify_refusal(answer: &AnswerParts<'_>) -> Class {
    let retry_after = wait_asked_for(answer);
    if says_secondary_limit(answer) {
        return Class::SecondaryLimit { retry_after };
    }
    if says_primary_limit(answer) {
        return Class::PrimaryLimit { reset: answer.reset.or_else(|| after_date(answer, retry_after)) };
    }
    if answer.retry_after.is_some() {
        return Class::SecondaryLimit { retry_after };
    }
    if let Some(said) = known_words(message(answer), answer.sso_required) {
        return match said {
            RefusalMeaning::LockedOut => Class::Forbidden(RefusalCause::LoginAttempts),
            RefusalMeaning::Denied(Denial::Blocked) => Class::Blocked,
            RefusalMeaning::TooLarge
            | RefusalMeaning::Denied(_)
            | RefusalMeaning::Unprotected
            | RefusalMeaning::NoBranch
            | RefusalMeaning::Empty
            | RefusalMeaning::NotFound
            | RefusalMeaning::NotFoundElsewhere
            | RefusalMeaning::Nothing => Class::Forbidden(RefusalCause::Permission),
        };
    }
    if answer.remaining == Some(0) {
        return Class::PrimaryLimit { reset: answer.reset };
    }
    if answer.status == 429 {
        return Class::SecondaryLimit { retry_after };
    }
    Class::Forbidden(if answer.is_json { RefusalCause::Permission } else { RefusalCause::Intermediary })
}

fn says_primary_limit(answer: &AnswerParts<'_>) -> bool {
    begins(message(answer), "api rate limit exceeded")
}

fn says_secondary_limit(answer: &AnswerParts<'_>) -> bool {
    let documentation = answer.documentation_url.unwrap_or_default().trim_end_matches('/');
    contains(message(answer), "secondary rate limit")
        || contains(message(answer), "abuse detection")
        || ends(documentation, "secondary-rate-limits")
        || ends(documentation, "#abuse-rate-limits")
}

/// The meaning of a 403's message or header, if known.
fn known_words(text: &str, sso_required: bool) -> Option<RefusalMeaning> {
    Some(if sso_required || contains(text, "organization saml enforcement") {
        RefusalMeaning::Denied(Denial::SsoRequired)
    } else if begins(text, "maximum number of login attempts exceeded") {
        RefusalMeaning::LockedOut
    } else if begins(text, "repository access blocked") {
        RefusalMeaning::Denied(Denial::Blocked)
    } else if policy_in(text).is_some() {
        RefusalMeaning::Denied(Denial::OrganizationPolicy)
    } else if begins(text, "upgrade to ") {
        RefusalMeaning::Denied(Denial::PlanLimit)
    } else if begins(text, "this api returns blobs up to") {
        RefusalMeaning::TooLarge
    } else if begins(text, "resource not accessible by ") || begins(text, "must have ") {
        RefusalMeaning::Denied(Denial::Permission)
    } else {
        return None;
    })
}

/// Whether `X-GitHub-SSO` requires single sign-on.
pub fn asks_for_sso(header: Option<&str>) -> bool {
    header.is_some_and(|sso| sso.trim_start().starts_with("required"))
}

/// Phrases, in lower case, of refusals that lock out a token or an address entirely.
const ORGANIZATION_POLICIES: &[(&str, Policy)] = &[
    ("ip allow list enabled", Policy::AllowList),
    ("forbids access via a personal access token", Policy::ClassicTokens),
    ("forbids access via a fine-grained personal access token", Policy::Lifetime),
    ("has enabled oauth app access restrictions", Policy::Applications),
    ("account was suspended", Policy::Suspended),
    ("account is suspended", Policy::Suspended),
];

/// A policy that locks out a token or an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Only some addresses may connect.
    AllowList,
    /// Classic tokens are banned.
    ClassicTokens,
    /// Fine-grained tokens may not live this long.
    Lifetime,
    /// Applications need approval.
    Applications,
    /// The user's account is suspended.
    Suspended,
}

fn policy_in(text: &str) -> Option<Policy> {
    ORGANIZATION_POLICIES.iter().find(|(phrase, _)| contains(text, phrase)).map(|(_, policy)| *policy)
}

/// The policy that a refusal names.
pub fn policy(refused: &Refused) -> Option<Policy> {
    policy_in(refused.message.as_deref().unwrap_or_default())
}

/// The meaning of a refusal for the requested resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalMeaning {
    /// The branch has no protection.
    Unprotected,
    /// The branch does not exist.
    NoBranch,
    /// The repository exists but is empty.
    Empty,
    /// "Not Found", or an unknown message: the resource does not exist, or the token may not see it.
    NotFound,
    /// The same, but from another repository than the requested one.
    NotFoundElsewhere,
    /// The file is too large for the JSON form and must be read raw (older hosts).
    TooLarge,
    /// The host refuses access.
    Denied(Denial),
    /// Too many bad credentials: the host temporarily refuses even good ones.
    LockedOut,
    /// Nothing about the requested resource, or not the host's own answer.
    Nothing,
}

/// Why the host refuses access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The token lacks permission. Also the meaning of unknown messages.
    Permission,
    /// A policy of the organization or the host locks out this token or address: IP allow list, ban of classic tokens,
    /// lifetime of tokens, restriction of applications, suspended account. Every request fails alike.
    OrganizationPolicy,
    /// The token is not authorized for the organization's single sign-on.
    SsoRequired,
    /// The plan of the organization does not include the feature.
    PlanLimit,
    /// The repository is blocked.
    Blocked,
}

impl RefusalMeaning {
    /// Whether the answer stays valid for as long as an interrupted run can be resumed. "Not Found" does not, since
    /// granting permission changes it.
    pub fn is_settled(self) -> bool {
        matches!(self, RefusalMeaning::Unprotected | RefusalMeaning::NoBranch)
    }
}

/// The repository's rules have no effect.
const DISABLED: &str = "Branch protection has been disabled on this repository";

/// Whether a refusal says that the repository's rules have no effect, which no other answer says.
pub fn says_disabled(refused: &Refused) -> bool {
    let text = refused.message.as_deref().unwrap_or_default().trim();
    text.trim_end_matches('.').eq_ignore_ascii_case(DISABLED)
}

/// Whether a refusal is the host's word that the repository's vulnerability alerts are off. A plain "Not Found" is not: the
/// host says that to those who may not see the setting.
pub fn says_alerts_off(refused: &Refused) -> bool {
    let text = refused.message.as_deref().unwrap_or_default().trim();
    refused.class == Class::NotFound
        && refused.meta.redirected_to.is_none()
        && text.trim_end_matches('.').eq_ignore_ascii_case("Vulnerability alerts are disabled")
}

/// Whether a refusal is the host's word that only owners may filter a list of people by their second factor.
pub fn says_owners_only(refused: &Refused) -> bool {
    let text = refused.message.as_deref().unwrap_or_default().trim();
    refused.meta.status == 422 && begins(text, "Only owners can use this filter")
}

/// Whether a refusal names the times in an app's proof: this machine's clock may be wrong.
pub fn says_wrong_time(message: Option<&str>) -> bool {
    let text = message.unwrap_or_default().trim();
    begins(text, "'expiration time' claim") || begins(text, "'issued at' claim")
}

/// What a refusal means that an app gets about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppRefusal {
    /// The host knows no such app.
    UnknownApp,
    /// The proof is not valid: the key is not the app's.
    WrongKey,
    /// The proof's times are not valid.
    WrongTime,
    /// The app is not installed there.
    NotInstalled,
    /// The installation is suspended.
    Suspended,
    /// A requested permission is not granted.
    NotGranted,
    /// Anything else.
    Other,
}

/// Interprets a refusal of a request about an app.
pub fn of_app(refused: &Refused) -> AppRefusal {
    let text = refused.message.as_deref().unwrap_or_default().trim();
    match refused.meta.status {
        401 | 404 if begins(text, "integration not found") => AppRefusal::UnknownApp,
        401 if says_wrong_time(Some(text)) => AppRefusal::WrongTime,
        401 => AppRefusal::WrongKey,
        404 => AppRefusal::NotInstalled,
        403 if contains(text, "installation has been suspended") => AppRefusal::Suspended,
        422 if contains(text, "not granted to this installation") => AppRefusal::NotGranted,
        _ => AppRefusal::Other,
    }
}

/// Interprets a refusal. Without a known message, its class decides.
pub fn meaning(refused: &Refused) -> RefusalMeaning {
    let text = refused.message.as_deref().unwrap_or_default().trim();
    let is = |phrase: &str| text.trim_end_matches('.').eq_ignore_ascii_case(phrase);
    match refused.class {
        Class::NotFound if refused.meta.redirected_to.is_some() => RefusalMeaning::NotFoundElsewhere,
        Class::NotFound if is("Branch not protected") => RefusalMeaning::Unprotected,
        Class::NotFound if is(DISABLED) => RefusalMeaning::Unprotected,
        Class::NotFound if is("Branch not found") => RefusalMeaning::NoBranch,
        Class::NotFound if is("This repository is empty") => RefusalMeaning::Empty,
        Class::NotFound => RefusalMeaning::NotFound,
        Class::Blocked => RefusalMeaning::Denied(Denial::Blocked),
        Class::Forbidden(RefusalCause::LoginAttempts) => RefusalMeaning::LockedOut,
        Class::Forbidden(RefusalCause::Permission) => {
            let sso_required = asks_for_sso(refused.meta.header("x-github-sso"));
            known_words(text, sso_required).unwrap_or(RefusalMeaning::Denied(Denial::Permission))
        }
        Class::Forbidden(RefusalCause::Intermediary)
        | Class::Success
        | Class::NotModified
        | Class::Redirect
        | Class::Unauthorized
        | Class::Gone
        | Class::PrimaryLimit { .. }
        | Class::SecondaryLimit { .. }
        | Class::Throttled { .. }
        | Class::HostFault { .. }
        | Class::Page
        | Class::Transport
        | Class::Unexpected => RefusalMeaning::Nothing,
    }
}

/// The seconds in `Retry-After`, if it is valid.
fn wait_asked_for(answer: &AnswerParts<'_>) -> Option<u64> {
    retry_after_seconds(answer.retry_after?, answer.date)
}

fn after_date(answer: &AnswerParts<'_>, seconds: Option<u64>) -> Option<i64> {
    Some(answer.date?.saturating_add(saturating_i64(seconds?)))
}

fn message<'a>(answer: &AnswerParts<'a>) -> &'a str {
    answer.message.unwrap_or_default().trim()
}

/// The compared texts are ASCII, so this compares bytes, without a copy.
fn begins(text: &str, phrase: &str) -> bool {
    text.as_bytes().get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes()))
}

fn ends(text: &str, phrase: &str) -> bool {
    let start = text.len().checked_sub(phrase.len());
    start
        .and_then(|start| text.as_bytes().get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(phrase.as_bytes()))
}

fn contains(text: &str, phrase: &str) -> bool {
    text.as_bytes().windows(phrase.len()).any(|window| window.eq_ignore_ascii_case(phrase.as_bytes()))
}

#[cfg(test)]
mod tests;
