//! Verified bundles, in a form that fits a year of them into memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use evidence_bundle::document::{Cadence, Previous, Scope, SourcePopulation, ToolRecord, WaiverState};
use evidence_bundle::read::ManifestHead;
use evidence_bundle::{Status, VerifiedBundle};

use super::facts::{Facts, FoundMember};
use super::found_waivers::{FoundWaiver, FoundWaivers};
use super::intern::Interned;

/// The verified bundles of a period, in any order.
#[derive(Debug, Default)]
pub struct Series {
    pub(super) names: Interned<Arc<str>>,
    pub(super) checks: Interned<CheckKey>,
    pub(super) members: Interned<MemberKey>,
    pub(super) bundles: Vec<Stored>,
}

/// What the verification of a bundle found beside its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The key that signed it.
    pub key_id: String,
    /// The SHA-256 of its list of checksums.
    pub checksums_sha256: String,
    /// Whether its time was set by hand.
    pub fixed_time: bool,
}

/// A check and its result; texts by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CheckKey {
    pub(super) control: u32,
    pub(super) source: u32,
    pub(super) rule: u32,
    pub(super) subject: u32,
    pub(super) status: Status,
    pub(super) reason: u32,
}

/// A member of the population; texts by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemberKey {
    pub(super) source: u32,
    pub(super) name: u32,
    pub(super) id: Option<u32>,
    pub(super) in_scope: bool,
    pub(super) archived: bool,
}

/// A rule that a bundle applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AppliedRule {
    pub(super) control: String,
    pub(super) source: String,
    pub(super) rule: String,
    pub(super) version: u32,
}

/// A waiver of a bundle; texts by number.
#[derive(Debug)]
pub(super) struct StoredWaiver {
    pub(super) id: u32,
    pub(super) approved_by: u32,
    pub(super) approved_at: u32,
    pub(super) expires_at: u32,
    pub(super) state: WaiverState,
    pub(super) failures: Box<[(u32, u32, u32)]>,
}

/// One bundle.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) bundle_id: String,
    pub(super) created_at: i64,
    pub(super) checksums_sha256: String,
    pub(super) key_id: String,
    pub(super) organization: String,
    pub(super) framework: String,
    pub(super) complete: bool,
    pub(super) fixed_time: bool,
    pub(super) previous: Option<Previous>,
    pub(super) tool: String,
    pub(super) configuration: String,
    /// The account of each source, if the source reported one.
    pub(super) identities: Vec<(String, String)>,
    pub(super) cadence: Option<Cadence>,
    pub(super) rules: BTreeSet<AppliedRule>,
    pub(super) populations: Vec<SourcePopulation>,
    /// The sources whose population is not complete.
    pub(super) partial: BTreeSet<String>,
    /// The sources of which something could not be collected or was left out; `None` if that may be any.
    pub(super) lacking: Option<BTreeSet<String>>,
    pub(super) checks: Box<[u32]>,
    pub(super) members: Box<[u32]>,
    pub(super) waivers: Box<[StoredWaiver]>,
}

impl Series {
    /// Adds a bundle whose documents all have the known form.
    pub fn add(&mut self, bundle: &VerifiedBundle, facts: Facts) {
        let named = Named {
            key_id: bundle.key_id.to_string(),
            checksums_sha256: hex::encode(bundle.checksums_sha256),
            fixed_time: bundle.source_date_epoch.is_some(),
        };
        self.add_named(named, facts);
    }

