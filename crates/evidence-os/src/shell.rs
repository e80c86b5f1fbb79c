//! Commands that are printed for a person to run.

use std::path::Path;

use evidence_text::Printable;

use crate::system;

pub use crate::terms::posix_word;

/// Quotes a text as one word for the usual shell of this system: PowerShell on Windows, else a POSIX shell. Empty for a
/// text with a NUL, which no shell passes on.
pub fn word(text: &str) -> String {
    system::shell_word(text)
}

/// A path as one word for the usual shell of this system: quoted if necessary, with deceptive characters escaped, and
/// never mistaken for an option.
pub fn path(path: &Path) -> String {
    let mut text = Printable(&path.to_string_lossy()).to_string();
    if text.starts_with('-') {
        text.insert_str(0, "./");
    }
    word(&text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Checks the quoting with the shell itself.
    #[test]
    fn a_shell_reads_paths_back() {
        for (text, read) in [
            ("evidence-bundles/evidence-bundle-20261121-090513.tar.gz", None),
            ("/srv/evidence/acme.pub.pem", None),
            ("Bob's $HOME & co.yaml", None),
            ("a \"b\" `c` \\d !e", None),
            ("~/evidence.yaml", None),
            ("*?[a]{b,c};<>|()#", None),
            ("Zürich 2026", None),
            ("-k", Some("./-k")),
            ("--config", Some("./--config")),
        ] {
            let line = format!("printf %s {}", path(Path::new(text)));
            let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), read.unwrap_or(text), "{line}");
        }
        assert_eq!(path(Path::new("./evidence-bundles/a-1.tar.gz")), "./evidence-bundles/a-1.tar.gz");
    }
}
