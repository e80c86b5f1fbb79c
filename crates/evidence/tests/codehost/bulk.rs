//! `bulk: true`: the facts and verdicts are those of reading one by one, whatever the host's state, with fewer requests; and
//! whatever goes wrong with a page, everything is read one by one.

use std::collections::BTreeMap;
use std::fs;

use evidence::observation::{Observation, Seen};
use fastrand::Rng;
use regex::Regex;
use sandbox::codehost::{
    Actors, Body, Bypass, CodeHost, Endpoint, Enforcement, Fault, FaultKind, File, Limits, Organization,
    Permission, Primary, Protection, Repository, Role, Ruleset, Sso, Target, Token, Visibility,
};
use sandbox::replay::Recording;
use sandbox::{DEMO_TOKEN, Server};
use serde_json::{Value, json};

use super::{Collected, collect};

/// How many random organizations are read both ways.
const ORGANIZATIONS: u64 = 30;

fn requests(server: &Server) -> (usize, usize) {
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    let all = server.requests();
    let queries = all.iter().filter(|request| request.path() == "/graphql").count();
    (queries, all.len() - queries)
}

/// What an observation states, without the requests and the time.
fn stated(observation: &Observation) -> String {
    let seen = match &observation.seen {
        Seen::Artifact { artifact, .. } => {
            format!("{} {}", artifact.path(), String::from_utf8_lossy(artifact.bytes()))
        }
        other => format!("{:?}", other.gap().map(|(reason, text)| (reason.code, text.to_owned()))),
    };
    let warnings: Vec<_> = observation
        .warnings
        .iter()
        .filter(|warning| warning.code != "bulk_unavailable")
        .map(|warning| (&warning.code, &warning.message))
        .collect();
    let Observation { kind, subject, facts, .. } = observation;
    timeless(&format!("{} {subject}: {seen} {facts:?} {warnings:?}", kind.name))
}

/// The text without the times at which a repository was listed and gone.
fn timeless(text: &str) -> String {
    let time = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap();
    time.replace_all(text, "TIME").into_owned()
}

/// Compares what a run states with what another does.
fn agree(bulk: &Collected, single: &Collected, at: &str) {
    let texts =
        |collected: &Collected| -> Vec<String> { collected.observations.iter().map(stated).collect() };
    let (bulk_texts, single_texts) = (texts(bulk), texts(single));
    for (in_bulk, one_by_one) in bulk_texts.iter().zip(&single_texts) {
        assert_eq!(in_bulk, one_by_one, "{at}");
    }
    assert_eq!(bulk_texts.len(), single_texts.len(), "{at}");
    let checks = |collected: &Collected| -> Vec<String> {
        collected.checks.iter().map(|check| timeless(check)).collect()
    };
    assert_eq!(checks(bulk), checks(single), "{at}");
    assert_eq!(bulk.warnings, single.warnings, "{at}");
}

fn is_warned(collected: &Collected) -> bool {
    let warnings = collected.observations.iter().flat_map(|observation| &observation.warnings);
    let found = warnings.filter(|warning| warning.code == "bulk_unavailable").count();
    assert!(found <= 1, "once is enough");
    found == 1
}

fn chance(random: &mut Rng, percent: u32) -> bool {
    random.u32(0..100) < percent
}

fn one_of<T: Clone>(random: &mut Rng, values: &[T]) -> T {
    values[random.usize(0..values.len())].clone()
}

fn actors(random: &mut Rng) -> Actors {
    let mut actors = Actors::new().user("mona");
    if chance(random, 50) {
        actors = actors.team("security").team("ops");
    }
    if chance(random, 30) {
        actors = actors.app("merge-bot");
    }
    // A page shows 50.
    (0..if chance(random, 5) { 60 } else { 0 }).fold(actors, |actors, n| actors.user(format!("user-{n}")))
}

