//! Shows the problems of a configuration like a compiler: place, line, underline, advice.
//!
//! This module receives only masked text.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use evidence_screen::is_deceptive;

use super::problem::{ConfigError, Problem};

/// Characters shown on either side of the underlined part of a long line.
const CONTEXT: usize = 100;

/// The longest underlined part of a line, in characters.
const UNDERLINED: usize = 60;

impl ConfigError {
    /// Every problem with its place, line, underline and advice, then their number.
    ///
    /// `color` adds the terminal's escape sequences.
    pub fn render(&self, color: bool) -> String {
        self.render_within(color, None)
    }

    /// The same, with long lines of the file cut to this many columns.
    pub fn render_within(&self, color: bool, columns: Option<usize>) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let renderer = columns.map_or(renderer.clone(), |columns| renderer.term_width(columns));
        let path = self.path.display().to_string();
        let mut out = String::new();
        for problem in &self.problems {
            let rendered = renderer.render(&[group(self.source_text(), &path, problem)]);
            // Without line numbers the renderer leaves no margin for them, and the arrow would start the line.
            let margin = if problem.underline().is_none() { "\n " } else { "\n" };
            out.push_str(&rendered.lines().collect::<Vec<_>>().join(margin));
            out.push_str("\n\n");
        }
        out.push_str(&match self.count() {
            1 => format!("1 problem in {path}\n"),
            count if self.omitted > 0 => {
                format!("{count} problems in {path}; the first {} are shown\n", self.problems.len())
            }
            count => format!("{count} problems in {path}\n"),
        });
        out
    }
}

fn group<'a>(text: &'a str, path: &'a str, problem: &'a Problem) -> Group<'a> {
    let mut title = Level::ERROR.primary_title(problem.message.as_str());
    if !problem.key.is_empty() {
        title = title.id(problem.key.as_str());
    }
    let mut group = Group::with_title(title);
    let excerpt = problem.underline().and_then(|bytes| excerpt(text, bytes));
    // The renderer derives the column from the text that it receives, which is wrong for a line cut on its left.
    if excerpt.as_ref().is_none_or(|excerpt| excerpt.cut_left) {
        let mut origin = Origin::path(path);
        if let (Some(line), Some(column)) = (problem.line, problem.column) {
            origin = origin.line(line).char_column(column);
        }
        group = group.element(origin);
    }
    if let Some(Excerpt { text, underline, cut_left }) = excerpt {
        group = group.element(
            Snippet::source(text)
                .path((!cut_left).then_some(path))
                .line_start(problem.line.unwrap_or(1))
                .annotation(AnnotationKind::Primary.span(underline)),
        );
    }
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// Part of one line, and what to underline in it.
struct Excerpt {
    text: String,
    underline: Range<usize>,
    cut_left: bool,
}

/// The part of the line around the first of these bytes. Cut here rather than by the renderer, which would walk the
/// whole text again for each problem.
fn excerpt(text: &str, bytes: Range<usize>) -> Option<Excerpt> {
    let before = text.get(..bytes.start)?;
    let rest = text.get(bytes.start..)?;
    let left = before.rsplit('\n').next()?;
    let line_rest = rest.split('\n').next()?.trim_end_matches('\r');
    let marked = line_rest.get(..bytes.len().min(line_rest.len()))?;
    let underlined = marked.char_indices().nth(UNDERLINED).map_or(marked.len(), |(at, _)| at);
    let right = line_rest.get(underlined..)?;

    let cut_left = left.char_indices().rev().nth(CONTEXT).map(|(at, _)| at);
    let cut_right = right.char_indices().nth(CONTEXT).map(|(at, _)| at);
    let mut shown = String::new();
    if cut_left.is_some() {
        shown.push_str("...");
    }
    shown.push_str(&printable(left.get(cut_left.unwrap_or(0)..)?));
    let start = shown.len();
    shown.push_str(&printable(marked.get(..underlined)?));
    let underline = start..shown.len();
    shown.push_str(&printable(right.get(..cut_right.unwrap_or(right.len()))?));
    if cut_right.is_some() {
        shown.push_str("...");
    }
    Some(Excerpt { text: shown, underline, cut_left: cut_left.is_some() })
}

/// The text without characters that a terminal would obey or hide. Tabs stay: the renderer turns them into
/// columns.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) && character != '\t' {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}
