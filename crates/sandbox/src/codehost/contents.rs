//! `GET …/contents/{path}`: a file, a directory's list, a link, a submodule; and the raw media type.

use super::Repository;
use super::access::Who;
use super::file::{File, Node};
use super::organization_body::WEB;
use super::reply::{Reply, docs};
use super::world::World;
use crate::json::{self, Object};
use crate::server::Call;
use crate::sha1;
use base64::Engine as _;
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeMap;

/// The JSON of a larger file omits its content.
const INLINE_LIMIT: usize = 1 << 20;
/// The endpoint does not serve larger files at all.
const SIZE_LIMIT: usize = 100 << 20;
/// A directory's list is silently cut here.
const DIRECTORY_LIMIT: usize = 1_000;

const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

#[derive(Clone, Copy, PartialEq, Eq)]
enum Media {
    Default,
    Raw,
    Object,
}

/// The answer for a path; the empty one is the root.
pub(super) fn contents(
    world: &World,
    repository: &Repository,
    path: &str,
    who: &Who,
    call: &Call,
) -> Result<Reply, Reply> {
    who.permitted(repository, "contents", docs::CONTENTS)?;
    if repository.empty {
        return Err(Reply::error(404, "This repository is empty.", docs::CONTENTS));
    }
    let reference = call.parameter("ref").filter(|value| !value.is_empty());
    let reference = reference.map(|value| percent_decode_str(value).decode_utf8_lossy().into_owned());
    let reference = reference.unwrap_or_else(|| repository.default_branch.clone());
    let branch = reference.strip_prefix("refs/heads/").unwrap_or(&reference);
    if !repository.has_branch(branch) {
        // The exact text is not known for certain.
        return Err(Reply::error(404, &format!("No commit found for the ref {reference}"), docs::CONTENTS));
    }
    let tree = tree(repository, branch);
    let at = FilePath { world, repository, reference: &reference };
    let media = media(call);
    match tree.get(path) {
        Some(Node::Blob(content)) => at.file(path, content, sha1::blob_id(content), media),
        Some(Node::Symlink(target)) => match tree.get(resolve(path, target).as_str()) {
            // A link to a file of the repository appears as that file, with the link's name and id.
            Some(Node::Blob(content)) => at.file(path, content, sha1::blob_id(target.as_bytes()), media),
            _ => Ok(Reply::json(json::object(|o| {
                at.entry(o, path, "symlink", &sha1::blob_id(target.as_bytes()), target.len());
                o.str("target", target);
                at.links(o, path, &sha1::blob_id(target.as_bytes()));
            }))),
        },
        Some(Node::Submodule(url)) => {
            let sha = sha1::name_id(url);
            Ok(Reply::json(json::object(|o| {
                at.entry(o, path, "submodule", &sha, 0);
                o.str("submodule_git_url", url);
                at.links(o, path, &sha);
            })))
        }
        _ => at.directory(&tree, path, media, call),
    }
}

/// The file at a path of a branch, or the one a link there leads to.
pub(super) fn blob(repository: &Repository, branch: &str, path: &str) -> Option<Bytes> {
    let tree = tree(repository, branch);
    match tree.get(path)? {
        Node::Blob(content) => Some(content.clone()),
        Node::Symlink(target) => match tree.get(resolve(path, target).as_str())? {
            Node::Blob(content) => Some(content.clone()),
            Node::Directory | Node::Symlink(_) | Node::Submodule(_) => None,
        },
        Node::Directory | Node::Submodule(_) => None,
    }
}

/// What git has at a path of the default branch.
pub(super) enum Entry {
    Blob(Bytes),
    /// The names and modes of a directory.
    Tree(Vec<(String, u32)>),
    Commit,
}

