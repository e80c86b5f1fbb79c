//! The cache of earlier runs makes a run cheaper without changing its results.
//!
//! The reference is always the same run without a cache: same artifacts, same checks, same errors, same warnings.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use evidence::env::Clock;
use jiff::Timestamp;
use proptest::prelude::*;
use sandbox::codehost::{Actors, CodeHost, File, Organization, Protection, Repository, Role, Server, Token};
use sandbox::{Body, DEMO_TOKEN, Fault, FaultKind};

use crate::ran::{Ran, run};

/// An organization with every kind of cached answer: pages, settings, files, directories and absences.
pub(crate) fn host() -> CodeHost {
    let strong = || Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    let owners = || File::text("* @acme/all\n");
    let repository = |name: &str| Repository::new("acme", name);
    CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(Token::classic(DEMO_TOKEN).scopes(["read:org"]).role(Role::Owner).sees_private(true))
        .page_size(3)
        .repository(repository("alpha").protection("main", strong()).file("CODEOWNERS", owners()))
        .repository(repository("bravo").protection("main", strong()).file(".github/CODEOWNERS", owners()))
        .repository(repository("charlie"))
        .repository(repository("delta").protection("main", strong()).file("CODEOWNERS", owners()))
        .repository(repository("echo").archived(true).protection("main", strong()))
        .repository(repository("foxtrot").protection("main", strong()).file("CODEOWNERS", File::directory()))
        .repository(repository("golf").protection("main", strong()).file("CODEOWNERS", owners()))
}

/// Collects with this cache.
/// The time of every run: two runs that are compared record the same times.
static START: LazyLock<Timestamp> = LazyLock::new(Timestamp::now);

fn collect(server: &Server, cache: &Path, repos: &str) -> Ran {
    run(
        "[CC6.1, CC6.6, CC7.2]",
        &source(server, repos, true),
        &[("CODEHOST_TOKEN", DEMO_TOKEN), ("XDG_CACHE_HOME", cache.to_str().unwrap())],
        Clock::manual(*START),
    )
    .unwrap()
}

pub(crate) fn source(server: &Server, repos: &str, revalidate: bool) -> String {
    format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: {repos}\n    api_url: {}\n    revalidate: {revalidate}\n",
        server.url()
    )
}

/// Collects without a cache.
fn afresh(server: &Server, repos: &str) -> Ran {
    run(
        "[CC6.1, CC6.6, CC7.2]",
        &source(server, repos, false),
        &[("CODEHOST_TOKEN", DEMO_TOKEN)],
        Clock::manual(*START),
    )
    .unwrap()
}

