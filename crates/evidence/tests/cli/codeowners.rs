//! CC6.6: every place, kind, size and content of a CODEOWNERS file, and every refusal.

use base64::Engine as _;
use sandbox::codehost::{Fault, FaultKind, File, Repository, Selection, Token};
use serde_json::json;

use crate::common::{Bundle, Lab, TOKEN, acme, repository};

const ARTIFACT: &str = "repo_acme_web_codeowners.json";

fn lab(web: Repository) -> Lab {
    Lab::new(acme().repository(web)).with(|config| config.controls("[CC6.6]"))
}

#[track_caller]
fn judged(lab: &Lab, code: i32, status: &str, reason: &str) -> Bundle {
    let bundle = lab.collect(&[]).exits(code).bundle();
    let (found_status, found_reason) = bundle.check("CC6.6", "acme/web");
    assert_eq!((found_status.as_str(), found_reason.as_str()), (status, reason));
    bundle
}

/// Collects a file in the root and checks the outcome.
#[track_caller]
fn text(content: &str, status: &str, reason: &str) {
    let web = repository("web").file("CODEOWNERS", File::text(content));
    let lab = lab(web);
    let bundle = lab.collect(&[]).exits(0).bundle();
    let (found_status, found_reason) = bundle.check("CC6.6", "acme/web");
    assert_eq!((found_status.as_str(), found_reason.as_str()), (status, reason), "{content:?}");
    let artifact = bundle.artifact(ARTIFACT).unwrap();
    assert_eq!(decoded(&artifact), content.as_bytes(), "the artifact is the file");
    assert_eq!(artifact["size"], content.len());
}

fn decoded(artifact: &serde_json::Value) -> Vec<u8> {
    // Strict: a line break in it would be an error here.
    base64::engine::general_purpose::STANDARD.decode(artifact["content"].as_str().unwrap()).unwrap()
}

#[test]
fn in_the_root() {
    let lab = lab(repository("web").file("CODEOWNERS", File::text("* @acme/web\n")));
    let bundle = judged(&lab, 0, "pass", "ok");
    let artifact = bundle.artifact(ARTIFACT).unwrap();
    assert_eq!(
        artifact,
        json!({
            "name": "CODEOWNERS",
            "path": "CODEOWNERS",
            "content": "KiBAYWNtZS93ZWIK",
            "encoding": "base64",
            "size": 12,
        })
    );
    assert!(!lab.requested().iter().any(|path| path.contains("docs/")), "asked for more than it needs");
}

#[test]
fn in_dot_github() {
    let lab = lab(repository("web").file(".github/CODEOWNERS", File::text("* @acme/web\n")));
    let bundle = judged(&lab, 0, "pass", "ok");
    assert_eq!(bundle.artifact(ARTIFACT).unwrap()["path"], ".github/CODEOWNERS");
    let request = bundle.request_of(&format!("sources/codehost/{ARTIFACT}"));
    assert_eq!(request["path"], "/repos/acme/web/contents/.github/CODEOWNERS");
    let asked = lab.requested().into_iter().filter(|path| path.contains("/contents/")).count();
    assert_eq!(asked, 1, "asked for more than it needs");
}

/// The host uses one file: the first of these that exists.
#[test]
fn the_first_file_in_the_host_s_order_is_in_effect() {
    let places = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
    for (first, place) in places.iter().enumerate() {
        let good = repository("web").file(*place, File::text("* @acme/web\n"));
        let others = places[first + 1..].iter();
        let web = others.fold(good, |web, other| web.file(*other, File::text("# nobody\n")));
        let (status, reason) = if first < 2 { ("pass", "ok") } else { ("fail", "codeowners_in_docs") };
        let bundle = judged(&lab(web), 0, status, reason);
        assert_eq!(bundle.artifact(ARTIFACT).unwrap()["path"], *place);
        let bad = repository("web").file(*place, File::text("# nobody\n"));
        let others = places[first + 1..].iter();
        let web = others.fold(bad, |web, other| web.file(*other, File::text("* @acme/web\n")));
        let reason = if first < 2 { "codeowners_no_owner" } else { "codeowners_in_docs" };
        judged(&lab(web), 0, "fail", reason);
    }
}