    /// Adds a bundle from its rows, whose documents all have the known form, and what its verification found.
    pub fn add_named(&mut self, named: Named, facts: Facts) {
        let Facts {
            checks,
            members,
            run: Some(run),
            scope: Some(scope),
            waivers,
            head: Some(bundle),
            populations,
            ..
        } = facts
        else {
            return;
        };
        let Named { key_id, checksums_sha256, fixed_time } = named;
        let waivers = self.waivers(waivers);
        let checks = checks.sink.checks.iter().map(|check| {
            let key = CheckKey {
                control: self.names.number(&*check.control),
                source: self.names.number(&*check.source),
                rule: self.names.number(&*check.rule),
                subject: self.names.number(&*check.subject),
                status: check.status,
                reason: self.names.number(&*check.reason),
            };
            self.checks.number_of(key)
        });
        let checks = checks.collect();
        let members = members.iter().map(|FoundMember { source, name, id, in_scope, archived }| {
            let key = MemberKey {
                source: self.names.number(&**source),
                name: self.names.number(&**name),
                id: id.as_deref().map(|id| self.names.number(id)),
                in_scope: *in_scope,
                archived: *archived,
            };
            self.members.number_of(key)
        });
        let members = members.collect();
        let accepted: BTreeSet<&str> = scope
            .sources
            .iter()
            .filter(|source| {
                source.settings.get("accept_unconfirmed").and_then(|value| value.as_bool()) == Some(true)
            })
            .map(|source| source.source.as_str())
            .collect();
        let is_partial = |source: &&SourcePopulation| {
            source.scope.is_incomplete(accepted.contains(source.source.as_str()))
        };
        let identities = run.sources.iter().filter_map(|source| {
            let identity = &source.identity;
            Some((source.name.clone(), identity.login.clone().or_else(|| identity.id.clone())?))
        });
        let rules = scope.rules.iter().map(|rule| AppliedRule {
            control: rule.control.clone(),
            source: rule.source.clone(),
            rule: rule.code.clone(),
            version: rule.version,
        });
        self.bundles.push(Stored {
            bundle_id: bundle.bundle_id.clone(),
            created_at: bundle.created_at,
            checksums_sha256,
            key_id,
            organization: bundle.organization.clone(),
            framework: bundle.framework.clone(),
            complete: bundle.complete,
            fixed_time,
            previous: bundle.previous.clone(),
            tool: tool(&run.tool),
            configuration: run.config.sha256.clone(),
            identities: identities.collect(),
            cadence: scope.cadence,
            rules: rules.collect(),
            partial: populations.iter().filter(is_partial).map(|source| source.source.clone()).collect(),
            populations,
            lacking: lacking(&bundle),
            checks,
            members,
            waivers,
        });
    }

    /// The waivers with their texts by number.
    fn waivers(&mut self, found: FoundWaivers) -> Box<[StoredWaiver]> {
        let stored = found.all.into_iter().map(|FoundWaiver { record, state, failures }| {
            let [id, approved_by, approved_at, expires_at] = record.map(|text| self.names.number(&*text));
            let failures = failures.into_iter().map(|failure| {
                let [source, rule, subject] = failure.map(|text| self.names.number(&*text));
                (source, rule, subject)
            });
            StoredWaiver { id, approved_by, approved_at, expires_at, state, failures: failures.collect() }
        });
        stored.collect()
    }

    /// The number of bundles.
    pub fn len(&self) -> usize {
        self.bundles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bundles.is_empty()
    }
}

/// The tool as one text.
fn tool(tool: &ToolRecord) -> String {
    let commit = tool.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{} {}{commit}", tool.name, tool.version)
}

/// The sources of which something could not be collected or was left out. The lists of a bundle may be cut.
fn lacking(bundle: &ManifestHead) -> Option<BTreeSet<String>> {
    let is_cut = |kept: usize, total: u64| u64::try_from(kept).is_ok_and(|kept| kept < total);
    if is_cut(bundle.errors.len(), bundle.errors_total)
        || is_cut(bundle.excluded.len(), bundle.excluded_total)
    {
        return None;
    }
    // A control that no source collects has no checks that something could be missing for.
    let errors = bundle.errors.iter().filter(|error| error.code != "control_not_collected");
    let errors = errors.map(|error| error.source.clone());
    let excluded = bundle.excluded.iter().filter_map(|excluded| excluded.filename.split('/').nth(1));
    Some(errors.chain(excluded.map(str::to_owned)).collect())
}

impl Stored {
    /// The population of a source.
    pub(super) fn population(&self, source: &str) -> Option<&SourcePopulation> {
        self.populations.iter().find(|population| population.source == source)
    }

    /// What it means that a source does not list a subject.
    pub(super) fn absence(&self, source: &str) -> Absence {
        let Some(population) = self.population(source) else { return Absence::NotAsked };
        match population.scope {
            Scope::Unreached => Absence::NotAsked,
            Scope::Whole => Absence::Gone,
            Scope::Chosen if population.host_total == Some(population.listed) => Absence::Gone,
            Scope::Chosen | Scope::Partial | Scope::Unconfirmed => Absence::Unseen,
        }
    }
}

/// What it means that a source does not list a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// The source was not asked, or not reached.
    NotAsked,
    /// The subject may exist.
    Unseen,
    /// The subject does not exist.
    Gone,
}
