//! Classifies errors of the storage: whether the operator must act, and whether the request may still take effect.

use std::error::Error as StdError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::Error as StorageError;
use object_store::client::{HttpError, HttpErrorKind};

use crate::error::Error;

/// A refusal is logged with its cause at most once per interval, however many requests meet it.
const EVERY: Duration = Duration::from_secs(60);
/// How much of the service's error text to log.
const WORDS: usize = 300;

/// How a removal ended.
#[derive(Debug)]
pub enum Removal {
    /// The blob is removed.
    Done,
    /// The service refused or was not reached: the removal will not take effect.
    Failed(Error),
    /// No answer came. The service may still remove the blob.
    Unknown(Error),
}

/// The refusals of a storage, for logging.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Option<Instant>>);

impl Refusals {
    /// Logs an error for the operator and returns the one for the client.
    pub(super) fn fault(&self, error: StorageError) -> Error {
        if !is_permanent(&error) {
            return Error::Unavailable(Box::new(error));
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            let help = "check the credentials, the region, the bucket's name and its policy";
            tracing::error!(cause = words(&error.to_string()), help, "the storage refuses the platform");
        }
        Error::StorageRefused
    }
}

/// Whether asking again cannot help.
fn is_permanent(error: &StorageError) -> bool {
    match error {
        StorageError::PermissionDenied { .. }
        | StorageError::Unauthenticated { .. }
        | StorageError::NotSupported { .. }
        | StorageError::NotImplemented { .. } => true,
        StorageError::NotFound { .. }
        | StorageError::AlreadyExists { .. }
        | StorageError::Precondition { .. }
        | StorageError::NotModified { .. } => false,
        other => {
            let text = other.to_string();
            // A redirect comes from a bucket in another region.
            status(&text).is_some_and(|status| (300..500).contains(&status) && !matches!(status, 408 | 429))
                || text.contains("redirect without LOCATION")
        }
    }
}

/// Whether the request certainly takes no effect any more.
pub(super) fn has_ended(error: &StorageError) -> bool {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(http) = error.downcast_ref::<HttpError>() {
            return http.kind() == HttpErrorKind::Connect;
        }
        cause = error.source();
    }
    status(&error.to_string()).is_some()
}

/// The status of the answer. The library exposes it only in its error text, which the tests check.
fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// The service's error text, without the parts that quote the request, which may include a session token.
fn words(text: &str) -> String {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inside, _)| format!(" {inside}"))
    };
    let mut words = text.split('<').next().unwrap_or_default().trim().to_owned();
    words.extend(["Code", "Message"].into_iter().filter_map(element));
    words.chars().filter(|character| !character.is_control()).take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_s_words_are_short_and_quote_nothing() {
        let answer = "Error performing PUT: status code: 400 Bad Request: <?xml?><Error><Code>InvalidToken</Code>\
                      <Message>The token is malformed</Message><Token-0>hidden</Token-0></Error>";
        let said = words(answer);
        assert!(said.ends_with("400 Bad Request: InvalidToken The token is malformed"), "{said}");
        assert!(words(&"x".repeat(10_000)).len() == WORDS);
        assert_eq!(status(answer), Some(400));
        assert_eq!(status("status code: no"), None);
    }
}
