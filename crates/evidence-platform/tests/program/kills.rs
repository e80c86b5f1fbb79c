//! Kills during a check of everything, the delivery of webhooks and an update of the schema: each goes on where it ended,
//! and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evidence_platform::webhook::sign;
use sqlx::AnyPool;
use sqlx::Row as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::apply::homes;
use super::rows::every_home;
use crate::process::{Home, Serving, client, free_address, upload};
use crate::support::bundles;
use crate::support::steps::up_to;

/// The database of a home.
async fn database(home: &Home) -> AnyPool {
    sqlx::any::install_default_drivers();
    let variable =
        |name: &str| home.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let url = variable("EVIDENCE_PLATFORM_DATABASE").unwrap_or_else(|| {
        let data = variable("EVIDENCE_PLATFORM_DATA").unwrap();
        format!("sqlite://{data}/platform.sqlite?mode=rwc")
    });
    AnyPool::connect(&url).await.unwrap()
}

async fn number(pool: &AnyPool, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(pool).await.unwrap().get::<i64, _>("n")
}

/// A bundle that a paced check reads for a while.
fn noisy(seed: u32) -> Vec<u8> {
    let mut noise = vec![0; 150_000];
    fastrand::Rng::with_seed(u64::from(seed)).fill(&mut noise);
    bundles::signed(seed, &noise, &bundles::key())
}

