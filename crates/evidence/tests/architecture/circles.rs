//! Cycles in a graph of imports.

use std::collections::{BTreeMap, BTreeSet};

/// The sets of modules that import each other, directly or indirectly, largest first.
pub(crate) fn circles(imports: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in imports {
        direct.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        direct.keys().map(|module| (*module, reachable(module, &direct))).collect();
    let mut circles = BTreeSet::new();
    for (module, others) in &reached {
        if others.contains(module) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|reached| reached.contains(module));
            let circle: Vec<String> = others.iter().filter(back).map(|other| (*other).to_string()).collect();
            circles.insert(circle);
        }
    }
    let mut circles: Vec<Vec<String>> = circles.into_iter().collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reachable<'a>(from: &str, direct: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = direct.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(direct.get(module).into_iter().flatten().copied());
        }
    }
    reached
}