fn protection(random: &mut Rng) -> Protection {
    let mut rule = Protection::new().enforce_admins(chance(random, 75));
    if chance(random, 80) {
        rule = rule.reviews(random.u32(0..4));
        if chance(random, 30) {
            rule = rule.code_owner_reviews();
        }
        if chance(random, 30) {
            rule = rule.dismiss_stale_reviews();
        }
        if chance(random, 15) {
            rule = rule.dismissal_restrictions(actors(random));
        }
        if chance(random, 15) {
            rule = rule.bypass_allowances(actors(random));
        }
    }
    if chance(random, 80) {
        let names = ["ci/build", "lint", "", "\"quoted\" \\ ünï"];
        rule = rule.status_checks(names.into_iter().take(random.usize(0..5)));
        if chance(random, 30) {
            rule = rule.strict();
        }
    }
    if chance(random, 3) {
        rule = rule.body(json!({"url": "https://h/repos/acme/x/branches/main/protection"}));
    }
    rule
}

fn ruleset(random: &mut Rng, id: u64) -> Ruleset {
    let mut ruleset = Ruleset::new(id, format!("rules {id}"));
    if chance(random, 40) {
        ruleset = ruleset.status_checks(["ci/build", "ci/test"].into_iter().take(random.usize(0..3)));
    }
    if chance(random, 30) {
        ruleset = ruleset.reviews(random.u32(0..3));
    }
    if chance(random, 15) {
        ruleset = ruleset.workflows([".github/workflows/gate.yml"]);
    }
    if chance(random, 50) {
        ruleset = ruleset.rule("deletion").rule("non_fast_forward");
    }
    if chance(random, 5) {
        // Nobody documents this one.
        ruleset = ruleset.rule_with("something_new", json!({"a": 1}));
    }
    if chance(random, 10) {
        ruleset = (0..60).fold(ruleset, |ruleset, _| ruleset.rule("required_signatures"));
    }
    if chance(random, 20) {
        ruleset = ruleset.branches(["~ALL"]);
    }
    if chance(random, 10) {
        ruleset = ruleset.enforcement(Enforcement::Evaluate);
    }
    if chance(random, 10) {
        ruleset = ruleset.target(one_of(random, &[Target::Tag, Target::Push, Target::Repository]));
    }
    if chance(random, 40) {
        ruleset = ruleset.bypass(one_of(
            random,
            &[Bypass::role(Permission::Admin), Bypass::organization_admin(), Bypass::actor("Team", 7)],
        ));
    }
    if chance(random, 30) {
        ruleset = ruleset.bypass_shown(chance(random, 50));
    }
    if chance(random, 10) {
        ruleset = ruleset.not_shown();
    }
    ruleset
}

fn owners(random: &mut Rng) -> File {
    match random.u32(0..15) {
        0 => File::text(""),
        1 => File::text("# nothing but a comment\n"),
        2 => File::text("/docs/ @acme/writers\n"),
        3 => File::text("* @acme/all\r\n*.sql @acme/data\r\n"),
        4 => File::text("\u{feff}* @acme/all\n"),
        5 => File::bytes(b"* @acme/all\n# \xff\xfe\n".to_vec()),
        6 => File::bytes(b"* @acme/all\n\0\n".to_vec()),
        7 => File::text(format!("* @acme/all\n{}", "# long\n".repeat(100_000))),
        8 => File::directory(),
        9 => File::symlink("../OWNERS"),
        10 => File::symlink("/nowhere"),
        11 => File::submodule("https://codehost.example/acme/owners.git"),
        12 => File::text("* @acme/all not-an-owner\n[a] @x\n"),
        _ => File::text("* @acme/all\n"),
    }
}

