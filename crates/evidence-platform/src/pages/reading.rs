//! Reading the documents of a bundle for a page: of a list of any length only what a page can show is kept, the rest is
//! counted.
//!
//! Nothing here holds a whole list in memory, because a bundle of 50,000 repositories has 300,000 checks.

use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

use evidence_bundle::Status;
use evidence_bundle::document::{
    ArtifactRecord, Check, ErrorRecord, Excluded, Hint, Hints, Manifest, Normalized, NormalizedControl,
    Severity, SourceRun, Warning,
};
use serde::Deserialize;

use super::words::{neat, number};
use crate::bounded;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Items of a list that a page shows. More are counted and named as a number.
pub(super) const SHOWN: usize = 200;
/// Files that a page names as the evidence of one check or hint.
const EVIDENCE: usize = 20;

/// What becomes of the items of a list while it is read.
pub(super) trait Fold: Default {
    /// What the list holds.
    type Item: DeserializeOwned;

    /// Takes the next item.
    fn take(&mut self, item: Self::Item);
}

/// A list that was read item by item.
#[derive(Debug, Default)]
pub(super) struct Folded<F>(pub(super) F);

impl<'de, F: Fold> Deserialize<'de> for Folded<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Folded<F>, D::Error> {
        let mut fold = F::default();
        deserializer.deserialize_seq(Items(|item| fold.take(item), PhantomData))?;
        Ok(Folded(fold))
    }
}

/// Hands the items of a list on, one by one.
struct Items<T, F>(F, PhantomData<T>);

impl<'de, T: DeserializeOwned, F: FnMut(T)> Visitor<'de> for Items<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(item) = list.next_element()? {
            self.0(item);
        }
        Ok(())
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T)> DeserializeSeed<'de> for Items<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

/// An object of whose fields only one list counts.
struct Field<'n, T, F>(&'n str, Items<T, F>);

impl<'de, T: DeserializeOwned, F: FnMut(T)> Visitor<'de> for Field<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a list called {}", self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Field(name, items) = self;
        let mut items = Some(items);
        while let Some(key) = map.next_key::<String>()? {
            match items.take_if(|_| key == name) {
                Some(items) => map.next_value_seed(items)?,
                None => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

/// Hands every artifact that a manifest lists to `take`. `None` if the manifest is not of the known form.
pub(super) fn each_artifact(contents: &mut dyn Read, take: impl FnMut(ArtifactRecord)) -> Option<()> {
    let mut reader = serde_json::Deserializer::from_reader(bounded::reader(contents));
    (&mut reader).deserialize_map(Field("artifacts", Items(take, PhantomData))).ok()
}

/// What a page prints of a stranger's, made short and harmless.
pub(super) trait Neat {
    /// Shortens what is long and writes out what deceives.
    fn neaten(&mut self);
}

impl Neat for Check {
    fn neaten(&mut self) {
        for text in [&mut self.rule, &mut self.source, &mut self.subject, &mut self.reason] {
            neat(text);
        }
        self.expected.iter_mut().chain(&mut self.actual).for_each(neat);
        self.evidence.truncate(EVIDENCE);
    }
}

impl Neat for Hint {
    fn neaten(&mut self) {
        for text in [&mut self.id, &mut self.control, &mut self.source, &mut self.subject] {
            neat(text);
        }
        for text in [&mut self.title, &mut self.detail, &mut self.remediation] {
            neat(text);
        }
        self.evidence.truncate(EVIDENCE);
    }
}

impl Neat for ErrorRecord {
    fn neaten(&mut self) {
        for text in [&mut self.code, &mut self.message, &mut self.source, &mut self.subject] {
            neat(text);
        }
    }
}

impl Neat for Excluded {
    fn neaten(&mut self) {
        neat(&mut self.filename);
        neat(&mut self.rule);
    }
}

impl Neat for Warning {
    fn neaten(&mut self) {
        neat(&mut self.code);
        neat(&mut self.message);
        self.subject.iter_mut().for_each(neat);
    }
}

impl Neat for SourceRun {
    fn neaten(&mut self) {
        neat(&mut self.name);
    }
}

impl Neat for ArtifactRecord {
    fn neaten(&mut self) {
        for text in [&mut self.source, &mut self.artifact_type, &mut self.collected_at, &mut self.subject] {
            neat(text);
        }
        neat(&mut self.request.path);
        self.request.etag.iter_mut().chain(&mut self.request.request_id).for_each(neat);
        self.controls.truncate(EVIDENCE);
        self.controls.iter_mut().for_each(neat);
    }
}

/// The first items of a list.
#[derive(Debug)]
pub(super) struct First<T> {
    /// The first [`SHOWN`].
    pub(super) items: Vec<T>,
    /// How many more there are.
    pub(super) more: usize,
}

impl<T> Default for First<T> {
    fn default() -> First<T> {
        First { items: Vec::new(), more: 0 }
    }
}

impl<T> First<T> {
    /// How many there are, shown or not.
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.items.len().saturating_add(self.more)).unwrap_or(u64::MAX)
    }

    /// What is said behind a list of which not everything is shown.
    pub(super) fn rest(&self) -> Option<String> {
        let more = u64::try_from(self.more).unwrap_or(u64::MAX);
        (more > 0).then(|| format!("and {} more", number(more)))
    }
}

