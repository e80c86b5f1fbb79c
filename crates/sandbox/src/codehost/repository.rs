//! A repository with everything that affects an answer.

use super::{Change, Endpoint, File, Permission, Protection, Pushed, Ruleset};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Who can see a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone.
    Public,
    /// Those with access.
    Private,
    /// Everyone in the enterprise; `private` is true nevertheless.
    Internal,
}

/// An open vulnerability alert.
#[derive(Clone, Debug)]
pub(crate) struct OpenAlert {
    pub(crate) number: u64,
    pub(crate) severity: String,
    pub(crate) days: i64,
}

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) previous: Vec<(String, String)>,
    pub(crate) id: Option<u64>,
    pub(crate) visibility: Visibility,
    pub(crate) archived: bool,
    /// When its files were last committed, as an HTTP date.
    pub(crate) files_changed: String,
    pub(crate) fork: bool,
    pub(crate) topics: Vec<String>,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) template: bool,
    pub(crate) disabled: bool,
    pub(crate) empty: bool,
    pub(crate) vanished: bool,
    pub(crate) blocked: Option<String>,
    pub(crate) default_branch: String,
    pub(crate) branches: BTreeSet<String>,
    pub(crate) protections: BTreeMap<String, Protection>,
    pub(crate) protection_disabled: bool,
    pub(crate) plan_limited: bool,
    pub(crate) vulnerability_alerts: bool,
    /// The status of secret scanning and of its push protection; `None` for a feature that the host does not name.
    pub(crate) secret_scanning: [Option<&'static str>; 2],
    pub(crate) rules: BTreeMap<String, Vec<Value>>,
    pub(crate) rulesets: Vec<Ruleset>,
    pub(crate) refusals: BTreeMap<Endpoint, (u16, String)>,
    pub(crate) unknown_owners: Vec<String>,
    pub(crate) files: BTreeMap<String, File>,
    pub(crate) branch_files: BTreeMap<(String, String), File>,
    pub(crate) permission: Option<Permission>,
    pub(crate) open_alerts: Vec<OpenAlert>,
    pub(crate) changes: Vec<Change>,
    pub(crate) pushes: Vec<Pushed>,
    pub(crate) size: u64,
    pub(crate) description: Option<String>,
    pub(crate) language: Option<String>,
}

