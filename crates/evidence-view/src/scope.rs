//! The scope of a bundle in sentences: how what was examined compares with everything there is.
//!
//! The only place that words it: every command, file and page shows these sentences.

use evidence_bundle::document::{Scope, SourcePopulation};

use crate::sanitize::sanitized;
use crate::words::{counted_as, grouped};

/// The scope of a source, such as `6 of 14 repositories of acme; 8 are not visible to this token`. Text from the bundle
/// is escaped.
pub fn sentence(source: &SourcePopulation) -> String {
    let SourcePopulation { scope, kind, listed, in_scope, host_total, .. } = source;
    let (noun, nouns) = match (kind.as_str(), host_total) {
        ("region", Some(_)) => ("enabled region", "enabled regions"),
        _ => nouns(kind),
    };
    let whose = sanitized(&source.organization);
    // Of a list of names, those that the host did not show stay in scope: they are not verifiable.
    let shown = (*in_scope).min(*listed);
    let examined = match host_total {
        Some(total) => format!("{} of {} of {whose}", grouped(shown), counted_as(*total, noun, nouns)),
        None => format!("{} of {whose}", counted_as(shown, noun, nouns)),
    };
    let excluded = listed.saturating_sub(*in_scope);
    let mut text = match scope {
        Scope::Whole if [ORGANIZATION, "account"].contains(&kind.as_str()) => {
            format!("the settings of {whose}")
        }
        Scope::Whole if *in_scope == 1 => format!("the only {noun} of {whose}"),
        Scope::Whole => format!("all {} of {whose}", counted_as(*in_scope, noun, nouns)),
        Scope::Chosen if excluded > 0 => examined,
        Scope::Chosen if kind == "user" => format!("{examined}, in the chosen domains"),
        Scope::Chosen if kind == "region" && host_total.is_none() => {
            format!("{examined}, chosen by name; how many are enabled is not known")
        }
        Scope::Chosen => format!("{examined}, chosen by name"),
        Scope::Partial => match host_total {
            Some(total) if total < listed => format!(
                "{} of {whose} were listed, but the host counts {}",
                counted_as(*listed, noun, nouns),
                grouped(*total)
            ),
            Some(total) => {
                let hidden = total.saturating_sub(*listed);
                let are = if hidden == 1 { "is" } else { "are" };
                format!("{examined}; {} {are} not visible to this token", grouped(hidden))
            }
            None => format!("{examined}; the list is incomplete"),
        },
        Scope::Unconfirmed => format!("{examined}; the host does not report how many there are"),
        Scope::Unreached => {
            return format!(
                "{} was not reached; none of its {nouns} was examined",
                sanitized(&source.source)
            );
        }
    };
    if excluded > 0 {
        text.push_str(&format!("; {} excluded", grouped(excluded)));
    }
    let hidden = in_scope.saturating_sub(*listed);
    if hidden > 0 {
        text.push_str(&format!("; the host did not show {} more", grouped(hidden)));
    }
    text
}

/// The kind of a source whose own settings are all that was asked for.
pub const ORGANIZATION: &str = "organization";

/// The singular and the plural of a kind of members.
pub fn nouns(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "repository" => ("repository", "repositories"),
        "account" => ("account", "accounts"),
        "region" => ("region", "regions"),
        "user" => ("user", "users"),
        ORGANIZATION => ("organization", "organizations"),
        _ => ("member", "members"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(scope: Scope, counts: (u64, u64, Option<u64>), kind: &str) -> String {
        let (listed, in_scope, host_total) = counts;
        sentence(&SourcePopulation {
            source: "codehost".to_owned(),
            scope,
            organization: "acme".to_owned(),
            kind: kind.to_owned(),
            listed,
            in_scope,
            host_total,
            host_totals: BTreeMap::new(),
            members: listed,
        })
    }

    #[test]
    fn every_scope_has_its_sentence() {
        use Scope::{Chosen, Partial, Unconfirmed, Unreached, Whole};
        let table = [
            (Whole, (14, 14, Some(14)), "all 14 repositories of acme"),
            (Whole, (1, 1, Some(1)), "the only repository of acme"),
            (Chosen, (1, 1, Some(14)), "1 of 14 repositories of acme, chosen by name"),
            (Chosen, (2, 2, None), "2 repositories of acme, chosen by name"),
            (
                Chosen,
                (1, 3, Some(14)),
                "1 of 14 repositories of acme, chosen by name; the host did not show 2 more",
            ),
            (Chosen, (0, 1, None), "0 repositories of acme, chosen by name; the host did not show 1 more"),
            (Chosen, (14, 13, Some(14)), "13 of 14 repositories of acme; 1 excluded"),
            (Chosen, (14, 13, None), "13 repositories of acme; 1 excluded"),
            (Partial, (6, 6, Some(14)), "6 of 14 repositories of acme; 8 are not visible to this token"),
            (
                Partial,
                (7, 6, Some(8)),
                "6 of 8 repositories of acme; 1 is not visible to this token; 1 excluded",
            ),
            (Partial, (6, 6, Some(5)), "6 repositories of acme were listed, but the host counts 5"),
            (Partial, (1_234, 1_234, None), "1,234 repositories of acme; the list is incomplete"),
            (
                Unconfirmed,
                (2, 2, None),
                "2 repositories of acme; the host does not report how many there are",
            ),
            (
                Unconfirmed,
                (3, 2, None),
                "2 repositories of acme; the host does not report how many there are; 1 excluded",
            ),
            (Unreached, (0, 0, None), "codehost was not reached; none of its repositories was examined"),
        ];
        for (scope, counts, expected) in table {
            assert_eq!(of(scope, counts, "repository"), expected, "{scope:?} {counts:?}");
        }
        assert_eq!(of(Whole, (1, 1, None), ORGANIZATION), "the settings of acme");
        assert_eq!(of(Chosen, (2, 2, Some(17)), "region"), "2 of 17 enabled regions of acme, chosen by name");
        let unknown = "2 regions of acme, chosen by name; how many are enabled is not known";
        assert_eq!(of(Chosen, (2, 2, None), "region"), unknown);
        assert_eq!(of(Whole, (17, 17, Some(17)), "region"), "all 17 enabled regions of acme");
    }
}
