//! One verdict over several things of one subject: a failure beats what is not known, and that beats a pass.

use evidence_text::single_line;

use crate::rule::{Reason, Verdict, reason};

/// The most resources that a text names.
const NAMED: usize = 5;

/// What was found of each resource.
#[derive(Debug, Default)]
pub(crate) struct Several {
    good: u64,
    failed: Vec<String>,
    open: Vec<(&'static Reason, String)>,
}

/// What a resource shows.
#[derive(Debug)]
pub(crate) enum One {
    /// The rule does not concern it.
    Nothing,
    /// It meets the rule.
    Good,
    /// It certainly does not.
    Failed,
    /// It cannot be told, for this reason.
    Open(&'static Reason),
}

/// The words of a verdict: about those that fail, those that are not known, those that are good, and none at all.
pub(crate) struct Words {
    pub(crate) fails: &'static Reason,
    pub(crate) failed: &'static str,
    pub(crate) open: &'static str,
    pub(crate) good: &'static str,
    pub(crate) none: &'static str,
}

impl Several {
    /// Adds a resource.
    pub(crate) fn add(&mut self, name: &str, one: One) {
        match one {
            One::Nothing => {}
            One::Good => self.add_good(1),
            One::Failed => self.failed.push(single_line(name)),
            One::Open(reason) => self.open.push((reason, single_line(name))),
        }
    }

    /// Adds resources that meet the rule and that no text needs to name.
    pub(crate) fn add_good(&mut self, count: u64) {
        self.good = self.good.saturating_add(count);
    }

    /// The verdict on all of them.
    pub(crate) fn judge(&self, words: &Words) -> Verdict {
        let total = self.good.saturating_add(count(&self.failed)).saturating_add(count(&self.open));
        let open: Vec<&str> = self.open.iter().map(|(_, name)| name.as_str()).collect();
        let mut parts = Vec::new();
        if !self.failed.is_empty() {
            parts.push(format!("{} of {total} {}: {}", self.failed.len(), words.failed, named(&self.failed)));
        }
        if let Some((first, _)) = self.open.first() {
            parts.push(format!("{} of {total} {}: {}", open.len(), words.open, named(&open)));
            if self.failed.is_empty() {
                return Verdict::unknown(first, parts.concat());
            }
        }
        match (self.failed.is_empty(), total) {
            (false, _) => Verdict::fail(words.fails, parts.join("; ")),
            (true, 0) => Verdict::not_applicable(&reason::NOTHING_IN_SCOPE, words.none),
            (true, total) => Verdict::pass(format!("{total} {}", words.good)),
        }
    }
}

fn count<T>(list: &[T]) -> u64 {
    evidence_text::saturating_u64(list.len())
}

/// The first few names.
fn named<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    static BAD: Reason = Reason::new("bad", "Bad");
    static HIDDEN: Reason = Reason::new("hidden_not_visible", "Hidden");
    static WORDS: Words =
        Words { fails: &BAD, failed: "are bad", open: "are hidden", good: "are good", none: "there is none" };

    /// Every number of good, failing and hidden resources up to two: the whole domain of what decides.
    #[test]
    fn a_failure_beats_the_unknown_and_that_beats_a_pass() {
        for good in 0..3 {
            for failed in 0..3 {
                for open in 0..3 {
                    let mut several = Several::default();
                    (0..good).for_each(|index| several.add(&format!("g{index}"), One::Good));
                    (0..failed).for_each(|index| several.add(&format!("f{index}"), One::Failed));
                    (0..open).for_each(|index| several.add(&format!("o{index}"), One::Open(&HIDDEN)));
                    several.add("none of it", One::Nothing);
                    let verdict = several.judge(&WORDS);
                    let expected = match (failed, open, good) {
                        (1.., _, _) => (Status::Fail, "bad"),
                        (0, 1.., _) => (Status::NotVerifiable, "hidden_not_visible"),
                        (0, 0, 1..) => (Status::Pass, "ok"),
                        _ => (Status::NotApplicable, "nothing_in_scope"),
                    };
                    assert_eq!((verdict.status, verdict.reason.code), expected, "{good} {failed} {open}");
                }
            }
        }
    }

    #[test]
    fn only_the_first_are_named() {
        let mut several = Several::default();
        ["a", "b", "c\nd", "e", "f", "g", "h"].into_iter().for_each(|name| several.add(name, One::Failed));
        several.add("i", One::Open(&HIDDEN));
        let actual = several.judge(&WORDS).actual.unwrap();
        assert_eq!(actual, "7 of 8 are bad: a, b, c\\u{a}d, e, f and 2 more; 1 of 8 are hidden: i");
    }
}