/// The files of all blobs.
fn blobs(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(blobs(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_goes_on_after_kills_and_misses_nothing() {
    const BUNDLES: u32 = 24;
    let directory = tempfile::tempdir().unwrap();
    for home in homes(directory.path()).await {
        let data = home.variables[0].1.clone();
        let folder = Path::new(&data).parent().unwrap().to_owned();
        let key = home.organization(&folder);
        let serving = Serving::start(&home, "127.0.0.1:0");
        for seed in 0..BUNDLES {
            assert_eq!(upload(&client(), &serving.url, &key, &noisy(seed)).await.unwrap().0, 201);
        }
        serving.terminate();
        // One flipped byte in two of them, which a check must find whenever it was killed.
        let files = blobs(&Path::new(&data).join("blobs"));
        let files: Vec<_> = files.iter().filter(|file| file.file_name().unwrap().len() == 64).collect();
        assert_eq!(files.len(), BUNDLES as usize);
        for file in [files[0], files[files.len() - 1]] {
            let mut bytes = std::fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(file, bytes).unwrap();
        }
        let pool = database(&home).await;
        let (mut kills, mut before) = (0, 0);
        while kills < 12 {
            let mut command = home.command(&["check", "--all", "--pace", "2"]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            tokio::time::sleep(Duration::from_millis(fastrand::u64(180..500))).await;
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            let checked = number(&pool, "SELECT COUNT(*) AS n FROM bundle_checks").await;
            assert!(checked >= before, "a check forgot what it had checked");
            before = checked;
            // The next one waits for a quarter of an hour; as if it had passed.
            let refused = home.run(&["check", "--all"]);
            if !refused.status.success()
                && !String::from_utf8_lossy(&refused.stderr).contains("is damaged")
                && !String::from_utf8_lossy(&refused.stderr).contains("are damaged")
            {
                let said = String::from_utf8_lossy(&refused.stderr).into_owned();
                assert!(said.contains("another process is checking"), "{said}");
            } else {
                // The kill came before it took the check, or after it gave it back.
                break;
            }
            sqlx::query("UPDATE check_run SET held_until = 0").execute(&pool).await.unwrap();
        }
        let output = home.run(&["check", "--all"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(": 2 damaged, 0 blobs without a bundle"), "{said}");
        assert_eq!(number(&pool, "SELECT COUNT(*) AS n FROM bundle_checks").await, i64::from(BUNDLES));
        assert_eq!(number(&pool, "SELECT COUNT(*) AS n FROM bundle_checks WHERE result <> ''").await, 2);
        let finished = number(&pool, "SELECT finished_at AS n FROM check_run").await;
        assert!(finished > 0);
        println!(
            "{}: {kills} kills during a check, {before} of {BUNDLES} bundles checked before the last run",
            home.name
        );
        pool.close().await;
    }
}

/// What came for each message: its body, and how often.
type Came = Arc<Mutex<BTreeMap<String, (String, u32)>>>;

/// Takes webhooks; fails every third.
async fn receiver(secret: Arc<Mutex<String>>) -> (String, Came) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let came = Came::default();
    let taken = came.clone();
    tokio::spawn(async move {
        let mut count = 0_u32;
        while let Ok((stream, _)) = listener.accept().await {
            count += 1;
            let (taken, secret) = (taken.clone(), secret.clone());
            tokio::spawn(async move {
                // A killed sender ends in the middle.
                let _ = take(stream, &taken, &secret, count.is_multiple_of(3)).await;
            });
        }
    });
    (url, came)
}

async fn take(
    stream: tokio::net::TcpStream,
    taken: &Came,
    secret: &Mutex<String>,
    fails: bool,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.trim_end().split_once(": ") {
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    stream.read_exact(&mut body).await?;
    let (id, body) = (headers["webhook-id"].clone(), String::from_utf8(body).unwrap());
    let secret = secret.lock().unwrap().clone();
    let signature = sign(&secret, &id, headers["webhook-timestamp"].parse().unwrap(), &body);
    assert_eq!(signature.as_deref(), Some(headers["webhook-signature"].as_str()));
    if !fails {
        let mut taken = taken.lock().unwrap();
        let known = taken.entry(id).or_insert_with(|| (body.clone(), 0));
        assert_eq!(known.0, body, "one message has two bodies");
        known.1 += 1;
    }
    let status = if fails { "503 x" } else { "204 x" };
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.get_mut().write_all(answer.as_bytes()).await
}

/// What was taken and not settled waits for two minutes, what failed for longer: as if they had passed, and without the
/// attempts that kills cost, which take days to use up.
const AT_ONCE: &str = "UPDATE outbox SET next_at = 1, attempts = 0 WHERE next_at > 0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_webhook_is_lost_by_kills() {
    const BUNDLES: u32 = 40;
    const KILLS: u32 = 15;
    let directory = tempfile::tempdir().unwrap();
    for mut home in every_home(directory.path()).await {
        home.serve = vec!["--private-webhooks"];
        let folder = Path::new(&home.variables[0].1).parent().unwrap().to_owned();
        let key = home.organization(&folder);
        let secret = Arc::new(Mutex::new(String::new()));
        let (hook, came) = receiver(secret.clone()).await;
        let arguments =
            ["webhook", "create", "--organization", "acme", "--url", &hook, "--event", "bundle.stored"];
        *secret.lock().unwrap() = home.ask(&arguments);
        let address = free_address();
        let url = format!("http://{address}");
        let uploads = {
            let (url, key) = (url.clone(), key.clone());
            tokio::spawn(async move {
                let (client, mut ids) = (client(), BTreeSet::new());
                for seed in 0..BUNDLES {
                    let bytes = bundles::bundle(seed);
                    loop {
                        match upload(&client, &url, &key, &bytes).await {
                            Ok((200 | 201, id)) => {
                                ids.insert(id);
                                break;
                            }
                            Ok((408 | 503, _)) | Err(_) => {
                                tokio::time::sleep(Duration::from_millis(10)).await
                            }
                            Ok(other) => panic!("{seed}: {other:?}"),
                        }
                    }
                    tokio::time::sleep(Duration::from_millis(60)).await;
                }
                ids
            })
        };
        let pool = database(&home).await;
        let mut kills = 0;
        while kills < KILLS || !uploads.is_finished() {
            let serving = Serving::start(&home, &address);
            tokio::time::sleep(Duration::from_millis(fastrand::u64(30..400))).await;
            sqlx::query(AT_ONCE).execute(&pool).await.unwrap();
            serving.kill();
            kills += 1;
            assert!(kills < 400, "the uploads do not end");
        }
        let ids = uploads.await.unwrap();
        assert_eq!(ids.len(), BUNDLES as usize);
        let before = came.lock().unwrap().len();
        // A last start delivers what is left.
        let begun = Instant::now();
        while number(&pool, "SELECT COUNT(*) AS n FROM outbox WHERE next_at > 0").await > 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the outbox is never empty");
            sqlx::query(AT_ONCE).execute(&pool).await.unwrap();
            let serving = Serving::start(&home, &address);
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            serving.terminate();
        }
        assert_eq!(
            number(&pool, "SELECT COUNT(*) AS n FROM outbox WHERE delivered_at = 0").await,
            0,
            "given up"
        );
        let came = came.lock().unwrap().clone();
        let told: BTreeSet<String> = came
            .values()
            .map(|(body, _)| {
                let body: serde_json::Value = serde_json::from_str(body).unwrap();
                body["data"]["bundle_id"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(told, ids, "a stored bundle was not told, or one that is not stored was");
        assert_eq!(came.len(), ids.len(), "a bundle was told in two messages");
        let repeated = came.values().filter(|(_, count)| *count > 1).count();
        println!(
            "{}: {kills} kills, {} bundles stored, each told; {before} before the last start, {repeated} more than once",
            home.name,
            ids.len()
        );
        pool.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_of_the_schema_goes_on_after_kills() {
    const BUNDLES: u32 = 20_000;
    let directory = tempfile::tempdir().unwrap();
    for home in every_home(directory.path()).await {
        std::fs::create_dir_all(&home.variables[0].1).unwrap();
        let pool = database(&home).await;
        up_to(home.name.starts_with("PostgreSQL"), 4).run(&pool).await.unwrap();
        let run = async |sql: String| sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();
        run("INSERT INTO organizations VALUES ('org_a', 'acme', 'ACME', 0)".to_owned()).await;
        run(format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {BUNDLES}) \
             INSERT INTO bundles SELECT 'p' || i, 'org_a', 'sha' || i, 7, \
             CASE WHEN i % 2 = 0 THEN 'm' || i ELSE 'shared' END, 's', 'f', i, i, 'k', 'key', '{facts}', '{{}}', 3, 1 FROM n",
            facts = "x".repeat(1_000)
        ))
        .await;
        let newest = "SELECT MAX(version) AS n FROM _sqlx_migrations";
        let (mut kills, mut in_between) = (0_u64, BTreeSet::new());
        loop {
            let mut command = home.command(&["init"]);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            tokio::time::sleep(Duration::from_millis(fastrand::u64(5..300 + kills * 100))).await;
            if child.try_wait().unwrap().is_some() || kills == 30 {
                child.wait().unwrap();
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            in_between.insert(number(&pool, newest).await);
            let bundles = number(&pool, "SELECT COUNT(*) AS n FROM bundles").await;
            assert_eq!(bundles, i64::from(BUNDLES), "a kill lost bundles");
        }
        assert!(kills > 0, "no kill came in time");
        home.ask(&["init"]);
        let last = number(&pool, newest).await;
        assert!(last >= 14, "{last}");
        assert_eq!(number(&pool, "SELECT COUNT(*) AS n FROM bundles").await, i64::from(BUNDLES));
        let renamed = number(&pool, "SELECT COUNT(*) AS n FROM bundles WHERE id LIKE 'm%'").await;
        assert_eq!(renamed, i64::from(BUNDLES / 2));
        // The platform works.
        let folder = Path::new(&home.variables[0].1).parent().unwrap().to_owned();
        let key = home.tenant(&folder, "beta");
        let serving = Serving::start(&home, "127.0.0.1:0");
        assert_eq!(upload(&client(), &serving.url, &key, &bundles::bundle(1)).await.unwrap().0, 201);
        println!(
            "{}: {kills} kills during an update from schema 4 to {last}, seen in between: {in_between:?}",
            home.name
        );
        pool.close().await;
    }
}
