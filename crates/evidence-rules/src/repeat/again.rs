//! Judges the facts of a bundle under other settings: what this version's rules say, beside what was signed.

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};

use super::both::read_by;
use super::state::{Again, Rejudged, Repetition};
use crate::rule::Settings;

/// The judgements of this version's rules over the signed facts of a bundle.
#[derive(Debug)]
pub struct Rejudgement {
    /// The settings of the bundle, of the rules that this version knows.
    pub signed: Settings,
    /// The settings that they were judged by.
    pub settings: Settings,
    /// The judgements, in the order of the observations.
    pub judgements: Vec<Rejudged>,
}

/// Verifies a bundle as [`read`](fn@super::read) does, and judges its facts once more by `settings`; without any, by those of
/// the bundle.
///
/// Which facts were read depended on the bundle's own settings. A setting that was not read because of them is not
/// guessed: the check is not verifiable.
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn rejudge(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    settings: Option<Settings>,
    sink: &mut dyn Sink,
) -> Result<(VerifiedBundle, Rejudgement), Failure> {
    let again = Some(Again { settings, judgements: Vec::new() });
    let mut repetition = Repetition { again, ..Repetition::default() };
    let verified = read_by(&mut repetition, bundle, trust, expectations, limits, sink)?;
    repetition.judge_the_rest();
    let signed = repetition.settings.clone();
    let Again { settings, mut judgements } = repetition.again.take().unwrap_or_default();
    judgements.sort_by_key(|judged| judged.group);
    let settings = settings.unwrap_or_else(|| signed.clone());
    Ok((repetition.complete(verified, expectations)?, Rejudgement { signed, settings, judgements }))
}
