//! The file of `apply`: the groups and organizations of a platform, with the keys that they trust and the API keys that
//! they have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evidence_bundle::PublicKey;
use evidence_os::input;
use serde::Deserialize;

use crate::error::Error;
use crate::role::Role;
use crate::service::{Owner, Wanted, WantedKey, WantedOrganization, WantedTrust};

/// The largest file.
const FILE_BYTES: u64 = 4 << 20;
/// The largest public key file.
const KEY_FILE_BYTES: u64 = 1 << 20;
/// The most hours between two bundles: a year.
const MOST_HOURS: u32 = 8_784;
/// The longest name of an API key, which is the name of its file.
const NAME_BYTES: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    groups: BTreeMap<String, GroupEntry>,
    #[serde(default)]
    organizations: BTreeMap<String, OrganizationEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupEntry {
    name: String,
    keys: Option<BTreeMap<String, Role>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrganizationEntry {
    name: String,
    group: Option<String>,
    expect_hours: Option<u32>,
    trust: Option<Vec<PathBuf>>,
    keys: Option<BTreeMap<String, Role>>,
}

/// Reads a file, and the public keys that it names. Relative paths begin at its directory.
///
/// # Errors
/// Fails with [`Error::Unusable`] or [`Error::Invalid`], which name the file and the entry.
pub fn read(path: &Path) -> Result<Wanted, Error> {
    let shown = path.display().to_string();
    let unusable = |error| Error::unusable(format!("cannot read {shown}"), error);
    let (bytes, _) = input::read(path, FILE_BYTES).map_err(unusable)?;
    let text = str::from_utf8(&bytes).map_err(|error| Error::unusable(shown.as_str(), error))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    parse(text, |key| trusted(&directory.join(key))).map_err(|error| match error {
        Error::Invalid(detail) => Error::Invalid(format!("{shown}: {detail}")),
        error => error,
    })
}

fn parse(text: &str, trusted: impl Fn(&Path) -> Result<Vec<WantedTrust>, Error>) -> Result<Wanted, Error> {
    let document: Document =
        serde_saphyr::from_str(text).map_err(|error| Error::Invalid(first_line(&error.to_string())))?;
    if document.groups.is_empty() && document.organizations.is_empty() {
        return Err(Error::Invalid("it has neither `groups` nor `organizations`".to_owned()));
    }
    let mut wanted = Wanted::default();
    for (slug, GroupEntry { name, keys }) in document.groups {
        if document.organizations.contains_key(&slug) {
            return Err(Error::Invalid(format!("{slug} is both a group and an organization: rename one")));
        }
        wanted.name_keys(Owner::Group(slug.clone()), keys)?;
        wanted.groups.push((slug, name));
    }
    for (slug, entry) in document.organizations {
        let OrganizationEntry { name, group, expect_hours, trust, keys } = entry;
        if let Some(hours) = expect_hours.filter(|hours| !(1..=MOST_HOURS).contains(hours)) {
            let detail = format!("organizations.{slug}.expect_hours is {hours}: write 1 to {MOST_HOURS}");
            return Err(Error::Invalid(detail));
        }
        let (lists_trust, mut trusts) = (trust.is_some(), Vec::new());
        for path in &trust.unwrap_or_default() {
            trusts.extend(trusted(path)?);
        }
        wanted.name_keys(Owner::Organization(slug.clone()), keys)?;
        let trust = trusts;
        wanted.organizations.push(WantedOrganization { slug, name, group, expect_hours, trust, lists_trust });
    }
    Ok(wanted)
}

impl Wanted {
    /// Adds the keys of an owner, if the file says which they are.
    fn name_keys(&mut self, owner: Owner, keys: Option<BTreeMap<String, Role>>) -> Result<(), Error> {
        let Some(keys) = keys else { return Ok(()) };
        self.keys.extend(named(owner.clone(), keys)?);
        self.lists_keys.insert(owner);
        Ok(())
    }
}

/// The keys of an owner. Their names become names of files.
fn named(owner: Owner, keys: BTreeMap<String, Role>) -> Result<Vec<WantedKey>, Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let check = |(name, role): (String, Role)| {
        if name.is_empty() || name.len() > NAME_BYTES || !name.bytes().all(plain) {
            let rule = format!("a key has a name of 1 to {NAME_BYTES} of the characters a-z A-Z 0-9 - _");
            return Err(Error::Invalid(format!("{}: {rule}", owner.slug())));
        }
        Ok(WantedKey { owner: owner.clone(), name, role })
    };
    keys.into_iter().map(check).collect()
}

