//! That a repository has no CODEOWNERS in a place, shown by listings of its directories.
//!
//! "Not Found" has no entity tag and counts every night; the listing of a directory has one. With `revalidate` a run that
//! misses a file asks for the listings, and the next run begins with them. What they do not settle is asked as without
//! them.

use super::api::Api;
use super::calls::{CodeownersLocation, PLACES};
use super::look::RepositoryName;
use super::wire::{Listed, Listing};
use evidence_http::{Answered, Call};

/// The listings of one look.
pub(super) struct Directories<'a> {
    api: &'a Api<'a>,
    target: RepositoryName<'a>,
    /// The root's, once it was asked for.
    root: Option<Option<Listing>>,
}

impl<'a> Directories<'a> {
    pub(super) fn new(api: &'a Api<'a>, target: RepositoryName<'a>) -> Directories<'a> {
        Directories { api, target, root: None }
    }

    /// Whether listings are asked before the file in `place`: nothing of the file was kept that can be asked about, and
    /// the root's listing was.
    pub(super) fn come_first(&self, place: &CodeownersLocation) -> bool {
        let [_, root, _] = &PLACES;
        self.api.keeps_answers()
            && !self.is_kept(&place.record)
            && (self.root.is_some() || self.is_kept(&root.directory))
    }

    /// Whether listings show that there is nothing in `place`.
    pub(super) async fn lack(&mut self, place: &CodeownersLocation) -> bool {
        let [_, root, _] = &PLACES;
        if self.root.is_none() {
            self.root = Some(self.listing(&root.directory).await);
        }
        let Some(Some(root)) = &self.root else { return false };
        let Some((directory, name)) = place.path.split_once('/') else {
            return root.find(place.path) == Listed::Nothing;
        };
        match root.find(directory) {
            Listed::Nothing => true,
            Listed::Directory => {
                let listing = self.listing(&place.directory).await;
                listing.is_some_and(|listing| listing.find(name) == Listed::Nothing)
            }
            // What a link or a submodule leads to is not in the listing.
            Listed::Other => false,
        }
    }

    /// Whether the host has shown one, and so the repository.
    pub(super) fn were_shown(&self) -> bool {
        matches!(self.root, Some(Some(_)))
    }

    /// Another repository's listing says nothing about this one, and no answer says nothing at all.
    async fn listing(&self, call: &Call<Listing>) -> Option<Listing> {
        // On the heap: this is rarely asked, and every look would hold its room.
        let parameters = self.parameters();
        let Answered { value, meta } = Box::pin(self.api.ask(call, &parameters)).await.ok()?;
        meta.redirected_to.is_none().then_some(value)
    }

    fn is_kept<T>(&self, call: &Call<T>) -> bool {
        self.api.is_kept(call, &self.parameters())
    }

    fn parameters(&self) -> [(&'static str, &'a str); 2] {
        [("owner", self.target.owner), ("repo", self.target.name)]
    }
}