fn repository(random: &mut Rng, number: u64) -> Repository {
    let default = one_of(random, &["main", "main", "main", "trunk"]);
    let mut repository = Repository::new("acme", format!("Repo-{number:03}")).default_branch(default);
    repository = repository
        .visibility(one_of(random, &[Visibility::Public, Visibility::Private, Visibility::Internal]));
    repository = repository.archived(chance(random, 8));
    if chance(random, 20) {
        repository = repository.branch("release/v1").branch("trunk");
    }
    for branch in ["main", "trunk"] {
        if chance(random, 75) {
            repository = repository.protection(branch, protection(random));
        }
    }
    for (percent, path) in [(30, ".github/CODEOWNERS"), (60, "CODEOWNERS"), (15, "docs/CODEOWNERS")] {
        if chance(random, percent) {
            repository = repository.file(path, owners(random));
        }
    }
    repository = repository.file("OWNERS", File::text("* @acme/elsewhere\n"));
    if chance(random, 30) {
        repository = repository.file("docs/index.md", File::text("x"));
    }
    if chance(random, 5) {
        let file =
            one_of(random, &[File::text("x"), File::symlink("docs"), File::submodule("https://c.example/x")]);
        repository = repository.without_file(".github/CODEOWNERS").file(".github", file);
    }
    for id in 0..random.u64(0..3) {
        if chance(random, 30) {
            repository = repository.ruleset(ruleset(random, number * 10 + id));
        }
    }
    if chance(random, 3) {
        let odd = one_of(
            random,
            &[
                json!({"type": "required_status_checks", "ruleset_source_type": "Repository", "ruleset_source": "acme/x"}),
                json!({"type": "pull_request", "parameters": {"required_approving_review_count": 1}}),
            ],
        );
        repository = repository.rule("main", odd);
    }
    if chance(random, 20) {
        repository =
            repository.permission(one_of(random, &[Permission::Pull, Permission::Admin, Permission::Push]));
    }
    for endpoint in
        [Endpoint::Protection, Endpoint::Rules, Endpoint::Contents, Endpoint::Branch, Endpoint::Ruleset]
    {
        if chance(random, 3) {
            let (status, message) = one_of(
                random,
                &[
                    (403, "Resource not accessible by personal access token"),
                    (404, "Not Found"),
                    (500, "Server Error"),
                ],
            );
            repository = repository.refusal(endpoint, status, message);
        }
    }
    match random.u32(0..40) {
        0 => repository.empty().size(0),
        1 => repository.vanished(),
        2 => repository.protection_disabled(),
        3 => repository.plan_limited(),
        4 => repository.disabled(),
        5 => repository.blocked("tos"),
        6 => repository.renamed_to(&format!("renamed-{number}")),
        _ => repository,
    }
}

fn token(random: &mut Rng) -> Token {
    let role = one_of(random, &[Role::Owner, Role::Owner, Role::Member]);
    let token = match random.u32(0..3) {
        0 => Token::classic(DEMO_TOKEN).scopes(["read:org"]).sees_private(true),
        1 => Token::fine_grained(DEMO_TOKEN).resource_owner("acme").permissions([
            "metadata:read",
            "contents:read",
            "administration:read",
        ]),
        _ => {
            let all = ["metadata:read", "contents:read", "administration:read"];
            let some: Vec<&str> = all.into_iter().filter(|_| random.u32(0..3) > 0).collect();
            Token::fine_grained(DEMO_TOKEN).resource_owner("acme").permissions(some)
        }
    };
    token.login("olivia").role(role)
}

fn host(random: &mut Rng) -> CodeHost {
    let mut organization = Organization::new("acme").two_factor(true);
    if chance(random, 10) {
        organization = organization.plan("free");
    }
    if chance(random, 10) {
        organization = organization.sso(Sso::PartialResults);
    }
    for id in 9_000..9_000 + random.u64(0..3) {
        organization = organization.ruleset(ruleset(random, id));
    }
    let mut host =
        CodeHost::new().organization(organization).token(token(random)).limits(Limits::self_hosted());
    if chance(random, 20) {
        host = host.enterprise_ruleset("big-corp", ruleset(random, 9_900));
    }
    let count = one_of(random, &[1, 3, 12, 30, 60, 110]);
    (0..count).fold(host, |host, number| host.repository(repository(random, number)))
}

