//! A temporarily full disk: acknowledged bundles stay, and writes work again once there is space.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evidence_platform::error::Error;
use evidence_platform::principal::Principal;
use evidence_platform::service::{PageRequest, Service, Settings};
use evidence_platform::store::DatabaseUrl;
use futures_util::TryStreamExt as _;

use crate::support::disk::SmallDisk;
use crate::support::{Place, bundles, principal, random, request, tenant, upload};

const UPLOADERS: usize = 8;
/// How long it may take until writes work again.
const AGAIN: Duration = Duration::from_secs(10);
/// The test fails after this long.
const GIVE_UP: Duration = Duration::from_secs(30);

/// The progress of the uploads.
#[derive(Default)]
struct Progress {
    next: AtomicU32,
    stop: AtomicBool,
    refused: AtomicU32,
    acknowledged: Mutex<BTreeMap<u32, String>>,
}

impl Progress {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_under_the_database_passes() {
    let Some(disk) = SmallDisk::mount(12) else { return };
    let database = DatabaseUrl::sqlite(disk.path()).unwrap();
    let place = Place { name: "SQLite on a full disk, directory on another", database, ..Place::local() };
    passes(place, &disk, "the database").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_under_everything_passes() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let home = Arc::new(tempfile::tempdir_in(disk.path()).unwrap());
    let database = DatabaseUrl::sqlite(home.path()).unwrap();
    let place = Place { name: "SQLite and directory on a full disk", database, home, ..Place::local() };
    passes(place, &disk, "the storage").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_under_postgres_passes() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(url), Some(small)) = (variable("EVIDENCE_TEST_POSTGRES"), variable("EVIDENCE_TEST_SMALL_DISK"))
    else {
        crate::support::loudly(
            "SKIPPED: a full disk under PostgreSQL; ci/platform_stores.sh as root has one",
        );
        return;
    };
    let disk = SmallDisk::given(small.as_ref());
    sqlx::any::install_default_drivers();
    // Only the tables: PostgreSQL exits without space for its log.
    let space = format!("small_{}", random());
    let pool = sqlx::AnyPool::connect(&url).await.unwrap();
    let create = format!("CREATE TABLESPACE {space} LOCATION '{small}/tables'");
    sqlx::query(sqlx::AssertSqlSafe(create)).execute(&pool).await.unwrap();
    let url = format!("{}&options[default_tablespace]={space}", crate::support::fresh_schema(&url).await);
    let database = DatabaseUrl::postgres(&url).unwrap();
    passes(Place { name: "PostgreSQL on a full disk", database, ..Place::local() }, &disk, "the database")
        .await;
}

async fn passes(place: Place, disk: &SmallDisk, failed: &str) {
    let settings = Settings { uploads: 64, ..Settings::default() };
    let (service, _) = place.open(settings.clone()).await;
    let who = principal(&service, &tenant(&service, "acme").await.admin).await;
    service.ready().await.unwrap();
    let progress = Arc::<Progress>::default();
    let uploads: Vec<_> = (0..UPLOADERS)
        .map(|_| tokio::spawn(keep_uploading(service.clone(), who.clone(), progress.clone())))
        .collect();
    until("uploads before", GIVE_UP, || progress.acknowledged() >= 20).await;

    disk.fill();
    until("refusals", GIVE_UP, || progress.refused.load(SeqCst) >= 20).await;
    // A result of `ready` is reused for two seconds.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    let (mut said, mut asked, mut unready) = (String::new(), 0, 0);
    let full = Instant::now();
    while full.elapsed() < Duration::from_secs(4) {
        // Also fill space that a checkpoint or a removed file releases.
        disk.fill();
        asked += 1;
        if let Err(error) = service.ready().await {
            (said, unready) = (error.to_string(), unready + 1);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (refused, before) = (progress.refused.load(SeqCst), progress.acknowledged());
    disk.free();
    let freed = Instant::now();
    until("uploads when there is space again", AGAIN, || progress.acknowledged() >= before + 20).await;
    let again = freed.elapsed();
    while let Err(error) = service.ready().await {
        assert!(freed.elapsed() < AGAIN, "not ready: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let refused_after = progress.refused.load(SeqCst);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(progress.refused.load(SeqCst), refused_after, "writes still fail");
    progress.stop.store(true, SeqCst);
    for task in uploads {
        task.await.unwrap();
    }
    println!(
        "{}: {refused} uploads refused while it was full, {unready} of {asked} times not ready: {said}; 20 more \
         acknowledged {again:?} after there was space; {} in all",
        place.name,
        progress.acknowledged()
    );
    assert!(said.contains(failed) && unready > asked / 2, "ready said {said:?}");

    service.close().await;
    let (service, _) = place.open(settings).await;
    let acknowledged = std::mem::take(&mut *progress.acknowledged.lock().unwrap());
    assert_eq!(
        listed(&service, &who).await,
        acknowledged.len(),
        "every upload was repeated until it was stored"
    );
    for (number, id) in acknowledged {
        let bytes: Vec<_> =
            service.download(&who, &request(), &id).await.unwrap().bytes.try_collect().await.unwrap();
        assert!(bytes.concat() == bundles::bundle(number), "{number} has other bytes");
    }
}

/// Uploads one bundle after another, each until it is acknowledged.
async fn keep_uploading(service: Service, who: Principal, progress: Arc<Progress>) {
    while !progress.stop.load(SeqCst) {
        let number = progress.next.fetch_add(1, SeqCst);
        let bytes = bundles::bundle(number);
        loop {
            match upload(&service, &who, &bytes).await {
                Ok(stored) => {
                    break drop(progress.acknowledged.lock().unwrap().insert(number, stored.bundle.id));
                }
                Err(Error::Unavailable(_) | Error::Busy) => progress.refused.fetch_add(1, SeqCst),
                Err(error) => panic!("{number}: {error:?}"),
            };
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn listed(service: &Service, who: &Principal) -> usize {
    let (mut count, mut cursor) = (0, None);
    loop {
        let page = PageRequest::new(cursor.as_deref(), Some(100)).unwrap();
        let page = service.bundles(who, &page).await.unwrap();
        count += page.items.len();
        match page.next {
            Some(next) => cursor = Some(next),
            None => return count,
        }
    }
}

async fn until(what: &str, patience: Duration, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < patience, "{what}: not within {patience:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
