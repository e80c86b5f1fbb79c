//! The report as a browser parses it: no scripts, no external links, all text is data, and every link has a target.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod made;

use std::collections::BTreeSet;

use evidence_bundle::text::is_deceptive;
use serde_json::{Value, json};

use self::made::{Made, Page, Row, bundle, check, decoded, made};

/// Names that hosts and attackers could choose.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "=cmd|'/c calc'!A1",
    "safe\u{202e}gpj.exe\u{2066}",
    "two\nlines\u{0}\u{1b}[2J",
    "100% of %3Cb%3E %",
    "\"quoted\" 'and' `marked` & &lt;b&gt;",
    "</style></table><img src=x onerror=alert(1)>",
    "acme.example/with spaces",
    "acme/\u{ad}w\u{3164}e\u{fffe}b\u{fdd0}\u{e0041}\u{1ffff}\u{a0}",
];

/// Checks that apply to every report.
fn is_sound(page: &Page, documents: &Made) {
    let forbidden =
        ["script", "img", "link", "iframe", "object", "embed", "form", "input", "base", "foreignobject"];
    for name in forbidden {
        assert_eq!(page.all(name).count(), 0, "no {name}");
    }
    assert!(page.source.contains("default-src 'none'"));
    assert!(!page.source.chars().any(|character| character != '\n' && is_deceptive(character)));
    for element in &page.elements {
        for attribute in element.attributes.keys() {
            assert!(!attribute.starts_with("on"), "{attribute} of {}", element.name);
            assert!(
                !["src", "srcset", "style", "action", "background"].contains(&attribute.as_str()),
                "{attribute}"
            );
        }
    }
    let style = &page.all("style").next().unwrap().text;
    assert!(!style.contains("http") && !style.contains("@import"));
    assert_eq!(style.matches("url(").count(), style.matches("url(#hatch)").count());

    let ids: Vec<&str> = page.values("id").collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "no id twice");
    let mut links = 0;
    for href in page.values("href") {
        links += 1;
        let inside = href.strip_prefix('#').map(|anchor| unique.contains(anchor));
        let file = match href.strip_prefix("../") {
            Some(path) => decoded(path),
            None => format!("derived/{}", decoded(href)),
        };
        assert!(inside.unwrap_or_else(|| documents.0.contains_key(&file)), "{href} leads nowhere");
    }
    assert!(links > 10);

    assert_eq!(page.all("h1").count(), 1);
    let levels = page.elements.iter().filter_map(|element| match element.name.as_str() {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        _ => None,
    });
    levels.fold(0, |before: i32, level| {
        assert!(level <= before + 1, "h{before} before h{level}");
        level
    });
    let tables = page.all("table").count();
    assert_eq!((page.all("caption").count(), page.all("thead").count()), (tables, tables));
    for header in page.all("th") {
        assert!(header.attributes.contains_key("scope"), "a scope for {}", header.text);
    }
}

#[test]
fn a_report_says_what_the_documents_say() {
    let checks = [
        check("pass", "acme/a"),
        check("pass", "acme/b"),
        check("fail", "acme/c"),
        check("not_verifiable", "acme/d"),
        check("not_applicable", "acme/e"),
    ];
    let documents = bundle(&checks, "acme");
    let page = Page::of(&documents);
    is_sound(&page, &documents);
    assert_eq!(page.all("h1").next().unwrap().text, "acme");
    let text = page.text();
    assert!(text.contains("1 failed, 1 not verifiable, 2 passed, 1 not applicable"));
    assert!(text.contains("on 2026-11-23, 01:37:42 to 01:37:47 UTC"));
    let created = page.all("time").next().unwrap();
    assert_eq!(
        (created.text.as_str(), created.attributes["datetime"].as_str()),
        ("2026-11-23 01:37:47 UTC", "2026-11-23T01:37:47Z")
    );
    assert!(text.contains("Incomplete. 1 of 5 requested settings is missing. What is missing"));
    assert!(text.contains("Scope: 5 of 6 repositories of acme; 1 excluded"));
    assert!(text.contains("What to do: Protect it: acme"));
    assert!(text.contains("and 5 more requests in observations.json"));
    assert!(!text.contains("Long groups"));
    let totals: Vec<&str> = page.all("dd").take(4).map(|total| total.text.as_str()).collect();
    assert_eq!(totals, ["1", "1", "2", "1"]);
    for check in &checks {
        assert!(page.all("th").any(|header| header.text == check.subject), "{}", check.subject);
    }
    assert_eq!(page.source, made(&documents, "derived/report.html"), "the same documents, the same bytes");
}

