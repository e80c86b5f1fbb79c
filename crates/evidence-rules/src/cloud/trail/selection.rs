//! Which management events a trail records, according to its event selectors.
//!
//! Management events are the purpose of an audit trail: who changed the account, and who read it. A trail passes if its
//! selectors together record reads and writes of every service, except the two that the provider lets a trail exclude
//! because of their volume.

use std::collections::BTreeSet;

use super::Criterion;
use crate::cloud::record::{AdvancedEventSelector, EventSelector, EventSelectors, FieldSelector};
use crate::field::Field;
use crate::rule::reason;
use evidence_text::single_line;

/// The services whose events the provider lets a trail exclude because of their volume: uses of keys, and statements
/// sent to databases.
const MAY_BE_LEFT_OUT: [&str; 2] = ["kms.amazonaws.com", "rdsdata.amazonaws.com"];
/// The maximum number of services named in a sentence.
const NAMED: usize = 3;

/// Judges which management events the selectors of a trail record.
pub fn of(selectors: &EventSelectors) -> Criterion {
    let basic = selectors.event_selectors.value().map(Vec::as_slice).unwrap_or_default();
    let advanced = selectors.advanced_event_selectors.value().map(Vec::as_slice).unwrap_or_default();
    if basic.is_empty() && advanced.is_empty() {
        return Criterion::Open(&reason::NO_EVIDENCE, "event selectors not reported".to_string());
    }
    let parts = basic.iter().map(of_basic).chain(advanced.iter().map(of_advanced));
    let mut recorded = Recorded::default();
    let mut unclear = false;
    for part in parts {
        match part {
            Part::Recorded { reads, writes, without } => recorded.add(reads, writes, &without),
            Part::Nothing => {}
            Part::Unclear => unclear = true,
        }
    }
    match recorded.shortfall() {
        None => Criterion::Met(recorded.note()),
        Some(_) if unclear => {
            Criterion::Open(&reason::NO_EVIDENCE, "event selectors in an undocumented form".to_string())
        }
        Some(shortfall) => Criterion::Failed(shortfall),
    }
}

/// The management events that one selector records.
enum Part<'a> {
    Recorded {
        reads: bool,
        writes: bool,
        without: BTreeSet<&'a str>,
    },
    Nothing,
    /// The form is not documented: it may record anything.
    Unclear,
}

fn of_basic(selector: &EventSelector) -> Part<'_> {
    let included = selector.include_management_events.value();
    let without = match &selector.exclude_management_event_sources {
        Field::Absent => Some(BTreeSet::new()),
        Field::Null => None,
        Field::Value(sources) => Some(sources.iter().map(String::as_str).collect()),
    };
    let sides = match selector.read_write_type.value().map(String::as_str) {
        Some("All") => Some((true, true)),
        Some("ReadOnly") => Some((true, false)),
        Some("WriteOnly") => Some((false, true)),
        _ => None,
    };
    match (included, sides, without) {
        (Some(false), _, _) => Part::Nothing,
        (Some(true), Some((reads, writes)), Some(without)) => Part::Recorded { reads, writes, without },
        (Some(true) | None, _, _) => Part::Unclear,
    }
}

/// All field selectors of a selector must match, so each narrows what it records.
fn of_advanced(selector: &AdvancedEventSelector) -> Part<'_> {
    let fields = selector.field_selectors.value().map(Vec::as_slice).unwrap_or_default();
    let named =
        |field: &FieldSelector| field.field.value().map(String::as_str).unwrap_or_default().to_string();
    let category = fields.iter().find(|field| named(field) == "eventCategory");
    match category.and_then(FieldSelector::only_equals) {
        None => return Part::Unclear,
        Some(values) if values.iter().any(|value| value == "Management") => {}
        Some(_) => return Part::Nothing,
    }
    let (mut reads, mut writes, mut without) = (true, true, BTreeSet::new());
    for field in fields {
        match (named(field).as_str(), field.only_equals(), field.only_not_equals()) {
            ("eventCategory", Some(values), None) if values.len() == 1 => {}
            ("readOnly", Some(values), None)
                if values.iter().all(|value| value == "true" || value == "false") =>
            {
                reads &= values.iter().any(|value| value == "true");
                writes &= values.iter().any(|value| value == "false");
            }
            ("eventSource", None, Some(values)) => without.extend(values.iter().map(String::as_str)),
            _ => return Part::Unclear,
        }
    }
    Part::Recorded { reads, writes, without }
}

