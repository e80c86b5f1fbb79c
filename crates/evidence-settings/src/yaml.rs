//! Parses YAML into a tree with positions. The only module that names the YAML library.
//!
//! The library's deserializer stops at its first error. Its parser's events have no types, so they can be read to
//! the end and every problem reported at once. This module bounds nesting and the expansion of aliases. It knows
//! no configuration keys.

mod scalar;
mod syntax;
mod tree;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

use serde_saphyr::granit_parser::{self, Event, Parser, Span, StructureStyle, Tag};

use super::problem::{Complaint, Place, Problems};
use super::secret::quote;

pub(super) use scalar::is_plain_text;
pub(super) use tree::{Entry, MAX_NESTING, Node, Value};

/// The most that aliases may expand to: bytes of text, plus [`NODE_WEIGHT`] for each value. A file is at most this
/// long, so anything that could be written out is accepted, and a bomb is refused before it expands.
pub(super) const MAX_ALIAS_WEIGHT: usize = 1024 * 1024;

/// The weight of one value besides its text.
const NODE_WEIGHT: usize = 16;

/// How many bare `*` to skip in order to continue.
const MAX_RECOVERIES: usize = 16;

/// Parses the text. `None` if it holds no value or could not be read to the end; a problem then explains why.
pub(super) fn parse(text: &str, problems: &mut Problems<'_>) -> Option<Rc<Node>> {
    // A bare `*` (the natural but wrong way to write "every repository") ends the scan. Report it, blank it out,
    // and read the text again, so that the same run finds the other problems of the file.
    let mut patched = Cow::Borrowed(text);
    let mut stars = BTreeSet::new();
    loop {
        let mut builder = Builder::new(&patched, &stars);
        match builder.run() {
            Ok(()) => {
                let Builder { root, findings, .. } = builder;
                for Finding { place, key, complaint } in findings {
                    problems.add(place, key, complaint);
                }
                return root;
            }
            Err(stop) => {
                let key = builder.path();
                if let Stop::Syntax(error) = &stop
                    && stars.len() < MAX_RECOVERIES
                    && let Some(star) = syntax::bare_star(&patched, error)
                {
                    let complaint = Complaint::new("`*` alone is not a value: in YAML it starts an alias")
                        .help(format!("put it in quotes: {}", star_in_quotes(&key)));
                    problems.add(Place::Bytes(star..star + 1), key, complaint);
                    stars.insert(star);
                    let mut blanked = patched.into_owned();
                    blanked.replace_range(star..star + 1, "~");
                    patched = Cow::Owned(blanked);
                    continue;
                }
                let bracket = builder.open_bracket();
                let last_key = builder.last_key();
                for Finding { place, key, complaint } in builder.findings {
                    problems.add(place, key, complaint);
                }
                match stop {
                    Stop::At(bytes, complaint) => problems.add(Place::Bytes(bytes), key, complaint),
                    Stop::Syntax(error) => {
                        let (bytes, complaint) = syntax::explain(text, &error, bracket);
                        // A fault on its own line is not the value of a key before it.
                        let same_line = last_key
                            .is_some_and(|last_key| problems.line(last_key) == problems.line(bytes.start));
                        let key = if same_line { key } else { String::new() };
                        problems.add(Place::Bytes(bytes), key, complaint);
                    }
                }
                return None;
            }
        }
    }
}

/// The value of YAML that this crate itself wrote, as JSON; null if it is not valid.
pub(super) fn to_json(text: &str) -> serde_json::Value {
    parse(text, &mut Problems::new(text)).map_or(serde_json::Value::Null, |node| json_of(&node))
}

fn json_of(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null | Value::Reported => serde_json::Value::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Number(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(|item| json_of(item)).collect(),
        Value::Map(entries) => {
            let pairs = entries.iter().filter_map(|entry| Some((entry.key.clone()?, json_of(&entry.value))));
            serde_json::Value::Object(pairs.collect())
        }
    }
}

/// `repos: "*"`, with the last name of the dotted path.
fn star_in_quotes(path: &str) -> String {
    let name = path.rsplit('.').next().unwrap_or_default();
    if name.is_empty() || name.contains('[') { "`\"*\"`".to_owned() } else { format!("`{name}: \"*\"`") }
}