/// The banner's number, the list and its captions count the same settings; a fact is said once.
#[test]
fn what_is_missing_adds_up_and_is_said_once() {
    let row =
        |subject: &str, reason: &str| Row { reason: reason.to_owned(), ..check("not_verifiable", subject) };
    let checks = [
        row("acme/a", "permission_denied"),
        row("acme/b", "permission_denied"),
        row("acme/c", "blocked"),
        row("acme", "population_incomplete"),
        check("fail", "acme/d"),
    ];
    let mut documents = bundle(&checks, "6 of 14 repositories");
    let observations = documents.0.get_mut("derived/observations.json").unwrap();
    let mut value: Value = serde_json::from_str(observations).unwrap();
    value["observations"][2]["outcome"] = json!("not_asked");
    *observations = value.to_string();
    let manifest = documents.0.get_mut("manifest.json").unwrap();
    let mut value: Value = serde_json::from_str(manifest).unwrap();
    let row = |code: &str, subject: &str| json!({"code": code, "message": "said", "source": "codehost", "subject": subject});
    value["excluded"] = json!([]);
    value["errors"] = json!([row("blocked", "acme/c"), row("control_not_collected", "CC6.1")]);
    value["warnings"] = json!([
        row("population_incomplete", "acme"),
        row("permission_denied", "acme/a"),
        row("branch_unprotected", "acme/d"),
        row("clock_skewed", "acme"),
    ]);
    *manifest = value.to_string();
    let page = Page::of(&documents);
    is_sound(&page, &documents);
    let text = page.text();
    assert_eq!(text.matches("4 of 5 requested settings are missing").count(), 3, "banner, question and list");
    let captions: Vec<&str> = page.all("caption").map(|caption| caption.text.as_str()).collect();
    for caption in [
        "Denied: the source refused to show it (3)",
        "Not asked: nothing like it could be read (1)",
        "Other errors (1)",
        "Warnings (1)",
    ] {
        assert!(captions.contains(&caption), "{caption}: {captions:?}");
    }
    assert!(text.contains("control_not_collected") && text.contains("clock_skewed"));
    assert_eq!(page.all("code").filter(|code| code.text == "population_incomplete").count(), 1, "its reason");
    assert_eq!(
        text.matches("see the scope at the top").count(),
        3,
        "the check, the setting and the observation"
    );
}

/// Failed checks are numbered exceptions before everything else, the criterion comes first, and requests are an annex.
#[test]
fn exceptions_come_first() {
    let other = Row { reason: "reviews_not_required".to_owned(), ..check("fail", "acme/z") };
    let checks = [check("pass", "acme/a"), check("fail", "acme/b"), check("fail", "acme/c"), other];
    let page = Page::of(&bundle(&checks, "acme"));
    let numbered: Vec<&str> = page
        .all("td")
        .filter(|cell| cell.attributes.get("class").is_some_and(|class| class == "no"))
        .map(|cell| cell.text.as_str())
        .collect();
    assert_eq!(numbered, ["1", "2", "3"]);
    let headings: Vec<&str> = page.all("h2").map(|heading| heading.text.as_str()).collect();
    let place = |name: &str| headings.iter().position(|heading| *heading == name).unwrap();
    assert!(
        place("Exceptions") < place("Not verifiable") && place("Not verifiable") < place("What is missing")
    );
    assert!(place("What is missing") < place("Passed and not applicable"));
    assert_eq!(headings.last(), Some(&"Annex: requests"));
    assert!(page.all("h3").any(|heading| heading.text.contains("CC8.1: Branch not protected")));
    let by_criterion = page.source.find(">By criterion<").unwrap();
    assert!(by_criterion < page.source.find(">By control<").unwrap());
    let title = &page.all("title").next().unwrap().text;
    assert!(
        title.starts_with("Evidence for a SOC 2 Type 1 examination; not a SOC 2 report: acme"),
        "{title}"
    );
    assert!(!page.text().contains("Criteria met") && page.text().contains("Rule met"));
}