/// The one file in the cache.
fn kept_file(cache: &Path) -> PathBuf {
    fs::read_dir(cache.join("evidence")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn what_has_not_changed_is_confirmed_and_costs_nothing() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    for repos in ["\"*\"", "[acme/alpha, acme/charlie, acme/delta]"] {
        let first = collect(&server, cache.path(), repos);
        assert_eq!(first.said(), afresh(&server, repos).said());
        server.clear_log();
        let second = collect(&server, cache.path(), repos);
        assert_eq!(second.said(), first.said());
        // An absence has no entity tag, so the tool requests a resource that has one.
        let mut requests = server.requests();
        // Which kept answers count depends on the account, so the host is asked for it each time.
        requests.retain(|request| request.path() != "/user");
        let counted: Vec<_> = requests.iter().filter(|request| request.status != Some(304)).collect();
        assert!(counted.is_empty(), "{counted:?}");
        assert_eq!(second.revalidated, requests.len() as u64);
        assert!(second.revalidated >= 5, "{}", second.revalidated);
    }
}

#[test]
fn the_file_is_its_owner_s_and_holds_no_token() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    collect(&server, cache.path(), "\"*\"");
    let file = kept_file(cache.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let bytes = fs::read(&file).unwrap();
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(holds(b"required_approving_review_count"), "records are kept");
    assert!(!holds(DEMO_TOKEN.as_bytes()) && !file.to_string_lossy().contains(DEMO_TOKEN));
    // The cache does not keep fields that the tool does not use.
    assert!(!holds(b"html_url") && !holds(b"stargazers_url"));
}

/// The changes to an organization, by name.
type Change = (&'static str, fn(&mut CodeHost));

const CHANGES: &[Change] = &[
    ("two factors are not required", |host| host.change_organization("acme", |o| o.two_factor(false))),
    ("members may write", |host| {
        host.change_organization("acme", |o| o.default_repository_permission("write"));
    }),
    ("members may not create", |host| {
        host.change_organization("acme", |o| o.members_can_create_repositories(false));
    }),
    ("members may not create public ones", |host| {
        host.change_organization("acme", |o| o.members_can_create_public_repositories(false));
    }),
    ("the organization has another number", |host| host.change_organization("acme", |o| o.id(77))),
    ("the user is no owner any more", |host| host.change_tokens(|token| token.role(Role::Member))),
    ("the token loses its scope", |host| host.change_tokens(|token| token.scopes(Vec::<String>::new()))),
    ("the token is another kind", |host| {
        let token = Token::fine_grained(DEMO_TOKEN).resource_owner("acme").role(Role::Owner);
        host.put_token(token.permissions(["metadata:read", "administration:read"]));
    }),
    ("the token is about to expire", |host| {
        let soon = Timestamp::now().checked_add(jiff::SignedDuration::from_hours(30)).unwrap();
        let soon = soon.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        host.change_tokens(|token| token.expires(soon.clone()));
    }),
    ("one review is enough", |host| protect(host, |p| p.reviews(1))),
    ("owners must review", |host| protect(host, Protection::code_owner_reviews)),
    ("commits dismiss reviews", |host| protect(host, Protection::dismiss_stale_reviews)),
    ("some may dismiss", |host| {
        protect(host, |p| p.dismissal_restrictions(Actors::new().user("ada").team("leads").app("bot")));
    }),
    ("other checks are required", |host| protect(host, |p| p.status_checks(["ci/test", "ci/lint"]))),
    ("no check is required", |host| protect(host, |p| p.status_checks(Vec::<String>::new()))),
    ("the branch must be up to date", |host| protect(host, Protection::strict)),
    ("administrators may do anything", |host| protect(host, |p| p.enforce_admins(false))),
    ("checks stand in the newer list only", |host| {
        let checks = serde_json::json!({"strict": true, "checks": [{"context": "ci/new", "app_id": null}]});
        protect(host, |p| {
            p.body(serde_json::json!({"url": "https://h/protection", "required_status_checks": checks, "enforce_admins": null}))
        });
    }),
    ("sections are null", |host| {
        protect(host, |p| {
            p.body(serde_json::json!({
                "url": "https://h/protection", "required_status_checks": {"strict": null, "contexts": null, "checks": null},
                "required_pull_request_reviews": {"required_approving_review_count": null}
            }))
        });
    }),
    ("the branch is unprotected", |host| host.change_repository("acme", "alpha", |r| r.unprotected("main"))),
    ("protection is switched off", |host| {
        host.change_repository("acme", "bravo", Repository::protection_disabled);
    }),
    ("the plan has no protection", |host| host.change_repository("acme", "delta", Repository::plan_limited)),
    ("the branch was unprotected and is protected", |host| {
        host.change_repository("acme", "charlie", |r| r.protection("main", Protection::new().reviews(1)));
    }),
    ("the file has another owner", |host| file(host, File::text("* @acme/others\n"))),
    ("the file has no default", |host| file(host, File::text("/docs/ @acme/all\n"))),
    ("the file is a directory", |host| file(host, File::directory())),
    ("the file is a submodule", |host| file(host, File::submodule("https://code.example/x.git"))),
    ("the file is a symbolic link", |host| file(host, File::symlink("nowhere"))),
    ("the file is empty", |host| file(host, File::text(""))),
    ("the file moved", |host| {
        host.change_repository("acme", "alpha", |r| {
            r.without_file("CODEOWNERS").file(".github/CODEOWNERS", File::text("* @acme/all\n"))
        });
    }),
    ("the file is gone", |host| host.change_repository("acme", "alpha", |r| r.without_file("CODEOWNERS"))),
    ("a file came into being", |host| {
        host.change_repository("acme", "charlie", |r| r.file("CODEOWNERS", File::text("* @acme/all\n")));
    }),
    ("a repository is archived", |host| host.change_repository("acme", "alpha", |r| r.archived(true))),
    ("a repository is not archived any more", |host| {
        host.change_repository("acme", "echo", |r| r.archived(false));
    }),
    ("a repository is blocked", |host| host.change_repository("acme", "alpha", |r| r.blocked("dmca"))),
    ("a repository is switched off", |host| host.change_repository("acme", "alpha", Repository::disabled)),
    ("a repository is emptied", |host| host.change_repository("acme", "alpha", Repository::empty)),
    ("a repository has vanished", |host| host.change_repository("acme", "alpha", Repository::vanished)),
    ("a repository is deleted", |host| host.remove_repository("acme", "bravo")),
    ("a repository is renamed", |host| host.change_repository("acme", "alpha", |r| r.renamed_to("azure"))),
    ("a repository is transferred", |host| {
        host.put_organization(Organization::new("others"));
        host.change_repository("acme", "golf", |r| r.renamed_to("others/golf"));
    }),
    ("a repository is added at the end", |host| host.put_repository(Repository::new("acme", "zulu"))),
    ("the last page becomes full", |host| {
        ["hotel", "india"].iter().for_each(|name| host.put_repository(Repository::new("acme", *name)));
    }),
    ("a page is added behind a full one", |host| {
        let names = ["hotel", "india", "juliet"];
        names.iter().for_each(|name| host.put_repository(Repository::new("acme", *name)));
    }),
    ("a repository is added in front", |host| host.put_repository(Repository::new("acme", "aaa"))),
];

fn protect(host: &mut CodeHost, change: impl FnOnce(Protection) -> Protection) {
    let strong = Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    host.change_repository("acme", "alpha", |repository| repository.protection("main", change(strong)));
}

fn file(host: &mut CodeHost, file: File) {
    host.change_repository("acme", "alpha", |repository| repository.file("CODEOWNERS", file));
}

const LISTED: &str = "[acme/alpha, acme/bravo, acme/charlie, acme/delta, acme/golf]";

#[test]
fn a_change_is_never_missed() {
    for repos in ["\"*\"", LISTED] {
        for (name, change) in CHANGES {
            let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
            collect(&server, cache.path(), repos);
            server.update(change);
            let changed = collect(&server, cache.path(), repos);
            assert_eq!(changed.said(), afresh(&server, repos).said(), "{name}, {repos}");
            // The cached change gives the same result.
            let again = collect(&server, cache.path(), repos);
            assert_eq!(again.said(), changed.said(), "{name}, {repos}, once more");
        }
    }
}

/// A token that may no longer read protections: the branch itself, which is readable without that permission, still
/// shows that it has none.
#[test]
fn an_unprotected_branch_is_confirmed_without_the_permission() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    collect(&server, cache.path(), "\"*\"");
    server.update(|host| {
        let token = Token::fine_grained(DEMO_TOKEN).resource_owner("acme").role(Role::Owner);
        host.put_token(token.permissions(["metadata:read", "contents:read"]));
    });
    let reasons = |run: &Ran, name: &str| {
        let question = ("branch-protection".to_string(), format!("acme/{name}"));
        run.checks[&question].iter().map(|(_, reason)| reason.clone()).collect::<Vec<String>>()
    };
    let (kept, fresh) = (collect(&server, cache.path(), "\"*\""), afresh(&server, "\"*\""));
    for run in [&kept, &fresh] {
        assert_eq!(reasons(run, "alpha"), ["permission_denied"]);
        assert_eq!(reasons(run, "charlie"), ["branch_unprotected"]);
    }
}

/// A file of more than a megabyte, which the tool reads as raw bytes.
#[test]
fn a_large_file_is_confirmed_and_followed() {
    let long =
        |lines| File::text(format!("{}* @acme/all\n", "/modules/of-many/ @acme/legacy\n".repeat(lines)));
    let put = |host: &mut CodeHost, file: File| {
        host.change_repository("acme", "delta", |repository| repository.file(".github/CODEOWNERS", file));
    };
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    server.update(|host| put(host, long(36_000)));
    let first = collect(&server, cache.path(), "[acme/delta]");
    server.clear_log();
    let second = collect(&server, cache.path(), "[acme/delta]");
    assert_eq!(second.said(), first.said());
    let counted = |request: &&sandbox::codehost::Request| request.status != Some(304);
    assert_eq!(
        server.requests().iter().filter(counted).map(|request| request.path()).collect::<Vec<_>>(),
        ["/user"]
    );
    assert_eq!(
        server.requests().len(),
        6,
        "organization, account, repository, protection, the file's record, the file"
    );
    for file in [long(36_001), long(1)] {
        server.update(|host| put(host, file));
        let changed = collect(&server, cache.path(), "[acme/delta]");
        assert_eq!(changed.said(), afresh(&server, "[acme/delta]").said());
    }
}

/// A change that no run can see would not test anything.
#[test]
fn every_change_but_those_of_headers_shows() {
    let server = host().serve().unwrap();
    let before = afresh(&server, "\"*\"");
    for (name, change) in CHANGES {
        let server = host().serve().unwrap();
        server.update(change);
        assert_ne!(afresh(&server, "\"*\"").said(), before.said(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// A sequence of changes with the same cache.
    #[test]
    fn a_history_of_changes_is_followed(steps in proptest::collection::vec(0..CHANGES.len(), 1..6)) {
        let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
        collect(&server, cache.path(), "\"*\"");
        for step in steps {
            let (name, change) = CHANGES[step];
            server.update(change);
            let changed = collect(&server, cache.path(), "\"*\"");
            let fresh = afresh(&server, "\"*\"");
            prop_assert_eq!(changed.said(), fresh.said(), "{}", name);
        }
    }

    /// A damaged cache file does not change a run's results, and the run repairs it.
    #[test]
    fn a_damaged_cache_changes_nothing(places in proptest::collection::vec(0.0..1.0, 1..4), damage in 0..5) {
        let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
        let truth = collect(&server, cache.path(), "\"*\"");
        let file = kept_file(cache.path());
        let mut bytes = fs::read(&file).unwrap();
        for place in places {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let at = (bytes.len() as f64 * place) as usize;
            match damage {
                0 => bytes[at] ^= 1,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b'{'),
                3 => drop(bytes.remove(at)),
                _ => bytes.extend_from_slice(&bytes.clone()[at..]),
            }
        }
        fs::write(&file, bytes).unwrap();
        let damaged = collect(&server, cache.path(), "\"*\"");
        prop_assert_eq!(damaged.said(), truth.said());
        server.clear_log();
        collect(&server, cache.path(), "\"*\"");
        let counts = |request: &sandbox::codehost::Request| {
            request.path() != "/user" && !matches!(request.status, Some(304 | 404))
        };
        prop_assert!(!server.requests().iter().any(counts));
    }
}

/// A run only trusts cache records that were written for its own account.
#[test]
fn another_account_s_records_are_not_used() {
    const OTHER: &str = "another-made-up-token-of-another-user";
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    collect(&server, cache.path(), "\"*\"");
    let stolen = fs::read(kept_file(cache.path())).unwrap();
    server.update(|host| {
        let token = Token::classic(OTHER).login("ada-auditor").scopes(["read:org"]);
        host.put_token(token.role(Role::Owner).sees_private(true));
    });
    let cache = tempfile::tempdir().unwrap();
    let with_other = || {
        run(
            "[CC6.1, CC6.6, CC7.2]",
            &source(&server, "\"*\"", true),
            &[("CODEHOST_TOKEN", OTHER), ("XDG_CACHE_HOME", cache.path().to_str().unwrap())],
            Clock::manual(*START),
        )
        .unwrap()
    };
    let first = with_other();
    fs::write(kept_file(cache.path()), stolen).unwrap();
    server.clear_log();
    let ran = with_other();
    // A run asks for the organization's count twice, and may confirm its own answer.
    assert_eq!((ran.revalidated, ran.requests), (first.revalidated, first.requests));
    let conditional = |request: &&sandbox::codehost::Request| request.header("if-none-match").is_some();
    assert!(server.requests().iter().filter(conditional).all(|request| request.path() == "/orgs/acme"));
    assert_eq!(ran.said(), afresh(&server, "\"*\"").said());
}

/// Without a writable cache, the run requests everything, and the manifest records that.
#[test]
fn without_a_place_to_keep_anything_a_run_is_complete() {
    let server = host().serve().unwrap();
    let truth = afresh(&server, "\"*\"");
    let directory = tempfile::tempdir().unwrap();
    let occupied = directory.path().join("file");
    fs::write(&occupied, "no directory").unwrap();
    for variables in [
        vec![("CODEHOST_TOKEN", DEMO_TOKEN)],
        vec![("CODEHOST_TOKEN", DEMO_TOKEN), ("XDG_CACHE_HOME", occupied.to_str().unwrap())],
    ] {
        let clock = Clock::manual(*START);
        let ran = run("[CC6.1, CC6.6, CC7.2]", &source(&server, "\"*\"", true), &variables, clock).unwrap();
        assert_eq!((&ran.files, &ran.checks, ran.revalidated), (&truth.files, &truth.checks, 0));
        assert!(ran.warnings.contains("records_not_kept"), "{:?}", ran.warnings);
    }
}

/// The tool does not follow a link in place of the file, and two simultaneous runs do not share the file.
#[test]
fn the_file_is_no_link() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    collect(&server, cache.path(), "\"*\"");
    let file = kept_file(cache.path());
    let aside = cache.path().join("somebody-else-s");
    fs::rename(&file, &aside).unwrap();
    let before = fs::read(&aside).unwrap();
    std::os::unix::fs::symlink(&aside, &file).unwrap();
    let ran = collect(&server, cache.path(), "\"*\"");
    assert!(ran.warnings.contains("records_not_kept"), "{:?}", ran.warnings);
    assert_eq!(fs::read(&aside).unwrap(), before);
}

/// "Not modified" is not a valid answer to an unconditional request.
#[test]
fn not_modified_without_a_condition_is_no_answer() {
    let cache = tempfile::tempdir().unwrap();
    let server = host()
        .fault(
            Fault::on("/repos/acme/alpha/branches/main/protection").kind(FaultKind::Status(304, Body::Empty)),
        )
        .serve()
        .unwrap();
    let ran = collect(&server, cache.path(), "\"*\"");
    assert_eq!(ran.errors.len(), 1, "{:?}", ran.errors);
    assert!(ran.lies(&afresh(&host().serve().unwrap(), "\"*\"")).is_empty());
}

/// The cache does not keep data that the bundle must not contain.
#[test]
fn a_secret_is_not_kept() {
    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    server.update(|host| {
        host.change_repository("acme", "alpha", |repository| {
            repository.file("CODEOWNERS", File::text(format!("# {SECRET}\n* @acme/all\n")))
        });
        protect(host, |protection| protection.status_checks([SECRET]));
    });
    for _ in 0..2 {
        let ran = collect(&server, cache.path(), "\"*\"");
        assert_eq!(ran.said(), afresh(&server, "\"*\"").said());
        let bytes = fs::read(kept_file(cache.path())).unwrap();
        use base64::Engine as _;
        let hidden = base64::engine::general_purpose::STANDARD.encode(format!("# {SECRET}\n* @acme/all\n"));
        for text in [SECRET, &hidden[..40]] {
            assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()));
        }
    }
}
