//! The list of revoked keys: `FINGERPRINT SINCE WHY`, one per line.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::error::TrustError;
use super::pin::Pin;

/// The most problems to name; a file with more is something else.
const NAMED: usize = 20;

/// A revoked key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// The source, for messages: the name of the list and the line.
    pub label: String,
    pub(super) key: Pin,
    /// The first Unix second at which the key does not count any more.
    pub since: i64,
    /// The reason in words.
    pub why: String,
}

/// Why a list of revoked keys cannot be used, with every problem: a list that is not understood revokes nothing, so
/// nothing may be verified with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokedError(Vec<String>);

impl fmt::Display for RevokedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().take(NAMED).enumerate() {
            let before = if index > 0 { "\n" } else { "" };
            write!(f, "{before}{problem}")?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for RevokedError {}

/// Reads a list.
pub(super) fn parse(label: &str, contents: &[u8]) -> Result<Vec<Revocation>, RevokedError> {
    let Ok(text) = std::str::from_utf8(contents) else {
        return Err(RevokedError(vec![TrustError::NotText { label: label.to_owned() }.to_string()]));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        // What an interrupted download leaves behind must not pass for a list without entries.
        let problem =
            format!("{label}: the file is empty; a list without revoked keys has at least a comment");
        return Err(RevokedError(vec![problem]));
    }
    let (mut revoked, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in (1_usize..).zip(text.lines()).map(|(number, line)| (number, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{label}, line {number}");
        match parse_line(line) {
            Ok((key, since, why)) => revoked.push(Revocation { label: place, key, since, why }),
            Err(problem) => problems.push(format!("{place}: {problem}")),
        }
    }
    if problems.is_empty() { Ok(revoked) } else { Err(RevokedError(problems)) }
}

fn parse_line(line: &str) -> Result<(Pin, i64, String), String> {
    let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (since, why) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let key = Pin::parse(key).map_err(|error| error.to_string())?;
    if since.is_empty() {
        return Err("the time and the reason are missing: FINGERPRINT SINCE WHY".to_owned());
    }
    let since = time(since).ok_or_else(|| {
        format!("{since:?} is not a day or time of UTC: 2026-11-21 or 2026-11-21T09:05:13Z")
    })?;
    let why = why.trim();
    if why.is_empty() {
        return Err("the reason is missing: FINGERPRINT SINCE WHY".to_owned());
    }
    Ok((key, since, why.to_owned()))
}

/// A day or a time of UTC, in Unix seconds.
fn time(text: &str) -> Option<i64> {
    let day = || {
        let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text)?;
        Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
    };
    crate::time::parse(text).or_else(day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{PublicKey, SigningKey};

    fn key(seed: u8) -> PublicKey {
        SigningKey::from_seed(&[seed; 32]).public_key()
    }

    #[test]
    fn every_form_of_a_line() {
        let text = format!(
            "\u{feff}# keys of acme\r\n\n{}  2026-11-21\tlaptop stolen, see ticket 4711  \r\n\
             \t{} 2026-11-21T09:05:13Z left\n{0} 2026-01-01 again # not a comment\n",
            key(1).key_id(),
            key(2).ssh_fingerprint(),
        );
        let revoked = parse("revoked", text.as_bytes()).unwrap();
        let found: Vec<_> =
            revoked.iter().map(|row| (row.label.as_str(), row.since, row.why.as_str())).collect();
        assert_eq!(
            found,
            [
                ("revoked, line 3", 1_795_219_200, "laptop stolen, see ticket 4711"),
                ("revoked, line 4", 1_795_251_913, "left"),
                ("revoked, line 5", 1_767_225_600, "again # not a comment"),
            ]
        );
        assert!(revoked[0].key.matches(&key(1)) && revoked[1].key.matches(&key(2)));
        assert_eq!(parse("revoked", b"# none yet\n"), Ok(Vec::new()));
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let (id, ssh) = (key(1).key_id().to_string(), key(1).ssh_fingerprint());
        let cut = &ssh[..ssh.len() - 1];
        let text = format!(
            "# list\n{id}\n{id} 2026-11-21\n{id} yesterday stolen\n{cut} 2026-11-21 stolen\n\
             {id} 2026-02-30 stolen\n{id} 2026-11-21T09:05:13+01:00 stolen\n{id} 20261121 stolen\n\
             revoked\n{} 2026-11-21 stolen\n{id} 2026-11-21 stolen\n",
            id.to_uppercase(),
        );
        let error = parse("FILE", text.as_bytes()).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().map(|line| line.split(':').next().unwrap()).collect();
        let expected: Vec<String> = (2..=10).map(|number| format!("FILE, line {number}")).collect();
        assert_eq!(lines, expected, "{error}");
        assert!(error.contains("FILE, line 2: the time and the reason are missing: FINGERPRINT SINCE WHY\n"));
        assert!(error.contains("FILE, line 3: the reason is missing: FINGERPRINT SINCE WHY\n"));
        assert!(error.contains("FILE, line 4: \"yesterday\" is not a day or time of UTC"));
        assert!(error.contains(&format!("FILE, line 5: {cut:?} is not a fingerprint")));
        for empty in ["", " \r\n\n", "\u{feff}"] {
            let error = parse("FILE", empty.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("FILE: the file is empty"), "{error}");
        }
        assert_eq!(parse("FILE", b"\xff").unwrap_err().to_string(), "FILE: not UTF-8 text");
        let many = parse("FILE", "x\n".repeat(1_000).as_bytes()).unwrap_err().to_string();
        assert!(many.lines().count() == NAMED + 1 && many.ends_with("\nand 980 more problems"));
    }
}
