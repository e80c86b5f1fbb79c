//! The results as tables for a ticket or a wiki.

use std::io::{self, Seek as _, Write};

use evidence_bundle::Status;
use evidence_view::{sanitized, scope, words};
use tempfile::SpooledTempFile;

use super::row::{Control, Row, Summary, spooled};
use crate::finding::{Finding, WorstFirst};

/// Characters that Markdown or a wiki would read as markup.
const MARKUP: &str = "\\`*_[]<>|#~&!";

/// The rows of the table of checks.
pub(super) struct Table(SpooledTempFile);

impl Table {
    pub(super) fn new() -> Table {
        Table(spooled())
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let check = row.check;
        let cells = [
            &row.control.id,
            &row.criteria().join(" "),
            words::label(check.status).word,
            &check.subject,
            &words::reason(&check.reason),
            check.actual.as_deref().unwrap_or_default(),
            &check.rule,
        ];
        writeln!(self.0, "| {} |", cells.map(plain).join(" | "))
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Table(mut file) = self;
        let Summary { bundle, controls, findings, found, hidden } = summary;
        let mut text = format!("# Evidence of {}\n\n", plain(&bundle.organization));
        let created = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
        for source in &bundle.populations {
            text.push_str(&format!("- Scope: {}\n", plain(&scope::sentence(source))));
        }
        for (name, value) in [
            ("Bundle", bundle.bundle_id.as_str()),
            ("Framework", &bundle.framework),
            ("Collected", &format!("{created} (claimed by the signer)")),
            ("Signed by", &format!("{}, trusted by {}", bundle.key_id, bundle.trusted_by)),
            ("Complete", if bundle.complete { "yes" } else { "no" }),
        ] {
            text.push_str(&format!("- {name}: {}\n", plain(value)));
        }
        text.push_str("\n| Control | Title | Status | Checks |\n|---|---|---|---|\n");
        for Control { id, title, status, counts } in *controls {
            let cells = [id, title, words::label(*status).word, &words::checks(*counts)].map(plain);
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text.push_str(&what_to_do(findings));
        let rest = match hidden {
            0 => String::new(),
            hidden => format!("; {} passed or do not apply (`--all` lists them)", words::grouped(*hidden)),
        };
        text.push_str(&format!("\n{} shown{rest}:\n", words::counted(*found, "check")));
        if *found > 0 {
            text.push_str("\n| Control | Criteria | Status | Subject | Reason | Actual | Rule |\n");
            text.push_str("|---|---|---|---|---|---|---|\n");
        }
        out.write_all(text.as_bytes())?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        out.flush()
    }
}

/// What to do about each group, the most severe first, and the changes that repair many checks.
fn what_to_do(findings: &WorstFirst) -> String {
    if findings.groups.is_empty() {
        return String::new();
    }
    let mut text = "\n## What to do\n\n| Severity | Control | Finding | Checks | What to do | Page |\n\
                    |---|---|---|---|---|---|\n"
        .to_string();
    for Finding { key, severity, remediation, page, count, .. } in &findings.groups {
        let unseen = if key.status == Status::NotVerifiable { "not verifiable: " } else { "" };
        let cells = [
            severity.map_or("", words::severity),
            &key.control,
            &format!("{unseen}{}", words::reason(&key.reason)),
            &words::grouped(*count),
            remediation,
        ];
        let page = page.as_deref().map(|page| link("open", page)).unwrap_or_default();
        text.push_str(&format!("| {} | {page} |\n", cells.map(plain).join(" | ")));
    }
    for (remedy, checks) in &findings.remedies {
        let input =
            if remedy.input.is_empty() { String::new() } else { format!(" <<'END'\n{}\nEND", remedy.input) };
        // Only the program's own text and encoded names are in the code.
        text.push_str(&format!(
            "\n{} repairs {} of these checks.\n{}\n\n```sh\n{}{input}\n```\n",
            link(remedy.title, &remedy.page),
            words::grouped(*checks),
            plain(remedy.note),
            sanitized(&remedy.command),
        ));
    }
    text
}

/// A link; the address alone if it could end the link.
fn link(text: &str, page: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-_~%#?=&".contains(&byte);
    if page.bytes().all(is_plain) { format!("[{text}]({page})") } else { plain(page) }
}

/// Text escaped to render literally, on one line.
pub(in crate::commands) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in sanitized(text).chars() {
        if MARKUP.contains(character) {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(link("open", "https://h/a_b?c=d#e"), "[open](https://h/a_b?c=d#e)");
        assert_eq!(link("open", "https://h/a) [x](y"), "https://h/a) \\[x\\](y");
        assert_eq!(plain("a|b <img> `x` [y](z)\n"), "a\\|b \\<img\\> \\`x\\` \\[y\\](z)\\\\u{a}");
    }
}
