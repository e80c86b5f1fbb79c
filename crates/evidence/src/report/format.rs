//! Formats numbers and commands for people.

use std::path::Path;

use evidence_bundle::text::Printable;
use evidence_os::shell;
use evidence_text::counted;
use jiff::SignedDuration;

use evidence_http::GivenUp;

/// How many requests were skipped, and why.
pub fn given_up(GivenUp { kind, failed, last, not_asked }: &GivenUp) -> String {
    let requests = counted(*not_asked, "request was", "requests were");
    format!("{kind}: {requests} skipped after {failed} consecutive failures: {last}")
}

/// `45 s`, `12 min 05 s`, `1 h 02 min`.
pub fn duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=3_599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A text on lines of at most `width` characters, where its words fit.
pub fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A path as a shell argument: quoted if necessary, and never mistaken for an option.
pub fn shell_path(path: &Path) -> String {
    let mut text = Printable(&path.to_string_lossy()).to_string();
    if text.starts_with('-') {
        text.insert_str(0, "./");
    }
    shell_word(&text)
}

/// A text as one word of the system's shell.
pub fn shell_word(text: &str) -> String {
    shell::word(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(duration(SignedDuration::from_secs(59)), "59 s");
        assert_eq!(duration(SignedDuration::from_secs(725)), "12 min 05 s");
        assert_eq!(duration(SignedDuration::from_secs(3_725)), "1 h 02 min");
    }

    /// Checks the quoting with the shell itself.
    #[test]
    fn a_shell_reads_paths_back() {
        for (path, read) in [
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
            let line = format!("printf %s {}", shell_path(Path::new(path)));
            let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), read.unwrap_or(path), "{line}");
        }
        assert_eq!(shell_path(Path::new("./evidence-bundles/a-1.tar.gz")), "./evidence-bundles/a-1.tar.gz");
    }
}
