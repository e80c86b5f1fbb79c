use super::*;
use evidence_http::Meta;
use evidence_http::retry::{RetryDecision, decide};
use proptest::prelude::*;
use reqwest::header::HeaderValue;

const DATE: i64 = 1_782_587_558;

fn json(status: u16) -> AnswerParts<'static> {
    AnswerParts { status, is_json: true, date: Some(DATE), ..AnswerParts::default() }
}

fn refused(message: &str) -> AnswerParts<'_> {
    AnswerParts { message: Some(message), ..json(403) }
}

const SECONDARY: Class = Class::SecondaryLimit { retry_after: None };
const FAULT: Class = Class::HostFault { retry_after: None };

/// The class of every status if nothing else is known.
#[test]
fn every_status_has_a_class() {
    for status in 0..=1_000 {
        let expected = match status {
            200 | 204 => Class::Success,
            301 | 302 | 303 | 307 | 308 => Class::Redirect,
            304 => Class::NotModified,
            401 => Class::Unauthorized,
            403 => Class::Forbidden(RefusalCause::Permission),
            404 => Class::NotFound,
            408 => FAULT,
            410 => Class::Gone,
            429 => SECONDARY,
            451 => Class::Blocked,
            500..=599 => FAULT,
            _ => Class::Unexpected,
        };
        assert_eq!(classify(&json(status)), expected, "{status}");
    }
}

#[test]
fn every_status_that_is_not_json() {
    for status in 0..=1_000 {
        let page = AnswerParts { is_json: false, ..json(status) };
        let expected = match status {
            200 | 404 => Class::Page,
            403 => Class::Forbidden(RefusalCause::Intermediary),
            _ => classify(&json(status)),
        };
        assert_eq!(classify(&page), expected, "{status}");
    }
}

/// The headers of a limit affect only 403 and 429.
#[test]
fn a_spent_limit_spoils_no_other_answer() {
    for status in 0..=1_000 {
        let spent = AnswerParts { remaining: Some(0), reset: Some(DATE + 60), ..json(status) };
        let expected = match status {
            403 | 429 => Class::PrimaryLimit { reset: Some(DATE + 60) },
            _ => classify(&json(status)),
        };
        assert_eq!(classify(&spent), expected, "{status}");

        let later = AnswerParts { retry_after: Some("7"), ..json(status) };
        let expected = match status {
            403 | 429 => Class::SecondaryLimit { retry_after: Some(7) },
            408 | 500..=599 => Class::HostFault { retry_after: Some(7) },
            _ => classify(&json(status)),
        };
        assert_eq!(classify(&later), expected, "{status}");
    }
}

#[test]
fn the_texts_of_refusals() {
    use Denial::*;
    use RefusalMeaning::{LockedOut, TooLarge};
    let denied = RefusalMeaning::Denied;
    let table = [
        ("Resource not accessible by personal access token", denied(Permission)),
        ("Resource not accessible by integration", denied(Permission)),
        ("Must have admin rights to Repository.", denied(Permission)),
        ("Must have push access to repository", denied(Permission)),
        ("something new", denied(Permission)),
        ("Upgrade to a paid plan or make this repository public to enable this feature.", denied(PlanLimit)),
        (
            "Resource protected by organization SAML enforcement. You must grant your Personal Access token access \
             to this organization.",
            denied(SsoRequired),
        ),
        (
            "`org` forbids access via a personal access token (classic). Please use an app.",
            denied(OrganizationPolicy),
        ),
        (
            "The 'org' organization forbids access via a fine-grained personal access tokens if the token's \
             lifetime is greater than 90 days.",
            denied(OrganizationPolicy),
        ),
        (
            "Although you appear to have the correct authorization credentials, the `org` organization has an IP \
             allow list enabled, and your IP address is not permitted to access this resource.",
            denied(OrganizationPolicy),
        ),
        (
            "Although you appear to have the correct authorization credentials, the `org` organization has enabled \
             OAuth App access restrictions, meaning that data access to third-parties is limited.",
            denied(OrganizationPolicy),
        ),
        ("Sorry. Your account was suspended", denied(OrganizationPolicy)),
        ("Maximum number of login attempts exceeded. Please try again later.", LockedOut),
        ("This API returns blobs up to 1 MB in size. The requested blob is too large", TooLarge),
        ("Repository access blocked", denied(Blocked)),
    ];
    for (text, words) in table {
        let class = match words {
            RefusalMeaning::Denied(Blocked) => Class::Blocked,
            LockedOut => Class::Forbidden(RefusalCause::LoginAttempts),
            _ => Class::Forbidden(RefusalCause::Permission),
        };
        assert_eq!(classify(&refused(text)), class, "{text}");
        assert_eq!(meaning(&refusal(class, Some(text), None)), words, "{text}");
        let upper = text.to_uppercase();
        assert_eq!(classify(&refused(&upper)), class, "{upper}");
        // A refusal that used up the last request is still a refusal if its message is known.
        let last = AnswerParts { remaining: Some(0), reset: Some(DATE + 60), ..refused(text) };
        let expected =
            if text == "something new" { Class::PrimaryLimit { reset: Some(DATE + 60) } } else { class };
        assert_eq!(classify(&last), expected, "{text}");
        // With requests to spare, the counter has no effect.
        let plenty = AnswerParts { remaining: Some(4_000), reset: Some(DATE + 60), ..refused(text) };
        assert_eq!(classify(&plenty), class, "{text}");
    }
}