impl<T: Neat> First<T> {
    /// Keeps this one, or counts it.
    pub(super) fn push(&mut self, mut item: T) {
        if self.items.len() < SHOWN {
            item.neaten();
            self.items.push(item);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

impl<T: DeserializeOwned + Neat> Fold for First<T> {
    type Item = T;

    fn take(&mut self, item: T) {
        self.push(item);
    }
}

/// The checks of a control, those that need attention first.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) fail: First<Check>,
    pub(super) not_verifiable: First<Check>,
    pub(super) pass: First<Check>,
    pub(super) not_applicable: First<Check>,
}

impl Fold for Checks {
    type Item = Check;

    fn take(&mut self, check: Check) {
        match check.status {
            Status::Fail => self.fail.push(check),
            Status::NotVerifiable => self.not_verifiable.push(check),
            Status::Pass => self.pass.push(check),
            Status::NotApplicable => self.not_applicable.push(check),
        }
    }
}

/// The hints, the most severe first.
#[derive(Debug, Default)]
pub(super) struct HintsBySeverity {
    pub(super) critical: First<Hint>,
    pub(super) high: First<Hint>,
    pub(super) medium: First<Hint>,
    pub(super) low: First<Hint>,
    pub(super) info: First<Hint>,
}

impl Fold for HintsBySeverity {
    type Item = Hint;

    fn take(&mut self, hint: Hint) {
        match hint.severity {
            Severity::Critical => self.critical.push(hint),
            Severity::High => self.high.push(hint),
            Severity::Medium => self.medium.push(hint),
            Severity::Low => self.low.push(hint),
            Severity::Info => self.info.push(hint),
        }
    }
}

/// `manifest.json` without its artifacts and files.
pub(super) type Missing = Manifest<
    IgnoredAny,
    IgnoredAny,
    Folded<First<Warning>>,
    Folded<First<Excluded>>,
    Folded<First<ErrorRecord>>,
>;
/// `derived/normalized.json`.
pub(super) type Judgement = Normalized<Vec<NormalizedControl<Folded<Checks>, IgnoredAny>>>;
/// `derived/hints.json`.
pub(super) type Advice = Hints<Folded<HintsBySeverity>>;

#[cfg(test)]
mod tests {
    use super::*;

    impl Neat for u32 {
        fn neaten(&mut self) {}
    }

    #[test]
    fn a_long_list_is_counted_and_not_kept() {
        let list: Vec<u32> = (0..1_000).collect();
        let text = serde_json::to_string(&list).unwrap();
        let Folded(first) = serde_json::from_str::<Folded<First<u32>>>(&text).unwrap();
        assert_eq!((first.items.len(), first.more), (SHOWN, 1_000 - SHOWN));
        assert!(serde_json::from_str::<Folded<First<u32>>>("[1, \"x\"]").is_err());
        assert!(serde_json::from_str::<Folded<First<u32>>>("{}").is_err());
    }

    #[test]
    fn artifacts_are_read_whatever_stands_around_them() {
        let artifact = r#"{"filename":"sources/a/b.json","source":"a","artifact_type":"b","collected_at":"x","controls":[],
            "checksum":"00","size_bytes":1,"subject":"s","request":{"path":"/","status":200}}"#;
        let read = |text: &str| {
            let mut names = Vec::new();
            let outcome = each_artifact(&mut text.as_bytes(), |artifact| names.push(artifact.filename));
            outcome.map(|()| names)
        };
        let manifest = format!(r#"{{"x":[{{}}],"artifacts":[{artifact}],"y":1,"artifacts":[{artifact}]}}"#);
        assert_eq!(read(&manifest), Some(vec!["sources/a/b.json".to_owned()]));
        assert_eq!(read("{}"), Some(Vec::new()));
        for text in ["", "[]", r#"{"artifacts":{}}"#, r#"{"artifacts":[1]}"#, r#"{"artifacts":[]"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
