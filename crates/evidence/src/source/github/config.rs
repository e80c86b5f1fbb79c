//! `sources.codehost`: the organization on the code host.

mod address;
mod exclude;
mod include;
mod sign_in;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use self::exclude::EXCLUDE;
pub use self::exclude::Excluded;
use self::include::INCLUDE;
pub use self::include::Include;
pub(super) use self::include::has_topic;
use self::sign_in::{APP_ID, APP_KEY_ENV, APP_KEY_PATH, CLIENT_ID, INSTALLATION_ID, MODE, TOKEN_ENV};
pub use self::sign_in::{AppKey, AppSettings, Issuer, SignIn};
use super::names;
use crate::config::controls::{self, Applied, controls_of, served_by};
use crate::config::period::Period;
use crate::config::shared::{self, TIMEOUT_SECONDS};
use crate::origin::OwnHosts;
use crate::source::Source;
use evidence_rules::codehost as rules;
use evidence_rules::codehost::branch_protection::branch_of;
use evidence_rules::rule::{Rule, Settings};
use evidence_settings::declare::{DefaultValue, Format, Key, PATH, Section, Shape, URL, Vocabulary};
use evidence_settings::decode::map::TextOrMap;
use evidence_settings::decode::{Decoder, Everything, Fields, Placed};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// The provider's own address.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://api.github.com`",
    is_own: |host| host == "api.github.com",
    mistaken: address::mistaken,
};

/// The controls this source can serve.
static SERVED: Vocabulary = controls_of(|context| served_by(context, rules::RULES.rules));

/// `sources.codehost`
#[derive(Debug, Clone)]
pub struct CodeHostConfig {
    /// `mode` and its keys: how the run signs in.
    pub sign_in: SignIn,
    /// `org`: the organization.
    pub org: String,
    /// `repos`
    pub repos: Repositories,
    /// `exclude`: the repositories to leave out.
    pub exclude: Vec<Excluded>,
    /// `include`: what a repository must be to be read.
    pub include: Option<Include>,
    /// `branch`: the branch whose protection is read in every repository.
    pub branch: Branch,
    /// The numbers that its rules judge by.
    pub rule_settings: Settings,
    /// The rules required by this source's `controls`, or by the top-level list as far as this source serves it.
    pub rules: Vec<&'static Rule>,
    /// `rate_limit_pause`: wait for the reset when the limit is nearly used up.
    pub rate_limit_pause: bool,
    /// `timeout_seconds` of one request.
    pub timeout: Duration,
    /// `api_url`: base of the API, https (or loopback), no trailing slash. `CODEHOST_API_URL` overrides it.
    pub api_url: Url,
    /// Where the address is set: the key, or the variable that overrides it.
    pub api_url_key: &'static str,
    /// `max_concurrency`: requests in flight, 1 to 100.
    pub max_concurrency: NonZeroUsize,
    /// `requests_per_minute`; 0 means unpaced.
    pub requests_per_minute: u32,
    /// `ca_file`: additional root certificates, PEM.
    pub ca_file: Option<PathBuf>,
    /// `revalidate`: keep the host's answers, and revalidate them in the next run.
    pub revalidate: bool,
    /// `bulk`: read the facts of many repositories with one query.
    pub bulk: bool,
    /// `codeowners_errors`: read which owners are unknown to the host.
    pub codeowners_errors: bool,
    /// `exempt_pushers`: the accounts that may push to the branch.
    pub exempt_pushers: Vec<String>,
    /// The period for rules about events.
    pub period: Period,
    /// `accept_unconfirmed`: a bundle is complete although the host does not report how many repositories there are.
    pub accept_unconfirmed: bool,
}

/// `sources.codehost.branch`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// Not set: `main`. If the repository has another default branch, the check says so.
    Unset,
    /// `~DEFAULT_BRANCH`: each repository's own.
    Default,
    /// This branch in every repository.
    Named(String),
    /// A branch for each pattern of repositories, with their organization; one of them matches all.
    ByPattern(Vec<(String, Branch)>),
}

