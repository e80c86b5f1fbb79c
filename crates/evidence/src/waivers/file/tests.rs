use evidence_rules::framework::Framework;

use super::*;
use crate::env::Clock;

const GOOD: &str = "\
- id: W-2026-014
  control: CC7.2
  rule: branch-protection
  source: codehost
  subjects: [acme/legacy-billing, {glob: \"acme/poc-*\"}]
  reasons: [branch_unprotected]
  reason: Frozen since 2026-03; migration in Q1
  owner: jane.doe@acme.example
  approved_by: john.roe@acme.example
  approved_at: 2026-11-02
  expires_at: 2027-01-31
  ticket: RISK-17
  compensating: Deployments from this repository are disabled
";

fn read(text: &str) -> Result<Waivers, ConfigError> {
    let env = Env::new([("HOME", "/home/auditor")], Clock::System);
    let framework = Framework::from_id("soc2_type1").unwrap();
    Waivers::of(Path::new("waivers.yaml"), text.as_bytes(), framework, &env)
}

/// The problems of a file, each as `line:column key: message`.
fn problems(text: &str) -> Vec<String> {
    let error = read(text).expect_err("accepted, although it must be refused");
    let place = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
    let shown = error.problems.iter().map(|problem| {
        format!("{}:{} {}: {}", place(problem.line), place(problem.column), problem.key, problem.message)
    });
    shown.collect()
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let problems = problems(text);
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.contains(expected), "{problem} does not say {expected}");
    }
}

/// Another waiver, for another subject.
fn second(change: &str) -> String {
    let other = GOOD.replace("W-2026-014", "W-2").replace("acme/legacy-billing, ", "acme/other, ");
    let other = other.replace("acme/poc-*", "acme/lab-*");
    let (from, to) = change.split_once(" => ").unwrap_or(("", ""));
    format!("{GOOD}{}", other.replace(from, to))
}

