//! The results as tables for a ticket or a wiki.

use std::io::{self, Seek as _, Write};

use evidence_bundle::read::VerifiedBundle;
use evidence_view::{sanitized, scope, words};
use tempfile::SpooledTempFile;

use super::{Control, Row, spooled};

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

    pub(super) fn print(
        self,
        bundle: &VerifiedBundle,
        controls: &[Control],
        found: u64,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Table(mut file) = self;
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
        for Control { id, title, status, counts } in controls {
            let cells = [id, title, words::label(*status).word, &words::checks(*counts)].map(plain);
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text.push_str(&format!("\n{} shown:\n", words::counted(found, "check")));
        if found > 0 {
            text.push_str("\n| Control | Criteria | Status | Subject | Reason | Actual | Rule |\n");
            text.push_str("|---|---|---|---|---|---|---|\n");
        }
        out.write_all(text.as_bytes())?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        out.flush()
    }
}

/// Text escaped to render literally, on one line.
fn plain(text: &str) -> String {
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
        assert_eq!(plain("a|b <img> `x` [y](z)\n"), "a\\|b \\<img\\> \\`x\\` \\[y\\](z)\\\\u{a}");
    }
}
