//! Who left the directory and is still active elsewhere: a rule over the lists of all sources.

use serde_json::json;

use super::frameworks::configure;
use super::several_sources::{Company, checks};

/// A company whose configuration names this map.
fn company(map: &str) -> Company {
    let mut company =
        Company::with_host(sandbox::demo_organization(), sandbox::demo_account(), sandbox::demo_workspace());
    company.lab.set_env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    configure(&company, "\"*\"", "");
    with_map(&company, map);
    company
}

/// Adds the map to the configuration.
pub(crate) fn with_map(company: &Company, map: &str) {
    company.lab.write("people.csv", map);
    let text = std::fs::read_to_string(company.lab.path("evidence.yaml")).unwrap();
    company.lab.write("evidence.yaml", text.replace("sources:\n", "people:\n  map: people.csv\nsources:\n"));
}

/// Sid is suspended, Max is not, and nobody in the directory is called Zed.
#[test]
fn who_left_and_is_still_active() {
    for (map, expected, actual) in [
        ("altcloud,codehost\nmax.member@acme.example,olivia-owner\n", "pass ok", "1 mapped people"),
        (
            "altcloud,codehost\nSid.Spring@acme.example,Olivia-Owner\n",
            "fail leaver_active",
            "1 of 1 mapped people left and can still sign in: Sid.Spring@acme.example (codehost Olivia-Owner)",
        ),
        // The columns are in any order, and a name alone is one of every account of the cloud.
        ("cloud,altcloud\nerin,zed@acme.example\n", "fail leaver_active", "zed@acme.example (cloud erin)"),
        ("cloud,altcloud\nnobody,zed@acme.example\n", "pass ok", "1 mapped people"),
        (
            "cloud,altcloud\nerin,\n",
            "not_applicable nothing_in_scope",
            "the map names nobody of the directory",
        ),
    ] {
        let company = company(map);
        let bundle = company.lab.collect(&[]).bundle();
        let found: Vec<String> =
            checks(&bundle).into_iter().filter(|check| check.contains("leavers-removed")).collect();
        assert_eq!(found, [format!("CC6.2 altcloud leavers-removed acme.example {expected}")], "{map}");
        assert!(bundle.json("derived/normalized.json").to_string().contains(actual), "{map}");
        let path = bundle.path.to_string_lossy().into_owned();
        company.lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    }
}

/// Without a map the rule does not run, and nothing is stored of it.
#[test]
fn without_a_map() {
    let mut company =
        Company::with_host(sandbox::demo_organization(), sandbox::demo_account(), sandbox::demo_workspace());
    company.lab.set_env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    configure(&company, "\"*\"", "");
    let bundle = company.lab.collect(&[]).bundle();
    assert!(checks(&bundle).iter().all(|check| !check.contains("leavers-removed")));
    assert!(bundle.paths().iter().all(|path| !path.contains("leavers")));
    let scope = bundle.json("derived/scope.json").to_string();
    assert!(!scope.contains("leavers-removed"));
}

/// A list that was not read proves neither that somebody is active nor that somebody is gone.
#[test]
fn a_list_that_was_not_read() {
    let map = "altcloud,codehost\nsid.spring@acme.example,someone-else\n";
    let company = company(map);
    let text = std::fs::read_to_string(company.lab.path("evidence.yaml")).unwrap();
    let rules = "rules:\n  exclude: [owners-count, members-two-factor]\n";
    company.lab.write("evidence.yaml", text.replace("people:\n", &format!("{rules}people:\n")));
    let bundle = company.lab.collect(&[]).bundle();
    let found: Vec<String> =
        checks(&bundle).into_iter().filter(|check| check.contains("leavers-removed")).collect();
    assert_eq!(found, ["CC6.2 altcloud leavers-removed acme.example not_verifiable people_not_read"]);
}

/// A wrong map ends the run before the first request, with the place and what to do.
#[test]
fn a_wrong_map() {
    for (map, says, help) in [
        ("altcloud,github\na,b\n", "people.csv:1", "name each column after a source"),
        ("altcloud,codehost\na\n", "people.csv:2", "write a cell for each column"),
        ("altcloud,codehost\na,b\na,c\n", "people.csv:3", "one row per person"),
        ("", "the map of people is empty", "begin it with a line of sources"),
    ] {
        let company = company(map);
        company.lab.collect(&[]).exits(1).says(says).says(help);
        assert!(company.workspace.requests().is_empty());
    }
    let company = company("");
    std::fs::remove_file(company.lab.path("people.csv")).unwrap();
    company.lab.collect(&[]).exits(1).says("the map of people cannot be read").says("people.map");
}

/// The lists of all three sources are in one table, and are drawn from by hand alike.
#[test]
fn people_of_all_sources() {
    let company = company("altcloud,codehost\nmax.member@acme.example,olivia-owner\n");
    let bundle = company.lab.collect(&[]).bundle();
    let table = String::from_utf8(bundle.file("derived/people.csv").unwrap().to_vec()).unwrap();
    let head = "source,id,login,role,two_factor,created,last_use,suspended,evidence_file,sha256,collected_at";
    assert!(table.contains(head), "{table}");
    for line in [
        "codehost,",
        "cloud,123456789012/erin,erin,user,yes,",
        "altcloud,",
        "sid.spring@acme.example,administrator,yes,",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
    let path = bundle.path.to_string_lossy().into_owned();
    let sample = |source: &str| {
        let args = [
            "sample",
            "-k",
            "key.pub.pem",
            "--from",
            "people",
            "--seed",
            "Acme",
            "--count",
            "500",
            "--source",
            source,
        ];
        let sampled = company.lab.run(&[&args[..], &["--format", "json", &path]].concat()).exits(0);
        serde_json::from_str::<serde_json::Value>(&sampled.stdout).unwrap()
    };
    for (source, file) in
        [("cloud", "sources/cloud/people.json"), ("altcloud", "sources/altcloud/people.json")]
    {
        let all = bundle.json(file)["people"].as_array().unwrap().len();
        let text = sample(source).to_string();
        assert_eq!(text.matches("\"login\"").count(), all, "{source}: {text}");
    }
    let report = String::from_utf8(bundle.file("derived/report.html").unwrap().to_vec()).unwrap();
    for name in [
        "People of <bdi>codehost</bdi>",
        "People of <bdi>cloud</bdi>",
        "People of <bdi>altcloud</bdi>",
        "Merged changes of",
    ] {
        assert!(report.contains(name), "{name}");
    }
    assert_eq!(bundle.json("sources/cloud/people.json")["complete"], json!(true));
}