impl Repository {
    /// A public repository with one branch, `main`, and no protection.
    pub fn new(owner: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            name: name.into(),
            previous: Vec::new(),
            id: None,
            visibility: Visibility::Public,
            archived: false,
            files_changed: "Fri, 30 Oct 2026 15:04:05 GMT".to_owned(),
            fork: false,
            topics: Vec::new(),
            properties: Vec::new(),
            template: false,
            disabled: false,
            empty: false,
            vanished: false,
            blocked: None,
            default_branch: "main".to_owned(),
            branches: BTreeSet::new(),
            protections: BTreeMap::new(),
            protection_disabled: false,
            plan_limited: false,
            vulnerability_alerts: false,
            secret_scanning: [Some("disabled"); 2],
            rules: BTreeMap::new(),
            rulesets: Vec::new(),
            refusals: BTreeMap::new(),
            unknown_owners: Vec::new(),
            files: BTreeMap::new(),
            branch_files: BTreeMap::new(),
            permission: None,
            open_alerts: Vec::new(),
            changes: Vec::new(),
            pushes: Vec::new(),
            size: 736,
            description: None,
            language: None,
        }
    }

    /// Adds an alert that has been open for so many days; the host shows it if the alerts are enabled.
    pub fn open_alert(mut self, number: u64, severity: &str, days: i64) -> Self {
        self.open_alerts.push(OpenAlert { number, severity: severity.to_owned(), days });
        self
    }

    /// Adds a pull request.
    pub fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Adds an entry of the activity beside the merges.
    pub fn pushed(mut self, push: Pushed) -> Self {
        self.pushes.push(push);
        self
    }

    /// Its id; assigned by the host if not set.
    pub fn id(mut self, id: u64) -> Self {
        self.id = Some(id);
        self
    }

    /// Whether vulnerability alerts are enabled.
    pub fn vulnerability_alerts(mut self, enabled: bool) -> Self {
        self.vulnerability_alerts = enabled;
        self
    }

    /// The status of secret scanning and of its push protection: `enabled`, `disabled`, or not named by the host.
    pub fn secret_scanning(mut self, scanning: Option<&'static str>, push: Option<&'static str>) -> Self {
        self.secret_scanning = [scanning, push];
        self
    }

    /// Private or public.
    pub fn private(mut self, private: bool) -> Self {
        self.visibility = if private { Visibility::Private } else { Visibility::Public };
        self
    }

    /// Public, private or internal.
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// When its files were last committed, as an HTTP date: a committer can name any time.
    pub fn files_changed(mut self, at: impl Into<String>) -> Self {
        self.files_changed = at.into();
        self
    }

    /// Archived: listed, readable, not writable.
    pub fn archived(mut self, archived: bool) -> Self {
        self.archived = archived;
        self
    }

    /// A fork.
    pub fn fork(mut self, fork: bool) -> Self {
        self.fork = fork;
        self
    }

    /// A custom property: JSON, as the host shows its value.
    pub fn property(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.push((name.into(), value.into()));
        self
    }

    /// Its topics.
    pub fn topics<S: Into<String>>(mut self, topics: impl IntoIterator<Item = S>) -> Self {
        self.topics = topics.into_iter().map(Into::into).collect();
        self
    }

    /// A template.
    pub fn template(mut self, template: bool) -> Self {
        self.template = template;
        self
    }

    /// The default branch, which exists unless the repository is [`Self::empty`].
    pub fn default_branch(mut self, branch: impl Into<String>) -> Self {
        self.default_branch = branch.into();
        self
    }

    /// Another branch.
    pub fn branch(mut self, branch: impl Into<String>) -> Self {
        self.branches.insert(branch.into());
        self
    }

    /// A classic rule for a branch, which is created if necessary.
    pub fn protection(mut self, branch: impl Into<String>, protection: Protection) -> Self {
        let branch = branch.into();
        self.branches.insert(branch.clone());
        self.protections.insert(branch, protection);
        self
    }

    /// Removes the classic rule of a branch.
    pub fn unprotected(mut self, branch: &str) -> Self {
        self.protections.remove(branch);
        self
    }

    /// A ruleset of this repository.
    pub fn ruleset(mut self, ruleset: Ruleset) -> Self {
        self.rulesets.push(ruleset);
        self
    }

    /// A rule of a ruleset that does not exist otherwise, as the rules endpoint shows it, in any shape.
    pub fn rule(mut self, branch: impl Into<String>, rule: Value) -> Self {
        self.rules.entry(branch.into()).or_default().push(rule);
        self
    }

    /// A file on every branch.
    pub fn file(mut self, path: impl Into<String>, file: File) -> Self {
        self.files.insert(path.into(), file);
        self
    }

    /// A file on one branch only.
    pub fn file_on(mut self, branch: impl Into<String>, path: impl Into<String>, file: File) -> Self {
        let branch = branch.into();
        self.branches.insert(branch.clone());
        self.branch_files.insert((branch, path.into()), file);
        self
    }

    /// Removes a file from every branch.
    pub fn without_file(mut self, path: &str) -> Self {
        self.files.remove(path);
        self.branch_files.retain(|(_, known), _| known != path);
        self
    }

    /// Renames the repository (`name` or `owner/name`); the original name redirects here.
    pub fn renamed_to(mut self, name: &str) -> Self {
        self.previous.push((self.owner.clone(), self.name.clone()));
        match name.split_once('/') {
            Some((owner, name)) => {
                self.owner = owner.to_owned();
                self.name = name.to_owned();
            }
            None => self.name = name.to_owned(),
        }
        self
    }

    /// Blocks access: `dmca` answers 451, any other reason 403.
    pub fn blocked(mut self, reason: impl Into<String>) -> Self {
        self.blocked = Some(reason.into());
        self
    }

    /// Disabled by the host: listed, but its contents are refused.
    pub fn disabled(mut self) -> Self {
        self.disabled = true;
        self
    }

    /// No commits; the default branch has a name but does not exist.
    pub fn empty(mut self) -> Self {
        self.empty = true;
        self
    }

    /// Recently deleted: still listed, but every call about it answers 404 'Not Found'.
    pub fn vanished(mut self) -> Self {
        self.vanished = true;
        self
    }

    /// Disables classic protection for the repository.
    pub fn protection_disabled(mut self) -> Self {
        self.protection_disabled = true;
        self
    }

    /// Private on a plan without protection: 403 'Upgrade to GitHub Pro …'.
    pub fn plan_limited(mut self) -> Self {
        self.plan_limited = true;
        self.visibility = Visibility::Private;
        self
    }

    /// Whether the token's user administers this repository or only reads it, whatever the token says.
    pub fn admin(self, admin: bool) -> Self {
        self.permission(if admin { Permission::Admin } else { Permission::Pull })
    }

    /// What the token's user may do in this repository, whatever the token says.
    pub fn permission(mut self, permission: Permission) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Refuses this endpoint to all callers, with this status and message.
    pub fn refusal(mut self, endpoint: Endpoint, status: u16, message: impl Into<String>) -> Self {
        self.refusals.insert(endpoint, (status, message.into()));
        self
    }

    /// An owner in CODEOWNERS that the host does not know: `@acme/gone`.
    pub fn unknown_owner(mut self, owner: impl Into<String>) -> Self {
        self.unknown_owners.push(owner.into());
        self
    }

    /// The displayed size in kilobytes. The host recalculates it only now and then: 0 does not prove that it is
    /// empty.
    pub fn size(mut self, kilobytes: u64) -> Self {
        self.size = kilobytes;
        self
    }

    /// The description shown.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The language shown.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    pub(crate) fn is(&self, owner: &str, name: &str) -> bool {
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }

    pub(crate) fn number(&self) -> u64 {
        self.id.unwrap_or(1)
    }

    pub(crate) fn is_private(&self) -> bool {
        self.visibility != Visibility::Public
    }

    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        !self.empty && (self.default_branch == branch || self.branches.contains(branch))
    }
}