impl Branch {
    /// The value as written in the configuration.
    pub fn setting(&self) -> Value {
        match self {
            Branch::Unset => Value::Null,
            Branch::Default => names::DEFAULT_BRANCH.into(),
            Branch::Named(name) => name.as_str().into(),
            Branch::ByPattern(branches) => {
                branches.iter().map(|(pattern, branch)| (pattern.clone(), branch.setting())).collect()
            }
        }
    }

    /// The value for this repository.
    pub(super) fn of(&self, subject: &str) -> &Branch {
        let Branch::ByPattern(branches) = self else { return self };
        let patterns = branches.iter().map(|(pattern, branch)| (pattern.as_str(), branch));
        branch_of(patterns, subject).unwrap_or(&Branch::Unset)
    }
}

/// The branch that is checked by default.
pub(super) const FALLBACK_BRANCH: &str = "main";

/// `sources.codehost.repos`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repositories {
    /// `"*"`: every repository that discovery lists.
    All,
    /// Names without the organization, in the order of the file, unique under ASCII case folding.
    Listed(Vec<String>),
}

keys! {
    /// The key of this source.
    pub(crate) KEY = optional_section(names::NAME.id(), &SECTION)
        also &["github", "gh", "code_host", "git", "githost", "scm", "vcs"];
    ORG = required("org", Shape::Text(Format::Custom(&names::ORGANIZATION)), "The organization.")
        rule "1 to 100 letters, digits, `-`, `_` and `.`", example "acme",
        also &["organization", "organisation", "owner", "orgs"];
    REPOS = required("repos", Shape::EverythingOr(Format::Custom(&names::REPOSITORY)),
        "The repositories: a list of org/repo, or \"*\" (in quotes) for all repositories of the \
         organization.")
        rule "each entry belongs to `org` and appears once; case does not count",
        example "[acme/web, acme/api]", also &["repositories", "repository", "projects"];
    BRANCH = derived("branch", "`main`, unless the repository is known to have another default branch",
        Shape::TextOrMap { of: Format::Custom(&names::BRANCH), names: Format::Custom(&names::BRANCH_PATTERN) },
        "The branch that is checked: the same name in every repository, or ~DEFAULT_BRANCH for each \
         repository's default branch. Or a mapping from patterns of repositories to branches.")
        rule "`~DEFAULT_BRANCH`, or a valid branch name without `refs/heads/`; of the patterns that match, the longest \
              counts, and `\"*\"` is for all others", example "~DEFAULT_BRANCH",
        also &["default_branch", "ref"];
    RATE_LIMIT_PAUSE = boolean("rate_limit_pause", true,
        "Wait for the reset when the rate limit is nearly used up, instead of failing.")
        example "true", also &["pause"];
    API_URL = default("api_url", DefaultValue::Text("https://api.github.com"), URL,
        "The base URL of the API; on a self-hosted server usually https://HOST/api/v3.")
        rule "https, or http on loopback; no user, query or fragment; `CODEHOST_API_URL` overrides it",
        example "https://code.example.com/api/v3", also &["url", "base_url", "host", "endpoint", "api"];
    MAX_CONCURRENCY = integer("max_concurrency", 32, 1..=100, "The maximum number of requests in flight.")
        example "32", also &["concurrency", "parallelism", "jobs"];
    REQUESTS_PER_MINUTE = integer("requests_per_minute", 900, 0..=100_000,
        "The maximum number of requests per minute; 0 means unlimited.")
        example "900", also &["rate", "rpm", "rate_limit"];
    CA_FILE = optional("ca_file", PATH,
        "A PEM file with additional root certificates, for a self-hosted code host.")
        example "/etc/ssl/certs/company.pem", also &["ca", "ca_cert", "cacert", "ca_bundle"];
    REVALIDATE = boolean("revalidate", false,
        "Store answers in the cache directory, and ask the host only whether they have changed. Unchanged \
         answers do not count towards the rate limit.")
        rule "the records are in `$XDG_CACHE_HOME/evidence` or `~/.cache/evidence`, readable only by their \
         owner",
        example "true", also &["cache", "etag", "conditional", "incremental"];
    BULK = boolean("bulk", false,
        "Read branch protection and CODEOWNERS of 50 repositories with one query to the host's GraphQL interface, and \
         only the rest one by one.")
        rule "worth it from about 1,000 repositories; a host without the interface is read one by one", example "true",
        also &["graphql", "batch", "bulk_read"];
    CODEOWNERS_ERRORS = boolean("codeowners_errors", false,
        "Ask the host for the errors it finds in each CODEOWNERS file, and do not count owners that it \
         calls unknown.")
        rule "one more request for each repository whose file has a default rule", example "true",
        also &["check_owners", "verify_owners"];
    EXEMPT_PUSHERS = default("exempt_pushers", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Custom(&names::LOGIN), may_be_empty: true },
        "The accounts that may push to the branch past pull requests, such as a program that releases, for `no-direct-push`.")
        rule "each once; case does not count; the bundle records them", example "[release-bot]", also &["exempt"];
    ACCEPT_UNCONFIRMED = boolean("accept_unconfirmed", false,
        "Accept that the host does not report how many repositories the organization has: a bundle can then \
         be complete although nothing confirms the list.")
        rule "the bundle records the setting", example "true", also &["unconfirmed"];
}
static CONTROLS: Key = shared::controls("the top-level `controls`", &SERVED);

