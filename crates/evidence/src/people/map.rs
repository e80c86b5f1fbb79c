//! The map of people: a CSV file with a column per source and a row per person.

use std::ops::Range;
use std::path::Path;

use evidence_os::input;
use evidence_settings::problem::{Complaint, ConfigError, Place, Problems};
use evidence_settings::secret::quote;

use super::DIRECTORY;

/// The largest file that is read: more than 100,000 people.
const MAX_BYTES: u64 = 16 << 20;

/// The file, valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeopleMap {
    /// The sources, in the order of the columns.
    pub sources: Vec<String>,
    /// The people, in the order of the rows.
    pub people: Vec<MapRow>,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRow {
    /// The line, from 1.
    pub line: u64,
    /// The account of each source, if there is one.
    pub accounts: Vec<Option<String>>,
}

/// A cell, and its bytes in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    text: String,
    place: Range<usize>,
}

impl PeopleMap {
    /// Reads and validates the file. `sources` are those of the configuration.
    ///
    /// # Errors
    /// Fails with every problem of the file, each with its line and column.
    pub fn load(path: &Path, sources: &[&str]) -> Result<PeopleMap, ConfigError> {
        let of_file = |text: String, help: &str| ConfigError::of_file(path, Complaint::new(text).help(help));
        let (bytes, _) = input::read(path, MAX_BYTES).map_err(|error| {
            of_file(
                format!("the map of people cannot be read: {error}"),
                "write the path of a CSV file as `people.map`, relative to the configuration",
            )
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
            of_file(format!("line {line} is not UTF-8 text"), "save the file as CSV in UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        PeopleMap::of(path, text, sources)
    }

    /// Validates the text of a file.
    ///
    /// # Errors
    /// Fails with every problem of the file.
    pub fn of(path: &Path, text: &str, sources: &[&str]) -> Result<PeopleMap, ConfigError> {
        let mut problems = Problems::new(text);
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            if !bare.trim().is_empty() {
                lines.extend(cells(bare, start, &mut problems).map(|cells| (start, cells)));
            }
            start += line.len();
        }
        let mut lines = lines.into_iter();
        let columns = header(lines.next().map(|(_, cells)| cells), sources, &mut problems);
        let mut people: Vec<MapRow> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for (start, cells) in lines {
            let line = problems.line(start);
            if let (Some(columns), Some(first)) = (&columns, cells.first())
                && cells.len() != columns.len()
            {
                let text = format!("this row has {} of {} cells", cells.len(), columns.len());
                let complaint =
                    Complaint::new(text).help("write a cell for each column; leave it empty for no account");
                problems.add(Place::Bytes(first.place.clone()), "", complaint);
                continue;
            }
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
                if let Some(first) = known.insert((column, cell.text.to_lowercase()), line) {
                    let complaint = Complaint::new(format!("{} is on line {first}, too", quote(&cell.text)))
                        .help("write each account once: one row per person");
                    problems.add(Place::Bytes(cell.place.clone()), "", complaint);
                }
            }
            let accounts = cells.into_iter().map(|cell| Some(cell.text).filter(|text| !text.is_empty()));
            people
                .push(MapRow { line: u64::try_from(line).unwrap_or(u64::MAX), accounts: accounts.collect() });
        }
        if people.is_empty() && problems.is_empty() {
            let complaint =
                Complaint::new("the map names nobody").help("write a row per person below the first line");
            problems.add(Place::Nowhere, "", complaint);
        }
        match columns {
            Some(sources) if problems.is_empty() => Ok(PeopleMap { sources, people }),
            _ => Err(problems.into_error(path)),
        }
    }
}

/// The sources of the columns, if the first line names them.
fn header(cells: Option<Vec<Cell>>, sources: &[&str], problems: &mut Problems<'_>) -> Option<Vec<String>> {
    let known = sources.join("`, `");
    let Some(cells) = cells else {
        let complaint = Complaint::new("the map of people is empty");
        problems.add(
            Place::Nowhere,
            "",
            complaint.help(format!("begin it with a line of sources: `{known}`")),
        );
        return None;
    };
    let mut columns: Vec<String> = Vec::new();
    let mut is_good = true;
    for cell in &cells {
        let complaint = if columns.contains(&cell.text) {
            Complaint::new(format!("the column {} is there twice", quote(&cell.text)))
                .help("remove one of them")
        } else if !sources.contains(&cell.text.as_str()) {
            Complaint::new(format!("{} is not a source of this configuration", quote(&cell.text)))
                .help(format!("name each column after a source: `{known}`"))
        } else {
            columns.push(cell.text.clone());
            continue;
        };
        is_good = false;
        problems.add(Place::Bytes(cell.place.clone()), "", complaint);
    }
    let is_there = columns.iter().any(|column| column == DIRECTORY);
    if is_good && (!is_there || columns.len() < 2) {
        let place = cells.first().map_or(Place::Nowhere, |cell| Place::Bytes(cell.place.clone()));
        let complaint = Complaint::new(format!("the map needs a column `{DIRECTORY}` and one of another source"))
            .help("add the missing column: who left is told by the directory, and is looked for at the other sources");
        problems.add(place, "", complaint);
        is_good = false;
    }
    is_good.then_some(columns)
}

/// The cells of a line. A cell may be in quotes, with quotes in it doubled.
fn cells(line: &str, start: usize, problems: &mut Problems<'_>) -> Option<Vec<Cell>> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let (text, length) = match rest.strip_prefix('"') {
            None => {
                let length = rest.find(',').unwrap_or(rest.len());
                (rest.get(..length).unwrap_or_default().trim().to_string(), length)
            }
            Some(quoted) => match closed(quoted) {
                Some((text, length)) => (text, length + 1),
                None => {
                    let complaint = Complaint::new("this quote has no end, or something follows it").help(
                        "end the quoted cell with a quote before the comma, and double quotes inside it",
                    );
                    problems.add(Place::Bytes(start + at..start + line.len()), "", complaint);
                    return None;
                }
            },
        };
        // Underline something, also for an empty cell.
        let end = (at + length).max(at + usize::from(at < line.len()));
        found.push(Cell { text, place: start + at..start + end });
        at += length;
        if line.get(at..).is_none_or(|rest| !rest.starts_with(',')) {
            return Some(found);
        }
        at += 1;
    }
}

