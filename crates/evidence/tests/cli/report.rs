//! The files for people: every bundle contains them, generated from its documents, and `evidence report` writes them
//! again.

use std::fs;

use evidence_bundle::path::BundlePath;
use evidence_bundle::write::{Entry, UnsignedBundle};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{Bundle, KEY, Lab, acme, damage, names, repository, sound};

/// The files for people, in the order of the archive.
pub(crate) const VIEWS: [&str; 5] = [
    "derived/README.txt",
    "derived/artifacts.csv",
    "derived/checks.csv",
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
    assert_eq!(bundle.paths()[9..14], VIEWS);
    // The checks equal those of `show`, byte for byte.
    let shown = lab.run(&["show", "b.tar.gz", "-k", "key.pub.pem", "--format", "csv"]).exits(0).stdout;
    assert_eq!(text(&bundle, "derived/checks.csv"), shown);
    let manifest = bundle.manifest();
    let rows = |path: &str| text(&bundle, path).lines().count() - 1;
    assert_eq!(rows("derived/artifacts.csv"), manifest["artifacts"].as_array().unwrap().len());
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
    for arguments in [&["-o", "r.html"][..], &["-o", "r.html", "--remake"]] {
        let run = lab.run(&[&["report", "b.tar.gz", "-k", "key.pub.pem"], arguments].concat()).exits(0);
        assert_eq!(run.all(), "");
        assert_eq!(fs::read_to_string(lab.path("r.html")).unwrap(), signed);
    }
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

/// The signer can include a page that contradicts the documents. `report` warns about the difference, and `--remake`
/// restores the page from the documents.
#[test]
fn a_page_that_is_not_what_the_documents_say() {
    let (lab, bundle) = bundled();
    let mut files = bundle.entries.clone();
    let page = files.iter_mut().find(|(path, _)| path == "derived/report.html").unwrap();
    let changed = String::from_utf8(page.1.clone()).unwrap().replace("acme/bare", "acme/fine");
    page.1 = changed.clone().into_bytes();
    resigned(&lab, "other.tar.gz", &files);
    let report = |arguments: &[&str]| {
        lab.run(&[&["report", "other.tar.gz", "-k", "key.pub.pem"], arguments].concat()).exits(0)
    };
    assert_eq!(report(&[]).says("this version makes another page").stdout, changed);
    assert_eq!(report(&["--remake"]).says_not("warning").stdout, text(&bundle, "derived/report.html"));
}