/// `sources.codehost`
static SECTION: Section = Section::new(
    "sources.codehost",
    "The code host: organization settings, branch protection, CODEOWNERS.",
    &[
        &MODE,
        &TOKEN_ENV,
        &APP_ID,
        &CLIENT_ID,
        &APP_KEY_PATH,
        &APP_KEY_ENV,
        &INSTALLATION_ID,
        &ORG,
        &REPOS,
        &EXCLUDE,
        &INCLUDE,
        &BRANCH,
        &CONTROLS,
        &RATE_LIMIT_PAUSE,
        &TIMEOUT_SECONDS,
        &API_URL,
        &MAX_CONCURRENCY,
        &REQUESTS_PER_MINUTE,
        &CA_FILE,
        &REVALIDATE,
        &BULK,
        &CODEOWNERS_ERRORS,
        &EXEMPT_PUSHERS,
        &ACCEPT_UNCONFIRMED,
    ],
);

/// The code host.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    applied: &Applied<'_>,
) -> Option<Arc<dyn Source>> {
    let sign_in = sign_in::decode(decoder, fields);
    let org = decoder.text(fields, &ORG);
    let repos = decoder.everything_or_list(fields, &REPOS);
    let repos = match repos {
        Some(Everything::All) => Some(Repositories::All),
        Some(Everything::Listed(entries)) => {
            of_organization(decoder, org.as_ref(), entries, |name| name).map(Repositories::Listed)
        }
        None => None,
    };
    let exclude = exclude::decode(decoder, fields);
    let exclude = exclude.and_then(|entries| {
        of_organization(decoder, org.as_ref(), entries, |excluded: &mut Excluded| &mut excluded.pattern)
    });
    let include = include::decode(decoder, fields);
    let include = include.and_then(|include| match include {
        None => Some(None),
        Some((include, patterns)) => {
            let repositories = of_organization(decoder, org.as_ref(), patterns, |name| name)?;
            Some(Some(Include { repositories, ..include }))
        }
    });
    let of_list = matches!(repos, Some(Repositories::Listed(_))) && fields.has(&INCLUDE);
    if of_list {
        let complaint = Complaint::new("`include` has no meaning with a list in `repos`")
            .help("write `repos: \"*\"`, or remove `include`");
        decoder.problems.add(fields.place(), INCLUDE.path_in(&SECTION), complaint);
    }
    let branch = branches(decoder, fields, org.as_ref());
    let rules = controls::wanted(decoder, fields, &CONTROLS, rules::RULES.rules, applied);
    let rate_limit_pause = decoder.boolean(fields, &RATE_LIMIT_PAUSE);
    let timeout = decoder.seconds(fields, &TIMEOUT_SECONDS);
    let api_url = decoder.text(fields, &API_URL);
    let api_url = address::effective(decoder, api_url);
    let max_concurrency = decoder.integer::<usize>(fields, &MAX_CONCURRENCY);
    let requests_per_minute = decoder.integer(fields, &REQUESTS_PER_MINUTE);
    let ca_file = decoder.path(fields, &CA_FILE);
    let revalidate = decoder.boolean(fields, &REVALIDATE);
    let bulk = decoder.boolean(fields, &BULK);
    let codeowners_errors = decoder.boolean(fields, &CODEOWNERS_ERRORS);
    let exempt_pushers = decoder.list(fields, &EXEMPT_PUSHERS);
    let accept_unconfirmed = decoder.boolean(fields, &ACCEPT_UNCONFIRMED);
    let (address, api_url_key) = api_url?;
    Some(Arc::new(CodeHostConfig {
        rule_settings: applied.settings.clone(),
        sign_in: sign_in?,
        org: org?.value,
        repos: repos?,
        exclude: exclude?,
        include: include.filter(|_| !of_list)?,
        branch: branch?,
        rules: rules?,
        rate_limit_pause: rate_limit_pause?,
        timeout: timeout?,
        api_url: address,
        api_url_key,
        max_concurrency: NonZeroUsize::new(max_concurrency?)?,
        requests_per_minute: requests_per_minute?,
        ca_file,
        revalidate: revalidate?,
        bulk: bulk?,
        codeowners_errors: codeowners_errors?,
        exempt_pushers: exempt_pushers?.into_iter().map(|login| login.value).collect(),
        period: applied.period,
        accept_unconfirmed: accept_unconfirmed?,
    }))
}

