//! The demo's output: headings, lines, and command lines as a user would type them.

/// The heading of a section.
pub(super) fn heading(text: &str) {
    anstream::println!("\n\u{1b}[1;36m=== {text}\u{1b}[0m");
}

/// A line.
pub(super) fn say(text: &str) {
    anstream::println!("{text}");
}

/// A command line.
pub(super) fn typed(line: &str) {
    say(&format!("$ {line}"));
}
