//! Pages as parts of other pages: the report without links that leave it, and the signer's report without anything
//! that acts.

use std::io::{self, Write};

/// A link of the report. A quote in a text is escaped, so this occurs only in links.
const LINK: &str = " href=\"";

/// The report for a page that follows its links by itself: no element is a link, and `data-to` has the address.
pub fn without_links(report: &str) -> String {
    report.replace(LINK, " role=\"link\" tabindex=\"0\" data-to=\"")
}

/// The report for a page without the files of the bundle: only links within the report remain.
pub fn with_inner_links(report: &str) -> String {
    report.replace(LINK, " data-to=\"").replace(" data-to=\"#", " href=\"#")
}

/// Attributes with which markup loads, navigates, or changes such an attribute later.
const ACTIVE: [&str; 9] =
    ["href", "src", "srcset", "srcdoc", "data", "poster", "action", "http-equiv", "attributename"];
/// What HTML allows between the name of an attribute and `=`.
const SPACE: [char; 5] = ['\t', '\n', '\u{c}', '\r', ' '];

/// Everything before the signer's report. The policy comes before any byte of the signer.
const BEFORE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Report as signed</title>
<style>
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: 15px/1.4 system-ui, sans-serif; }
p { margin: 0; padding: 10px 16px; color: #3b2a00; background: #ffe9b0; border-bottom: 2px solid #8a6100; }
iframe { flex: 1; width: 100%; border: 0; background: #fff; color-scheme: light; }
</style>
</head>
<body>
<p><strong>As signed.</strong> The signer wrote the page below. It may differ from the documents of the bundle, which count. Its scripts, links, forms and images are turned off.</p>
<iframe title="The report as signed" sandbox="" srcdoc=""#;
const AFTER: &str = "\"></iframe>\n</body>\n</html>\n";

/// Writes the signer's report as a page that cannot act: the signer's bytes are the text of a frame without scripts,
/// under a policy that forbids everything except inline styles, and the attributes that load or lead elsewhere are
/// renamed.
///
/// No byte of the signer is markup of the written page: all but letters, digits and a few signs are escaped, so
/// neither an encoding nor a broken tag changes that.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn as_signed(signed: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    out.write_all(BEFORE.as_bytes())?;
    for character in disarmed(&String::from_utf8_lossy(signed)).chars() {
        match character {
            ' ' | '\n' | '!' | '#'..='%' | '('..=';' | '=' | '?'..='~' => write!(out, "{character}")?,
            _ => write!(out, "&#{};", u32::from(character))?,
        }
    }
    out.write_all(AFTER.as_bytes())?;
    out.flush()
}

/// The page with `x-` before the name of every active attribute. The name of an attribute cannot be escaped in HTML,
/// so it has to be in the text, before `=`.
fn disarmed(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let mut disarmed = String::new();
    let mut done = 0;
    for (equals, _) in lower.match_indices('=') {
        let before = lower.get(done..equals).unwrap_or_default().trim_end_matches(SPACE);
        let Some(name) = ACTIVE.iter().find(|name| before.ends_with(**name)) else { continue };
        let start = done.saturating_add(before.len()).saturating_sub(name.len());
        disarmed.push_str(page.get(done..start).unwrap_or_default());
        disarmed.push_str("x-");
        done = start;
    }
    disarmed.push_str(page.get(done..).unwrap_or_default());
    disarmed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_attributes_are_renamed() {
        for (page, shown) in [
            ("<a href=x>", "<a x-href=x>"),
            ("<A\tHrEf \n\u{c}\r\t = 'x'>", "<A\tx-HrEf \n\u{c}\r\t = 'x'>"),
            ("<a xlink:href=x>", "<a xlink:x-href=x>"),
            ("<a/href=1 href=2>", "<a/x-href=1 x-href=2>"),
            ("<button formaction=x>", "<button formx-action=x>"),
            ("<set attributeName=\"&#104;ref\" to=x>", "<set x-attributeName=\"&#104;ref\" to=x>"),
            ("<iframe srcdoc=x src=y>", "<iframe x-srcdoc=x x-src=y>"),
            ("<meta http-equiv=refresh>", "<meta x-http-equiv=refresh>"),
            ("/src/ data-x=1 href", "/src/ data-x=1 href"),
            ("==href==é=", "==x-href==é="),
            ("", ""),
        ] {
            assert_eq!(disarmed(page), shown);
        }
    }

    #[test]
    fn no_byte_of_the_signer_is_markup() {
        let all: Vec<u8> = (0..=255).chain(*b"\"><script>alert(1)</script>").collect();
        let mut page = Vec::new();
        as_signed(&all, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.is_ascii() && page.ends_with(AFTER));
        let inside = page.strip_prefix(BEFORE).unwrap().strip_suffix(AFTER).unwrap();
        assert!(!inside.contains(['"', '<', '>', '\'', '\u{1b}', '\u{0}']), "{inside}");
        assert!(inside.split('&').skip(1).all(|part| part.starts_with('#')), "{inside}");
        // The policy is the first thing that a browser could act on.
        let policy = page.find("Content-Security-Policy").unwrap();
        assert!(policy < page.find("srcdoc").unwrap() && page.contains(" sandbox=\"\" "));
    }

    #[test]
    fn links_of_the_report_stay_inside() {
        let report = "<a href=\"#a\">a</a> <a class=\"x\" href=\"../b\">b</a> <p>&#34; href=&#34;</p>";
        assert!(!without_links(report).contains(LINK));
        assert_eq!(
            with_inner_links(report),
            "<a href=\"#a\">a</a> <a class=\"x\" data-to=\"../b\">b</a> <p>&#34; href=&#34;</p>"
        );
    }
}
