//! Finds the collector's own secrets in a text.
//!
//! Only letters and digits of the text count: a secret is found even if spaces, line breaks, comment signs or
//! invisible characters split it. A form with too few letters and digits is searched for literally.

mod forms;
mod table;

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

pub use forms::is_sought;
use table::Squeezed;

use super::words::Words;

/// The forms to search for.
#[derive(Default)]
pub(super) struct Own {
    /// The letters and digits of each form, in order.
    squeezed: Vec<Vec<u8>>,
    /// The forms with too few of them.
    literal: Vec<Vec<u8>>,
    /// The forms by their beginnings, which the table finds.
    beginnings: Vec<Range<usize>>,
    words: Words<Squeezed>,
    finder: Option<AhoCorasick>,
}

impl Own {
    /// Adds these secrets to the search.
    pub(super) fn learn<S: AsRef<[u8]>>(&mut self, secrets: impl IntoIterator<Item = S>) {
        let known = self.squeezed.len() + self.literal.len();
        for form in secrets.into_iter().flat_map(|secret| forms::forms(secret.as_ref())) {
            let squeezed: Vec<u8> = form.iter().copied().filter(|byte| table::counts(*byte)).collect();
            if squeezed.len() < table::LENGTH {
                self.literal.push(form)
            } else {
                self.squeezed.push(squeezed)
            }
        }
        for forms in [&mut self.squeezed, &mut self.literal] {
            forms.sort_unstable();
            forms.dedup();
        }
        if known < self.squeezed.len() + self.literal.len() {
            self.build();
        }
    }

    fn build(&mut self) {
        let beginning = |form: &Vec<u8>| form.get(..table::LENGTH).unwrap_or_default().to_vec();
        let mut at = 0;
        self.beginnings.clear();
        for forms in self.squeezed.chunk_by(|a, b| beginning(a) == beginning(b)) {
            self.beginnings.push(at..at + forms.len());
            at += forms.len();
        }
        let words: Vec<Vec<u8>> = self
            .beginnings
            .iter()
            .filter_map(|forms| self.squeezed.get(forms.start))
            .map(beginning)
            .collect();
        self.words = Words::of(Squeezed::new(&words.iter().map(Vec::as_slice).collect::<Vec<_>>()));
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let finder = || AhoCorasick::builder().kind(kind).build(&self.literal).ok();
        self.finder = (!self.literal.is_empty()).then(finder).flatten();
    }

    /// Calls `take` with every place of a secret.
    pub(super) fn each(&self, text: &[u8], mut take: impl FnMut(Range<usize>)) {
        if !self.squeezed.is_empty() {
            self.words.each(
                text,
                |_| true,
                |hit| {
                    let forms =
                        self.beginnings.get(hit.word).and_then(|forms| self.squeezed.get(forms.clone()));
                    let ends =
                        forms.into_iter().flatten().filter_map(|form| follow(text, hit.range.end, form));
                    if let Some(end) = ends.max() {
                        take(table::back(text, hit.range.end, table::LENGTH)..end);
                    }
                },
            );
        }
        if let Some(finder) = &self.finder {
            finder.find_overlapping_iter(text).for_each(|hit| take(hit.range()));
        }
    }
}

/// The end of the form if its beginning ends at `at`.
fn follow(text: &[u8], at: usize, form: &[u8]) -> Option<usize> {
    let mut end = at;
    for wanted in form.get(table::LENGTH..)? {
        let rest = text.get(end..)?;
        let next = rest.iter().position(|byte| table::counts(*byte))?;
        if rest.get(next) != Some(wanted) {
            return None;
        }
        end += next + 1;
    }
    Some(end)
}
