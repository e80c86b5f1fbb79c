//! The state of an account, with its builder and what a test may change while it is served.

use super::audit::Trail;
use super::logs::LogGroup;
use super::policy::PasswordPolicy;
use super::principal::{Principal, Role};
use super::resources::{AccessBlock, Bucket, Database, Resources, SecurityGroup};
use super::users::{ReportRow, RootUser};
use crate::server::{Settings, engine_options};
use crate::throttle::Throttle;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The regions that every account has without asking.
pub(super) const REGIONS: &[&str] = &[
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
];

/// An account of an organization.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) account: String,
    pub(crate) state: String,
}

/// The state of an account at the cloud provider.
#[derive(Clone, Debug)]
pub struct Cloud {
    pub(crate) account: String,
    /// Other accounts, which the same port serves.
    pub(crate) members: Vec<Cloud>,
    pub(crate) principals: Vec<Principal>,
    pub(crate) roles: Vec<Role>,
    pub(crate) policy: Option<PasswordPolicy>,
    pub(crate) users: u64,
    pub(crate) root: RootUser,
    /// The regions that encrypt new disks by default.
    pub(crate) encrypts_disks: BTreeSet<String>,
    /// What each region has.
    pub(super) resources: BTreeMap<String, Resources>,
    /// What the account decides for all buckets.
    pub(super) account_block: Option<AccessBlock>,
    pub(super) buckets: Vec<Bucket>,
    /// Whether the list of buckets has the region of each.
    pub(super) lists_bucket_regions: bool,
    /// The rows of the credential report.
    pub(crate) report: Vec<ReportRow>,
    /// How many questions the provider answers before the report is complete.
    pub(crate) report_after: u32,
    pub(crate) trails: Vec<Trail>,
    pub(crate) log_groups: BTreeMap<String, BTreeMap<String, LogGroup>>,
    pub(crate) regions: BTreeSet<String>,
    /// The accounts of the organization that this account manages, if it is in one.
    pub(crate) organization: Option<Vec<Member>>,
    /// The role of the instance that the client runs on.
    pub(crate) instance_role: Option<String>,
    /// The role of the container that the client runs in, and the token that its service requires.
    pub(crate) container: Option<(String, Option<String>)>,
    pub(crate) throttles: Vec<Throttle>,
    pub(crate) page_size: u32,
    pub(crate) settings: Settings,
    pub(crate) clock_offset_seconds: i64,
}

engine_options!(Cloud);

impl Cloud {
    /// An empty account: no principals, no password policy, no trail, no log group, and only the regions that are
    /// enabled by default.
    pub fn new(account: impl Into<String>) -> Self {
        Self {
            account: account.into(),
            members: Vec::new(),
            principals: Vec::new(),
            roles: Vec::new(),
            policy: None,
            users: 1,
            root: RootUser::default(),
            encrypts_disks: BTreeSet::new(),
            resources: BTreeMap::new(),
            account_block: None,
            buckets: Vec::new(),
            lists_bucket_regions: true,
            report: Vec::new(),
            report_after: 1,
            trails: Vec::new(),
            log_groups: BTreeMap::new(),
            regions: REGIONS.iter().map(|region| (*region).to_owned()).collect(),
            organization: None,
            instance_role: None,
            container: None,
            throttles: Vec::new(),
            page_size: 50,
            settings: Settings {
                log_limit: 100_000,
                refused_for: Duration::from_millis(50),
                ..Settings::default()
            },
            clock_offset_seconds: 0,
        }
    }