#[test]
fn single_sign_on_is_known_by_its_header() {
    let answer = AnswerParts { sso_required: true, remaining: Some(0), ..refused("") };
    assert_eq!(classify(&answer), Class::Forbidden(RefusalCause::Permission));
    let mut refused = refusal(Class::Forbidden(RefusalCause::Permission), None, None);
    assert_eq!(meaning(&refused), RefusalMeaning::Denied(Denial::Permission));
    refused.meta.headers.insert("x-github-sso", HeaderValue::from_static("required; url=https://h/sso"));
    assert_eq!(meaning(&refused), RefusalMeaning::Denied(Denial::SsoRequired));
}

#[test]
fn the_texts_of_limits() {
    let reset = Some(DATE + 1_800);
    let primary = [
        "API rate limit exceeded for user ID 1234. If you reach out to support for help, please include the request \
         ID.",
        "API rate limit exceeded for installation ID 5.",
        "API Rate Limit Exceeded for 1.2.3.4",
        "  api rate limit exceeded",
    ];
    let secondary = [
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        "You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.",
        "You have triggered an abuse detection mechanism and have been temporarily blocked from content creation. \
         Please retry your request again later.",
        "YOU HAVE EXCEEDED A SECONDARY RATE LIMIT",
    ];
    for status in [403, 429] {
        for text in primary {
            for remaining in [None, Some(0), Some(17)] {
                let answer = AnswerParts { status, remaining, reset, ..refused(text) };
                assert_eq!(classify(&answer), Class::PrimaryLimit { reset }, "{text}");
                let answer = AnswerParts { reset: None, ..answer };
                assert_eq!(classify(&answer), Class::PrimaryLimit { reset: None }, "{text}");
                let answer = AnswerParts { retry_after: Some("30"), ..answer };
                assert_eq!(classify(&answer), Class::PrimaryLimit { reset: Some(DATE + 30) }, "{text}");
            }
        }
        for text in secondary {
            for remaining in [None, Some(0), Some(4_000)] {
                for is_json in [true, false] {
                    let answer = AnswerParts { status, remaining, reset, is_json, ..refused(text) };
                    assert_eq!(classify(&answer), SECONDARY, "{text}");
                    let answer = AnswerParts { retry_after: Some("60"), ..answer };
                    assert_eq!(classify(&answer), Class::SecondaryLimit { retry_after: Some(60) }, "{text}");
                }
            }
        }
        for url in [
            "https://docs.host/rest/overview/resources-in-the-rest-api#secondary-rate-limits",
            "https://docs.host/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits",
            "https://developer.host/v3/#abuse-rate-limits",
            "https://docs.host/Secondary-Rate-Limits/",
        ] {
            let answer = AnswerParts { status, documentation_url: Some(url), ..json(status) };
            assert_eq!(classify(&answer), SECONDARY, "{url}");
        }
    }
    // A message about limits in general is not a limit.
    for text in ["see our rate limit documentation", "the api rate limit exceeded page has moved"] {
        assert_eq!(classify(&refused(text)), Class::Forbidden(RefusalCause::Permission), "{text}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let table: &[(&str, Option<i64>, Option<u64>)] = &[
        ("60", None, Some(60)),
        (" 60 ", None, Some(60)),
        ("0", None, Some(0)),
        ("99999999999999999999999999", None, Some(u64::MAX)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777 - 90), Some(90)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777 - 90), Some(90)),
        ("Sun Nov  6 08:49:37 1994", Some(784_111_777 - 90), Some(90)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777 + 90), Some(0)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(i64::MAX), Some(0)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(i64::MIN), Some(i64::MAX as u64)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", None, None),
        ("-5", Some(DATE), None),
        ("1.5", Some(DATE), None),
        ("soon", Some(DATE), None),
        ("", Some(DATE), None),
    ];
    for (text, date, seconds) in table {
        let answer = AnswerParts { retry_after: Some(text), date: *date, ..json(403) };
        assert_eq!(classify(&answer), Class::SecondaryLimit { retry_after: *seconds }, "{text}");
    }
}

/// Every status on its own: which ones are ever retried.
#[test]
fn only_faults_and_limits_are_asked_again() {
    for status in 100..=599 {
        let again = decide(classify(&json(status)), 1, 0.0) != RetryDecision::Accept;
        assert_eq!(again, status == 408 || status == 429 || status >= 500, "{status}");
    }
}

