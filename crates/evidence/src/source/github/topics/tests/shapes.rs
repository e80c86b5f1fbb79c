//! The parser of each answer, over the forms that answers have.

use serde_json::{Value, json};

use crate::source::github::host::kept::json_bytes;
use crate::source::github::repositories::REPOSITORIES;
use crate::source::github::repository::REPOSITORY;
use crate::source::github::topics::branch_protection::branch::BRANCH;
use crate::source::github::topics::branch_protection::classic::PROTECTION;
use crate::source::github::topics::branch_protection::rules::RULES;
use crate::source::github::topics::branch_protection::ruleset::RULESET;
use crate::source::github::topics::codeowners::contents::Contents;
use crate::source::github::topics::codeowners::errors::ERRORS;
use crate::source::github::topics::codeowners::listing::Listed;
use crate::source::github::topics::codeowners::places::PLACES;
use crate::source::github::topics::organization::answer::ORGANIZATION;
use evidence_http::ParseError;
use evidence_rules::codehost::record::BranchState;

fn is_shape<T>(parsed: Result<T, ParseError>) -> bool {
    matches!(parsed, Err(ParseError::Shape(_)))
}

#[test]
fn what_is_not_the_setting_is_refused_rather_than_read_as_an_empty_one() {
    let others = ["[]", "[1]", "[[[]]]", "{}", "{\"message\": \"Hello\"}", "null", "true", "7", "\"text\""];
    for text in others {
        let bytes = text.as_bytes();
        assert!(is_shape((ORGANIZATION.parse)(bytes)), "organization {text}");
        assert!(is_shape((PROTECTION.parse)(bytes)), "protection {text}");
        assert!(is_shape((REPOSITORY.parse)(bytes)), "repository {text}");
        // An empty list is an empty directory.
        if text != "[]" {
            assert!(is_shape((PLACES[0].record.parse)(bytes)), "contents {text}");
        }
    }
    assert!(matches!((PROTECTION.parse)(b""), Err(ParseError::Broken(_))));
    assert!(matches!((PROTECTION.parse)(b"{\"url\": \"u\""), Err(ParseError::Broken(_))));
    assert!(matches!((PROTECTION.parse)(b"["), Err(ParseError::Broken(_))));
}

