//! Standard output and standard error as people read them: on a terminal, a line breaks only between words.
//!
//! A path, an address or any other word that is longer than the line stays whole on a line of its own. A command that
//! breaks can still be copied: its lines end with a backslash. Without a terminal, nothing changes.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use evidence_text::Safe;

/// The narrowest terminal whose lines are folded, in columns.
const NARROWEST: usize = 20;

/// The beginnings of commands that people copy.
const COMMANDS: &[&str] = &["evidence ", "export "];

/// Prints to standard output. Ignores a closed pipe: the exit code has the result as well.
pub fn print(text: &Safe) {
    let _ = stdout().put(text);
}

/// Prints to standard error. Ignores a closed pipe.
pub fn note(text: &Safe) {
    let mut out = Folding::new(anstream::stderr(), stderr_width());
    let _ = out.write_all(text.as_str().as_bytes());
}

/// Standard output, for more text than fits into memory.
pub fn stdout() -> Output {
    Output(Folding::new(BufWriter::new(anstream::stdout()), width_of(&io::stdout())))
}

/// A stream that takes only text that is safe to print.
pub struct Output(Folding<BufWriter<AutoStream<io::Stdout>>>);

impl Output {
    /// Writes this text.
    ///
    /// # Errors
    /// Fails as the stream does, on a closed pipe too.
    pub fn put(&mut self, text: &Safe) -> io::Result<()> {
        self.0.write_all(text.as_str().as_bytes())
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// Fails as the stream does.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The columns of the terminal that standard error writes to.
pub fn stderr_width() -> Option<usize> {
    width_of(&io::stderr())
}

#[cfg(unix)]
fn width_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    usable(terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal()))
}

#[cfg(windows)]
fn width_of(stream: &(impl IsTerminal + std::os::windows::io::AsHandle)) -> Option<usize> {
    usable(terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal()))
}

fn usable(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width >= NARROWEST)
}

/// A stream whose lines are folded if it has a width.
struct Folding<W: Write> {
    inner: W,
    width: Option<usize>,
    line: Vec<u8>,
}

impl<W: Write> Folding<W> {
    fn new(inner: W, width: Option<usize>) -> Folding<W> {
        Folding { inner, width, line: Vec::new() }
    }

    /// Writes what came since the last line break.
    fn put(&mut self, end: &str) -> io::Result<()> {
        let Some(width) = self.width else { return Ok(()) };
        let line = std::mem::take(&mut self.line);
        let folded = fold(&String::from_utf8_lossy(&line), width);
        self.inner.write_all(format!("{folded}{end}").as_bytes())
    }
}

impl<W: Write> Write for Folding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.width.is_none() {
            return self.inner.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(rest) => {
                    self.line.extend_from_slice(rest);
                    self.put("\n")?;
                }
                None => self.line.extend_from_slice(part),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.put("")?;
        }
        self.inner.flush()
    }
}

impl<W: Write> Drop for Folding<W> {
    fn drop(&mut self) {
        // Ignore a closed pipe.
        let _ = self.flush();
    }
}

/// A word with its styles, and the number of spaces before it.
struct Word {
    gap: usize,
    text: String,
    columns: usize,
}

/// The line, with line breaks between words wherever it would be longer than `width` columns.
fn fold(line: &str, width: usize) -> String {
    if columns(line) <= width || is_excerpt(line) {
        return line.to_owned();
    }
    let is_command = COMMANDS.iter().any(|start| plain(line).trim_start().starts_with(start));
    if is_command && cfg!(windows) {
        return line.to_owned();
    }
    let words = words(line, is_command);
    let hang = hang(&words, width, is_command);
    let (mut folded, mut column) = (String::with_capacity(line.len() + 16), 0);
    for (index, Word { gap, text, columns }) in words.iter().enumerate() {
        // The backslash of a command needs two columns, except after its last word.
        let limit = if is_command && index + 1 < words.len() { width.saturating_sub(2) } else { width };
        if index == 0 || column + gap + columns <= limit {
            folded.push_str(&" ".repeat(*gap));
            column += gap + columns;
        } else {
            let indent = hang.min(limit.saturating_sub(*columns));
            folded.push_str(if is_command { " \\\n" } else { "\n" });
            folded.push_str(&" ".repeat(indent));
            column = indent + columns;
        }
        folded.push_str(text);
    }
    folded
}

