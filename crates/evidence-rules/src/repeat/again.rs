//! Judges the facts of a bundle under other settings: what this version's rules say, beside what was signed.

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};

use super::both::read_by;
use super::state::{Again, Rejudged, Repetition};
use crate::rule::Settings;

/// The judgements of this version's rules over the signed facts of a bundle.
#[derive(Debug)]
pub struct Rejudgement {
    /// The settings of the bundle, of the rules that this version knows.
    pub signed: Settings,
    /// The settings that they were judged by.
    pub settings: Settings,
    /// The judgements, in the order of the observations.
    pub judgements: Vec<Rejudged>,
}

/// Verifies a bundle as [`read`](fn@super::read) does, and judges its facts once more by `settings`; without any, by those of
/// the bundle.
///
/// Which facts were read depended on the bundle's own settings. A setting that was not read because of them is not
/// guessed: the check is not verifiable.
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn rejudge(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    settings: Option<Settings>,
    sink: &mut dyn Sink,
) -> Result<(VerifiedBundle, Rejudgement), Failure> {
    let again = Some(Again { settings, judgements: Vec::new() });
    let mut repetition = Repetition { again, ..Repetition::default() };
    let verified = read_by(&mut repetition, bundle, trust, expectations, limits, sink)?;
    repetition.judge_the_rest();
    let signed = repetition.settings.clone();
    let Again { settings, mut judgements } = repetition.again.take().unwrap_or_default();
    judgements.sort_by_key(|judged| judged.group);
    let settings = settings.unwrap_or_else(|| signed.clone());
    Ok((repetition.complete(verified, expectations)?, Rejudgement { signed, settings, judgements }))
}

#[cfg(test)]
mod tests {
    use evidence_bundle::path::OBSERVATIONS;
    use evidence_bundle::read::Row;
    use serde_json::{Value, json};

    use super::*;
    use crate::rule_of;

    /// A judgement of rows that no document holds, as far as its sink received them.
    fn received(rows: &[Value], check: &Value) -> Repetition {
        let again = Some(Again::default());
        let mut repetition = Repetition { again, ..Repetition::default() };
        repetition.row(Row::Check(&serde_json::from_value(check.clone()).unwrap())).unwrap();
        for (number, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            (row["id"], row["requests"]) = (json!(format!("cloud:{}", number + 1)), json!([]));
            (row["source"], row["subject"]) = (json!("cloud"), json!("123456789012"));
            repetition.row(Row::Observation(&serde_json::from_value(row).unwrap())).unwrap();
        }
        repetition
    }

    fn check(status: &str, reason: &str, actual: &str, ids: &[&str]) -> Value {
        let evidence = |id: &&str| json!({"filename": OBSERVATIONS, "checksum": "", "id": id});
        json!({"rule": "password-policy", "source": "cloud", "subject": "123456789012", "status": status,
            "reason": reason, "actual": actual, "evidence": ids.iter().map(evidence).collect::<Vec<_>>()})
    }

    fn judged(mut repetition: Repetition) -> Vec<(&'static str, &'static str, String)> {
        repetition.judge_the_rest();
        let judgements = repetition.again.unwrap().judgements.into_iter().map(|one| one.judgement);
        let row = |one: crate::inspection::Judgement| {
            (one.rule.code, one.verdict.reason.code, one.subject.to_string())
        };
        judgements.map(row).collect()
    }

    /// Which parts of an artifact were judged is not known without it: the signed checks name the subjects.
    #[test]
    fn an_excluded_artifact_stays_withheld() {
        let rows = [
            json!({"kind": "password_policy", "outcome": "excluded", "detail": "made-up"}),
            json!({"kind": "account_summary", "outcome": "denied", "reason": "permission_denied"}),
        ];
        let text = "the artifact matched the rule made-up";
        let signed = check("not_verifiable", "excluded_by_policy", text, &["cloud:1", "cloud:2"]);
        let expected = ("password-policy", "excluded_by_policy", "123456789012".to_string());
        assert_eq!(judged(received(&rows, &signed)), [expected]);
        // A check that rests on something else is not the one.
        let other = check("not_verifiable", "excluded_by_policy", text, &["cloud:1"]);
        assert_eq!(judged(received(&rows, &other)), []);
    }

    /// A record of another form is a problem only if a rule that the bundle applies needs it.
    #[test]
    fn a_record_of_another_form() {
        let path = "sources/cloud/password_policy.json";
        let rows = [json!({"kind": "password_policy", "outcome": "artifact", "artifact": path})];
        let rule = rule_of("password-policy").unwrap();
        for applied in [false, true] {
            let mut repetition = received(&rows, &check("pass", "ok", "", &["cloud:1"]));
            if applied {
                let (code, version, control) = (rule.code, rule.version, "CC6.1");
                let record = json!({"code": code, "version": version, "source": "cloud", "kind": "account",
                    "control": control, "expected": "", "reads": "", "not_checked": ""});
                repetition.rules.push(serde_json::from_value(record).unwrap());
                repetition.applied.push(rule);
            }
            repetition.artifact(path, &mut b"{\"PasswordPolicy\": 5}".as_slice()).unwrap();
            assert_eq!(repetition.problems.is_empty(), !applied, "{:?}", repetition.problems);
        }
    }

    #[test]
    fn other_settings_judge_the_same_facts() {
        let path = "sources/cloud/password_policy.json";
        let rows = [json!({"kind": "password_policy", "outcome": "artifact", "artifact": path})];
        let setting = crate::rules().flat_map(|rule| rule.settings).find(|one| one.name == "minimum_length");
        for (value, reason) in [(None, "ok"), (Some(12), "ok"), (Some(20), "password_too_short")] {
            let mut repetition = received(&rows, &check("pass", "ok", "", &["cloud:1"]));
            let mut settings = Settings::default();
            if let Some(value) = value {
                settings.set(setting.unwrap(), value);
            }
            repetition.again.as_mut().unwrap().settings = value.map(|_| settings);
            let policy = json!({"PasswordPolicy": {"MinimumPasswordLength": 14, "RequireSymbols": true,
                "RequireNumbers": true, "RequireUppercaseCharacters": true, "RequireLowercaseCharacters": true}});
            repetition.artifact(path, &mut policy.to_string().as_bytes()).unwrap();
            let expected = ("password-policy", reason, "123456789012".to_string());
            assert_eq!(judged(repetition), [expected], "{value:?}");
        }
    }
}
