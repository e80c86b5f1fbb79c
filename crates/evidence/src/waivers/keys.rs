//! The keys of the file of waivers: a list of mappings.

use evidence_rules::SOURCES;
use evidence_settings::declare::{
    CustomFormat, DefaultValue, Document, Format, LINE, Section, Shape, Vocabulary,
};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;

use crate::config::controls;
use crate::day::DATE;

/// The fewest characters of a reason: fewer say nothing to an auditor.
pub(super) const MIN_REASON: usize = 10;

/// The file.
pub(super) static DOCUMENT: Document = Document {
    title: "evidence waivers",
    file_name: "waivers.yaml",
    help_missing: "create it, or remove the key `waivers` from the configuration",
    help_directory: |inside| format!("name the file in it, for example `waivers: {}`", inside.display()),
    help_empty: "write one entry for each waiver, or `[]` if there is none",
    help_too_large: "use one waiver with several subjects in place of many",
    template_head: "",
    template_active: &[],
    root: &WAIVER,
};

/// One entry.
static WAIVER: Section = Section::new(
    "waivers[]",
    "A decision to accept failures for a while.",
    &[
        &ID,
        &CONTROL,
        &RULE,
        &SOURCE,
        &SUBJECTS,
        &REASONS,
        &REASON,
        &OWNER,
        &APPROVED_BY,
        &APPROVED_AT,
        &EXPIRES_AT,
        &TICKET,
        &COMPENSATING,
    ],
)
.not_empty();

keys! {
    pub(super) ID = required("id", Shape::Text(Format::Custom(&IDENTIFIER)), "The waiver's own name.")
        rule "at most 64 letters, digits and `._-/`; unique, and kept when the waiver is renewed",
        example "W-2026-014", also &["name", "number"];
    pub(super) CONTROL = optional("control", Shape::Text(Format::Word(&CONTROLS)),
        "The control, for readers of the file.")
        rule "the control that the framework files the rule under", example "CC7.2", also &["controls"];
    pub(super) RULE = required("rule", Shape::Text(Format::Word(&RULES)), "The rule whose failures are accepted.")
        example "branch-protection", also &["rules", "check"];
    pub(super) SOURCE = required("source", Shape::Text(Format::Word(&NAMES)), "The source of the evidence.")
        rule "the source whose evidence the rule judges", example "codehost", also &["sources"];
    pub(super) SUBJECTS = required("subjects",
        Shape::Entries { of: Format::Custom(&SUBJECT), section: &PATTERN },
        "What failed, as subjects in the results: exact names, where case does not count, or mappings with a pattern.")
        rule "at least one; a pattern is written as `{glob: \"acme/poc-*\"}`",
        example "[acme/legacy-billing]",
        also &["subject", "resources", "resource", "repositories", "repository"];
    pub(super) REASONS = default("reasons", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Word(&REASON_CODES), may_be_empty: true },
        "The failures that are accepted, by the code of the reason. Another failure of the same check is not accepted then.")
        rule "codes of the rule's reasons; without the key, every failure of the rule",
        example "[branch_unprotected]", also &["reason_codes", "codes"];
    pub(super) REASON = required("reason", LINE, "Why the failures are accepted.")
        rule "at least 10 characters", example "\"Frozen since 2026-03; migration in Q1\"",
        also &["why", "justification", "rationale", "statement", "description"];
    pub(super) OWNER = required("owner", LINE, "Who is responsible for the failures.")
        example "jane.doe@acme.example", also &["responsible"];
    pub(super) APPROVED_BY = required("approved_by", LINE, "Who approved the waiver.")
        rule "not the owner; otherwise the bundle has the warning `self_approved`",
        example "john.roe@acme.example", also &["approver", "approved"];
    pub(super) APPROVED_AT = required("approved_at", Shape::Text(Format::Custom(&DATE)),
        "The day of the approval, the first on which the waiver applies.")
        rule "in UTC", example "2026-11-02", also &["approved_on", "date", "from"];
    pub(super) EXPIRES_AT = required("expires_at", Shape::Text(Format::Custom(&DATE)),
        "The last day on which the waiver applies.")
        rule "in UTC; at most 366 days after `approved_at`", example "2027-01-31",
        also &["expires", "expired_at", "until", "expiry", "valid_until"];
    pub(super) TICKET = optional("ticket", LINE, "A ticket or an entry of the risk register; it is not fetched.")
        example "RISK-17", also &["issue", "risk"];
    pub(super) COMPENSATING = optional("compensating", Shape::TextOr { of: Format::Line, section: &CHECK },
        "What reduces the risk meanwhile: a text, or a check whose result is shown beside the waiver.")
        example "\"Deployments from this repository are disabled\"",
        also &["compensating_control", "mitigation"];
    pub(super) GLOB = required("glob", Shape::Text(Format::Custom(&PATTERN_TEXT)), "The pattern.")
        rule "`*` matches any characters but `/`; case does not count",
        example "\"acme/poc-*\"", also &["pattern"];
    pub(super) CHECK_RULE = required("rule", Shape::Text(Format::Word(&RULES)), "The rule of the check.")
        example "two-factor-required";
    pub(super) CHECK_SUBJECT = required("subject", LINE, "The subject of the check.") example "acme";
}