/// Whether the line belongs to an excerpt of a file, whose columns have marks below them.
fn is_excerpt(line: &str) -> bool {
    let text = plain(line);
    let rest = text.trim_start().trim_start_matches(|character: char| character.is_ascii_digit());
    rest.trim_start().starts_with('|')
        && text.starts_with([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

/// The column at which the lines after the first begin: that of the last column of text in the left half, so that a
/// text stays in its column, else slightly further right than the line.
fn hang(words: &[Word], width: usize, is_command: bool) -> usize {
    let indent = words.first().map_or(0, |word| word.gap);
    let usual = indent + if is_command { 4 } else { 2 };
    let mut column = 0;
    let mut found = None;
    for (index, word) in words.iter().enumerate() {
        column += word.gap;
        if index > 0 && word.gap > 1 && column <= width / 2 {
            found = Some(column);
        }
        column += word.columns;
    }
    found.filter(|_| !is_command).unwrap_or(usual).min(width / 2)
}

/// The words of a line. A quoted part of a command is one word.
fn words(line: &str, is_command: bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut gap, mut text, mut quote) = (0, String::new(), None);
    let mut end = |gap: &mut usize, text: &mut String| {
        if text.is_empty() {
            return;
        }
        let text = std::mem::take(text);
        match (columns(&text), words.last_mut()) {
            // A style that ends after spaces.
            (0, Some(last)) => last.text.push_str(&text),
            (columns, _) => words.push(Word { gap: std::mem::take(gap), text, columns }),
        }
    };
    for character in line.chars() {
        if character == ' ' && quote.is_none() {
            end(&mut gap, &mut text);
            gap += 1;
            continue;
        }
        if is_command && matches!(character, '\'' | '"') {
            quote = match quote {
                None => Some(character),
                Some(open) if open == character => None,
                open => open,
            };
        }
        text.push(character);
    }
    end(&mut gap, &mut text);
    words
}

/// How many columns the text takes.
fn columns(text: &str) -> usize {
    plain(text).chars().count()
}

/// The text without styles.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let table = [
            ("short", 20, "short"),
            ("one two three four five", 20, "one two three four\n  five"),
            ("  one two three four five", 20, "  one two three four\n    five"),
            ("  source  one two three four", 20, "  source  one two\n          three four"),
            // Columns in the right half are not kept.
            ("  one two three  four five six", 20, "  one two three\n    four five six"),
            (
                "see /a/very/long/path/that/does/not/fit here",
                20,
                "see\n/a/very/long/path/that/does/not/fit\n  here",
            ),
            ("see /a/path/of/18/cols here", 20, "see\n  /a/path/of/18/cols\n  here"),
            ("see /a/path/of/19/colsx here", 20, "see\n /a/path/of/19/colsx\n  here"),
            (
                "\u{1b}[33mwarn \u{1b}[0m  one two three four",
                20,
                "\u{1b}[33mwarn\u{1b}[0m   one two three\n       four",
            ),
            (
                "  evidence verify --config a.yaml b.tar.gz",
                30,
                "  evidence verify --config \\\n      a.yaml b.tar.gz",
            ),
            ("export A='one two three four five six'", 20, "export \\\nA='one two three four five six'"),
            ("12 |     key: value value value", 20, "12 |     key: value value value"),
            ("   |          ^^^^^ ^^^^^", 20, "   |          ^^^^^ ^^^^^"),
        ];
        for (line, width, folded) in table {
            if cfg!(windows) && folded.contains('\\') {
                continue;
            }
            assert_eq!(fold(line, width), folded, "{line}");
        }
    }

    #[test]
    fn the_words_stay_the_same() {
        let text = "  codehost  \u{1b}[33mwarn \u{1b}[0m  the plan names https://code.example.com/organizations/acme and more";
        for width in NARROWEST..120 {
            let folded = fold(text, width);
            let all = |text: &str| plain(text).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(all(&folded), all(text), "{width}");
            for line in plain(&folded).lines() {
                assert!(columns(line) <= width || !line.trim().contains(' '), "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_stream_folds_lines_as_they_come() {
        let mut out = Vec::new();
        let mut folding = Folding::new(&mut out, Some(20));
        write!(folding, "one two three ").unwrap();
        writeln!(folding, "four five\nsix").unwrap();
        write!(folding, "seven").unwrap();
        drop(folding);
        assert_eq!(String::from_utf8(out).unwrap(), "one two three four\n  five\nsix\nseven");
        let mut out = Vec::new();
        write!(Folding::new(&mut out, None), "one two three four five six").unwrap();
        assert_eq!(out, b"one two three four five six");
    }
}
