//! Settings that the hosts refused to show, reported once per reason instead of once per repository.

use std::collections::BTreeMap;
use std::sync::Arc;

use evidence_bundle::document::Warning;

use crate::observation::{ArtifactKind, Observation, Seen, SourceName};
use evidence_rules::rule::{Reason, reason};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The maximum number of subjects that a warning lists.
const NAMED: usize = 5;

/// One refused setting.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The reason.
    pub(crate) reason: &'static Reason,
    kind: &'static ArtifactKind,
    subject: Arc<str>,
    /// The host's message.
    detail: String,
    /// The permission that the host says the request needs.
    permission: Option<String>,
}

impl Refusal {
    /// The refusal, if a refusal is why the observation has no artifact.
    pub(crate) fn of(observation: &Observation) -> Option<Refusal> {
        let Seen::Denied { reason, detail } = &observation.seen else { return None };
        Some(Refusal {
            reason,
            kind: observation.kind,
            subject: Arc::clone(&observation.subject),
            detail: detail.clone(),
            permission: observation.requests.iter().find_map(|asked| asked.permission.clone()),
        })
    }
}

/// Refusals by reason and rule.
#[derive(Debug, Default)]
pub(crate) struct Refusals(BTreeMap<(&'static str, &'static str), Group>);

#[derive(Debug)]
struct Group {
    first: Refusal,
    /// The first subjects.
    named: Vec<Arc<str>>,
    /// The most recent subject: a subject's observations are consecutive.
    last: Arc<str>,
    count: usize,
}

impl Refusals {
    /// Adds a refusal.
    pub(crate) fn add(&mut self, refusal: Refusal) {
        // Count each subject once per rule, however many observations the rule needs.
        let rule = refusal.kind.rules.first().map_or(refusal.kind.name, |rule| rule.code);
        let subject = Arc::clone(&refusal.subject);
        let group = self.0.entry((refusal.reason.code, rule)).or_insert_with(|| Group {
            first: refusal,
            named: Vec::new(),
            last: "".into(),
            count: 0,
        });
        if std::mem::replace(&mut group.last, Arc::clone(&subject)) == subject {
            return;
        }
        group.count += 1;
        if group.named.len() < NAMED {
            group.named.push(subject);
        }
    }

    /// One warning per group.
    pub(crate) fn warnings(self, source: SourceName) -> impl Iterator<Item = Warning> {
        self.0.into_values().map(move |group| group.warning(source))
    }
}

impl Group {
    fn warning(self, source: SourceName) -> Warning {
        let Group { first: Refusal { reason, kind, detail, permission, .. }, named, count, .. } = self;
        let mut names = String::new();
        if count > 1 {
            names =
                format!(" ({}: {}", counted(saturating_u64(count), "subject", "subjects"), named.join(", "));
            if let more @ 1.. = count.saturating_sub(named.len()) {
                names.push_str(&format!(" and {more} more"));
            }
            names.push(')');
        }
        // Without a permission named by the host, use the rule's own advice.
        let needs = match (permission, kind.rules.first()) {
            // No permission helps against a limit of the plan or a block.
            _ if *reason != reason::PERMISSION_DENIED => String::new(),
            (Some(permission), _) => format!(". The host asks for the permission {permission}"),
            (None, Some(rule)) => format!(". {}", rule.permission.trim_end_matches('.')),
            (None, None) => String::new(),
        };
        let message = format!("{}{names}{needs}", detail.trim_end_matches('.'));
        let subject = (count == 1).then(|| named.concat());
        source.warning(reason.code, message, subject.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::MADE_UP as RULE;
    use evidence_http::Asked;
    use jiff::Timestamp;

    static KIND: ArtifactKind = ArtifactKind { name: "made_up", rules: &[&RULE] };

    fn observation(subject: &str, permission: Option<&str>) -> Observation {
        let seen = Seen::Denied { reason: &reason::PERMISSION_DENIED, detail: "made up: no".to_string() };
        let asked = Asked {
            method: "GET",
            path: "/x".to_string(),
            status: Some(403),
            message: None,
            etag: None,
            request_id: None,
            at: Timestamp::UNIX_EPOCH,
            permission: permission.map(str::to_string),
        };
        let requests = vec![asked];
        Observation { requests, ..Observation::new(SourceName::new("s"), &KIND, subject, seen) }
    }

    #[test]
    fn each_reason_is_told_once_with_its_first_subjects() {
        let warnings_of = |subjects: &[&str], permission| {
            let mut refusals = Refusals::default();
            for subject in subjects {
                refusals.add(Refusal::of(&observation(subject, permission)).unwrap());
            }
            refusals
                .warnings(SourceName::new("s"))
                .map(|warning| (warning.message, warning.subject))
                .collect::<Vec<_>>()
        };
        assert_eq!(warnings_of(&["a"], None), [("made up: no. Grant it".to_string(), Some("a".to_string()))]);
        let text = "made up: no (7 subjects: a, b, c, d, e and 2 more). The host asks for the permission \
                    administration=read";
        let many = warnings_of(&["a", "b", "c", "d", "e", "f", "g"], Some("administration=read"));
        assert_eq!(many, [(text.to_string(), None)]);
        assert_eq!(warnings_of(&[], None), []);
    }
}
