//! One fixture for each rule. The snapshot contains the place, key, message and help of every problem.

use std::fmt::Write;

use super::{fixtures, load, refuse};

#[test]
fn every_rule_has_its_message() {
    let mut table = String::new();
    for (name, bytes) in fixtures("invalid") {
        let error =
            load(&bytes).err().unwrap_or_else(|| panic!("{name} is accepted, although it must be refused"));
        writeln!(table, "{name}").unwrap();
        for problem in &error.problems {
            let place = match (problem.line, problem.column) {
                (Some(line), Some(column)) => format!("{line}:{column}"),
                (None, None) => "file".to_owned(),
                _ => panic!("{name}: a line without a column"),
            };
            let key = if problem.key.is_empty() { "(file)" } else { &problem.key };
            writeln!(table, "  {place} {key}: {}", problem.message).unwrap();
            if let Some(help) = &problem.help {
                writeln!(table, "    help: {help}").unwrap();
            }
        }
    }
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("rules", table);
    });
}

#[test]
fn valid_fixtures_are_accepted() {
    for (name, bytes) in fixtures("valid") {
        if let Err(error) = load(&bytes) {
            panic!("{name}:\n{}", error.render(false));
        }
    }
}

/// The wording that the style rules require of every message.
#[test]
fn messages_are_lower_case_and_say_what_to_do() {
    for (name, bytes) in fixtures("invalid") {
        for problem in refuse(&bytes).problems {
            let first = problem.message.chars().next().unwrap();
            assert!(!first.is_uppercase(), "{name}: {}", problem.message);
            assert!(!problem.message.ends_with('.'), "{name}: {}", problem.message);
            let states_the_rule =
                ["more than", "at most", "1 to"].iter().any(|words| problem.message.contains(words));
            assert!(problem.help.is_some() || states_the_rule, "{name}: {}", problem.message);
        }
    }
}

#[test]
fn all_problems_of_a_file_are_shown_at_once() {
    let error = refuse(include_str!("everything-wrong.yaml"));
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("everything-wrong", error.render(false));
    });
}

#[test]
fn colour_adds_nothing_but_colour() {
    let error = refuse(include_str!("everything-wrong.yaml"));
    let coloured = error.render(true);
    assert!(coloured.contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, error.render(false));
}

#[test]
fn problems_come_in_the_order_of_the_file() {
    let error = refuse(include_str!("everything-wrong.yaml"));
    let lines: Vec<usize> = error.problems.iter().filter_map(|problem| problem.line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}
