//! Puts, gets and deletes blobs in a directory or a bucket.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence_bundle::text::saturating_usize;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::aws::Checksum;
use object_store::local::LocalFileSystem;
use object_store::path::Path as BlobPath;
use object_store::{
    ClientOptions, Error as StorageError, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode,
    RetryConfig, WriteMultipart,
};
use url::Url;

use crate::error::Error;
use crate::id::{BlobDigest, OrganizationId};
use crate::spool::Spooled;

use super::access::BucketAccess;
use super::fault::{self, Removal};

/// Blobs up to this size are put into a bucket in one conditional request; larger ones in parts of this size.
const PART_BYTES: u64 = 8 << 20;

/// The storage.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    directory: Option<PathBuf>,
    refusals: Arc<fault::Refusals>,
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blobs({})", self.store)
    }
}

impl Blobs {
    /// Opens the storage in this directory, and creates it if necessary.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub fn directory(directory: &Path) -> Result<Blobs, Error> {
        fs::create_dir_all(directory)?;
        let directory = fs::canonicalize(directory)?;
        let store = LocalFileSystem::new_with_prefix(&directory)
            .map_err(|error| Error::internal("the storage cannot be opened", error))?;
        let (store, refusals) = (Arc::new(store), Arc::default());
        Ok(Blobs { store, prefix: String::new(), directory: Some(directory), refusals })
    }

    /// Opens the storage in a bucket: `s3://bucket/prefix`.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the address or the access is not valid.
    pub fn bucket(address: &str, access: &BucketAccess) -> Result<Blobs, Error> {
        let invalid = || Error::Invalid("the storage must be a directory or s3://bucket/prefix".into());
        let url = Url::parse(address).map_err(|_| invalid())?;
        let bucket = url.host_str().filter(|_| url.scheme() == "s3").ok_or_else(invalid)?;
        // The client below panics without a cryptography provider. A second call does nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A request without an answer keeps its upload waiting, and the upload its slot. So retries end after this
        // time; when the client repeats the upload, it finds the claim.
        let retry =
            RetryConfig { max_retries: 4, retry_timeout: access.patience / 2, ..RetryConfig::default() };
        // An answer as a whole has no time limit: a client may take minutes to fetch a bundle.
        let options = ClientOptions::new().with_timeout_disabled().with_read_timeout(access.patience);
        let plain = access.endpoint().map_or(Ok(false), plain_http_is_local)?;
        let builder = access
            .builder()
            .with_bucket_name(bucket)
            .with_checksum_algorithm(Checksum::SHA256)
            .with_client_options(options)
            .with_allow_http(plain)
            // Delete one object per request: every service supports that, and answers with a status.
            .with_disable_bulk_delete(true)
            .with_retry(retry);
        let prefix = url.path().trim_matches('/').to_owned();
        let store = builder.build().map_err(|error| Error::unusable("the bucket cannot be used", error))?;
        tracing::info!(credentials = access.credentials(), "the storage is a bucket");
        Ok(Blobs { store: Arc::new(store), prefix, directory: None, refusals: Arc::default() })
    }

    /// The directory for spooled uploads from which a rename is enough to publish them.
    pub(crate) fn spool_directory(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join(".spool"))
    }

    fn path(&self, organization: &OrganizationId, digest: &BlobDigest) -> BlobPath {
        let digest = digest.to_string();
        let shard = digest.get(..2).unwrap_or_default();
        BlobPath::from(format!("{}/{organization}/{shard}/{digest}", self.prefix))
    }

    /// Stores a verified blob. Succeeds if it exists already.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] or [`Error::StorageRefused`], or with [`Error::Internal`] if the
    /// existing blob has another size.
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
        if existed && self.store.head(&path).await.map_err(|error| self.fault(error))?.size != size {
            return Err(Error::Internal("a stored blob is damaged: its size is wrong", None));
        }
        Ok(())
    }

    /// The error for the client.
    fn fault(&self, error: StorageError) -> Error {
        self.refusals.fault(error)
    }

    /// The same for a put, where "not found" can only mean the bucket.
    fn put_fault(&self, error: StorageError) -> Error {
        match error {
            StorageError::NotFound { path, source } => {
                self.fault(StorageError::PermissionDenied { path, source })
            }
            error => self.fault(error),
        }
    }

    /// Puts a blob into a bucket; `true` if it existed.
    async fn send(&self, path: &BlobPath, blob: Spooled) -> Result<bool, Error> {
        if blob.size <= PART_BYTES {
            return match self.store.put_opts(path, read(blob).await?.into(), PutMode::Create.into()).await {
                Ok(_) => Ok(false),
                Err(StorageError::AlreadyExists { .. }) => Ok(true),
                Err(error) => Err(self.put_fault(error)),
            };
        }
        // A multipart upload cannot be conditional. The name is the digest, so the worst case is the same bytes
        // once more.
        match self.store.head(path).await {
            Ok(_) => return Ok(true),
            Err(StorageError::NotFound { .. }) => {}
            Err(error) => return Err(self.fault(error)),
        }
        let part = saturating_usize(PART_BYTES);
        let begun = self.store.put_multipart(path).await.map_err(|error| self.put_fault(error))?;
        let mut upload = WriteMultipart::new_with_chunk_size(begun, part);
        match self.send_parts(&mut upload, blob).await {
            Ok(()) => {
                upload.finish().await.map_err(|error| self.fault(error))?;
                Ok(false)
            }
            Err(error) => {
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }

    async fn send_parts(&self, upload: &mut WriteMultipart, blob: Spooled) -> Result<(), Error> {
        let mut file = File::open(blob.file.path())?;
        loop {
            upload.wait_for_capacity(2).await.map_err(|error| self.fault(error))?;
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

    /// Opens a blob for reading; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] or [`Error::StorageRefused`].
    pub async fn get(
        &self,
        organization: &OrganizationId,
        digest: &BlobDigest,
    ) -> Result<Option<GetResult>, Error> {
        match self.store.get(&self.path(organization, digest)).await {
            Ok(found) => Ok(Some(found)),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault(error)),
        }
    }

    /// The size of a blob; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] or [`Error::StorageRefused`].
    pub async fn size(
        &self,
        organization: &OrganizationId,
        digest: &BlobDigest,
    ) -> Result<Option<u64>, Error> {
        match self.store.head(&self.path(organization, digest)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault(error)),
        }
    }

    /// Every blob with its size, and nothing else that is in the storage.
    pub fn list(&self) -> BoxStream<'static, Result<(OrganizationId, BlobDigest, u64), Error>> {
        let prefix = (!self.prefix.is_empty()).then(|| BlobPath::from(self.prefix.as_str()));
        let (own, refusals) = (self.prefix.clone(), Arc::clone(&self.refusals));
        let listed = self.store.list(prefix.as_ref());
        let blob = move |found: Result<ObjectMeta, StorageError>| match found {
            Ok(found) => {
                blob_at(&own, found.location.as_ref()).map(|(whose, digest)| Ok((whose, digest, found.size)))
            }
            // The folder of a storage without a blob.
            Err(StorageError::NotFound { .. }) => None,
            Err(error) => Some(Err(refusals.fault(error))),
        };
        listed.filter_map(move |found| std::future::ready(blob(found))).boxed()
    }

    /// Deletes a blob. Succeeds if it does not exist.
    pub async fn delete(&self, organization: &OrganizationId, digest: &BlobDigest) -> Removal {
        match self.store.delete(&self.path(organization, digest)).await {
            Ok(()) | Err(StorageError::NotFound { .. }) => Removal::Done,
            Err(error) if self.directory.is_some() || fault::has_ended(&error) => {
                Removal::Failed(self.fault(error))
            }
            Err(error) => Removal::Unknown(self.fault(error)),
        }
    }

    /// Checks that the storage accepts a small object. For a directory, the spooled file already proves it: it is
    /// on the same file system.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] or [`Error::StorageRefused`].
    pub(crate) async fn probe(&self, blob: Spooled) -> Result<(), Error> {
        if self.directory.is_some() {
            return Ok(());
        }
        let path = BlobPath::from(format!("{}/ready", self.prefix));
        let written = self.store.put(&path, read(blob).await?.into()).await;
        written.map(drop).map_err(|error| self.put_fault(error))
    }
}

