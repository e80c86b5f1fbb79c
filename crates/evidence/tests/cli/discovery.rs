//! Discovery over many pages, misleading links, and faults: temporary faults leave no trace, and the bundle lists
//! lasting ones.

use sandbox::codehost::{BadLink, Body, CodeHost, Fault, FaultKind, Limits};

use crate::common::{Bundle, Lab, acme, sound};

/// 250 repositories, three pages.
fn fleet() -> CodeHost {
    sandbox::large_organization(250)
}

fn lab(host: CodeHost) -> Lab {
    // One artifact per repository is enough to test discovery.
    Lab::new(host)
        .with(|config| config.controls("[CC6.1, CC7.2]").source("max_concurrency", "100"))
        .env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN)
}

fn subjects(bundle: &Bundle) -> Vec<String> {
    let normalized = bundle.json("derived/normalized.json");
    let controls = normalized["controls"].as_array().unwrap();
    let control = controls.iter().find(|control| control["id"] == "CC7.2").unwrap();
    let checks = control["checks"].as_array().unwrap().iter();
    checks.map(|check| check["subject"].as_str().unwrap().to_string()).collect()
}

fn all() -> Vec<String> {
    (0..250).map(|number| format!("acme/service-{number:06}")).collect()
}

fn pages(lab: &Lab) -> Vec<String> {
    lab.requested().into_iter().filter(|path| path.contains("/repos?")).collect()
}

#[test]
fn three_pages() {
    let lab = lab(fleet());
    let bundle = lab.collect(&["-q"]).exits(0).bundle();
    assert_eq!(subjects(&bundle), all(), "sorted by name, each once");
    assert_eq!(bundle.source()["discovered"], 250);
    assert_eq!(bundle.source()["in_scope"], 250);
    assert_eq!(pages(&lab).len(), 3, "{:?}", pages(&lab));
    assert!(pages(&lab).iter().all(|page| page.contains("per_page=100")), "{:?}", pages(&lab));
}

/// A host that does not name the last page.
#[test]
fn three_pages_without_the_last_link() {
    let lab = lab(fleet());
    let origin = lab.server.url();
    let next = |page: u32| {
        let link = format!(
            "<{origin}/orgs/acme/repos?per_page=100&sort=full_name&direction=asc&page={page}>; rel=\"next\""
        );
        FaultKind::Headers(vec![("link".to_string(), Some(link))])
    };
    let first = "/orgs/acme/repos?per_page=100&sort=full_name&direction=asc";
    lab.server.update(|host| {
        host.add_fault(Fault::on(format!("{first}&page=2")).kind(next(3)));
        host.add_fault(
            Fault::on(format!("{first}&page=3")).kind(FaultKind::Headers(vec![("link".to_string(), None)])),
        );
        host.add_fault(Fault::on(first).kind(next(2)));
    });
    let bundle = lab.collect(&["-q"]).exits(0).bundle();
    assert_eq!(subjects(&bundle), all());
    assert_eq!(pages(&lab).len(), 3, "{:?}", pages(&lab));
}

/// A new repository appears while the tool reads the pages, so a repository of page 1 also appears on page 2.
#[test]
fn a_repository_on_two_pages_is_one() {
    let shifted = Fault::on("*/repos?*&page=2").kind(FaultKind::ShiftPage(-1));
    let lab = lab(fleet().fault(shifted));
    let bundle = lab.collect(&["-q"]).exits(3).bundle();
    let found = subjects(&bundle);
    let mut unique = found.clone();
    unique.dedup();
    assert_eq!(found, unique);
    // One repository dropped out of page 2: the organization's own count reveals it, and the list is read twice more.
    assert_eq!(found.len(), 249 + 1, "and what is unknown");
    assert_eq!(pages(&lab).len(), 3 * 3, "{:?}", pages(&lab));
    assert!(bundle.warnings("acme").contains(&"population_incomplete".to_string()));
    let population = &bundle.json("derived/population.json")["sources"][0];
    assert_eq!((&population["scope"], &population["listed"]), (&"partial".into(), &249.into()));
    // Nothing says that the missing one is hidden, so it is not counted as such.
    assert!(population["host_total"].is_null(), "{population}");
    let totals = population["host_totals"].as_object().unwrap().values();
    assert_eq!(totals.map(|total| total.as_u64().unwrap()).sum::<u64>(), 250, "{population}");
    assert_eq!(bundle.manifest()["complete"], false);
}