#[test]
fn a_valid_file_is_read() {
    let waivers = read(GOOD).unwrap();
    let [waiver] = waivers.entries.as_slice() else { panic!() };
    assert_eq!(
        (waiver.subjects.as_slice(), waiver.globs.as_slice()),
        (&["acme/legacy-billing".to_owned()][..], &["acme/poc-*".to_owned()][..])
    );
    assert_eq!(waivers.sha256.len(), 64);
    assert!(read("[]").unwrap().entries.is_empty());
    assert_eq!(read(&second("")).unwrap().entries.len(), 2);
    let check = "compensating: {rule: two-factor-required, subject: acme}";
    let text = GOOD.replace("compensating: Deployments from this repository are disabled", check);
    let check = read(&text).unwrap().entries.remove(0).compensating_check.unwrap();
    assert_eq!(
        (check.rule.as_str(), check.subject.as_str(), check.status),
        ("two-factor-required", "acme", None)
    );
    // The optional keys can be left out.
    let short: String = GOOD
        .lines()
        .filter(|line| {
            !["control", "reasons", "ticket", "compensating"]
                .iter()
                .any(|key| line.trim().starts_with(&format!("{key}:")))
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(read(&short).unwrap().entries.iter().all(|waiver| waiver.reasons.is_empty()));
}

#[test]
fn every_required_key_is_required() {
    for key in
        ["id", "rule", "source", "subjects", "reason", "owner", "approved_by", "approved_at", "expires_at"]
    {
        let begin = format!("{key}: ");
        let text: String = GOOD
            .lines()
            .filter(|line| !line.trim_start_matches(['-', ' ']).starts_with(&begin))
            .map(|line| format!("{line}\n"))
            .collect();
        let text = if key == "id" { text.replacen("  control", "- control", 1) } else { text };
        refused(&text, &[&format!("the required key `{key}` is missing")]);
    }
}

/// Each value once, with its place.
#[test]
fn every_value_is_checked() {
    for (from, to, expected) in [
        ("W-2026-014", "a b", "1:7 [0].id: this is not a short name"),
        ("W-2026-014", "2026", "[0].id: expected a short name, found the number `2026`"),
        ("CC7.2", "CC6.1", "2:12 [0].control: the rule `branch-protection` does not count for CC6.1"),
        ("CC7.2", "CC9.9", "[0].control: there is no control `CC9.9`"),
        ("branch-protection", "branch-protectoin", "3:9 [0].rule: there is no rule `branch-protectoin`"),
        (
            "source: codehost",
            "source: cloud",
            "[0].source: the rule `branch-protection` does not judge the source `cloud`",
        ),
        ("source: codehost", "source: host", "[0].source: there is no source `host`"),
        ("[acme/legacy-billing, {glob: \"acme/poc-*\"}]", "[]", "`subjects` is empty"),
        ("acme/legacy-billing", "\"acme/*\"", "5:14 [0].subjects[0]: a plain entry is an exact name"),
        ("acme/legacy-billing", "acme/a, Acme/A", "[0].subjects[1]: `Acme/A` is listed twice"),
        ("acme/poc-*", "acme/poc", "[0].subjects[1].glob: the pattern has no `*`"),
        ("acme/poc-*", "acme/**", "[0].subjects[1].glob: the pattern has a wildcard that does not exist"),
        ("acme/poc-*", "acme/po?", "[0].subjects[1].glob: the pattern has a wildcard that does not exist"),
        ("acme/poc-*", "*/*", "[0].subjects[1].glob: the pattern matches everything"),
        ("{glob:", "{pattern:", "[0].subjects[1]"),
        ("branch_unprotected", "codeowners_missing", "[0].reasons[0]: "),
        ("Frozen since 2026-03; migration in Q1", "because", "7:11 [0].reason: the reason has fewer than 10"),
        (
            "Frozen since 2026-03; migration in Q1",
            "\"Frozen since\\nthen\"",
            "[0].reason: the text has a line break",
        ),
        ("2026-11-02", "2026-11-31", "10:16 [0].approved_at: `2026-11-31` is not a date"),
        ("2026-11-02", "02.11.2026", "[0].approved_at: `02.11.2026` is not a date"),
        ("2027-01-31", "2027-02-29", "[0].expires_at: `2027-02-29` is not a date"),
        ("2027-01-31", "never", "[0].expires_at: `never` is not a date"),
        ("2027-01-31", "2026-11-01", "11:15 [0].expires_at: the waiver ends before it begins"),
        ("2027-01-31", "2027-11-04", "[0].expires_at: the waiver is valid for 367 days, more than 366"),
        (
            "Deployments from this repository are disabled",
            "{rule: none, subject: acme}",
            "[0].compensating.rule: there is no rule `none`",
        ),
        ("Deployments from this repository are disabled", "[a]", "[0].compensating"),
    ] {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD, "{from}");
        let found = problems(&text);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{to}: {found:#?}");
        assert!(found.len() <= 2, "{found:#?}");
    }
    // 366 days are allowed, over a leap day too.
    assert!(read(&GOOD.replace("2027-01-31", "2027-11-03")).is_ok());
    let leap = GOOD.replace("2026-11-02", "2027-03-01").replace("2027-01-31", "2028-03-01");
    assert!(read(&leap).is_ok(), "366 days");
    assert!(read(&leap.replace("2028-03-01", "2028-03-02")).is_err());
    assert!(read(&GOOD.replace("2027-01-31", "2026-11-02")).is_ok(), "one day");
}

#[test]
fn all_problems_are_reported_at_once() {
    let text = second("W-2 => W 2").replace("branch-protection", "nothing").replace("2027-01-31", "soon");
    refused(&text, &["[0].rule", "[0].expires_at", "[1].id", "[1].rule", "[1].expires_at"]);
}

#[test]
fn another_form_of_file_is_refused() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("# nothing\n", "the file has no settings"),
        ("waivers: []\n", "the file has `key: value` lines instead of a list"),
        ("text\n", "the file has text instead of a list"),
        ("- text\n", "expected a mapping, found text"),
        ("- {}\n", "the required key"),
    ] {
        let found = problems(text);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{text}: {found:?}");
    }
}