/// The facts of a random organization by both ways.
#[test]
fn whatever_the_state_the_facts_and_verdicts_are_the_same() {
    let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..ORGANIZATIONS {
        let mut random = Rng::with_seed(seed);
        let server = host(&mut random).serve().unwrap();
        let branch = one_of(&mut random, &["", "branch: ~DEFAULT_BRANCH", "branch: main", "branch: trunk"]);
        let extra: Vec<&str> = [branch].into_iter().filter(|line| !line.is_empty()).collect();
        let single = collect(&server.url(), &extra).unwrap();
        let (_, one_by_one) = requests(&server);
        server.clear_log();
        let bulk = collect(&server.url(), &[extra.as_slice(), &["bulk: true"]].concat()).unwrap();
        let (queries, rest) = requests(&server);
        agree(&bulk, &single, &format!("seed {seed}, {extra:?}"));
        assert!(!is_warned(&bulk), "seed {seed}");
        assert!(
            rest <= one_by_one,
            "seed {seed}: {rest} requests and {queries} queries instead of {one_by_one}"
        );
        let posted = bulk
            .observations
            .iter()
            .filter(|observation| observation.requests.iter().any(|asked| asked.method == "POST"));
        for observation in posted {
            *reached.entry(observation.kind.name).or_default() += 1;
            let path = &observation.requests[0].path;
            assert!(path.starts_with("/graphql?query=") && path.contains("&sha256="), "{path}");
            assert_eq!((observation.requests.len(), observation.requests[0].status), (1, Some(200)));
        }
    }
    println!("bulk: {reached:?}");
    assert!(reached.values().all(|count| *count > 100) && reached.len() == 2, "{reached:?}");
}

/// The demo's organization, which has something of everything.
#[test]
fn the_demo_is_the_same() {
    for branch in ["branch: main", "branch: ~DEFAULT_BRANCH"] {
        let server = sandbox::demo_organization().serve().unwrap();
        server.update(CodeHost::clear_faults);
        let single = collect(&server.url(), &[branch]).unwrap();
        let bulk = collect(&server.url(), &[branch, "bulk: true"]).unwrap();
        agree(&bulk, &single, branch);
        assert!(bulk.account.bulk.unwrap().queries >= 2);
    }
}

/// Classic rules as the host sends them, those that are published and those of `EVIDENCE_RECORDINGS`.
fn recorded_rules() -> Vec<Value> {
    let on = json!({"enabled": true});
    let off = json!({"enabled": false});
    let people =
        json!({"users": [{"login": "mona", "id": 1}], "teams": [{"slug": "ops"}], "apps": [{"slug": "bot"}]});
    let mut rules = vec![
        json!({"enforce_admins": on, "allow_force_pushes": off, "allow_deletions": off}),
        json!({
            "required_status_checks": {"strict": true, "contexts": ["ci"], "checks": [{"context": "ci", "app_id": null}]},
            "required_pull_request_reviews": {
                "dismissal_restrictions": people, "bypass_pull_request_allowances": people,
                "dismiss_stale_reviews": true, "require_code_owner_reviews": true,
                "required_approving_review_count": 2, "require_last_push_approval": true
            },
            "enforce_admins": on, "restrictions": people, "required_linear_history": on,
            "allow_force_pushes": on, "allow_deletions": on, "required_conversation_resolution": on
        }),
        json!({
            "required_status_checks": {"strict": false, "contexts": [], "checks": []},
            "required_pull_request_reviews": {
                "dismiss_stale_reviews": false, "require_code_owner_reviews": false,
                "required_approving_review_count": 0, "require_last_push_approval": false
            },
            "enforce_admins": off, "required_signatures": off, "allow_force_pushes": off, "allow_deletions": off
        }),
    ];
    let more =
        std::env::var_os("EVIDENCE_RECORDINGS").into_iter().flat_map(|path| fs::read_dir(path).unwrap());
    for entry in more {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let body = Recording::read(&path).unwrap().body;
            let url = body["url"].as_str().unwrap_or_default();
            rules.extend(url.ends_with("/protection").then(|| body.clone()));
        }
    }
    rules
}

