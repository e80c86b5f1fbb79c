//! Public access to buckets: what the account blocks, and, where that is not everything, the settings of each bucket.

pub(super) mod answers;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};

use self::answers::{
    GET_ACCOUNT_PUBLIC_ACCESS_BLOCK, GET_BUCKET_ACL, GET_BUCKET_POLICY_STATUS,
    GET_BUCKET_PUBLIC_ACCESS_BLOCK, LIST_BUCKETS, Listed,
};
use super::alone::ACCOUNT;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::Action;
use crate::source::aws::host::answer::{RefusalMeaning, meaning, region_of_bucket};
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{self, ReadResult, Unread, failure, host_error, with_requests_of};
use crate::source::aws::names::NAME;
use crate::source::aws::observe::{denied, observation};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Answered, Asked, CallError, Meta};
use evidence_rules::cloud::OF_PUBLIC_ACCESS;
use evidence_rules::cloud::artifact::PUBLIC_ACCESS;
use evidence_rules::cloud::storage::{
    Block, Bucket, PartNotRead, PolicyStatus, PublicAccess, PublicGrant, part,
};
use evidence_rules::field::Field;
use evidence_rules::rule::{Settings, reason};
use evidence_text::saturating_u64;

/// Buckets per page: the provider puts the region of each bucket into a list in pages.
const PAGE_SIZE: usize = 1_000;
/// The maximum number of pages: ten times the provider's default quota of buckets.
const MAXIMUM_PAGES: usize = 100;
/// How many buckets are read at a time.
const AT_ONCE: usize = 8;

/// The calls of this topic.
static PERMISSIONS: [&str; 5] = [
    GET_ACCOUNT_PUBLIC_ACCESS_BLOCK.call.name,
    LIST_BUCKETS.call.name,
    GET_BUCKET_PUBLIC_ACCESS_BLOCK.call.name,
    GET_BUCKET_POLICY_STATUS.call.name,
    GET_BUCKET_ACL.call.name,
];

/// Public access.
pub(crate) static TOPIC: Topic = Topic {
    name: "public access",
    kind: Some(&PUBLIC_ACCESS),
    required: |config| config.collects(&PUBLIC_ACCESS),
    counted: None,
    open: |account| open(account).boxed(),
};

/// What the connection test learned.
struct Opened {
    /// The account's block, `null` if it has none.
    block: ReadResult<Field<Block>>,
    /// The buckets, unless the account blocks everything.
    buckets: Option<ReadResult<Vec<Listed>>>,
    requests: Vec<Asked>,
}

/// An answer, or that the setting does not exist.
fn or_none<T>(action: &Action<T>, answer: Result<Answered<T>, CallError>) -> ReadResult<Field<T>> {
    match answer {
        Err(CallError::Refused(refused)) if meaning(&refused) == RefusalMeaning::NoSetting => {
            Ok((Field::Null, refused.meta))
        }
        answer => refusal::of(action, None, answer).map(|(value, meta)| (Field::Value(value), meta)),
    }
}

async fn open(account: &Account) -> Box<dyn Answers> {
    let reading = async {
        let block = account_block(account).await;
        let blocks_everything =
            block.as_ref().is_ok_and(|(block, _)| block.value().is_some_and(Block::blocks_everything));
        let buckets = match blocks_everything {
            true => None,
            false => Some(list(account).await),
        };
        (block, buckets)
    };
    let ((block, buckets), requests) = with_requests_of(&PERMISSIONS, reading).await;
    Box::new(Opened { block, buckets, requests })
}

async fn account_block(account: &Account) -> ReadResult<Field<Block>> {
    let action = &GET_ACCOUNT_PUBLIC_ACCESS_BLOCK;
    let host = account.host(action, &account.home)?;
    let path = ["v20180820", "configuration", "publicAccessBlock"];
    or_none(action, host.ask_at(action, &path, &[], &account.number).await)
}

async fn list(account: &Account) -> ReadResult<Vec<Listed>> {
    let action = &LIST_BUCKETS;
    let host = account.host(action, &account.home)?;
    let mut buckets = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..MAXIMUM_PAGES {
        let mut query = vec![("max-buckets", PAGE_SIZE.to_string())];
        query.extend(token.clone().map(|token| ("continuation-token", token)));
        let (page, meta) =
            refusal::of(action, None, host.ask_at(action, &[], &query, &account.number).await)?;
        buckets.extend(page.buckets);
        match page.next {
            None => return Ok((buckets, meta)),
            same if same == token => break,
            next => token = next,
        }
    }
    Err(Unread::Failed(host_error(format!("{}: the list does not end", action.permission()))))
}

impl Opened {
    /// Whether each bucket is to be asked: not if the account leaves nothing open.
    fn asks_buckets(&self) -> bool {
        !self.block.as_ref().is_ok_and(|(block, _)| block.value().is_some_and(Block::closes))
    }

