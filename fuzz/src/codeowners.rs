//! Any CODEOWNERS file: lines are read one by one, the result prints back to itself, and the default rule is the last
//! broad one.

use std::collections::BTreeSet;

use evidence_rules::codehost::codeowners::{CodeOwners, DefaultRule, Line};

pub fn run(content: &[u8]) -> bool {
    let file = CodeOwners::parse(content);
    let lines = content.split(|byte| *byte == b'\n').count();
    let numbers = file.rules.iter().map(|rule| rule.line).chain(file.invalid.iter().map(|line| line.line));
    let distinct: BTreeSet<usize> = numbers.clone().collect();
    assert_eq!(distinct.len(), numbers.count(), "a line counts once");
    assert!(distinct.iter().all(|line| (1..=lines).contains(line)));

    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        // A byte order mark belongs to the file, not to a line.
        let line = if index == 0 { line.to_vec() } else { [b"\n", line].concat() };
        let alone = CodeOwners::parse(&line);
        let rule = |rule: &&Line| rule.line == index + 1;
        let (here, there) = (file.rules.iter().find(rule), alone.rules.first());
        assert_eq!(
            here.map(|rule| (&rule.pattern, &rule.owners)),
            there.map(|rule| (&rule.pattern, &rule.owners))
        );
        let here = file.invalid.iter().find(|invalid| invalid.line == index + 1);
        assert_eq!(here.map(|invalid| invalid.why), alone.invalid.first().map(|invalid| invalid.why));
    }

    // The leading blank line preserves the byte order mark of a pattern that begins with one.
    let printed = format!("\n{}", file.rules.iter().map(print).collect::<String>());
    let again = CodeOwners::parse(printed.as_bytes());
    assert!(again.invalid.is_empty(), "{printed:?}: {:?}", again.invalid);
    let kept = |rules: &[Line]| {
        rules.iter().map(|rule| (rule.pattern.clone(), rule.owners.clone())).collect::<Vec<_>>()
    };
    assert_eq!(kept(&again.rules), kept(&file.rules));
    assert_eq!(again.owner_count(), file.owner_count());
    assert!(file.owner_count() <= file.rules.iter().map(|rule| rule.owners.len()).sum());

    match file.default_rule() {
        DefaultRule::Covers { line, owners } => {
            let rule = file.rules.iter().find(|rule| rule.line == line).unwrap();
            assert!(owners > 0 && owners == rule.owners.len());
            // `*` alone after it removes its owners again.
            let cancelled = CodeOwners::parse(&[content, b"\n*"].concat());
            assert!(
                matches!(cancelled.default_rule(), DefaultRule::CancelledBy { line: of, .. } if of == line)
            );
        }
        DefaultRule::CancelledBy { line, by } => assert!(line < by),
        DefaultRule::Missing => {}
    }
    let covered = CodeOwners::parse(&[content, b"\n* @fuzz"].concat());
    assert!(matches!(covered.default_rule(), DefaultRule::Covers { owners: 1, .. }));
    !file.rules.is_empty()
}

fn print(rule: &Line) -> String {
    let owners: String = rule.owners.iter().map(|owner| format!(" {owner}")).collect();
    format!("{}{owners}\n", rule.pattern)
}