/// Recorded rules are the same facts, whichever interface sends them.
#[test]
fn recorded_rules_are_the_same() {
    let token = Token::classic(DEMO_TOKEN).scopes(["read:org"]).sees_private(true).role(Role::Owner);
    // The first repository is read one by one in any case.
    let host = CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(token)
        .repository(Repository::new("acme", "a"));
    let server = host.serve().unwrap();
    let rules = recorded_rules();
    let count = rules.len();
    for (number, mut rule) in rules.into_iter().enumerate() {
        let name = format!("recorded-{number}");
        let url = format!("{}/repos/acme/{name}/branches/main/protection", server.url());
        rule["enforce_admins"]["url"] = json!(format!("{url}/enforce_admins"));
        rule["url"] = json!(url);
        let protection = Protection::new().body(rule);
        server.update(|host| {
            host.put_repository(Repository::new("acme", &name).protection("main", protection));
        });
    }
    let single = collect(&server.url(), &[]).unwrap();
    let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
    agree(&bulk, &single, "recorded rules");
    let from_page = bulk.observations.iter().filter(|observation| {
        let is_artifact = matches!(observation.seen, Seen::Artifact { .. });
        is_artifact && observation.requests.iter().any(|asked| asked.path.contains("query=branch-protection"))
    });
    assert_eq!(from_page.count(), count);
}

/// 4 % unprotected, 10 % without CODEOWNERS: what is asked beside the pages.
#[test]
fn the_rest_is_what_a_page_does_not_prove() {
    let server = sandbox::large_organization(500).serve().unwrap();
    let single = collect(&server.url(), &[]).unwrap();
    server.clear_log();
    let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
    agree(&bulk, &single, "500 repositories");
    // The repository that is tried first is read one by one: its protection, and its file in the second place.
    let (tried, listing) = (1 + 2, 2 + 5 + 1);
    // Twenty are unprotected, and 25 more need the rules of rulesets.
    assert_eq!(requests(&server), (20, listing + tried + 20 + 45));
    let record = bulk.account.bulk.unwrap();
    assert_eq!((record.queries, record.points), (20, 20));
    assert_eq!(single.account.bulk, None);
}

/// The schema describes the rules of a branch as those of the repository's and the organization's rulesets. So they are
/// asked for by the interface that shows an enterprise's too.
#[test]
fn rulesets_of_an_enterprise_are_seen() {
    let ruleset = Ruleset::new(7, "everywhere").reviews(2).status_checks(["ci/build"]).branches(["~ALL"]);
    let host = sandbox::large_organization(60).enterprise_ruleset("big", ruleset);
    let server = host.serve().unwrap();
    let single = collect(&server.url(), &[]).unwrap();
    server.clear_log();
    let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
    agree(&bulk, &single, "an enterprise's ruleset");
    assert!(requests(&server).0 >= 4);
    let is_unprotected = |check: &&String| check.contains("branch_unprotected");
    assert_eq!(bulk.checks.iter().filter(is_unprotected).count(), 0, "{:?}", bulk.checks);
    let without = sandbox::large_organization(60).serve().unwrap();
    let without = collect(&without.url(), &["bulk: true"]).unwrap();
    assert!(without.checks.iter().filter(is_unprotected).count() > 0, "{:?}", without.checks);
}

/// Reads 120 usual repositories in bulk while this goes wrong, and then one by one while nothing does. Returns whether bulk
/// was given up, and the number of queries.
fn despite(fault: Fault) -> (bool, usize) {
    let name = format!("{fault:?}");
    let server = sandbox::large_organization(120).fault(fault).serve().unwrap();
    let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
    let (queries, _) = requests(&server);
    server.update(CodeHost::clear_faults);
    agree(&bulk, &collect(&server.url(), &[]).unwrap(), &name);
    (is_warned(&bulk), queries)
}

fn json_answer(value: Value) -> FaultKind {
    FaultKind::Json(200, Vec::new(), value)
}

