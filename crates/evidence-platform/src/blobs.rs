//! The storage of bundles: write-once, each under the SHA-256 of its bytes, in a directory or an S3-compatible bucket.
//!
//! Every organization has its own folder, so nobody's upload tells what somebody else has. A blob is never changed; it
//! appears whole and synced, or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, Checksum};
use object_store::local::LocalFileSystem;
use object_store::path::Path as BlobPath;
use object_store::{
    ClientOptions, Error as StorageError, GetResult, ObjectStore, ObjectStoreExt as _, PutMode, RetryConfig,
    WriteMultipart,
};
use url::Url;

use crate::error::Error;
use crate::id::{BlobDigest, OrganizationId};
use crate::spool::Spooled;

/// Blobs up to this size go to a bucket in one conditional request; larger ones in parts of it.
const PART_BYTES: u64 = 8 << 20;

/// How to reach a bucket. Never printed whole: it holds credentials.
#[derive(Clone, Default)]
pub struct BucketAccess {
    /// Where the service is; the provider's own address if absent.
    pub endpoint: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The name of the access key.
    pub access_key_id: Option<String>,
    /// Its secret.
    pub secret_access_key: Option<String>,
    /// The token of a temporary access key.
    pub session_token: Option<String>,
}

impl fmt::Debug for BucketAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketAccess").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The storage.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    directory: Option<PathBuf>,
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blobs({})", self.store)
    }
}