/// The text of a quoted cell and how many bytes it takes behind its first quote; `None` unless it ends with the line or before a comma.
fn closed(quoted: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut rest = quoted.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match (character, rest.peek()) {
            ('"', Some((_, '"'))) => {
                rest.next();
                text.push('"');
            }
            ('"', None | Some((_, ','))) => return Some((text, at + 1)),
            ('"', Some(_)) => return None,
            (other, _) => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PeopleMap, ConfigError> {
        PeopleMap::of(Path::new("people.csv"), text, &["codehost", "cloud", "altcloud"])
    }

    #[test]
    fn a_row_per_person() {
        let text =
            "altcloud,codehost,cloud\r\nmia@acme.example, mia ,\"a,\"\"b\"\"\"\n\nöl@acme.example,,\n,oscar,";
        let map = read(text).unwrap();
        assert_eq!(map.sources, ["altcloud", "codehost", "cloud"]);
        let text = |text: &str| Some(text.to_string());
        let rows: Vec<(u64, Vec<Option<String>>)> =
            map.people.into_iter().map(|row| (row.line, row.accounts)).collect();
        assert_eq!(
            rows,
            [
                (2, vec![text("mia@acme.example"), text("mia"), text("a,\"b\"")]),
                (4, vec![text("öl@acme.example"), None, None]),
                (5, vec![None, text("oscar"), None]),
            ]
        );
    }

    /// Every mistake has its line, its column, and what to do.
    #[test]
    fn mistakes() {
        let head = "altcloud,codehost\n";
        for (text, line, column, says, help) in [
            (String::new(), None, None, "is empty", "`codehost`, `cloud`, `altcloud`"),
            ("altcloud,github\na,b\n".to_string(), Some(1), Some(10), "not a source", "name each column"),
            ("altcloud,altcloud\na,b\n".to_string(), Some(1), Some(10), "twice", "remove one"),
            (
                "codehost,cloud\na,b\n".to_string(),
                Some(1),
                Some(1),
                "needs a column `altcloud`",
                "add the missing",
            ),
            ("altcloud\na\n".to_string(), Some(1), Some(1), "one of another source", "add the missing"),
            (head.to_string(), None, None, "names nobody", "a row per person"),
            (format!("{head}a\n"), Some(2), Some(1), "1 of 2 cells", "leave it empty"),
            (format!("{head}a,b,c\n"), Some(2), Some(1), "3 of 2 cells", "leave it empty"),
            (format!("{head}a,b\nc,B\n"), Some(3), Some(3), "is on line 2, too", "one row per person"),
            (format!("{head}a,\"b\n"), Some(2), Some(3), "quote has no end", "double quotes"),
            (format!("{head}ä,\"b\"c\n"), Some(2), Some(3), "something follows", "double quotes"),
        ] {
            let error = read(&text).unwrap_err();
            let problem = &error.problems[0];
            assert_eq!((problem.line, problem.column), (line, column), "{text:?}: {problem:?}");
            assert!(problem.message.contains(says), "{text:?}: {problem:?}");
            assert!(problem.help.as_deref().unwrap().contains(help), "{text:?}: {problem:?}");
        }
        // All problems at once.
        assert_eq!(read("altcloud,codehost\na\nb\n").unwrap_err().count(), 2);
    }
}
