//! The questions of the page.

use evidence_bundle::{Expectations, Status, TrustRoot};
use evidence_view::{CheckFilter, MemberFilter, terms};
use serde::Deserialize;

/// A question.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Question {
    /// Is this page unchanged since it was written?
    Page {
        /// The page, as the browser read it.
        html: String,
    },
    /// Is the bundle what a trusted key signed?
    Verify(Terms),
    /// A file of the verified bundle: its text, or its bytes with `download`.
    File { path: String, download: bool },
    /// The report, made from the documents of the verified bundle: to show in a frame, or as it is with `download`.
    Report { download: bool },
    /// The signer's report, without anything that acts.
    AsSigned,
    /// The names of files.
    Files { search: String, skip: usize },
    /// Matching checks.
    Checks {
        filter: Filter,
        /// How many matches to skip.
        skip: usize,
        sample: Option<SampleOf>,
        /// Whether to return all of them as a table.
        table: bool,
    },
    /// Matching members of the population.
    Population { filter: Members, skip: usize, sample: Option<SampleOf>, table: bool },
}

/// The trusted keys and the requirements for the bundle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    /// The name of the bundle's file.
    #[serde(default)]
    pub(crate) name: String,
    /// Files with public keys, and pasted ones.
    public_keys: Vec<KeyFile>,
    allowed_signers: Option<KeyFile>,
    /// Fingerprints, separated by white space.
    fingerprints: String,
    /// The list of revoked keys.
    revoked_keys: Option<KeyFile>,
    organization: String,
    max_age: String,
    /// The current time in Unix seconds.
    now: i64,
}

/// A file with keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    name: String,
    /// Its text; absent if it is not UTF-8.
    text: Option<String>,
}

impl KeyFile {
    fn contents(&self) -> Result<&[u8], Refused> {
        match &self.text {
            Some(text) if u64::try_from(text.len()).is_ok_and(|length| length > terms::KEY_FILE_BYTES) => {
                Err(Refused { message: terms::too_large(&self.name), help: terms::KEY_HELP })
            }
            Some(text) => Ok(text.as_bytes()),
            // Also not UTF-8, so that it is refused like the file.
            None => Ok(&[0xff]),
        }
    }
}

/// Why a question cannot be answered, with advice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

impl Terms {
    /// The trust root and the expectations. As on the command line, kinds of keys cannot be combined.
    pub(crate) fn read(&self) -> Result<(TrustRoot, Expectations), Refused> {
        let kinds = [
            !self.public_keys.is_empty(),
            self.allowed_signers.is_some(),
            !self.fingerprints.trim().is_empty(),
        ];
        if kinds.into_iter().filter(|given| *given).count() > 1 {
            return Err(Refused {
                message: "public keys, allowed signers and fingerprints are not combined".to_owned(),
                help: "leave only one of them",
            });
        }
        let mut trust = TrustRoot::new();
        let untrusted = |error| Refused { message: terms::cannot_trust(&error), help: terms::KEY_HELP };
        for file in &self.public_keys {
            trust.add_public_keys(file.name.clone(), file.contents()?).map_err(untrusted)?;
        }
        if let Some(file) = &self.allowed_signers {
            trust.add_allowed_signers(file.name.clone(), file.contents()?).map_err(untrusted)?;
        }
        for fingerprint in self.fingerprints.split_whitespace() {
            trust.add_fingerprint(fingerprint).map_err(untrusted)?;
        }
        if let Some(file) = &self.revoked_keys {
            let unusable =
                |error| Refused { message: terms::cannot_revoke(&error), help: terms::REVOKED_HELP };
            trust.add_revoked_keys(file.name.clone(), file.contents()?).map_err(unusable)?;
        }
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let max_age = given(&self.max_age).map(|text| {
            terms::age(&text).ok_or_else(|| Refused {
                message: format!("the maximum age {text} is not a duration"),
                help: terms::AGE_HELP,
            })
        });
        let expectations = Expectations {
            organization: given(&self.organization),
            max_age: max_age.transpose()?,
            now: Some(self.now),
            judgement: false,
        };
        Ok((trust, expectations))
    }
}

/// A filter of checks; an empty text matches all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    status: Option<Status>,
    criterion: String,
    control: String,
    rule: String,
    source: String,
    subject: String,
}

impl Filter {
    pub(crate) fn checks(self) -> CheckFilter {
        CheckFilter {
            statuses: self.status.into_iter().collect(),
            controls: list(&self.control),
            criteria: list(&self.criterion),
            rules: list(&self.rule),
            sources: list(&self.source),
            subjects: list(&self.subject),
        }
    }
}

/// A filter of members of the population; an empty text matches all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Members {
    source: String,
    kind: String,
    name: String,
    in_scope: bool,
}

impl Members {
    pub(crate) fn members(self) -> MemberFilter {
        MemberFilter {
            sources: list(&self.source),
            kinds: list(&self.kind),
            names: list(&self.name),
            in_scope: self.in_scope,
        }
    }
}

/// A list of at most one entry.
fn list(text: &str) -> Vec<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect()
}

/// A sample of the matches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleOf {
    pub(crate) seed: String,
    pub(crate) count: usize,
}
