//! Checks the documents against the program: they list exactly the program's codes, every link resolves, every command
//! line parses, every identifier is in the linked file, and the sample run matches the program's output.

// The helpers are test code, which clippy only recognises in functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "support/generated.rs"]
mod generated;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use evidence::cli::Cli;
use evidence::evaluate::{Check, Evidence};
use evidence::exit::Exit;
use evidence::hint;
use evidence::manual::{self, Entry};
use evidence::source::github::{PERMISSIONS, Permission};
use evidence::source::{KINDS, SourceKind};
use evidence_bundle::document::LACKING_REASONS;
use evidence_rules::framework::{self, Mapping};
use evidence_rules::rule::{Advice, Reason, Recommendation, Rule, Settings, Status, Verdict, reason};
use generated::generated;
use sandbox::cloud::Cloud;
use sandbox::workspace::Workspace;

/// Flags of other programs in the documents.
const FOREIGN_FLAGS: &[&str] = &["--format", "--password", "--token", "--user"];

/// The releases page, as the code host resolves the README's relative link: outside the repository's files.
const HOSTED: &str = "../../releases";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Markdown file of the repository: path below the root, and text.
fn documents() -> Vec<(String, String)> {
    fn visit(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "src" {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let root = root();
    let mut found = Vec::new();
    visit(&root, &mut found);
    found.sort();
    let relative = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let documents: Vec<_> =
        found.iter().map(|path| (relative(path), fs::read_to_string(path).unwrap())).collect();
    assert!(documents.iter().any(|(path, _)| path == "README.md"));
    documents
}

/// A Markdown text without its fenced blocks, and the blocks with their languages.
fn split(text: &str) -> (String, Vec<(String, String)>) {
    let (mut prose, mut blocks) = (String::new(), Vec::new());
    let mut block: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut block, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => block = Some((language.trim().to_string(), String::new())),
            (None, None) => prose.push_str(&format!("{line}\n")),
            (Some(_), Some(_)) => blocks.extend(block.take()),
            (Some((_, content)), None) => content.push_str(&format!("{line}\n")),
        }
    }
    assert!(block.is_none(), "a fenced block has no end");
    (prose, blocks)
}

/// The code spans of a prose.
fn spans(prose: &str) -> Vec<String> {
    prose
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// The rows of the tables whose first heading is `heading`: their first cells.
fn first_cells(text: &str, heading: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let first = row.split('|').next().unwrap().trim().trim_matches('`').to_string();
        if first == heading {
            inside = true;
        } else if inside && !first.starts_with("--") {
            cells.push(first);
        }
    }
    cells
}

fn headings(text: &str) -> Vec<String> {
    let (prose, _) = split(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| line.trim_start_matches('#').trim().to_string()).collect()
}

fn same<T: Ord + std::fmt::Debug>(documented: BTreeSet<T>, real: BTreeSet<T>, what: &str) {
    let missing: Vec<_> = real.difference(&documented).collect();
    let invented: Vec<_> = documented.difference(&real).collect();
    assert!(missing.is_empty(), "{what}: not documented: {missing:?}");
    assert!(invented.is_empty(), "{what}: documented and not in the program: {invented:?}");
}

/// The page of a source.
fn page(kind: &SourceKind) -> String {
    format!("docs/sources/{}.md", kind.name.id())
}

fn codes(reasons: &[&Reason]) -> BTreeSet<String> {
    reasons.iter().map(|reason| reason.code.to_string()).collect()
}

#[test]
fn every_code_is_unique() {
    let reasons: Vec<&str> = evidence_rules::reasons().map(|reason| reason.code).collect();
    for lacking in LACKING_REASONS {
        assert!(reasons.contains(&lacking), "a bundle is incomplete for {lacking}, which no check has");
    }
    assert_eq!(reasons.iter().collect::<BTreeSet<_>>().len(), reasons.len(), "{reasons:?}");
    let rules: Vec<&str> = evidence_rules::rules().map(|rule| rule.code).collect();
    assert_eq!(rules.iter().collect::<BTreeSet<_>>().len(), rules.len(), "{rules:?}");
    let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name.id()).collect();
    assert_eq!(names.len(), KINDS.len());
}

#[test]
fn every_reason_has_a_row() {
    let documented = |page: &str| first_cells(&read(page), "Reason").into_iter().collect();
    same(documented("docs/controls.md"), codes(reason::SHARED), "reasons");
    for kind in KINDS {
        let own = page(kind);
        // A page may repeat a shared reason to explain its meaning for this source.
        let shared = codes(reason::SHARED);
        let documented = documented(&own);
        same(
            documented.difference(&shared).cloned().collect(),
            codes(&kind.judged.reasons().collect::<Vec<_>>()),
            &own,
        );
    }
}

