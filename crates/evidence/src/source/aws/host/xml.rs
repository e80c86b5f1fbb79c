//! Parses the XML of some of the services: small documents of elements and text, read into a tree.
//!
//! Deliberately limited: no document types, and no entities except XML's own five and numeric characters, so nothing
//! expands. The limits of depth and size exceed every real answer. Attributes and namespaces have no meaning here and
//! are dropped.
//!
//! A missing or unknown field is not an error. A field of another type than documented is, because guessing its meaning
//! would invent evidence.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use evidence_http::ParseError;
use evidence_rules::field::Field;

/// The deepest answers have 5 levels: response, result, list, member, field.
const MAXIMUM_DEPTH: usize = 16;
/// The largest answer that is not a list, a password policy, has 14 elements.
const MAXIMUM_ELEMENTS: usize = 1_000;
/// A page of 1,000 security groups with 60 rules each, of seven elements, without what is skipped.
const MAXIMUM_LISTED: usize = 500_000;

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// The name, without a prefix.
    pub(crate) name: String,
    /// The text, including white space between elements.
    text: String,
    /// The child elements.
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// The child with this name.
    ///
    /// # Errors
    ///
    /// Fails if there are two: choosing either would be a guess.
    pub(crate) fn child(&self, name: &str) -> Result<Option<&Element>, ParseError> {
        let mut children = self.children.iter().filter(|child| child.name == name);
        let first = children.next();
        match children.next() {
            None => Ok(first),
            Some(_) => Err(ParseError::Shape(format!("two {name} elements in {}", self.name))),
        }
    }

    /// The trimmed text; `None` if it is empty.
    pub(crate) fn text(&self) -> Option<&str> {
        Some(self.text.trim()).filter(|text| !text.is_empty())
    }

    /// The first element with this name in document order, including this one.
    pub(crate) fn find(&self, name: &str) -> Option<&Element> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }
}

/// Parses a document into its root element.
pub(crate) fn parse(bytes: &[u8]) -> Result<Element, ParseError> {
    parse_without(bytes, &[], MAXIMUM_ELEMENTS)
}

/// Parses an answer with a long list, whose outermost element is called `name`, and drops the elements with the names in
/// `skipped` while it is read.
pub(crate) fn list(bytes: &[u8], name: &str, skipped: &[&str]) -> Result<Element, ParseError> {
    called(parse_without(bytes, skipped, MAXIMUM_LISTED)?, name)
}

fn parse_without(bytes: &[u8], skipped: &[&str], most: usize) -> Result<Element, ParseError> {
    let broken = |text: &str| ParseError::Broken(format!("broken XML: {text}"));
    let shape = |text: &str| ParseError::Shape(text.to_string());
    let text = std::str::from_utf8(bytes).map_err(|_| broken("it is not UTF-8 text"))?;
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Element> = Vec::new();
    let mut elements = 0;
    // How deep the reader is inside a skipped element.
    let mut skipping = 0_usize;
    let mut root = None;
    loop {
        match reader.read_event().map_err(|error| broken(&evidence_http::single_line(&error.to_string())))? {
            Event::Start(start) if skipping > 0 || skipped.contains(&start.local_name().as_ref()) => {
                skipping += 1;
                if skipping > MAXIMUM_DEPTH {
                    return Err(shape("the XML is nested too deeply or too large"));
                }
            }
            Event::End(_) if skipping > 0 => skipping -= 1,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if skipping > 0 => {}
            Event::Start(start) => {
                elements += 1;
                if root.is_some() {
                    return Err(broken("more than one outermost element"));
                }
                if open.len() >= MAXIMUM_DEPTH || elements > most {
                    return Err(shape("the XML is nested too deeply or too large"));
                }
                open.push(Element { name: start.local_name().as_ref().to_string(), ..Element::default() });
            }
            Event::End(_) => {
                let Some(element) = open.pop() else {
                    return Err(broken("a closing tag without an opening one"));
                };
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => root = Some(element),
                }
            }
            Event::Text(text) => add(&mut open, &text.xml10_content())?,
            Event::CData(text) => add(&mut open, &text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let character = character(&reference).ok_or_else(|| shape("the XML contains an entity"))?;
                add(&mut open, character.encode_utf8(&mut [0; 4]))?;
            }
            Event::DocType(_) => {
                return Err(shape("the XML contains a document type"));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            // The reader expands empty elements, so it never returns this event.
            Event::Empty(_) => {}
            Event::Eof if open.is_empty() && skipping == 0 => {
                return root.ok_or_else(|| broken("no element"));
            }
            Event::Eof => return Err(broken("it is truncated")),
        }
    }
}

/// Parses an answer, whose outermost element is called `name`.
pub(crate) fn root(bytes: &[u8], name: &str) -> Result<Element, ParseError> {
    called(parse(bytes)?, name)
}

