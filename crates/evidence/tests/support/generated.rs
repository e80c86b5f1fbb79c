//! The generated parts of a page.

use std::fs;
use std::path::PathBuf;

/// Compares the marked parts of a page, by name, with the expected text; `UPDATE_DOCS=1` rewrites them.
pub(crate) fn generated(page: &str, parts: &[(&str, String)]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let before = fs::read_to_string(&path).unwrap();
    let mut after = before.clone();
    for (name, text) in parts {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->\n"));
        let (head, rest) = after.split_once(&begin).unwrap_or_else(|| panic!("{page}: no {begin}"));
        let (_, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("{page}: no {end}"));
        after = format!("{head}{begin}\n{text}\n{end}{tail}");
    }
    if before == after {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, after).unwrap();
        return;
    }
    panic!("{page} is out of step with the code; run the tests once with UPDATE_DOCS=1");
}
