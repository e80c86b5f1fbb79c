//! Lists of any length, read row by row: keeps the first rows and counts the rest.

use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

use evidence_bundle::document::ArtifactRecord;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, SeqAccess, Visitor};

use crate::json;
use crate::sanitize::Sanitize;
use crate::words;

/// How many rows of a list to keep for display.
pub const FIRST_ROWS: usize = 200;

/// Receives the rows of a list, one by one.
pub trait Fold: Default {
    /// The type of the rows.
    type Row: DeserializeOwned;

    /// Takes the next row.
    fn take(&mut self, row: Self::Row);
}

/// A list that was read row by row.
#[derive(Debug, Default)]
pub struct Folded<F>(
    /// The result for its rows.
    pub F,
);

impl<'de, F: Fold> Deserialize<'de> for Folded<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Folded<F>, D::Error> {
        let mut fold = F::default();
        deserializer.deserialize_seq(Rows(|row| fold.take(row), PhantomData))?;
        Ok(Folded(fold))
    }
}

/// Passes the rows of a list to a function.
struct Rows<T, F>(F, PhantomData<T>);

impl<'de, T: DeserializeOwned, F: FnMut(T)> Visitor<'de> for Rows<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(row) = list.next_element()? {
            self.0(row);
        }
        Ok(())
    }
}

/// Passes every artifact of a manifest to `take`. `None` if the manifest does not have the known form.
pub(crate) fn each_artifact(contents: &mut dyn Read, take: impl FnMut(ArtifactRecord)) -> Option<()> {
    each_row(contents, "artifacts", take)
}

/// Passes every row of one list of a document to `take`. `None` if the document or a row does not have the known form;
/// `take` has then received the rows before.
pub fn each_row<T: DeserializeOwned>(
    contents: &mut dyn Read,
    list: &str,
    mut take: impl FnMut(T),
) -> Option<()> {
    let mut json = json::rows(contents);
    let mut is_found = false;
    let read = json.object(|json, name| {
        if name != list || is_found {
            return json.skip();
        }
        is_found = true;
        json.list(|json| json.value().map(&mut take))
    });
    read.ok()
}

/// The first rows of a list, made safe to show, and the number of further ones.
#[derive(Debug)]
pub struct First<T> {
    /// The first [`FIRST_ROWS`].
    pub rows: Vec<T>,
    /// The number of further ones.
    pub more: u64,
}

impl<T> Default for First<T> {
    fn default() -> First<T> {
        First { rows: Vec::new(), more: 0 }
    }
}

impl<T> First<T> {
    /// The number of rows, kept or not.
    pub fn count(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX).saturating_add(self.more)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.more == 0
    }

    /// "and 12 more", if not every row is kept.
    pub fn rest(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {} more", words::grouped(self.more)))
    }
}

impl<T: Sanitize> First<T> {
    /// Keeps this row, or counts it.
    pub(crate) fn push(&mut self, mut row: T) {
        if self.rows.len() < FIRST_ROWS {
            row.sanitize();
            self.rows.push(row);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

impl<T: DeserializeOwned + Sanitize> Fold for First<T> {
    type Row = T;

    fn take(&mut self, row: T) {
        self.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sanitize for u32 {
        fn sanitize(&mut self) {}
    }

    #[test]
    fn a_long_list_is_counted_and_not_kept() {
        let list: Vec<u32> = (0..1_000).collect();
        let text = serde_json::to_string(&list).unwrap();
        let Folded(first) = serde_json::from_str::<Folded<First<u32>>>(&text).unwrap();
        assert_eq!((first.rows.len(), first.more, first.count()), (FIRST_ROWS, 800, 1_000));
        assert_eq!(first.rest().as_deref(), Some("and 800 more"));
        assert!(serde_json::from_str::<Folded<First<u32>>>("[1, \"x\"]").is_err());
        assert!(serde_json::from_str::<Folded<First<u32>>>("{}").is_err());
    }

    #[test]
    fn artifacts_are_read_whatever_surrounds_them() {
        let artifact = r#"{"filename":"sources/a/b.json","source":"a","artifact_type":"b","collected_at":"x","controls":[],
            "checksum":"00","size_bytes":1,"subject":"s"}"#;
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
