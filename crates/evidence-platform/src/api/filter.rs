//! The parameters that select bundles, for the API and the pages.

use evidence_bundle::Status;

use super::input::Parameters;
use crate::error::Error;
use crate::store::BundleFilter;
use crate::time::{Time, day_or_time};

/// The most tags to filter by.
const TAGS: usize = 8;

/// Takes the parameters of a filter. Empty ones, as a form sends them, have no effect.
///
/// # Errors
/// Fails with [`Error::Invalid`].
pub(crate) fn bundle_filter(parameters: &mut Parameters) -> Result<BundleFilter, Error> {
    let invalid = |text: &str| Error::Invalid(text.to_owned());
    let tags: Vec<String> = parameters.all("tag").into_iter().filter(|tag| !tag.is_empty()).collect();
    if tags.len() > TAGS {
        return Err(invalid("at most 8 tags can be given"));
    }
    let tag = |tag: String| {
        let (name, value) = tag.split_once('=').ok_or_else(|| invalid("tag must be name=value"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let mut one = |name: &str| Ok::<_, Error>(parameters.one(name)?.filter(|text| !text.is_empty()));
    let status = one("status")?.map(|text| {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == text);
        known.ok_or_else(|| invalid("status must be pass, fail, not_verifiable or not_applicable"))
    });
    let complete = one("complete")?.map(|text| match text.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid("complete must be true or false")),
    });
    let mut time = |name: &str, end: fn((Time, Time)) -> Time| {
        let read = |text: String| {
            let found = day_or_time(&text);
            found.map(end).ok_or_else(|| Error::Invalid(format!("{name} must be a day or an RFC 3339 time")))
        };
        one(name)?.map(read).transpose()
    };
    let (from, to) = (time("from", |(first, _)| first)?, time("to", |(_, last)| last)?);
    Ok(BundleFilter {
        tags: tags.into_iter().map(tag).collect::<Result<_, Error>>()?,
        status: status.transpose()?,
        complete: complete.transpose()?,
        control: one("control")?,
        signer: one("signer")?,
        from,
        to,
    })
}