/// The object at a path of the default branch; the empty path is the root. Nothing follows links.
pub(super) fn entry(repository: &Repository, path: &str) -> Option<Entry> {
    if repository.empty {
        return None;
    }
    let tree = tree(repository, &repository.default_branch);
    match tree.get(path) {
        Some(Node::Blob(content)) => return Some(Entry::Blob(content.clone())),
        Some(Node::Symlink(target)) => return Some(Entry::Blob(target.clone().into())),
        Some(Node::Submodule(_)) => return Some(Entry::Commit),
        Some(Node::Directory) | None => {}
    }
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut entries = BTreeMap::new();
    for (known, node) in &tree {
        let Some(rest) = known.strip_prefix(&prefix) else { continue };
        let (name, mode) = match (rest.split_once('/'), node) {
            (Some((directory, _)), _) => (directory, 0o040_000),
            (None, Node::Blob(_)) => (rest, 0o100_644),
            (None, Node::Symlink(_)) => (rest, 0o120_000),
            (None, Node::Submodule(_)) => (rest, 0o160_000),
            (None, Node::Directory) => (rest, 0o040_000),
        };
        entries.insert(name.to_owned(), mode);
    }
    (!entries.is_empty()).then(|| Entry::Tree(entries.into_iter().collect()))
}

/// Every entry of a branch by path; explicitly added directories hold a `.gitkeep`.
fn tree<'a>(repository: &'a Repository, branch: &str) -> BTreeMap<String, &'a Node> {
    static KEEP: Node = Node::Blob(Bytes::new());
    let everywhere = repository.files.iter();
    let here = repository
        .branch_files
        .iter()
        .filter(|((on, _), _)| on == branch)
        .map(|((_, path), file)| (path, file));
    let mut tree = BTreeMap::new();
    for (path, File(node)) in everywhere.chain(here) {
        match node {
            Node::Directory => tree.insert(format!("{path}/.gitkeep"), &KEEP),
            other => tree.insert(path.clone(), other),
        };
    }
    // A repository with commits has at least one file.
    if tree.is_empty() {
        tree.insert("README.md".to_owned(), &KEEP);
    }
    tree
}

/// The target of a link, relative to its own place. `None` outside the repository.
fn resolve(link: &str, target: &str) -> String {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    if target.starts_with('/') { String::new() } else { parts.join("/") }
}

fn media(call: &Call) -> Media {
    let accept = call.header("accept").unwrap_or_default();
    let asked = |kind: &str| {
        accept.split(',').map(|part| part.split(';').next().unwrap_or_default().trim()).any(|part| {
            [format!("application/vnd.github.{kind}"), format!("application/vnd.github.v3.{kind}")]
                .iter()
                .any(|known| part == known || part == format!("{known}+json"))
        })
    };
    match (asked("raw"), asked("object")) {
        (true, _) => Media::Raw,
        (_, true) => Media::Object,
        _ => Media::Default,
    }
}

struct FilePath<'a> {
    world: &'a World,
    repository: &'a Repository,
    reference: &'a str,
}

