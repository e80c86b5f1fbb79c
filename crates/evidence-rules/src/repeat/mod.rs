//! Judges a bundle again: do its checks follow from its signed facts?
//!
//! A [`Repetition`] is a sink: it receives the rows and artifacts of a bundle while it is verified. It groups the
//! observations as the collection made them, applies the published rules to the artifacts, and compares each check:
//! its status, its reason, its text and its evidence. Nothing is judged from what is not in the bundle.

mod again;
mod altcloud;
mod both;
mod cloud;
mod codehost;
mod complete;
mod facts;
mod group;
mod judge;
mod kept;
mod order;
mod receive;
mod state;
mod subjects;

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, UntrustedBundle, VerifiedBundle};

pub use self::again::{Rejudgement, rejudge};
use self::both::read_by;
pub use self::state::{Rejudged, Repetition};

/// Verifies a bundle and judges it again. The result has its [`judgement`](VerifiedBundle::judgement).
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn verify(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
) -> Result<VerifiedBundle, Failure> {
    let mut repetition = Repetition::default();
    let verified = UntrustedBundle::new(bundle).verify_into(trust, expectations, limits, &mut repetition)?;
    repetition.complete(verified, expectations)
}

/// Verifies a bundle and judges it again while `sink` receives it.
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn read(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<VerifiedBundle, Failure> {
    let mut repetition = Repetition::default();
    let verified = read_by(&mut repetition, bundle, trust, expectations, limits, sink)?;
    repetition.complete(verified, expectations)
}
