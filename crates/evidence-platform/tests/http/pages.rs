//! The pages as a browser receives them: sign-in, contents, escaping, refusals.

use evidence_bundle::document::{Check, Manifest, NormalizedControl, Warning};
use evidence_bundle::{Status, by_hand};
use evidence_platform::api::access::Access;
use evidence_platform::api::routes::table;
use evidence_platform::role::Role;
use evidence_platform::service::Operator;
use sha2::Digest as _;

use crate::running::{Answer, Running};
use crate::stock;
use crate::support::bundles;

/// A bundle's page, and the stored bundles, newest first.
async fn stored(running: &Running, key: &str, numbers: &[u32]) -> Vec<String> {
    let mut ids = Vec::new();
    for number in numbers {
        let answer = running.upload(key, &bundles::bundle(*number)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        ids.push(answer.json["bundle_id"].as_str().unwrap().to_owned());
    }
    ids
}

pub(crate) fn is_page(answer: &Answer) {
    assert_eq!(answer.kind, "text/html; charset=utf-8", "{answer:?}");
    assert_eq!(
        answer.headers["content-security-policy"],
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    assert_eq!(answer.headers["cache-control"], "no-store");
    let text = answer.text();
    assert!(text.starts_with("<!doctype html>") && text.contains("<html lang=\"en\">"), "{text}");
    // No script, no inline style, no external resource in any tag. Text is escaped and may contain anything.
    for tag in text.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        assert!(!tag.starts_with("script") && !tag.contains("://") && !tag.contains("javascript:"), "{tag}");
        assert!(!tag.contains(" style=") && !tag.contains(" on"), "{tag}");
    }
    assert_eq!(text.matches("<h1").count(), 1, "{text}");
}

#[tokio::test]
async fn a_person_signs_in_looks_and_signs_out() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let ids = stored(&running, &tenant.upload, &[1, 2]).await;

    let answer = running.page("/", None).await;
    assert_eq!((answer.status, answer.headers["location"].to_str().unwrap()), (303, "/bundles"));
    let asked = format!("/compare?from={}&to={}", ids[0], ids[1]);
    let form = running.page(&asked, None).await;
    assert_eq!(form.status, 401);
    is_page(&form);
    // The sign-in form leads to the requested page.
    let next = format!("/compare?from={}&#38;to={}", ids[0], ids[1]);
    assert!(form.text().contains(&format!("name=\"next\" value=\"{next}\"")), "{}", form.text());
    let next = asked.replace('&', "%26");
    let answer = running.submit("/sign-in", &format!("key=%20{}%0A&next={next}", tenant.read), None).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(answer.headers["location"], asked.as_str());
    let cookie = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    assert!(!cookie.contains(&tenant.read));
    let cookie = cookie.split(';').next().unwrap();

    for path in ["/bundles".to_owned(), format!("/bundles/{}", ids[0]), asked] {
        let answer = running.page(&path, Some(cookie)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        is_page(&answer);
        assert!(answer.text().contains("Name of acme"), "{path}");
        // A page for one person must not be cached for another.
        assert!(!answer.text().contains(&tenant.read));
    }
    assert_eq!(running.submit("/sign-out", "", Some(cookie)).await.headers["location"], "/sign-in");
    assert_eq!(running.page("/bundles", Some(cookie)).await.status, 401);
    let log = running.get("/api/v1/audit-log", &tenant.admin).await;
    let actions: Vec<_> =
        log.json["items"].as_array().unwrap().iter().map(|item| item["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..2], ["session.end", "session.begin"]);
    assert!(!log.text().contains(cookie.split('=').next_back().unwrap()), "the token is nowhere");
}

#[tokio::test]
async fn a_refused_sign_in_says_why() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let unknown = evidence_platform::secret::ApiKey::random().unwrap().reveal().to_owned();
    let table = [
        (tenant.upload.as_str(), 403, "role upload"),
        (&tenant.revoked, 401, "No such key"),
        (&unknown, 401, "No such key"),
        ("", 401, "No such key"),
        ("<b>", 401, "No such key"),
    ];
    for (key, status, why) in table {
        let answer = running.submit("/sign-in", &format!("key={key}"), None).await;
        assert_eq!(answer.status, status, "{key}");
        is_page(&answer);
        assert!(answer.text().contains(why), "{key}: {}", answer.text());
        assert!(!answer.headers.contains_key("set-cookie"));
        assert!(key.is_empty() || !answer.text().contains(key), "what was typed is not shown");
    }
    for (fields, status) in
        [("key=a&key=b", 400), ("key=a&other=b", 400), (&*format!("key={}", "a".repeat(100_000)), 413)]
    {
        let answer = running.submit("/sign-in", fields, None).await;
        assert_eq!(answer.status, status);
        is_page(&answer);
    }
}

#[tokio::test]
async fn a_form_of_another_site_does_nothing() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    for path in ["/sign-in", "/sign-out"] {
        for (header, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
            let request =
                running.client.post(running.url(path)).header(header, value).header("cookie", &cookie);
            let answer = Answer::of(request.body(format!("key={}", tenant.read)).send().await.unwrap()).await;
            assert_eq!(answer.status, 400, "{path} {header}: {answer:?}");
            assert!(!answer.headers.contains_key("set-cookie"));
        }
    }
    assert_eq!(running.page("/bundles", Some(&cookie)).await.status, 200, "still signed in");
}

#[tokio::test]
async fn a_session_ends_by_itself_and_with_its_key() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let made = Operator::of(&running.service).create_key("acme", Role::Read, "x").await.unwrap();
    let (mine, other) = (running.sign_in(made.key.reveal()).await, running.sign_in(&tenant.read).await);
    Operator::of(&running.service).revoke_key("acme", &made.row.prefix).await.unwrap();
    assert_eq!(running.page("/bundles", Some(&mine)).await.status, 401);
    assert_eq!(running.page("/bundles", Some(&other)).await.status, 200);
    running.hands.advance_days(1);
    assert_eq!(running.page("/bundles", Some(&other)).await.status, 401);
    running.service.sweep().await.unwrap();
}