/// Owners that do not count, lines without owners, and words that are not owners: the tool reports them and judges the
/// remaining owners.
#[test]
fn owners_that_are_none() {
    let check = |content: &str, status: &str, reason: &str| {
        let web = repository("web").file(".github/CODEOWNERS", File::text(content));
        let bundle = judged(&lab(web), 0, status, reason);
        let actual = bundle.check_record("CC6.6", "acme/web")["actual"].as_str().unwrap().to_string();
        (bundle, actual)
    };
    let (_, actual) = check("* @elsewhere/team\n", "fail", "codeowners_no_owner");
    assert!(actual.contains("@elsewhere/team in line 1 (a team of another organization)"), "{actual}");
    check("* @elsewhere/team @ACME/web\n", "pass", "ok");
    let (bundle, actual) = check("* @acme/web\n/vendor\n*.md @elsewhere/docs\n", "pass", "ok");
    assert!(actual.contains("without an owner: line 2 (/vendor), 3 (*.md)"), "{actual}");
    let hints = bundle.json("derived/hints.json");
    let hint = &hints["hints"][0];
    assert_eq!(hint["id"], "CC6.6:codeowners_unowned_paths:acme/web");
    assert!(hint["detail"].as_str().unwrap().contains("2 (/vendor), 3 (*.md)"), "{hint}");
    let (bundle, _) = check("* @acme/web nobody@\n", "pass", "ok");
    assert_eq!(bundle.warnings("acme/web"), ["codeowners_invalid_owners"]);
}

/// The host's own list of errors, if it is enabled and can change the verdict.
#[test]
fn owners_that_the_host_does_not_know() {
    let with_errors = |web: Repository| {
        lab(web).with(|config| config.controls("[CC6.6]").source("codeowners_errors", "true"))
    };
    let asked =
        |lab: &Lab| lab.requested().iter().filter(|path| path.ends_with("/codeowners/errors")).count();
    let web = |content: &str| {
        repository("web").file(".github/CODEOWNERS", File::text(content)).unknown_owner("@ghost")
    };
    judged(&lab(web("* @ghost\n")), 0, "pass", "ok");
    let lab = with_errors(web("* @ghost\n"));
    let bundle = judged(&lab, 0, "fail", "codeowners_no_owner");
    let actual = bundle.check_record("CC6.6", "acme/web")["actual"].to_string();
    assert!(actual.contains("@ghost in line 1 (unknown to the host)"), "{actual}");
    let errors = bundle.artifact("repo_acme_web_codeowners_errors.json").unwrap();
    assert_eq!(errors["errors"][0]["kind"], "Unknown owner");
    assert_eq!(errors["errors"][0].as_object().unwrap().len(), 5);
    let evidence = bundle.check_record("CC6.6", "acme/web")["evidence"].as_array().unwrap().len();
    assert_eq!((asked(&lab), evidence), (1, 2));
    judged(&with_errors(web("* @ghost @acme/web\n")), 0, "pass", "ok");
    // The list cannot change this verdict.
    let lab = with_errors(web("/docs @ghost\n"));
    judged(&lab, 0, "fail", "codeowners_no_default_rule");
    assert_eq!(asked(&lab), 0);
    // The owner of the default rule may not exist.
    let body = json!({ "message": "Resource not accessible by personal access token" });
    let fault = Fault::on("/repos/acme/web/codeowners/errors").kind(FaultKind::Json(403, Vec::new(), body));
    let lab = Lab::new(acme().repository(web("* @acme/web\n")).fault(fault))
        .with(|config| config.controls("[CC6.6]").source("codeowners_errors", "true"));
    let bundle = lab.collect(&[]).bundle();
    assert_eq!(bundle.check("CC6.6", "acme/web"), ("not_verifiable".into(), "permission_denied".into()));
}

#[test]
fn nowhere() {
    let lab = lab(repository("web").file("src/CODEOWNERS", File::text("* @acme/web\n")));
    let bundle = judged(&lab, 0, "fail", "codeowners_missing");
    assert_eq!(bundle.source()["not_found"], 1);
    assert!(bundle.artifact(ARTIFACT).is_none());
    assert!(bundle.errors().is_empty());
}

#[test]
fn missing_files_are_reported_as_not_found_and_end_nothing() {
    let host = acme().repository(repository("bare")).repository(repository("web"));
    let lab = Lab::new(host).with(|config| config.controls("[CC6.6]"));
    let run = lab
        .collect(&[])
        .exits(0)
        .says("acme/bare: CODEOWNERS not found")
        .says("acme/web: CODEOWNERS not found");
    assert_eq!(run.bundle().source()["not_found"], 2);
}

#[test]
fn a_directory_in_the_root_and_a_file_in_dot_github() {
    let web = repository("web")
        .file("CODEOWNERS", File::directory())
        .file(".github/CODEOWNERS", File::text("* @acme/web\n"));
    judged(&lab(web), 0, "pass", "ok");
}

