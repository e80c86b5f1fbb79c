//! Where a setting is changed, and the one change that repairs many: each source knows its host's pages.

/// What a check judged.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Base of the source's API, as in `run.json`.
    pub api_url: &'a str,
    /// The code of the rule.
    pub rule: &'a str,
    /// The subject.
    pub subject: &'a str,
}

/// One change that repairs many checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// The change, as in "One organization ruleset".
    pub title: &'static str,
    /// What it needs, and what to replace in the command.
    pub note: &'static str,
    /// The page where it can be made by hand.
    pub page: String,
    /// The command.
    pub command: String,
    /// What the command reads from standard input; empty if nothing.
    pub input: &'static str,
}

/// A source without such a change.
pub fn no_remedy(_: &Place<'_>, _: &str) -> Option<Remedy> {
    None
}

/// A name as one segment of a path, whatever it contains.
pub(super) fn segment(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