/// An object from another part of the API that looks like a rule proves nothing about the branch.
#[test]
fn a_protection_has_its_own_address() {
    let body = |url: &str| format!(r#"{{"url": "{url}", "enforce_admins": {{"enabled": true}}}}"#);
    let own = "https://h/repos/acme/web/branches/main/protection";
    assert!((PROTECTION.parse)(body(own).as_bytes()).is_ok());
    for other in ["", "u", "https://h/repos/acme/web", "https://h/repos/a/b/branches/main/protection/x"] {
        assert!(is_shape((PROTECTION.parse)(body(other).as_bytes())), "{other}");
    }
    assert!(is_shape((PROTECTION.parse)(br#"{"enforce_admins": {"enabled": true}}"#)));
}

/// Only a complete directory listing proves that a name is absent.
#[test]
fn a_listing_shows_what_is_not_there() {
    let entry = |name: &str, kind: &str| json!({"name": name, "type": kind, "sha": "0", "size": 1});
    let of = |entries: &[Value]| (PLACES[1].directory.parse)(json!(entries).to_string().as_bytes()).unwrap();
    let many = |count: usize| vec![entry("file", "file"); count];
    let with = |one: Value| [many(3), vec![one]].concat();
    let table = [
        (many(0), Listed::Nothing),
        (many(999), Listed::Nothing),
        (many(1_000), Listed::Other),
        (many(1_001), Listed::Other),
        (with(json!({})), Listed::Other),
        (with(json!({"name": "x"})), Listed::Other),
        (with(json!({"type": "file"})), Listed::Other),
        (with(json!({"name": null, "type": "file"})), Listed::Other),
        (with(entry("codeowners", "file")), Listed::Nothing),
        (with(entry("CODEOWNERS", "file")), Listed::Other),
        (with(entry("CODEOWNERS", "symlink")), Listed::Other),
        (with(entry("CODEOWNERS", "dir")), Listed::Directory),
    ];
    for (entries, expected) in table {
        let listing = of(&entries);
        assert_eq!(listing.find("CODEOWNERS"), expected, "{} entries", entries.len());
        let reduce = PLACES[1].directory.keep.as_ref().unwrap().reduce;
        let again = (PLACES[1].directory.parse)(&reduce(&listing)).unwrap();
        assert_eq!(again.find("CODEOWNERS"), expected, "kept, {} entries", entries.len());
    }
    for text in ["{}", "[[]]", "[1]", "null", "{\"message\": \"Hello\"}", "[{\"name\": 1}]"] {
        assert!((PLACES[1].directory.parse)(text.as_bytes()).is_err(), "{text}");
    }
}

/// Every combination of `protected` and `protection.enabled`.
#[test]
fn a_branch_without_a_classic_rule_is_said_to_have_none() {
    let flags = [Some(false), Some(true), None];
    for protected in flags {
        for enabled in flags {
            let body = json!({"name": "main", "protected": protected, "protection": {"enabled": enabled},
                "commit": {"sha": "0"}});
            let branch = (BRANCH.parse)(body.to_string().as_bytes());
            // A ruleset sets `protected` too, so that alone says only that there is no rule.
            let expected = protected.map(|protected| enabled.or((!protected).then_some(false)));
            assert_eq!(branch.as_ref().ok().map(BranchState::has_classic_rule), expected, "{body}");
            let kept = branch.map(|branch| json_bytes(&branch)).unwrap_or_default();
            assert!(!String::from_utf8(kept).unwrap().contains("commit"));
        }
    }
    let old = (BRANCH.parse)(br#"{"name": "main", "protected": false}"#).unwrap();
    assert_eq!((old.has_classic_rule(), old.contexts().len()), (Some(false), 0));
    let named = (BRANCH.parse)(
        br#"{"name": "main", "protected": true, "protection": {"enabled": true, "required_status_checks":
            {"enforcement_level": "everyone", "contexts": ["build"]}}}"#,
    );
    assert_eq!(named.unwrap().contexts(), ["build"]);
    for text in ["[]", "{}", "{\"name\": \"main\"}", "{\"protected\": false}", "null"] {
        assert!((BRANCH.parse)(text.as_bytes()).is_err(), "{text}");
    }
    assert!((BRANCH.parse)(br#"{"name": "main", "protected": false, "protection": [false]}"#).is_err());
}

/// Rules of types that are not judged may have any parameters, which are dropped.
#[test]
fn rules_are_reduced_to_what_is_judged() {
    let text = r#"[{"type": "deletion", "ruleset_id": 7},
        {"type": "merge_queue", "parameters": {"check_response_timeout_minutes": 5}},
        {"type": "pull_request", "parameters": {"required_approving_review_count": 1, "x": 2}}]"#;
    let rules = (RULES.parse)(text.as_bytes()).unwrap();
    assert_eq!(rules.iter().filter(|rule| rule.parameters.value().is_some()).count(), 1);
    let kept = serde_json::to_value(&rules).unwrap();
    assert_eq!(kept[2]["parameters"], json!({"required_approving_review_count": 1}));
    for text in ["{}", "[[]]", "[{}]", "[{\"type\": null}]", "null"] {
        assert!((RULES.parse)(text.as_bytes()).is_err(), "{text}");
    }
    assert!((RULES.parse)(b"[]").unwrap().is_empty());
    assert!(is_shape((RULESET.parse)(br#"{"bypass_actors": []}"#)) && is_shape((ERRORS.parse)(b"{}")));
}

/// The deserializer would accept a list as the fields of a section in order, and so invent a rule.
#[test]
fn a_section_that_is_a_list_is_refused() {
    let sections = [
        r#""required_pull_request_reviews": [null, true, true, 2]"#,
        r#""required_pull_request_reviews": []"#,
        r#""required_pull_request_reviews": {"dismissal_restrictions": [[], [], []]}"#,
        r#""required_pull_request_reviews": {"dismissal_restrictions": {"users": [["auditor"]]}}"#,
        r#""required_status_checks": [true, ["build"], []]"#,
        r#""required_status_checks": {"checks": [["build"]]}"#,
        r#""enforce_admins": ["u", true]"#,
    ];
    for section in sections {
        let body = format!("{{\"url\": \"https://h/protection\", {section}}}");
        assert!(is_shape((PROTECTION.parse)(body.as_bytes())), "{section}");
    }
}

#[test]
fn a_page_is_bounded_in_what_it_holds() {
    let page = |count: usize, name: usize| {
        let item = format!(r#"{{"id": 1, "name": "{0}", "full_name": "acme/{0}"}}"#, "n".repeat(name));
        (REPOSITORIES.parse)(format!("[{}]", vec![item; count].join(",")).as_bytes())
    };
    assert_eq!(page(100, 100).unwrap().len(), 100, "as many as there are, with the longest names");
    for (count, name) in [(10_000, 1), (1, 1_000_000), (0, 0)] {
        assert_eq!(page(count, name).is_err(), count > 0, "{count} of {name}");
    }
    assert!(is_shape(page(10_000, 1)));
}

#[test]
fn the_forms_of_contents() {
    let other = |text: &str| match (PLACES[0].record.parse)(text.as_bytes()).unwrap() {
        Contents::Other(what, _) => what.to_string(),
        Contents::File(_) => "a file".to_string(),
    };
    assert_eq!(other("[]"), "a directory");
    assert_eq!(other(r#" [{"type": "file", "name": "x"}]"#), "a directory");
    assert_eq!(other(r#"{"type": "file", "content": "", "encoding": "base64", "size": 0}"#), "a file");
    assert_eq!(other(r#"{"content": "eA=="}"#), "a file");
    assert_eq!(other(r#"{"type": "symlink", "target": "x"}"#), "a symbolic link without content");
    assert_eq!(other(r#"{"type": "submodule", "submodule_git_url": "u"}"#), "a submodule");
    assert_eq!(other(r#"{"type": "file", "submodule_git_url": "u"}"#), "a submodule");
}