#[tokio::test]
async fn the_timeline_and_the_bundle_say_what_the_bundles_say() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let empty = running.page("/bundles", Some(&cookie)).await;
    is_page(&empty);
    assert!(empty.text().contains("No bundles yet") && empty.text().contains("--organization acme"));

    let ids = stored(&running, &tenant.upload, &[1, 2, 3]).await;
    let text = running.page("/bundles", Some(&cookie)).await.text();
    assert_eq!(text.matches("<svg class=\"timeline\"").count(), 1);
    assert_eq!(text.matches("class=\"cell fail\"").count(), 2);
    assert_eq!(text.matches("class=\"cell pass\"").count(), 1);
    // In the picture time runs to the right, in the table downwards.
    let places: Vec<_> =
        ids.iter().map(|id| text.find(&format!("/bundles/{id}\" tabindex")).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let places: Vec<_> = ids.iter().map(|id| text.find(&format!("/bundles/{id}\"><time")).unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a > b), "{places:?}");
    assert!(text.contains("1 failed</b>, 1 check"), "{text}");
    assert!(text.contains("<b>Scope:</b> the only repository of acme</p>"), "{text}");

    // Paging.
    let text = running.page("/bundles?limit=2", Some(&cookie)).await.text();
    let next = text.split("href=\"/bundles?cursor=").nth(1).unwrap().split('"').next().unwrap();
    let older = running.page(&format!("/bundles?cursor={next}"), Some(&cookie)).await.text();
    assert!(older.contains(&ids[0]) && !older.contains(&ids[1]) && older.contains("Older bundles"));

    let text = running.page(&format!("/bundles/{}", ids[0]), Some(&cookie)).await.text();
    for part in [
        "verified to the last byte",
        "CC6.1",
        "Logical access controls",
        "Two-factor authentication",
        "<b>Scope:</b> the only repository of acme</p>",
        "</span> complete</span></a>",
        "Nothing is missing",
        "Rule met",
        "a key this organization trusts",
        &bundles::key().public_key().key_id().to_string(),
        "openssl pkeyutl -verify",
        "evidence-bundle-20260102-030505.tar.gz",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "{text}");
    the_commands_check(&stock::block(&text, "<pre>", "</pre>"), &bundles::bundle(1));
    let text = running.page(&format!("/bundles/{}", ids[1]), Some(&cookie)).await.text();
    assert!(text.contains(&format!("/compare?from={}&amp;to={}", ids[0], ids[1])), "{text}");

    // The page shows that the trust has ended since.
    let principal = running.service.authenticate(&tenant.admin).await.unwrap();
    let key_id = bundles::key().public_key().key_id().to_string();
    running.service.remove_trusted_key(&principal, &crate::support::request(), &key_id).await.unwrap();
    let text = running.page(&format!("/bundles/{}", ids[0]), Some(&cookie)).await.text();
    assert!(text.contains("no longer trusted") && text.contains("verified to the last byte"), "{text}");
}

