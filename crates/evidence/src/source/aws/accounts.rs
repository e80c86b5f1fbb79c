//! The accounts of the caller's organization: what the configuration leaves out.
//!
//! Only the organization's management account and its delegates may list them. A refusal leaves the scope less exact, and
//! nothing else changes.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::host::action::{Action, MIB};
use super::host::api::Hosts;
use super::host::endpoint::{Protocol, Region, Service};
use super::host::refusal::{self, Unread, with_requests};
use super::names::{ACCOUNT, NOT_CONFIGURED, is_account};
use crate::json::{Object, object};
use crate::observation::Failed;
use crate::source::{CollectionItem, Member};
use evidence_http::{Asked, Call, CallError, ParseError, Refused};
use evidence_text::saturating_u64;

/// The name of the list of accounts in documents.
const ACCOUNT_LISTING: &str = "account_listing";

/// The provider's code for an account that is in no organization.
const NO_ORGANIZATION: &str = "AWSOrganizationsNotInUseException";

/// The maximum number of pages: 20,000 accounts, twice the provider's highest quota.
const MAXIMUM_PAGES: usize = 1_000;

/// The accounts of an organization, a page at a time.
pub(super) static LIST_ACCOUNTS: Action<AccountPage> = Action {
    service: Service::Organizations,
    call: Call {
        name: "organizations:ListAccounts",
        purpose: "the scope: which accounts the organization has",
        times: "once per 20 accounts",
        kind: Some("ListAccounts"),
        media_type: Protocol::JSON,
        // A page has 20 accounts, each under 1 kB.
        limit: MIB,
        parse: AccountPage::parse,
        subject: None,
        keep: None,
    },
};

/// A page of accounts. Their names and e-mail addresses are not read.
pub(super) struct AccountPage {
    active: Vec<String>,
    next: Option<String>,
}

impl AccountPage {
    fn parse(bytes: &[u8]) -> Result<AccountPage, ParseError> {
        #[derive(Deserialize)]
        struct AccountList {
            #[serde(rename = "Accounts")]
            accounts: Vec<Object<Listed>>,
            #[serde(rename = "NextToken")]
            next: Option<String>,
        }
        #[derive(Deserialize)]
        struct Listed {
            #[serde(rename = "Id")]
            id: String,
            #[serde(rename = "State")]
            state: Option<String>,
            /// The name of the state until September 2026.
            #[serde(rename = "Status")]
            status: Option<String>,
        }
        let AccountList { accounts, next } = object(bytes)?;
        let mut active = Vec::new();
        for Listed { id, state, status } in Object::all(accounts) {
            if !is_account(&id) {
                let shown = evidence_http::single_line(&id);
                return Err(ParseError::Shape(format!("not an account: {shown}")));
            }
            match state.or(status).as_deref() {
                Some("ACTIVE") => active.push(id),
                Some(_) => {}
                None => return Err(ParseError::Shape(format!("the account {id} has no state"))),
            }
        }
        Ok(AccountPage { active, next: next.filter(|token| !token.is_empty()) })
    }
}

/// What the provider says of the organization.
pub(super) struct OrganizationAccounts {
    /// The active accounts; empty if the account is in no organization, `None` if that is not known.
    active: Option<BTreeSet<String>>,
    /// Why they are not known.
    problem: Option<String>,
    requests: Vec<Asked>,
}

/// Lists the accounts of the organization.
pub(super) async fn list(hosts: &Hosts, home: &Region) -> OrganizationAccounts {
    let (active, requests) = with_requests(&LIST_ACCOUNTS, pages(hosts, home)).await;
    let (active, problem) = match active {
        Ok(active) => (Some(active), None),
        Err(Unread::Failed(failed)) => (None, Some(failed.message)),
        Err(Unread::Denied { detail, .. } | Unread::Nothing { detail, .. }) => (None, Some(detail)),
    };
    OrganizationAccounts { active, problem, requests }
}

async fn pages(hosts: &Hosts, home: &Region) -> Result<BTreeSet<String>, Unread> {
    let host =
        hosts.host(Service::Organizations, home).ok_or_else(|| refusal::no_address(&LIST_ACCOUNTS, home))?;
    let (mut active, mut tokens) = (BTreeSet::new(), HashSet::new());
    let mut question = Vec::new();
    loop {
        let answer = host.ask(&LIST_ACCOUNTS, &question, None).await;
        if matches!(&answer, Err(CallError::Refused(refused)) if is_without(refused)) {
            return Ok(BTreeSet::new());
        }
        let (page, _) = refusal::of(&LIST_ACCOUNTS, None, answer)?;
        active.extend(page.active);
        let Some(token) = page.next else { return Ok(active) };
        if tokens.len() >= MAXIMUM_PAGES || !tokens.insert(token.clone()) {
            return Err(Unread::Failed(too_many_pages()));
        }
        question = vec![("NextToken", Value::from(token))];
    }
}

