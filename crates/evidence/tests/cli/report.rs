//! The files for people: every bundle contains them, generated from its documents, and `evidence report` writes them
//! again.

use std::fs;

use evidence_bundle::path::BundlePath;
use evidence_bundle::text::is_deceptive;
use evidence_bundle::write::{Entry, UnsignedBundle};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{Bundle, KEY, Lab, acme, damage, names, repository, sound};

/// The files for people, in the order of the archive.
pub(crate) const VIEWS: [&str; 7] = [
    "derived/README.txt",
    "derived/artifacts.csv",
    "derived/checks.csv",
    "derived/events.csv",
    "derived/observations.csv",
    "derived/population.csv",
    "derived/report.html",
];

fn bundled() -> (Lab, Bundle) {
    let lab = Lab::new(acme().repository(sound("api")).repository(repository("bare")));
    let bundle = lab.collect(&["-q"]).exits(0).bundle();
    fs::rename(&bundle.path, lab.path("b.tar.gz")).unwrap();
    (lab, bundle)
}

fn text<'a>(bundle: &'a Bundle, path: &str) -> &'a str {
    std::str::from_utf8(bundle.file(path).unwrap()).unwrap()
}

/// Writes a bundle of these files, signed with the tests' key, as the owner of the key could.
fn resigned(lab: &Lab, name: &str, files: &[(String, Vec<u8>)]) {
    let mut files = files.to_vec();
    files.retain(|(path, _)| path != "checksums.sha256" && path != "signature.sig");
    let of = |content: &[u8]| hex::encode(Sha256::digest(content));
    let rows: Vec<Value> = files
        .iter()
        .filter(|(path, _)| path != "manifest.json")
        .map(|(path, content)| json!({"path": path, "sha256": of(content), "size": content.len()}))
        .collect();
    let manifest = files.iter_mut().find(|(path, _)| path == "manifest.json").unwrap();
    let mut value: Value = serde_json::from_slice(&manifest.1).unwrap();
    value["files"] = json!(rows);
    manifest.1 = serde_json::to_vec(&value).unwrap();
    let entries = files.iter().map(|(path, content)| Entry {
        path: BundlePath::new(path).unwrap(),
        sha256: Sha256::digest(content).into(),
        size: content.len() as u64,
    });
    let created: jiff::Timestamp = value["created_at"].as_str().unwrap().parse().unwrap();
    let bundle = UnsignedBundle::new(created.as_second(), entries.collect()).unwrap().sign(&KEY).unwrap();
    let mut out = Vec::new();
    let open = |entry: &Entry| {
        let (_, content) = files.iter().find(|(path, _)| path == entry.path.as_str()).unwrap();
        Ok(content.as_slice())
    };
    bundle.write(&mut out, None, open).unwrap();
    lab.write(name, out);
}

#[test]
fn every_bundle_has_them_behind_its_documents() {
    let (lab, bundle) = bundled();
    assert_eq!(bundle.paths()[9..16], VIEWS);
    // The rows of both begin with the same cells; what to do, and where it was read, follow.
    let shown = lab.run(&["show", "b.tar.gz", "-k", "key.pub.pem", "--format", "csv"]).exits(0).stdout;
    let checks = text(&bundle, "derived/checks.csv");
    assert_eq!(checks.lines().count(), shown.lines().count());
    let cells = |table: &str| -> Vec<Vec<String>> {
        let rows = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes()).into_records();
        rows.map(|row| row.unwrap().iter().take(11).map(str::to_string).collect()).collect()
    };
    assert_eq!(cells(checks), cells(&shown));
    let manifest = bundle.manifest();
    let end = format!(",acme,{}", manifest["bundle_id"].as_str().unwrap());
    for table in VIEWS.iter().filter(|path| path.ends_with(".csv")) {
        assert!(text(&bundle, table).lines().skip(1).all(|line| line.ends_with(&end)), "{table}");
        assert!(text(&bundle, table).lines().next().unwrap().ends_with(",organization,bundle_id"));
    }
    let rows = |path: &str| text(&bundle, path).lines().count() - 1;
    assert_eq!(rows("derived/artifacts.csv"), manifest["artifacts"].as_array().unwrap().len());
    let observations = bundle.json("derived/observations.json");
    let requests = |row: &Value| row["requests"].as_array().unwrap().len().max(1);
    let requests: usize = observations["observations"].as_array().unwrap().iter().map(requests).sum();
    assert_eq!((rows("derived/observations.csv"), rows("derived/events.csv")), (requests, 0));
    let population = bundle.json("derived/population.json");
    assert_eq!(rows("derived/population.csv"), population["members"].as_array().unwrap().len());
    for path in ["derived/README.txt", "derived/report.html"] {
        for name in ["bundle_id", "organization", "created_at"] {
            let value = manifest[name].as_str().unwrap();
            assert!(text(&bundle, path).contains(value), "{path} does not name the {name}, {value}");
        }
    }
    let readme = text(&bundle, "derived/README.txt");
    assert!(readme.is_ascii() && readme.lines().all(|line| line.len() <= 80), "{readme}");
}