/// The page's commands are the one text of the format, with the digest before them; they accept the page's bundle and
/// refuse it with other bytes.
fn the_commands_check(shown: &str, bundle: &[u8]) {
    let name = "evidence-bundle-20260102-030505.tar.gz";
    let (digest, commands) = shown.split_once(" &&\n").unwrap();
    let sha256 = hex::encode(sha2::Sha256::digest(bundle));
    assert_eq!(digest, format!("echo '{sha256}  {name}' | sha256sum --quiet -c -"));
    assert_eq!(commands, by_hand::commands(name));
    if !["bash", "openssl", "tar", "timeout"].into_iter().all(stock::is_there) {
        return;
    }
    for (more, good) in [(&b""[..], true), (b"x", false)] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(name), [bundle, more].concat()).unwrap();
        std::fs::write(directory.path().join(by_hand::KEY), bundles::key().public_key().to_spki_pem())
            .unwrap();
        let output = stock::paste("bash", shown, directory.path()).unwrap();
        assert_eq!(stock::is_good(&output), good, "{output:?}");
        assert_eq!(stock::is_refused(&output), !good, "{output:?}");
    }
}

/// A time that was set by hand, and one far from the time at which the bundle was stored.
#[tokio::test]
async fn a_doubtful_time_is_marked() {
    const FIXED: &str = "fixed time, not a clock";
    const LATE: &str = "stored more than a day after its time";
    const EARLY: &str = "dated more than a day after it was stored";
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let mut fixed = bundles::parts(1);
    fixed.run.started_at.clone_from(&fixed.run.completed_at);
    fixed.run.duration_seconds = 0;
    fixed.run.source_date_epoch = Some(bundles::CREATED_AT);
    let warn = |manifest: &mut Manifest| {
        manifest.warnings = vec![Warning {
            code: "fixed_time".to_owned(),
            message: "m".to_owned(),
            source: None,
            subject: None,
        }];
        manifest.artifacts[0].collected_at.clone_from(&fixed.run.completed_at);
    };
    let fixed = bundles::pack(1, &fixed, &bundles::key(), warn);
    // The clock is a day after the bundle 0; the bundle 10 is ten minutes later.
    let hour = 3_600;
    let table: [(Vec<u8>, i64, &[&str]); 4] = [
        (bundles::bundle(10), 0, &[]),
        (fixed, 0, &[FIXED]),
        (bundles::bundle(11), hour, &[LATE]),
        (bundles::bundle(12), -50 * hour, &[EARLY]),
    ];
    for (bundle, seconds, marks) in table {
        running.hands.advance_seconds(seconds);
        let answer = running.upload(&tenant.upload, &bundle).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        running.hands.advance_seconds(-seconds);
        let id = answer.json["bundle_id"].as_str().unwrap();
        let list = running.page("/bundles", Some(&cookie)).await.text();
        let row = list.split("<tr>").find(|row| row.contains(&format!("/bundles/{id}\"><time"))).unwrap();
        let page = running.page(&format!("/bundles/{id}"), Some(&cookie)).await.text();
        for mark in [FIXED, LATE, EARLY] {
            assert_eq!(row.contains(mark), marks.contains(&mark), "{mark}: {row}");
            assert_eq!(page.contains(mark), marks.contains(&mark), "{mark}: {page}");
        }
    }
}

