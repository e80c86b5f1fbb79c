//! Every check of a bundle, one by one: for lists of any length that are written as they are read.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Summary};
use evidence_bundle::path::NORMALIZED;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json;
use crate::read::FileReader;
use crate::rows::Rows;

/// A control, as the document introduces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlHead {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The framework's own criteria under which such evidence is commonly filed, by the code of the rule.
    pub criteria: BTreeMap<String, Vec<String>>,
}

impl ControlHead {
    /// The criteria under which the evidence of this rule is commonly filed.
    pub fn criteria(&self, rule: &str) -> &[String] {
        self.criteria.get(rule).map_or(&[], Vec::as_slice)
    }
}

/// Takes the checks of a bundle, in the order of the document. Nothing is fit to print yet, or known to be verified.
pub trait CheckSink {
    /// How many controls and checks of each status follow.
    fn summary(&mut self, _: Summary) {}

    /// The next control; its checks follow.
    fn control(&mut self, control: &ControlHead);

    /// The next check of this control.
    ///
    /// # Errors
    /// Those of writing it down.
    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()>;
}

/// Hands every check of a bundle to a sink.
#[derive(Debug)]
pub struct EachCheck<S> {
    /// The sink.
    pub sink: S,
    /// Whether the document is of the known form.
    pub known: bool,
}

impl<S: CheckSink> EachCheck<S> {
    /// Hands the checks to this sink.
    pub fn new(sink: S) -> EachCheck<S> {
        EachCheck { sink, known: false }
    }
}

impl<S: CheckSink> FileReader for EachCheck<S> {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        if path != NORMALIZED {
            return Ok(());
        }
        let mut failed = None;
        let mut deserializer = serde_json::Deserializer::from_reader(json::reader(contents));
        let walk = Walk { sink: &mut self.sink, failed: &mut failed };
        self.known = Level::Document(walk).deserialize(&mut deserializer).is_ok();
        failed.map_or(Ok(()), Err)
    }
}

struct Walk<'a, S> {
    sink: &'a mut S,
    /// Why the sink could not take a check.
    failed: &'a mut Option<io::Error>,
}

impl<S> Walk<'_, S> {
    fn again(&mut self) -> Walk<'_, S> {
        Walk { sink: self.sink, failed: self.failed }
    }
}

/// Where in the document the walk is.
enum Level<'a, S> {
    Document(Walk<'a, S>),
    Controls(Walk<'a, S>),
    Control(Walk<'a, S>),
}

impl<'de, S: CheckSink> DeserializeSeed<'de> for Level<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self {
            Level::Document(_) | Level::Control(_) => deserializer.deserialize_map(self),
            Level::Controls(_) => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de, S: CheckSink> Visitor<'de> for Level<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Document(_) => "a judgement",
            Level::Controls(_) => "a list of controls",
            Level::Control(_) => "a control",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (Level::Document(mut walk) | Level::Controls(mut walk) | Level::Control(mut walk)) = self;
        while list.next_element_seed(Level::Control(walk.again()))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self {
            Level::Document(walk) | Level::Controls(walk) => walk.document(map),
            Level::Control(walk) => walk.control(map),
        }
    }
}

impl<S: CheckSink> Walk<'_, S> {
    fn document<'de, A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "summary" => self.sink.summary(map.next_value()?),
                "controls" => map.next_value_seed(Level::Controls(self.again()))?,
                _ => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }

    /// The fields are in the order in which they are written: what a control is comes before its checks.
    fn control<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Walk { sink, failed } = self;
        let (mut id, mut title, mut status, mut reason, mut criteria) = (None, None, None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => id = Some(map.next_value()?),
                "title" => title = Some(map.next_value()?),
                "status" => status = Some(map.next_value()?),
                "reason" => reason = Some(map.next_value()?),
                "criteria" => criteria = Some(map.next_value()?),
                "checks" => {
                    let (Some(id), Some(title), Some(status), Some(reason), Some(criteria)) =
                        (id.take(), title.take(), status.take(), reason.take(), criteria.take())
                    else {
                        return Err(A::Error::custom("checks before their control"));
                    };
                    let head = ControlHead { id, title, status, reason, criteria };
                    sink.control(&head);
                    let take = |check| match sink.check(&head, check) {
                        Ok(()) => {}
                        Err(error) => *failed = Some(error),
                    };
                    map.next_value_seed(Rows(take, PhantomData))?;
                }
                _ => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl CheckSink for Seen {
        fn control(&mut self, control: &ControlHead) {
            self.0.push(format!("{} {}", control.id, control.status.as_str()));
        }

        fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
            self.0.push(format!(
                "{} {} {}",
                control.id,
                check.subject,
                control.criteria(&check.rule).join(" ")
            ));
            if check.subject == "full" { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
        }
    }

    fn read(text: &str) -> (io::Result<()>, EachCheck<Seen>) {
        let mut reader = EachCheck::new(Seen::default());
        (reader.file(NORMALIZED, &mut text.as_bytes()), reader)
    }

    fn document(checks: &str) -> String {
        let head = r#""id":"C1","title":"t","status":"fail","reason":"r","criteria":{"a":["C9"]},"evidence":[{"x":1}]"#;
        let counts = r#"{"pass":0,"fail":0,"not_verifiable":0,"not_applicable":0}"#;
        format!(
            r#"{{"summary":{{"controls":{counts},"checks":{counts}}},"controls":[{{{head},"checks":[{checks}]}},{{{head},"checks":[]}}]}}"#
        )
    }

    fn check(subject: &str) -> String {
        format!(
            r#"{{"rule":"a","source":"b","subject":"{subject}","status":"pass","reason":"ok","evidence":[]}}"#
        )
    }

    #[test]
    fn every_check_comes_with_its_control() {
        let (outcome, reader) = read(&document(&format!("{},{}", check("x"), check("y"))));
        assert!(outcome.is_ok() && reader.known);
        assert_eq!(reader.sink.0, ["C1 fail", "C1 x C9", "C1 y C9", "C1 fail"]);
        let (outcome, _) = read(&document(&check("full")));
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn another_form_is_not_known() {
        for text in
            ["", "[]", r#"{"controls":{}}"#, r#"{"controls":[[]]}"#, r#"{"controls":[{"checks":[]}]}"#]
        {
            let (outcome, reader) = read(text);
            assert!(outcome.is_ok() && !reader.known, "{text}");
        }
    }
}
