//! Bundles over time: those of one organization and framework, with their controls.

use std::collections::HashSet;

use crate::overview::Overview;

/// The bundles of one organization and one framework.
#[derive(Debug)]
pub struct Timeline<'a, B> {
    /// The bundles, newest first.
    pub bundles: Vec<&'a B>,
    /// Their controls, in the order of the newest bundle that has them.
    pub controls: Vec<&'a str>,
    /// The number of further controls.
    pub more_controls: usize,
}

/// The timelines of these bundles, ordered by their newest bundle, each with at most this many bundles and controls.
pub fn timelines<B: AsRef<Overview>>(
    newest_first: &[B],
    most_bundles: usize,
    most_controls: usize,
) -> Vec<Timeline<'_, B>> {
    let mut timelines: Vec<Timeline<'_, B>> = Vec::new();
    let belongs = |bundle: &B, other: &B| {
        let (one, other) = (bundle.as_ref(), other.as_ref());
        (&one.organization, &one.framework) == (&other.organization, &other.framework)
    };
    for bundle in newest_first {
        let same =
            |known: &&mut Timeline<'_, B>| known.bundles.first().is_some_and(|first| belongs(first, bundle));
        match timelines.iter_mut().find(same) {
            Some(timeline) if timeline.bundles.len() < most_bundles => timeline.bundles.push(bundle),
            Some(_) => {}
            None => {
                let (bundles, controls) = (vec![bundle], Vec::new());
                timelines.push(Timeline { bundles, controls, more_controls: 0 });
            }
        }
    }
    for timeline in &mut timelines {
        let mut seen = HashSet::new();
        let judgements = timeline.bundles.iter().filter_map(|bundle| (*bundle).as_ref().judgement.as_ref());
        for control in judgements.flat_map(|judgement| &judgement.controls) {
            if seen.insert(control.id.as_str()) && timeline.controls.len() < most_controls {
                timeline.controls.push(&control.id);
            }
        }
        timeline.more_controls = seen.len().saturating_sub(timeline.controls.len());
    }
    timelines
}
