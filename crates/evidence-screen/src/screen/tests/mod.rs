mod clean;
mod corpus;
mod cuts;
mod disguises;
mod documentation;
mod effort;
mod secrets;
mod template;

use std::sync::OnceLock;

use fastrand::Rng;

use super::rule::compile;
use super::*;
use crate::patterns::{PATTERNS, Pattern};

/// Long enough to be searched for, with signs that every encoding writes differently.
const OWN_SECRET: &str = "s3cr3t/own+credential=of~the?collector";

fn screen() -> &'static Screen {
    static SCREEN: OnceLock<Screen> = OnceLock::new();
    SCREEN.get_or_init(|| Screen::new(&[OWN_SECRET, "short"]))
}

/// The same rules without the prefilter, as the reference for every search.
fn slow_screen() -> &'static Screen {
    static SCREEN: OnceLock<Screen> = OnceLock::new();
    SCREEN.get_or_init(|| {
        let Screen(inner) = Screen::new(&[OWN_SECRET, "short"]);
        let mut inner = Arc::into_inner(inner).unwrap();
        inner.prefilter = None;
        Screen(Arc::new(inner))
    })
}

fn certain(text: &str) -> Vec<Finding> {
    let mut findings = screen().check(text.as_bytes());
    findings.retain(|finding| finding.confidence == Confidence::High);
    findings
}

fn found_by(rule: &str, text: &str) -> bool {
    screen().check(text.as_bytes()).iter().any(|finding| finding.rule == rule)
}

/// Fills the templates of a rule, with the same random characters in every run.
fn filled(rule: &Pattern, templates: &[&str]) -> Vec<String> {
    let mut random = Rng::with_seed(rule.id.bytes().map(u64::from).sum());
    templates.iter().map(|template| template::fill(template, &mut random)).collect()
}
