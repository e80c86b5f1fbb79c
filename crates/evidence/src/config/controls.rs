//! Keys that hold controls, and the rules these controls need.

use evidence_settings::declare::{Key, Shape, Vocabulary};
use evidence_settings::decode::{Decoder, Everything, Fields};
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

use super::period::Period;
use evidence_rules::altcloud::LEAVERS_REMOVED;
use evidence_rules::framework::{self, Control, Framework, Mapping};
use evidence_rules::rule::{Rule, Settings};

/// What the file says about rules outside the sources.
#[derive(Debug)]
pub(crate) struct Applied<'a> {
    /// The framework, if it is valid.
    pub(crate) framework: Option<&'static Framework>,
    /// The top-level controls, if they are valid.
    pub(crate) controls: Option<&'a [&'static Control]>,
    /// The numbers that the rules judge by.
    pub(crate) settings: Settings,
    /// The rules that the configuration takes in or leaves out.
    pub(crate) choice: RuleChoice,
    /// Whether there is a map of people.
    pub(crate) has_map: bool,
    /// The period for rules about events.
    pub(crate) period: Period,
}

/// `rules.include` and `rules.exclude`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleChoice {
    /// The rules that run although they are opt-in.
    pub included: Vec<&'static Rule>,
    /// The rules that do not run.
    pub excluded: Vec<&'static Rule>,
}

impl RuleChoice {
    /// Whether a rule of the framework runs.
    fn takes(&self, mapping: &Mapping) -> bool {
        !self.excluded.contains(&mapping.rule) && (!mapping.opt_in || self.included.contains(&mapping.rule))
    }
}

/// The frameworks that a file with this context may mean: its own, or without a valid one all of them.
pub(super) fn frameworks(context: &str) -> Vec<&'static Framework> {
    match Framework::from_id(context) {
        Some(framework) => vec![framework],
        None => framework::ALL.to_vec(),
    }
}

/// The controls that a key accepts.
pub(crate) const fn controls_of(taken: fn(&str) -> Vec<&'static str>) -> Vocabulary {
    Vocabulary {
        noun: "control",
        known: all,
        taken,
        refusal: "this source cannot serve",
        offer: "it can serve",
        elsewhere: criterion,
    }
}

/// Advice for a criterion that is not a control: the controls that collect the evidence filed under it.
fn criterion(context: &str, text: &str) -> Option<String> {
    let (series, number) = text.split_once('.')?;
    let letters = series.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_criterion = ["CC", "A", "C", "PI", "P"].iter().any(|known| letters.eq_ignore_ascii_case(known))
        && letters.len() < series.len()
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_criterion || all(context).iter().any(|control| control.eq_ignore_ascii_case(text)) {
        return None;
    }
    let with_rules: Vec<_> =
        frameworks(context).into_iter().flat_map(|framework| framework.with_rules()).collect();
    let (mut controls, mut rules) = (Vec::new(), Vec::new());
    for control in &with_rules {
        let filed =
            |mapping: &&Mapping| mapping.criteria.iter().any(|known| known.eq_ignore_ascii_case(text));
        let found: Vec<&str> = control.rules.iter().filter(filed).map(|mapping| mapping.rule.code).collect();
        if !found.is_empty() {
            controls.push(control.id);
            rules.extend(found);
        }
    }
    let text = quote(text);
    Some(match controls.is_empty() {
        false => format!(
            "write `controls: [{}]`: evidence that is filed under {text} ({}) is collected there",
            controls.join(", "),
            rules.join(", ")
        ),
        true => format!(
            "no rule collects evidence for {text}; the controls are {}",
            unique(with_rules.into_iter()).join(", ")
        ),
    })
}

/// Every control.
pub(crate) fn all(context: &str) -> Vec<&'static str> {
    unique(frameworks(context).into_iter().flat_map(|framework| framework.controls))
}

/// The controls that use any of `rules`.
pub(crate) fn served_by(context: &str, rules: &[&Rule]) -> Vec<&'static str> {
    unique(frameworks(context).into_iter().flat_map(|framework| framework.controls_of(rules)))
}

/// The identifiers, each once: frameworks share some.
fn unique(controls: impl Iterator<Item = &'static Control>) -> Vec<&'static str> {
    let mut ids = Vec::new();
    for control in controls {
        if !ids.contains(&control.id) {
            ids.push(control.id);
        }
    }
    ids
}

/// The controls of a list in document order, or with `"*"` all that have rules; and whether it is `"*"`.
pub(crate) fn controls(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    framework: Option<&'static Framework>,
) -> Option<(Vec<&'static Control>, bool)> {
    let named = match key.shape {
        Shape::EverythingOr(_) => decoder.everything_or_list(fields, key)?,
        _ => Everything::Listed(decoder.list(fields, key)?),
    };
    let framework = framework?;
    Some(match named {
        Everything::All => (framework.with_rules().collect(), true),
        Everything::Listed(named) => {
            let is_named = |control: &&Control| named.iter().any(|text| text.value == control.id);
            (framework.controls.iter().filter(is_named).collect(), false)
        }
    })
}

/// The rules of one source to evaluate: those of the controls in its own list, else in the top-level list.
pub(crate) fn wanted(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    rules: &[&'static Rule],
    applied: &Applied<'_>,
) -> Option<Vec<&'static Rule>> {
    let own = controls(decoder, fields, key, applied.framework);
    let controls = if fields.has(key) { own?.0 } else { applied.controls?.to_vec() };
    let framework = applied.framework?;
    let is_asked = |rule: &&&Rule| controls.iter().any(|control| control.uses(rule));
    let asked: Vec<&'static Rule> = rules.iter().filter(is_asked).copied().collect();
    let runs = |rule: &&&Rule| {
        // Without a map there is nothing to compare.
        (applied.has_map || ***rule != LEAVERS_REMOVED)
            && framework.mapping_of(rule).is_some_and(|mapping| applied.choice.takes(mapping))
    };
    let wanted: Vec<&'static Rule> = asked.iter().filter(runs).copied().collect();
    let complaint = if asked.is_empty() && !fields.has(key) {
        let served = served_by(framework.id, rules).join(", ");
        Complaint::new("this source serves none of the top-level `controls` and would collect nothing")
            .help(format!("add one of {served} to `controls`, or remove the source"))
    } else if wanted.is_empty() && !asked.is_empty() {
        let codes: Vec<&str> = asked.iter().map(|rule| rule.code).collect();
        Complaint::new("`rules.exclude` leaves out every rule of this source, which would collect nothing")
            .help(format!("remove one of {} from `rules.exclude`, or remove the source", codes.join(", ")))
    } else {
        return Some(wanted);
    };
    decoder.problems.add(fields.place(), fields.path(), complaint);
    None
}
