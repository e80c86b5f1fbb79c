//! The commands about organizations, groups and keys, and `apply`, which brings them into the state of a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use evidence_os::file::{self, Readers};
use evidence_os::input;

use super::output::{print, say};
use crate::cli::{GroupCommand, KeyCommand, KeyOwner, OrganizationCommand};
use crate::error::Error;
use crate::secret::ApiKey;
use crate::service::{Change, Operator, Owner, Service, Update, Wanted, WantedKey};
use crate::store::{Group, KeyRow, Organization};

/// More than an API key and a line end.
const KEY_BYTES: u64 = 200;

pub(super) async fn organization(service: &Service, command: OrganizationCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    match command {
        OrganizationCommand::Create { name, slug, expect_hours, group } => {
            let group = group.as_deref();
            let made = operator.create_organization_in(&name, &slug, expect_hours, group).await?;
            say(&described(&made))
        }
        OrganizationCommand::Update { slug, name, expect_hours, expect_nothing, group, no_group } => {
            let expect_hours = if expect_nothing { Some(None) } else { expect_hours.map(Some) };
            let group = if no_group { Some(None) } else { group.map(Some) };
            let update = Update { name, expect_hours, group };
            if update == Update::default() {
                let help =
                    "nothing to change: set --name, --expect-hours, --expect-nothing, --group or --no-group";
                return Err(Error::Invalid(help.to_owned()));
            }
            say(&described(&operator.update_organization(&slug, update).await?))
        }
        OrganizationCommand::List => {
            for found in operator.organizations().await? {
                say(&described(&found))?;
            }
            Ok(())
        }
    }
}

fn described(organization: &Organization) -> String {
    let Organization { id, slug, name, expect_hours, group, .. } = organization;
    let expected = expect_hours.map(|hours| format!("  (a bundle every {hours} h)")).unwrap_or_default();
    let group = group.as_ref().map(|group| format!("  (group {group})")).unwrap_or_default();
    format!("{id}  {slug}  {name}{expected}{group}")
}

pub(super) async fn group(service: &Service, command: GroupCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    let described = |group: &Group| {
        let Group { id, slug, name, members, .. } = group;
        let organizations = if *members == 1 { "organization" } else { "organizations" };
        format!("{id}  {slug}  {name}  ({members} {organizations})")
    };
    match command {
        GroupCommand::Create { name, slug } => say(&described(&operator.create_group(&name, &slug).await?)),
        GroupCommand::Update { slug, name } => say(&described(&operator.rename_group(&slug, &name).await?)),
        GroupCommand::List => operator.groups().await?.iter().try_for_each(|group| say(&described(group))),
    }
}

/// Whose key is meant. The command line takes exactly one.
fn of(owner: KeyOwner) -> Result<Owner, Error> {
    match (owner.organization, owner.group) {
        (Some(slug), None) => Ok(Owner::Organization(slug)),
        (None, Some(slug)) => Ok(Owner::Group(slug)),
        _ => Err(Error::Invalid("name either --organization or --group".to_owned())),
    }
}

pub(super) async fn key(service: &Service, command: KeyCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    match command {
        KeyCommand::Create { owner, role, name, expires } => {
            let made = match of(owner)? {
                Owner::Organization(slug) => operator.create_key_until(&slug, role, &name, expires).await?,
                Owner::Group(slug) => operator.create_group_key(&slug, role, &name, expires).await?,
            };
            // Alone on standard output, so that a script can capture it.
            print(&format!("{}\n", made.key.reveal())).map_err(|error| {
                let lost =
                    format!("the key {} is created, but cannot be printed: revoke it", made.row.prefix);
                Error::unusable(lost, error)
            })
        }
        KeyCommand::Revoke { owner, key } => {
            let row = match of(owner)? {
                Owner::Organization(slug) => operator.revoke_key(&slug, &key).await?,
                Owner::Group(slug) => operator.revoke_group_key(&slug, &key).await?,
            };
            say(&format!("revoked {}", row.prefix))
        }
        KeyCommand::List { owner } => {
            let keys = match of(owner)? {
                Owner::Organization(slug) => operator.keys(&slug).await?,
                Owner::Group(slug) => operator.group_keys(&slug).await?,
            };
            for row in keys {
                let used =
                    row.last_used_at.map_or("never used".to_owned(), |time| format!("last used {time}"));
                let ended = row.has_expired(service.clock().now());
                let state = match (row.revoked_at, row.expires_at) {
                    (Some(time), _) => format!("  revoked {time}"),
                    (None, Some(time)) if ended => format!("  ended {time}"),
                    (None, Some(time)) => format!("  ends {time}"),
                    (None, None) => String::new(),
                };
                let KeyRow { prefix, role, created_at, label, .. } = row;
                say(&format!("{prefix}  {role}  {created_at}  {label}  {used}{state}"))?;
            }
            Ok(())
        }
    }
}

/// Prints the plan, and follows it unless it is a dry run.
pub(super) async fn apply(
    service: &Service,
    wanted: &Wanted,
    (dry_run, prune): (bool, bool),
    folder: Option<&Path>,
) -> Result<(), Error> {
    let operator = Operator::of(service);
    let plan = operator.plan(wanted, prune).await?;
    let new_keys = plan.changes.iter().filter(|change| matches!(change, Change::CreateKey(_))).count();
    if !dry_run && new_keys > 0 && folder.is_none() {
        let keys =
            if new_keys == 1 { "1 new API key".to_owned() } else { format!("{new_keys} new API keys") };
        let help = "name a folder for them with --keys, because a key is shown only once";
        return Err(Error::Invalid(format!("the file needs {keys}: {help}")));
    }
    for unnamed in &plan.unnamed {
        say(&format!("not in the file, left as it is: {unnamed}"))?;
    }
    for ended in &plan.ended {
        say(&format!("in the file, and no longer valid: {ended}"))?;
    }
    for change in &plan.changes {
        let key = match (change, folder) {
            (Change::CreateKey(key), Some(folder)) if !dry_run => Some(stored_key(folder, key)?),
            _ => None,
        };
        if !dry_run {
            operator.apply(change, key).await?;
        }
        say(&change.to_string())?;
    }
    let (changes, unchanged) = (plan.changes.len(), plan.unchanged);
    let done = match (changes, dry_run) {
        (0, _) => "nothing to change".to_owned(),
        (1, true) => "1 change to make".to_owned(),
        (1, false) => "1 change made".to_owned(),
        (_, true) => format!("{changes} changes to make"),
        (_, false) => format!("{changes} changes made"),
    };
    say(&format!("{done}, {unchanged} as in the file"))
}

/// A key in a file of its own, written before the platform knows the key: after an interruption, the next run finds it
/// there.
fn stored_key(folder: &Path, key: &WantedKey) -> Result<ApiKey, Error> {
    let path: PathBuf = folder.join(format!("{}-{}.key", key.owner.slug(), key.name));
    let shown = path.display().to_string();
    let failed = |error| Error::unusable(format!("cannot write the key to {shown}"), error);
    if path.exists() {
        let (contents, _) = input::read(&path, KEY_BYTES).map_err(failed)?;
        let known = str::from_utf8(&contents).ok().and_then(|text| ApiKey::parse(text.trim()));
        let help = format!("{shown} exists, and holds no API key: move it away");
        return known.ok_or(Error::Invalid(help));
    }
    let new = ApiKey::random()?;
    let mut file = file::create_new(&path, Readers::Owner).map_err(failed)?;
    let written = file.write_all(format!("{}\n", new.reveal()).as_bytes()).and_then(|()| file.sync_all());
    written.map_err(failed)?;
    Ok(new)
}