proptest! {
    #[test]
    fn total(
        status in 0u16..=u16::MAX,
        retry_after in proptest::option::of(".{0,40}"),
        remaining in proptest::option::of(any::<u64>()),
        reset in proptest::option::of(any::<i64>()),
        date in proptest::option::of(any::<i64>()),
        message in proptest::option::of(".{0,60}"),
        flags in any::<(bool, bool)>(),
        attempt in any::<u32>(),
        jitter in any::<f64>(),
    ) {
        let answer = AnswerParts {
            status,
            retry_after: retry_after.as_deref(),
            remaining,
            reset,
            date,
            sso_required: flags.0,
            message: message.as_deref(),
            documentation_url: message.as_deref(),
            is_json: flags.1,
        };
        decide(classify(&answer), attempt, jitter);
    }
}

fn refusal(class: Class, message: Option<&str>, redirected_to: Option<&str>) -> Refused {
    let meta = Meta { redirected_to: redirected_to.map(str::to_string), ..Meta::default() };
    Refused { class, code: None, message: message.map(str::to_string), permission: None, meta }
}

/// Only the host's own sentence, with a 404 and about this repository, says that the alerts are off.
#[test]
fn when_vulnerability_alerts_are_off() {
    let off = "Vulnerability alerts are disabled.";
    for (class, message, place, expected) in [
        (Class::NotFound, Some(off), None, true),
        (Class::NotFound, Some(" vulnerability alerts are DISABLED "), None, true),
        (Class::NotFound, Some(off), Some("/repositories/1"), false),
        (Class::NotFound, Some("Not Found"), None, false),
        (Class::NotFound, Some("Vulnerability alerts are disabled by policy"), None, false),
        (Class::NotFound, None, None, false),
        (Class::Forbidden(RefusalCause::Permission), Some(off), None, false),
        (Class::Unexpected, Some(off), None, false),
    ] {
        assert_eq!(
            says_alerts_off(&refusal(class, message, place)),
            expected,
            "{class:?} {message:?} {place:?}"
        );
    }
}

/// Every phrase with which the host reports an absence, similar phrases with another meaning, and which of them can be
/// resumed.
#[test]
fn what_a_404_says() {
    let disabled = "Branch protection has been disabled on this repository";
    for (message, expected, settled) in [
        (Some("Branch not protected"), RefusalMeaning::Unprotected, true),
        (Some(" branch NOT protected. "), RefusalMeaning::Unprotected, true),
        (Some(disabled), RefusalMeaning::Unprotected, true),
        (Some("Branch protection has been disabled on this repository."), RefusalMeaning::Unprotected, true),
        (Some("Branch not found"), RefusalMeaning::NoBranch, true),
        (Some("This repository is empty."), RefusalMeaning::Empty, false),
        (Some("Not Found"), RefusalMeaning::NotFound, false),
        (Some(""), RefusalMeaning::NotFound, false),
        (None, RefusalMeaning::NotFound, false),
        // Unknown messages prove nothing, now or when the run is resumed.
        (Some("Branch not protected by a classic rule"), RefusalMeaning::NotFound, false),
        (Some("This ruleset was retired"), RefusalMeaning::NotFound, false),
    ] {
        let said_here = meaning(&refusal(Class::NotFound, message, None));
        assert_eq!((said_here, said_here.is_settled()), (expected, settled), "{message:?}");
        let elsewhere = meaning(&refusal(Class::NotFound, message, Some("/repositories/1")));
        assert_eq!(
            (elsewhere, elsewhere.is_settled()),
            (RefusalMeaning::NotFoundElsewhere, false),
            "{message:?}"
        );
        // The message of a 404 has no meaning with another status.
        assert_eq!(
            meaning(&refusal(Class::Unexpected, message, None)),
            RefusalMeaning::Nothing,
            "{message:?}"
        );
    }
}

/// The remaining refusals: decided by class alone, and never resumed.
#[test]
fn what_other_refusals_say() {
    let forbidden = Class::Forbidden;
    for (class, expected) in [
        (Class::Blocked, RefusalMeaning::Denied(Denial::Blocked)),
        (forbidden(RefusalCause::Permission), RefusalMeaning::Denied(Denial::Permission)),
        (forbidden(RefusalCause::LoginAttempts), RefusalMeaning::LockedOut),
        (forbidden(RefusalCause::Intermediary), RefusalMeaning::Nothing),
        (Class::Unauthorized, RefusalMeaning::Nothing),
        (Class::Gone, RefusalMeaning::Nothing),
        (Class::Unexpected, RefusalMeaning::Nothing),
    ] {
        let refused = refusal(class, Some("Branch not protected"), None);
        assert_eq!(meaning(&refused), expected, "{class:?}");
        assert!(!meaning(&refused).is_settled(), "{class:?}");
    }
}
