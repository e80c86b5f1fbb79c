//! How many requests an organization takes, computed by hand from the documented calls instead of from a run.

use evidence::forecast::KEPT_BACK;
use evidence::forecast::schedule::{Hourly, Phase, Terms};
use jiff::SignedDuration;

/// The host's documented limits: requests per hour and per minute.
const PER_HOUR: u64 = 5_000;
const PER_MINUTE: u64 = 900;

/// The tool's default.
const IN_FLIGHT: u64 = 32;

/// How long an answer takes.
pub(crate) const LATENCY: SignedDuration = SignedDuration::from_millis(300);

/// How many of a hundred repositories are in each state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    pub(crate) name: &'static str,
    /// Without branch protection.
    pub(crate) unprotected: u64,
    /// With branch protection that does not pass by itself.
    pub(crate) insufficient: u64,
    /// With CODEOWNERS in the first place, `.github/`. All other repositories with a CODEOWNERS file have it in the
    /// root.
    pub(crate) first: u64,
    /// Without CODEOWNERS.
    pub(crate) missing: u64,
}

/// Every setting and file exists, in the first place where the tool looks.
pub(crate) const EXEMPLARY: Mix =
    Mix { name: "exemplary", unprotected: 0, insufficient: 0, first: 100, missing: 0 };

/// The mix that the sandbox generates.
pub(crate) const USUAL: Mix = Mix { name: "usual", unprotected: 4, insufficient: 5, first: 10, missing: 10 };

/// Half of the repositories have no branch protection, and half have no CODEOWNERS.
pub(crate) const HALF: Mix = Mix { name: "half", unprotected: 50, insufficient: 0, first: 0, missing: 50 };

/// An organization with this many repositories: a multiple of 50, so that every share is a whole number of
/// repositories.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Organization {
    pub(crate) repositories: u64,
    pub(crate) mix: Mix,
}

impl Organization {
    fn of_hundred(self, repositories: u64) -> u64 {
        self.repositories * repositories / 100
    }

    /// The tool's requests: the connection test and pages of a hundred; then every branch protection, and the rules of
    /// rulesets where that is not enough; then every CODEOWNERS, in one to three places. With `revalidate: true` the
    /// tool also reads each unprotected branch, and the root's listing if `.github/` has no file, which saves requests
    /// for files that do not exist. The next run starts with these, and the host counts none of its requests. No
    /// repository has other directories.
    pub(crate) fn ours(self, run: Run) -> [Phase; 3] {
        let Mix { unprotected, insufficient, first, missing, .. } = self.mix;
        let root = 100 - first - missing;
        let (branches, places) = match run {
            Run::First => (0, root + 2 * missing),
            Run::Keeping => (unprotected, 2 * root + missing),
            Run::Again => (0, root),
        };
        let asked = [
            // The organization and the account. A list of several pages is compared with the organization's count at its
            // end.
            2 + self.repositories.div_ceil(100) + u64::from(self.repositories > 100),
            self.repositories + self.of_hundred(unprotected + insufficient + branches),
            self.repositories + self.of_hundred(places),
        ];
        // Of a run without changes, only the question for the account counts.
        let mut account = 1;
        asked.map(|requests| {
            let counted = if run == Run::Again { std::mem::take(&mut account) } else { requests };
            Phase { requests, counted }
        })
    }

    /// A script's requests: pages of thirty; then, for each repository, its default branch, its branch protection, and
    /// CODEOWNERS in the root and then in `.github/`.
    pub(crate) fn naive(self) -> [Phase; 1] {
        let Mix { first, missing, .. } = self.mix;
        let requests =
            1 + self.repositories.div_ceil(30) + 3 * self.repositories + self.of_hundred(first + missing);
        [Phase { requests, counted: requests }]
    }

    /// The host's limits, with the tool's default settings.
    ///
    /// No other request can run in parallel with the connection test, the first page, the last of the other pages, or
    /// the last places of the last file.
    pub(crate) fn our_terms(self) -> Terms {
        let (pages, places) = (self.repositories > 100, self.mix.first < 100);
        let alone = 2 + u64::from(pages) + u64::from(places);
        let left = PER_HOUR - KEPT_BACK;
        let hourly = Hourly { now: left, then: left, ends: SignedDuration::from_hours(1) };
        Terms {
            in_flight: IN_FLIGHT,
            latency: LATENCY,
            alone,
            per_minute: PER_MINUTE,
            minute: None,
            hourly: Some(hourly),
        }
    }

    /// Sequential requests without pacing until the host refuses one; then the script sleeps until the reset.
    pub(crate) fn naive_terms() -> Terms {
        let hourly = Hourly { now: PER_HOUR, then: PER_HOUR, ends: SignedDuration::from_hours(1) };
        Terms { in_flight: 1, latency: LATENCY, alone: 0, per_minute: 0, minute: None, hourly: Some(hourly) }
    }
}

/// Which run of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// Without a cache.
    First,
    /// The first with `revalidate: true`.
    Keeping,
    /// The next run with `revalidate: true`, with no change at the host.
    Again,
}

/// All requests of all phases.
pub(crate) fn requests(phases: &[Phase]) -> u64 {
    phases.iter().map(|phase| phase.requests).sum()
}
