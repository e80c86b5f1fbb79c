//! Judges the facts of a bundle under other settings: what this version's rules say, beside what was signed.

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};

use super::{Repetition, read_by};
use crate::inspection::Judgement;
use crate::rule::Settings;

/// What the rules say about a subject, in the order of the facts.
#[derive(Debug)]
pub struct Rejudged {
    /// The source.
    pub source: &'static str,
    /// The rule, the subject and the outcome.
    pub judgement: Judgement,
}

/// The judgements of this version's rules over the signed facts of a bundle.
#[derive(Debug)]
pub struct Again {
    /// The settings that they were judged by.
    pub settings: Settings,
    /// The judgements.
    pub judgements: Vec<Rejudged>,
}

/// Verifies a bundle as [`read`](super::read) does, and judges its facts once more by `settings`; without any, by those of
/// the bundle.
///
/// What decided which facts were read were the bundle's own settings. A setting that was not read because of them is not
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
) -> Result<(VerifiedBundle, Again), Failure> {
    let mut repetition = Repetition { again: Some(Vec::new()), other: settings, ..Repetition::default() };
    let verified = read_by(&mut repetition, bundle, trust, expectations, limits, sink)?;
    repetition.judge_the_rest();
    let settings = repetition.other.clone().unwrap_or_else(|| repetition.settings.clone());
    let judgements = repetition.again.take().unwrap_or_default();
    let verified = repetition.complete(verified, expectations)?;
    Ok((verified, Again { settings, judgements }))
}
