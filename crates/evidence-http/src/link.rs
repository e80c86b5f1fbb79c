//! The `Link` header field of RFC 8288, which holds the address of the next page.
//!
//! The parser is tolerant: a damaged link does not hide the sound ones around it, except behind a `<` or a quote that
//! is never closed. The host chooses the address of a page: [`within`] refuses one that leads away from the host.
//! Nothing here follows a link.

use std::fmt;

use url::Url;

/// One link of a `Link` header (RFC 8288, section 3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// The URI reference between `<` and `>`, as sent; it may be relative.
    pub target: String,
    /// The relation types, in lower case and in the order sent. Empty if the link has no `rel`.
    pub rels: Vec<String>,
    /// The other parameters in the order sent: the name in lower case, the value without quotes and escapes (empty
    /// if there was none). The parser drops a second `rel`, as section 3.3 requires.
    pub params: Vec<(String, String)>,
}

impl Link {
    /// The value of the first parameter with this name (in lower case).
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Prints the link so that [`parse`] reads it back. A target cannot hold `>` and a relation type no space: a link
/// that `parse` returned never does.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.target)?;
        if !self.rels.is_empty() {
            write!(f, "; rel=\"{}\"", escaped(&self.rels.join(" ")))?;
        }
        for (name, value) in &self.params {
            write!(f, "; {name}=\"{}\"", escaped(value))?;
        }
        Ok(())
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The links of one `Link` header field value, which may hold several, joined by commas.
///
/// Takes time linear in the length of `header`, whatever it holds.
pub fn parse(header: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return links;
        }
        if let Some(inside) = rest.strip_prefix('<') {
            let Some((target, after)) = inside.split_once('>') else { return links };
            let (link, after) = parameters(target, after);
            links.push(link);
            rest = after;
        }
        // Any text between a link and the next comma is not a link.
        rest = after_comma(rest);
    }
}

/// The target of the first link with the relation type `rel` (compared without regard to case) in these header
/// field values: a host may send one `Link` header with several links or several headers.
///
/// Skips a link with an `anchor`, which describes a resource other than the requested one (section 3.2).
pub fn target<'a>(headers: impl Iterator<Item = &'a str>, rel: &str) -> Option<String> {
    headers
        .flat_map(parse)
        .find(|link| {
            link.param("anchor").is_none() && link.rels.iter().any(|known| known.eq_ignore_ascii_case(rel))
        })
        .map(|link| link.target)
}

/// The target as [`target`] finds it, resolved against `base`. It must stay within the origin of `base`, since the
/// credentials go there too, and must not bring credentials of its own.
///
/// # Errors
///
/// Returns the target if it leads elsewhere or is not a URL.
pub fn within<'a>(
    base: &Url,
    headers: impl Iterator<Item = &'a str>,
    rel: &str,
) -> Result<Option<Url>, String> {
    let Some(target) = target(headers, rel) else { return Ok(None) };
    match base.join(&target) {
        Ok(url) if url.origin() == base.origin() && url.username().is_empty() && url.password().is_none() => {
            Ok(Some(url))
        }
        _ => Err(target),
    }
}

/// Reads `; name=value` pairs, and returns the link and what follows it.
fn parameters<'a>(target: &str, mut rest: &'a str) -> (Link, &'a str) {
    let mut link = Link { target: target.trim().to_string(), ..Link::default() };
    let mut rel_seen = false;
    loop {
        let Some(after) = blank(rest).strip_prefix(';') else { return (link, rest) };
        let after = blank(after);
        let name_end = after.find([' ', '\t', '=', ';', ',']).unwrap_or(after.len());
        let (name, after) = after.split_at(name_end);
        let (value, after) = match blank(after).strip_prefix('=') {
            Some(value) => parameter_value(blank(value)),
            None => (String::new(), after),
        };
        rest = after;
        let name = name.to_ascii_lowercase();
        if name == "rel" {
            if !rel_seen {
                link.rels = value.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
            }
            rel_seen = true;
        } else if !name.is_empty() {
            link.params.push((name, value));
        }
    }
}

/// Reads a quoted string, or a bare value up to the next separator, and returns what follows it. A quoted string
/// that is never closed ends with the header.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.trim_end_matches([' ', '\t']).to_string(), rest);
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
    }
    (value, characters.as_str())
}

