//! `GET …/codeowners/errors`: the host's own findings in the effective CODEOWNERS file.

use super::super::contents;
use super::super::part::{Asked, Part};
use super::super::permission::Endpoint;
use super::super::reply::Reply;
use crate::json;
use percent_encoding::percent_decode_str;

// The permission for it is not known for certain.
/// `GET …/codeowners/errors`
pub(super) static ERRORS: Part = Part {
    name: "codeowners_errors",
    path: &["codeowners", "errors"],
    documentation: "https://docs.github.com/rest/repos/repos#list-codeowners-errors",
    permissions: "contents=read",
    refused_as: Some(Endpoint::CodeownersErrors),
    newer: true,
    answer: errors,
};

/// In the host's order: the first existing file is effective.
const PLACES: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

struct Finding<'a> {
    line: usize,
    column: usize,
    kind: &'static str,
    source: &'a str,
    suggestion: Option<String>,
}

/// The answer; 404 without a file.
fn errors(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { repository, who, call, .. } = *asked;
    who.permitted(repository, "contents", ERRORS.documentation)?;
    let reference = call.parameter("ref").filter(|value| !value.is_empty());
    let reference = reference.map(|value| percent_decode_str(value).decode_utf8_lossy().into_owned());
    let branch = reference.as_deref().unwrap_or(&repository.default_branch);
    let found = PLACES.iter().find_map(|path| Some((*path, contents::blob(repository, branch, path)?)));
    let Some((path, content)) = found.filter(|_| repository.has_branch(branch)) else {
        return Err(Reply::not_found(ERRORS.documentation));
    };
    let text = String::from_utf8_lossy(&content);
    let findings = findings(&text, &repository.unknown_owners);
    Ok(Reply::json(json::object(|o| {
        o.array("errors", |a| {
            for finding in &findings {
                a.object(|o| {
                    o.id("line", finding.line as u64);
                    o.id("column", finding.column as u64);
                    o.str("kind", finding.kind);
                    o.str("source", finding.source);
                    o.str_or_null("suggestion", finding.suggestion.as_deref());
                    o.str("message", &finding.message());
                    o.str("path", path);
                });
            }
        });
    })))
}

fn findings<'a>(text: &'a str, unknown: &[String]) -> Vec<Finding<'a>> {
    let mut findings = Vec::new();
    // The source keeps its line feed, as recorded.
    for (at, source) in text.split_inclusive('\n').enumerate() {
        let mut rest = 0;
        for (place, word) in source.split_whitespace().enumerate() {
            if word.starts_with('#') {
                break;
            }
            let start = source.get(rest..).and_then(|tail| tail.find(word)).unwrap_or_default() + rest;
            rest = start + word.len();
            let (kind, suggestion) = match place {
                0 if word.starts_with('!') || word.contains('[') => ("Invalid pattern", None),
                0 => continue,
                _ if !is_owner(word) => ("Invalid owner", None),
                _ if unknown.iter().any(|known| known.eq_ignore_ascii_case(word)) => {
                    let advice = format!("make sure {word} exists and has write access to the repository");
                    ("Unknown owner", Some(advice))
                }
                _ => continue,
            };
            let column = source.get(..start).unwrap_or_default().chars().count() + 1;
            findings.push(Finding { line: at + 1, column, kind, source, suggestion });
        }
    }
    findings
}

/// `@user`, `@organization/team` or an address.
fn is_owner(word: &str) -> bool {
    let named = |name: &str| !name.is_empty() && !name.contains('@');
    match word.strip_prefix('@') {
        Some(name) => name.split('/').all(named) && name.split('/').count() <= 2,
        None => word.split_once('@').is_some_and(|(local, host)| named(local) && named(host)),
    }
}

impl Finding<'_> {
    fn message(&self) -> String {
        let advice = self.suggestion.as_ref().map(|advice| format!(" {advice}")).unwrap_or_default();
        let (line, source) = (self.line, self.source.trim_end_matches('\n'));
        let indent = " ".repeat(self.column + 1);
        format!("{} on line {line}:{advice}\n\n  {source}\n{indent}^", self.kind)
    }
}