#[test]
fn a_link_to_another_host_is_refused() {
    let other = fleet().serve().unwrap();
    let bad = FaultKind::BadLink(BadLink::OtherHost(other.origin().to_string()));
    let lab = lab(fleet().fault(Fault::on("/orgs/acme/repos*").kind(bad)));
    let run = lab.collect(&[]).exits(3).says("another origin");
    let bundle = run.bundle();
    assert_eq!(other.request_count(), 0, "the token left the origin");
    assert_eq!(bundle.source()["discovered"], 100, "the page that was read counts");
    assert_eq!(bundle.manifest()["complete"], false);
}

#[test]
fn links_that_never_end_end() {
    for bad in [BadLink::ToItself, BadLink::Endless] {
        let host = sandbox::large_organization(20);
        let endless = matches!(bad, BadLink::Endless);
        let lab = lab(host.fault(Fault::on("/orgs/acme/repos*").kind(FaultKind::BadLink(bad))));
        let run = lab.collect(&[]).exits(3).says("too many pages");
        assert_eq!(subjects(&run.bundle()).len(), 21, "twenty repositories, and what is unknown");
        let read = pages(&lab).len();
        assert!(if endless { read <= 1_000 } else { read <= 3 }, "{read} pages were read");
    }
}

#[test]
fn a_page_that_is_refused_is_an_error_and_the_rest_is_collected() {
    let body = serde_json::json!({ "message": "Resource not accessible by personal access token" });
    let refused = Fault::on("*/repos?*&page=2").kind(FaultKind::Json(403, Vec::new(), body));
    let lab = lab(fleet().fault(refused));
    let run = lab.collect(&[]).exits(3).says("repository discovery, page 2");
    let bundle = run.bundle();
    assert_eq!(bundle.source()["discovered"], 150);
    assert_eq!(bundle.errors().len(), 1);
    assert_eq!(subjects(&bundle).len(), 151);
}

#[test]
fn an_organization_without_repositories() {
    let lab = Lab::new(acme());
    let run = lab.collect(&[]).exits(0);
    let bundle = run.bundle();
    assert_eq!(bundle.control("CC7.2"), "not_verifiable");
    let normalized = bundle.json("derived/normalized.json");
    assert_eq!(normalized["controls"][1]["reason"], "no_evidence");
    insta::assert_snapshot!(run.shown());
}

/// Names that could lead to another path or another organization.
#[test]
fn names_that_cannot_be_repositories() {
    let item =
        |id: u64, full_name: &str| serde_json::json!({ "id": id, "full_name": full_name, "archived": false });
    let listing = serde_json::json!([
        item(1, "acme/web"),
        item(2, "acme/../../etc"),
        item(3, "acme/.."),
        item(4, "other/web"),
        item(5, "acme"),
        item(6, "acme/we b"),
        item(7, "acme/WEB"),
        item(8, ""),
        { "id": 9 },
        item(1, "acme/web"),
    ]);
    let fault = Fault::on("/orgs/acme/repos*").kind(FaultKind::Json(200, Vec::new(), listing));
    let lab =
        Lab::new(acme().repository(sound("web")).fault(fault)).with(|config| config.controls("[CC7.2]"));
    let bundle = lab.collect(&[]).exits(3).bundle();
    assert_eq!(bundle.check("CC7.2", "acme/web"), ("pass".into(), "ok".into()));
    assert_eq!(bundle.errors().len(), 8, "{:#?}", bundle.errors());
    let asked: Vec<String> = lab.requested().into_iter().filter(|path| path.starts_with("/repos/")).collect();
    assert_eq!(asked, ["/repos/acme/web/branches/main/protection"]);
}