/// What goes wrong now and then costs parts of pages, and nothing else.
#[test]
fn a_page_that_fails_is_asked_again_in_parts() {
    let limits =
        json!({"data": {"nodes": []}, "errors": [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": "limits"}]});
    for kind in [
        FaultKind::Status(502, Body::Json),
        FaultKind::Status(502, Body::Html),
        FaultKind::Status(504, Body::Empty),
        FaultKind::Reset,
        FaultKind::Truncate(100),
        FaultKind::DeepJson(10),
        json_answer(limits),
        json_answer(json!({"data": {"nodes": [null]}})),
        json_answer(
            json!({"errors": [{"message": "Something went wrong while executing your query on a day."}]}),
        ),
    ] {
        let name = format!("{kind:?}");
        let (given_up, queries) = despite(Fault::on("/graphql").times(2).kind(kind));
        assert!(!given_up, "{name}");
        assert!((7..30).contains(&queries), "{name}: {queries} queries");
    }
}

/// A host that never answers, in whatever way, is read one by one.
#[test]
fn a_host_without_the_interface_is_read_one_by_one() {
    let forbidden = json!({"message": "Resource not accessible by integration"});
    let field =
        json!({"errors": [{"message": "Field 'prefix' doesn't exist on type 'Ref'", "path": ["query"]}]});
    for (kind, most) in [
        (FaultKind::Json(404, Vec::new(), json!({"message": "Not Found"})), 3),
        (FaultKind::Json(403, Vec::new(), forbidden), 3),
        (json_answer(field), 3),
        (FaultKind::Status(500, Body::Json), 40),
        (FaultKind::Status(502, Body::Html), 40),
        (FaultKind::LoginPage, 40),
        (json_answer(json!({"data": null})), 40),
        (json_answer(json!([])), 40),
        (FaultKind::Redirect("https://elsewhere.example/graphql".to_string()), 40),
    ] {
        let name = format!("{kind:?}");
        let (given_up, queries) = despite(Fault::on("/graphql").kind(kind));
        assert!(given_up, "{name}");
        assert!((1..=most).contains(&queries), "{name}: {queries} queries");
    }
}

/// An old server, and one that has its interface beside `/api/v3`.
#[test]
fn self_hosted_servers() {
    for (old, queries) in [(true, 1..4), (false, 6..7)] {
        let server = sandbox::large_organization(120).base_path("/api/v3").old_server(old).serve().unwrap();
        let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
        agree(&bulk, &collect(&server.url(), &[]).unwrap(), "self-hosted");
        assert_eq!(is_warned(&bulk), old);
        let asked = server.requests();
        let asked = asked.iter().filter(|request| request.method == "POST").count();
        assert!(queries.contains(&asked), "old {old}: {asked} queries");
    }
}

/// An error beside data: what it touches is asked otherwise, the rest counts.
#[test]
fn an_error_costs_what_it_names() {
    let permissions = ["metadata:read", "contents:read"];
    let token =
        Token::fine_grained(DEMO_TOKEN).resource_owner("acme").permissions(permissions).role(Role::Owner);
    let server = sandbox::large_organization(120).token(token).serve().unwrap();
    let single = collect(&server.url(), &[]).unwrap();
    server.clear_log();
    let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
    agree(&bulk, &single, "without administration");
    let of = |part: &str| server.requests().iter().filter(|request| request.path().ends_with(part)).count();
    // The host refuses each classic rule, in the page and otherwise.
    assert_eq!((of("/protection"), of("/rules/branches/main")), (120, 120));
    assert_eq!(of("/contents/CODEOWNERS"), 1);
}

/// Points are a limit of their own: the run waits for them, and not for the other limit.
#[test]
fn points_are_waited_for() {
    let limits = Limits::primary(Primary::new(5_000, 5_000).reset_in(600));
    let token = Token::classic(DEMO_TOKEN).scopes(["read:org"]).sees_private(true);
    let spent = Fault::on("/graphql").times(1).kind(FaultKind::RateHeaders {
        limit: 5_000,
        remaining: 40,
        reset_in: 300,
    });
    let refused = json!({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]});
    let reset = jiff::Timestamp::now().as_second() + 200;
    let headers = vec![
        ("X-RateLimit-Limit".to_string(), "5000".to_string()),
        ("X-RateLimit-Remaining".to_string(), "0".to_string()),
        ("X-RateLimit-Reset".to_string(), reset.to_string()),
    ];
    let limited = Fault::on("/graphql").times(1).kind(FaultKind::Json(200, headers, refused));
    for fault in [spent, limited] {
        let host = sandbox::large_organization(120).token(token.clone()).limits(limits.clone());
        let server = host.fault(fault).serve().unwrap();
        let bulk = collect(&server.url(), &["bulk: true"]).unwrap();
        assert_eq!(bulk.waits.len(), 1, "{:?}", bulk.waits);
        assert!((190..=310).contains(&bulk.waits[0].1.as_secs()), "{:?}", bulk.waits);
        assert!(!is_warned(&bulk));
    }
}
