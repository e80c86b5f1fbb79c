//! Every subject of an organization has its state and its nights; a subject of the checks has a page over time; what a
//! check rests on opens.

use evidence_bundle::Status;
use evidence_bundle::document::Check;
use evidence_platform::server::Limits;
use evidence_platform::service::Settings;

use crate::running::Running;
use crate::support::{Place, bundles};

const DAY: u32 = 1_440;

/// A bundle of a day about some repositories, each with the status of its check.
fn night(day: u32, repositories: &[(&str, Status)]) -> Vec<u8> {
    let mut parts = bundles::parts(day * DAY);
    let check = parts.normalized.controls[0].checks[0].clone();
    let one = |(name, status): &(&str, Status)| Check {
        subject: (*name).to_owned(),
        status: *status,
        ..check.clone()
    };
    parts.normalized.controls[0].checks = repositories.iter().map(one).collect();
    bundles::pack(day * DAY, &parts, &bundles::key(), |_| {})
}

/// A bundle about this account.
fn about(number: u32, account: &str) -> Vec<u8> {
    let mut parts = bundles::parts(number);
    account.clone_into(&mut parts.organization);
    bundles::pack(number, &parts, &bundles::key(), |_| {})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_account_has_its_state_however_many_there_are() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        // The oldest account is followed by more bundles of another than a list has.
        for number in 0..25 {
            let answer =
                running.upload(&tenant.upload, &about(number, &format!("account-{number:02}"))).await;
            assert_eq!(answer.status, 201, "{answer:?}");
        }
        for number in 100..155 {
            assert_eq!(running.upload(&tenant.upload, &about(number, "busy")).await.status, 201);
        }
        let session = running.sign_in(&tenant.read).await;
        let page = running.page("/bundles", Some(&session)).await;
        assert_eq!(page.status, 200);
        let text = page.text();
        for number in 0..25 {
            let name = format!("account-{number:02}");
            assert!(text.contains(&name), "{name} is missing");
            let period = format!("/period?subject={name}&#38;framework=soc2_type1");
            assert!(text.contains(&period), "{period}: {text}");
        }
        assert!(text.contains("6 more subjects"), "{text}");
        let period = running.page("/period?subject=account-03&framework=soc2_type1", Some(&session)).await;
        assert!(period.text().contains("account-03"), "{}", period.text());
        let fleet = running.get("/api/v1/organizations", &tenant.read).await;
        assert_eq!(fleet.json["organizations"][0]["latest"].as_array().unwrap().len(), 26);
    }
}