/// The combined effect of all selectors, for reads and for writes: the excluded services, or `None` if nothing is
/// recorded.
#[derive(Default)]
struct Recorded<'a> {
    reads: Option<BTreeSet<&'a str>>,
    writes: Option<BTreeSet<&'a str>>,
}

impl<'a> Recorded<'a> {
    fn add(&mut self, reads: bool, writes: bool, without: &BTreeSet<&'a str>) {
        for (wanted, side) in [(reads, &mut self.reads), (writes, &mut self.writes)] {
            if wanted {
                // One selector can record what another excludes.
                *side = Some(match side {
                    Some(old) => old.intersection(without).copied().collect(),
                    None => without.clone(),
                });
            }
        }
    }

    /// The missing events as text; `None` if all required events are recorded.
    fn shortfall(&self) -> Option<String> {
        match (&self.reads, &self.writes) {
            (None, None) => Some("no management events".to_string()),
            (Some(_), None) => Some("only management events that read".to_string()),
            (None, Some(_)) => Some("only management events that write".to_string()),
            (Some(_), Some(_)) => {
                let missing: Vec<&str> =
                    self.left_out().into_iter().filter(|source| !MAY_BE_LEFT_OUT.contains(source)).collect();
                (!missing.is_empty()).then(|| format!("not the events of {}", names(&missing)))
            }
        }
    }

    fn left_out(&self) -> BTreeSet<&'a str> {
        self.reads.iter().chain(&self.writes).flatten().copied().collect()
    }

    fn note(&self) -> String {
        let left_out: Vec<&str> = self.left_out().into_iter().collect();
        match left_out.as_slice() {
            [] => String::new(),
            sources => format!("without the events of {}", names(sources)),
        }
    }
}