/// The files for people also report a failed source and excluded artifacts.
#[test]
fn the_id_does_not_depend_on_the_files_for_people() {
    let (lab, bundle) = bundled();
    let files: Vec<_> =
        bundle.entries.iter().filter(|(path, _)| !VIEWS.contains(&path.as_str())).cloned().collect();
    resigned(&lab, "plain.tar.gz", &files);
    let plain = Bundle::open(&lab.path("plain.tar.gz"));
    assert_eq!(plain.paths().len() + VIEWS.len(), bundle.paths().len());
    // A bundle without these files produces the same report, from the same documents.
    let made = lab.run(&["report", "plain.tar.gz", "-k", "key.pub.pem"]).exits(0).stdout;
    assert_eq!(made, text(&bundle, "derived/report.html"));
}

#[test]
fn the_report_is_written_whole_or_not_at_all() {
    let (lab, bundle) = bundled();
    let signed = text(&bundle, "derived/report.html");
    let printed = lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem"]).exits(0);
    assert_eq!((printed.stdout.as_str(), printed.stderr.as_str()), (signed, ""));
    lab.write("r.html", "before");
    let run = lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem", "-o", "r.html"]).exits(0);
    assert_eq!(run.all(), "");
    assert_eq!(fs::read_to_string(lab.path("r.html")).unwrap(), signed);
    fs::create_dir(lab.path("folder")).unwrap();
    lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem", "-o", "folder"]).exits(1).says("not a regular file");
    let before = names(&lab.path("."));
    lab.write("r.html", "before");
    lab.run(&["report", "b.tar.gz", "-o", "r.html"]).exits(1).says("INTACT, NOT AUTHENTICATED");
    lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem", "-o", "none/r.html"]).exits(1).says("none/r.html");
    damage(&lab, "b.tar.gz");
    let run = lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem", "-o", "r.html"]).exits(7).says("FAILED");
    assert_eq!(run.stdout, "");
    assert_eq!(fs::read_to_string(lab.path("r.html")).unwrap(), "before");
    assert_eq!(names(&lab.path(".")), before);
}

/// A bundle whose signer replaced the report, and says that this version made it.
fn with_report(lab: &Lab, bundle: &Bundle, name: &str, tool_version: &str, page: &[u8]) {
    let mut files = bundle.entries.clone();
    for (path, content) in &mut files {
        match path.as_str() {
            "derived/report.html" => *content = page.to_vec(),
            "manifest.json" => {
                let mut manifest: Value = serde_json::from_slice(content).unwrap();
                manifest["tool_version"] = json!(tool_version);
                *content = serde_json::to_vec(&manifest).unwrap();
            }
            "run.json" | "derived/scope.json" => {
                let own = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
                let other = format!("\"version\": \"{tool_version}\"");
                *content = String::from_utf8(content.clone()).unwrap().replacen(own, &other, 1).into_bytes();
            }
            _ => {}
        }
    }
    resigned(lab, name, &files);
}

const HOSTILE: &[u8] = b"\x1b]0;owned\x07<script>fetch('https://stranger.example/')</script><a href=//stranger.example>all pass</a>";

/// The signer can include a page that contradicts the documents, or acts. `report` makes its own from the documents,
/// whatever version the signer names, and says that they differ.
#[test]
fn the_page_always_follows_from_the_documents() {
    let (lab, bundle) = bundled();
    for version in [env!("CARGO_PKG_VERSION"), "9.9.9"] {
        with_report(&lab, &bundle, "other.tar.gz", version, HOSTILE);
        let printed = lab.run(&["report", "other.tar.gz", "-k", "key.pub.pem"]).exits(0);
        let printed = printed.says("warning: the signer's page").says("--as-signed");
        assert!(!printed.all().contains("stranger.example") && !printed.all().contains('\u{1b}'));
        assert!(printed.stdout.contains("acme/bare"));
        if version == env!("CARGO_PKG_VERSION") {
            assert_eq!(printed.stdout, text(&bundle, "derived/report.html"));
        } else {
            printed.says("9.9.9");
        }
    }
}