/// What follows the next comma that is not inside a quoted string.
fn after_comma(text: &str) -> &str {
    let mut characters = text.chars();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted = !quoted,
            '\\' if quoted => {
                characters.next();
            }
            ',' if !quoted => break,
            _ => {}
        }
    }
    characters.as_str()
}

fn blank(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn link(target: &str, rels: &[&str], params: &[(&str, &str)]) -> Link {
        Link {
            target: target.to_string(),
            rels: rels.iter().map(|rel| rel.to_string()).collect(),
            params: params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        }
    }

    #[test]
    fn reads_every_form_of_the_header() {
        let next = link("https://host/things?page=2", &["next"], &[]);
        let last = link("https://host/things?page=23", &["last"], &[]);
        let table: &[(&str, Vec<Link>)] = &[
            ("", vec![]),
            (" , ,, ", vec![]),
            ("<https://host/things?page=2>; rel=\"next\"", vec![next.clone()]),
            ("<https://host/things?page=2>;rel=next", vec![next.clone()]),
            ("<https://host/things?page=2> ;\trel = next", vec![next.clone()]),
            ("<https://host/things?page=2>; REL=\"NEXT\"", vec![next.clone()]),
            (
                "<https://host/things?page=2>; rel=\"next\", <https://host/things?page=23>; rel=\"last\"",
                vec![next.clone(), last.clone()],
            ),
            (
                "<https://host/things?page=2>; rel=next,<https://host/things?page=23>; rel=last,",
                vec![next.clone(), last.clone()],
            ),
            // A comma, a semicolon and a quote belong to the target while it is open.
            (
                "<https://host/a,b;c\"d?x=1,2>; rel=\"next\"",
                vec![link("https://host/a,b;c\"d?x=1,2", &["next"], &[])],
            ),
            (
                "<https://host/>; rel=\"next prev\tlast\"",
                vec![link("https://host/", &["next", "prev", "last"], &[])],
            ),
            (
                "<https://host/>; rel=\"next\"; title=\"a, b; \\\"c\\\" \\\\\"",
                vec![link("https://host/", &["next"], &[("title", "a, b; \"c\" \\")])],
            ),
            (
                "<https://host/>; title*=UTF-8''n%C3%A4chste; rel=next",
                vec![link("https://host/", &["next"], &[("title*", "UTF-8''n%C3%A4chste")])],
            ),
            (
                "<https://host/>; rel=next; results=\"true\"; cursor",
                vec![link("https://host/", &["next"], &[("results", "true"), ("cursor", "")])],
            ),
            // Only the first rel counts.
            ("<https://host/>; rel=next; rel=prev", vec![link("https://host/", &["next"], &[])]),
            ("<https://host/>; rel=\"\"; rel=prev", vec![link("https://host/", &[], &[])]),
            ("</orgs/x/things?page=2>; rel=next", vec![link("/orgs/x/things?page=2", &["next"], &[])]),
            ("<>; rel=next", vec![link("", &["next"], &[])]),
            ("<https://host/>", vec![link("https://host/", &[], &[])]),
            ("<https://host/>;;; ;rel=next;", vec![link("https://host/", &["next"], &[])]),
            // Damaged links do not hide the ones after them.
            ("https://host/1; rel=next, <https://host/things?page=2>; rel=next", vec![next.clone()]),
            ("garbage \"<x>, y\" more, <https://host/things?page=2>; rel=next", vec![next.clone()]),
            (
                "<https://host/things?page=2>; rel=next garbage=a b, <https://host/things?page=23>; rel=last",
                vec![link("https://host/things?page=2", &["next", "garbage=a", "b"], &[]), last.clone()],
            ),
            (
                "<https://host/things?page=2>; rel=\"next\" garbage \"a,b\", <https://host/things?page=23>; rel=last",
                vec![next.clone(), last.clone()],
            ),
            ("<https://host/never-closed; rel=next, <", vec![]),
            ("<https://host/things?page=2>; rel=\"next", vec![next.clone()]),
            ("<https://host/things?page=2>; rel=\"next\\", vec![next.clone()]),
            ("<https://host/ü>; rel=\"näxt\"", vec![link("https://host/ü", &["näxt"], &[])]),
        ];
        for (header, expected) in table {
            assert_eq!(&parse(header), expected, "{header}");
        }
    }

    #[test]
    fn finds_the_target_of_a_relation_type() {
        let page = "<https://host/groups/7/things?page=2>; rel=\"next\", \
                    <https://host/groups/7/things?page=9>; rel=\"last\"";
        let deprecation = "<https://host/docs>; rel=\"deprecation\"; type=\"text/html\"";
        let other_resource = "<https://host/other?page=2>; rel=next; anchor=\"/other\"";
        let table: &[(&[&str], &str, Option<&str>)] = &[
            (&[page], "next", Some("https://host/groups/7/things?page=2")),
            (&[page], "LAST", Some("https://host/groups/7/things?page=9")),
            (&[page], "prev", None),
            (&[deprecation, page], "next", Some("https://host/groups/7/things?page=2")),
            (&[deprecation], "next", None),
            (&[other_resource], "next", None),
            (&[other_resource, page], "next", Some("https://host/groups/7/things?page=2")),
            (&[], "next", None),
        ];
        for (headers, rel, expected) in table {
            assert_eq!(target(headers.iter().copied(), rel).as_deref(), *expected, "{headers:?} {rel}");
        }
    }

    #[test]
    fn a_page_is_within_the_host() {
        let base = Url::parse("https://api.example.com/api/v3/").unwrap();
        let within = |target: &str| {
            let header = format!("<{target}>; rel=next");
            within(&base, [header.as_str()].into_iter(), "next").map(|url| url.unwrap().to_string())
        };
        for (target, url) in [
            ("https://api.example.com/x?page=2", "https://api.example.com/x?page=2"),
            ("https://API.example.com:443/x", "https://api.example.com/x"),
            ("/x?page=2", "https://api.example.com/x?page=2"),
            ("?page=2", "https://api.example.com/api/v3/?page=2"),
            // A scheme without slashes is relative to a base of the same scheme.
            ("https:evil.example", "https://api.example.com/api/v3/evil.example"),
            ("//api.example.com/x", "https://api.example.com/x"),
            ("https:/\\api.example.com/x", "https://api.example.com/x"),
        ] {
            assert_eq!(within(target).as_deref(), Ok(url), "{target}");
        }
        for target in [
            "http://api.example.com/x",
            "https://api.example.com:8443/x",
            "https://example.com/x",
            "https://api.example.com.evil.example/x",
            "https://api.example.com@evil.example/x",
            "//evil.example/x",
            "\\\\evil.example/x",
            "data:,x",
            "https://[/x",
            // The HTTP client would turn these into a second `Authorization` header.
            "https://user@api.example.com/x",
            "https://:word@api.example.com/x",
            "//user:word@api.example.com/x",
        ] {
            assert_eq!(within(target), Err(target.to_string()), "{target}");
        }
        assert_eq!(super::within(&base, ["<x>; rel=last"].into_iter(), "next"), Ok(None));
    }

    #[test]
    fn hostile_headers_take_linear_time() {
        let length = 1 << 20;
        for pattern in
            ["<", ",", ";", "\"", "<a>", "<a>;", "<a>;=", "<a>\"", "<a>;b=\"\\", "a,", "<a>;rel=\"", " "]
        {
            parse(&pattern.repeat(length / pattern.len()));
        }
    }

    fn any_link() -> impl Strategy<Value = Link> {
        let target = "[!-;=?-~ü]{0,30}";
        let rels = proptest::collection::vec("[!-@\\[-~ä]{1,8}", 0..3);
        let params = proptest::collection::vec(("[a-z*_-]{1,8}", "[ -~\tö]{0,12}"), 0..4);
        (target, rels, params).prop_map(|(target, rels, params)| Link {
            target,
            rels,
            params: params.into_iter().filter(|(name, _)| name != "rel").collect(),
        })
    }

    proptest! {
        #[test]
        fn printed_links_read_back(links in proptest::collection::vec(any_link(), 0..5)) {
            let header = links.iter().map(Link::to_string).collect::<Vec<_>>().join(", ");
            prop_assert_eq!(parse(&header), links);
        }

        #[test]
        fn never_panics_and_settles(header in "[<>;,=\"\\\\ \ta-zü]{0,80}") {
            let links = parse(&header);
            let printed = links.iter().map(Link::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(parse(&printed), links);
        }

        #[test]
        fn never_panics_on_anything(header in ".{0,200}") {
            parse(&header);
        }
    }
}
