//! Whoever left the directory has no active account elsewhere, over the lists of all sources.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use serde::{Deserialize, Serialize};

use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// Nobody who left can still sign in somewhere.
pub static LEAVERS_REMOVED: Rule = Rule {
    code: "leavers-removed",
    title: "Accounts of leavers removed",
    version: 1,
    kind: "directory",
    expected: "nobody of the configured map who is suspended or gone in the directory has an active account at another source",
    reads: "the map of people (`people.map`), and the lists of people of all sources of the run",
    not_checked: "people who are not in the map; accounts that the map does not name; sources that are not configured; how long after \
                  somebody left an account was removed",
    permission: "Let every source of the map read its people: see the rules `inactive-users`, `owners-count` and `user-mfa`, which read \
                 these lists and must run too.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&LEAVER_ACTIVE, &PEOPLE_NOT_READ],
};

/// An account outlived its owner's time here.
pub static LEAVER_ACTIVE: Reason = Reason::new("leaver_active", "Accounts of leavers still active").advice(
    High,
    Misconfigured,
    "Remove or deactivate the accounts that this result names, and find out why that did not happen when these people left. If \
     somebody did not leave, restore the user in the directory or correct the map.",
);

/// A list of people that the map names is not known to its end.
pub static PEOPLE_NOT_READ: Reason =
    Reason::new("people_not_read", "A list of people was not read to its end").advice(
        Medium,
        Partial,
        "Let the sources that this result names show all of their people, and run the rules that read these lists: `inactive-users` for \
         the directory without `domains`, `owners-count` for the code host, `user-mfa` for the cloud.",
    );

/// `leavers.json`: what each source says of the people of the map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leavers {
    /// The people of the map, in its order.
    pub people: Vec<MappedPerson>,
}

/// A line of the map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedPerson {
    /// Its number in the file.
    pub line: u64,
    /// Their account in the directory; absent if the map names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<MappedAccount>,
    /// Their accounts elsewhere.
    pub accounts: Vec<MappedAccount>,
}

/// An account of the map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedAccount {
    /// The source.
    pub source: String,
    /// What the map calls the account.
    pub account: String,
    /// What the source says of it.
    pub state: AccountState,
}

/// What a source says of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    /// It is there and can sign in.
    Active,
    /// It is there and cannot sign in.
    Suspended,
    /// It is not in a list that was read to its end.
    Gone,
    /// The list does not say.
    #[default]
    Unknown,
}

/// The judgement.
pub static JUDGE: Judge<Leavers> = Judge { rule: &LEAVERS_REMOVED, judge: |record, _| Some(judge(record)) };

static WORDS: Words = Words {
    fails: &LEAVER_ACTIVE,
    failed: "mapped people left and can still sign in",
    open: "mapped people may have left and may still be able to sign in",
    good: "mapped people, none of whom left and can still sign in",
    none: "the map names nobody of the directory",
};

/// Passes if nobody who left the directory is active elsewhere.
pub fn judge(record: &Leavers) -> Verdict {
    let mut people = Several::default();
    for person in &record.people {
        let Some(directory) = &person.directory else { continue };
        let with = |state: AccountState| person.accounts.iter().filter(move |account| account.state == state);
        let named = |state: AccountState| {
            let accounts: Vec<String> =
                with(state).map(|account| format!("{} {}", account.source, account.account)).collect();
            format!("{} ({})", directory.account, accounts.join(", "))
        };
        let (active, unknown) = (with(AccountState::Active).count(), with(AccountState::Unknown).count());
        match directory.state {
            AccountState::Suspended | AccountState::Gone if active > 0 => {
                people.add(&named(AccountState::Active), One::Failed);
            }
            AccountState::Suspended | AccountState::Gone if unknown > 0 => {
                people.add(&named(AccountState::Unknown), One::Open(&PEOPLE_NOT_READ));
            }
            AccountState::Unknown if active + unknown > 0 => {
                people.add(&directory.account, One::Open(&PEOPLE_NOT_READ));
            }
            AccountState::Active | AccountState::Suspended | AccountState::Gone | AccountState::Unknown => {
                people.add_good(1)
            }
        }
    }
    people.judge(&WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    const STATES: [AccountState; 4] =
        [AccountState::Active, AccountState::Suspended, AccountState::Gone, AccountState::Unknown];

    fn account(source: &str, state: AccountState) -> MappedAccount {
        MappedAccount { source: source.to_string(), account: "mia".to_string(), state }
    }

    /// Every state in the directory, with every state of two accounts elsewhere: 4 * 4 * 4 cases.
    #[test]
    fn the_whole_domain() {
        for directory in STATES {
            for first in STATES {
                for second in STATES {
                    let person = MappedPerson {
                        line: 2,
                        directory: Some(account("altcloud", directory)),
                        accounts: vec![account("codehost", first), account("cloud", second)],
                    };
                    let elsewhere = [first, second];
                    let is = |state| elsewhere.contains(&state);
                    let left = matches!(directory, AccountState::Suspended | AccountState::Gone);
                    let expected = match () {
                        () if left && is(AccountState::Active) => (Status::Fail, "leaver_active"),
                        () if left && is(AccountState::Unknown) => (Status::NotVerifiable, "people_not_read"),
                        () if directory == AccountState::Unknown
                            && (is(AccountState::Active) || is(AccountState::Unknown)) =>
                        {
                            (Status::NotVerifiable, "people_not_read")
                        }
                        () => (Status::Pass, "ok"),
                    };
                    let verdict = judge(&Leavers { people: vec![person] });
                    let case = format!("{directory:?} {elsewhere:?}");
                    assert_eq!((verdict.status, verdict.reason.code), expected, "{case}");
                }
            }
        }
    }

    #[test]
    fn who_is_named() {
        let person = |directory: Option<AccountState>, elsewhere| MappedPerson {
            line: 2,
            directory: directory.map(|state| account("altcloud", state)),
            accounts: vec![account("codehost", elsewhere), account("cloud", AccountState::Gone)],
        };
        let judged = |people| judge(&Leavers { people }).actual.unwrap();
        use AccountState::{Active, Gone, Suspended};
        let all =
            vec![person(Some(Suspended), Active), person(Some(Active), Active), person(Some(Gone), Gone)];
        assert_eq!(judged(all), "1 of 3 mapped people left and can still sign in: mia (codehost mia)");
        // Who is not in the directory's column cannot have left it.
        let verdict = judge(&Leavers { people: vec![person(None, Active)] });
        assert_eq!(verdict.status, Status::NotApplicable);
    }
}
