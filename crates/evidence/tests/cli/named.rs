//! Repositories that the configuration names: each is looked up once, before anything is collected.

use sandbox::codehost::{Fault, FaultKind};
use serde_json::json;

use crate::common::{Bundle, Lab, acme, repository, sound};

fn lab(names: &str, host: sandbox::codehost::CodeHost) -> Lab {
    Lab::new(host).with(|config| config.controls("[CC7.2, CC6.6]").source("repos", names))
}

fn members(bundle: &Bundle) -> Vec<String> {
    let population = bundle.json("derived/population.json");
    let members = population["members"].as_array().unwrap();
    members.iter().map(|member| member["name"].as_str().unwrap().to_string()).collect()
}

/// The host's spelling, id, default branch and current name are those of the documents.
#[test]
fn the_host_says_what_a_named_repository_is() {
    let host = acme().repository(sound("web").renamed_to("web-next")).repository(sound("API"));
    let lab = lab("[acme/web, acme/api]", host);
    let run = lab.collect(&[]).exits(0).says("`repos` names acme/web, which is acme/web-next now");
    let bundle = run.bundle();
    assert_eq!(bundle.check("CC7.2", "acme/web-next").0, "pass");
    assert_eq!(bundle.check("CC7.2", "acme/API").0, "pass");
    assert_eq!(members(&bundle), ["acme/web-next", "acme/API"]);
    assert_eq!(bundle.warnings("acme/web-next"), ["repository_renamed"]);
    let population = bundle.json("derived/population.json");
    for member in population["members"].as_array().unwrap() {
        assert!(member["id"].is_string() && member["default_branch"] == "main", "{member}");
    }
    // The redirect is met once; everything else is asked by the current name.
    let asked = lab.requested();
    assert_eq!(asked.iter().filter(|path| path.starts_with("/repos/acme/web/")).count(), 0, "{asked:?}");
    // The lookups are traced like a listing.
    let rows = bundle.json("derived/observations.json");
    let rows = rows["observations"].as_array().unwrap().iter().filter(|row| row["kind"] == "repository");
    let looked_up: Vec<&str> = rows.map(|row| row["subject"].as_str().unwrap()).collect();
    assert_eq!(looked_up, ["acme/web-next", "acme/API"]);
}

/// A repository that is named by its old and its new name is a mistake, and so is one in two spellings.
#[test]
fn a_repository_named_twice_is_a_mistake() {
    let host = acme().repository(sound("web").renamed_to("web-next")).repository(sound("api"));
    let names = "[acme/web, acme/api, acme/web-next]";
    for dry in [&[][..], &["--dry-run"]] {
        let lab = lab(names, host.clone());
        let run = lab.collect(dry).exits(1);
        let run = run.says("acme/web and acme/web-next are both acme/web-next");
        run.says("keep only its current name");
        let asked = lab.requested();
        assert!(!asked.iter().any(|path| path.contains("/branches/")), "nothing is collected: {asked:?}");
    }
}

/// What the scope counts as listed is what the host showed.
#[test]
fn only_what_was_found_is_listed() {
    let host = acme().repository(sound("web")).repository(sound("api")).repository(sound("old"));
    let lab = Lab::new(host).with(|config| {
        config
            .controls("[CC7.2]")
            .source("repos", "[acme/web, acme/api, acme/wbe, acme/old]")
            .source("exclude", "[acme/old]")
    });
    let bundle = lab.collect(&[]).exits(3).bundle();
    let scope = &bundle.json("derived/population.json")["sources"][0];
    assert_eq!(
        (&scope["scope"], &scope["listed"], &scope["in_scope"]),
        (&"chosen".into(), &2.into(), &3.into()),
        "{scope}"
    );
    assert_eq!(bundle.check("CC7.2", "acme/wbe"), ("not_verifiable".into(), "not_found".into()));
    assert!(!lab.requested().contains(&"/repos/acme/old".to_string()), "what is excluded is not asked");
}

/// A named repository that is deleted after it was looked up is gone, as one that discovery listed.
#[test]
fn a_named_repository_that_goes_away_is_gone() {
    let body =
        json!({"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"});
    let gone = FaultKind::Json(404, Vec::new(), body);
    let host = acme().repository(repository("web")).fault(Fault::on("/repos/acme/web*").after(1).kind(gone));
    let bundle = lab("[acme/web]", host).collect(&[]).exits(0).bundle();
    for control in ["CC7.2", "CC6.6"] {
        assert_eq!(bundle.check(control, "acme/web"), ("not_verifiable".into(), "not_found".into()));
    }
}
