//! The audit trails of an account: the trails that its regions show, with the status and the event selectors of each.
//!
//! A region that was not read is recorded in the artifact's list of such regions, in the checks that it leaves open, and,
//! if it failed rather than being refused, among the errors.

pub(crate) mod home;
mod known;
pub(crate) mod listing;
pub(crate) mod selectors;
pub(crate) mod status;
mod verdict;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, OptionFuture, join, join_all};

use self::known::KnownTrail;
use self::listing::RegionTrails;
use self::status::{inspect_other_regions, other_regions};
use self::verdict::good_trail;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{failure, not_asked, not_found};
use crate::source::aws::names::TRAIL;
use crate::source::aws::observe::{denied, observation};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Member, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Asked, Meta, recorded};
use evidence_rules::cloud::OF_TRAILS;
use evidence_rules::cloud::artifact::AUDIT_TRAILS;
use evidence_rules::cloud::record::{AuditTrailsRecord, NotRead, Trail};
use evidence_rules::cloud::trail::integrity::Integrity;
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts};
use evidence_rules::rule::reason;
use evidence_text::saturating_u64;

/// The audit trails.
pub(crate) static TOPIC: Topic = Topic {
    name: "audit trails",
    kind: Some(&AUDIT_TRAILS),
    required: |config| config.collects(&AUDIT_TRAILS),
    counted: Some(("trail", "trails")),
    open: |account| open(account).boxed(),
};

/// The trails that each region shows.
struct TrailListings(Vec<RegionTrails>);

async fn open(account: &Account) -> Box<dyn Answers> {
    let regions = account.regions().iter().map(|region| listing::of_region(account, region));
    Box::new(TrailListings(join_all(regions).await))
}

impl Answers for TrailListings {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let of_region = self.0.iter().filter(|of| Some(&of.region) == region);
        let warnings = of_region.filter_map(|RegionTrails { region, trails: (trails, _) }| {
            // No more than that, since another region may show the trail that passes.
            denied(trails, &format!("the trails of {region} are not known"), &account.subject_in(region))
        });
        warnings.collect()
    }

    /// The status and the event selectors of each trail take one request each.
    fn plan<'a>(&'a self, account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        let is_read = self.0.iter().any(|of| of.trails.0.is_ok());
        plan.failed.extend(self.0.iter().filter_map(|of| failure(&of.trails.0)));
        let known = self.in_scope(account);
        let problems: Vec<String> = known.iter().filter_map(|known| known.home().err()).collect();
        let trails = saturating_u64(known.len() - problems.len());
        let permission = status::GET_TRAIL_STATUS.permission();
        plan.failed.extend(problems.iter().map(|text| not_asked(permission, text)));
        let needs = |known: &&KnownTrail| known.trail.needs_selectors() && known.home().is_ok();
        let selectors = saturating_u64(known.iter().filter(needs).count());
        plan.requests += saturating_u64(self.0.len()) + trails + selectors;
        plan.artifacts.push((TOPIC.name, u64::from(is_read)));
        // The first trail that passes is looked at in every other region too, and each one that fails there.
        let others =
            || known.iter().filter_map(|known| Some(saturating_u64(other_regions(&self.0, known)?.len())));
        plan.more_requests += others().sum::<u64>();
        plan.artifacts.push(("trail status", trails + others().next().unwrap_or(0)));
        plan.artifacts.push(("event selectors", selectors));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let known = self.in_scope(account);
        let trails = found(account, &self.0, &known);
        let reading = Reading {
            members: self.members(account),
            count: saturating_u64(known.len()),
            incomplete: self.0.iter().any(|of| of.trails.0.is_err()),
            // All trails share one inspection.
            ..Reading::inspection(inspect(account, &self.0, known, trails))
        };
        std::future::ready(reading).boxed()
    }
}

fn is_in_scope(account: &Account, known: &KnownTrail) -> bool {
    let entries = &account.scope.trails;
    entries.is_empty() || entries.iter().any(|entry| known.trail.is_meant_by(entry))
}

impl TrailListings {
    /// Every trail that the regions show.
    fn all(&self) -> Vec<KnownTrail> {
        known::merge(self.0.iter().filter_map(|of| match &of.trails.0 {
            Ok((trails, _)) => Some((&of.region, trails.as_slice())),
            Err(_) => None,
        }))
    }

    fn in_scope(&self, account: &Account) -> Vec<KnownTrail> {
        self.all().into_iter().filter(|known| is_in_scope(account, known)).collect()
    }

    fn members(&self, account: &Account) -> Vec<Member> {
        let member = |known: KnownTrail| {
            let out_of_scope = (!is_in_scope(account, &known)).then_some("excluded");
            Member { out_of_scope, ..Member::new(TRAIL, known.arn().unwrap_or_default()) }
        };
        self.all().into_iter().map(member).collect()
    }
}

