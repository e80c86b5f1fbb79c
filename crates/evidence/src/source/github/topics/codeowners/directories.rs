//! Uses directory listings to show that a repository has no CODEOWNERS in a location.
//!
//! "Not Found" has no entity tag and counts against the limit in every run; a directory listing has one. With
//! `revalidate`, a run that does not find a file requests the listings, and the next run begins with them. Whatever
//! they do not settle is requested as usual.

use super::listing::{Listed, Listing};
use super::places::{CodeownersLocation, PLACES};
use crate::source::github::host::api::Api;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Answered, Call};

/// The listings for one observation.
pub(super) struct Directories<'a> {
    api: &'a Api<'a>,
    target: RepositoryName<'a>,
    /// The root's listing, once requested.
    root: Option<Option<Listing>>,
}

impl<'a> Directories<'a> {
    pub(super) fn new(api: &'a Api<'a>, target: RepositoryName<'a>) -> Directories<'a> {
        Directories { api, target, root: None }
    }

    /// Whether to request listings before the file in `place`: no answer about the file is kept for revalidation, but
    /// the root's listing is.
    pub(super) fn come_first(&self, place: &CodeownersLocation) -> bool {
        let [_, root, _] = &PLACES;
        self.api.keeps_answers()
            && !self.is_kept(&place.record)
            && (self.root.is_some() || self.is_kept(&root.directory))
    }

    /// Whether listings show that `place` has no file.
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
            // A listing does not include the target of a link or submodule.
            Listed::Other => false,
        }
    }

    /// Whether the host has shown the root's listing, which proves that the repository exists.
    pub(super) fn were_shown(&self) -> bool {
        matches!(self.root, Some(Some(_)))
    }

    /// Requests a listing. A redirect to another repository proves nothing, and neither does a missing answer.
    async fn listing(&self, call: &Call<Listing>) -> Option<Listing> {
        // Boxed: this is rarely requested, but would enlarge the future of every observation.
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
