//! The lists that auditors draw from: merged changes and people, from the artifacts that hold them.

use std::collections::HashMap;
use std::io;

use evidence_bundle::read::{Row, Sink};
use evidence_rules::codehost::changes::Changes;
use serde::Deserialize;

use crate::filter::MemberFilter;
use crate::sample::{Draw, Sample};
use crate::sanitize::sanitized;

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The pull requests that were merged in the period.
    Changes,
    /// Everyone with access to a source.
    People,
}

impl List {
    /// The types of the artifacts that hold it.
    pub fn kinds(self) -> &'static [&'static str] {
        match self {
            List::Changes => &["changes"],
            List::People => &["people", "account_people", "directory_people"],
        }
    }
}

/// An entry of a list, fit to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListEntry {
    /// A merged change.
    Change(ChangeEntry),
    /// A person.
    Person(PersonEntry),
}

/// A merged change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeEntry {
    /// The source.
    pub source: String,
    /// The repository.
    pub repository: String,
    /// The number of the pull request.
    pub number: u64,
    /// The branch.
    pub branch: String,
    /// Who opened it; `None` for a deleted account.
    pub author: Option<String>,
    /// Who approved it, whether or not the approval counts.
    pub approved_by: Vec<String>,
    /// Who merged it, if known.
    pub merged_by: Option<String>,
    /// When.
    pub merged_at: String,
    /// The commit, if known.
    pub commit: Option<String>,
}

/// Someone with access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonEntry {
    /// The source.
    pub source: String,
    /// The account's id.
    pub id: String,
    /// The login.
    pub login: String,
    /// The role.
    pub role: String,
    /// Whether there is a second factor, if the host shows that.
    pub two_factor: Option<bool>,
    /// When the account was created, if the host shows that.
    pub created: Option<String>,
    /// The last use, if the host shows one.
    pub last_use: Option<String>,
    /// Whether the account cannot sign in, if the host shows that.
    pub suspended: Option<bool>,
}

/// The people of an artifact, of whatever source.
#[derive(Debug, Deserialize)]
struct PeopleRecord {
    people: Vec<PersonRecord>,
}

/// One of the people of an artifact, of whatever source.
#[derive(Debug, Deserialize)]
pub struct PersonRecord {
    id: AccountId,
    /// The login.
    pub login: String,
    /// The role.
    pub role: String,
    /// Whether there is a second factor.
    pub two_factor: Option<bool>,
    /// When the account was created.
    pub created: Option<String>,
    /// The last use.
    pub last_use: Option<String>,
    /// Whether the account cannot sign in.
    pub suspended: Option<bool>,
}

impl PersonRecord {
    /// What identifies the account in its source.
    pub fn id(&self) -> String {
        match &self.id {
            AccountId::Number(number) => number.to_string(),
            AccountId::Text(text) => text.clone(),
        }
    }
}

/// What identifies an account: a number at the code host, and text elsewhere.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum AccountId {
    Number(u64),
    Text(String),
}

/// Draws from a list that matches a filter.
#[derive(Debug)]
pub struct ListDraw {
    list: List,
    filter: MemberFilter,
    /// The artifacts that hold it, by path: the source and the subject of each.
    artifacts: HashMap<String, (String, String)>,
    /// The artifact that is being read, and its bytes.
    current: Option<(String, String)>,
    bytes: Vec<u8>,
    draw: Draw<ListEntry>,
}

impl ListDraw {
    /// Draws from this list; of `filter`, the sources and the names count.
    pub fn new(list: List, draw: Draw<ListEntry>, filter: MemberFilter) -> ListDraw {
        ListDraw { list, filter, artifacts: HashMap::new(), current: None, bytes: Vec::new(), draw }
    }

    /// The sample.
    pub fn finish(mut self) -> Sample<ListEntry> {
        self.end();
        self.draw.finish()
    }

    /// The last artifact has ended. One of another form has no entry that this version knows.
    fn end(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let Some((source, subject)) = self.current.take() else { return };
        match self.list {
            List::Changes => {
                if let Ok(record) = serde_json::from_slice(&bytes) {
                    self.changes(&source, &subject, &record);
                }
            }
            List::People => {
                if let Ok(record) = serde_json::from_slice(&bytes) {
                    self.people(&source, &record);
                }
            }
        }
    }

    fn changes(&mut self, source: &str, repository: &str, record: &Changes) {
        if !self.filter.matches_name(source, repository) {
            return;
        }
        for change in record.changes.value().into_iter().flatten() {
            let identity = format!("{repository}|{}", change.number);
            let login = |account: &evidence_rules::codehost::changes::Account| sanitized(&account.login);
            self.draw.offer(&identity, || {
                let approved = change.reviews.iter().filter(|review| review.state == "APPROVED");
                ListEntry::Change(ChangeEntry {
                    source: sanitized(source),
                    repository: sanitized(repository),
                    number: change.number,
                    branch: sanitized(&record.branch),
                    author: change.author.as_ref().map(login),
                    approved_by: approved.filter_map(|review| review.by.as_ref().map(login)).collect(),
                    merged_by: change.merged_by.as_deref().map(sanitized),
                    merged_at: sanitized(&change.merged_at),
                    commit: change.commit.as_deref().map(sanitized),
                })
            });
        }
    }

    fn people(&mut self, source: &str, record: &PeopleRecord) {
        for person in &record.people {
            if !self.filter.matches_name(source, &person.login) {
                continue;
            }
            let id = person.id();
            self.draw.offer(&format!("{source}|{id}"), || {
                let text = |text: &Option<String>| text.as_deref().map(sanitized);
                ListEntry::Person(PersonEntry {
                    source: sanitized(source),
                    id: sanitized(&id),
                    login: sanitized(&person.login),
                    role: sanitized(&person.role),
                    two_factor: person.two_factor,
                    created: text(&person.created),
                    last_use: text(&person.last_use),
                    suspended: person.suspended,
                })
            });
        }
    }
}

impl Sink for ListDraw {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        if let Row::Observation(record) = row
            && self.list.kinds().contains(&record.kind.as_str())
            && let Some(path) = &record.artifact
        {
            self.artifacts.insert(path.clone(), (record.source.clone(), record.subject.clone()));
        }
        Ok(())
    }

    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        self.end();
        self.current = self.artifacts.remove(path);
        Ok(self.current.is_some())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}