/// The observations and facts about the trails.
#[derive(Default)]
struct Trails {
    observations: Vec<Observation>,
    facts: AuditTrail,
}

/// `audit_trails.json`, and the regions and trails that could not be read or found.
fn found(account: &Account, regions: &[RegionTrails], known: &[KnownTrail]) -> Trails {
    let number = &account.number;
    let read: Vec<(&Region, &Meta)> = regions
        .iter()
        .filter_map(|of| match &of.trails.0 {
            Ok((_, meta)) => Some((&of.region, meta)),
            Err(_) => None,
        })
        .collect();
    let mut trails = Trails::default();
    let Trails { observations, facts } = &mut trails;
    let mut not_read = Vec::new();
    for RegionTrails { region, trails: (trails, requests) } in regions {
        let Some(unread) = trails.as_ref().err() else { continue };
        // One multi-region trail is enough, wherever its home is: a refusal leaves the question open only if no other
        // region shows such a trail. A failure is an error in any case.
        let seen = unread.seen();
        if read.is_empty() || matches!(seen, Seen::Failed(_)) {
            let (subject, requests) = (account.subject_in(region), requests.clone());
            observations.push(Observation { requests, ..observation(&AUDIT_TRAILS, &subject, seen) });
        }
        let reason = unread.reason();
        facts.unread.push((format!("the trails of {region}"), reason));
        not_read.push(NotRead { region: region.to_string(), reason: reason.code.into() });
    }
    let Some((_, meta)) = read.first() else { return trails };
    let all: Vec<Asked> = regions.iter().flat_map(|of| of.trails.1.iter().cloned()).collect();
    if not_read.is_empty() {
        let is_found = |entry: &&String| known.iter().any(|known| known.trail.is_meant_by(entry));
        for entry in account.scope.trails.iter().filter(|entry| !is_found(entry)) {
            let text = format!("the trail {entry} was not found in {}", account.regions_in_words());
            let (seen, requests) = (Seen::Failed(not_found(text)), all.clone());
            observations.push(Observation { requests, ..observation(&AUDIT_TRAILS, number, seen) });
            facts.unread.push((format!("the trail {entry}"), &reason::NOT_FOUND));
        }
    }
    let record = AuditTrailsRecord {
        trail_list: known.iter().map(|known| known.trail.clone()).collect::<Vec<Trail>>(),
        scope: account.scope.trails.clone(),
        regions_read: read.iter().map(|(region, _)| region.to_string()).collect(),
        regions_not_read: not_read,
    };
    let seen = account.artifact("audit_trails.json", &record, meta);
    observations.insert(0, Observation { requests: all, ..observation(&AUDIT_TRAILS, number, seen) });
    trails
}

/// Reads the status and the event selectors of all trails concurrently, and judges them together in order.
async fn inspect(
    account: &Account,
    regions: &[RegionTrails],
    known: Vec<KnownTrail>,
    trails: Trails,
) -> CollectionItem {
    let statuses = join_all(known.iter().map(|known| {
        let selectors = known.trail.needs_selectors().then(|| recorded(selectors::read(account, known)));
        join(recorded(status::read(account, known)), OptionFuture::from(selectors))
    }));
    let Trails { mut observations, mut facts } = trails;
    let stems = known::file_stems(&known);
    for ((known, stem), (status, selectors)) in known.iter().zip(&stems).zip(statuses.await) {
        let mut of_trail = TrailFacts {
            name: known.name().to_string(),
            covers_all_regions: Criterion::all_regions(&known.trail.is_multi_region_trail),
            integrity: Integrity::of(&known.trail),
            // Default selectors record every management event. Those of a single-region trail do not matter.
            ..good_trail()
        };
        let (status, requests) = status;
        let observation = status::inspect(account, known, stem, status, &mut of_trail);
        observations.push(Observation { requests, ..observation });
        observations.extend(selectors.map(|(read, requests)| {
            let observation = selectors::inspect(account, known, stem, read, &mut of_trail);
            Observation { requests, ..observation }
        }));
        facts.trails.push(of_trail);
    }
    // The first trail that would pass must not fail to deliver in another region.
    let mut looked_at = 0;
    while let Some((index, trail)) =
        facts.trails.iter_mut().enumerate().skip(looked_at).find(|(_, trail)| trail.is_good())
    {
        looked_at = index + 1;
        let (Some(known), Some(stem)) = (known.get(index), stems.get(index)) else { break };
        observations.extend(inspect_other_regions(account, regions, known, stem, trail).await);
        if trail.is_good() {
            break;
        }
    }
    let (number, settings) = (account.number.as_str().into(), &account.config.rule_settings);
    CollectionItem::Inspected(Inspection::of(observations).judged_by(OF_TRAILS, &number, &facts, settings))
}