#[test]
fn every_rule_and_every_control_has_a_heading() {
    for kind in KINDS {
        let headings = headings(&read(&page(kind)));
        let rules = headings.iter().filter(|heading| heading.starts_with('`'));
        let rules = rules.map(|heading| heading.trim_matches('`').to_string()).collect();
        same(rules, kind.judged.rules.iter().map(|rule| rule.code.to_string()).collect(), &page(kind));
    }
    // In every framework, the first word of an identifier contains a dot.
    let is_control = |heading: &String| heading.split(' ').next().is_some_and(|word| word.contains('.'));
    let controls = headings(&read("docs/controls.md")).into_iter().filter(is_control).collect();
    let real = framework::ALL[0].controls.iter();
    let real = real.map(|control| format!("{} {}", control.id, control.title)).collect();
    same(controls, real, "controls");
}

/// Every exit code. A new one does not compile until it is added here, and fails until it is documented.
/// The manual pages and these pages come from the same tables.
#[test]
fn the_tables_of_the_manual_are_in_step() {
    let mut codes = String::from("| Code | Name | Meaning | What to do |\n|---|---|---|---|\n");
    for exit in Exit::ALL {
        let meaning = exit.meaning().replace(" complete.", " [complete](#complete).");
        codes.push_str(&format!("| {} | {} | {meaning} | {} |\n", exit.code(), exit.name(), exit.remedy()));
    }
    generated("docs/exit-codes.md", &[("codes", codes)]);
    let table = |heading: &str, entries: &[Entry]| {
        let mut table = format!("| {heading} | Commands | Purpose |\n|---|---|---|\n");
        for Entry { name, commands, text } in entries {
            let every =
                manual::VARIABLES.iter().map(|entry| entry.commands.len()).max() == Some(commands.len());
            let commands: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
            let commands = if every { "every command".to_string() } else { commands.join(", ") };
            table.push_str(&format!("| `{name}` | {commands} | {text} |\n"));
        }
        table
    };
    let parts =
        [("variables", table("Variable", manual::VARIABLES)), ("files", table("File", manual::FILES))];
    generated("docs/environment.md", &parts);
}

/// Every command has examples that parse, and only names of commands are in the tables.
#[test]
fn every_command_has_examples() {
    let names: Vec<String> =
        Cli::command().get_subcommands().map(|command| command.get_name().to_string()).collect();
    for name in names.iter().map(String::as_str).chain([""]) {
        assert!(!manual::examples(name).is_empty() && !manual::exits(name).is_empty(), "{name}");
        for example in manual::examples(name) {
            assert_eq!(parses(example.line, true), Ok(()), "{}", example.line);
        }
    }
    for entry in manual::VARIABLES.iter().chain(manual::FILES) {
        assert!(
            entry.commands.iter().all(|command| names.iter().any(|name| name == command)),
            "{}",
            entry.name
        );
    }
}

#[test]
fn every_exit_code_has_a_row() {
    let real: BTreeSet<String> = Exit::ALL.iter().map(|exit| exit.code().to_string()).collect();
    let documented = first_cells(&read("docs/exit-codes.md"), "Code").into_iter().collect();
    same(documented, real.clone(), "docs/exit-codes.md");
    // Every code in the tables of failures exists in the program.
    for line in read("docs/exit-codes.md").lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        for number in cells[2].split(" or ").filter(|cell| cell.bytes().all(|byte| byte.is_ascii_digit())) {
            assert!(number.is_empty() || real.contains(number), "{line}");
        }
    }
}

/// The warning codes in these files.
fn warning_codes(files: &[(PathBuf, String)]) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for (_, text) in files {
        let text = text.split("#[cfg(test)]").next().unwrap();
        for call in ["warn(", "warning(", "Warning { code: ", "let code = "] {
            for (at, _) in text.match_indices(call) {
                if let Some(rest) = text[at + call.len()..].trim_start().strip_prefix('"') {
                    codes.insert(rest.split('"').next().unwrap().to_string());
                }
            }
        }
        for (at, _) in text.match_indices("Warning {\n") {
            if let Some(rest) = text[at + 10..].trim_start().strip_prefix("code: \"") {
                codes.insert(rest.split('"').next().unwrap().to_string());
            }
        }
    }
    codes
}

