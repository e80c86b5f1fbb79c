//! Servers of the same family that differ from the public one: pages without `Link`, answers without a content type,
//! moved repositories. The tool must not omit anything silently, or assume what an answer does not say.

use evidence::observation::Seen;
use evidence_rules::rule::reason;
use sandbox::replay::{Recording, Replay};
use serde_json::{Value, json};

use super::collect;

const LISTING: &str = "/orgs/acme/repos?per_page=100&sort=full_name&direction=asc";

fn organization() -> Replay {
    let body = json!({"login": "acme", "id": 1, "two_factor_requirement_enabled": true});
    Replay::new().recording(Recording::new("/orgs/acme", 200, body)).otherwise(Recording::new(
        "/",
        404,
        json!({"message": "Not Found"}),
    ))
}

fn page(numbers: std::ops::Range<u32>) -> Value {
    numbers.map(|number| json!({"id": number, "full_name": format!("acme/service-{number:03}")})).collect()
}

/// The number of repositories that the run read.
fn in_scope(replay: Replay) -> usize {
    let server = replay.serve().unwrap();
    let collected = collect(&server.url(), &["controls: [CC7.2]"]).unwrap();
    let names = collected.observations.iter().filter(|one| one.kind.name == "branch_protection");
    names.filter(|observation| observation.subject.contains('/')).count()
}

#[test]
fn full_pages_without_a_link_are_followed_to_the_end() {
    let replay = organization()
        .recording(Recording::new(LISTING, 200, page(0..100)))
        .recording(Recording::new(format!("{LISTING}&page=2"), 200, page(100..200)))
        .recording(Recording::new(format!("{LISTING}&page=3"), 200, page(200..250)));
    assert_eq!(in_scope(replay), 250);
}

#[test]
fn exactly_one_full_page_is_the_whole_organization() {
    let replay = organization()
        .recording(Recording::new(LISTING, 200, page(0..100)))
        .recording(Recording::new(format!("{LISTING}&page=2"), 200, json!([])));
    assert_eq!(in_scope(replay), 100);
}

#[test]
fn an_empty_page_in_between_does_not_end_the_listing() {
    let next = |number: u32| format!("<https://api.github.com/orgs/acme/repos?page={number}>; rel=\"next\"");
    let replay = organization()
        .recording(Recording::new(LISTING, 200, page(0..1)).header("Link", next(2)))
        .recording(Recording::new("/orgs/acme/repos?page=2", 200, json!([])).header("Link", next(3)))
        .recording(Recording::new("/orgs/acme/repos?page=3", 200, page(1..2)));
    assert_eq!(in_scope(replay), 2);
}

#[test]
fn a_repository_without_an_id_on_two_pages_is_one() {
    let item = |name: &str| json!({"name": name});
    let next = "<https://api.github.com/orgs/acme/repos?page=2>; rel=\"next\"";
    let replay = organization()
        .recording(Recording::new(LISTING, 200, json!([item("a"), item("b")])).header("Link", next))
        .recording(Recording::new("/orgs/acme/repos?page=2", 200, json!([item("b"), item("c")])));
    assert_eq!(in_scope(replay), 3);
}

/// The tool interprets a refusal by its body, whatever its content type. An HTML page never means "does not exist".
#[test]
fn refusals_are_understood_by_their_body() {
    let protection = "/repos/acme/web/branches/main/protection";
    let listing = json!([{"id": 1, "full_name": "acme/web"}]);
    let table = [
        ("text/plain", 404, json!("{\"message\": \"Branch not protected\"}"), "nothing"),
        ("text/plain", 404, json!(""), "denied"),
        ("application/json", 404, json!({"message": "Branch not protected"}), "nothing"),
        ("text/plain", 403, json!("{\"message\": \"Resource not accessible by integration\"}"), "denied"),
        ("text/html", 404, json!("<html>no such page</html>"), "failed"),
        ("text/html", 403, json!("<html>Access denied by the proxy</html>"), "failed"),
        ("text/plain", 404, json!("404 page not found"), "failed"),
    ];
    for (kind, status, body, expected) in table {
        let answer = Recording::new(protection, status, body.clone()).header("Content-Type", kind);
        let server = organization()
            .recording(Recording::new(LISTING, 200, listing.clone()))
            .recording(answer)
            .serve()
            .unwrap();
        let collected = collect(&server.url(), &["controls: [CC7.2]"]).unwrap();
        let seen = match &collected.observations[0].seen {
            Seen::Nothing { .. } => "nothing",
            Seen::Denied { .. } => "denied",
            Seen::Failed(_) => "failed",
            other => panic!("{other:?}"),
        };
        assert_eq!(seen, expected, "{kind} {status} {body}");
    }
}

/// An answer from another repository's numeric address proves nothing about the requested repository.
#[test]
fn a_refusal_after_a_redirect_is_about_another_repository() {
    let moved = Recording::new(
        "/repos/acme/web/branches/main/protection",
        301,
        json!({"message": "Moved Permanently"}),
    )
    .header("Location", "https://api.github.com/repositories/9/branches/main/protection");
    let there = Recording::new(
        "/repositories/9/branches/main/protection",
        404,
        json!({"message": "Branch not protected"}),
    );
    let server = organization()
        .recording(Recording::new(LISTING, 200, json!([{"id": 1, "full_name": "acme/web"}])))
        .recording(moved)
        .recording(there)
        .serve()
        .unwrap();
    let collected = collect(&server.url(), &["controls: [CC7.2]"]).unwrap();
    assert!(
        matches!(&collected.observations[0].seen, Seen::Denied { reason, .. } if **reason == reason::NOT_FOUND),
        "{:?}",
        collected.observations
    );
}

