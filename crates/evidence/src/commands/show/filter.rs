//! Which checks are shown.

use evidence_bundle::Status;
use evidence_bundle::document::Check;

use crate::cli::{ShowArgs, StatusName};

/// Which checks are shown: an empty list means all, several entries mean any of them.
pub(super) struct Filter {
    statuses: Vec<Status>,
    controls: Vec<String>,
    rules: Vec<String>,
    sources: Vec<String>,
    subjects: Vec<String>,
}

impl Filter {
    pub(super) fn new(args: &ShowArgs) -> Filter {
        let status = |name: &StatusName| match name {
            StatusName::Pass => Status::Pass,
            StatusName::Fail => Status::Fail,
            StatusName::NotVerifiable => Status::NotVerifiable,
            StatusName::NotApplicable => Status::NotApplicable,
        };
        Filter {
            statuses: args.status.iter().map(status).collect(),
            controls: args.control.clone(),
            rules: args.rule.clone(),
            sources: args.source.clone(),
            subjects: args.subject.clone(),
        }
    }

    pub(super) fn has_control(&self, id: &str) -> bool {
        is_any(&self.controls, id)
    }

    pub(super) fn matches(&self, check: &Check) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&check.status))
            && is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && (self.subjects.is_empty() || self.subjects.iter().any(|glob| matches(glob, &check.subject)))
    }
}

fn is_any(wanted: &[String], text: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(text))
}

/// Whether `text` has the form of `glob`: `*` stands for any characters, `/` too, and `?` for one. Case does not count:
/// hosts ignore it in names.
fn matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Where the last star is, and where the text goes on behind what it stands for.
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = text.get(place) {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || wanted.eq_ignore_ascii_case(character) => {
                at += 1;
                place += 1;
            }
            Some(_) | None => match &mut star {
                Some((star_at, behind)) => {
                    *behind += 1;
                    (at, place) = (*star_at + 1, *behind);
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, text, expected) in [
            ("acme/web", "acme/web", true),
            ("acme/web", "ACME/Web", true),
            ("acme/web", "acme/web2", false),
            ("acme/*", "acme/web", true),
            ("*web*", "acme/web/main", true),
            ("*b", "acme/web", true),
            ("*x", "acme/web", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("acme/w?b", "acme/wéb", true),
            ("?", "", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
        // Without looking back over and over.
        assert!(!matches(&"*a".repeat(50), &"a".repeat(10_000).replace("aaaa", "aaab")));
    }
}
