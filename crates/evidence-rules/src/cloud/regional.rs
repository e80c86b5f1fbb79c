//! What the regions of an account show, judged together.

use crate::rule::{Reason, Verdict};
use crate::several::{One, Several, Words};

/// What each region shows, or why it was not read.
#[derive(Debug)]
pub struct Regions<R>(pub Vec<(String, Result<R, &'static Reason>)>);

impl<R> Default for Regions<R> {
    fn default() -> Regions<R> {
        Regions(Vec::new())
    }
}

impl<R> Regions<R> {
    /// The verdict on everything that `each` finds in a region. A region that was not read leaves it open.
    pub(crate) fn judge(&self, words: &Words, each: impl Fn(&mut Several, &str, &R)) -> Verdict {
        let mut all = Several::default();
        for (region, read) in &self.0 {
            match read {
                Ok(record) => each(&mut all, region, record),
                Err(reason) if **reason == super::reason::SERVICE_NOT_IN_REGION => {}
                Err(reason) => all.add(region, One::Open(reason)),
            }
        }
        all.judge(words)
    }
}