#[test]
fn every_warning_has_a_row() {
    let (of_sources, others): (Vec<_>, Vec<_>) = sources("crates/evidence/src")
        .into_iter()
        .partition(|(path, _)| path.components().any(|part| part.as_os_str() == "source"));
    let mut real = warning_codes(&others);
    // This warning uses the code of its reason.
    assert!(
        read("crates/evidence/src/collection/collector.rs")
            .contains("let code = reason::EXCLUDED_BY_POLICY.code")
    );
    real.insert(reason::EXCLUDED_BY_POLICY.code.to_string());
    same(first_cells(&read("docs/controls.md"), "Code").into_iter().collect(), real, "warnings");
    for kind in KINDS {
        let folder = folder(kind);
        let own: Vec<_> = of_sources.iter().filter(|(path, _)| path.starts_with(&folder)).cloned().collect();
        let mut real = warning_codes(&own);
        if kind.name.id() == "codehost" {
            // These warnings use the code of their reason.
            let source = read("crates/evidence/src/source/github/host/refusal.rs");
            assert_eq!(source.matches("warning(reason.code").count(), 1);
            let source = read("crates/evidence/src/source/github/topics/branch_protection/mod.rs");
            assert_eq!(source.matches("warning(code,").count(), 2);
            let source = read("crates/evidence/src/source/github/population/discovery.rs");
            assert_eq!(source.matches("warning(rules::reason::POPULATION_INCOMPLETE.code").count(), 1);
            real.extend(["branch_missing", "branch_unprotected", "blocked"].map(str::to_string));
            real.extend(["plan_limit", "population_incomplete", "sso_required"].map(str::to_string));
        }
        same(first_cells(&read(&page(kind)), "Code").into_iter().collect(), real, &page(kind));
    }
}

/// The folder of a source, which is named after its provider.
fn folder(kind: &SourceKind) -> PathBuf {
    let name = format!("SourceName::new(\"{}\")", kind.name.id());
    let folders = fs::read_dir(root().join("crates/evidence/src/source")).unwrap();
    let names = |folder: &PathBuf| fs::read_to_string(folder.join("names.rs")).unwrap_or_default();
    folders.map(|entry| entry.unwrap().path()).find(|folder| names(folder).contains(&name)).unwrap()
}

