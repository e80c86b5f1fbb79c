//! Cycles in a graph of imports.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::parent;

/// The sets of modules that import each other, directly or indirectly, largest first. A module and one of its direct
/// children may import each other.
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
    let mut circles: Vec<Vec<String>> =
        circles.into_iter().filter(|circle| !is_parent_and_child(circle)).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// The imports that each close a circle: without any one of them, the modules of `circle` no longer form one.
pub(crate) fn closing(circle: &[String], imports: &BTreeSet<(String, String)>) -> Vec<(String, String)> {
    let inside: BTreeSet<(String, String)> =
        imports.iter().filter(|(from, to)| circle.contains(from) && circle.contains(to)).cloned().collect();
    let closes = |import: &&(String, String)| {
        let mut others = inside.clone();
        others.remove(*import);
        circles(&others).is_empty()
    };
    inside.iter().filter(closes).cloned().collect()
}

fn is_parent_and_child(circle: &[String]) -> bool {
    let [one, two] = circle else { return false };
    parent(one) == Some(two) || parent(two) == Some(one)
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
