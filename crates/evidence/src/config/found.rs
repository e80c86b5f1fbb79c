//! A configuration that was found in the working directory and not named.
//!
//! The folder may be a stranger's. Such a file may send credentials only to their own providers and to this machine,
//! and may name only variables and files of the tool. Everything else needs the user to name the file. [`RULES`] is the
//! whole policy; a key that can name a variable, an address or a file and has no rule there is refused.

use std::fmt;
use std::path::{Component, Path};

use evidence_settings::declare::Guarded;
use evidence_settings::problem::{Complaint, ConfigError};
use evidence_settings::secret::quote;

use crate::origin::{NamedBy, Origin, OwnHosts};
use crate::source::{aws, github, google};

/// The configuration that is read if the user names none.
pub const FOUND: &str = "./evidence.yaml";

/// What to do about a value that needs approval.
const HELP: &str = "name the file with --config if you trust it";

/// A configuration file, and who chose it.
#[derive(Debug, Clone, Copy)]
pub enum ConfigFile<'a> {
    /// The user named it, which approves everything in it.
    Named(&'a Path),
    /// It is [`FOUND`]. The list has the keys and sections that the command does not use, and that need no approval.
    Found(&'static [&'static str]),
}

impl<'a> ConfigFile<'a> {
    /// The file that the user named, else the one in the working directory.
    pub fn new(named: Option<&'a Path>, unused: &'static [&'static str]) -> ConfigFile<'a> {
        named.map_or(ConfigFile::Found(unused), ConfigFile::Named)
    }

    /// Its path.
    pub fn path(self) -> &'a Path {
        match self {
            ConfigFile::Named(path) => path,
            ConfigFile::Found(_) => Path::new(FOUND),
        }
    }

    /// Checks a value of the file.
    pub(super) fn check(self, key: &str, value: &Guarded<'_>) -> Result<(), Complaint> {
        let ConfigFile::Found(unused) = self else { return Ok(()) };
        let key = declared(key);
        let is_unused = |section: &&str| {
            key.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if unused.iter().any(is_unused) {
            return Ok(());
        }
        match (RULES.iter().find(|(known, _)| *known == key), value) {
            (Some((_, allowed)), value) => allowed.check(value),
            (None, Guarded::Text(_)) => Ok(()),
            (None, value) => Allowed::Nothing.check(value),
        }
    }

    /// Checks the addresses that the configuration leads to without naming them.
    ///
    /// # Errors
    /// Fails if the user did not name the configuration, and such an address is not the provider's own.
    pub fn check_origins(self, origins: &[Origin]) -> Result<(), ConfigError> {
        let ConfigFile::Found(_) = self else { return Ok(()) };
        let refused = origins.iter().find_map(|origin| {
            let named_by = origin.named_by.as_ref().filter(|named_by| !named_by.own.accept(&origin.url))?;
            Some((origin, named_by))
        });
        match refused {
            None => Ok(()),
            Some((origin, NamedBy { key, file, own })) => {
                let address = quote(&origin.url.origin().ascii_serialization());
                let message = format!("{file} names the address {address}: {}", only(&Allowed::Hosts(own)));
                Err(ConfigError::of_key(self.path(), key, Complaint::new(message).help(HELP)))
            }
        }
    }
}

/// The values that need no approval.
enum Allowed {
    /// A variable whose name begins with one of these.
    Variables(&'static [&'static str]),
    /// An address of the provider, or of this machine.
    Hosts(&'static OwnHosts),
    /// A file in the folder of the configuration, not only a link there.
    InFolder,
    /// No value at all.
    Nothing,
    /// Any value, because nothing reads it unless the file is named.
    Any,
}

/// What a found configuration may say, by key. Other keys name neither a variable nor an address nor a file.
static RULES: &[(&str, Allowed)] = &[
    ("waivers", Allowed::InFolder),
    ("people.map", Allowed::InFolder),
    ("sources.codehost.token_env", Allowed::Variables(&["CODEHOST_", "GITHUB_", "GH_"])),
    ("sources.codehost.private_key_path", Allowed::InFolder),
    ("sources.codehost.private_key_env", Allowed::Variables(&["CODEHOST_", "GITHUB_", "GH_"])),
    ("sources.codehost.api_url", Allowed::Hosts(&github::config::OWN_HOSTS)),
    ("sources.codehost.ca_file", Allowed::Nothing),
    ("sources.cloud.credentials_command", Allowed::Nothing),
    ("sources.cloud.endpoint_url", Allowed::Hosts(&aws::host::endpoint::OWN_HOSTS)),
    ("sources.cloud.access_key_id_env", Allowed::Variables(CLOUD)),
    ("sources.cloud.secret_access_key_env", Allowed::Variables(CLOUD)),
    ("sources.cloud.session_token_env", Allowed::Variables(CLOUD)),
    ("sources.altcloud.credentials_json_env", Allowed::Variables(&["ALTCLOUD_", "GOOGLE_"])),
    ("sources.altcloud.credentials_env", Allowed::Variables(&["ALTCLOUD_", "GOOGLE_"])),
    ("sources.altcloud.api_url", Allowed::Hosts(&google::config::OWN_HOSTS)),
    ("sources.altcloud.iam_url", Allowed::Hosts(&google::config::IAM_HOSTS)),
    ("sources.altcloud.token_uri", Allowed::Hosts(&google::host::service_account::OWN_HOSTS)),
    ("sources.altcloud.cloud_identity_url", Allowed::Hosts(&google::config::CLOUD_IDENTITY_HOSTS)),
    ("bundle.signing.private_key_path", Allowed::InFolder),
    ("bundle.signing.private_key_env", Allowed::Variables(OWN)),
    ("bundle.signing.passphrase_env", Allowed::Variables(OWN)),
    ("bundle.signing.trusted_keys", Allowed::Any),
    ("upload.api_url", Allowed::Hosts(&NO_HOSTS)),
    ("upload.platform_url", Allowed::Hosts(&NO_HOSTS)),
    ("upload.api_key_env", Allowed::Variables(OWN)),
    ("notify.success_url", Allowed::Nothing),
    ("notify.failure_url", Allowed::Nothing),
];

const CLOUD: &[&str] = &["CLOUD_", "AWS_"];
const OWN: &[&str] = &["EVIDENCE_"];

/// A platform can be anyone's, so none is trusted by its name.
static NO_HOSTS: OwnHosts = OwnHosts { shown: "", is_own: |_| false, mistaken: |_| None };

impl Allowed {
    fn check(&self, value: &Guarded<'_>) -> Result<(), Complaint> {
        let good = match (self, value) {
            (Allowed::Variables(prefixes), Guarded::Variable(name)) => {
                prefixes.iter().any(|prefix| name.starts_with(prefix))
            }
            (Allowed::Hosts(hosts), Guarded::Address(url)) => hosts.accept(url),
            (Allowed::InFolder, Guarded::Path(path)) => is_in_folder(path),
            (Allowed::Any, _) => true,
            (Allowed::Variables(_) | Allowed::Hosts(_) | Allowed::InFolder | Allowed::Nothing, _) => false,
        };
        if good {
            return Ok(());
        }
        if let (Allowed::Hosts(hosts), Guarded::Address(url)) = (self, value)
            && let Some(complaint) = (hosts.mistaken)(url)
        {
            return Err(complaint);
        }
        let shown = match value {
            Guarded::Variable(text) | Guarded::Text(text) => quote(text),
            Guarded::Address(url) => quote(url.as_str().trim_end_matches('/')),
            Guarded::Path(path) => quote(&path.to_string_lossy()),
        };
        Err(Complaint::new(format!("{shown} needs your approval: {}", only(self))).help(HELP))
    }
}

fn only(allowed: &Allowed) -> String {
    match allowed {
        Allowed::Nothing => "only a configuration that you name may have this key".to_string(),
        allowed => format!("a configuration that you did not name may use only {allowed}"),
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Variables([only]) => write!(f, "variables whose names begin with `{only}`"),
            Allowed::Variables(prefixes) => {
                let (last, others) = prefixes.split_last().unwrap_or((&"", &[]));
                write!(f, "variables whose names begin with `{}` or `{last}`", others.join("`, `"))
            }
            Allowed::Hosts(OwnHosts { shown: "", .. }) => f.write_str("loopback addresses"),
            Allowed::Hosts(hosts) => write!(f, "{} and loopback addresses", hosts.shown),
            Allowed::InFolder => f.write_str("a file in its own folder"),
            Allowed::Nothing => f.write_str("must be absent"),
            Allowed::Any => f.write_str("any files: only public keys are read from them"),
        }
    }
}

/// The key as declared: without the positions in lists.
fn declared(path: &str) -> String {
    let mut key = String::new();
    for (index, part) in path.split('[').enumerate() {
        let rest = if index == 0 { part } else { part.split_once(']').map_or("", |(_, rest)| rest) };
        key.push_str(rest);
    }
    key
}

/// Whether the file is in the working directory, after every link and every `..` is followed.
fn is_in_folder(path: &Path) -> bool {
    match (Path::new(".").canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(file)) => file.starts_with(folder),
        // Nothing is there, or it cannot be reached: reading it will fail. Judge the text, so that the message fits.
        _ => path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)),
    }
}