/// The sources below a directory.
fn sources(directory: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut todo = vec![root().join(directory)];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The program contains every message of the page on troubleshooting. `...` stands for a part that varies.
#[test]
fn every_message_is_in_the_sources() {
    let continued = regex::Regex::new(r"\\\n\s*").unwrap();
    let mut code = String::new();
    for member in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        if member.file_name().is_some_and(|name| name != "sandbox") && member.join("src").is_dir() {
            let folder = member.join("src");
            for (_, text) in sources(folder.strip_prefix(root()).unwrap().to_str().unwrap()) {
                let text = text.split("#[cfg(test)]").next().unwrap();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                code.extend(lines.flat_map(|line| [line, "\n"]));
            }
        }
    }
    let code = continued.replace_all(&code, "").replace(r"\\", r"\");
    let (mut count, mut invented) = (0, Vec::new());
    for cell in first_cells(&read("docs/troubleshooting.md"), "Message") {
        // The outer backticks of the cell are already removed.
        for message in spans(&format!("`{cell}`")) {
            count += 1;
            let known = |part: &str| part.trim().is_empty() || code.contains(part.trim());
            if !message.split("...").all(known) {
                invented.push(message);
            }
        }
    }
    assert!(invented.is_empty(), "docs/troubleshooting.md: no source has these messages: {invented:#?}");
    assert!(count > 80, "only {count} messages were found");
}

#[test]
fn the_tables_of_hints_are_in_step() {
    let shared = hints(reason::SHARED, &evidence_rules::rules().collect::<Vec<_>>());
    generated("docs/controls.md", &[("hints", shared)]);
    for kind in KINDS {
        let hints = hints(&kind.judged.reasons().collect::<Vec<_>>(), kind.judged.rules);
        generated(&page(kind), &[("rules", sections(kind)), ("hints", hints)]);
    }
}

/// A section for each rule that the page does not describe by hand, from its declaration.
fn sections(kind: &SourceKind) -> String {
    let text = read(&page(kind));
    let (before, rest) = text.split_once("<!-- generated: rules -->").expect("a place for rules");
    let (_, after) = rest.split_once("<!-- end: rules -->").expect("its end");
    let by_hand = headings(&format!("{before}{after}"));
    let mut sections = String::new();
    for rule in kind.judged.rules.iter().filter(|rule| !by_hand.contains(&format!("`{}`", rule.code))) {
        let Rule { code, title, reads, not_checked, .. } = rule;
        let expected = rule.expectation(&Settings::default());
        sections.push_str(&format!(
            "### `{code}`\n\n{title}. **Expected:** {expected}.\n\n**Read:** {reads}.\n\n| Reason | Meaning |\n|---|---|\n"
        ));
        for reason in rule.reasons {
            sections.push_str(&format!("| `{}` | {} |\n", reason.code, reason.title));
        }
        for setting in rule.settings {
            sections.push_str(&format!(
                "\n`rules.settings.{code}.{}`: {} by default.\n",
                setting.name, setting.default
            ));
        }
        sections.push_str(&format!("\n**Not checked:** {not_checked}.\n\n"));
    }
    sections.trim_end().to_string()
}

#[test]
fn the_table_of_rules_is_in_step() {
    let mut table =
        String::from("| Control | Source | Rule | Expected | Criteria |\n|---|---|---|---|---|\n");
    let [first, second] = framework::ALL else { panic!("describe the new framework on a page") };
    for control in first.controls {
        for Mapping { rule, criteria, .. } in control.rules {
            let kind = KINDS.iter().find(|kind| kind.judged.rules.contains(rule)).unwrap();
            let (name, code, criteria) = (kind.name.id(), rule.code, criteria.join(", "));
            table.push_str(&format!(
                "| {} | `{name}` | [`{code}`](sources/{name}.md#{code}) | {} | {criteria} |\n",
                control.id,
                rule.expectation(&Settings::default())
            ));
        }
    }
    let mut sections = String::new();
    for control in first.controls {
        sections.push_str(&format!("## {} {}\n\n{}\n\n", control.id, control.title, control.about));
    }
    let mut criteria = String::from("| Criterion | Title, in our words | Rules |\n|---|---|---|\n");
    for control in second.controls {
        let rules = control.rules.iter().map(|Mapping { rule, .. }| {
            let (source, code) = (evidence_rules::source_of(rule), rule.code);
            format!("[`{code}`](sources/{source}.md#{code})")
        });
        let rules = rules.collect::<Vec<_>>().join(", ");
        criteria.push_str(&format!(
            "| {} | {} | {} |\n",
            control.id,
            control.title,
            if rules.is_empty() { "no automated evidence" } else { &rules }
        ));
    }
    let sections = ("controls", sections.trim_end().to_string());
    generated("docs/controls.md", &[sections, ("rules", table), ("tsc", criteria)]);
}

#[test]
fn the_page_of_criteria_is_in_step() {
    let heading =
        "| Rule | Control of the tool | Criteria | Why there | Also filed under |\n|---|---|---|---|---|\n";
    let (mut rules, mut about) = (String::new(), String::new());
    for framework in framework::ALL {
        if framework::ALL.len() > 1 {
            rules.push_str(&format!("`{}`:\n\n", framework.id));
            about.push_str(&format!("`{}`:\n\n", framework.id));
        }
        rules.push_str(heading);
        for (control, mapping) in framework
            .controls
            .iter()
            .flat_map(|control| control.rules.iter().map(move |rule| (control, rule)))
        {
            let Mapping { rule, criteria, why, also, opt_in: _ } = mapping;
            let (source, code) = (evidence_rules::source_of(rule), rule.code);
            let also = if also.is_empty() { String::new() } else { format!("{also} ") };
            rules.push_str(&format!(
                "| [`{code}`](sources/{source}.md#{code}) | {} | {} | {why} | {also}|\n",
                control.id,
                criteria.join(", ")
            ));
        }
        about.push_str("| Criterion | About, in our words |\n|---|---|\n");
        framework.criteria.iter().for_each(|(id, text)| about.push_str(&format!("| {id} | {text} |\n")));
    }
    generated("docs/criteria.md", &[("filed", rules), ("about", about)]);
}

/// Every rule of the second framework has a row, with its criteria.
#[test]
fn the_rules_at_a_glance_are_in_step() {
    let page = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let listed: BTreeSet<&str> = page.lines().filter(|line| line.starts_with("| [`")).collect();
    let criteria = framework::Framework::from_id("tsc_2017").unwrap();
    let mappings: Vec<&Mapping> = criteria.controls.iter().flat_map(|control| control.rules).collect();
    assert_eq!(listed.len(), mappings.len());
    for Mapping { rule, criteria, .. } in mappings {
        let (source, code) = (evidence_rules::source_of(rule), rule.code);
        let start = format!("| [`{code}`](sources/{source}.md#{code}) | {} | ", criteria.join(", "));
        assert!(listed.iter().any(|line| line.starts_with(&start)), "{start}");
    }
}

#[test]
fn the_tables_of_calls_are_in_step() {
    for kind in KINDS {
        let mut table = String::from(
            "| Call | For | How often | Largest answer | Its subject |\n|---|---|---|---|---|\n",
        );
        for call in kind.calls {
            let (name, purpose, times) = (call.name, call.purpose, call.times);
            let (limit, subject) = (size(call.limit), call.subject);
            table.push_str(&format!("| `{name}` | {purpose} | {times} | {limit} | {subject} |\n"));
        }
        generated(&page(kind), &[("calls", table)]);
    }
}

#[test]
fn the_table_of_permissions_is_in_step() {
    let mut table = String::from("| Permission | In the API | For |\n|---|---|---|\n");
    for Permission { name, title, reads } in PERMISSIONS {
        table.push_str(&format!("| {title}: read | `{name}` | {reads} |\n"));
    }
    generated("docs/sources/codehost.md", &[("permissions", table)]);
}

/// A number of bytes, in whole KiB or MiB.
fn size(bytes: usize) -> String {
    let (number, unit) = if bytes.is_multiple_of(1024 * 1024) { (1024 * 1024, "MiB") } else { (1024, "KiB") };
    assert_eq!(bytes % number, 0);
    format!("{} {unit}", bytes / number)
}

/// A table of the hints for these reasons.
fn hints(reasons: &[&'static Reason], rules: &[&'static Rule]) -> String {
    let mut table = String::from(
        "| For reason | Rule | Severity | Category | Title | What to do |\n|---|---|---|---|---|---|\n",
    );
    for reason in reasons {
        // Rules that give the same advice share a row.
        let mut rows: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for rule in rules {
            if let Some((title, advice)) = hint::advice(&example(rule, reason)) {
                rows.entry(in_cells(rule, title, &advice)).or_default().push(rule.code);
            }
        }
        for (row, codes) in rows {
            let codes = if codes.len() == rules.len() {
                "any".to_string()
            } else {
                codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ")
            };
            table.push_str(&format!("| `{}` | {codes} | {row} |\n", reason.code));
        }
    }
    for rule in rules {
        for hint in rule.hints.iter().filter(|_| reasons.iter().all(|reason| **reason != reason::OK)) {
            let advice = hint.advice.expect("a hint has advice");
            table.push_str(&format!(
                "| `{}` | `{}` | {} |\n",
                hint.code,
                rule.code,
                in_cells(rule, hint.title, &advice)
            ));
        }
    }
    for rule in rules.iter().filter(|_| reasons.iter().all(|reason| **reason != reason::OK)) {
        if let Some(Recommendation { title, advice }) = &rule.improvement {
            table.push_str(&format!("| `ok` | `{}` | {} |\n", rule.code, in_cells(rule, title, advice)));
        }
    }
    table
}

fn in_cells(rule: &'static Rule, title: &str, advice: &Advice) -> String {
    let word = |value: String| value.trim_matches('"').to_string();
    let severity = word(serde_json::to_string(&advice.severity).unwrap());
    let category = word(serde_json::to_string(&advice.category).unwrap());
    let remediation = evidence_rules::advice_text(&Settings::default(), rule, advice.remediation);
    format!("{severity} | {category} | {title} | {remediation}")
}

/// A check with this rule and reason that did not pass.
fn example(rule: &'static Rule, reason: &'static Reason) -> Check {
    let status = if *reason == reason::OK { Status::Pass } else { Status::Fail };
    let verdict = Verdict { status, reason, actual: None, improvable: false, hint: None };
    let source = KINDS[0].name;
    Check { rule, source, subject: "acme/web".into(), verdict, evidence: Evidence::Many(Box::new([])) }
}

/// The anchor of a heading, as code hosts make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The links of a prose: text and target. The pictures of HTML elements are among them.
fn links(prose: &str) -> Vec<(String, String)> {
    let mut links = Vec::new();
    for attribute in ["src=\"", "srcset=\""] {
        for (at, _) in prose.match_indices(attribute) {
            let target = prose[at + attribute.len()..].split('"').next().unwrap();
            links.push((attribute.to_string(), target.to_string()));
        }
    }
    for (at, _) in prose.match_indices("](") {
        let target = prose[at + 2..].split(')').next().unwrap().to_string();
        let start = prose[..at].rfind('[').expect("a link has a text");
        links.push((prose[start + 1..at].to_string(), target));
    }
    links
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for (page, text) in documents() {
        let (prose, _) = split(&text);
        let directory = root().join(&page).parent().unwrap().to_path_buf();
        for (shown, target) in links(&prose).into_iter().filter(|(_, target)| !target.contains("://")) {
            count += 1;
            if page == "README.md" && target == HOSTED {
                continue;
            }
            let (file, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { root().join(&page) } else { directory.join(file) };
            if !path.exists() {
                broken.push(format!("{page}: [{shown}]({target}): no such file"));
                continue;
            }
            let known =
                || headings(&fs::read_to_string(&path).unwrap()).iter().any(|h| anchor(h) == fragment);
            if !fragment.is_empty() && !known() {
                broken.push(format!("{page}: [{shown}]({target}): no such heading"));
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            // The linked source file defines every identifier in the link's text.
            let code = fs::read_to_string(&path).unwrap();
            for name in spans(&shown).iter().filter(|name| !name.contains('.')) {
                let name = name.rsplit("::").next().unwrap();
                let defined =
                    ["fn", "struct", "enum", "trait", "const", "static", "type", "mod"].iter().any(|kind| {
                        [" ", "<", "(", ":", ";", "'"]
                            .iter()
                            .any(|after| code.contains(&format!("{kind} {name}{after}")))
                    });
                let is_module = path.file_stem().is_some_and(|stem| stem == name || stem == "mod")
                    && path.to_string_lossy().contains(name);
                if !defined && !is_module {
                    broken.push(format!("{page}: [{shown}]({target}): {name} is not defined there"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 50, "only {count} links were found");
}

#[test]
fn the_readme_names_every_page() {
    let named: BTreeSet<String> =
        links(&split(&read("README.md")).0).into_iter().map(|(_, target)| target).collect();
    for (page, _) in documents().iter().filter(|(page, _)| page.starts_with("docs/")) {
        assert!(named.contains(page), "README.md does not name {page}");
    }
}

#[test]
fn every_path_in_a_code_span_exists() {
    for (page, text) in documents() {
        for span in spans(&split(&text).0).iter().filter_map(|span| span.split(' ').next()) {
            let ours = ["crates/", "docs/"].iter().any(|start| span.starts_with(start));
            // `docs/CODEOWNERS` is a path in users' repositories; an asterisk matches several files.
            if ours && span != "docs/CODEOWNERS" && !span.contains('*') {
                assert!(root().join(span).exists(), "{page}: {span} does not exist");
            }
        }
    }
}

/// The words of a shell command line, up to the first character that ends it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '|' | ';' | ')' | '>' | '&' | '#') => break,
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (None, c) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The command lines of `evidence` in a block of shell or YAML, or in an output after a prompt.
fn command_lines(language: &str, block: &str) -> Vec<String> {
    let starts: &[&str] = match language {
        "sh" => &["evidence ", "$(evidence ", "&& evidence "],
        "yaml" => &["run: evidence "],
        "text" => &["$ evidence "],
        _ => &[],
    };
    let mut lines = Vec::new();
    for line in block.lines() {
        for start in starts {
            let at = if *start == "evidence " {
                line.trim_start().starts_with(start).then_some(0)
            } else {
                line.find(start)
            };
            if let Some(at) = at {
                let rest = &line[at..];
                lines.push(rest[rest.find("evidence ").unwrap()..].to_string());
            }
        }
    }
    lines
}

fn parses(line: &str, whole: bool) -> Result<(), String> {
    let words = words(line);
    match Cli::try_parse_from(&words) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(()),
            // Prose may name a command without its arguments.
            ErrorKind::MissingRequiredArgument if !whole => Ok(()),
            _ => Err(format!("{line}: {error}")),
        },
    }
}

#[test]
fn every_command_line_can_be_typed() {
    let mut count = 0;
    for (page, text) in documents() {
        let (prose, blocks) = split(&text);
        for (language, block) in blocks {
            for line in command_lines(&language, &block) {
                count += 1;
                parses(&line, true).unwrap_or_else(|error| panic!("{page}: {error}"));
            }
        }
        for span in spans(&prose).iter().filter(|span| span.starts_with("evidence ")) {
            count += 1;
            parses(span, false).unwrap_or_else(|error| panic!("{page}: {error}"));
        }
    }
    assert!(count > 30, "only {count} command lines were found");
}

#[test]
fn every_flag_exists_and_every_variable_is_read() {
    let mut flags = BTreeSet::from(["--help", "--version"].map(str::to_string));
    for command in Cli::command().get_subcommands() {
        flags.extend(
            command.get_arguments().filter_map(|argument| argument.get_long().map(|l| format!("--{l}"))),
        );
    }
    // Other pages may also name the platform's flags, as documented on its page.
    let platform = read("docs/platform.md");
    let is_flag_part = |c: char| c.is_ascii_lowercase() || c == '-';
    flags.extend(
        platform.split(|c| !is_flag_part(c)).filter(|word| word.starts_with("--")).map(str::to_string),
    );
    let text = |folder: &str| sources(folder).into_iter().map(|(_, text)| text).collect::<String>();
    let code =
        text("crates/evidence/src") + &read("dist/install.sh.in") + &read("crates/verifier-page/build.rs");
    let tests = text("crates/evidence/tests") + &text("crates/evidence-platform/tests");
    // These pages are about other programs, with their own flags.
    let others = ["crates/sandbox/", "docs/platform"];
    let own = |page: &str| !others.iter().any(|other| page.starts_with(other));
    for (page, text) in documents().into_iter().filter(|(page, _)| own(page)) {
        for span in spans(&split(&text).0) {
            let first = span.split([' ', '=']).next().unwrap();
            if first.starts_with("--") && !first.starts_with("---") {
                assert!(
                    flags.contains(first) || FOREIGN_FLAGS.contains(&first),
                    "{page}: {first} is no flag"
                );
            }
            let own = KINDS.iter().map(|kind| kind.name.id().to_uppercase()).chain(["EVIDENCE".to_string()]);
            let own = own.into_iter().any(|start| first.starts_with(&format!("{start}_")));
            if own && first.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
                // `bench/RESULTS.md` also names the variables of the tests. Every variable for a secret has a `_FILE`
                // variant.
                let read = code.contains(first.strip_suffix("_FILE").unwrap_or(first))
                    || (page == "bench/RESULTS.md" && tests.contains(first));
                assert!(read, "{page}: nothing reads {first}");
            }
        }
    }
}

/// What a run counts. A number in front of one of these words is the same in each run.
const COUNTED: [&str; 11] = [
    "artifact",
    "check",
    "collected",
    "fail",
    "files",
    "left out",
    "not ",
    "pass",
    "repositories",
    "requests;",
    "users",
];

/// Replaces values that differ between runs: numbers that are not [`COUNTED`], and the hexadecimal part of key ids and
/// bundle ids.
fn blurred(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line.trim_end();
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("sha256:") {
            text.push_str("sha256:#");
            rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        } else if let Some(after) = rest.strip_prefix("bundle id ") {
            text.push_str("bundle id #");
            rest = after.trim_start().trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '-');
        } else if c.is_ascii_digit() {
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
            let number = &rest[..rest.len() - after.len()];
            let is_count = after
                .strip_prefix(' ')
                .is_some_and(|word| COUNTED.iter().any(|counted| word.starts_with(counted)));
            text.push_str(if is_count { number } else { "#" });
            rest = after;
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    text
}

/// A directory with a configuration and a key pair, beside a code host with the demo's organization.
struct Trial {
    server: sandbox::Server,
    cloud: sandbox::Server<Cloud>,
    workspace: sandbox::Server<Workspace>,
    directory: tempfile::TempDir,
}

impl Trial {
    fn new() -> Trial {
        let trial = Trial {
            server: sandbox::demo_organization().serve().unwrap(),
            cloud: sandbox::demo_account().serve().unwrap(),
            workspace: sandbox::demo_workspace().serve().unwrap(),
            directory: tempfile::tempdir().unwrap(),
        };
        assert_eq!(trial.evidence(&["init", "--org", "acme", "--generate-keys"]).0, 0);
        trial
    }

    /// The other two sources beside the code host, in the file that `init` wrote.
    fn add_the_other_sources(&self) {
        let credentials = self.directory.path().join("credentials.json");
        fs::write(&credentials, Workspace::service_account_file(&self.workspace)).unwrap();
        fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).unwrap();
        let file = self.directory.path().join("evidence.yaml");
        let sections = format!(
            "  cloud:\n    mode: env\n    regions: [eu-west-1, us-east-1]\n    endpoint_url: {}\n  altcloud:\n    \
             mode: service_account\n    admin_email: {}\n    api_url: {}\n\nbundle:\n",
            self.cloud.url(),
            sandbox::DEMO_WORKSPACE_ADMIN,
            self.workspace.url()
        );
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches("\nbundle:\n").count(), 1);
        fs::write(&file, text.replace("\nbundle:\n", &format!("\n{sections}"))).unwrap();
    }

    /// The exit code and the output, stderr first.
    fn evidence(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_evidence"))
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("CODEHOST_API_URL", self.server.url())
            .env("CODEHOST_TOKEN", sandbox::DEMO_FINE_GRAINED_TOKEN)
            .env("XDG_CACHE_HOME", self.directory.path())
            .env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_ACCESS_KEY_ID)
            .env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY)
            .env("ALTCLOUD_APPLICATION_CREDENTIALS", "credentials.json")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text)
    }
}