#[tokio::test]
async fn files_are_shown_as_they_are() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let artifact = b"{\"x\":\"<img src=x onerror=alert(1)>\"}\n";
    let hostile = running.upload(&tenant.upload, &bundles::signed(1, artifact, &bundles::key())).await;
    let large = format!("\"{}\"\n", "a".repeat(2 << 20));
    let large = bundles::signed(2, large.as_bytes(), &bundles::key());
    let large = running.upload(&tenant.upload, &large).await;
    let page = |answer: &Answer, rest: &str| {
        format!("/bundles/{}{rest}", answer.json["bundle_id"].as_str().unwrap())
    };

    let file = "/files/sources/codehost/org_settings.json";
    let text = running.page(&page(&hostile, file), Some(&cookie)).await;
    is_page(&text);
    assert!(text.text().contains("&#60;img src=x"), "{}", text.text());
    assert!(text.text().contains("<code>GET /orgs/acme</code>, status 200"));
    let text = running.page(&page(&large, file), Some(&cookie)).await.text();
    assert!(text.contains("too large to show") && text.len() < 10_000);

    let list = running.page(&page(&hostile, "/artifacts"), Some(&cookie)).await;
    is_page(&list);
    assert!(list.text().contains("org_settings.json"));
    for (search, there) in [("ORG_", true), ("cc6.1", true), ("nothing", false), ("%3Cb%3E%22", false)] {
        let list = running.page(&page(&hostile, &format!("/artifacts?search={search}")), Some(&cookie)).await;
        is_page(&list);
        assert_eq!(list.text().contains("org_settings.json"), there, "{search}");
    }
    for (rest, status) in [
        ("/files/sources/codehost/other.json", 404),
        ("/files/../../../etc/passwd", 404),
        ("/files/%2e%2e%2fmanifest.json", 404),
        ("/files/checksums.sha256%00", 404),
        ("/artifacts?serch=x", 400),
    ] {
        let answer = running.page(&page(&hostile, rest), Some(&cookie)).await;
        assert_eq!(answer.status, status, "{rest}: {answer:?}");
        is_page(&answer);
    }
    let download = running.page(&page(&hostile, "/download"), Some(&cookie)).await;
    assert_eq!(download.kind, "application/gzip");
    assert_eq!(download.bytes, bundles::signed(1, artifact, &bundles::key()));
    assert!(download.headers["content-disposition"].to_str().unwrap().starts_with("attachment; "));
}

/// The report is made from the documents, and is shown in a frame that can do nothing. The signer's own is only text.
#[tokio::test]
async fn the_report_follows_from_the_documents() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let upload = async |number: u32, report: Option<&[u8]>| {
        let mut parts = bundles::parts(number);
        parts.normalized.controls[0].checks[0].subject = "<script>acme/\u{ad}web".to_owned();
        parts.views = report.iter().map(|page| ("derived/report.html".to_owned(), page.to_vec())).collect();
        let bundle = bundles::pack(number, &parts, &bundles::key(), |_| ());
        let answer = running.upload(&tenant.upload, &bundle).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        format!("/bundles/{}", answer.json["bundle_id"].as_str().unwrap())
    };
    let look = async |path: String| running.page(&path, Some(&cookie)).await;
    let plain = upload(1, None).await;
    let made = look(format!("{plain}/report/frame")).await;
    assert_eq!((made.status, made.kind.as_str()), (200, "text/html; charset=utf-8"));
    assert_eq!(
        made.headers["content-security-policy"],
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
    );
    assert_eq!(made.headers["cache-control"], "no-store");
    let text = made.text();
    assert!(
        text.contains("<h2>How to verify</h2>") && text.contains("&#60;script&#62;acme/\\u{ad}web"),
        "{text}"
    );
    assert!(!text.contains("<script"));
    // Only links within the report.
    assert!(text.contains("href=\"#results\""));
    assert!(text.split(" href=\"").skip(1).all(|rest| rest.starts_with('#')));
    let around = look(format!("{plain}/report")).await;
    assert_eq!(around.status, 200);
    assert!(
        around.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("frame-src 'self'; frame-ancestors 'none'")
    );
    assert!(
        around
            .text()
            .contains(&format!("sandbox=\"\" referrerpolicy=\"no-referrer\" src=\"{plain}/report/frame\""))
    );
    assert!(!around.text().contains("As signed") && !around.text().contains("<script"));
    assert!(look(plain.clone()).await.text().contains(&format!("href=\"{plain}/report\"")));

    let hostile = upload(2, Some(b"<script>alert(1)</script><a href=//stranger.example>all pass</a>")).await;
    for page in ["/report", "/report/frame"] {
        let text = look(format!("{hostile}{page}")).await.text();
        assert!(!text.contains("stranger.example") && !text.contains("all pass"), "{text}");
        assert_eq!(text.contains("As signed it differs."), page == "/report", "{text}");
    }
    let file = look(format!("{hostile}/files/derived/report.html")).await;
    is_page(&file);
    assert!(file.text().contains("&#60;script&#62;alert(1)"));

    assert_eq!(running.page(&format!("{plain}/report/frame"), None).await.status, 401);
    for page in ["/bundles/none/report", "/bundles/none/report/frame"] {
        assert_eq!(look(page.to_owned()).await.status, 404);
    }
}