/// The policy as the rows of a table in Markdown.
pub(super) fn reference() -> String {
    let mut text = String::from("| Key | Without `--config` |\n|---|---|\n");
    for (key, allowed) in RULES {
        text.push_str(&format!("| `{key}` | {allowed} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use evidence_settings::declare::{DefaultValue, Format, Key, Presence, Section, Shape, sections};

    use super::super::file::DOCUMENT;
    use super::*;

    /// Every key that can name a variable, an address or a file, with its section.
    fn keys() -> impl Iterator<Item = (&'static Section, &'static Key, Format)> {
        let keys = sections(DOCUMENT.root)
            .into_iter()
            .flat_map(|section| section.keys.iter().map(move |key| (section, *key)));
        keys.filter_map(|(section, key)| match key.shape {
            Shape::Text(format) | Shape::List { of: format, .. } | Shape::EverythingOr(format) => {
                // A program, too, reaches outside.
                (matches!(format, Format::Variable | Format::Url | Format::Path)
                    || key.name == "credentials_command")
                    .then_some((section, key, format))
            }
            _ => None,
        })
    }

    #[test]
    fn every_key_that_reaches_outside_has_a_rule_and_a_default_that_follows_it() {
        let mut declared: Vec<String> = keys().map(|(section, key, _)| key.path_in(section)).collect();
        let mut ruled: Vec<&str> = RULES.iter().map(|(key, _)| *key).collect();
        declared.sort();
        ruled.sort_unstable();
        assert_eq!(ruled, declared);
        for (section, key, format) in keys() {
            let Presence::Default(DefaultValue::Text(text)) = key.presence else { continue };
            let path = key.path_in(section);
            let url = evidence_settings::format::url(text);
            let value = match format {
                Format::Url => Guarded::Address(url.as_ref().unwrap()),
                _ => Guarded::Variable(text),
            };
            ConfigFile::Found(&[]).check(&path, &value).unwrap();
        }
    }

    #[test]
    fn what_has_no_rule_is_refused_and_the_rest_of_the_file_is_not_judged() {
        let found = ConfigFile::Found(&["upload"]);
        let named = ConfigFile::Named(Path::new("evidence.yaml"));
        for (key, value, allowed) in [
            ("future.token_env", Guarded::Variable("CODEHOST_TOKEN"), false),
            ("future.file", Guarded::Path(Path::new("key.pem")), false),
            ("future.text", Guarded::Text("anything"), true),
            ("sources.codehost.ca_file", Guarded::Text("of another form"), false),
            ("sources.codehost.token_env", Guarded::Text("CODEHOST_TOKEN"), false),
            ("upload.api_key_env", Guarded::Variable("DATABASE_PASSWORD"), true),
            ("uploads.api_key_env", Guarded::Variable("DATABASE_PASSWORD"), false),
            ("bundle.signing.trusted_keys[3]", Guarded::Path(Path::new("/etc/keys.pem")), true),
        ] {
            assert_eq!(found.check(key, &value).is_ok(), allowed, "{key} {value:?}");
            assert!(named.check(key, &value).is_ok(), "{key} {value:?}");
        }
        assert_eq!(declared("sources.cloud.accounts[12].role_arn"), "sources.cloud.accounts.role_arn");
        assert_eq!(declared("a[0].b[1]"), "a.b");
    }
}
