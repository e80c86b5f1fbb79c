//! What every form of an answer is about.

use serde_json::{Value, json};

use crate::source::github::repository::REPOSITORY;
use crate::source::github::topics::branch_protection::branch::BRANCH;
use crate::source::github::topics::branch_protection::classic::PROTECTION;
use crate::source::github::topics::branch_protection::rules::RULES;
use crate::source::github::topics::branch_protection::ruleset::RULESET;
use crate::source::github::topics::codeowners::places::PLACES;
use crate::source::github::topics::organization::answer::ORGANIZATION;
use evidence_http::{AskedAbout, Call};

/// What an answer to `call` at `label` is about instead; `None` if it counts.
fn other<T>(call: &Call<T>, label: &str, redirected: bool, answer: &Value) -> Option<String> {
    let value = (call.parse)(answer.to_string().as_bytes()).unwrap();
    (call.subject.unwrap().other)(&value, &AskedAbout { subject: label, redirected })
}

/// The addresses of an answer about `/repos/acme/web/{rest}`, and whether they count: without and with a redirect.
fn addresses(rest: &str) -> Vec<(String, bool, bool)> {
    let elsewhere = if rest.contains("main") { rest.replace("main", "dev") } else { format!("{rest}x") };
    vec![
        (format!("https://api.github.com/repos/acme/web/{rest}"), true, true),
        (format!("https://code.example/api/v3/repos/Acme/WEB/{rest}"), true, true),
        (format!("https://api.github.com/repos/acme/web/{rest}?ref=main"), true, true),
        (format!("https://api.github.com/repos/acme/api/{rest}"), false, true),
        (format!("https://api.github.com/repos/acme/web2/{rest}"), false, true),
        (format!("https://api.github.com/repos/other/web/{rest}"), false, true),
        (format!("https://api.github.com/repos/acme/web/{elsewhere}"), false, false),
        (format!("https://api.github.com/{rest}"), false, false),
    ]
}

fn check<T>(call: &Call<T>, rest: &str, answer: impl Fn(&str) -> Value) {
    for (address, counts, counts_redirected) in addresses(rest) {
        for (redirected, counts) in [(false, counts), (true, counts_redirected)] {
            let answer = answer(&address);
            let other = other(call, &format!("/repos/acme/web/{rest}"), redirected, &answer);
            assert_eq!(other.is_none(), counts, "{} {redirected} {answer}: {other:?}", call.name);
        }
    }
}

#[test]
fn an_answer_with_an_address_is_about_that_address() {
    check(&PROTECTION, "branches/main/protection", |url| json!({"url": url.split('?').next().unwrap()}));
    check(
        &BRANCH,
        "branches/main",
        |url| json!({"name": "main", "protected": false, "_links": {"self": url}}),
    );
    let [place, root, _] = &PLACES;
    for kind in ["file", "symlink", "submodule", "dir"] {
        check(
            &place.record,
            "contents/.github/CODEOWNERS",
            |url| json!({"type": kind, "content": "", "url": url}),
        );
    }
    let entry = |url: &str, name: &str| {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        json!({"name": name, "type": "file", "url": format!("{path}/{name}?{query}")})
    };
    let entries = |url: &str| json!([entry(url, "a"), entry(url, "CODEOWNERS")]);
    check(&place.record, "contents/.github/CODEOWNERS", entries);
    check(&place.directory, "contents/.github", entries);
    check(&root.directory, "contents", entries);
    assert_eq!(
        other(
            &root.directory,
            "/repos/acme/web/contents/",
            false,
            &entries("https://h/repos/acme/web/contents")
        ),
        None
    );
    let mixed = json!([
        entry("https://h/repos/acme/web/contents", "a"),
        entry("https://h/repos/acme/api/contents", "b")
    ]);
    assert!((root.directory.parse)(mixed.to_string().as_bytes()).is_err());
    assert!((root.record.parse)(mixed.to_string().as_bytes()).is_err());
}