fn is_without(refused: &Refused) -> bool {
    refused.code.as_deref() == Some(NO_ORGANIZATION)
}

fn too_many_pages() -> Failed {
    refusal::host_error("the list of accounts has too many pages, or its pages repeat".to_string())
}

impl OrganizationAccounts {
    /// Why the accounts are not known, and the requests.
    pub(super) fn refused(&self) -> Option<(&str, &[Asked])> {
        self.problem.as_deref().map(|problem| (problem, self.requests.as_slice()))
    }

    /// How many requests the list took.
    pub(super) fn requests(&self) -> u64 {
        saturating_u64(self.requests.len())
    }

    /// The requests for the list, as an item of the collection.
    pub(super) fn listing(&self, caller: &str) -> CollectionItem {
        CollectionItem::Listed {
            kind: ACCOUNT_LISTING,
            subject: caller.into(),
            requests: self.requests.clone(),
        }
    }

    /// How many active accounts the organization has, if the account is in one and that is known.
    pub(super) fn total(&self) -> Option<u64> {
        self.active.as_ref().map(|active| saturating_u64(active.len())).filter(|total| *total > 0)
    }

    /// The active accounts; `None` if they are not known.
    pub(super) fn active(&self) -> Option<impl Iterator<Item = &str>> {
        self.active.as_ref().map(|active| active.iter().map(String::as_str))
    }

    /// The active accounts that the configuration leaves out, as members.
    pub(super) fn others<'a>(&'a self, read: &'a [&str]) -> impl Iterator<Item = Member> + 'a {
        let others = self.active.iter().flatten().filter(|account| !read.contains(&account.as_str()));
        others.map(|account| Member {
            out_of_scope: Some(NOT_CONFIGURED),
            ..Member::new(ACCOUNT, account.as_str())
        })
    }

    /// Whether these accounts are known to be all: of the organization, or the only one if it is in none.
    pub(super) fn are_all(&self, read: &[&str]) -> bool {
        match &self.active {
            None => false,
            Some(active) if active.is_empty() => read.len() == 1,
            Some(active) => active.iter().all(|account| read.contains(&account.as_str())),
        }
    }

    /// How the accounts that are read compare with those of the organization, in words; nothing if there is nothing to
    /// say.
    pub(super) fn in_words(&self, read: &[&str]) -> String {
        match &self.active {
            None => " (further accounts of its organization: not known)".to_string(),
            Some(active) if active.len() > 1 => {
                let shown = active.iter().filter(|account| read.contains(&account.as_str())).count();
                format!(" ({shown} of {} active accounts of the organization)", active.len())
            }
            Some(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_accounts() {
        let page = br#"{"Accounts":[{"Id":"111122223333","State":"ACTIVE","Name":"x","Email":"x@y.example"},
            {"Id":"444455556666","State":"SUSPENDED"},{"Id":"777788889999","Status":"ACTIVE"}],"NextToken":"t"}"#;
        let page = AccountPage::parse(page).unwrap();
        assert_eq!(page.active, ["111122223333", "777788889999"]);
        assert_eq!(page.next.as_deref(), Some("t"));
        for bad in [
            "{}",
            r#"{"Accounts":[{"Id":"1","State":"ACTIVE"}]}"#,
            r#"{"Accounts":[{"Id":"111122223333"}]}"#,
            r#"{"Accounts":{}}"#,
        ] {
            assert!(AccountPage::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_read_beside_what_there_is() {
        let of = |active: Option<&[&str]>| OrganizationAccounts {
            active: active.map(|active| active.iter().map(|id| (*id).to_string()).collect()),
            problem: None,
            requests: Vec::new(),
        };
        // (the organization's accounts, those that are read, all of them, words)
        type Case<'a> = (Option<&'a [&'a str]>, &'a [&'a str], bool, &'a str);
        let table: [Case<'_>; 6] = [
            (None, &["1"], false, " (further accounts of its organization: not known)"),
            (Some(&[]), &["1"], true, ""),
            (Some(&[]), &["1", "2"], false, ""),
            (Some(&["1"]), &["1"], true, ""),
            (Some(&["1", "2"]), &["1"], false, " (1 of 2 active accounts of the organization)"),
            (Some(&["1", "2"]), &["1", "2", "3"], true, " (2 of 2 active accounts of the organization)"),
        ];
        for (active, read, all, words) in table {
            let found = of(active);
            assert_eq!((found.are_all(read), found.in_words(read)), (all, words.to_string()), "{active:?}");
        }
    }
}