#[tokio::test]
async fn two_bundles_are_compared() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let ids = stored(&running, &tenant.upload, &[1, 2]).await;
    let compare = |from: &str, to: &str| format!("/compare?from={from}&to={to}");
    let text = running.page(&compare(&ids[0], &ids[1]), Some(&cookie)).await.text();
    assert!(text.contains("Fixed") && !text.contains("Newly failing"), "{text}");
    assert!(text.contains("No artifacts changed"), "{text}");
    let text = running.page(&compare(&ids[1], &ids[0]), Some(&cookie)).await.text();
    assert!(
        text.contains("Newly failing") && text.contains("The first was collected after the second"),
        "{text}"
    );
    let text = running.page(&compare(&ids[0], &ids[0]), Some(&cookie)).await.text();
    assert!(text.contains("No checks changed") && text.contains("1 check unchanged"), "{text}");
    let gone = "0".repeat(36);
    for (path, status) in [
        (compare(&ids[0], &gone), 404),
        ("/compare".to_owned(), 400),
        (format!("/compare?from={}", ids[0]), 400),
        (format!("{}&x=y", compare(&ids[0], &ids[1])), 400),
    ] {
        let answer = running.page(&path, Some(&cookie)).await;
        assert_eq!(answer.status, status, "{path}");
        is_page(&answer);
    }
}

#[tokio::test]
async fn what_was_damaged_is_not_shown() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let ids = stored(&running, &tenant.upload, &[1]).await;
    let blob = running.place.blob_files().pop().unwrap();
    let good = std::fs::read(&blob).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    // Signed by the same key and valid, but not what was stored here.
    let other = bundles::bundle(2);
    let cases: [(&str, Option<Vec<u8>>, &str); 4] = [
        ("flipped", Some(flipped), "digest-mismatch"),
        ("another bundle", Some(other), "digest-mismatch"),
        ("cut", Some(good[..good.len() - 1].to_vec()), "digest-mismatch"),
        ("gone", None, "blob-missing"),
    ];
    for (what, bytes, reason) in cases {
        std::fs::remove_file(&blob).unwrap();
        if let Some(bytes) = bytes {
            std::fs::write(&blob, bytes).unwrap();
        }
        // The check finds the damage, and so does a page that reads the bytes; then the rows of the upload are dropped.
        match what {
            "flipped" => {
                let path = format!("/bundles/{}/files/manifest.json", ids[0]);
                assert_eq!(running.page(&path, Some(&cookie)).await.status, 500);
            }
            _ => drop(running.service.check_all(Default::default()).await.unwrap()),
        }
        damaged(&running, &ids[0], &cookie, what, reason).await;
        std::fs::write(&blob, &good).unwrap();
    }
    let answer = running.page(&format!("/bundles/{}", ids[0]), Some(&cookie)).await;
    assert!(answer.text().contains("verified to the last byte"));
}

async fn damaged(running: &Running, id: &str, cookie: &str, what: &str, reason: &str) {
    let answer = running.page(&format!("/bundles/{id}"), Some(cookie)).await;
    is_page(&answer);
    assert_eq!(answer.status, 200, "{what}: {answer:?}");
    let text = answer.text();
    assert!(text.contains(&format!("damaged: {reason}")), "{what}: {text}");
    assert!(!text.contains("verified to the last byte") && !text.contains("two-factor-required"), "{what}");
    for path in [
        format!("/bundles/{id}/artifacts"),
        format!("/bundles/{id}/files/manifest.json"),
        format!("/compare?from={id}&to={id}"),
    ] {
        let answer = running.page(&path, Some(cookie)).await;
        assert_eq!(answer.status, 500, "{what} {path}: {answer:?}");
        is_page(&answer);
        assert!(answer.text().contains("stored bytes"), "{what} {path}: {}", answer.text());
    }
}