impl FilePath<'_> {
    fn file(&self, path: &str, content: &Bytes, sha: String, media: Media) -> Result<Reply, Reply> {
        if content.len() > SIZE_LIMIT {
            return Err(Reply::error(
                403,
                "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API, \
                 but you can always clone the repository via Git in order to obtain it.",
                docs::CONTENTS,
            ));
        }
        let mut reply = if media == Media::Raw {
            let raw = Reply::json(content.clone());
            Reply {
                content_type: "application/vnd.github.raw+json; charset=utf-8",
                media: "param=raw; format=json",
                ..raw
            }
        } else {
            Reply::json(json::object(|o| {
                self.entry(o, path, "file", &sha, content.len());
                if content.len() > INLINE_LIMIT {
                    o.str("content", "");
                    o.str("encoding", "none");
                } else {
                    o.str("content", &base64_lines(content));
                    o.str("encoding", "base64");
                }
                self.links(o, path, &sha);
            }))
        };
        reply.tag = Some(sha);
        Ok(reply.header(hyper::header::LAST_MODIFIED, self.repository.files_changed.clone()))
    }

    fn directory(
        &self,
        tree: &BTreeMap<String, &Node>,
        path: &str,
        media: Media,
        call: &Call,
    ) -> Result<Reply, Reply> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut entries: BTreeMap<&str, Option<&Node>> = BTreeMap::new();
        for (known, node) in tree {
            let Some(rest) = known.strip_prefix(&prefix) else { continue };
            match rest.split_once('/') {
                Some((directory, _)) => entries.insert(directory, None),
                None => entries.insert(rest, Some(node)),
            };
        }
        if entries.is_empty() {
            return Err(Reply::not_found(docs::CONTENTS));
        }
        let submodule =
            if call.header("x-github-api-version") == Some("2026-03-10") { "submodule" } else { "file" };
        let list = json::array(|a| {
            for (name, node) in entries.iter().take(DIRECTORY_LIMIT) {
                let path = format!("{prefix}{name}");
                let (kind, sha, size) = match node {
                    None => ("dir", sha1::name_id(&path), 0),
                    Some(Node::Blob(content)) => ("file", sha1::blob_id(content), content.len()),
                    Some(Node::Symlink(target)) => {
                        ("symlink", sha1::blob_id(target.as_bytes()), target.len())
                    }
                    Some(Node::Submodule(url)) => (submodule, sha1::name_id(url), 0),
                    Some(Node::Directory) => continue,
                };
                a.object(|o| {
                    self.entry(o, &path, kind, &sha, size);
                    self.links(o, &path, &sha);
                });
            }
        });
        if media != Media::Object {
            return Ok(Reply::json(list));
        }
        let sha = sha1::name_id(path);
        let object = json::object(|o| {
            self.entry(o, path, "dir", &sha, 0);
            o.raw("entries", &list);
            self.links(o, path, &sha);
        });
        Ok(Reply { media: "param=object; format=json", ..Reply::json(object) })
    }

    fn entry(&self, o: &mut Object<'_>, path: &str, kind: &str, sha: &str, size: usize) {
        let name = path.rsplit('/').next().unwrap_or_default();
        o.str("name", name);
        o.str("path", path);
        o.str("sha", sha);
        o.id("size", size as u64);
        o.str("url", &self.api_url(path));
        let (html, git) = (self.html_url(path, kind), self.git_url(sha));
        o.str("html_url", &html);
        o.str("git_url", &git);
        match kind {
            "file" | "symlink" => o.str("download_url", &self.download_url(path)),
            _ => o.null("download_url"),
        }
        o.str("type", kind);
    }

    fn links(&self, o: &mut Object<'_>, path: &str, sha: &str) {
        o.object("_links", |o| {
            o.str("self", &self.api_url(path));
            o.str("git", &self.git_url(sha));
            o.str("html", &self.html_url(path, "file"));
        });
    }

    fn full(&self) -> String {
        format!("{}/{}", self.repository.owner, self.repository.name)
    }

    fn api_url(&self, path: &str) -> String {
        let path = utf8_percent_encode(path, PATH);
        format!("{}/repos/{}/contents/{path}?ref={}", self.world.url, self.full(), self.reference)
    }

    fn html_url(&self, path: &str, kind: &str) -> String {
        let what = if kind == "dir" { "tree" } else { "blob" };
        format!("{WEB}/{}/{what}/{}/{}", self.full(), self.reference, utf8_percent_encode(path, PATH))
    }

    fn git_url(&self, sha: &str) -> String {
        format!("{}/repos/{}/git/blobs/{sha}", self.world.url, self.full())
    }

    /// The URL for a private repository contains a live credential.
    fn download_url(&self, path: &str) -> String {
        let path_encoded = utf8_percent_encode(path, PATH);
        let url = format!("https://raw.codehost.example/{}/{}/{path_encoded}", self.full(), self.reference);
        if !self.repository.is_private() {
            return url;
        }
        let token = sha1::name_id(&format!("{url} token")).to_uppercase();
        format!("{url}?token=A{}", token.get(..28).unwrap_or_default())
    }
}

/// Base64 with a newline after every 60 characters and at the end: strict decoders fail on it.
fn base64_lines(content: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(content);
    let mut lines = String::with_capacity(text.len() + text.len() / 60 + 1);
    for (at, character) in text.chars().enumerate() {
        if at > 0 && at % 60 == 0 {
            lines.push('\n');
        }
        lines.push(character);
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sixty_long_and_end() {
        assert_eq!(base64_lines(b""), "");
        assert_eq!(base64_lines(b"a"), "YQ==\n");
        let lines = base64_lines(&[0; 90]);
        assert_eq!(lines.len(), 122);
        assert!(lines.lines().all(|line| line.len() == 60));
    }

    #[test]
    fn links_lead_inside() {
        assert_eq!(resolve("CODEOWNERS", "docs/OWNERS"), "docs/OWNERS");
        assert_eq!(resolve(".github/CODEOWNERS", "../docs/OWNERS"), "docs/OWNERS");
        assert_eq!(resolve("CODEOWNERS", "/etc/passwd"), "");
    }
}