#[test]
fn the_ten_questions_have_answers() {
    let mut documents = bundle(&[check("pass", "acme/a")], "acme");
    let questions = |documents: &Made| {
        let page = Page::of(documents);
        is_sound(&page, documents);
        let list = page
            .all("ol")
            .find(|list| list.attributes.get("class").is_some_and(|class| class == "questions"));
        list.unwrap().text.clone()
    };
    let text = questions(&documents);
    assert_eq!(text.matches("Details: ").count(), 10);
    assert!(text.contains("Prepared by: not recorded"));
    assert!(text.contains("Account behind the credentials of codehost: acme"));
    assert!(text.contains("repos: all"), "{text}");
    assert!(text.contains("None of the 5 requested settings is missing."));
    let run = documents.0.get_mut("run.json").unwrap();
    let mut value: Value = serde_json::from_str(run).unwrap();
    value["sources"][0]["identity"].as_object_mut().unwrap().remove("login");
    *run = value.to_string();
    assert!(questions(&documents).contains("Account behind the credentials of codehost: not recorded"));
}

#[test]
fn advice_belongs_to_the_checks_it_was_given_for() {
    let mut documents =
        bundle(&[check("pass", "acme/a"), check("pass", "acme/b"), check("fail", "acme/c")], "acme");
    let hint = json!({
        "id": "CC7.2:ok:acme/b", "control": "CC7.2", "rule": "branch-protection", "reason": "ok", "severity": "info", "category": "improvement", "source": "codehost",
        "subject": "acme/b", "title": "", "detail": "", "remediation": "Require `2` reviews.",
        "evidence": [{"filename": "sources/codehost/repo_1%20_x.json", "checksum": "ab".repeat(32)}],
    });
    let hints = json!({"schema_version": "1.0", "hints": [hint]}).to_string();
    documents.0.insert("derived/hints.json".to_owned(), hints);
    let page = Page::of(&documents);
    let rows: Vec<&str> = page
        .all("tr")
        .map(|row| row.text.as_str())
        .filter(|row| row.contains("Possible improvement"))
        .collect();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].starts_with("acme/b") && rows[0].contains("Possible improvement: Require 2 reviews."));
    assert!(!page.text().contains("What to do"));
    assert!(page.all("code").any(|code| code.text == "2"));
}

#[test]
fn hostile_texts_stay_texts() {
    let long = "x".repeat(4_000);
    for text in HOSTILE.into_iter().chain([long.as_str()]) {
        let hostile = Row { reason: text.to_owned(), actual: text.to_owned(), ..check("fail", text) };
        let documents = bundle(&[hostile, check("pass", "acme/a")], text);
        let page = Page::of(&documents);
        is_sound(&page, &documents);
        let deceives = |c: char| {
            (c.is_control() && c != '\n')
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
        };
        assert!(!page.source.contains(deceives), "{text}");
        let shown = evidence_view::sanitized(text);
        assert_eq!(page.all("h1").next().unwrap().text, shown);
        let isolated = page.all("bdi").filter(|bdi| bdi.text == shown).count();
        assert!(isolated >= 8, "{isolated} times {shown}");
        assert!(page.source.len() < 500_000);
    }
}

