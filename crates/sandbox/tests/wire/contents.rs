//! Files, directories, links, submodules, large files.

use crate::client::{get, get_with};
use base64::Engine as _;
use sandbox::codehost::{CodeHost, File, Organization, Repository, Token};
use serde_json::{Value, json};

const TOKEN: &str = "owner";

fn serve(repository: Repository) -> sandbox::Server {
    CodeHost::new()
        .organization(Organization::new("acme"))
        .repository(repository)
        .token(Token::classic(TOKEN).scopes(["repo"]))
        .token(Token::fine_grained("admin").resource_owner("acme").permissions(["administration:read"]))
        .serve()
        .unwrap()
}

fn at(path: &str) -> String {
    format!("/repos/acme/web/contents/{path}")
}

fn decoded(body: &Value) -> Vec<u8> {
    let text: String = body["content"].as_str().unwrap().split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn a_file() {
    let text = "* @acme/all\n".repeat(20);
    let server = serve(Repository::new("acme", "web").file(".github/CODEOWNERS", File::text(&text)));
    let answer = get(&server, TOKEN, &at(".github/CODEOWNERS"));
    let body = answer.json();
    assert_eq!((body["type"].as_str(), body["encoding"].as_str()), (Some("file"), Some("base64")));
    assert_eq!(
        (body["name"].as_str(), body["path"].as_str()),
        (Some("CODEOWNERS"), Some(".github/CODEOWNERS"))
    );
    assert_eq!(body["size"], text.len());
    assert_eq!(decoded(&body), text.as_bytes());
    let lines: Vec<_> = body["content"].as_str().unwrap().split('\n').collect();
    assert!(lines[..lines.len() - 2].iter().all(|line| line.len() == 60));
    assert_eq!(lines.last(), Some(&""), "it ends with a newline");
    assert_eq!(answer.header("etag"), Some(format!("W/\"{}\"", body["sha"].as_str().unwrap()).as_str()));
    assert!(!body["download_url"].as_str().unwrap().contains("token="));
    assert_eq!(get(&server, TOKEN, &at(".github%2FCODEOWNERS")).status, 200);
    assert_eq!(get(&server, TOKEN, &at(".github/codeowners")).status, 404);

    server.update(|host| host.change_repository("acme", "web", |web| web.private(true)));
    let body = get(&server, TOKEN, &at(".github/CODEOWNERS")).json();
    assert!(body["download_url"].as_str().unwrap().contains("?token=A"));
    let denied = get(&server, "admin", &at(".github/CODEOWNERS"));
    assert_eq!(denied.message(), "Resource not accessible by personal access token");
}

#[test]
fn an_empty_file_and_bytes_that_are_no_text() {
    let repository = Repository::new("acme", "web")
        .file("EMPTY", File::text(""))
        .file("BYTES", File::bytes([0xff, 0xfe, 0x00, b'*']));
    let server = serve(repository);
    let empty = get(&server, TOKEN, &at("EMPTY")).json();
    assert_eq!((empty["content"].as_str(), empty["encoding"].as_str()), (Some(""), Some("base64")));
    assert_eq!(empty["sha"], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    assert_eq!(decoded(&get(&server, TOKEN, &at("BYTES")).json()), [0xff, 0xfe, 0x00, b'*']);
}

#[test]
fn everything_that_is_not_a_file() {
    let repository = Repository::new("acme", "web")
        .file("CODEOWNERS", File::directory())
        .file("docs/OWNERS", File::text("* @acme/docs\n"))
        .file("docs/LINK", File::symlink("OWNERS"))
        .file("OUTSIDE", File::symlink("/etc/passwd"))
        .file("vendor", File::submodule("git@codehost.example:other/vendor.git"));
    let server = serve(repository);

    let directory = get(&server, TOKEN, &at("CODEOWNERS")).json();
    assert_eq!(directory[0]["path"], "CODEOWNERS/.gitkeep");
    assert!(directory[0].get("content").is_none());

    let link = get(&server, TOKEN, &at("docs/LINK")).json();
    assert_eq!((link["type"].as_str(), link["name"].as_str()), (Some("file"), Some("LINK")));
    assert_eq!(decoded(&link), b"* @acme/docs\n");
    assert_ne!(link["sha"], get(&server, TOKEN, &at("docs/OWNERS")).json()["sha"], "the link's own");

    let outside = get(&server, TOKEN, &at("OUTSIDE")).json();
    assert_eq!(
        (outside["type"].as_str(), outside["target"].as_str()),
        (Some("symlink"), Some("/etc/passwd"))
    );
    assert!(outside.get("content").is_none());

    let module = get(&server, TOKEN, &at("vendor")).json();
    assert_eq!(module["type"], "submodule");
    assert_eq!(module["submodule_git_url"], "git@codehost.example:other/vendor.git");
    assert!(module.get("content").is_none());

    let root = get(&server, TOKEN, "/repos/acme/web/contents").json();
    let kinds: Vec<_> =
        root.as_array().unwrap().iter().map(|e| (e["name"].clone(), e["type"].clone())).collect();
    let expected = [("CODEOWNERS", "dir"), ("OUTSIDE", "symlink"), ("docs", "dir"), ("vendor", "file")];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.into(), kind.into())));
    let new = get_with(&server, TOKEN, "/repos/acme/web/contents", &[("X-GitHub-Api-Version", "2026-03-10")])
        .json();
    assert_eq!(new[3]["type"], "submodule");

    let object = [("Accept", "application/vnd.github.object+json")];
    assert_eq!(get_with(&server, TOKEN, &at("docs"), &object).json()["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn large_files_come_raw_only() {
    let large = "# filler\n".repeat(130_000);
    let server = serve(Repository::new("acme", "web").file("CODEOWNERS", File::text(&large)));
    let body = get(&server, TOKEN, &at("CODEOWNERS")).json();
    assert_eq!((body["content"].as_str(), body["encoding"].as_str()), (Some(""), Some("none")));
    assert_eq!(body["size"], large.len());
    for media in
        ["application/vnd.github.raw+json", "application/vnd.github.raw", "application/vnd.github.v3.raw"]
    {
        let raw = get_with(&server, TOKEN, &at("CODEOWNERS"), &[("Accept", media)]);
        assert_eq!(
            raw.header("content-type"),
            Some("application/vnd.github.raw+json; charset=utf-8"),
            "{media}"
        );
        assert!(raw.body == large.as_bytes(), "{media}");
    }
}

#[test]
fn what_is_not_there() {
    let server =
        serve(Repository::new("acme", "web").branch("next").file_on("next", "CODEOWNERS", File::text("*\n")));
    for (path, message) in [
        (at("CODEOWNERS"), "Not Found"),
        (at("CODEOWNERS?ref=main"), "Not Found"),
        (at("CODEOWNERS?ref=gone"), "No commit found for the ref gone"),
        ("/repos/acme/web/contents/a/../CODEOWNERS".to_owned(), "Not Found"),
        ("/repos/acme/other/contents/CODEOWNERS".to_owned(), "Not Found"),
    ] {
        let answer = get(&server, TOKEN, &path);
        assert_eq!((answer.status, answer.message().as_str()), (404, message), "{path}");
    }
    assert_eq!(get(&server, TOKEN, &at("CODEOWNERS?ref=next")).status, 200);
    assert_eq!(get(&server, TOKEN, &at("CODEOWNERS?ref=refs%2Fheads%2Fnext")).status, 200);

    let slash = get(&server, TOKEN, &at("js/"));
    assert_eq!((slash.status, slash.header("content-type"), slash.body.len()), (302, Some("text/html"), 0));

    let empty = serve(Repository::new("acme", "web").empty());
    assert_eq!(get(&empty, TOKEN, &at("CODEOWNERS")).message(), "This repository is empty.");
    let disabled = serve(Repository::new("acme", "web").disabled().file("CODEOWNERS", File::text("*\n")));
    assert_eq!(get(&disabled, TOKEN, &at("CODEOWNERS")).status, 403);
    assert_eq!(get(&disabled, TOKEN, "/orgs/acme/repos").json()[0]["disabled"], true);
}

#[test]
fn directories_can_be_asked_again() {
    let server = serve(Repository::new("acme", "web").file("docs/CODEOWNERS", File::text("* @acme/docs\n")));
    for (path, files) in [("/repos/acme/web/contents/", 1), ("/repos/acme/web/contents/docs", 1)] {
        let answer = get(&server, TOKEN, path);
        assert_eq!(answer.json().as_array().map(Vec::len), Some(files), "{path}");
        let again = get_with(&server, TOKEN, path, &[("If-None-Match", answer.header("etag").unwrap())]);
        assert_eq!(again.status, 304, "{path}");
        let added = File::text("* @acme/all\n");
        server.update(|host| {
            host.change_repository("acme", "web", |web| {
                web.file("CODEOWNERS", added.clone()).file("docs/NEW", added)
            });
        });
        let changed = get_with(&server, TOKEN, path, &[("If-None-Match", answer.header("etag").unwrap())]);
        assert_eq!(changed.status, 200, "{path}");
        server.update(|host| {
            host.change_repository("acme", "web", |web| {
                web.without_file("CODEOWNERS").without_file("docs/NEW")
            });
        });
    }
    assert_eq!(get(&server, TOKEN, &at("docs/CODEOWNERS")).status, 200);
    let missing = get(&server, TOKEN, &at(".github"));
    assert_eq!((missing.status, missing.message().as_str()), (404, "Not Found"));
    let empty = serve(Repository::new("acme", "web").empty());
    for path in ["", ".github", "docs/CODEOWNERS"] {
        let answer = get(&empty, TOKEN, &at(path));
        assert_eq!((answer.status, answer.message().as_str()), (404, "This repository is empty."), "{path}");
    }
    server.update(|host| host.change_repository("acme", "web", |web| web.private(true)));
    let refused = get(&server, "admin", "/repos/acme/web/contents/");
    assert_eq!(
        (refused.status, refused.header("x-accepted-github-permissions")),
        (403, Some("contents=read"))
    );
}

#[test]
fn errors_that_the_host_finds_in_codeowners() {
    let text = "# comment\n* @nonexistent-user # Deliberate error\n\n*.txt docs@\n!secret @acme/all\n/a @Acme/Gone a@b.example";
    let server = serve(
        Repository::new("acme", "web")
            .file(".github/CODEOWNERS", File::text(text))
            .file("CODEOWNERS", File::text("* @nonexistent-user\n"))
            .unknown_owner("@nonexistent-user")
            .unknown_owner("@acme/gone"),
    );
    let path = "/repos/acme/web/codeowners/errors";
    let answer = get(&server, TOKEN, path);
    assert!(answer.header("etag").is_some());
    let unknown = "make sure @nonexistent-user exists and has write access to the repository";
    let gone = "make sure @Acme/Gone exists and has write access to the repository";
    let file = ".github/CODEOWNERS";
    assert_eq!(
        answer.json(),
        json!({"errors": [
            {"line": 2, "column": 3, "kind": "Unknown owner", "suggestion": unknown, "path": file,
                "source": "* @nonexistent-user # Deliberate error\n",
                "message": format!("Unknown owner on line 2: {unknown}\n\n  * @nonexistent-user # Deliberate error\n    ^")},
            {"line": 4, "column": 7, "kind": "Invalid owner", "suggestion": null, "path": file,
                "source": "*.txt docs@\n", "message": "Invalid owner on line 4:\n\n  *.txt docs@\n        ^"},
            {"line": 5, "column": 1, "kind": "Invalid pattern", "suggestion": null, "path": file,
                "source": "!secret @acme/all\n", "message": "Invalid pattern on line 5:\n\n  !secret @acme/all\n  ^"},
            {"line": 6, "column": 4, "kind": "Unknown owner", "suggestion": gone, "path": file,
                "source": "/a @Acme/Gone a@b.example",
                "message": format!("Unknown owner on line 6: {gone}\n\n  /a @Acme/Gone a@b.example\n     ^")},
        ]})
    );
    server.update(|host| host.change_repository("acme", "web", |web| web.without_file(file)));
    assert_eq!(get(&server, TOKEN, path).json()["errors"][0]["path"], "CODEOWNERS");
    server.update(|host| host.change_repository("acme", "web", |web| web.without_file("CODEOWNERS")));
    let missing = get(&server, TOKEN, path);
    assert_eq!((missing.status, missing.message().as_str()), (404, "Not Found"));
    assert_eq!(
        missing.json()["documentation_url"],
        "https://docs.github.com/rest/repos/repos#list-codeowners-errors"
    );
    let owners = File::text("* @acme/all\n");
    server.update(|host| host.change_repository("acme", "web", |web| web.file("docs/CODEOWNERS", owners)));
    assert_eq!(get(&server, TOKEN, path).json(), json!({"errors": []}));
    assert_eq!(get(&server, TOKEN, &format!("{path}?ref=gone")).status, 404);
}