    fn listed(&self) -> &[Listed] {
        match &self.buckets {
            Some(Ok((buckets, _))) => buckets,
            Some(Err(_)) | None => &[],
        }
    }

    /// Everything of the account, and why the parts that are missing were not read.
    async fn access(&self, account: &Account) -> (PublicAccess, Vec<(String, Unread)>) {
        let mut access = PublicAccess::default();
        let mut unread = Vec::new();
        match &self.block {
            Ok((block, _)) => access.account = block.clone(),
            Err(why) => {
                access.not_read.push(not_read(part::BLOCK, why));
                unread.push(("public-access-block".to_string(), why.clone()));
            }
        }
        match &self.buckets {
            None => {}
            Some(Err(why)) => {
                access.not_read.push(not_read(part::BUCKETS, why));
                unread.push(("buckets".to_string(), why.clone()));
            }
            Some(Ok((listed, _))) if !self.asks_buckets() => {
                access.buckets = Field::Value(listed.iter().map(named).collect());
            }
            Some(Ok((listed, _))) => {
                let read: Vec<_> = listed.iter().map(|one| bucket(account, &access.account, one)).collect();
                let read = stream::iter(read).buffered(AT_ONCE);
                let (buckets, lost): (Vec<_>, Vec<_>) = read.unzip().await;
                access.buckets = Field::Value(buckets);
                let lost = listed.iter().zip(lost);
                unread.extend(lost.filter_map(|(one, lost)| Some((one.name.clone(), lost?))));
            }
        }
        (access, unread)
    }
}

fn named(listed: &Listed) -> Bucket {
    let region = listed.region.as_ref().map_or(Field::Absent, |region| Field::Value(region.to_string()));
    Bucket { name: listed.name.clone(), region, ..Bucket::default() }
}

fn not_read(part: &str, why: &Unread) -> PartNotRead {
    PartNotRead { part: part.to_string(), reason: why.reason().code.to_string() }
}

/// Reads what matters of a bucket, and returns the first reason why something was not read.
async fn bucket(account: &Account, of_account: &Field<Block>, listed: &Listed) -> (Bucket, Option<Unread>) {
    let mut at = listed.region.clone().unwrap_or_else(|| account.home.clone());
    let mut found = named(listed);
    let mut lost: Option<Unread> = None;
    let mut miss = |found: &mut Bucket, parts: &[&str], why: Unread| {
        found.not_read.extend(parts.iter().map(|part| not_read(part, &why)));
        lost.get_or_insert(why);
    };
    match ask(account, &GET_BUCKET_PUBLIC_ACCESS_BLOCK, "publicAccessBlock", listed, &mut at).await {
        Ok((block, _)) => found.block = block,
        Err(why) if *why.reason() == reason::NOT_FOUND => {
            miss(&mut found, &[part::BLOCK, part::POLICY, part::GRANTS], why);
            return (found, lost);
        }
        Err(why) => miss(&mut found, &[part::BLOCK], why),
    }
    let closed = |of: fn(&Block) -> &Field<bool>| {
        let is_on =
            |block: &Field<Block>| block.value().is_some_and(|block| of(block).value() == Some(&true));
        is_on(of_account) || is_on(&found.block)
    };
    let (restricted, ignored) =
        (closed(|block| &block.restrict_public_buckets), closed(|block| &block.ignore_public_acls));
    if !restricted {
        match ask(account, &GET_BUCKET_POLICY_STATUS, "policyStatus", listed, &mut at).await {
            Ok((status, _)) => found.policy = status,
            Err(why) => miss(&mut found, &[part::POLICY], why),
        }
    }
    if !ignored {
        match ask(account, &GET_BUCKET_ACL, "acl", listed, &mut at).await {
            Ok((grants, _)) => found.grants = grants,
            Err(why) => miss(&mut found, &[part::GRANTS], why),
        }
    }
    found.region = Field::Value(at.to_string());
    (found, lost)
}

/// Asks about a bucket, and once more in the region that the provider names.
async fn ask<T: Send>(
    account: &Account,
    action: &Action<T>,
    setting: &str,
    listed: &Listed,
    at: &mut Region,
) -> ReadResult<Field<T>> {
    let (path, query) = ([listed.name.as_str()], [(setting, String::new())]);
    let host = account.host(action, at)?;
    let answer = host.ask_at(action, &path, &query, &listed.name).await;
    let elsewhere = match &answer {
        Err(CallError::Refused(refused)) if meaning(refused) == RefusalMeaning::Elsewhere => {
            region_of_bucket(refused).filter(|region| region != at)
        }
        _ => None,
    };
    let Some(region) = elsewhere else { return or_none(action, answer) };
    *at = region;
    let host = account.host(action, at)?;
    or_none(action, host.ask_at(action, &path, &query, &listed.name).await)
}