#[tokio::test]
async fn a_subject_has_its_own_days() {
    use Status::{Fail, Pass};
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let nights: [&[(&str, Status)]; 4] = [
        &[("acme/api", Pass), ("acme/web", Fail)],
        &[("acme/api", Fail), ("acme/web", Fail)],
        &[("acme/api", Fail)],
        &[("acme/api", Pass)],
    ];
    let mut ids = Vec::new();
    for (day, repositories) in (0..).zip(nights) {
        let answer = running.upload(&tenant.upload, &night(day, repositories)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        ids.push(answer.json["bundle_id"].as_str().unwrap().to_owned());
    }
    let session = running.sign_in(&tenant.read).await;
    let page = async |path: &str| {
        let answer = running.page(path, Some(&session)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.text()
    };
    // From the checks of a bundle to the subject over time.
    let checks = page(&format!("/bundles/{}/checks", ids[1])).await;
    let link = "/period/subject?name=acme%2Fapi&#38;subject=acme&#38;framework=soc2_type1";
    assert!(checks.contains(link), "{checks}");
    let text = page(&link.replace("&#38;", "&")).await;
    let letters: Vec<&str> = text
        .split("class=\"strip")
        .nth(1)
        .unwrap()
        .split("</div>\n</div>")
        .next()
        .unwrap()
        .split("class=\"day ")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    assert_eq!(letters, ["pass", "fail", "fail", "pass"], "{text}");
    assert!(text.contains(&format!("/bundles/{}/checks?control=CC6.1", ids[2])), "{text}");
    // The other repository's failure is not its own; where it is gone, its rule does not apply.
    let other = page("/period/subject?name=acme/web").await;
    let classes: Vec<&str> = other
        .split("class=\"line\"")
        .nth(1)
        .unwrap()
        .split("class=\"day ")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    assert_eq!(classes, ["fail", "fail", "not_applicable", "not_applicable"], "{other}");
    // The whole period still has all, and its failures lead to their subjects.
    let period = page("/period").await;
    assert!(
        period.contains("/period/subject?from=2026-01-02&#38;to=2026-01-05&#38;name=acme%2Fapi"),
        "{period}"
    );
    assert!(
        page("/period/subject?name=nobody").await.contains("No verified bundle of the period has a result")
    );
    for wrong in ["/period/subject", "/period/subject?name=", "/period/subject?name=a&name=b"] {
        assert_eq!(running.page(wrong, Some(&session)).await.status, 400, "{wrong}");
    }
    // Gone while failing comes first in a comparison.
    let compare = page(&format!("/compare?from={}&to={}", ids[1], ids[2])).await;
    let first = compare.split("<h3").nth(1).unwrap();
    assert!(first.contains("Removed while failing") && first.contains("acme/web"), "{compare}");
}

#[tokio::test]
async fn an_observation_opens() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let stored = running.upload(&tenant.upload, &bundles::bundle(1)).await;
    let id = stored.json["bundle_id"].as_str().unwrap();
    let session = running.sign_in(&tenant.read).await;
    let page = async |query: &str| {
        let answer = running.page(&format!("/bundles/{id}/observations{query}"), Some(&session)).await;
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
        answer.text()
    };
    let all = page("").await;
    let first = all.split("<tr id=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(first.contains(':'), "{all}");
    let one = page(&format!("?search={first}")).await;
    assert_eq!(one.matches("<tr id=\"").count(), 1, "{one}");
    assert!(one.contains("<details open>") || one.contains("<span class=\"quiet\">none</span>"), "{one}");
    assert!(page("?search=nothing-like-it").await.contains("No observations"));
    let bundle = running.page(&format!("/bundles/{id}"), Some(&session)).await.text();
    assert!(bundle.contains(&format!("/bundles/{id}/observations")));
}

/// A period is folded once, and again when what it follows from changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_period_is_kept_until_something_changes() {
    use Status::{Fail, Pass};
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        for day in 0..3 {
            assert_eq!(running.upload(&tenant.upload, &night(day, &[("acme/api", Pass)])).await.status, 201);
        }
        let period = async || running.get("/api/v1/period", &tenant.read).await.json;
        let first = period().await;
        assert_eq!(
            (&first["coverage"]["complete"], first["exceptions"].as_array().unwrap().len()),
            (&3.into(), 0)
        );
        // The second view reads no row: even without them it is the same.
        let rows = running.place.home.path().join("rows");
        let files = || std::fs::read_dir(&rows).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(files().count(), 3);
        files().for_each(|file| std::fs::remove_file(file).unwrap());
        assert_eq!(period().await, first);
        assert_eq!(files().count(), 0, "the bundles were read again");
        // A further bundle shows at once, and the others are verified again, because their rows are gone.
        assert_eq!(running.upload(&tenant.upload, &night(3, &[("acme/api", Fail)])).await.status, 201);
        let second = period().await;
        assert_eq!(second["coverage"]["complete"], 4);
        assert_eq!(second["exceptions"].as_array().unwrap().len(), 1, "{second}");
        assert_eq!(files().count(), 4);
        // A key that was revoked before the bundles arrived ends what it verified.
        let admin = crate::support::principal(&running.service, &tenant.admin).await;
        let key = bundles::key().public_key().key_id().to_string();
        let operator = evidence_platform::service::Operator::of(&running.service);
        let since = evidence_platform::time::Time(0);
        operator.revoke_trust("acme", &key, since, "stolen").await.unwrap();
        let answer = running.get("/api/v1/period", &tenant.read).await;
        assert_eq!(answer.problem(), "invalid-request", "{answer:?}");
        drop(admin);
    }
}