#[test]
fn a_failure_has_one_waiver() {
    refused(&second("W-2 => w-2026-014"), &["14:7 [1].id: the id `w-2026-014` appears twice"]);
    for change in [
        "acme/other => ACME/Legacy-Billing",
        "acme/other => acme/poc-7",
        "acme/lab-* => acme/*-billing",
        "acme/lab-* => acme/*c-x",
    ] {
        refused(&second(change), &["the waiver W-2026-014 accepts the same failures"]);
    }
    // Other days, other reasons, another rule.
    let later = second("acme/other => acme/legacy-billing");
    let days = |text: &str| {
        let (first, second) = text.split_at(GOOD.len());
        let second = second.replace("2026-11-02", "2027-02-01").replace("2027-01-31", "2027-03-31");
        format!("{first}{second}")
    };
    assert!(read(&days(&later)).is_ok());
    assert!(read(&days(&later).replace("2027-02-01", "2027-01-31")).is_err(), "the last day belongs to both");
    let (first, other) = later.split_at(GOOD.len());
    assert!(read(&format!("{first}{}", other.replace("branch_unprotected", "reviews_not_required"))).is_ok());
    assert!(read(&format!("{first}{}", other.replace("  reasons: [branch_unprotected]\n", ""))).is_err());
}

#[test]
fn a_secret_is_refused_and_not_shown() {
    let token = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    for from in
        ["Frozen since 2026-03; migration in Q1", "RISK-17", "acme/legacy-billing", "jane.doe@acme.example"]
    {
        let text = GOOD.replace(from, &format!("see {token}"));
        let error = read(&text).unwrap_err();
        let shown = error.render(false);
        assert!(shown.contains("secret") && !shown.contains(&token), "{from}: {shown}");
    }
    // A credential of the run, whatever its form.
    let waivers = read(&GOOD.replace("RISK-17", "the word is correct-horse-battery-staple-9")).unwrap();
    let screen = evidence_screen::shared().clone();
    assert!(waivers.check(&screen).is_ok());
    let screen = Screen::new(&["correct-horse-battery-staple-9"]);
    let error = waivers.check(&screen).unwrap_err().to_string();
    assert!(!error.contains("horse"), "{error}");
}

#[test]
fn who_approves_alone_is_warned() {
    let text = GOOD.replace("john.roe@acme.example", "Jane.Doe@acme.example");
    let waivers = read(&text).unwrap();
    let [warning] = waivers.warnings().try_into().unwrap();
    assert_eq!((warning.code.as_str(), warning.subject.as_deref()), ("self_approved", Some("W-2026-014")));
    assert!(read(GOOD).unwrap().warnings().is_empty());
}

#[test]
fn what_ends_soon_is_named() {
    use super::super::expiries;
    let waivers = read(GOOD).unwrap();
    let at = |time: &str| evidence_bundle::time::parse(time).unwrap();
    for (time, expected) in [
        ("2026-12-31T23:59:59Z", None),
        ("2027-01-01T00:00:00Z", Some("the waiver W-2026-014 expires in 30 days, on 2027-01-31")),
        ("2027-01-30T12:00:00Z", Some("the waiver W-2026-014 expires tomorrow, on 2027-01-31")),
        ("2027-01-31T23:59:59Z", Some("the waiver W-2026-014 expires today, on 2027-01-31")),
        (
            "2027-02-01T00:00:00Z",
            Some("the waiver W-2026-014 expired on 2027-01-31: its failures count without it"),
        ),
    ] {
        let found: Vec<String> =
            expiries(&waivers, at(time)).iter().map(super::super::Expiry::sentence).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{time}");
    }
}