#[test]
fn a_listing_that_is_no_listing() {
    for body in [serde_json::json!({ "repositories": [] }), serde_json::json!([1]), serde_json::json!(null)] {
        let fault = Fault::on("/orgs/acme/repos*").kind(FaultKind::Json(200, Vec::new(), body));
        let lab = Lab::new(acme().fault(fault));
        let run = lab.collect(&[]).exits(3).says("repository discovery, page 1");
        // The bundle contains the organization's settings, which the tool could read.
        assert_eq!(run.bundle().control("CC6.1"), "pass");
    }
}

/// Faults that end before the last attempt: the bundle equals that of a run without faults.
#[test]
fn faults_that_heal_leave_no_trace() {
    let host = || {
        let mut host = acme().limits(Limits::self_hosted());
        for number in 0..12 {
            host = host.repository(sound(&format!("service-{number:02}")));
        }
        host
    };
    let kinds = [
        FaultKind::Status(502, Body::Html),
        FaultKind::Status(500, Body::Json),
        FaultKind::Status(503, Body::Empty),
        FaultKind::Reset,
        FaultKind::Refuse,
        FaultKind::Truncate(30),
        FaultKind::WrongContentLength,
        FaultKind::BrokenChunk,
        FaultKind::LoginPage,
        FaultKind::InvalidUtf8,
    ];
    let faulty = host().fault(Fault::everywhere().times_per_path(1).chance(0.6, 7).kinds(kinds));
    let sources = |bundle: &Bundle| -> Vec<(String, Vec<u8>)> {
        bundle.entries.iter().filter(|(path, _)| path.starts_with("sources/")).cloned().collect()
    };
    let lab = Lab::new(host()).env("SOURCE_DATE_EPOCH", "1795251913");
    let url = lab.server.url();
    let healthy = lab.collect(&["-q", "--reproducible"]).exits(0).bundle();
    let lab = Lab::new(faulty).env("SOURCE_DATE_EPOCH", "1795251913");
    let healed = lab.collect(&["-q", "--reproducible"]).exits(0).bundle();
    let other_url = lab.server.url();
    assert!(lab.server.faults_injected().values().sum::<u64>() >= 8, "{:?}", lab.server.faults_injected());
    let same = |entries: Vec<(String, Vec<u8>)>, url: &str| -> Vec<(String, String)> {
        // Addresses in the artifacts contain the port.
        entries
            .into_iter()
            .map(|(path, content)| (path, String::from_utf8(content).unwrap().replace(url, "HOST")))
            .collect()
    };
    assert_eq!(same(sources(&healed), &other_url), same(sources(&healthy), &url));
    let results = |bundle: &Bundle| bundle.json("derived/normalized.json")["summary"].clone();
    assert_eq!(results(&healed), results(&healthy));
    assert!(healed.errors().is_empty());
}

/// One repository in ten never answers: the bundle contains the others and lists the errors.
#[test]
fn faults_that_do_not_heal_cost_only_what_they_hit() {
    let mut host = acme();
    for number in 0..10 {
        host = host.repository(sound(&format!("service-{number:02}")));
    }
    let host = host.fault(Fault::on("/repos/acme/service-03/*").kind(FaultKind::Status(502, Body::Html)));
    let run = Lab::new(host).collect(&[]).exits(3);
    insta::assert_snapshot!(run.shown());
    let bundle = run.bundle();
    let artifacts = bundle.paths().iter().filter(|path| path.starts_with("sources/")).count();
    assert_eq!(artifacts, 19);
    let errors = bundle.errors();
    assert_eq!(errors.len(), 2);
    for (code, subject, message) in errors {
        assert_eq!((code.as_str(), subject.as_str()), ("host_error", "acme/service-03"));
        let named = message.starts_with("branch protection: ") || message.starts_with("CODEOWNERS: ");
        assert!(named && message.contains("502"), "{message}");
    }
    assert_eq!(bundle.source()["retries"], 8);
}
