//! Step 6, from the signature on: publishes the archive under its final name, complete and verified, or not at all.
//!
//! The bundle is written under a temporary name in the same directory, read back with the verifier's own code, synced
//! to disk, and only then renamed. An existing file is never overwritten. A detached signature covers the bytes that
//! were read back and gets its name before the bundle does, so a bundle is never visible without it. A reproducible run
//! whose bundle is there already, byte for byte, leaves it as it is.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use evidence_bundle::detached::{self, ArchiveDigest};
use evidence_bundle::hashing::Hashing;
use evidence_bundle::key::SigningKey;
use evidence_bundle::read::{Expectations, Failure, Limits, UntrustedBundle};
use evidence_bundle::trust::TrustRoot;
use evidence_bundle::write::WriteError;
use evidence_bundle::{SignedBundle, UnsignedBundle};
use evidence_os::file;
use jiff::Timestamp;
use tempfile::NamedTempFile;

use crate::bundle_file::BUFFER;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::spool::{Item, Reader, Spool};
use crate::temporary;

/// How many seconds ahead to look for a free name.
const NAMES_TRIED: i64 = 60;

/// A finished bundle.
#[derive(Debug)]
pub struct Delivered {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The path of the detached signature, if one was requested.
    pub signature: Option<PathBuf>,
    /// Its id, read back from the manifest.
    pub bundle_id: String,
    /// The SHA-256 of its list of checksums, in hex.
    pub checksums_sha256: String,
}

/// The output directory. Dropping it removes a directory that was created for this run and is still empty.
#[derive(Debug)]
pub struct OutputDirectory<'a> {
    path: &'a Path,
    is_new: bool,
}

impl OutputDirectory<'_> {
    /// Creates the directory, readable by its owner alone, or removes leftovers of killed runs from an existing one.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created, or if something else has its name.
    pub fn prepare(path: &Path) -> Result<OutputDirectory<'_>, Error> {
        let failed = |source| Error::Output { directory: path.to_path_buf(), source };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                temporary::sweep(path);
                Ok(OutputDirectory { path, is_new: false })
            }
            Ok(_) => Err(failed(io::Error::from(io::ErrorKind::NotADirectory))),
            Err(_) => {
                file::create_directory(path).map_err(failed)?;
                Ok(OutputDirectory { path, is_new: true })
            }
        }
    }
}

impl Drop for OutputDirectory<'_> {
    fn drop(&mut self) {
        if self.is_new {
            // Fails, as intended, if the directory holds a bundle.
            let _ = fs::remove_dir(self.path);
        }
    }
}

/// The bundle's destination, signer and requirements.
pub struct Delivery<'a> {
    /// The output directory.
    pub directory: &'a Path,
    /// The key that signs.
    pub key: &'a SigningKey,
    /// The organization that the bundle describes.
    pub organization: &'a str,
    /// Whether the same facts must give the same bytes, also beside an earlier bundle.
    pub reproducible: bool,
    /// The maximum size of the archive in bytes.
    pub limit: u64,
    /// Whether to write a signature over the whole archive next to it.
    pub detached_signature: bool,
    /// Raised when the user stops the run.
    pub interrupt: &'a Interrupt,
}

