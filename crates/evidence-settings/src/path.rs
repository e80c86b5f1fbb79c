//! Dotted paths: how messages name a place in the configuration.

use super::secret;

/// `parent.name`; an invalid name is escaped so that it cannot disturb the terminal.
pub(super) fn join(parent: &str, name: &str) -> String {
    let name = secret::plain(name);
    if parent.is_empty() { name } else { format!("{parent}.{name}") }
}

/// `parent[index]`, from 0.
pub(super) fn item(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}
