//! Generates the table of rules in the documentation.

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/forbidden-data.md");
const START: &str = "<!-- rules: written by a test from the list; UPDATE_DOCS=1 rewrites -->\n";
const END: &str = "<!-- end of rules -->\n";

fn table() -> String {
    let mut table = String::from("| rule | what it finds | confidence | form |\n|---|---|---|---|\n");
    table.push_str(&format!(
        "| `{OWN_CREDENTIAL}` | The collector's own credentials, in any of the forms above | high | |\n"
    ));
    table.push_str(&format!(
        "| `{ENTANGLED}` | A text with too much in too many layers to search all of it | high | |\n"
    ));
    for rule in PATTERNS {
        let confidence = match rule.confidence {
            Confidence::High => "high",
            Confidence::Low => "low",
        };
        let page = rule.page.strip_prefix("docs/").unwrap_or(rule.page);
        table.push_str(&format!(
            "| `{}` | {} | {confidence} | [documented]({page}) |\n",
            rule.id, rule.description
        ));
    }
    table
}

#[test]
fn the_documentation_lists_the_rules() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(START).expect("the start marker");
    let (_, after) = rest.split_once(END).expect("the end marker");
    let expected = format!("{before}{START}{}{END}{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, expected).unwrap();
    } else {
        assert!(page == expected, "docs/forbidden-data.md is out of date; run this test with UPDATE_DOCS=1");
    }
}