#[test]
fn an_answer_with_a_name_is_about_that_name() {
    let [_, root, _] = &PLACES;
    let (web, of_web) = ("/repos/acme/web", "/repos/acme/web/rules/branches/main?per_page=100");
    let rule = |kind: &str, source: &str| {
        json!([{"type": "deletion", "ruleset_source_type": "Enterprise",
        "ruleset_source": "x"}, {"type": "deletion", "ruleset_source_type": kind, "ruleset_source": source}])
    };
    let set = |kind: &str, source: &str| json!({"id": 7, "source_type": kind, "source": source});
    for (kind, source, counts, redirected) in [
        ("Repository", "acme/web", true, true),
        ("Repository", "ACME/Web", true, true),
        ("Repository", "acme/api", false, true),
        ("Repository", "other/web", false, true),
        ("Organization", "acme", true, true),
        ("Organization", "Acme", true, true),
        ("Organization", "other", false, false),
        ("Enterprise", "other", true, true),
        ("Planet", "other", true, true),
    ] {
        for (redirect, counts) in [(false, counts), (true, redirected)] {
            let found = other(&RULES, of_web, redirect, &rule(kind, source));
            assert_eq!(found.is_none(), counts, "{kind} {source}: {found:?}");
            let found = other(&RULESET, "/repos/acme/web/rulesets/7", redirect, &set(kind, source));
            assert_eq!(found.is_none(), counts, "{kind} {source}: {found:?}");
        }
    }
    for (name, counts) in [("acme/web", true), ("Acme/Web", true), ("acme/api", false), ("other/web", false)]
    {
        let found = other(&REPOSITORY, web, false, &json!({"id": 1, "full_name": name}));
        assert_eq!(found.is_none(), counts, "{name}: {found:?}");
        assert_eq!(other(&REPOSITORY, web, true, &json!({"full_name": name})), None);
    }
    for (login, counts) in [("acme", true), ("ACME", true), ("other", false), ("", false)] {
        for redirected in [false, true] {
            let found = other(&ORGANIZATION, "/orgs/acme", redirected, &json!({"login": login}));
            assert_eq!(found.is_none(), counts, "{login}: {found:?}");
        }
    }
    for (path, counts) in [("CODEOWNERS", true), ("docs/CODEOWNERS", false), ("codeowners", false)] {
        let file = json!({"type": "file", "content": "", "path": path});
        let found = other(&root.record, "/repos/acme/web/contents/CODEOWNERS", false, &file);
        assert_eq!(found.is_none(), counts, "{path}: {found:?}");
    }
    // Not named, or not comparable, as on the next page of a list.
    let nothing = json!({"type": "file", "content": ""});
    assert_eq!(other(&root.record, "/repos/acme/web/contents/CODEOWNERS", false, &nothing), None);
    assert_eq!(other(&RULES, of_web, false, &json!([{"type": "deletion"}])), None);
    let next = "/repositories/1/rules/branches/main?page=2";
    assert_eq!(other(&RULES, next, false, &rule("Repository", "acme/web")), None);
    assert_eq!(other(&ORGANIZATION, "/orgs/acme", false, &json!({"id": 1})), None);
}

/// Hosts differ in whether they escape the slash of a branch.
#[test]
fn escapes_do_not_matter() {
    let label = "/repos/acme/web/branches/release%2F1%20%231/protection";
    for (branch, counts) in [("release%2F1%20%231", true), ("release/1 #1", true), ("release%2f2", false)] {
        let url = json!({"url": format!("https://h/repos/acme/web/branches/{branch}/protection")});
        assert_eq!(other(&PROTECTION, label, false, &url).is_none(), counts, "{branch}");
    }
    let (label, url) = ("/repos/acme/web/branches/x%252Fy/protection", "https://h/repos/acme/web/branches");
    for (branch, counts) in [("x%2Fy", true), ("x%252Fy", true), ("x/y", false)] {
        let url = json!({"url": format!("{url}/{branch}/protection")});
        assert_eq!(other(&PROTECTION, label, false, &url).is_none(), counts, "{branch}");
    }
    let url = json!({"url": "https://h/repos/acme/api/branches/main/protection"});
    let text = other(&PROTECTION, "/repos/acme/web/branches/main/protection", false, &url);
    let expected = "acme/api/branches/main/protection instead of acme/web/branches/main/protection";
    assert_eq!(text.as_deref(), Some(expected));
}