/// A trusted but hostile signer cannot harm a reader.
#[tokio::test]
async fn hostile_documents_neither_fill_the_memory_nor_deceive() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let upload = async |number: u32, change: &dyn Fn(&mut bundles::Parts)| {
        let mut parts = bundles::parts(number);
        change(&mut parts);
        running.upload(&tenant.upload, &bundles::pack(number, &parts, &bundles::key(), |_| ())).await
    };
    let look = async |answer: &Answer| {
        let path = format!("/bundles/{}", answer.json["bundle_id"].as_str().unwrap());
        let answer = running.page(&path, Some(&cookie)).await;
        is_page(&answer);
        assert_eq!(answer.status, 200);
        answer.text()
    };
    let controls = |parts: &mut bundles::Parts, count: usize| {
        let control = parts.normalized.controls[0].clone();
        parts.normalized.controls =
            (0..count).map(|n| NormalizedControl { id: format!("X{n}"), ..control.clone() }).collect();
    };

    // More controls than any framework has.
    let answer = upload(1, &|parts| controls(parts, 257)).await;
    assert_eq!((answer.status, answer.problem().as_str()), (422, "bundle-refused"), "{answer:?}");
    assert_eq!(answer.json["reason"], "limit");
    let many = upload(2, &|parts| controls(parts, 256)).await;
    assert_eq!(many.status, 201, "{many:?}");
    assert_eq!(look(&many).await.matches("<article").count(), 256);
    let timeline = running.page("/bundles", Some(&cookie)).await.text();
    assert!(timeline.contains("224 more controls") && timeline.contains("and 240 more"), "{timeline}");

    // A thousand checks with the most text: some are shown, shortened, the rest is counted.
    let long = upload(3, &|parts| {
        let check = parts.normalized.controls[0].checks[0].clone();
        let check = Check { actual: Some("<".repeat(100_000)), status: Status::Fail, ..check };
        parts.normalized.controls[0].checks =
            (0..1_000).map(|n| Check { subject: format!("s{n:04}"), ..check.clone() }).collect();
    })
    .await;
    let text = look(&long).await;
    assert!(text.contains("1,000 failed") && text.contains("s0004") && text.contains("and 995 more"));
    assert!(!text.contains("s0005"));
    let id = long.json["bundle_id"].as_str().unwrap();
    let text = running.page(&format!("/bundles/{id}/checks"), Some(&cookie)).await.text();
    assert!(text.contains("1–100 of 1,000") && text.contains("… (cut)"));
    assert!(text.contains("s0099") && !text.contains("s0100"));
    assert!(text.len() < 8 << 20, "{}", text.len());
    // More reasons and longer subjects than fit on any page.
    let most = upload(4, &|parts| {
        controls(parts, 64);
        let check = parts.normalized.controls[0].checks[0].clone();
        for control in &mut parts.normalized.controls {
            control.checks = (0..300)
                .map(|n| Check {
                    reason: format!("reason {}", n / 5),
                    subject: format!("{n}{}", "<".repeat(200)),
                    ..check.clone()
                })
                .collect();
        }
    })
    .await;
    let text = look(&most).await;
    assert!(text.contains("for other reasons") && text.len() < 8 << 20, "{}", text.len());
    // A document with a string that is too long for a parser is refused.
    let endless = upload(5, &|parts| parts.normalized.controls[0].reason = "a".repeat((1 << 20) + 1)).await;
    assert_eq!((endless.status, &endless.json["reason"]), (422, &"limit".into()), "{endless:?}");

    // Marks that change the reading direction; ids that collide with the page's.
    let deceiving = upload(6, &|parts| {
        let control = &mut parts.normalized.controls[0];
        control.id = "controls".to_owned();
        control.title = "safe\u{202e}\"><img src=x>".to_owned();
        control.checks[0].subject = "line\nbreak".to_owned();
    })
    .await;
    let text = look(&deceiving).await;
    assert!(!text.contains('\u{202e}') && text.contains("safe\\u{202e}"), "{text}");
    assert!(text.contains("line\\u{a}break") && !text.contains("<img"), "{text}");
    assert_eq!(text.matches("id=\"controls\"").count(), 1);
    // A hint that is not valid.
    let invalid = upload(9, &|parts| parts.hints["hints"][0]["detail"] = 7.into()).await;
    assert_eq!((invalid.status, &invalid.json["reason"]), (422, &"document-format".into()), "{invalid:?}");

    // Counts that the observations do not support.
    let denied = upload(7, &|parts| parts.run.sources[0].denied = 4).await;
    assert_eq!((denied.status, &denied.json["reason"]), (422, &"count-mismatch".into()), "{denied:?}");
    let found = look(&upload(8, &|parts| parts.run.sources[0].discovered = 31).await).await;
    assert!(found.contains("Nothing is missing") && found.contains(">31</td>"), "{found}");
}

