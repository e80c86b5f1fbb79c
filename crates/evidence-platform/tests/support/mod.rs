//! Shared test helpers: platforms on every available database and storage.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

pub mod bucket;
pub mod bundles;
pub mod disk;
pub mod steps;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use evidence_platform::blobs::{Blobs, BucketAccess};
use evidence_platform::id::BlobDigest;
use evidence_platform::principal::Principal;
use evidence_platform::role::Role;
use evidence_platform::service::{NewUpload, Operator, RequestId, Service, Settings, Stored};
use evidence_platform::store::{DatabaseUrl, Store};
use evidence_platform::time::{Clock, Time};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// A clock that a test sets.
#[derive(Clone)]
pub struct VirtualTime(Arc<AtomicI64>);

impl VirtualTime {
    /// A day after the time of the tests' bundles.
    pub fn start() -> VirtualTime {
        VirtualTime(Arc::new(AtomicI64::new(bundles::CREATED_AT * 1_000 + 86_400_000)))
    }

    pub fn advance_seconds(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    pub fn advance_days(&self, days: i64) {
        self.0.fetch_add(days * 86_400_000, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let hands = self.0.clone();
        // Every reading is a millisecond later, so that records have an order.
        Clock::new(move || Time(hands.fetch_add(1, Ordering::SeqCst)))
    }
}

/// The location of a platform's data.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: &'static str,
    pub database: DatabaseUrl,
    pub storage: Storage,
    pub home: Arc<TempDir>,
}

#[derive(Clone, Debug)]
pub enum Storage {
    Directory,
    Bucket(String),
}

impl Place {
    /// SQLite and a directory.
    pub fn local() -> Place {
        let home = Arc::new(tempfile::tempdir().unwrap());
        let database = DatabaseUrl::sqlite(home.path()).unwrap();
        Place { name: "SQLite, directory", database, storage: Storage::Directory, home }
    }

    /// Every available combination. Prints a message for each missing one.
    pub async fn all() -> Vec<Place> {
        let mut places = vec![Place::local()];
        let postgres = std::env::var("EVIDENCE_TEST_POSTGRES").ok();
        let bucket = std::env::var("EVIDENCE_TEST_S3").ok();
        match &postgres {
            Some(url) => {
                let database = DatabaseUrl::postgres(&fresh_schema(url).await).unwrap();
                places.push(Place { name: "PostgreSQL, directory", database, ..Place::local() });
            }
            None => loudly("SKIPPED: PostgreSQL; set EVIDENCE_TEST_POSTGRES=postgres://user@host/database"),
        }
        match &bucket {
            Some(address) => {
                let storage = Storage::Bucket(format!("{address}/{}", random()));
                places.push(Place { name: "SQLite, bucket", storage: storage.clone(), ..Place::local() });
                if let Some(url) = &postgres {
                    let database = DatabaseUrl::postgres(&fresh_schema(url).await).unwrap();
                    let storage = Storage::Bucket(format!("{address}/{}", random()));
                    places.push(Place { name: "PostgreSQL, bucket", database, storage, ..Place::local() });
                }
            }
            None => {
                loudly("SKIPPED: S3; set EVIDENCE_TEST_S3=s3://bucket and AWS_ENDPOINT_URL, AWS_... as usual")
            }
        }
        places
    }

    pub fn blobs(&self) -> Blobs {
        match &self.storage {
            Storage::Directory => Blobs::directory(&self.home.path().join("blobs")).unwrap(),
            Storage::Bucket(address) => Blobs::bucket(address, &access()).unwrap(),
        }
    }

    pub fn blob_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.home.path().join("blobs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    pub async fn open(&self, settings: Settings) -> (Service, VirtualTime) {
        let hands = VirtualTime::start();
        (self.open_with(settings, hands.clock()).await, hands)
    }

    pub async fn open_with(&self, settings: Settings, clock: Clock) -> Service {
        let store = Store::open(&self.database, 5).await.unwrap();
        Service::new(store, self.blobs(), &self.home.path().join("spool"), clock, settings).unwrap()
    }
}

/// Prints a message even if the test passes, once.
pub fn loudly(text: &'static str) {
    use std::io::Write as _;
    static SAID: std::sync::Mutex<Vec<&str>> = std::sync::Mutex::new(Vec::new());
    let mut said = SAID.lock().unwrap();
    if !said.contains(&text) {
        said.push(text);
        let _ = writeln!(std::io::stderr(), "\n{text}");
    }
}

pub fn access() -> BucketAccess {
    BucketAccess::from_variables(|name| match std::env::var_os(name) {
        Some(value) => Some(value),
        None => matches!(name, "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY").then(|| "test".into()),
    })
    .unwrap()
}

pub fn random() -> String {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).unwrap();
    hex::encode(bytes)
}

pub async fn fresh_schema(url: &str) -> String {
    sqlx::any::install_default_drivers();
    let schema = format!("test_{}", random());
    let pool = sqlx::AnyPool::connect(url).await.expect("EVIDENCE_TEST_POSTGRES does not answer");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&pool).await.unwrap();
    pool.close().await;
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}options[search_path]={schema}")
}

pub fn digest(bytes: &[u8]) -> BlobDigest {
    BlobDigest(Sha256::digest(bytes).into())
}

/// The header of this name, for these bytes.
pub fn content_digest(bytes: &[u8]) -> String {
    use base64::Engine as _;
    format!("sha-256=:{}:", base64::engine::general_purpose::STANDARD.encode(digest(bytes).0))
}

pub fn request() -> RequestId {
    RequestId("test-request".to_owned())
}

/// An organization with one key of each role, which trusts the test key.
pub struct Tenant {
    pub upload: String,
    pub read: String,
    pub admin: String,
    pub revoked: String,
}

pub async fn tenant(service: &Service, slug: &str) -> Tenant {
    let operator = Operator::of(service);
    operator.create_organization(&format!("Name of {slug}"), slug).await.unwrap();
    operator.add_trusted_key(slug, &bundles::public_pem(&bundles::key()), "ci").await.unwrap();
    let mut keys = Vec::new();
    for role in [Role::Upload, Role::Read, Role::Admin, Role::Admin] {
        keys.push(operator.create_key(slug, role, "test").await.unwrap());
    }
    operator.revoke_key(slug, &keys[3].row.prefix).await.unwrap();
    let [upload, read, admin, revoked] = [0, 1, 2, 3].map(|n: usize| keys[n].key.reveal().to_owned());
    Tenant { upload, read, admin, revoked }
}

pub async fn principal(service: &Service, key: &str) -> Principal {
    service.authenticate(key).await.unwrap()
}

pub async fn upload(
    service: &Service,
    principal: &Principal,
    bytes: &[u8],
) -> Result<Stored, evidence_platform::error::Error> {
    let new = NewUpload { digest: digest(bytes), tags: Default::default(), retention_days: None };
    let body = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(bytes))]);
    service.upload(principal, &request(), new, body).await
}