/// The signer's page is written only to a file, and cannot act there.
#[test]
fn the_signers_page_cannot_act() {
    let (lab, bundle) = bundled();
    with_report(&lab, &bundle, "other.tar.gz", "9.9.9", HOSTILE);
    let trusted = ["report", "other.tar.gz", "-k", "key.pub.pem", "--as-signed"];
    assert_eq!(lab.run(&trusted).exits(1).says("--output").stdout, "");
    let run = lab.run(&[&trusted[..], &["-o", "signed.html"]].concat()).exits(0);
    assert_eq!(run.says("warning: the signer's page").stdout, "");
    let page = fs::read_to_string(lab.path("signed.html")).unwrap();
    assert!(
        page.is_ascii() && !page.contains('\u{1b}') && page.contains("sandbox=\"\" srcdoc=\"&#27;]0;owned")
    );
    assert!(page.contains("&#60;a x-href=//stranger.example&#62;") && !page.contains("<script"), "{page}");
    // The same page as the documents give, and none at all.
    let run = lab.run(&["report", "b.tar.gz", "-k", "key.pub.pem", "--as-signed", "-o", "own.html"]).exits(0);
    assert_eq!(run.all(), "");
    let files: Vec<_> =
        bundle.entries.iter().filter(|(path, _)| !VIEWS.contains(&path.as_str())).cloned().collect();
    resigned(&lab, "plain.tar.gz", &files);
    let none = ["report", "plain.tar.gz", "-k", "key.pub.pem", "--as-signed", "-o", "none.html"];
    lab.run(&none).exits(1).says("put no report into it");
    assert!(!lab.path("none.html").exists());
    // Nothing of an unverified bundle is written.
    damage(&lab, "other.tar.gz");
    lab.run(&[&trusted[..], &["-o", "failed.html"]].concat()).exits(7);
    assert!(!lab.path("failed.html").exists());
}

/// Two names that differ in an invisible character look different in every output.
#[test]
fn a_name_is_visible_in_every_output() {
    let (lab, bundle) = bundled();
    let name = "acme/ba\u{ad}\u{3164}\u{115f}\u{2064}\u{fe0f}\u{e0041}\u{fffe}\u{fdd0}\u{202e}re";
    let renamed = |text: &str| text.replace("acme/bare", name);
    // The other documents name the checksum of this one.
    let observations = text(&bundle, "derived/observations.json");
    let [old, new] = [observations, &renamed(observations)].map(|text| hex::encode(Sha256::digest(text)));
    let mut files = bundle.entries.clone();
    for (_, content) in
        files.iter_mut().filter(|(path, _)| path.ends_with(".json") && !path.starts_with("sources/"))
    {
        *content = renamed(&String::from_utf8(content.clone()).unwrap()).replace(&old, &new).into_bytes();
    }
    resigned(&lab, "other.tar.gz", &files);
    let plain = "acme/ba\\u{ad}\\u{3164}\\u{115f}\\u{2064}\\u{fe0f}\\u{e0041}\\u{fffe}\\u{fdd0}\\u{202e}re";
    let json = "acme/ba\\u00ad\\u3164\\u115f\\u2064\\ufe0f\\udb40\\udc41\\ufffe\\ufdd0\\u202ere";
    let sample = ["sample", "--from", "population", "--count", "9", "--seed", "s", "--format"];
    for (arguments, name) in [
        (&["report"][..], plain),
        (&["show", "--format", "text"], plain),
        (&["show", "--format", "csv"], plain),
        (&["show", "--format", "markdown"], &plain.replace('\\', "\\\\")),
        (&["show", "--format", "json"], json),
        (&[&sample[..], &["text"]].concat(), plain),
        (&[&sample[..], &["csv"]].concat(), plain),
        (&[&sample[..], &["json"]].concat(), &plain.replace('\\', "\\\\")),
        (&["verify"], ""),
        (&["verify", "--json"], ""),
    ] {
        let run = lab.run(&[arguments, &["other.tar.gz", "-k", "key.pub.pem"]].concat()).exits(0);
        assert!(run.stdout.contains(name), "{arguments:?}: {}", run.stdout);
        let hidden = |character: &char| !"\n\r\t\u{1b}".contains(*character) && is_deceptive(*character);
        // A table begins with the mark that spreadsheets need.
        assert_eq!(run.stdout.trim_start_matches('\u{feff}').chars().find(hidden), None, "{arguments:?}");
    }
}