fn trusted(path: &Path) -> Result<Vec<WantedTrust>, Error> {
    let shown = path.display().to_string();
    let unusable = |error| Error::unusable(format!("cannot read {shown}"), error);
    let (contents, _) = input::read(path, KEY_FILE_BYTES).map_err(unusable)?;
    let keys = PublicKey::parse_all(&contents)
        .map_err(|error| Error::unusable(format!("{shown} has no public key"), error))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let named = |(index, key): (usize, &PublicKey)| WantedTrust {
        key_id: key.key_id().to_string(),
        pem: key.to_spki_pem(),
        name: if index == 0 { name.to_owned() } else { format!("{name} ({})", index.saturating_add(1)) },
    };
    Ok(keys.iter().enumerate().map(named).collect())
}

/// The message without the lines of the file around it.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text, |_| Ok(Vec::new())).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_read() {
        let text = "groups:\n  emea: {name: EMEA, keys: {auditors: read}}\norganizations:\n  acme:\n    \
                    name: ACME Corp\n    group: emea\n    expect_hours: 26\n    trust: [a.pub]\n    \
                    keys:\n      ci: upload\n  other: {name: Other}\n";
        let trust = WantedTrust { key_id: "k".into(), pem: "p".into(), name: "a.pub".into() };
        let wanted = parse(text, |_| Ok(vec![trust.clone()])).unwrap();
        assert_eq!(wanted.groups, [("emea".to_owned(), "EMEA".to_owned())]);
        let acme = &wanted.organizations[0];
        assert_eq!(
            (acme.slug.as_str(), acme.group.as_deref(), acme.expect_hours),
            ("acme", Some("emea"), Some(26))
        );
        assert_eq!(acme.trust, [trust]);
        let keys: Vec<_> =
            wanted.keys.iter().map(|key| (key.owner.slug(), key.name.as_str(), key.role)).collect();
        assert_eq!(keys, [("emea", "auditors", Role::Read), ("acme", "ci", Role::Upload)]);
        // `other` says nothing of its keys, which is not the same as having none.
        let lists: Vec<&str> = wanted.lists_keys.iter().map(Owner::slug).collect();
        assert_eq!(lists, ["acme", "emea"]);
        assert_eq!([acme.lists_trust, wanted.organizations[1].lists_trust], [true, false]);
        let none = "organizations:\n  acme: {name: A, keys: {}, trust: []}\n";
        let none = parse(none, |_| Ok(Vec::new())).unwrap();
        assert!(none.organizations[0].lists_trust && none.lists_keys.len() == 1);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("organizations:\n  acme:\n    nane: Acme\n", "nane"),
            ("organizations:\n  acme: {}\n", "name"),
            ("organizations:\n  acme: {name: A, keys: {ci: root}}\n", "root"),
            ("organizations:\n  acme: {name: A, keys: {../x: read}}\n", "a key has a name"),
            ("organizations:\n  acme: {name: A, expect_hours: 0}\n", "organizations.acme.expect_hours is 0"),
            ("organizations:\n  acme: {name: A}\n  acme: {name: B}\n", "acme"),
            (
                "groups:\n  acme: {name: A}\norganizations:\n  acme: {name: B}\n",
                "both a group and an organization",
            ),
            ("organizations: {}\n", "neither"),
            ("", ""),
            ("- a\n", ""),
        ] {
            assert!(wrong(text).contains(part), "{text}: {}", wrong(text));
        }
    }
}
