//! Step 3: screens, judges, spools and counts each observation of a source.
//!
//! All sources are collected concurrently. An artifact's bytes leave memory here; what remains is a check, a few
//! counts, and the manifest's entries for things that are missing from the bundle. Each source's share is kept apart
//! until all sources are done, so that the order of the documents does not depend on which one was faster.

mod collector;
mod progress;

use std::io;

use evidence_bundle::document::{ErrorRecord, Excluded, Outcome, SourcePopulation, SourceRun, Warning};
use futures_util::StreamExt as _;
use futures_util::stream;

use crate::env::Env;
use crate::evaluate::Check;
use crate::observation::SourceName;
use crate::people::{PeopleMap, PeopleSeen};
use crate::report::{Event, Reporter};
use crate::source::{ConnectError, Scope, Session};
use crate::spool::{RowList, Spool, Text};
use evidence_http::Asked;
use evidence_rules::altcloud::LEAVERS_REMOVED;
use evidence_rules::framework::Framework;
use evidence_rules::rule::Rule;
use evidence_screen::Screen;

use self::collector::{CONNECTION, Collector};

/// The result of the collection, apart from the spool.
#[derive(Debug, Default)]
pub struct Collection {
    /// Every check, by source, in the order of the observations. The texts are in the spool.
    pub checks: Vec<Check<Text>>,
    /// The manifest's warnings.
    pub warnings: Vec<Warning>,
    /// The artifacts that were left out, and the rule that excluded each.
    pub excluded: Vec<Excluded>,
    /// The collection errors.
    pub errors: Vec<ErrorRecord>,
    /// Every observation: the rows of `derived/observations.json`, in the spool.
    pub observations: RowList,
    /// Every member of the population: the rows of `derived/population.json`, in the spool.
    pub members: RowList,
    /// Each source's counts for `derived/population.json`.
    pub populations: Vec<SourcePopulation>,
    /// Each source's part of `run.json`.
    pub sources: Vec<SourceRun>,
    /// A host answered at least one request, even if only with a refusal.
    pub answered: bool,
    /// A source could not be connected.
    pub unconnected: bool,
    /// A check says that the run lacked access, or does not know the whole population.
    pub lacking: bool,
}

impl Collection {
    /// Nothing is missing: the whole population is known, and every observation has an artifact or the host's
    /// confirmation that the setting does not exist. This is the only definition: the manifest, the exit code and the
    /// verifier follow it.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty() && self.excluded.is_empty() && !self.lacking
    }

    fn add(&mut self, part: Collection, spool: &mut Spool) -> io::Result<()> {
        // Avoids copying a long list when there is nothing to append it to.
        if self.checks.is_empty() {
            self.checks = part.checks;
        } else {
            self.checks.extend(part.checks);
        }
        self.warnings.extend(part.warnings);
        self.excluded.extend(part.excluded);
        self.errors.extend(part.errors);
        self.observations.append(part.observations, spool)?;
        self.members.append(part.members, spool)?;
        self.populations.extend(part.populations);
        self.sources.extend(part.sources);
        self.answered |= part.answered;
        self.unconnected |= part.unconnected;
        self.lacking |= part.lacking;
        Ok(())
    }
}

/// A source after its connection test.
pub enum Connected {
    /// Connected, with the requests of the connection test that the session does not account for.
    Session(Box<dyn Session>, Vec<Asked>),
    /// Not connected: the missing scope, and the error.
    Failed(Scope, ConnectError),
}

/// Collects every connected source concurrently. The collection also records what a source that could not be connected
/// would have shown, as not read. With a map of people, the directory's last artifact compares the lists of all sources.
///
/// # Errors
///
/// Fails only if the spool does: errors of a host are part of the collection.
pub async fn gather(
    sources: &[Connected],
    framework: &'static Framework,
    map: Option<&PeopleMap>,
    screen: &Screen,
    spool: &mut Spool,
    env: &Env,
    reporter: &dyn Reporter,
) -> io::Result<Collection> {
    let sessions: Vec<SourceName> =
        sources.iter().filter_map(Connected::session).map(Session::name).collect();
    reporter.event(Event::Collecting(&sessions));
    let mut parts = Vec::new();
    let mut items = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let asked = (framework, source.rules());
        let standings = source.session().and_then(Session::standings);
        let mut collector = Collector::new((source.name(), standings), asked, screen, env, reporter);
        match source {
            Connected::Failed(scope, error) => collector.unconnected(scope, error, spool)?,
            Connected::Session(session, asked) => {
                if !asked.is_empty() {
                    let subject = session.organization();
                    let row = collector.row(subject, CONNECTION, Outcome::Listed, asked);
                    collector.record(&row, spool)?;
                }
                session.warnings().iter().for_each(|warning| collector.warn(warning.clone(), false));
                let end = stream::iter([(index, None)]);
                items.push(session.collect().map(move |item| (index, Some(item))).chain(end));
            }
        }
        parts.push(collector);
    }
    let mut items = stream::select_all(items);
    // Who left can be told once every source showed its people.
    let is_last = |session: &dyn Session| map.is_some() && session.rules().contains(&&LEAVERS_REMOVED);
    let mut people = PeopleSeen::default();
    while let Some((index, item)) = items.next().await {
        let Some(collector) = parts.get_mut(index) else { continue };
        match (item, sources.get(index)) {
            (Some(item), Some(Connected::Session(session, _))) => {
                if map.is_some() {
                    people.take(session.name(), &item);
                }
                collector.add(item, &**session, spool)?;
            }
            (None, Some(Connected::Session(session, _))) if !is_last(&**session) => {
                collector.finish(&**session);
                session.collected();
            }
            _ => {}
        }
    }
    let last = sources.iter().zip(&mut parts).filter_map(|(source, part)| Some((source.session()?, part)));
    for (session, collector) in last.filter(|(session, _)| is_last(*session)) {
        if let Some(map) = map {
            let (name, organization) = (session.name(), session.organization());
            let item = crate::people::leavers(map, &people, name, organization, env.clock.now());
            collector.add(item, session, spool)?;
        }
        collector.finish(session);
        session.collected();
    }
    let mut collection = Collection::default();
    parts.into_iter().try_for_each(|part| collection.add(part.part, spool))?;
    Ok(collection)
}

impl Connected {
    /// The rules that are asked of it.
    fn rules(&self) -> &[&'static Rule] {
        match self {
            Connected::Session(session, _) => session.rules(),
            Connected::Failed(scope, _) => &scope.rules,
        }
    }

    /// The source's name.
    pub fn name(&self) -> SourceName {
        match self {
            Connected::Session(session, _) => session.name(),
            Connected::Failed(scope, _) => scope.source,
        }
    }

    /// The error, if the source could not be connected.
    pub fn error(&self) -> Option<&ConnectError> {
        match self {
            Connected::Session(..) => None,
            Connected::Failed(_, error) => Some(error),
        }
    }

    /// The missing scope, if the source could not be connected.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            Connected::Session(..) => None,
            Connected::Failed(scope, _) => Some(scope),
        }
    }

    /// The session, if it was connected.
    pub fn session(&self) -> Option<&dyn Session> {
        match self {
            Connected::Session(session, _) => Some(&**session),
            Connected::Failed(..) => None,
        }
    }
}

#[cfg(test)]
mod tests;