#[test]
fn something_else_than_a_file() {
    for (what, file) in [
        ("a directory", File::directory()),
        ("a submodule", File::submodule("https://host.example/acme/owners.git")),
        ("a symbolic link", File::symlink("../outside/OWNERS")),
    ] {
        for place in ["CODEOWNERS", ".github/CODEOWNERS"] {
            let lab = lab(repository("web").file(place, file.clone()));
            let bundle = judged(&lab, 0, "fail", "codeowners_not_a_file");
            let actual = bundle.check_record("CC6.6", "acme/web")["actual"].to_string();
            assert!(actual.contains(place) && actual.contains(what), "{actual}");
            assert!(bundle.artifact(ARTIFACT).is_none());
        }
        let both = repository("web")
            .file("CODEOWNERS", file)
            .file(".github/CODEOWNERS", File::text("* @acme/web\n"));
        judged(&lab(both), 0, "pass", "ok");
    }
}

/// The host's answer before it had a type for submodules.
#[test]
fn a_submodule_that_says_it_is_a_file() {
    let body = json!({ "type": "file", "name": "CODEOWNERS", "path": "CODEOWNERS", "size": 0,
        "submodule_git_url": "https://host.example/acme/owners.git" });
    let fault = Fault::on("/repos/acme/web/contents/CODEOWNERS").kind(FaultKind::Json(200, Vec::new(), body));
    let lab =
        Lab::new(acme().repository(repository("web")).fault(fault)).with(|config| config.controls("[CC6.6]"));
    judged(&lab, 0, "fail", "codeowners_not_a_file");
}

#[test]
fn a_symbolic_link_to_a_file_of_the_repository() {
    let web = repository("web")
        .file("CODEOWNERS", File::symlink("docs/OWNERS"))
        .file("docs/OWNERS", File::text("* @acme/web\n"));
    judged(&lab(web), 0, "pass", "ok");
}

#[test]
fn files_without_any_owner() {
    for content in ["", "\n\n", "# * @acme/web\n", "*\n", "*.rs\n/docs/\n", "* nobody\n", "* @\n", "\u{feff}"]
    {
        text(content, "fail", "codeowners_no_owner");
    }
}

#[test]
fn files_without_a_default_rule() {
    for content in [
        "/docs/ @acme/writers\n",
        "# * @acme/web\n/docs/ @acme/writers\n",
        "*\n/docs/ @acme/writers\n",
        "/* @acme/web\n",
        "*.* @acme/web\n",
        "*/** @acme/web\n",
        // A later line with the same scope and no owner cancels it.
        "* @acme/web\n*\n/docs/ @acme/writers\n",
        "* @acme/web\n**\n",
        // The line is invalid and has no effect.
        "!* @acme/web\n/docs/ @acme/writers\n",
        "[Everything]\n/docs/ @acme/writers\n",
    ] {
        text(content, "fail", "codeowners_no_default_rule");
    }
}

#[test]
fn files_with_a_default_rule() {
    for content in [
        "* @acme/web\n",
        "* @acme/web",
        "*  \t @someone  # everything\r\n",
        "** someone@acme.example\n",
        "/** @acme/web\n",
        "**/* @acme/web\n",
        "/docs/ @acme/writers\n* @acme/web\n",
        "*\n* @acme/web\n",
        "* @acme/web\n/docs/\n",
        // An invalid line has no effect, so it cannot cancel another.
        "* @acme/web\n* not-an-owner\n",
        "\u{feff}* @acme/web\n",
    ] {
        text(content, "pass", "ok");
    }
}

#[test]
fn invalid_lines_are_a_warning() {
    let web = repository("web").file("CODEOWNERS", File::text("* @acme/web\n!/docs/ @acme/x\n/a/ nobody\n"));
    let bundle = judged(&lab(web), 0, "pass", "ok");
    assert_eq!(bundle.warnings("acme/web"), ["codeowners_invalid_lines"]);
}

#[test]
fn bytes_that_are_not_text() {
    let mut content = b"* @acme/web\n# ".to_vec();
    content.extend([0xff, 0xfe, 0x00, 0x80, b'\n']);
    let bundle =
        judged(&lab(repository("web").file("CODEOWNERS", File::bytes(content.clone()))), 0, "pass", "ok");
    assert_eq!(decoded(&bundle.artifact(ARTIFACT).unwrap()), content);
}

/// `* @acme/web` and then comments, up to this many bytes.
fn large(size: usize) -> String {
    let mut content = String::from("* @acme/web\n");
    while content.len() < size {
        content.push_str("# This line is a comment and is there to be long, nothing else, nothing more.\n");
    }
    content.truncate(size);
    content
}

