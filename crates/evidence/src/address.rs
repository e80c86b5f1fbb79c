//! The addresses of settings' pages: the only place that gets one from a source, a rule and a subject.

use std::collections::BTreeMap;

use crate::source::place::{Place, Remedy};
use crate::source::{KINDS, SourceKind};

/// The address of each source's API, by the name of the source.
#[derive(Debug, Clone, Default)]
pub struct Addresses(BTreeMap<String, String>);

impl Addresses {
    /// The page where the setting that a check judged is changed, if it has one.
    pub fn page(&self, source: &str, rule: &str, subject: &str) -> Option<String> {
        let (kind, api_url) = self.source(source)?;
        (kind.page)(&Place { api_url, rule, subject })
    }

    /// The one change that repairs every check of this rule and reason, if there is one. `subject` is one of several.
    pub fn remedy(&self, source: &str, rule: &str, reason: &str, subject: &str) -> Option<Remedy> {
        let (kind, api_url) = self.source(source)?;
        (kind.remedy)(&Place { api_url, rule, subject }, reason)
    }

    fn source(&self, name: &str) -> Option<(&'static SourceKind, &str)> {
        let kind = KINDS.iter().find(|kind| kind.name.id() == name)?;
        Some((kind, self.0.get(name)?))
    }
}

impl FromIterator<(String, String)> for Addresses {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(sources: T) -> Addresses {
        Addresses(sources.into_iter().collect())
    }
}