/// Why parsing stopped.
enum Stop {
    /// The library refused the text.
    Syntax(granit_parser::ScanError),
    /// This module refused it.
    At(Range<usize>, Complaint),
}

/// A problem that does not stop the parsing.
struct Finding {
    place: Place,
    key: String,
    complaint: Complaint,
}

/// A list or mapping that is not complete yet.
enum Open {
    List {
        start: usize,
        flow: bool,
        anchor: usize,
        items: Vec<Rc<Node>>,
    },
    Map {
        start: usize,
        flow: bool,
        anchor: usize,
        entries: Vec<Entry>,
        key: Option<(Option<String>, Range<usize>)>,
    },
}

/// Turns events into a tree.
struct Builder<'text> {
    text: &'text str,
    stars: &'text BTreeSet<usize>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    alias_weight: usize,
    documents: usize,
    root: Option<Rc<Node>>,
    findings: Vec<Finding>,
}

impl<'text> Builder<'text> {
    fn new(text: &'text str, stars: &'text BTreeSet<usize>) -> Builder<'text> {
        Builder {
            text,
            stars,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            alias_weight: 0,
            documents: 0,
            root: None,
            findings: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        let options = granit_parser::options! {
            emit_unresolved_aliases: true,
            flow_nesting_limit: MAX_NESTING,
            block_nesting_limit: MAX_NESTING,
        };
        for event in Parser::new_from_str_with_options(self.text, options) {
            let (event, span) = event.map_err(Stop::Syntax)?;
            self.take(event, &bytes_of(&span))?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'_>, bytes: &Range<usize>) -> Result<(), Stop> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let complaint = Complaint::new("the file holds more than one YAML document")
                        .help("remove this `---` and everything after it, or move it to a separate file");
                    return Err(Stop::At(bytes.clone(), complaint));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = if self.stars.contains(&bytes.start) {
                    Value::Reported
                } else {
                    scalar::resolve(&text, style, tag.as_deref())
                        .unwrap_or_else(|complaint| self.report(bytes, complaint))
                };
                self.scalar_or_key(text, value, bytes, anchor)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq", bytes);
                self.open.push(Open::List {
                    start: bytes.start,
                    flow: style == StructureStyle::Flow,
                    anchor,
                    items: Vec::new(),
                });
            }
            Event::MappingStart(style, anchor, tag) => {
                self.check_tag(tag.as_deref(), "map", bytes);
                self.open.push(Open::Map {
                    start: bytes.start,
                    flow: style == StructureStyle::Flow,
                    anchor,
                    entries: Vec::new(),
                    key: None,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    let complaint = Complaint::new("an alias inside its own value never ends")
                        .help("write the value in full");
                    return Err(Stop::At(bytes.clone(), complaint));
                };
                self.alias_weight = self.alias_weight.saturating_add(node.weight);
                if self.alias_weight > MAX_ALIAS_WEIGHT {
                    let complaint = Complaint::new(format!(
                        "the aliases up to here expand to more than {} KiB",
                        MAX_ALIAS_WEIGHT / 1024
                    ))
                    .help("write the values in full, or use fewer aliases");
                    return Err(Stop::At(bytes.clone(), complaint));
                }
                let key_text = match &node.value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                };
                self.attach(node, key_text, bytes);
            }
            Event::UnresolvedAlias(name) => {
                let complaint =
                    Complaint::new(format!("{} is an undefined alias", quote(&format!("*{name}"))))
                        .help("in YAML `*` starts an alias; put it in quotes if it is text");
                let value = self.report(bytes, complaint);
                self.attach(leaf(value, bytes), None, bytes);
            }
            _ => {}
        }
        Ok(())
    }

    fn scalar_or_key(
        &mut self,
        text: Cow<'_, str>,
        value: Value,
        bytes: &Range<usize>,
        anchor: usize,
    ) -> Result<(), Stop> {
        let node = leaf(value, bytes);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        let is_text = !matches!(node.value, Value::Reported);
        self.attach(node, is_text.then(|| text.into_owned()), bytes);
        Ok(())
    }

    /// Attaches a complete value to its parent. Uses `key_text` and `bytes` if it becomes a key.
    fn attach(&mut self, node: Rc<Node>, key_text: Option<String>, bytes: &Range<usize>) {
        let is_key = matches!(self.open.last(), Some(Open::Map { key: None, .. }));
        if is_key && key_text.is_none() && !matches!(node.value, Value::Reported) {
            let complaint = Complaint::new("a key must be a name, not a list, a mapping or an alias")
                .help("write `name: value`");
            self.report(bytes, complaint);
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => match key.take() {
                None => *key = Some((key_text, bytes.clone())),
                Some((text, key_bytes)) => entries.push(Entry { key: text, key_bytes, value: node }),
            },
        }
    }

    fn close(&mut self) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (start, anchor, value) = match open {
            Open::List { start, anchor, items, .. } => (start, anchor, Value::List(items)),
            Open::Map { start, anchor, entries, .. } => (start, anchor, Value::Map(self.merge(entries))),
        };
        let weight = match &value {
            Value::List(items) => items.iter().fold(NODE_WEIGHT, |sum, item| sum.saturating_add(item.weight)),
            Value::Map(entries) => entries.iter().fold(NODE_WEIGHT, |sum, entry| {
                let key = entry.key.as_ref().map_or(0, String::len);
                sum.saturating_add(key).saturating_add(entry.value.weight)
            }),
            _ => NODE_WEIGHT,
        };
        let bytes = start..start;
        let node = Rc::new(Node { bytes: bytes.clone(), value, weight });
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.attach(node, None, &bytes);
        Ok(())
    }

    /// Replaces `<<` by the entries of the mappings it names; explicit entries take precedence.
    fn merge(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        if entries.iter().all(|entry| entry.key.as_deref() != Some("<<")) {
            return entries;
        }
        let (merges, mut kept): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.key.as_deref() == Some("<<"));
        let mut present: HashSet<Option<String>> = kept.iter().map(|entry| entry.key.clone()).collect();
        for merge in merges {
            let single = std::slice::from_ref(&merge.value);
            let sources = match &merge.value.value {
                Value::List(items) => items.as_slice(),
                _ => single,
            };
            for source in sources {
                match &source.value {
                    Value::Map(from) => {
                        let new = from.iter().filter(|entry| present.insert(entry.key.clone()));
                        kept.extend(new.cloned());
                    }
                    Value::Reported => {}
                    _ => {
                        let complaint = Complaint::new("`<<` merges mappings, and this is not one")
                            .help("write `<<: *name`, where `&name` marks a mapping");
                        self.report(&merge.key_bytes, complaint);
                    }
                }
            }
        }
        kept
    }

    fn check_tag(&mut self, tag: Option<&Tag>, expected: &str, bytes: &Range<usize>) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(expected)
            && tag.original() != "!"
        {
            self.report(bytes, scalar::unknown_tag(tag));
        }
    }

    fn report(&mut self, bytes: &Range<usize>, complaint: Complaint) -> Value {
        self.findings.push(Finding { place: Place::Bytes(bytes.clone()), key: self.path(), complaint });
        Value::Reported
    }

    /// The byte of the innermost bracket that is still open.
    fn open_bracket(&self) -> Option<usize> {
        match self.open.last()? {
            Open::List { start, flow, .. } | Open::Map { start, flow, .. } => flow.then_some(*start),
        }
    }

    /// The byte of the innermost key whose value is being read.
    fn last_key(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Map { key: Some((_, bytes)), .. } => Some(bytes.start),
            _ => None,
        })
    }

    /// The dotted path of the current position.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match open {
                Open::List { items, .. } => path = super::path::item(&path, items.len()),
                Open::Map { key: Some((Some(key), _)), .. } => path = super::path::join(&path, key),
                Open::Map { .. } => {}
            }
        }
        path
    }
}

/// A value without children.
fn leaf(value: Value, bytes: &Range<usize>) -> Rc<Node> {
    let text = if let Value::Text(text) = &value { text.len() } else { 0 };
    Rc::new(Node { bytes: bytes.clone(), value, weight: NODE_WEIGHT.saturating_add(text) })
}

/// The bytes of a span; the parser always knows them for text in memory.
fn bytes_of(span: &Span) -> Range<usize> {
    let bytes = span.byte_range().unwrap_or_default();
    bytes.start..bytes.end.max(bytes.start)
}