/// The value of `branch`.
fn branches(decoder: &mut Decoder<'_, '_>, fields: &Fields, org: Option<&Placed<String>>) -> Option<Branch> {
    let named = |Placed { value, .. }: Placed<String>| {
        if value == names::DEFAULT_BRANCH { Branch::Default } else { Branch::Named(value) }
    };
    if !fields.has(&BRANCH) {
        return Some(Branch::Unset);
    }
    let map = match decoder.text_or_map(fields, &BRANCH)? {
        TextOrMap::Text(text) => return Some(named(text)),
        TextOrMap::Map(map) => map,
    };
    let org = &org?.value;
    let (mut branches, mut rest) = (Vec::new(), false);
    let mut is_good = true;
    for (Placed { value: pattern, place, path }, branch) in map {
        rest |= pattern == names::EVERY_OTHER;
        if let Some((owner, name)) =
            pattern.split_once('/').filter(|(owner, _)| !owner.eq_ignore_ascii_case(org))
        {
            let complaint = Complaint::new(format!(
                "{} does not belong to the organization `{org}`",
                quote(&format!("{owner}/{name}"))
            ));
            decoder.problems.add(place, path, complaint.help(format!("write `{org}/{name}`, or remove it")));
            is_good = false;
        }
        branches.push((pattern, named(branch)));
    }
    if !rest {
        let complaint =
            Complaint::new("`branch` does not say which branch of the other repositories is checked")
                .help(format!("add `\"*\": {}`, or another branch", names::DEFAULT_BRANCH));
        decoder.problems.add(fields.place(), BRANCH.path_in(&SECTION), complaint);
        return None;
    }
    is_good.then_some(Branch::ByPattern(branches))
}

/// Repositories, or patterns of them, without their organization, which must be `org`; each once.
fn of_organization<T>(
    decoder: &mut Decoder<'_, '_>,
    org: Option<&Placed<String>>,
    entries: Vec<Placed<T>>,
    name_of: fn(&mut T) -> &mut String,
) -> Option<Vec<T>> {
    let org = &org?.value;
    let (mut kept, mut seen) = (Vec::new(), HashSet::new());
    for Placed { mut value, place, path } in entries {
        let full = name_of(&mut value);
        // An invalid name has been reported already.
        let Some((owner, name)) = full.split_once('/') else { continue };
        let complaint = if !owner.eq_ignore_ascii_case(org) {
            Complaint::new(format!("{} does not belong to the organization `{org}`", quote(full)))
                .help(format!("write `{org}/{name}`, or remove it: one run collects from one organization"))
        } else if seen.insert(name.to_ascii_lowercase()) {
            *full = name.to_owned();
            kept.push(value);
            continue;
        } else {
            Complaint::new(format!("{} is listed twice", quote(full))).help("remove one of them")
        };
        decoder.problems.add(place, path, complaint);
    }
    Some(kept)
}