fn called(root: Element, name: &str) -> Result<Element, ParseError> {
    if root.name == name {
        return Ok(root);
    }
    Err(ParseError::Shape(format!("{} instead of {name}", evidence_http::single_line(&root.name))))
}

/// The child with this name.
pub(crate) fn required<'a>(parent: &'a Element, name: &str) -> Result<&'a Element, ParseError> {
    parent.child(name)?.ok_or_else(|| ParseError::Shape(format!("no {name} in {}", parent.name)))
}

/// The text of the child with this name.
pub(crate) fn required_text<'a>(parent: &'a Element, name: &str) -> Result<&'a str, ParseError> {
    let text = required(parent, name)?.text();
    text.ok_or_else(|| ParseError::Shape(format!("{name} in {} is empty", parent.name)))
}

/// An element's value. An absent element is absent; an empty one is `null`.
pub(crate) fn field<T: std::str::FromStr>(parent: &Element, name: &str) -> Result<Field<T>, ParseError> {
    let Some(element) = parent.child(name)? else { return Ok(Field::Absent) };
    let Some(text) = element.text() else { return Ok(Field::Null) };
    text.parse().map(Field::Value).map_err(|_| ParseError::Shape(format!("{name} has an undocumented type")))
}

fn add(open: &mut [Element], text: &str) -> Result<(), ParseError> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return Err(ParseError::Broken("broken XML: text outside of every element".to_string())),
    }
    Ok(())
}

/// The character that a reference encodes.
fn character(reference: &BytesRef<'_>) -> Option<char> {
    if reference.is_char_ref() {
        return reference.resolve_char_ref().ok().flatten();
    }
    match reference.xml10_content().as_ref() {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_text() {
        let root = parse(
            b"<?xml version=\"1.0\"?>\n<A xmlns=\"urn:x\">\n <b>1 &lt;&#50;&amp;<!-- no --> </b><c/><p:d>x</p:d></A>\n",
        )
        .unwrap();
        assert_eq!(root.name, "A");
        assert_eq!(root.child("b").unwrap().unwrap().text(), Some("1 <2&"));
        assert_eq!(root.child("c").unwrap().unwrap().text(), None);
        assert_eq!(root.child("d").unwrap().unwrap().text(), Some("x"));
        assert_eq!(root.child("e").unwrap(), None);
        assert_eq!(root.find("d").unwrap().text(), Some("x"));
        assert_eq!(root.find("A").unwrap(), &root);
        assert_eq!(root.text(), None);
        assert_eq!(parse(b"<a><![CDATA[<&>]]></a>").unwrap().text(), Some("<&>"));
    }

    #[test]
    fn what_is_skipped_is_not_kept() {
        let root = list(b"<a><s>x<b>&lt;</b><s/></s><b>1</b></a>", "a", &["s"]).unwrap();
        assert_eq!((root.children.len(), root.text()), (1, None));
        assert!(matches!(list(b"<a><s><b></s></a>", "a", &["s"]).unwrap_err(), ParseError::Broken(_)));
        assert!(matches!(list(b"<a><s>", "a", &["s"]).unwrap_err(), ParseError::Broken(_)));
        let deep = format!("<a>{}{}</a>", "<s>".repeat(17), "</s>".repeat(17));
        assert!(matches!(list(deep.as_bytes(), "a", &["s"]).unwrap_err(), ParseError::Shape(_)));
    }

    #[test]
    fn what_is_cut_off_is_broken_and_what_is_odd_is_refused() {
        let broken: [&[u8]; 10] = [
            b"",
            b"   ",
            b"text",
            b"<a>",
            b"<a><b></a>",
            b"</a>",
            b"<a></a><b></b>",
            b"<a></a>x",
            b"<a>\xff</a>",
            b"<a",
        ];
        for bytes in broken {
            let error = parse(bytes).unwrap_err();
            assert!(
                matches!(error, ParseError::Broken(_)),
                "{:?}: {error:?}",
                String::from_utf8_lossy(bytes)
            );
        }
        let bomb = "<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\"><!ENTITY y \"&x;&x;&x;\">]><a>&y;</a>".to_string();
        let deep = format!("{}{}", "<a>".repeat(17), "</a>".repeat(17));
        let wide = format!("<a>{}</a>", "<b/>".repeat(1_000));
        for text in [bomb, deep, wide, "<a>&nbsp;</a>".to_string(), "<a>&x;</a>".to_string()] {
            assert!(matches!(parse(text.as_bytes()).unwrap_err(), ParseError::Shape(_)), "{text}");
        }
        let twice = parse(b"<a><b>1</b><b>2</b></a>").unwrap();
        assert!(matches!(twice.child("b"), Err(ParseError::Shape(_))));
    }
}