impl Delivery<'_> {
    /// Signs and writes the bundle. `assemble` completes it for a creation time, starting with `created_at`.
    ///
    /// # Errors
    ///
    /// Fails if the bundle is too large, cannot be written, or does not verify. No file is left then.
    pub fn deliver(
        &self,
        spool: &mut Spool,
        created_at: i64,
        mut assemble: impl FnMut(&mut Spool, i64) -> io::Result<()>,
    ) -> Result<Delivered, Error> {
        for second in created_at..created_at.saturating_add(NAMES_TRIED) {
            let path = self.directory.join(file_name(second));
            let signature = self.detached_signature.then(|| signature_path(&path));
            let is_taken = |path: &Path| path.symlink_metadata().is_ok();
            let taken = is_taken(&path) || signature.as_deref().is_some_and(is_taken);
            if taken && !(self.reproducible && path.is_file()) {
                continue;
            }
            assemble(spool, second).map_err(|source| Error::Bundle(WriteError::Write(source)))?;
            let reader = spool
                .reader()
                .map_err(|source| Error::Spool { directory: self.directory.to_path_buf(), source })?;
            let files: Vec<Item<'_>> = reader.items().iter().collect();
            let bundle = UnsignedBundle::new(second, files).and_then(|bundle| bundle.sign(self.key));
            let bundle = bundle?;
            let (file, bytes) = self.write(&reader, &bundle)?;
            // Frees its lists before the verification builds lists of the same length.
            drop(bundle);
            let (bundle_id, checksums_sha256, digest) = self.verify(file.as_file())?;
            let signed = match signature {
                Some(path) => Some((self.sign(digest)?, path)),
                None => None,
            };
            if taken {
                let same = |new: &NamedTempFile, path: &Path| is_same(new.as_file(), path);
                let is_signed = signed.as_ref().is_none_or(|(file, path)| same(file, path));
                if !is_signed || !same(&file, &path) {
                    continue;
                }
                let signature = signed.map(|(_, path)| path);
                return Ok(Delivered { path, bytes, signature, bundle_id, checksums_sha256 });
            }
            file.as_file().sync_all().map_err(|source| self.failed(source))?;
            if let Some(exit) = self.interrupt.raised() {
                return Err(Error::Interrupted { exit, help: None });
            }
            let signature = match signed {
                Some((file, path)) => match file.persist_noclobber(&path) {
                    Ok(_) => Some(Named(Some(path))),
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(self.failed(error.error)),
                },
                None => None,
            };
            match file.persist_noclobber(&path) {
                Ok(_) => {
                    // Syncing the directory makes the name durable. The bundle exists and is complete by now, so a
                    // directory that cannot be opened for syncing (mode 0300) is not an error.
                    let _ = file::sync_directory(self.directory);
                    let signature = signature.and_then(|mut named| named.0.take());
                    return Ok(Delivered { path, bytes, signature, bundle_id, checksums_sha256 });
                }
                // Another run took the name within the same second.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.failed(error.error)),
            }
        }
        let taken = "every name of the next minute is taken";
        Err(self.failed(io::Error::new(io::ErrorKind::AlreadyExists, taken)))
    }

    fn write(
        &self,
        reader: &Reader<'_>,
        bundle: &SignedBundle<Item<'_>>,
    ) -> Result<(NamedTempFile, u64), Error> {
        // A concurrent run that ended without a bundle may have removed its empty directory.
        file::create_directory(self.directory).map_err(|source| self.failed(source))?;
        let file = temporary::create(self.directory).map_err(|source| self.failed(source))?;
        let out = BufWriter::with_capacity(BUFFER, self.interrupt.guard(file.as_file()));
        let written = bundle.write(out, Some(self.limit), |item| Ok(reader.content(*item)));
        if let Some(exit) = self.interrupt.raised() {
            return Err(Error::Interrupted { exit, help: None });
        }
        match written {
            Ok(bytes) => Ok((file, bytes)),
            Err(WriteError::Write(source)) => Err(self.failed(source)),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the file back as `evidence verify` does, but for the judgement. Returns the
    /// bundle's id, the digest of its list, and the digest for the detached signature.
    fn verify(&self, mut file: &File) -> Result<(String, String, ArchiveDigest), Error> {
        file.rewind().map_err(|error| Error::SelfVerification(Failure::CannotJudge(error)))?;
        let mut trust = TrustRoot::new();
        trust.add_key("your own signing key", self.key.public_key());
        let organization = Some(self.organization.to_string());
        let expectations = Expectations { organization, ..Expectations::default() };
        // Digested while the verifier reads it from the first byte to the last.
        let mut digested = Hashing::with(file, ArchiveDigest::default());
        let read: &mut dyn Read = if self.detached_signature { &mut digested } else { &mut file };
        let written = BufReader::with_capacity(BUFFER, read);
        let limits = Limits::default();
        // The checks were just judged from these facts. Judging them again would take half as much memory once more, so only
        // the builds that tests use do it, for each of their bundles.
        let bundle = if cfg!(debug_assertions) {
            evidence_rules::repeat::verify(written, &trust, &expectations, &limits)
        } else {
            UntrustedBundle::new(written).verify(&trust, &expectations, &limits)
        };
        let bundle = bundle.map_err(Error::SelfVerification)?;
        Ok((bundle.manifest.bundle_id, hex::encode(bundle.checksums_sha256), digested.into_hash()))
    }

    /// The detached signature, complete and synced to disk, but not yet named.
    fn sign(&self, digest: ArchiveDigest) -> Result<NamedTempFile, Error> {
        let write = || {
            let text = digest.sign(self.key).map_err(io::Error::other)?;
            let mut file = temporary::create(self.directory)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            Ok(file)
        };
        write().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Output { directory: self.directory.to_path_buf(), source }
    }
}

/// Whether the file there has the same bytes. One that cannot be read has not.
fn is_same(mut new: &File, path: &Path) -> bool {
    let mut same = || {
        new.rewind()?;
        let (mut new, mut there) = (BufReader::new(new), BufReader::new(File::open(path)?));
        loop {
            let (left, right) = (new.fill_buf()?, there.fill_buf()?);
            let length = left.len().min(right.len());
            if left.get(..length) != right.get(..length) || (length == 0 && left.len() != right.len()) {
                return io::Result::Ok(false);
            }
            if length == 0 {
                return Ok(true);
            }
            new.consume(length);
            there.consume(length);
        }
    };
    same().unwrap_or(false)
}

/// A file that is removed unless its bundle is published.
struct Named(Option<PathBuf>);

impl Drop for Named {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// `evidence-bundle-YYYYMMDD-HHMMSS.tar.gz.sig`
pub(crate) fn signature_path(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_os_string();
    name.push(detached::SUFFIX);
    PathBuf::from(name)
}

/// `evidence-bundle-YYYYMMDD-HHMMSS.tar.gz`, in UTC.
fn file_name(created_at: i64) -> String {
    let time = Timestamp::from_second(created_at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("evidence-bundle-{}.tar.gz", time.strftime("%Y%m%d-%H%M%S"))
}