impl Answers for Opened {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        if region.is_some() {
            return Vec::new();
        }
        let block = denied(&self.block, "public access to buckets may be not verifiable", &account.number);
        let buckets = self.buckets.as_ref();
        let lost = "public access to buckets will be not verifiable";
        block.into_iter().chain(buckets.and_then(|read| denied(read, lost, &account.number))).collect()
    }

    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        let listed = if self.asks_buckets() { self.listed() } else { &[] };
        // A bucket is asked for its block, and for two more settings unless that closes it; or for all in vain, elsewhere.
        let unknown = listed.iter().filter(|bucket| bucket.region.is_none()).count();
        plan.requests += saturating_u64(self.requests.len()) + saturating_u64(listed.len());
        plan.more_requests += saturating_u64(2 * listed.len() + unknown);
        let is_read = self.block.is_ok() || self.buckets.as_ref().is_some_and(Result::is_ok);
        plan.artifacts.push((TOPIC.name, u64::from(is_read)));
        plan.failed.extend(failure(&self.block));
        plan.failed.extend(self.buckets.as_ref().and_then(failure));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let item = async move {
            let ((access, unread), more) = with_requests_of(&PERMISSIONS, self.access(account)).await;
            let requests: Vec<Asked> = self.requests.iter().cloned().chain(more).collect();
            let meta = match (&self.block, &self.buckets) {
                (_, Some(Ok((_, meta)))) | (Ok((_, meta)), _) => meta,
                (Err(why), _) => {
                    // Nothing was read: one reason is enough.
                    let observed = observation(&PUBLIC_ACCESS, &account.number, why.seen());
                    return CollectionItem::Inspected(Observation { requests, ..observed }.into());
                }
            };
            let seen = account.artifact("public_access.json", &access, meta);
            let first = Observation { requests, ..observation(&PUBLIC_ACCESS, &account.number, seen) };
            let lost = unread.iter().map(|(name, why)| {
                observation(&PUBLIC_ACCESS, &format!("{}/{name}", account.number), why.seen())
            });
            let observations = std::iter::once(first).chain(lost).collect();
            CollectionItem::Inspected(inspect(
                &account.number,
                observations,
                &access,
                &account.config.rule_settings,
            ))
        };
        std::future::ready(Reading::inspection(item)).boxed()
    }
}

/// Judges what was read of an account.
fn inspect(
    number: &str,
    observations: Vec<Observation>,
    access: &PublicAccess,
    settings: &Settings,
) -> Inspection {
    Inspection::of(observations).concluded_by(OF_PUBLIC_ACCESS, &number.into(), access, settings)
}

/// What an answer means on its own.
fn offline(access: &PublicAccess) -> Vec<CollectionItem> {
    let seen = Seen::artifact(NAME, "public_access.json", access, None, &Meta::default());
    let observed = observation(&PUBLIC_ACCESS, ACCOUNT, seen);
    vec![CollectionItem::Inspected(inspect(ACCOUNT, vec![observed], access, &Settings::default()))]
}

fn offline_bucket(bucket: Bucket) -> Vec<CollectionItem> {
    offline(&PublicAccess {
        account: Field::Null,
        buckets: Field::Value(vec![bucket]),
        ..PublicAccess::default()
    })
}

/// What the account's block means on its own.
pub(super) fn block_offline(block: Block) -> Vec<CollectionItem> {
    offline(&PublicAccess { account: Field::Value(block), ..PublicAccess::default() })
}

/// What a list of buckets means on its own.
pub(super) fn buckets_offline(page: answers::BucketPage) -> Vec<CollectionItem> {
    let buckets = Field::Value(page.buckets.iter().map(named).collect());
    offline(&PublicAccess { account: Field::Null, buckets, ..PublicAccess::default() })
}

/// What a bucket's block means on its own.
pub(super) fn bucket_block_offline(block: Block) -> Vec<CollectionItem> {
    offline_bucket(Bucket { block: Field::Value(block), ..Bucket::default() })
}

/// What a policy's status means on its own.
pub(super) fn policy_offline(policy: PolicyStatus) -> Vec<CollectionItem> {
    let grants = Field::Value(Vec::new());
    offline_bucket(Bucket { block: Field::Null, policy: Field::Value(policy), grants, ..Bucket::default() })
}

/// What an access control list means on its own.
pub(super) fn acl_offline(grants: Vec<PublicGrant>) -> Vec<CollectionItem> {
    let (block, policy) = (Field::Null, Field::Null);
    offline_bucket(Bucket { block, policy, grants: Field::Value(grants), ..Bucket::default() })
}