/// A pattern of subjects.
static PATTERN: Section = Section::new(
    "waivers[].subjects[]",
    "A pattern of subjects. A new subject that matches is accepted too, so the number of matches is shown.",
    &[&GLOB],
)
.not_empty();

/// A check.
static CHECK: Section = Section::new(
    "waivers[].compensating",
    "The check that shows what reduces the risk meanwhile.",
    &[&CHECK_RULE, &CHECK_SUBJECT],
)
.not_empty();

/// The words of a key that takes all of them.
const fn vocabulary(noun: &'static str, words: fn(&str) -> Vec<&'static str>) -> Vocabulary {
    Vocabulary { noun, known: words, taken: words, refusal: "", offer: "", elsewhere: |_, _| None }
}

static CONTROLS: Vocabulary = vocabulary("control", controls::all);
static RULES: Vocabulary = vocabulary("rule", |_| evidence_rules::rules().map(|rule| rule.code).collect());
static NAMES: Vocabulary = vocabulary("source", |_| SOURCES.iter().map(|source| source.source).collect());
static REASON_CODES: Vocabulary =
    vocabulary("reason", |_| evidence_rules::reasons().map(|reason| reason.code).collect());

static IDENTIFIER: CustomFormat = CustomFormat {
    noun: "a short name",
    shown: "text",
    hint: Some("put it in quotes, for example `\"W-2026-014\"`"),
    ignores_case: true,
    check: |text| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if text.len() <= 64 && text.bytes().all(is_plain) {
            return Ok(());
        }
        Err(Complaint::new("this is not a short name").help("use at most 64 letters, digits and `._-/`"))
    },
    pattern: "^[A-Za-z0-9._/-]+$",
    max_length: Some(64),
};

static SUBJECT: CustomFormat = CustomFormat {
    noun: "a subject",
    shown: "text",
    hint: None,
    ignores_case: true,
    check: |text| {
        if !text.contains('*') {
            return Ok(());
        }
        Err(Complaint::new("a plain entry is an exact name, and `*` is not one")
            .help("write a pattern as a mapping: `{glob: \"acme/poc-*\"}`"))
    },
    pattern: "^[^*]+$",
    max_length: None,
};

static PATTERN_TEXT: CustomFormat = CustomFormat {
    noun: "a pattern",
    shown: "text",
    hint: Some("put it in quotes, for example `\"acme/poc-*\"`"),
    ignores_case: true,
    check: |text| {
        let stars = "`*` is the only wildcard, and matches any characters but `/`";
        if text.contains("**") || text.contains(['?', '[', '{']) {
            return Err(Complaint::new("the pattern has a wildcard that does not exist").help(stars));
        }
        if !text.contains('*') {
            return Err(Complaint::new("the pattern has no `*`")
                .help("write the exact name as a plain entry, without `glob`"));
        }
        if text.chars().all(|character| matches!(character, '*' | '/')) {
            return Err(Complaint::new("the pattern matches everything")
                .help("name what is accepted, for example `acme/poc-*`"));
        }
        Ok(())
    },
    pattern: "\\*",
    max_length: None,
};