#[test]
fn a_file_of_one_to_three_megabytes_is_read_again_raw() {
    for size in [(1 << 20) + 1, 3 * 1024 * 1024 - 1] {
        let content = large(size);
        let lab = lab(repository("web").file("CODEOWNERS", File::text(content.clone())));
        let bundle = judged(&lab, 0, "pass", "ok");
        let artifact = bundle.artifact(ARTIFACT).unwrap();
        assert_eq!(artifact["size"], size);
        assert_eq!(artifact["encoding"], "base64");
        assert!(decoded(&artifact) == content.as_bytes(), "the artifact is the file");
        let requests = lab.server.requests();
        let accepts: Vec<&str> = requests
            .iter()
            .filter(|request| request.path().ends_with("/contents/CODEOWNERS"))
            .map(|request| request.header("accept").unwrap())
            .collect();
        assert_eq!(accepts, ["application/vnd.github+json", "application/vnd.github.raw+json"]);
    }
}

#[test]
fn a_file_of_a_megabyte_needs_no_second_call() {
    let lab = lab(repository("web").file(".github/CODEOWNERS", File::text(large(1 << 20))));
    judged(&lab, 0, "pass", "ok");
    let calls = lab.requested().into_iter().filter(|path| path.contains("/contents/")).count();
    assert_eq!(calls, 1);
}

#[test]
fn a_file_over_three_megabytes_counts_for_nothing() {
    for size in [3 * 1024 * 1024, 4_000_000] {
        let lab = lab(repository("web").file("CODEOWNERS", File::text(large(size))));
        let bundle = judged(&lab, 0, "fail", "codeowners_too_large");
        assert!(bundle.artifact(ARTIFACT).is_none());
    }
}

#[test]
fn an_empty_repository() {
    let bundle = judged(&lab(repository("web").empty()), 0, "not_applicable", "empty_repository");
    let actual = bundle.check_record("CC6.6", "acme/web")["actual"].to_string();
    assert!(actual.contains("empty"), "{actual}");
}

#[test]
fn refusals_are_no_absence() {
    let refused = |status: u16, message: &str| {
        let body = json!({ "message": message });
        let path = "/repos/acme/web/contents/.github/CODEOWNERS";
        let fault = Fault::on(path).kind(FaultKind::Json(status, Vec::new(), body));
        let web = repository("web").file("CODEOWNERS", File::text("* @acme/web\n"));
        Lab::new(acme().repository(web).fault(fault)).with(|config| config.controls("[CC6.6]"))
    };
    for (status, message, reason) in [
        (403, "Resource not accessible by personal access token", "permission_denied"),
        (
            403,
            "Upgrade to a better plan or make this repository public to enable this feature.",
            "plan_limit",
        ),
        (403, "Repository access blocked", "blocked"),
        (451, "Repository access blocked", "blocked"),
    ] {
        let lab = refused(status, message);
        let code = if reason == "permission_denied" { 3 } else { 0 };
        let bundle = judged(&lab, code, "not_verifiable", reason);
        assert_eq!(bundle.source()["denied"], 1, "{message}");
        assert!(bundle.artifact(ARTIFACT).is_none());
    }
}

#[test]
fn a_token_without_the_permission() {
    let fine_grained = Token::fine_grained(TOKEN)
        .resource_owner("acme")
        .permissions(["metadata:read", "administration:read"])
        .repositories(Selection::All);
    let web = repository("web").private(true).file("CODEOWNERS", File::text("* @acme/web\n"));
    let lab = Lab::new(acme().token(fine_grained).repository(web)).with(|config| config.controls("[CC6.6]"));
    judged(&lab, 3, "not_verifiable", "permission_denied");
}

#[test]
fn not_found_on_every_call_for_a_listed_repository() {
    let lab = Lab::new(acme().repository(repository("other")))
        .with(|config| config.controls("[CC6.1, CC6.6]").source("repos", "[acme/web, acme/other]"));
    let bundle = judged(&lab, 3, "not_verifiable", "not_found");
    // An existing repository without the file is a different case.
    assert_eq!(bundle.check("CC6.6", "acme/other"), ("fail".into(), "codeowners_missing".into()));
}

/// Every repository has a distinct artifact name, even if its own name looks like part of a path.
#[test]
fn names_become_file_names_one_to_one() {
    let owners = || File::text("* @acme/web\n");
    let names = ["web", "web.js", "web_codeowners", "Web-2", "a..b", ".github", "-"];
    let mut host = acme();
    for name in names {
        host = host.repository(repository(name).file("CODEOWNERS", owners()));
    }
    let lab = Lab::new(host).with(|config| config.controls("[CC6.6]"));
    let bundle = lab.collect(&[]).exits(0).bundle();
    for name in names {
        assert!(bundle.artifact(&format!("repo_acme_{name}_codeowners.json")).is_some(), "{name}");
    }
}
