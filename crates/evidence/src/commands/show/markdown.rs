//! The results as tables for a ticket or a wiki.

use std::io::{self, BufRead as _, BufReader, Seek as _, Write};

use evidence_bundle::Status;
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe};
use evidence_view::rejudged::{Again, NOT_SIGNED};
use evidence_view::waivers::{self, Waiver, Waivers};
use evidence_view::{scope, words};
use tempfile::SpooledTempFile;

use super::super::diff::markdown as diff;
use super::super::markdown::plain;
use super::row::{Control, Row, Shown, Summary, spooled};
use crate::finding::{Finding, WorstFirst};

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
        put(
            &mut self.0,
            &safe!(
                "{}| {} |\n",
                Safe::of(&format!("{:016x}", row.identity)),
                Safe::joined(cells.map(plain), " | ")
            ),
        )
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Table(mut file) = self;
        let Summary {
            shown: Shown { bundle, framework, again },
            controls,
            findings,
            found,
            hidden,
            waivers,
            lists,
        } = summary;
        let mut text = safe!("# Evidence of {}\n\n", plain(&bundle.organization));
        text.push(&again.map(differences).unwrap_or_default());
        let created = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
        for source in &bundle.populations {
            text.push(&safe!("- Scope: {}\n", plain(&scope::sentence(source))));
        }
        for list in *lists {
            text.push(&safe!("- List: {}\n", plain(&list.sentence())));
        }
        for (name, value) in [
            ("Bundle", bundle.bundle_id.as_str()),
            ("Framework", *framework),
            ("Collected", &format!("{created} (claimed by the signer)")),
            ("Signed by", &format!("{}, trusted by {}", bundle.key_id, bundle.trusted_by)),
            ("Complete", if bundle.complete { "yes" } else { "no" }),
        ] {
            text.push(&safe!("- {name}: {}\n", plain(value); name));
        }
        text.push(&"\n| Control | Title | Status | Checks |\n|---|---|---|---|\n".into());
        for Control { id, title, status, counts } in *controls {
            let cells =
                [id.as_str(), title.as_str(), words::label(*status).word, &words::checks(*counts)].map(plain);
            text.push(&safe!("| {} |\n", Safe::joined(cells, " | ")));
        }
        text.push(&waivers.map(accepted).unwrap_or_default());
        text.push(&what_to_do(findings));
        let rest = match hidden {
            0 => Safe::default(),
            hidden => safe!("; {} passed or do not apply (`--all` lists them)", thousands(*hidden)),
        };
        text.push(&safe!("\n{} shown{rest}:\n", counted(*found, "check", "checks"); rest));
        if *found > 0 {
            let (waiver, line) = if waivers.is_some() { (" Waiver |", "---|") } else { ("", "") };
            text.push(&safe!(
                "\n| Control | Criteria | Status | Subject | Reason | Actual | Rule |{waiver}\n|---|---|---|---|---|---|---|{line}\n";
                waiver, line
            ));
        }
        put(out, &text)?;
        file.rewind()?;
        for line in BufReader::new(file).lines() {
            let line = line?;
            let (identity, row) = line.split_at_checked(16).unwrap_or_default();
            out.write_all(row.as_bytes())?;
            if let Some(waivers) = waivers {
                let waiver = u64::from_str_radix(identity, 16).ok().and_then(|key| waivers.of(key));
                let mark = waiver.map(|waiver| plain(&waiver.mark())).unwrap_or_default();
                put(out, &safe!(" {mark} |"; mark))?;
            }
            out.write_all(b"\n")?;
        }
        out.flush()
    }
}

/// How the results differ from the signed ones.
fn differences(again: &Again) -> Safe {
    let Again { context, differences, unchanged, without_evidence, .. } = again;
    let without = match without_evidence.as_slice() {
        [] => Safe::default(),
        ids => safe!("- Without evidence here: {}\n", plain(&ids.join(" "))),
    };
    safe!(
        "{}\n\n{}{without}{}\nUnchanged checks: {}.\n\n## Results\n\n",
        plain(NOT_SIGNED),
        diff::contexts(context),
        diff::changes(differences),
        thousands(*unchanged);
        without
    )
}

/// What management accepts, expired waivers first.
fn accepted(waivers: &Waivers) -> Safe {
    let mut text = safe!(
        "\n## Accepted by management\n\n{}.\n\n| State | Waiver | About | Checks | Decision | Reason | Instead |\n|---|---|---|---|---|---|---|\n",
        plain(&waivers::sentence(&waivers.summary))
    );
    for waiver in &waivers.all {
        let Waiver { record, .. } = waiver;
        let cells = [
            waivers::state(record.state),
            &record.id,
            &waiver.about(),
            &waiver.counts(),
            &waiver.decision(),
            &record.reason,
            &waiver.compensating().unwrap_or_default(),
        ];
        text.push(&safe!("| {} |\n", Safe::joined(cells.map(plain), " | ")));
    }
    text
}

/// What to do about each group, the most severe first, and the changes that repair many checks.
fn what_to_do(findings: &WorstFirst) -> Safe {
    if findings.groups.is_empty() {
        return Safe::default();
    }
    let mut text = Safe::from(
        "\n## What to do\n\n| Severity | Control | Finding | Checks | What to do | Page |\n\
         |---|---|---|---|---|---|\n",
    );
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
        text.push(&safe!("| {} | {page} |\n", Safe::joined(cells.map(plain), " | "); page));
    }
    for (remedy, checks) in &findings.remedies {
        let input =
            if remedy.input.is_empty() { Safe::default() } else { safe!(" <<'END'\n{}\nEND", remedy.input) };
        // Only the program's own text and encoded names are in the code.
        text.push(&safe!(
            "\n{} repairs {} of these checks.\n{}\n\n```sh\n{}{input}\n```\n",
            link(remedy.title, &remedy.page),
            thousands(*checks),
            plain(remedy.note),
            Safe::cut(&remedy.command);
            input
        ));
    }
    text
}

/// A link; the address alone if it could end the link.
fn link(text: &'static str, page: &str) -> Safe {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-_~%#?=&".contains(&byte);
    if page.bytes().all(is_plain) { safe!("[{text}]({})", Safe::of(page); text) } else { plain(page) }
}

fn put(out: &mut dyn Write, text: &Safe) -> io::Result<()> {
    out.write_all(text.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_ends_a_link() {
        assert_eq!(link("open", "https://h/a_b?c=d#e").as_str(), "[open](https://h/a_b?c=d#e)");
        assert_eq!(link("open", "https://h/a) [x](y").as_str(), "https://h/a) \\[x\\](y");
    }
}