impl Blobs {
    /// The storage in this directory, which is created.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub fn directory(directory: &Path) -> Result<Blobs, Error> {
        fs::create_dir_all(directory)?;
        let directory = fs::canonicalize(directory)?;
        let store = LocalFileSystem::new_with_prefix(&directory)?;
        Ok(Blobs { store: Arc::new(store), prefix: String::new(), directory: Some(directory) })
    }

    /// The storage in a bucket: `s3://bucket/prefix`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the address or the access cannot be used.
    pub fn bucket(address: &str, access: &BucketAccess) -> Result<Blobs, Error> {
        let invalid = || Error::Invalid("the storage must be a directory or s3://bucket/prefix".into());
        let url = Url::parse(address).map_err(|_| invalid())?;
        let bucket = url.host_str().filter(|_| url.scheme() == "s3").ok_or_else(invalid)?;
        let (Some(id), Some(secret)) = (&access.access_key_id, &access.secret_access_key) else {
            let needed = "a bucket needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            return Err(Error::Invalid(needed.into()));
        };
        // The client below panics where nobody has said who does its cryptography. The second call does nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry =
            RetryConfig { max_retries: 4, retry_timeout: Duration::from_secs(30), ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(access.region.as_deref().unwrap_or("us-east-1"))
            .with_access_key_id(id)
            .with_secret_access_key(secret)
            .with_checksum_algorithm(Checksum::SHA256)
            .with_client_options(ClientOptions::new().with_timeout(Duration::from_secs(60)))
            .with_retry(retry);
        if let Some(token) = &access.session_token {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) = &access.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(plain_http_is_local(endpoint)?);
        }
        let prefix = url.path().trim_matches('/').to_owned();
        let store = builder.build().map_err(|error| Error::Invalid(format!("the bucket: {error}")))?;
        Ok(Blobs { store: Arc::new(store), prefix, directory: None })
    }

    /// Where uploads should be spooled so that publishing them is a matter of a name.
    pub(crate) fn spool_directory(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join(".spool"))
    }

    fn path(&self, organization: &OrganizationId, digest: &BlobDigest) -> BlobPath {
        let digest = digest.to_string();
        let shard = digest.get(..2).unwrap_or_default();
        BlobPath::from(format!("{}/{organization}/{shard}/{digest}", self.prefix))
    }

    /// Stores what is proven. If it is there already, that is fine.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Internal`] if what is there has another size.
    pub async fn put(&self, organization: &OrganizationId, blob: Spooled) -> Result<(), Error> {
        let path = self.path(organization, &blob.digest);
        let size = blob.size;
        let existed = match &self.directory {
            Some(root) => {
                let root = root.clone();
                let target = root.join(path.as_ref());
                tokio::task::spawn_blocking(move || publish(blob, &root, &target))
                    .await
                    .map_err(Error::join)??
            }
            None => self.send(&path, blob).await?,
        };
        if existed && self.store.head(&path).await?.size != size {
            return Err(Error::Internal("a stored blob is damaged: its size is wrong", None));
        }
        Ok(())
    }

    /// Puts a blob into a bucket; `true` if it was there.
    async fn send(&self, path: &BlobPath, blob: Spooled) -> Result<bool, Error> {
        if blob.size <= PART_BYTES {
            let bytes = tokio::task::spawn_blocking(move || fs::read(blob.file.path()))
                .await
                .map_err(Error::join)??;
            return match self.store.put_opts(path, bytes.into(), PutMode::Create.into()).await {
                Ok(_) => Ok(false),
                Err(StorageError::AlreadyExists { .. }) => Ok(true),
                Err(error) => Err(error.into()),
            };
        }
        // Parts cannot be sent on condition. The name is the digest, so the worst is the same bytes once more.
        match self.store.head(path).await {
            Ok(_) => return Ok(true),
            Err(StorageError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let part = usize::try_from(PART_BYTES).unwrap_or(usize::MAX);
        let mut upload = WriteMultipart::new_with_chunk_size(self.store.put_multipart(path).await?, part);
        match send_parts(&mut upload, blob).await {
            Ok(()) => {
                upload.finish().await?;
                Ok(false)
            }
            Err(error) => {
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    /// Opens a blob for reading; `None` if it is not there.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn get(
        &self,
        organization: &OrganizationId,
        digest: &BlobDigest,
    ) -> Result<Option<GetResult>, Error> {
        match self.store.get(&self.path(organization, digest)).await {
            Ok(found) => Ok(Some(found)),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a blob. If it is not there, that is fine.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn delete(&self, organization: &OrganizationId, digest: &BlobDigest) -> Result<(), Error> {
        match self.store.delete(&self.path(organization, digest)).await {
            Ok(()) | Err(StorageError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the storage answers.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn ping(&self) -> Result<(), Error> {
        match &self.directory {
            Some(root) => {
                tokio::fs::metadata(root).await?;
                Ok(())
            }
            None => match self.store.head(&BlobPath::from(format!("{}/ready", self.prefix))).await {
                Ok(_) | Err(StorageError::NotFound { .. }) => Ok(()),
                Err(error) => Err(error.into()),
            },
        }
    }
}

async fn send_parts(upload: &mut WriteMultipart, blob: Spooled) -> Result<(), Error> {
    let mut file = File::open(blob.file.path())?;
    loop {
        upload.wait_for_capacity(2).await?;
        let mut part = Vec::new();
        let read;
        (file, part, read) = tokio::task::spawn_blocking(move || {
            let read = file.by_ref().take(PART_BYTES).read_to_end(&mut part);
            (file, part, read)
        })
        .await
        .map_err(Error::join)?;
        if read? == 0 {
            return Ok(());
        }
        upload.put(part.into());
    }
}

/// Gives the file its name unless something has it; `true` if something has. All directories on the way are synced.
fn publish(blob: Spooled, root: &Path, target: &Path) -> Result<bool, Error> {
    let folder = target.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    let existed = match blob.file.persist_noclobber(target) {
        Ok(_) => false,
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => true,
        Err(error) => return Err(error.error.into()),
    };
    let mut folder = Some(folder);
    while let Some(directory) = folder.filter(|directory| directory.starts_with(root)) {
        File::open(directory)?.sync_all()?;
        folder = directory.parent();
    }
    Ok(existed)
}

fn plain_http_is_local(endpoint: &str) -> Result<bool, Error> {
    let url = Url::parse(endpoint).map_err(|_| Error::Invalid("the storage's endpoint is no URL".into()))?;
    let local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(false),
        "http" if local => Ok(true),
        _ => Err(Error::Invalid("the storage's endpoint must be https, except on this machine".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        assert!(plain_http_is_local("http://127.0.0.1:9000").unwrap());
        assert!(!plain_http_is_local("https://storage.example.com").unwrap());
        for endpoint in ["http://storage.example.com", "ftp://127.0.0.1", "127.0.0.1:9000", ""] {
            assert!(plain_http_is_local(endpoint).is_err(), "{endpoint}");
        }
    }

    #[test]
    fn a_bucket_needs_an_address_and_a_key() {
        let access = BucketAccess::default();
        for address in ["s3:", "gs://bucket", "s3://bucket/prefix"] {
            assert!(matches!(Blobs::bucket(address, &access), Err(Error::Invalid(_))), "{address}");
        }
        let secret = BucketAccess { secret_access_key: Some("hidden".into()), ..BucketAccess::default() };
        assert!(!format!("{secret:?}").contains("hidden"));
    }
}