/// An address with the names of the parameters in its query in place of their values.
fn with_parameters(address: &str) -> String {
    const NAMES: [(&str, &str); 6] = [
        ("role", "{role}"),
        ("filter", "{filter}"),
        ("severity", "{severity}"),
        ("ref", "{ref}"),
        ("q", "{query}"),
        ("page", "{page}"),
    ];
    let Some((path, query)) = address.split_once('?') else { return address.to_string() };
    let pairs = query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let searches = name != "page" || path.starts_with("/search/");
        let known = NAMES.iter().find(|(known, _)| *known == name && searches);
        format!("{name}={}", known.map_or(value, |(_, shown)| shown))
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}

#[test]
fn every_call_is_in_the_table() {
    let trial = Trial::new();
    assert_eq!(trial.evidence(&["collect"]).0, 3);
    // Features that the demonstration does not use.
    trial.server.update(|host| {
        host.change_repository("acme", "prototype", |repository| {
            let ruleset = sandbox::codehost::Ruleset::new(1, "everything");
            let file = || sandbox::codehost::File::text("");
            let repository = repository.file(".github/a.yml", file()).file("docs/a.md", file());
            repository.ruleset(ruleset.reviews(1).status_checks(["ci"]))
        });
    });
    let file = trial.directory.path().join("evidence.yaml");
    let everything = fs::read_to_string(&file).unwrap();
    let listed = everything.replace(
        "repos: \"*\"",
        "repos: [acme/docs-site, acme/prototype, acme/nowhere, acme/storefront]\n    codeowners_errors: true\n    \
         revalidate: true",
    );
    assert_ne!(everything, listed);
    fs::write(&file, listed).unwrap();
    assert_eq!(trial.evidence(&["collect"]).0, 3);
    let bulk = everything.replace("repos: \"*\"", "repos: \"*\"\n    bulk: true");
    fs::write(&file, bulk).unwrap();
    assert_eq!(trial.evidence(&["collect"]).0, 3);
    // An app, whose installation is found by the organization or named.
    let names = ["administration", "contents", "organization_administration"];
    let installation = sandbox::codehost::Installation::new(77, "acme");
    let installation = names.into_iter().fold(installation, |found, name| found.permission(name, "read"));
    trial
        .server
        .update(|host| host.put_app(sandbox::codehost::App::new(12, "reader").installed(installation)));
    let key = trial.directory.path().join("app.pem");
    fs::write(&key, sandbox::codehost::App::private_key()).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    for named in ["", "\n    installation_id: 77"] {
        let keys = format!("mode: app\n    app_id: 12\n    private_key_path: app.pem{named}\n");
        fs::write(&file, everything.replacen("mode: token\n", &keys, 1)).unwrap();
        let (code, text) = trial.evidence(&["collect"]);
        assert!([0, 3].contains(&code), "{code}: {text}");
    }

    // A fleet lists the installations of its app.
    let keys = "mode: app\n    app_id: 12\n    private_key_path: app.pem\n";
    let template =
        everything.replacen("mode: token\n", keys, 1).replacen("org: acme\n", "org: \"{org}\"\n", 1);
    fs::write(&file, template).unwrap();
    let (code, text) = trial.evidence(&["fleet"]);
    assert!([0, 3].contains(&code), "{code}: {text}");

    // And those of the other framework.
    let line = |line: &str| match line {
        _ if line.starts_with("framework:") => "framework: tsc_2017\n".to_string(),
        _ if line.starts_with("controls:") => "controls: \"*\"\n".to_string(),
        line => format!("{line}\n"),
    };
    fs::write(&file, everything.lines().map(line).collect::<String>()).unwrap();
    assert_eq!(trial.evidence(&["collect"]).0, 3);

    let made: BTreeSet<String> = trial
        .server
        .requests()
        .iter()
        .map(|request| {
            let path = &request.path_and_query;
            let posts = path == "/graphql" || path.ends_with("/access_tokens");
            assert_eq!(request.method, if posts { "POST" } else { "GET" });
            let mut parts: Vec<&str> = request.path_and_query.split('/').collect();
            match parts.as_mut_slice() {
                [_, "orgs", org, ..] => *org = "{org}",
                [_, "app", "installations", installation, ..] => *installation = "{installation}",
                [_, "repos", owner, repository, rest @ ..] => {
                    (*owner, *repository) = ("{owner}", "{repo}");
                    if let ["branches", branch, ..] | ["rulesets", branch] = rest {
                        *branch = if branch.parse::<u64>().is_ok() { "{ruleset}" } else { "{branch}" };
                    }
                    if let ["rules", "branches", branch] = rest {
                        *branch = "{branch}?per_page=100";
                    }
                    if let ["pulls", number, _] = rest {
                        *number = "{number}";
                    }
                }
                _ => {}
            }
            with_parameters(&parts.join("/"))
        })
        .collect();
    same(first_cells(&read("docs/sources/codehost.md"), "Call").into_iter().collect(), made, "calls");
}

#[test]
fn the_sample_is_what_the_program_prints() {
    let trial = Trial::new();
    trial.add_the_other_sources();
    let (code, collected) = trial.evidence(&["collect"]);
    assert_eq!(code, 3, "the page says so\n{collected}");
    let bundles = trial.directory.path().join("evidence-bundles");
    let bundle = fs::read_dir(bundles).unwrap().next().unwrap().unwrap();
    let name = format!("evidence-bundles/{}", bundle.file_name().to_string_lossy());
    let (code, verified) = trial.evidence(&["verify", "-k", "evidence-signing-key.pub.pem", &name]);
    assert_eq!(code, 0, "{verified}");

    let page = read("docs/read-the-result.md");
    let sample =
        split(&page).1.into_iter().find(|(_, block)| block.starts_with("$ evidence collect")).unwrap().1;
    let printed = format!("{collected}{verified}");
    let mut lines = printed.lines().map(blurred);
    for line in sample.lines().filter(|line| !line.starts_with("$ ") && *line != "[...]") {
        let line = blurred(line);
        // The lines are in the same order, but not all of them.
        assert!(
            lines.any(|printed| printed == line),
            "the page shows what is not printed there: {line}\n{printed}"
        );
    }
}