#[tokio::test]
async fn every_artifact_can_be_reached_in_whatever_order() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let mut parts = bundles::parts(1);
    let name = |n: usize| format!("sources/codehost/artifact_{n:03}.json");
    parts.artifacts = (0..450).map(|n| (name(n), b"{}\n".to_vec())).collect();
    let backwards = bundles::pack(1, &parts, &bundles::key(), |manifest| manifest.artifacts.reverse());
    let id = running.upload(&tenant.upload, &backwards).await.json["bundle_id"].clone();
    let mut path = format!("/bundles/{}/artifacts", id.as_str().unwrap());
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let text = running.page(&path, Some(&cookie)).await.text();
        assert!(text.contains(">450</span>"), "{text}");
        seen.extend((0..450).filter(|n| text.contains(&format!(">{}</a>", name(*n)))));
        let Some(next) = text.split("rel=\"next\" href=\"").nth(1) else { break };
        path = next.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(seen.len(), 450);
}

#[tokio::test]
async fn one_organization_that_looks_leaves_room_for_others() {
    let running = Running::local().await;
    let (one, two) = (running.tenant("one").await, running.tenant("two").await);
    let caller = running.service.caller(&one.read).await.unwrap();
    let shares: Vec<_> = (0..32).map(|_| running.service.page_share(&caller).unwrap()).collect();
    let cookies = [running.sign_in(&one.read).await, running.sign_in(&two.read).await];
    let answer = running.page("/bundles", Some(&cookies[0])).await;
    assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (503, "5"));
    is_page(&answer);
    assert_eq!(running.page("/bundles", Some(&cookies[1])).await.status, 200);
    drop(shares);
    for _ in 0..100 {
        assert_eq!(
            running.page("/bundles", Some(&cookies[0])).await.status,
            200,
            "each page gives its part back"
        );
    }
}

#[tokio::test]
async fn a_missing_page_is_reported_as_html_or_json() {
    let running = Running::local().await;
    let answer = running.page("/nothing<b>", None).await;
    assert_eq!(answer.status, 404);
    is_page(&answer);
    let answer = running.call(reqwest::Method::GET, "/nothing", None, None).await;
    assert_eq!((answer.status, answer.problem().as_str()), (404, "not-found"));
    let answer = running.call(reqwest::Method::PUT, "/sign-in", None, None).await;
    assert_eq!((answer.status, answer.problem().as_str()), (405, "method-not-allowed"));
    let answer = running.page("/sign-out", None).await;
    assert_eq!(answer.status, 405);
    is_page(&answer);
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    for path in ["/bundles/%00", "/bundles/%00/files/x", "/bundles/x/files/%ff", "/compare?from=%00&to=x"] {
        let answer = running.page(path, Some(&cookie)).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        is_page(&answer);
    }
    // The API returns JSON to a browser too.
    let answer = running.page("/api/v1/whoami", None).await;
    assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"));
    let style = running.page("/assets/style.css?whatever", None).await;
    assert_eq!((style.status, style.kind.as_str()), (200, "text/css; charset=utf-8"));
    assert!(!style.text().contains("url(") && !style.text().contains("@import"));
    // Cached forever only at the address of these contents.
    assert_eq!(style.headers["cache-control"], "no-cache");
    let page = running.page("/sign-in", None).await.text();
    let address = page.split("href=\"/assets/style.css").nth(1).unwrap().split('"').next().unwrap();
    let style = running.page(&format!("/assets/style.css{address}"), None).await;
    assert!(style.headers["cache-control"].to_str().unwrap().contains("immutable"));
    // An address that does not exist keeps the frame of the one who is signed in.
    let tenant = running.tenant("framed").await;
    let session = running.sign_in(&tenant.read).await;
    let missing = running.page("/nothing/here", Some(&session)).await;
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("Name of framed") && missing.text().contains("Sign out"), "{missing:?}");
    assert!(!running.page("/nothing/here", None).await.text().contains("Sign out"));
    // Every page is in the table, with its access rule.
    let pages = table().into_iter().filter(|route| matches!(route.access, Access::Page(_))).count();
    assert_eq!(pages, 21);
}

