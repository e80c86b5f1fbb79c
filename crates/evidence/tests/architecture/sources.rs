//! The modules of a crate, and what each imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, File, Item, UseTree};

/// A crate's modules and their imports.
pub(crate) struct Crate {
    pub(crate) name: String,
    /// By path, such as `source::github`; the root is empty.
    pub(crate) modules: BTreeMap<String, Module>,
}

#[derive(Default)]
pub(crate) struct Module {
    /// The imported names and their paths.
    names: BTreeMap<String, Vec<String>>,
    /// The paths of glob imports.
    globs: Vec<Vec<String>>,
    /// Every path in its code.
    paths: BTreeSet<Vec<String>>,
}

impl Crate {
    /// Reads a crate from its root file.
    pub(crate) fn read(name: &str, root: &Path) -> Crate {
        let mut this = Crate { name: name.to_string(), modules: BTreeMap::new() };
        this.read_file("", root, root.parent().unwrap());
        this
    }

    /// Builds a crate from the path and text of each module.
    pub(crate) fn of(name: &str, files: &[(&str, &str)]) -> Crate {
        let mut this = Crate { name: name.to_string(), modules: BTreeMap::new() };
        for (path, text) in files {
            this.add(path, syn::parse_file(text).unwrap().items, &mut |_, _| {});
        }
        this
    }

    fn read_file(&mut self, module: &str, file: &Path, directory: &Path) {
        let text = std::fs::read_to_string(file).unwrap();
        let File { items, .. } = syn::parse_file(&text).unwrap();
        let mut children = Vec::new();
        self.add(module, items, &mut |child, name| children.push((child.to_string(), name.to_string())));
        for (child, name) in children {
            let below = directory.join(&name);
            let file = Some(directory.join(format!("{name}.rs"))).filter(|file| file.exists());
            self.read_file(&child, &file.unwrap_or_else(|| below.join("mod.rs")), &below);
        }
    }

    /// Adds the items of one module; `child` receives the path and the name of every module in a separate file.
    fn add(&mut self, path: &str, items: Vec<Item>, child: &mut dyn FnMut(&str, &str)) {
        let mut module = Module::default();
        for item in items {
            if attributes(&item).iter().any(only_for_tests) {
                continue;
            }
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let below = join(path, &name);
                    match inner.content {
                        Some((_, items)) => self.add(&below, items, child),
                        None => child(&below, &name),
                    }
                }
                Item::Use(import) => module.import(&import.tree, Vec::new()),
                other => module.scan(other.to_token_stream()),
            }
        }
        self.modules.insert(path.to_string(), module);
    }

    /// Pairs of importing and imported module.
    pub(crate) fn imports(&self) -> BTreeSet<(String, String)> {
        let mut imports = BTreeSet::new();
        for (from, module) in &self.modules {
            let globs = module.globs.iter().map(|path| [path.as_slice(), &["*".to_string()]].concat());
            let used = module.names.values().cloned().chain(globs).chain(module.paths.iter().cloned());
            for path in used {
                let Some(to) = self.resolve(from, &path, 0) else { continue };
                if to != *from {
                    imports.insert((from.clone(), to));
                }
            }
        }
        imports
    }

    /// The module of this crate that defines the last name of a path used in `from`.
    fn resolve(&self, from: &str, path: &[String], depth: usize) -> Option<String> {
        const DEEPEST: usize = 16;
        if depth > DEEPEST {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => String::new(),
            "self" => from.to_string(),
            "super" => {
                let mut at = parent(from)?.to_string();
                while let Some((next, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
                    debug_assert_eq!(next, "super");
                    (at, rest) = (parent(&at)?.to_string(), after);
                }
                at
            }
            name if self.modules.contains_key(&join(from, name)) => join(from, name),
            name => {
                let target = self.modules[from].names.get(name)?;
                let whole = [target.as_slice(), rest].concat();
                return if whole == path { None } else { self.resolve(from, &whole, depth + 1) };
            }
        };
        for (number, name) in rest.iter().enumerate() {
            let below = join(&at, name);
            if self.modules.contains_key(&below) {
                at = below;
                continue;
            }
            let after = &rest[number + 1..];
            if let Some(target) = self.modules[&at].names.get(name) {
                let whole = [target.as_slice(), after].concat();
                return self.resolve(&at, &whole, depth + 1).or(Some(at));
            }
            break;
        }
        Some(at)
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path.clone())),
            UseTree::Glob(_) => self.globs.push(path),
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                let bound =
                    if name == "self" { path.last().cloned().unwrap_or_default() } else { name.clone() };
                if name != "self" {
                    path.push(name);
                }
                self.names.insert(bound, path);
            }
            UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                self.names.insert(rename.rename.to_string(), path);
            }
        }
    }

    /// Finds every path in the code, including inside macros.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream()),
                // `pub(in some::module)` restricts visibility and is not an import.
                TokenTree::Ident(word) if word == "pub" => {
                    at += usize::from(matches!(tokens.get(at + 1), Some(TokenTree::Group(_))));
                }
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                        && is_colon(&tokens[at + 1])
                        && is_colon(&tokens[at + 2])
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if path.len() > 1 {
                        self.paths.insert(path);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_string() } else { format!("{parent}::{name}") }
}

pub(crate) fn parent(module: &str) -> Option<&str> {
    match module.rsplit_once("::") {
        Some((parent, _)) => Some(parent),
        None if module.is_empty() => None,
        None => Some(""),
    }
}

/// `#[cfg(test)]`, alone or among other conditions.
fn only_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.to_token_stream().into_iter().any(|token| match token {
            TokenTree::Group(group) => group.stream().into_iter().any(|token| token.to_string() == "test"),
            _ => false,
        })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
