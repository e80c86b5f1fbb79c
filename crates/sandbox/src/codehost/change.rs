//! Changes of a branch: pull requests with their reviews, and pushes. Their times count back from now.

use crate::sha1;

/// A closed pull request.
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) number: u64,
    pub(crate) author: Option<String>,
    pub(crate) merged_by: Option<String>,
    pub(crate) base: String,
    /// Minutes since it was closed.
    pub(crate) merged: i64,
    /// Minutes since it last changed.
    pub(crate) updated: i64,
    pub(crate) is_merged: bool,
    pub(crate) unindexed: bool,
    pub(crate) reviews: Vec<Review>,
}

/// A review.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    pub(crate) by: Option<String>,
    pub(crate) state: String,
    pub(crate) before_merge: i64,
    pub(crate) stale: bool,
}

/// An entry of a branch's activity.
#[derive(Clone, Debug)]
pub struct Pushed {
    pub(crate) actor: Option<String>,
    pub(crate) kind: String,
    /// Minutes since.
    pub(crate) ago: i64,
    pub(crate) after: Option<String>,
    pub(crate) branch: String,
}

impl Pushed {
    /// A push to `main` so many hours ago.
    pub fn new(actor: Option<&str>, kind: &str, hours: i64) -> Self {
        let actor = actor.map(str::to_owned);
        Self { actor, kind: kind.to_owned(), ago: hours * 60, after: None, branch: "main".to_owned() }
    }
}

impl Change {
    /// A pull request of `author` that `olivia-owner` merged into `main` so many hours ago.
    pub fn new(number: u64, author: Option<&str>, hours: i64) -> Self {
        Self {
            number,
            author: author.map(str::to_owned),
            merged_by: Some("olivia-owner".to_owned()),
            base: "main".to_owned(),
            merged: hours * 60,
            updated: hours * 60,
            is_merged: true,
            unindexed: false,
            reviews: Vec::new(),
        }
    }

    /// Adds a review of the last commit, an hour before the merge and a minute after the review before it.
    pub fn review(mut self, by: Option<&str>, state: &str) -> Self {
        let before_merge = 60 - i64::try_from(self.reviews.len()).unwrap_or_default();
        let by = by.map(str::to_owned);
        self.reviews.push(Review { by, state: state.to_owned(), before_merge, stale: false });
        self
    }

    /// Adds an approval of the last commit.
    pub fn approved_by(self, login: &str) -> Self {
        self.review(Some(login), "APPROVED")
    }

    /// The last review was about an earlier commit.
    pub fn before_a_push(mut self) -> Self {
        self.reviews.iter_mut().next_back().into_iter().for_each(|review| review.stale = true);
        self
    }

    /// Into another branch.
    pub fn into_branch(mut self, branch: &str) -> Self {
        branch.clone_into(&mut self.base);
        self
    }

    /// Closed without being merged.
    pub fn not_merged(mut self) -> Self {
        self.is_merged = false;
        self
    }

    /// Changed last so many hours ago, after it was closed.
    pub fn updated(mut self, hours: i64) -> Self {
        self.updated = hours * 60;
        self
    }

    /// Merged so many minutes ago, instead of hours.
    pub fn minutes(mut self, minutes: i64) -> Self {
        (self.merged, self.updated) = (minutes, minutes);
        self
    }

    /// Not in the index of the search.
    pub fn unindexed(mut self) -> Self {
        self.unindexed = true;
        self
    }

    pub(crate) fn head(&self, full: &str) -> String {
        sha1::name_id(&format!("{full} head {}", self.number))
    }

    pub(crate) fn commit(&self, full: &str) -> String {
        sha1::name_id(&format!("{full} merge {}", self.number))
    }
}