fn names(sources: &[&str]) -> String {
    let mut names: Vec<String> = sources.iter().take(NAMED).map(|source| single_line(source)).collect();
    if sources.len() > NAMED {
        names.push(format!("and {} more", sources.len() - NAMED));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(criterion: Criterion) -> (&'static str, String) {
        match criterion {
            Criterion::Met(words) => ("met", words),
            Criterion::Failed(words) => ("failed", words),
            Criterion::Open(reason, words) => (reason.code, words),
        }
    }

    fn judged(text: &str) -> (&'static str, String) {
        said(of(&serde_json::from_str(text).unwrap()))
    }

    fn basic(kind: &str, included: bool, without: &str) -> String {
        format!(
            r#"{{"ReadWriteType":"{kind}","IncludeManagementEvents":{included},"DataResources":[],"ExcludeManagementEventSources":[{without}]}}"#
        )
    }

    /// Every pair of basic selectors in every form, compared with the rule written as a formula.
    #[test]
    fn the_whole_domain_of_basic_selectors() {
        let mut forms = Vec::new();
        for kind in ["All", "ReadOnly", "WriteOnly", "Some"] {
            for included in [true, false] {
                for without in ["", r#""kms.amazonaws.com""#, r#""iam.amazonaws.com""#] {
                    forms.push((kind, included, without));
                }
            }
        }
        for one in &forms {
            for other in &forms {
                let pair = [one, other];
                let text = pair.map(|(kind, included, without)| basic(kind, *included, without)).join(",");
                let side = |kind: &str| {
                    let on: Vec<_> = pair
                        .iter()
                        .filter(|(k, included, _)| *included && (*k == "All" || *k == kind))
                        .collect();
                    let leaves_out_iam =
                        !on.is_empty() && on.iter().all(|(_, _, without)| without.contains("iam"));
                    (!on.is_empty(), leaves_out_iam)
                };
                let (reads, writes) = (side("ReadOnly"), side("WriteOnly"));
                let unclear = pair.iter().any(|(kind, included, _)| *included && *kind == "Some");
                let expected = if reads.0 && writes.0 && !reads.1 && !writes.1 {
                    "met"
                } else if unclear {
                    "no_evidence"
                } else {
                    "failed"
                };
                let text = format!(r#"{{"EventSelectors":[{text}]}}"#);
                assert_eq!(judged(&text).0, expected, "{text}");
            }
        }
    }

    #[test]
    fn advanced_selectors() {
        let management = r#"{"Field":"eventCategory","Equals":["Management"]}"#;
        let data = r#"{"FieldSelectors":[{"Field":"eventCategory","Equals":["Data"]},{"Field":"resources.type","Equals":["x"]}]}"#;
        let read_only = |value: &str| format!(r#"{{"Field":"readOnly","Equals":[{value}]}}"#);
        let source =
            |operator: &str, names: &str| format!(r#"{{"Field":"eventSource","{operator}":[{names}]}}"#);
        let of_fields =
            |fields: &[&str]| format!(r#"{{"Name":"x","FieldSelectors":[{}]}}"#, fields.join(","));
        let all = of_fields(&[management]);
        let reads = of_fields(&[management, &read_only(r#""true""#)]);
        let writes = of_fields(&[&read_only(r#""false""#), management]);
        let both = of_fields(&[management, &read_only(r#""true","false""#)]);
        let without_keys = of_fields(&[management, &source("NotEquals", r#""kms.amazonaws.com""#)]);
        let without_people =
            of_fields(&[management, &source("NotEquals", r#""kms.amazonaws.com","iam.amazonaws.com""#)]);
        let odd = [
            of_fields(&[management, &source("Equals", r#""iam.amazonaws.com""#)]),
            of_fields(&[management, &source("NotStartsWith", r#""iam""#)]),
            of_fields(&[management, r#"{"Field":"eventName","NotEquals":["Decrypt"]}"#]),
            of_fields(&[management, &read_only(r#""maybe""#)]),
            of_fields(&[management, r#"{"Field":"readOnly","NotEquals":["true"]}"#]),
            of_fields(&[management, r#"{"Field":"readOnly"}"#]),
            of_fields(&[management, r#"{"Field":null,"Equals":["x"]}"#]),
            of_fields(&[r#"{"Field":"eventCategory","NotEquals":["Data"]}"#]),
            of_fields(&[&read_only(r#""true""#)]),
            of_fields(&[]),
            "{}".to_string(),
        ];
        let reads_words = "only management events that read";
        let writes_words = "only management events that write";
        // (the selectors, what is said, in which words)
        let mut table: Vec<(Vec<&str>, &str, &str)> = vec![
            (vec![&all], "met", ""),
            (vec![data, &all], "met", ""),
            (vec![&both], "met", ""),
            (vec![&reads, &writes], "met", ""),
            (vec![&without_keys], "met", "without the events of kms.amazonaws.com"),
            (vec![&without_keys, &all], "met", ""),
            (vec![&without_people, &without_keys], "met", "without the events of kms.amazonaws.com"),
            (vec![data], "failed", "no management events"),
            (vec![&reads], "failed", reads_words),
            (vec![&writes, data], "failed", writes_words),
            (vec![&without_people], "failed", "not the events of iam.amazonaws.com"),
        ];
        for odd in &odd {
            table.push((vec![odd], "no_evidence", "event selectors in an undocumented form"));
            table.push((vec![odd, &all], "met", ""));
        }
        for (selectors, expected, words) in table {
            let text = format!(r#"{{"TrailARN":"x","AdvancedEventSelectors":[{}]}}"#, selectors.join(","));
            assert_eq!(judged(&text), (expected, words.to_string()), "{text}");
        }
        for nothing in [r#"{"EventSelectors":[]}"#, r#"{"EventSelectors":null,"AdvancedEventSelectors":[]}"#]
        {
            assert_eq!(
                judged(nothing),
                ("no_evidence", "event selectors not reported".to_string()),
                "{nothing}"
            );
        }
    }

    #[test]
    fn words_are_bounded() {
        let sources: Vec<String> = (0..5_000).map(|number| format!("\"\\u001b[31m{number}\"")).collect();
        let text = format!(r#"{{"EventSelectors":[{}]}}"#, basic("All", true, &sources.join(",")));
        let (said, words) = judged(&text);
        assert_eq!(said, "failed");
        assert!(
            words.len() < 200 && !words.contains('\u{1b}') && words.ends_with("and 4997 more"),
            "{words}"
        );
    }
}
