//! Formats numbers and commands for people.

use std::path::Path;

use evidence_bundle::text::Printable;
use evidence_os::shell;
use jiff::SignedDuration;

use evidence_http::GivenUp;

/// `53596623` as `53,596,623`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in decimal units, as `bundle.max_size_mb` counts: `812 B`, `12.4 kB`, `52.3 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    for (unit, size) in UNITS {
        // From 999,950 B on, one decimal would print 1000.0 kB.
        if number >= size - size / 20_000 {
            let tenths = (number.saturating_mul(10) + size / 2) / size;
            return format!("{}.{} {unit}", thousands(tenths / 10), tenths % 10);
        }
    }
    format!("{number} B")
}

/// `1 repository`, `14 repositories`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

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
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(53_596_623), "53,596,623");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(949), "949 B");
        assert_eq!(bytes(12_449), "12.4 kB");
        assert_eq!(bytes(999_950), "1.0 MB");
        assert_eq!(bytes(52_300_000), "52.3 MB");
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(2_000, "file", "files"), "2,000 files");
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