/// A truncated refusal may be any refusal: the tool retries it, and never interprets it as "permission denied".
#[test]
fn a_refusal_that_breaks_off_is_no_refusal() {
    let path = "/repos/acme/finance-reports/branches/main/protection";
    let seen = |host: sandbox::codehost::CodeHost| {
        let server = host.serve().unwrap();
        let collected = collect(&server.url(), &["controls: [CC7.2]"]).unwrap();
        let found = collected.observations.into_iter().find(|one| &*one.subject == "acme/finance-reports");
        found.unwrap().seen
    };
    let whole = seen(sandbox::demo_organization());
    assert!(matches!(&whole, Seen::Denied { .. }), "{whole:?}");
    let cut = sandbox::Fault::on(path).kind(sandbox::FaultKind::Truncate(10));
    let broken = seen(sandbox::demo_organization().fault(cut.clone()));
    assert!(matches!(&broken, Seen::Failed(failed) if *failed.reason == reason::HOST_ERROR), "{broken:?}");
    // A temporary fault has no effect.
    let healed = seen(sandbox::demo_organization().fault(cut.times(2)));
    assert!(matches!(&healed, Seen::Denied { .. }), "{healed:?}");
}

/// Older servers refuse large files without their size. The tool then requests the raw bytes and accepts any answer
/// except an HTML page.
#[test]
fn a_page_is_no_file_even_where_bytes_were_asked_for() {
    use sandbox::{Fault, FaultKind};
    let path = "/repos/acme/storefront/contents/CODEOWNERS";
    let text =
        "This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API";
    let refusal = FaultKind::Json(403, Vec::new(), json!({"message": text}));
    let seen = |page: Fault| {
        let first = Fault::on(path).times(1).kind(refusal.clone());
        let server = sandbox::demo_organization().fault(first).fault(page).serve().unwrap();
        let collected = collect(&server.url(), &["controls: [CC6.6]"]).unwrap();
        collected.observations.into_iter().find(|one| &*one.subject == "acme/storefront").unwrap().seen
    };
    let page = Fault::on(path).kind(FaultKind::LoginPage);
    let stays = seen(page.clone());
    assert!(matches!(&stays, Seen::Failed(failed) if *failed.reason == reason::HOST_ERROR), "{stays:?}");
    let passes = seen(page.times(2));
    assert!(matches!(&passes, Seen::Artifact { .. }), "{passes:?}");
}

/// A missing file is a finding only if the repository exists. An answer that is neither the repository nor "Not Found"
/// proves nothing.
#[test]
fn only_the_repository_itself_shows_that_it_is_there() {
    let table = [
        (200, json!({"id": 1, "full_name": "acme/web"}), "nothing"),
        (200, json!({"ok": true}), "host_error"),
        (200, json!([]), "host_error"),
        (404, json!({"message": "Not Found"}), "not_found"),
        (400, json!({"message": "Bad Request"}), "host_error"),
        (410, json!({"message": "Gone"}), "host_error"),
        (403, json!({"message": "Resource not accessible by personal access token"}), "permission_denied"),
        (451, json!({"message": "Repository access blocked"}), "blocked"),
    ];
    for (status, body, expected) in table {
        let repository = Recording::new("/repos/acme/web", status, body.clone());
        let server = organization().recording(repository).serve().unwrap();
        let collected = super::collect_of(&server.url(), "[acme/web]", &["controls: [CC6.6]"]).unwrap();
        let seen = match &collected.observations[0].seen {
            Seen::Nothing { .. } => "nothing",
            Seen::Denied { reason, .. } => reason.code,
            Seen::Failed(failed) => failed.reason.code,
            other => panic!("{other:?}"),
        };
        assert_eq!(seen, expected, "{status} {body}");
    }
}

/// Pages that shift during the listing show some repositories twice and omit others.
#[test]
fn repositories_that_come_twice_are_one_and_missing_ones_are_noticed() {
    let counted =
        |total: u32| json!({"login": "acme", "id": 1, "public_repos": total, "total_private_repos": 0});
    let listed = json!([{"id": 1, "full_name": "acme/a"}, {"id": 1, "full_name": "acme/a"}, {"id": 2, "full_name": "acme/b"}]);
    for (total, missing) in [(2, 0), (3, 1)] {
        let server = Replay::new()
            .recording(Recording::new("/orgs/acme", 200, counted(total)))
            .recording(Recording::new(LISTING, 200, listed.clone()))
            .otherwise(Recording::new("/", 404, json!({"message": "Branch not protected"})))
            .serve()
            .unwrap();
        let collected = collect(&server.url(), &["controls: [CC7.2]"]).unwrap();
        let denied = collected.observations.iter().filter_map(|one| match &one.seen {
            Seen::Denied { reason, detail } if &*one.subject == "acme" => {
                Some((reason.code, detail.as_str()))
            }
            _ => None,
        });
        let denied: Vec<_> = denied.collect();
        let observed =
            collected.observations.iter().filter(|one| one.kind.name == "branch_protection").count();
        assert_eq!((denied.len(), observed), (missing, 2 + missing), "{denied:?}");
        let text = "2 repositories of acme; the list is incomplete";
        assert!(denied.iter().all(|found| *found == ("population_incomplete", text)), "{denied:?}");
    }
}