    /// Adds a principal, or replaces the one with that access key.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.put_principal(principal);
        self
    }

    /// Adds or replaces another account, with its own principals, roles, policy, trails, log groups and regions. A
    /// caller that assumes one of its roles acts as one of its principals; throttles, faults and the clock are those of
    /// the first account.
    pub fn member(mut self, account: Cloud) -> Self {
        self.put_member(account);
        self
    }

    /// Adds a role, or replaces the one with that name.
    pub fn role(mut self, role: Role) -> Self {
        self.roles.retain(|old| old.name != role.name);
        self.roles.push(role);
        self
    }

    /// The client runs on an instance with this role, whose service is below `/latest`.
    pub fn instance_role(mut self, role: impl Into<String>) -> Self {
        self.instance_role = Some(role.into());
        self
    }

    /// The client runs in a container with this role, whose service is below `/v2/credentials/` and may require a token.
    pub fn container(mut self, role: impl Into<String>, authorization: Option<&str>) -> Self {
        self.container = Some((role.into(), authorization.map(str::to_owned)));
        self
    }

    /// Sets the account's password policy.
    pub fn password_policy(mut self, policy: PasswordPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// How many IAM users the account has; 1 by default.
    pub fn users(mut self, users: u64) -> Self {
        self.users = users;
        self
    }

    /// What the account's summary says of its root user.
    pub fn root(mut self, root: RootUser) -> Self {
        self.root = root;
        self
    }

    /// Encrypts new disks of a region by default.
    pub fn encrypts_disks(mut self, region: &str) -> Self {
        self.encrypts_disks.insert(region.to_owned());
        self
    }

    /// Adds a security group to a region.
    pub fn security_group(mut self, region: &str, group: SecurityGroup) -> Self {
        self.resources.entry(region.to_owned()).or_default().groups.push(group);
        self
    }

    /// Adds a database to a region.
    pub fn database(mut self, region: &str, database: Database) -> Self {
        self.resources.entry(region.to_owned()).or_default().databases.push(database);
        self
    }

    /// Gives a region a detector with this status.
    pub fn detector(mut self, region: &str, status: &str) -> Self {
        self.resources.entry(region.to_owned()).or_default().detector = Some(status.to_owned());
        self
    }

    /// The region does not offer detectors.
    pub fn no_detectors(mut self, region: &str) -> Self {
        self.resources.entry(region.to_owned()).or_default().no_detectors = true;
        self
    }

    /// Blocks public access to all buckets.
    pub fn account_block(mut self, block: AccessBlock) -> Self {
        self.account_block = Some(block);
        self
    }

    /// Adds a bucket.
    pub fn bucket(mut self, bucket: Bucket) -> Self {
        self.buckets.push(bucket);
        self
    }

    /// The list of buckets has no regions, as before 2024.
    pub fn without_bucket_regions(mut self) -> Self {
        self.lists_bucket_regions = false;
        self
    }

    /// Adds a row to the credential report, which has none at first.
    pub fn reported(mut self, row: ReportRow) -> Self {
        self.report.push(row);
        self
    }

    /// How many times the provider says that it makes the report before it is complete; once by default.
    pub fn report_after(mut self, answers: u32) -> Self {
        self.report_after = answers;
        self
    }

    /// Replaces the rows of the credential report.
    pub fn set_report(&mut self, rows: impl IntoIterator<Item = ReportRow>) {
        self.report = rows.into_iter().collect();
    }

    /// Adds a trail, or replaces the one with that name in its region.
    pub fn trail(mut self, trail: Trail) -> Self {
        self.put_trail(trail);
        self
    }

    /// Adds a log group to a region, or replaces the one with that name.
    pub fn log_group(mut self, region: &str, group: LogGroup) -> Self {
        self.put_log_group(region, group);
        self
    }

    /// Enables an opt-in region, such as `eu-south-1`. No credential is valid in a disabled region.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.regions.insert(region.into());
        self
    }

    /// Adds an account to the organization that this account manages. `state` is the provider's word, such as `ACTIVE`
    /// or `SUSPENDED`.
    pub fn organization_account(mut self, account: impl Into<String>, state: impl Into<String>) -> Self {
        let member = Member { account: account.into(), state: state.into() };
        self.organization.get_or_insert_default().push(member);
        self
    }

    /// Throttles calls.
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttles.push(throttle);
        self
    }

    /// The most log groups on one page, whatever the caller requests. The real provider's limit is 50, and its pages
    /// may be shorter than requested.
    pub fn page_size(mut self, groups: u32) -> Self {
        self.page_size = groups.clamp(1, 50);
        self
    }

    /// Adds or replaces another account.
    pub fn put_member(&mut self, account: Cloud) {
        self.members.retain(|old| old.account != account.account);
        self.members.push(account);
    }

    /// Changes another account. Does nothing if it does not exist.
    pub fn change_member(&mut self, account: &str, change: impl FnOnce(&mut Cloud)) {
        if let Some(member) = self.members.iter_mut().find(|member| member.account == account) {
            change(member);
        }
    }

    /// This account and the others.
    pub(super) fn accounts(&self) -> impl Iterator<Item = &Cloud> {
        std::iter::once(self).chain(&self.members)
    }

    /// The account with this number.
    pub(super) fn named(&self, account: &str) -> Option<&Cloud> {
        self.accounts().find(|cloud| cloud.account == account)
    }

    /// Whether another of the accounts manages the organization that this one is in.
    pub(super) fn is_managed(&self, own: &Cloud) -> bool {
        let mut members = self.accounts().filter_map(|cloud| cloud.organization.as_ref()).flatten();
        own.organization.is_none() && members.any(|member| member.account == own.account)
    }

    /// Adds or replaces a principal.
    pub fn put_principal(&mut self, principal: Principal) {
        self.principals.retain(|old| old.access_key != principal.access_key);
        self.principals.push(principal);
    }

    /// Removes an access key.
    pub fn remove_principal(&mut self, access_key: &str) {
        self.principals.retain(|old| old.access_key != access_key);
    }

    /// Replaces a principal by the result of the function. Does nothing if it does not exist.
    pub fn change_principal(&mut self, access_key: &str, change: impl FnOnce(Principal) -> Principal) {
        if let Some(place) = self.principals.iter_mut().find(|known| known.access_key == access_key) {
            *place = change(place.clone());
        }
    }

    /// Sets the password policy, or removes it.
    pub fn set_password_policy(&mut self, policy: Option<PasswordPolicy>) {
        self.policy = policy;
    }

    /// Adds or replaces a trail.
    pub fn put_trail(&mut self, trail: Trail) {
        self.trails.retain(|old| (&old.name, &old.home) != (&trail.name, &trail.home));
        self.trails.push(trail);
    }

    /// Deletes the trails of that name.
    pub fn remove_trail(&mut self, name: &str) {
        self.trails.retain(|trail| trail.name != name);
    }

    /// Adds or replaces a log group.
    pub fn put_log_group(&mut self, region: &str, group: LogGroup) {
        self.log_groups.entry(region.to_owned()).or_default().insert(group.name.clone(), group);
    }

    /// Deletes a log group.
    pub fn remove_log_group(&mut self, region: &str, name: &str) {
        if let Some(groups) = self.log_groups.get_mut(region) {
            groups.remove(name);
        }
    }

    /// Replaces what is throttled.
    pub fn set_throttles(&mut self, throttles: impl IntoIterator<Item = Throttle>) {
        self.throttles = throttles.into_iter().collect();
    }
}
