//! How an answer names its account and region, compared with the request. An answer to another request, from a proxy or a
//! stand-in for the provider, must not become evidence about this one.

/// The subject of a request to a region.
pub(crate) fn of_region(account: &str, region: &str) -> String {
    format!("{account}/{region}")
}

/// What an answer is about instead of what was asked.
pub(crate) fn differs(is_it: bool, found: &str, asked: &str) -> Option<String> {
    (!is_it).then(|| format!("{found} instead of {asked}"))
}