/// The same checks by page, by filter and as a table.
#[tokio::test]
async fn checks_are_filtered_sorted_paged_and_written_as_a_table() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let cookie = running.sign_in(&tenant.read).await;
    let mut parts = bundles::parts(1);
    let check = parts.normalized.controls[0].checks[0].clone();
    parts.normalized.controls[0].checks = (0..250)
        .map(|n| {
            let status = if n % 10 == 0 { Status::Fail } else { Status::Pass };
            let actual = Some(if n == 7 { "=1+1, \u{e9}".to_owned() } else { format!("found {n}") });
            Check { subject: format!("acme/s{n:03}"), status, actual, ..check.clone() }
        })
        .collect();
    let bytes = bundles::pack(1, &parts, &bundles::key(), |_| {});
    let stored = running.upload(&tenant.upload, &bytes).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    let address = format!("/bundles/{}/checks", stored.json["bundle_id"].as_str().unwrap());
    let page = async |query: &str| {
        let answer = running.page(&format!("{address}{query}"), Some(&cookie)).await;
        is_page(&answer);
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
        answer.text()
    };
    // Every page, forward by its links: each check once.
    let (mut query, mut seen) = ("?sort=-subject".to_owned(), Vec::new());
    loop {
        let text = page(&query).await;
        let subjects = text.split("<bdi>").skip(1).map(|part| part.split('<').next().unwrap().to_owned());
        seen.extend(subjects);
        let Some(next) = text.split("rel=\"next\" href=\"").nth(1) else { break };
        let next = next.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        query = next.strip_prefix(&address).unwrap().to_owned();
    }
    let expected: Vec<_> = (0..250).rev().map(|n| format!("acme/s{n:03}")).collect();
    assert_eq!(seen, expected);

    let text = page("?status=fail&search=S01").await;
    assert!(text.contains("1–1 of 1") && text.contains("acme/s010") && text.contains("250 in all"), "{text}");
    assert!(page("?rule=none").await.contains("No checks match"));
    for query in ["?status=red", "?sort=size", "?after=x", "?search=a&search=b", "?page=2"] {
        assert_eq!(running.page(&format!("{address}{query}"), Some(&cookie)).await.status, 400, "{query}");
    }

    let table = async |query: &str| {
        let answer = running.page(&format!("{address}.csv{query}"), Some(&cookie)).await;
        assert_eq!((answer.status, answer.kind.as_str()), (200, "text/csv; charset=utf-8; header=present"));
        answer.text()
    };
    assert_eq!(table("?status=fail").await.lines().count(), 26);
    let whole = table("").await;
    assert_eq!(whole.lines().count(), 251);
    assert!(whole.starts_with('\u{feff}') && whole.contains("\"'=1+1, \u{e9}\""), "{whole}");
    assert!(!table("?search=s008").await.starts_with('\u{feff}'), "all of it is ASCII");
}

#[tokio::test]
async fn the_verifier_page_is_for_anyone_and_asks_nothing_of_the_platform() {
    let running = Running::local().await;
    let answer = running.page("/verify", None).await;
    let Some(page) = verifier_page::page() else {
        eprintln!("SKIPPED: this build has no verifier page");
        return assert_eq!(answer.status, 404);
    };
    assert_eq!((answer.status, answer.kind.as_str()), (200, "text/html; charset=utf-8"));
    assert_eq!(answer.headers["content-security-policy"], "frame-ancestors 'none'");
    assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    assert!(answer.headers.get("set-cookie").is_none());
    // It is the same file that the tool writes, so its SHA-256 can be compared.
    assert_eq!(answer.text().as_bytes(), page);
    assert!(answer.text().contains("connect-src 'none'"));
}
