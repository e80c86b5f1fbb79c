//! Generated repositories in any number, created only on request.

use super::{File, Protection, Repository};

/// The number of the first repository of a fleet.
const FIRST_ID: u64 = 500_000_000;

/// An organization's generated repositories.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    owner: String,
    count: u32,
}

impl Fleet {
    /// This many repositories of this owner.
    pub(crate) fn new(owner: &str, count: u32) -> Fleet {
        Fleet { owner: owner.to_owned(), count }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Fixed width, so that the order of names is the order of numbers.
    pub(crate) fn name(number: u32) -> String {
        format!("service-{number:06}")
    }

    pub(crate) fn id(&self, number: u32) -> u64 {
        FIRST_ID + u64::from(number)
    }

    pub(crate) fn is_private(&self, number: u32) -> bool {
        number.is_multiple_of(3)
    }

    pub(crate) fn private_count(&self) -> u64 {
        u64::from(self.count).div_ceil(3)
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<Repository> {
        let name = name.to_lowercase();
        let digits = name.strip_prefix("service-").filter(|digits| digits.len() == 6)?;
        digits.parse().ok().filter(|number| *number < self.count).map(|number| self.repository(number))
    }

    pub(crate) fn by_id(&self, id: u64) -> Option<Repository> {
        let number = u32::try_from(id.checked_sub(FIRST_ID)?).ok()?;
        (number < self.count).then(|| self.repository(number))
    }

    pub(crate) fn repository(&self, number: u32) -> Repository {
        let repository = Repository::new(&self.owner, Self::name(number))
            .id(self.id(number))
            .private(self.is_private(number))
            .language("Rust")
            .description(format!("Service number {number} of the fleet"));
        // Most are well protected; some are not, so that a run has findings.
        let protection = Protection::new()
            .reviews(if number % 10 == 7 { 1 } else { 2 })
            .dismiss_stale_reviews()
            .code_owner_reviews()
            .status_checks(["ci/build", "ci/test", "ci/lint"])
            .strict()
            .enforce_admins(number % 20 != 3);
        let repository =
            if number % 25 == 9 { repository } else { repository.protection("main", protection) };
        let owners = format!(
            "# Owners of service {number}\n*       @{owner}/platform\n/docs/  @{owner}/writers\n/api/   @{owner}/api \
             api-{number}@{owner}.example\n*.sql   @{owner}/data\n",
            owner = self.owner
        );
        match number % 10 {
            9 => repository,
            4 => repository.file(".github/CODEOWNERS", File::text(owners)),
            _ => repository.file("CODEOWNERS", File::text(owners)),
        }
    }
}
