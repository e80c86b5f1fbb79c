//! One account: that of the credentials, or one that is configured with a role.

use std::sync::Arc;

use super::api::Hosts;
use super::calls::{Action, GET_TRAIL_STATUS};
use super::config::{CloudConfig, Extent};
use super::endpoint::Region;
use super::found::{not_asked, unread};
use super::interpret::{Policy, ReadResult, Unread};
use super::trails::Known;
use super::wire::LogGroupPage;
use crate::observation::{Failed, Seen};
use crate::source::{CollectionItem, Configured as _};
use evidence_http::Asked;
use evidence_rules::cloud::artifact::{AUDIT_TRAILS, LOG_GROUPS, PASSWORD_POLICY};
use evidence_rules::cloud::record::{AccountSummary, Trail};
use evidence_text::saturating_u64;

/// The number of accounts to read concurrently.
pub(super) const ACCOUNTS_AT_ONCE: usize = 4;

/// An account after the connection test.
pub(super) enum Opened {
    /// The account can be read.
    Account(Box<Account>),
    /// The account cannot be read. The others still are.
    Unread {
        /// The account number.
        number: String,
        /// The failure.
        why: Failed,
        /// The requests of the attempt.
        asked: Vec<Asked>,
    },
}

/// An account that can be read.
pub(super) struct Account {
    pub(super) config: Arc<CloudConfig>,
    pub(super) extent: Extent,
    pub(super) hosts: Arc<Hosts>,
    /// The account number, the subject of its checks.
    pub(super) number: String,
    /// The directory of its artifacts, with a trailing slash; empty for the only account.
    pub(super) folder: String,
    /// The prefix of messages, with several accounts.
    pub(super) label: String,
    pub(super) first: FirstAnswers,
}

/// The answers of the connection test.
pub(super) struct FirstAnswers {
    /// The password policy, if CC6.1 is collected.
    pub(super) policy: Option<ReadResult<Policy>>,
    /// The account's summary, with the policy.
    pub(super) summary: Option<ReadResult<AccountSummary>>,
    /// The enabled regions, if CC7.2 is collected.
    pub(super) enabled: Option<ReadResult<Vec<Region>>>,
    /// The data of each region, if CC7.2 is collected.
    pub(super) regions: Vec<RegionFirst>,
    /// All requests of the test.
    pub(super) requests: Vec<Asked>,
}

/// The data of one region.
pub(super) struct RegionFirst {
    pub(super) region: Region,
    pub(super) trails: ReadResult<Vec<Trail>>,
    /// The first page of log groups.
    pub(super) groups: ReadResult<LogGroupPage>,
}

/// The plan of a collection of one account.
#[derive(Default)]
pub(super) struct AccountPlan {
    pub(super) requests: u64,
    /// The requests that depend on the answers to the others.
    pub(super) more_requests: u64,
    pub(super) artifacts: Vec<(&'static str, u64)>,
    pub(super) missing: Vec<String>,
    pub(super) log_groups: u64,
}

/// The failure, as text. Refusals are warnings of the connection test instead.
fn failed<T>(read: &ReadResult<T>) -> Option<String> {
    match read {
        Err(Unread::Failed(failed)) => Some(failed.message.clone()),
        Ok(_) | Err(Unread::Denied { .. }) => None,
    }
}

impl Account {
    /// Reads all pages of log groups to count them. The status and the event selectors of each trail take one request
    /// each.
    pub(super) async fn plan(&self) -> AccountPlan {
        let mut plan = AccountPlan::default();
        let AccountPlan { requests, more_requests, artifacts, missing, log_groups } = &mut plan;
        if let Some(policy) = &self.first.policy {
            *requests += 1;
            artifacts.push(("password policy", u64::from(matches!(policy, Ok((Policy::Set(_), _))))));
            missing.extend(failed(policy));
        }
        if let Some(summary) = &self.first.summary {
            *requests += 1;
            artifacts.push(("account summary", u64::from(summary.is_ok())));
            missing.extend(failed(summary));
        }
        // A refusal leaves only the scope open, so it is not missing.
        *requests += u64::from(self.first.enabled.is_some());
        if self.config.wants_regions() {
            let read = self.first.regions.iter().any(|region| region.trails.is_ok());
            missing.extend(self.first.regions.iter().filter_map(|region| failed(&region.trails)));
            let known = self.trails_in_scope();
            let problems: Vec<String> = known.iter().filter_map(|known| known.place().err()).collect();
            let trails = saturating_u64(known.len() - problems.len());
            missing.extend(problems.iter().map(|text| not_asked(GET_TRAIL_STATUS.permission(), text)));
            let needs = |known: &&Known| known.trail.needs_selectors() && known.place().is_ok();
            let selectors = saturating_u64(known.iter().filter(needs).count());
            let groups = self.all_log_groups().await;
            missing.extend(groups.iter().filter_map(|region| failed(&region.groups)));
            let pages: u64 = groups.iter().map(|region| region.pages).sum();
            let groups_read = groups.iter().any(|region| region.groups.is_ok());
            *requests += saturating_u64(self.first.regions.len()) + pages + trails + selectors;
            *log_groups = groups.iter().map(|region| region.in_scope()).sum();
            artifacts.push(("audit trails", u64::from(read)));
            // The first trail that passes is looked at in every other region too, and each one that fails there.
            let elsewhere =
                || known.iter().filter_map(|known| Some(saturating_u64(self.elsewhere(known)?.len())));
            *more_requests = elsewhere().sum();
            let elsewhere = elsewhere().next().unwrap_or(0);
            artifacts.push(("trail status", trails + elsewhere));
            artifacts.push(("event selectors", selectors));
            artifacts.push(("log groups", u64::from(groups_read)));
        }
        plan.missing.iter_mut().for_each(|text| text.insert_str(0, &self.label));
        plan
    }
}

impl Opened {
    /// The account, if it can be read.
    pub(super) fn account(&self) -> Option<&Account> {
        match self {
            Opened::Account(account) => Some(account),
            Opened::Unread { .. } => None,
        }
    }

    /// The items for an account that cannot be read: every required artifact is missing.
    pub(super) fn unread(
        config: &CloudConfig,
        number: &str,
        why: &Failed,
        asked: &[Asked],
    ) -> Vec<CollectionItem> {
        let kinds = [&PASSWORD_POLICY, &AUDIT_TRAILS, &LOG_GROUPS].into_iter();
        let wanted = kinds.filter(|kind| config.collects(kind));
        wanted.map(|kind| unread(kind, number, Seen::Failed(why.clone()), asked.to_vec())).collect()
    }
}

impl FirstAnswers {
    /// Whether the account certainly has no user.
    pub(super) fn has_no_users(&self) -> bool {
        matches!(&self.summary, Some(Ok((AccountSummary { users: 0 }, _))))
    }

    /// The requests for `action`, in one region if it is given.
    pub(super) fn asked<T>(&self, action: &Action<T>, region: Option<&Region>) -> Vec<Asked> {
        let is_meant = |asked: &&Asked| match asked.path.split_once(' ') {
            Some((name, at)) => {
                name == action.permission() && region.is_none_or(|region| region.as_str() == at)
            }
            None => asked.path == action.permission(),
        };
        self.requests.iter().filter(is_meant).cloned().collect()
    }
}
