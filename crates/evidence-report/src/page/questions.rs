//! Information produced by the entity (IPE): the ten questions that auditors ask of any list, answered from the
//! documents.

use evidence_view::words::{counted, grouped};

use super::Title;
use super::missing::Missing;
use super::observations::Observations;
use super::population::Population;
use super::room::{self, Room};
use super::settings::SettingsPart;

/// A question with the lines of its answer.
pub(super) struct Question {
    pub(super) question: &'static str,
    pub(super) answer: Vec<String>,
    /// The section with the details, and its name.
    pub(super) details: (&'static str, &'static str),
}

/// The answer to a question that no document has.
const NOT_RECORDED: &str = "not recorded";

/// The parts of the page that the answers refer to.
pub(super) struct Parts<'a> {
    pub(super) title: &'a Title,
    pub(super) population: &'a Population,
    pub(super) observations: &'a Observations,
    pub(super) missing: &'a Missing,
    pub(super) settings: &'a [SettingsPart],
    /// The number of checks.
    pub(super) checks: u64,
}

pub(super) fn questions(parts: &Parts<'_>) -> Vec<Question> {
    let Parts { title, population, observations, missing, .. } = parts;
    let collected = population.runs.iter().map(|run| run.collected).fold(0, u64::saturating_add);
    let left_out = population.runs.iter().map(|run| run.excluded).fold(0, u64::saturating_add);
    let each = |line: &dyn Fn(&super::SourceTitle) -> String| title.sources.iter().map(line).collect();
    let with = |mut lines: Vec<String>, more: Vec<String>| {
        lines.extend(more);
        lines
    };
    let mut out_of_scope: Vec<String> = population
        .out
        .iter()
        .map(|out| {
            format!("{} of {}: {}, {}", grouped(out.count), out.source, out.kind.to_lowercase(), out.reason)
        })
        .collect();
    if out_of_scope.is_empty() {
        out_of_scope.push("No member of the population is out of scope.".to_owned());
    }
    let mut answers = vec![
        Question {
            question: "What is it?",
            answer: vec![format!(
                "{} with settings of {}, read from its systems by a program, and {} of them. Evidence {}. Bundle {}.",
                counted(collected, "file"),
                title.organization,
                counted(parts.checks, "check"),
                title.purpose,
                title.bundle_id
            )],
            details: ("about", "What this report is"),
        },
        Question {
            question: "Which systems does it come from?",
            answer: each(&|source| format!("{}: {}", source.name, source.address)),
            details: ("settings", "Scope and settings"),
        },
        Question {
            question: "Who prepared it?",
            answer: with(
                vec![format!("Prepared by: {}", title.prepared_by.as_deref().unwrap_or(NOT_RECORDED))],
                with(
                    each(&|source| {
                        let login = source.login.as_deref().unwrap_or(NOT_RECORDED);
                        format!("Account behind the credentials of {}: {login}", source.name)
                    }),
                    vec![match &title.machine {
                        Some((hostname, _)) => format!("Made with {} on {hostname}.", title.tool),
                        None => format!("Made with {}.", title.tool),
                    }],
                ),
            ),
            details: ("settings", "Scope and settings"),
        },
        Question {
            question: "When was it prepared?",
            answer: vec![
                format!("Read {}. The bundle was created at {}.", title.collected, title.created_at),
                if title.fixed_time {
                    "All times were set by hand (--reproducible), not by a clock.".to_owned()
                } else {
                    "The signer claims these times.".to_owned()
                },
            ],
            details: ("requests", "the time of each request"),
        },
        Question {
            question: "With which parameters and queries?",
            answer: with(
                parts.settings.iter().map(SettingsPart::line).collect(),
                with(
                    observations.listings.iter().map(|call| format!("Listed by {call}")).collect(),
                    (observations.more_listings > 0)
                        .then(|| counted(observations.more_listings, "more listing request"))
                        .into_iter()
                        .collect(),
                ),
            ),
            details: ("requests", "every request"),
        },
        Question {
            question: "Is it complete?",
            answer: with(
                population.scopes.iter().map(|scope| format!("Scope: {scope}.")).collect(),
                with(
                    population
                        .totals
                        .iter()
                        .map(|total| {
                            format!("{} counts: {} {}", total.source, total.name, grouped(total.count))
                        })
                        .collect(),
                    vec![format!("{}.", missing_of(missing.count, title.requested))],
                ),
            ),
            details: ("population", "Population"),
        },
        Question {
            question: "Is it accurate?",
            answer: vec![
                "Each file holds fields of a system's answer, unchanged; the annex lists request, status, time and \
                 SHA-256. Each result follows from these files by a published rule."
                    .to_owned(),
                "Compare a sample with the systems' own pages: this tool cannot show that a system answered \
                 correctly."
                    .to_owned(),
            ],
            details: ("rules", "Rules"),
        },
        Question {
            question: "What was excluded?",
            answer: with(
                out_of_scope,
                vec![match left_out {
                    0 => "No evidence was left out for holding forbidden data.".to_owned(),
                    _ => format!("{} left out for holding forbidden data.", counted(left_out, "file")),
                }],
            ),
            details: ("left-out", "What is missing"),
        },
        Question {
            question: "Was it changed after it was collected?",
            answer: vec![
                format!("One signature, by the key {}, covers every file.", title.key_id),
                "Verification detects any change since then. This page cannot show that by itself.".to_owned(),
            ],
            details: ("verify", "How to verify"),
        },
        Question {
            question: "How can it be repeated and verified?",
            answer: vec![
                format!(
                    "Repeat: {} with the configuration {}(sha256:{}).",
                    title.command.as_deref().unwrap_or("evidence collect"),
                    title.configuration.as_ref().map(|path| format!("{path} ")).unwrap_or_default(),
                    title.configuration_sha256
                ),
                "Verify: evidence verify, or standard tools, with a key from a separate channel.".to_owned(),
            ],
            details: ("verify", "How to verify"),
        },
    ];
    let mut room = Room::new(room::QUESTIONS);
    for question in &mut answers {
        let left = room.keep(&mut question.answer, 20, |line| vec![line]);
        if left > 0 {
            question.answer.push(format!("{} in the section behind the link", counted(left, "more line")));
        }
    }
    answers
}

/// How many of the requested settings are missing, in words.
pub(super) fn missing_of(missing: u64, requested: u64) -> String {
    let are = if missing == 1 { "is" } else { "are" };
    match missing {
        0 => format!("None of the {} is missing", counted(requested, "requested setting")),
        _ => format!("{} of {} {are} missing", grouped(missing), counted(requested, "requested setting")),
    }
}