/// The blob at this path below the prefix: `<organization>/<two digits>/<digest>`.
fn blob_at(prefix: &str, path: &str) -> Option<(OrganizationId, BlobDigest)> {
    let rest = path.strip_prefix(prefix)?.trim_start_matches('/');
    let mut parts = rest.split('/');
    let (organization, shard, digest) = (parts.next()?, parts.next()?, parts.next()?);
    let well_formed = organization.starts_with("org_") && digest.starts_with(shard) && shard.len() == 2;
    let digest = BlobDigest::parse(digest).filter(|_| well_formed && parts.next().is_none())?;
    Some((OrganizationId::stored(organization.to_owned()), digest))
}

/// Reads a blob that fits into memory.
async fn read(blob: Spooled) -> Result<Vec<u8>, Error> {
    Ok(tokio::task::spawn_blocking(move || fs::read(blob.file.path())).await.map_err(Error::join)??)
}

/// Renames the file to its target unless that exists; `true` if it exists. Syncs all directories on the way.
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
    let url =
        Url::parse(endpoint).map_err(|_| Error::Invalid("the storage's endpoint is not a URL".into()))?;
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
    fn a_blob_is_named_by_its_folder_and_its_digest() {
        let digest = "ab".repeat(32);
        let found = blob_at("some/where", &format!("some/where/org_1/ab/{digest}")).unwrap();
        assert_eq!((found.0.as_str(), found.1.to_string()), ("org_1", digest.clone()));
        assert!(blob_at("", &format!("org_1/ab/{digest}")).is_some());
        for path in [
            "ready".to_owned(),
            format!(".spool/{digest}"),
            format!("org_1/cd/{digest}"),
            format!("org_1/ab/{digest}/more"),
            "org_1/ab/abc".to_owned(),
        ] {
            assert!(blob_at("", &path).is_none(), "{path}");
        }
    }

    #[test]
    fn a_bucket_needs_an_address_and_whole_keys() {
        let access = BucketAccess::from_variables(|_| None).unwrap();
        for address in ["s3:", "gs://bucket", "https://bucket"] {
            assert!(matches!(Blobs::bucket(address, &access), Err(Error::Invalid(_))), "{address}");
        }
        let half = |name: &str| (name == "AWS_ACCESS_KEY_ID").then(|| "AKIA".into());
        let outcome = Blobs::bucket("s3://bucket/prefix", &BucketAccess::from_variables(half).unwrap());
        assert!(matches!(outcome, Err(Error::Unusable(..))), "{outcome:?}");
    }
}
