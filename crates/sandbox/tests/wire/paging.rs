//! Listings in pages, their order, their links; conditional requests.

use crate::client::{Answer, get, get_with};
use sandbox::codehost::{CodeHost, Organization, Repository, Token};
use std::collections::BTreeMap;

const TOKEN: &str = "owner";

fn host(repositories: usize) -> CodeHost {
    let host = CodeHost::new()
        .organization(Organization::new("acme").id(107_424))
        .token(Token::classic(TOKEN).scopes(["repo"]))
        .token(Token::classic("other").scopes(["repo"]));
    // Names whose sort order differs from their order of creation.
    (0..repositories).fold(host, |host, n| {
        host.repository(
            Repository::new("acme", format!("r{:03}", (n * 37) % 1000)).private(n % 5 == 0).fork(n % 7 == 0),
        )
    })
}

fn links(answer: &Answer) -> BTreeMap<String, String> {
    let link = answer.header("link").unwrap_or_default();
    let parts = link.split(", ").filter_map(|part| part.split_once(">; rel=\""));
    parts
        .map(|(url, rel)| (rel.trim_end_matches('"').to_owned(), url.trim_start_matches('<').to_owned()))
        .collect()
}

fn names(answer: &Answer) -> Vec<String> {
    answer.json().as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_walk_through_250() {
    let server = host(250).serve().unwrap();
    let mut seen = Vec::new();
    let mut path = "/orgs/acme/repos?per_page=100&sort=full_name&direction=asc".to_owned();
    let mut pages = 0;
    loop {
        let answer = get(&server, TOKEN, &path);
        assert_eq!(answer.status, 200);
        seen.extend(names(&answer));
        pages += 1;
        let links = links(&answer);
        let expected: &[&str] = match pages {
            1 => &["last", "next"],
            2 => &["first", "last", "next", "prev"],
            _ => &["first", "prev"],
        };
        assert_eq!(links.keys().map(String::as_str).collect::<Vec<_>>(), expected, "page {pages}");
        let Some(next) = links.get("next") else { break };
        // The path changes to the organization's number; the origin does not.
        let rest = next.strip_prefix(&format!("{}/organizations/107424/repos?", server.url())).unwrap();
        assert_eq!(rest, format!("per_page=100&sort=full_name&direction=asc&page={}", pages + 1));
        path = next.strip_prefix(server.origin()).unwrap().to_owned();
    }
    assert_eq!((pages, seen.len()), (3, 250));
    assert!(seen.is_sorted(), "in the order of their names");
    seen.dedup();
    assert_eq!(seen.len(), 250);
}

#[test]
fn page_sizes_and_orders() {
    let server = host(120).serve().unwrap();
    for (query, length, first) in [
        ("", 30, "r403"),
        ("?per_page=100", 100, "r403"),
        ("?per_page=500", 100, "r403"),
        ("?per_page=0", 30, "r403"),
        ("?per_page=x&page=0", 30, "r403"),
        ("?per_page=100&page=2", 20, "r703"),
        ("?direction=asc", 30, "r000"),
        ("?sort=full_name", 30, "r000"),
        ("?sort=full_name&direction=desc", 30, "r999"),
        ("?sort=pushed", 30, "r403"),
        ("?type=private&per_page=100", 24, "r255"),
        ("?type=public&per_page=100", 96, "r403"),
        ("?type=forks&per_page=100", 18, "r403"),
        ("?type=sources&per_page=100", 100, "r366"),
    ] {
        let answer = get(&server, TOKEN, &format!("/orgs/acme/repos{query}"));
        let names = names(&answer);
        assert_eq!((names.len(), names[0].as_str()), (length, first), "{query}");
    }
    let beyond = get(&server, TOKEN, "/orgs/acme/repos?per_page=100&page=9");
    assert_eq!((beyond.status, beyond.text().as_str()), (200, "[]"));
    assert!(!links(&beyond).contains_key("next"));
    let whole = host(20).serve().unwrap();
    assert_eq!(get(&whole, TOKEN, "/orgs/acme/repos").header("link"), None);
    assert_eq!(get(&whole, TOKEN, "/orgs/acme/repos").header("x-accepted-oauth-scopes"), Some(""));
}

#[test]
fn pages_are_as_large_as_the_hosts() {
    let server = host(100).serve().unwrap();
    let page = get(&server, TOKEN, "/orgs/acme/repos?per_page=100");
    assert!((450_000..700_000).contains(&page.body.len()), "{} bytes", page.body.len());
    let packed = get_with(&server, TOKEN, "/orgs/acme/repos?per_page=100", &[("Accept-Encoding", "gzip")]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed.body), &mut unpacked).unwrap();
    assert!(unpacked == page.body);
    assert_eq!(packed.header("etag"), page.header("etag"));
}

#[test]
fn repositories_made_while_a_client_turns_pages() {
    let server = host(150).serve().unwrap();
    let first = names(&get(&server, TOKEN, "/orgs/acme/repos?per_page=100"));
    server.update(|host| host.put_repository(Repository::new("acme", "brand-new")));
    let second = names(&get(&server, TOKEN, "/orgs/acme/repos?per_page=100&page=2"));
    assert_eq!(second.first(), first.last(), "newest first, so the pages shift and one comes twice");
    assert_eq!(second.len(), 51);
}

#[test]
fn conditional_requests() {
    let server = host(40).serve().unwrap();
    for path in ["/orgs/acme", "/orgs/acme/repos", "/user", "/repos/acme/r000"] {
        let first = get(&server, TOKEN, path);
        let etag = first.header("etag").unwrap().to_owned();
        assert!(etag.starts_with("W/\""), "{etag}");
        let again = get_with(&server, TOKEN, path, &[("If-None-Match", &etag)]);
        assert_eq!(
            (again.status, again.body.len(), again.header("etag")),
            (304, 0, Some(etag.as_str())),
            "{path}"
        );
        assert_eq!(
            again.number("x-ratelimit-remaining"),
            first.number("x-ratelimit-remaining"),
            "not counted"
        );
        let strong = etag.trim_start_matches("W/");
        assert_eq!(get_with(&server, TOKEN, path, &[("If-None-Match", strong)]).status, 304);
        // A tag is valid for one token only.
        assert_eq!(get_with(&server, "other", path, &[("If-None-Match", &etag)]).status, 200, "{path}");
    }
    let etag = get(&server, TOKEN, "/orgs/acme").header("etag").unwrap().to_owned();
    server.update(|host| host.change_organization("acme", |acme| acme.two_factor(true)));
    assert_eq!(get_with(&server, TOKEN, "/orgs/acme", &[("If-None-Match", &etag)]).status, 200);
}

#[test]
fn a_host_that_gives_fewer_than_are_asked_for() {
    let server = host(10).page_size(4).serve().unwrap();
    let first = get(&server, TOKEN, "/orgs/acme/repos?per_page=100");
    assert_eq!(names(&first).len(), 4);
    assert!(links(&first)["last"].ends_with("page=3"), "{:?}", links(&first));
}

#[test]
fn a_host_that_calls_itself_something_else() {
    let server = host(3).page_size(2).public_url("https://code.example/").serve().unwrap();
    let first = get(&server, TOKEN, "/orgs/acme/repos");
    assert_eq!(first.json()[0]["url"], format!("https://code.example/repos/acme/{}", names(&first)[0]));
    assert!(links(&first)["next"].starts_with(&server.url()), "{:?}", links(&first));
}
