//! Finds waivers that accept the same failure: then nobody could say which one counts.

use std::collections::HashMap;

use evidence_bundle::document::WaiverRecord;
use evidence_bundle::waiver::glob_matches;

/// The pairs that accept the same failure on the same day, each waiver with the first that it meets.
pub(super) fn overlaps(waivers: &[&WaiverRecord<()>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    // By rule and folded subject: the waivers that name it exactly.
    let mut exact: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    let mut patterns: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, waiver) in waivers.iter().enumerate() {
        let rule = waiver.rule.as_str();
        let names = || waiver.subjects.iter().map(|subject| (rule, subject.to_ascii_lowercase()));
        let same_name = names().filter_map(|name| exact.get(&name)).flatten();
        let with_pattern = patterns.get(rule).into_iter().flatten();
        let all: Box<dyn Iterator<Item = &usize>> = match waiver.globs.is_empty() {
            true => Box::new(same_name.chain(with_pattern)),
            // A pattern is compared with every waiver of its rule.
            false => Box::new(
                exact
                    .iter()
                    .filter(|((known, _), _)| *known == rule)
                    .flat_map(|(_, all)| all)
                    .chain(with_pattern),
            ),
        };
        let meets = |other: &&usize| waivers.get(**other).is_some_and(|other| meet(other, waiver));
        if let Some(first) = all.filter(meets).min() {
            pairs.push((*first, number));
        }
        names().for_each(|name| exact.entry(name).or_default().push(number));
        if !waiver.globs.is_empty() {
            patterns.entry(rule).or_default().push(number);
        }
    }
    pairs
}

/// Whether both accept the same failure on the same day.
fn meet(left: &WaiverRecord<()>, right: &WaiverRecord<()>) -> bool {
    // Days in this form are in the order of their texts.
    let days = left.approved_at <= right.expires_at && right.approved_at <= left.expires_at;
    let reasons = left.reasons.is_empty()
        || right.reasons.is_empty()
        || left.reasons.iter().any(|reason| right.reasons.contains(reason));
    days && reasons
        && left.source == right.source
        && right.subjects.iter().chain(&right.globs).any(|subject| shared(left, subject))
}

/// Whether the waiver accepts failures of something that `subject` names, which is a name or a pattern.
pub(super) fn shared(waiver: &WaiverRecord<()>, subject: &str) -> bool {
    let named = waiver.subjects.iter().any(|name| glob_matches(subject, name));
    named || waiver.globs.iter().any(|glob| meet_globs(glob, subject))
}

/// Whether some text matches both patterns.
fn meet_globs(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.split('/'), right.split('/'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if meet_components(left, right) => {}
            _ => return false,
        }
    }
}

/// Walks both patterns at once. Each row tells from which places of `right` the rest can be matched.
fn meet_components(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    // The last row: the rest of `right` must match nothing.
    let mut below: Vec<bool> = (0..=right.len())
        .map(|from| right.get(from..).unwrap_or_default().iter().all(|byte| *byte == b'*'))
        .collect();
    for byte in left.iter().rev() {
        let mut row = vec![false; right.len() + 1];
        for place in (0..=right.len()).rev() {
            let at = |row: &[bool], place: usize| row.get(place).copied().unwrap_or(false);
            let other = right.get(place);
            let skip_left = *byte == b'*' && at(&below, place);
            let skip_right =
                (other == Some(&b'*') || *byte == b'*') && place < right.len() && at(&row, place + 1);
            let stay = other == Some(&b'*') && at(&below, place);
            let both = other.is_some_and(|other| other.eq_ignore_ascii_case(byte)) && at(&below, place + 1);
            if let Some(cell) = row.get_mut(place) {
                *cell = skip_left || skip_right || stay || both;
            }
        }
        below = row;
    }
    below.first().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_if_a_text_matches_both() {
        for (left, right, expected) in [
            ("acme/a*", "acme/ab", true),
            ("acme/a*", "ACME/AB*", true),
            ("acme/a*", "acme/b*", false),
            ("acme/*a", "acme/b*", true),
            ("acme/*a", "acme/*b", false),
            ("acme/a*c", "acme/ab*", true),
            ("acme/*", "acme/x/y", false),
            ("*/x", "acme/*", true),
            ("a*b*c", "*d*", true),
            ("abc", "abd", false),
            ("a*", "a", true),
        ] {
            assert_eq!(meet_globs(left, right), expected, "{left} {right}");
            assert_eq!(meet_globs(right, left), expected, "{right} {left}");
        }
    }
}
