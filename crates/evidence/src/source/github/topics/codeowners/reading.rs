//! What the host's answers say about the CODEOWNERS file.

use std::collections::HashSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use evidence_bundle::document::Warning;

use super::contents::{File, NotAFile};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Meta, RequestFailure};
use evidence_rules::codehost::codeowners::{self, CodeOwners, OwnersFacts};
use evidence_rules::codehost::record::CodeownersFile;
use evidence_rules::codehost::{self as rules, OF_OWNERS, artifact};
use evidence_rules::rule::{Settings, Verdict};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The result of reading the CODEOWNERS file.
#[derive(Debug, Clone)]
pub(super) struct CodeownersReading {
    pub(super) observation: Observation,
    pub(super) found: FoundFile,
}

/// The CODEOWNERS file, if one was found.
#[derive(Debug, Clone)]
pub(super) enum FoundFile {
    /// The file in effect.
    File {
        /// Its path.
        path: String,
        /// The parsed content.
        owners: CodeOwners,
    },
    /// The repository is empty.
    Empty,
    /// Every answer was "Not Found", which may refer to the repository.
    NotFound,
    /// There is no file, or it was not read: the observation has the reason.
    Unread,
}

impl CodeownersReading {
    pub(super) fn unread(target: RepositoryName<'_>, seen: Seen) -> CodeownersReading {
        let observation = target.observation(&artifact::CODEOWNERS, seen);
        CodeownersReading { observation, found: FoundFile::Unread }
    }

    pub(super) fn failed(target: RepositoryName<'_>, failure: &RequestFailure) -> CodeownersReading {
        CodeownersReading::unread(target, refusal::failed("CODEOWNERS", failure))
    }

    /// Adds warnings.
    pub(super) fn warned(mut self, warnings: Vec<Warning>) -> CodeownersReading {
        self.observation.warnings.extend(warnings);
        self
    }

    /// Judges the file without the owners that the host calls unknown.
    pub(super) fn judged(
        self,
        target: RepositoryName<'_>,
        unknown: HashSet<(usize, String)>,
        settings: &Settings,
    ) -> Inspection {
        let CodeownersReading { observation, found } = self;
        let subject = Arc::clone(&observation.subject);
        let inspection = Inspection::from(observation);
        match found {
            FoundFile::File { path, owners } => {
                let facts = OwnersFacts { path, organization: target.owner.to_string(), owners, unknown };
                inspection.concluded_by(OF_OWNERS, &subject, &facts, settings)
            }
            FoundFile::Empty => {
                let empty = &rules::reason::EMPTY_REPOSITORY;
                let verdict = Verdict::not_applicable(empty, "the repository is empty");
                inspection.concluded_alike(OF_OWNERS, &subject, &verdict)
            }
            FoundFile::NotFound | FoundFile::Unread => inspection,
        }
    }
}

/// No location has a file. `other` is something else that was found in a location.
pub(super) fn no_file(other: Option<(&str, NotAFile)>) -> Seen {
    match other {
        Some((place, what)) => Seen::Nothing {
            reason: &rules::default_owners::CODEOWNERS_NOT_A_FILE,
            detail: format!("{place} is {what}"),
        },
        None => Seen::Nothing {
            reason: &rules::default_owners::CODEOWNERS_MISSING,
            detail: "CODEOWNERS not found in .github/, the root or docs/".to_string(),
        },
    }
}

/// Interprets a file's record; `None` if it omits the content.
pub(super) fn file_shown(
    target: RepositoryName<'_>,
    place: &str,
    file: &File,
    meta: &Meta,
) -> Option<CodeownersReading> {
    if file.size.is_some_and(codeowners::is_too_large) {
        return Some(CodeownersReading::unread(target, too_large(place, file.size)));
    }
    let content = file.content.as_deref().unwrap_or_default();
    let is_base64 = file.encoding.as_deref().is_none_or(|encoding| encoding.eq_ignore_ascii_case("base64"));
    if !is_base64 || (content.is_empty() && file.size.is_some_and(|size| size > 0)) {
        // Records of files over 1 MB omit the content.
        return None;
    }
    // The host wraps the text after 60 characters, which a strict decoder would refuse.
    let stripped: Vec<u8> = content.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let decoded = match BASE64.decode(&stripped) {
        Ok(decoded) => decoded,
        Err(error) => {
            let text = format!("{place}: the content is not base64: {error}");
            return Some(CodeownersReading::unread(target, refusal::unusable(meta, text)));
        }
    };
    let length = saturating_u64(decoded.len());
    let said = file.size.filter(|size| *size != length);
    let mut reading = codeowners_artifact(target, place, Some(file), decoded, meta);
    if let Some(size) = said {
        // The answer was complete, or it would not be valid JSON. Judge the content, and warn of the difference.
        let text = format!("{place}: received {length} bytes, but the host reported {size}");
        reading.observation.warnings.push(target.warning("codeowners_size_differs", text));
    }
    Some(reading)
}

pub(super) fn codeowners_artifact(
    target: RepositoryName<'_>,
    place: &str,
    file: Option<&File>,
    decoded: Vec<u8>,
    meta: &Meta,
) -> CodeownersReading {
    let owners = CodeOwners::parse(&decoded);
    let size = saturating_u64(decoded.len());
    let record = CodeownersFile {
        name: file.and_then(|file| file.name.clone()).unwrap_or_else(|| "CODEOWNERS".to_string()),
        path: file.and_then(|file| file.path.clone()).unwrap_or_else(|| place.to_string()),
        content: BASE64.encode(&decoded),
        encoding: "base64".into(),
        size,
    };
    let lines = owners.invalid.iter().map(|invalid| invalid.line);
    let malformed = owners.rules.iter().filter(|rule| rule.malformed > 0).map(|rule| rule.line);
    let warn = |code: &str, lines: Vec<usize>, one: &str, many: &str| {
        let first = lines.iter().min()?;
        let count = counted(saturating_u64(lines.len()), one, many);
        Some(target.warning(code, format!("{place}: the host ignores {count}, the first is line {first}")))
    };
    let warnings = [
        warn("codeowners_invalid_lines", lines.collect(), "invalid line", "invalid lines"),
        warn(
            "codeowners_invalid_owners",
            malformed.collect(),
            "line's malformed owner",
            "lines' malformed owners",
        ),
    ];
    let name = target.artifact_name(artifact::CODEOWNERS.name);
    let seen = Seen::artifact(NAME, &name, &record, Some(decoded), meta);
    let found = match seen.path() {
        Some(_) => FoundFile::File { path: record.path, owners },
        None => FoundFile::Unread,
    };
    let mut observation = target.observation(&artifact::CODEOWNERS, seen);
    observation.warnings.extend(warnings.into_iter().flatten());
    CodeownersReading { observation, found }
}

pub(super) fn too_large(place: &str, size: Option<u64>) -> Seen {
    let size = size.map_or_else(|| "more than 3 MB".to_string(), |size| format!("{size} bytes"));
    let detail = format!("{place}: {size}, but the host ignores CODEOWNERS files over 3 MB");
    Seen::Nothing { reason: &rules::default_owners::CODEOWNERS_TOO_LARGE, detail }
}
