//! Observations that were made together, as a verifier finds them in a bundle.

use std::sync::Arc;

use evidence_bundle::document::Outcome;

use super::facts::Artifact;
use super::subjects::SubjectNumber;
use crate::inspection::{ArtifactKind, Facts, Judgement, Observed, Shown};
use crate::rule::{Judge, Reason, Rule, Settings, Verdict, judged, reason};

/// A row of `derived/observations.json`, with its artifact once that was read.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: &'static ArtifactKind,
    pub(super) subject: Arc<str>,
    /// The number of the subject.
    pub(super) number: SubjectNumber,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<&'static Reason>,
    pub(super) detail: Box<str>,
    /// What a check that rests on it refers to, as a hash.
    pub(super) basis: u64,
    pub(super) facts: Facts,
    pub(super) artifact: Option<Artifact>,
}

impl Row {
    /// The row as judgement sees it.
    pub(super) fn observed(&self) -> Observed<'_> {
        Observed { kind: self.kind, subject: Arc::clone(&self.subject), shown: self.shown() }
    }

    pub(super) fn shown(&self) -> Shown<'_> {
        let reason = self.reason.unwrap_or(&reason::HOST_ERROR);
        match self.outcome {
            Outcome::Artifact => Shown::Artifact,
            Outcome::Nothing => Shown::Nothing(reason, &self.detail),
            Outcome::Denied => Shown::Denied(reason, &self.detail),
            Outcome::Excluded => Shown::Excluded(&self.detail),
            Outcome::Failed | Outcome::NotAsked | Outcome::Listed => Shown::Failed(reason, &self.detail),
        }
    }

    /// The judgements of rules over the same facts on the subject of this row.
    pub(super) fn judged_by<F>(
        &self,
        judges: &'static [&'static Judge<F>],
        facts: &F,
        settings: &Settings,
    ) -> Vec<Judgement> {
        judged(judges, facts, settings).map(|(rule, verdict)| self.judged(rule, verdict)).collect()
    }

    /// A judgement on the subject of this row.
    pub(super) fn judged(&self, rule: &'static Rule, verdict: Verdict) -> Judgement {
        Judgement { rule, subject: Arc::clone(&self.subject), verdict }
    }
}

/// What the signed documents say of the subject beside its observations.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgeContext<'a> {
    /// The settings of the rules.
    pub(super) rules: &'a Settings,
    /// Whether what was not read because of the bundle's own settings stays open.
    pub(super) only_read: bool,
    /// The settings of the source.
    pub(super) settings: SourceSettings<'a>,
    /// The default branch of the repository.
    pub(super) default_branch: Option<&'a str>,
    /// Whether the repository is archived.
    pub(super) archived: bool,
}

/// The settings of a source.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SourceSettings<'a>(
    pub(super) Option<&'a std::collections::BTreeMap<String, serde_json::Value>>,
);

impl<'a> SourceSettings<'a> {
    pub(super) fn get(self, name: &str) -> Option<&'a serde_json::Value> {
        self.0?.get(name)
    }
}

/// What follows from the observations of a group.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) judgements: Vec<Judgement>,
    pub(super) exempt: Option<&'static Reason>,
}
