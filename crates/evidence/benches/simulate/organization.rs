//! How many requests an organization takes, by hand: from the calls that are documented, not from a run.

use evidence::forecast::KEPT_BACK;
use evidence::forecast::schedule::{Hourly, Phase, Terms};
use jiff::SignedDuration;

/// What the host documents: requests in an hour and in a minute.
const PER_HOUR: u64 = 5_000;
const PER_MINUTE: u64 = 900;

/// The tool's default.
const IN_FLIGHT: u64 = 32;

/// How long an answer takes.
pub(crate) const LATENCY: SignedDuration = SignedDuration::from_millis(300);

/// How many of a hundred repositories are as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    pub(crate) name: &'static str,
    /// Without branch protection.
    pub(crate) unprotected: u64,
    /// With one that does not pass by itself.
    pub(crate) insufficient: u64,
    /// With CODEOWNERS in the first place, `.github/`; all others that have one have it in the root.
    pub(crate) first: u64,
    /// Without CODEOWNERS.
    pub(crate) missing: u64,
}

/// Everything is there, in the first place it is looked for.
pub(crate) const EXEMPLARY: Mix =
    Mix { name: "exemplary", unprotected: 0, insufficient: 0, first: 100, missing: 0 };

/// What the sandbox generates.
pub(crate) const USUAL: Mix = Mix { name: "usual", unprotected: 4, insufficient: 5, first: 10, missing: 10 };

/// Half of it is not there.
pub(crate) const HALF: Mix = Mix { name: "half", unprotected: 50, insufficient: 0, first: 0, missing: 50 };

/// An organization of so many repositories: a multiple of 50, so that no share of a repository comes out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Organization {
    pub(crate) repositories: u64,
    pub(crate) mix: Mix,
}

impl Organization {
    fn of_hundred(self, repositories: u64) -> u64 {
        self.repositories * repositories / 100
    }

    /// What the tool asks: the connection test and pages of a hundred, then every branch protection and the rules of
    /// rulesets where that is not enough, then every CODEOWNERS, in one place to three. With `revalidate: true` also the
    /// branch that is not protected, and the listing of a root whose `.github/` has no file, which spares looking in
    /// vain further on; the next run begins with these, and nothing that it asks is counted. No repository has other
    /// directories.
    pub(crate) fn ours(self, run: Run) -> [Phase; 3] {
        let Mix { unprotected, insufficient, first, missing, .. } = self.mix;
        let root = 100 - first - missing;
        let (branches, places) = match run {
            Run::First => (0, root + 2 * missing),
            Run::Keeping => (unprotected, 2 * root + missing),
            Run::Again => (0, root),
        };
        let asked = [
            1 + self.repositories.div_ceil(100),
            self.repositories + self.of_hundred(unprotected + insufficient + branches),
            self.repositories + self.of_hundred(places),
        ];
        asked.map(|requests| Phase { requests, counted: if run == Run::Again { 0 } else { requests } })
    }

    /// What a script asks: pages of thirty, each repository once for its default branch, its branch protection, and
    /// CODEOWNERS in the root and then in `.github/`.
    pub(crate) fn naive(self) -> [Phase; 1] {
        let Mix { first, missing, .. } = self.mix;
        let requests =
            1 + self.repositories.div_ceil(30) + 3 * self.repositories + self.of_hundred(first + missing);
        [Phase { requests, counted: requests }]
    }

    /// The host's limits, and the tool's settings that nobody changed.
    ///
    /// Nothing else can be asked beside the connection test and the first page, beside the last of the other pages, and
    /// beside the last places of the last file.
    pub(crate) fn our_terms(self) -> Terms {
        let (pages, places) = (self.repositories > 100, self.mix.first < 100);
        let alone = 2 + u64::from(pages) + u64::from(places);
        let left = PER_HOUR - KEPT_BACK;
        let hourly = Hourly { now: left, then: left, ends: SignedDuration::from_hours(1) };
        Terms { in_flight: IN_FLIGHT, latency: LATENCY, alone, per_minute: PER_MINUTE, hourly: Some(hourly) }
    }

    /// One request after the other, without a pace, until the host refuses; then it sleeps until the reset.
    pub(crate) fn naive_terms() -> Terms {
        let hourly = Hourly { now: PER_HOUR, then: PER_HOUR, ends: SignedDuration::from_hours(1) };
        Terms { in_flight: 1, latency: LATENCY, alone: 0, per_minute: 0, hourly: Some(hourly) }
    }
}

/// Which of the tool's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// Nothing is kept.
    First,
    /// The first with `revalidate: true`.
    Keeping,
    /// The next with `revalidate: true`, and nothing has changed.
    Again,
}

/// All requests of all phases.
pub(crate) fn requests(phases: &[Phase]) -> u64 {
    phases.iter().map(|phase| phase.requests).sum()
}
