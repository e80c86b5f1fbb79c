//! Every check of a bundle, one at a time, for lists of any length.

use std::io::{self, Read};

use evidence_bundle::document::{Check, Summary};
use evidence_bundle::read::{ControlHead, Json, Row, Sink, Stop};

use crate::json;

/// Receives the checks of a bundle, in the order of the document, each with what its rule expects. They are neither
/// sanitized nor verified yet.
pub trait CheckSink {
    /// The counts of controls and checks by status.
    fn summary(&mut self, _: Summary) {}

    /// The next control; its checks follow.
    fn control(&mut self, control: &ControlHead);

    /// The next check of this control.
    ///
    /// # Errors
    /// Fails if the check cannot be written.
    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()>;

    /// The next check, for a sink that needs neither a copy nor what the rule expects.
    ///
    /// # Errors
    /// Fails like [`CheckSink::check`].
    fn look(&mut self, control: &ControlHead, check: &Check) -> io::Result<()> {
        self.check(control, expecting(check.clone(), control))
    }
}

/// Passes every check of a bundle to a sink, while the bundle is verified.
#[derive(Debug)]
pub struct CheckReader<S> {
    /// The sink.
    pub sink: S,
    /// Whether each control came before its checks.
    pub known: bool,
    head: Option<ControlHead>,
}

impl<S: CheckSink> CheckReader<S> {
    /// Passes the checks to this sink.
    pub fn new(sink: S) -> CheckReader<S> {
        CheckReader { sink, known: true, head: None }
    }
}

impl<S: CheckSink> Sink for CheckReader<S> {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match (row, &self.head) {
            (Row::Summary(summary), _) => self.sink.summary(*summary),
            (Row::Control(head), _) => {
                head.into_iter().for_each(|head| self.sink.control(head));
                self.known &= head.is_some();
                self.head = head.cloned();
            }
            (Row::Check(check), Some(head)) => self.sink.look(head, check)?,
            _ => {}
        }
        Ok(())
    }
}

/// The check, with what its rule expects.
fn expecting(mut check: Check, head: &ControlHead) -> Check {
    if check.expected.is_none() {
        check.expected = head.expected.get(&check.rule).cloned();
    }
    check
}

/// Passes every check of a document that is not a part of a bundle yet. Returns whether the document has the known form.
///
/// # Errors
/// Fails if the sink does.
pub fn each_check(contents: &mut dyn Read, sink: &mut impl CheckSink) -> io::Result<bool> {
    let mut failed = Ok(());
    let mut json = json::rows(contents);
    let read = json.object(|json, name| match name {
        "summary" => json.value().map(|summary| sink.summary(summary)),
        "controls" => json.list(|json| control(json, sink, &mut failed)),
        _ => json.skip(),
    });
    let known = read.and_then(|()| json.end()).is_ok();
    failed.map(|()| known)
}

/// Reads a control. Its other fields come before its checks, in the order in which they are written.
fn control<R: Read, S: CheckSink>(
    json: &mut Json<'_, R>,
    sink: &mut S,
    failed: &mut io::Result<()>,
) -> Result<(), Stop> {
    let (mut id, mut title, mut status, mut reason) = (None, None, None, None);
    let (mut criteria, mut expected) = (None, None);
    json.object(|json, name| match name {
        "id" => json.once(&mut id, name),
        "title" => json.once(&mut title, name),
        "status" => json.once(&mut status, name),
        "reason" => json.once(&mut reason, name),
        "criteria" => json.once(&mut criteria, name),
        "expected" => json.once(&mut expected, name),
        "checks" => {
            let (Some(id), Some(title), Some(status), Some(reason)) =
                (id.take(), title.take(), status.take(), reason.take())
            else {
                return Err(json.malformed("checks before their control"));
            };
            let (Some(criteria), Some(expected)) = (criteria.take(), expected.take()) else {
                return Err(json.malformed("checks before their rules"));
            };
            let head = ControlHead { id, title, status, reason, criteria, expected };
            sink.control(&head);
            json.list(|json| {
                let check = expecting(json.value()?, &head);
                if failed.is_ok() {
                    *failed = sink.check(&head, check);
                }
                Ok(())
            })
        }
        _ => json.skip(),
    })
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
                "{} {} {} {}",
                control.id,
                check.subject,
                check.expected.unwrap_or_default(),
                control.criteria(&check.rule).join(" ")
            ));
            if check.subject == "full" { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
        }
    }

    fn read(text: &str) -> (io::Result<bool>, Vec<String>) {
        let mut seen = Seen::default();
        (each_check(&mut text.as_bytes(), &mut seen), seen.0)
    }

    fn document(checks: &str) -> String {
        let head = r#""id":"C1","title":"t","status":"fail","reason":"r","criteria":{"a":["C9"]},"expected":{"a":"e"},"other":[{"x":1}]"#;
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
        let (outcome, seen) = read(&document(&format!("{},{}", check("x"), check("y"))));
        assert!(outcome.unwrap());
        assert_eq!(seen, ["C1 fail", "C1 x e C9", "C1 y e C9", "C1 fail"]);
        let (outcome, _) = read(&document(&check("full")));
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn another_form_is_not_known() {
        for text in
            ["", "[]", r#"{"controls":{}}"#, r#"{"controls":[[]]}"#, r#"{"controls":[{"checks":[]}]}"#]
        {
            assert!(!read(text).0.unwrap(), "{text}");
        }
    }
}