#[test]
fn an_id_that_could_end_the_style_sheet_is_left_out_of_it() {
    let mut documents = bundle(&[check("pass", "acme/a")], "acme");
    let manifest = documents.0.get_mut("manifest.json").unwrap();
    *manifest =
        manifest.replace("f5d9e117-307a-85ba-abbd-58a724380110", "1\\\"}body{display:none}</style><b>");
    let page = Page::of(&documents);
    is_sound(&page, &documents);
    assert!(!page.all("style").next().unwrap().text.contains("body{display:none}"));
    assert_eq!(page.all("b").count(), 0);
}

#[test]
fn up_to_2000_checks_every_one_is_listed() {
    let checks: Vec<Row> = (0..2_000).map(|index| check("pass", format!("acme/r{index}"))).collect();
    let documents = bundle(&checks, "acme");
    let page = Page::of(&documents);
    assert_eq!(page.all("a").filter(|a| a.attributes["href"].starts_with("#observation-")).count(), 2_000);
    assert!(!page.source.contains("are listed."));
}

#[test]
fn a_long_group_says_how_many_it_leaves_out_and_where_they_are() {
    let status = |index: usize| match index % 3 {
        0 => "fail",
        1 => "pass",
        _ => "not_verifiable",
    };
    let checks: Vec<Row> = (0..3_000).map(|index| check(status(index), format!("acme/r{index}"))).collect();
    let documents = bundle(&checks, "acme");
    let page = Page::of(&documents);
    is_sound(&page, &documents);
    let more: Vec<&str> =
        page.all("td").map(|cell| cell.text.as_str()).filter(|text| text.starts_with("The first ")).collect();
    let urgent = "The first 100 of 1,000 checks are listed. All of them are in checks.csv: control CC7.2, rule \
                  branch-protection, reason branch_unprotected.";
    let passed = "The first 20 of 1,000 checks are listed. All of them are in checks.csv: control CC7.2, rule \
                  branch-protection, reason ok.";
    assert_eq!(more, [urgent, urgent, passed]);
    assert!(page.text().contains("Long groups list only their first checks"));
    assert!(page.text().contains("1,000 failed, 1,000 not verifiable, 1,000 passed"));
    assert_eq!(
        page.elements
            .iter()
            .filter(|e| e.attributes.get("id").is_some_and(|id| id.starts_with("observation-")))
            .count(),
        220
    );
}

#[test]
fn the_readme_is_ascii_and_fits_a_terminal() {
    let long = "ä".repeat(4_000);
    for text in HOSTILE.into_iter().chain(["acme", long.as_str()]) {
        let mut documents = bundle(&[check("pass", "acme/a")], text);
        let manifest = documents.0.get_mut("manifest.json").unwrap();
        *manifest =
            manifest.replace("\"tool_version\":\"0.1.0\"", &format!("\"tool_version\":{}", json!(text)));
        let readme = made(&documents, "derived/README.txt");
        assert!(readme.is_ascii());
        for line in readme.lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}

/// What a trusted signer can make large: the number of reasons, and every text.
#[test]
fn a_page_has_at_most_5_mb_and_counts_what_it_leaves_out() {
    let long = "<".repeat(700);
    let checks: Vec<Row> = (0..4_000)
        .map(|number| Row {
            reason: format!("reason_{number}"),
            actual: long.clone(),
            ..check(if number % 100 == 0 { "fail" } else { "pass" }, format!("acme/{number}"))
        })
        .collect();
    let html = made(&bundle(&checks, &long), "derived/report.html");
    assert!(html.len() < 5_000_000, "{}", html.len());
    let groups = html.matches("<tr class=\"head").count();
    assert!(groups > 50, "{groups}");
    let more = html.match_indices(" more checks with other rules or reasons").map(|(end, _)| {
        let digits = html[..end].rsplit('>').next().unwrap().replace(',', "");
        digits.parse::<usize>().unwrap()
    });
    assert_eq!(more.sum::<usize>(), 4_000 - groups);
    // A page of a usual size leaves nothing out.
    let html = made(&bundle(&checks[..20], "text"), "derived/report.html");
    assert!(!html.contains("with other rules or reasons") && !html.contains("left out here"));
}
