//! A credential in two or three pieces, below and above lines that end and begin with words: every kind, every cut.

use super::*;

/// What stands between two pieces.
const BETWEEN: &[&str] =
    &["\n# ", "\r\n# ", "\n", "\r\n", "\t", "\n\n", "\n#\n# ", "\n    ", "\n// ", " \\\n"];

/// The lines before and behind.
const AROUND: &[(&str, &str)] = &[
    ("", ""),
    ("* @acme/x\n# ", "\n/docs @acme/docs\n"),
    ("# see area7\n# ", "\n# example of team2\n"),
    ("x\n\n# ", "\n\nyour_area7\n"),
];

/// The pieces of each text that a rule's examples have: the credential itself is cut, not the words that name it.
fn texts() -> impl Iterator<Item = (&'static Pattern, String, std::ops::Range<usize>)> {
    let rules = PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High && rule.may_be_cut);
    rules.flat_map(|rule| filled(rule, rule.examples).into_iter().map(move |text| (rule, text))).filter_map(
        |(rule, text)| {
            let findings = screen().check(text.as_bytes());
            let finding = findings.iter().find(|finding| finding.rule == rule.id)?;
            Some((rule, text, finding.start..finding.end))
        },
    )
}

/// Whether a cut there leaves escapes and the comment of a key whole: they are not the credential.
fn may_cut(text: &str, at: usize) -> bool {
    let comment =
        text.find("Comment: ").map(|start| start..start + "Comment: https://host, made here\n\n".len());
    !["\\", "\\u", "\\u{", "\\u{a"].iter().any(|begun| text[..at].ends_with(begun))
        && !comment.is_some_and(|comment| comment.contains(&at))
}

/// Whether the separator is only one more space between two words.
fn is_space(before: &str, between: &str, behind: &str) -> bool {
    between == "\t" && (before.ends_with(' ') || behind.starts_with(' '))
}

#[derive(Default)]
struct Missed {
    tried: usize,
    missed: Vec<String>,
}

impl Missed {
    fn check(&mut self, rule: &Pattern, text: &str) {
        self.tried += 1;
        if certain(text).is_empty() {
            self.missed.push(format!("{}: {text:?}", rule.id));
        }
    }

    fn report(self) {
        let Missed { tried, missed } = self;
        let mut rules: Vec<&str> = missed.iter().filter_map(|text| text.split(':').next()).collect();
        rules.dedup();
        let shown: Vec<&String> = missed.iter().step_by(missed.len().div_ceil(12).max(1)).collect();
        assert!(missed.is_empty(), "{} of {tried} missed, of {rules:?}: {shown:#?}", missed.len());
    }
}

#[test]
fn every_kind_in_two_pieces_at_every_place() {
    let mut all = Missed::default();
    for (rule, text, span) in texts() {
        for at in (span.start + 1..span.end).filter(|at| may_cut(&text, *at)) {
            // Each cut has one of the surroundings and three of the separators, so that every pair occurs.
            let (before, behind) = AROUND[at % AROUND.len()];
            for turn in 0..3 {
                let between = BETWEEN[(at * 3 + turn + at / BETWEEN.len()) % BETWEEN.len()];
                let (first, second) = text.split_at(at);
                if is_space(first, between, second) {
                    continue;
                }
                all.check(rule, &format!("{before}{first}{between}{second}{behind}"));
            }
        }
    }
    all.report();
}

#[test]
fn every_kind_in_three_pieces() {
    let mut all = Missed::default();
    let mut random = Rng::with_seed(20_261_123);
    for (rule, text, span) in texts() {
        for _ in 0..40 {
            let mut cuts = [random.usize(span.start + 1..span.end), random.usize(span.start + 1..span.end)];
            cuts.sort_unstable();
            let [one, two] = cuts;
            let between = random.choice(BETWEEN).unwrap();
            let (first, second, third) = (&text[..one], &text[one..two], &text[two..]);
            if is_space(first, between, second)
                || is_space(second, between, third)
                || one == two
                || !may_cut(&text, one)
                || !may_cut(&text, two)
            {
                continue;
            }
            let (before, behind) = random.choice(AROUND).unwrap();
            all.check(rule, &format!("{before}{first}{between}{second}{between}{third}{behind}"));
        }
    }
    all.report();
}

/// The smallest case of a report: the line before ends in a word.
#[test]
fn a_token_below_a_word() {
    let pieces = filled(&PATTERNS[0], &["<10 alnum>", "<10 alnum>"]);
    let text = format!("* @acme/x\n# {}{}\n# {}\n", "gl", format_args!("pat-{}", pieces[0]), pieces[1]);
    assert!(found_by("other-code-host-token", &text));
}
