//! Step 6, from the signature on: the archive under its final name, complete and verified, or not at all.
//!
//! The bundle is written under a temporary name in the same directory, read back with the verifier's own code, put
//! on the disk for good, and only then given its name. A name that is taken is never overwritten. A detached signature is
//! made over the bytes that were read back, and has its name before the bundle has: a bundle is never seen without it.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use evidence_bundle::detached::{self, ArchiveDigest};
use evidence_bundle::key::SigningKey;
use evidence_bundle::read::{Expectations, Failure, Limits, UntrustedBundle};
use evidence_bundle::trust::TrustRoot;
use evidence_bundle::write::WriteError;
use evidence_bundle::{SignedBundle, UnsignedBundle};
use evidence_os::file;
use jiff::Timestamp;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::spool::{Item, Reader, Spool};
use crate::temporary;

/// How many seconds forward a free name is looked for.
const NAMES_TRIED: i64 = 60;

/// A finished bundle.
#[derive(Debug)]
pub struct Delivered {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where the detached signature is, if one was wanted.
    pub signature: Option<PathBuf>,
    /// Its id, as read back from its manifest.
    pub bundle_id: String,
}

/// The output directory. One that was made for this run and stays empty goes again.
#[derive(Debug)]
pub struct OutputDirectory<'a> {
    path: &'a Path,
    is_new: bool,
}

impl OutputDirectory<'_> {
    /// Makes the directory, for its owner alone, if it is not there; if it is, takes away what killed runs left in it.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or something else has its name.
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
            // Fails, as it should, if there is a bundle in it.
            let _ = fs::remove_dir(self.path);
        }
    }
}

/// Where a bundle goes, who signs it, and what it must be.
pub struct Delivery<'a> {
    /// The output directory.
    pub directory: &'a Path,
    /// The key that signs.
    pub key: &'a SigningKey,
    /// The organization the bundle is about.
    pub organization: &'a str,
    /// The most bytes the archive may have.
    pub limit: u64,
    /// Whether a signature over the whole archive is written beside it.
    pub detached_signature: bool,
    /// Whether the user still wants it.
    pub interrupt: &'a Interrupt,
}

impl Delivery<'_> {
    /// Signs and writes the bundle that `assemble` completes for a time of creation, beginning with `created_at`.
    ///
    /// # Errors
    ///
    /// If it is too large, cannot be written, or does not verify; nothing is left then.
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
            if is_taken(&path) || signature.as_deref().is_some_and(is_taken) {
                continue;
            }
            assemble(spool, second).map_err(|source| Error::Bundle(WriteError::Write(source)))?;
            let reader = spool
                .reader()
                .map_err(|source| Error::Spool { directory: self.directory.to_path_buf(), source })?;
            let files: Vec<&Item> = reader.items().iter().collect();
            let bundle = UnsignedBundle::new(second, files).and_then(|bundle| bundle.sign(self.key));
            let bundle = bundle?;
            let (file, bytes) = self.write(&reader, &bundle)?;
            // Its lists are as long as those that the verification now makes for itself.
            drop(bundle);
            let (bundle_id, digest) = self.verify(file.as_file())?;
            let signed = match signature {
                Some(path) => Some((self.sign(digest)?, path)),
                None => None,
            };
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
                    // The name is on the disk for good once the directory is. The bundle is there and whole already,
                    // so a directory that cannot be opened for that (mode 0300) is no reason to deny it.
                    let _ = file::sync_directory(self.directory);
                    let signature = signature.and_then(|mut named| named.0.take());
                    return Ok(Delivered { path, bytes, signature, bundle_id });
                }
                // Another run took the name in the same second.
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
        bundle: &SignedBundle<&Item>,
    ) -> Result<(NamedTempFile, u64), Error> {
        // A run beside this one that ended without a bundle has taken its empty directory away.
        file::create_directory(self.directory).map_err(|source| self.failed(source))?;
        let file = temporary::create(self.directory).map_err(|source| self.failed(source))?;
        let out = BufWriter::with_capacity(256 * 1024, self.interrupt.guard(file.as_file()));
        let written = bundle.write(out, Some(self.limit), |item| Ok(reader.content(item)));
        if let Some(exit) = self.interrupt.raised() {
            return Err(Error::Interrupted { exit, help: None });
        }
        match written {
            Ok(bytes) => Ok((file, bytes)),
            Err(WriteError::Write(source)) => Err(self.failed(source)),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the file back as `evidence verify` would: the "verified" of the output means just that. Gives its id, and the
    /// digest of what was read for the detached signature.
    fn verify(&self, mut file: &File) -> Result<(String, ArchiveDigest), Error> {
        file.rewind().map_err(|error| Error::SelfVerification(Failure::CannotJudge(error)))?;
        let mut trust = TrustRoot::new();
        trust.add_key("your own signing key", self.key.public_key());
        let organization = Some(self.organization.to_string());
        let expectations = Expectations { organization, ..Expectations::default() };
        let mut digested =
            Digested { file, digest: ArchiveDigest::default(), is_wanted: self.detached_signature };
        let bundle = UntrustedBundle::new(BufReader::with_capacity(256 * 1024, &mut digested))
            .verify(&trust, &expectations, &Limits::default())
            .map_err(Error::SelfVerification)?;
        Ok((bundle.bundle_id, digested.digest))
    }

    /// The detached signature, whole and on the disk, but without its name.
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

/// A file that goes again if its bundle does not come.
struct Named(Option<PathBuf>);

impl Drop for Named {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// The archive, digested as it is read: the verifier reads it from its first byte to its last.
struct Digested<'a> {
    file: &'a File,
    digest: ArchiveDigest,
    is_wanted: bool,
}

impl Read for Digested<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if self.is_wanted {
            self.digest.write_all(buffer.get(..read).unwrap_or_default())?;
        }
        Ok(read)
    }
}

/// `evidence-bundle-YYYYMMDD-HHMMSS.tar.gz.sig`
fn signature_path(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_os_string();
    name.push(detached::SUFFIX);
    PathBuf::from(name)
}

/// `evidence-bundle-YYYYMMDD-HHMMSS.tar.gz`, in UTC.
fn file_name(created_at: i64) -> String {
    let time = Timestamp::from_second(created_at).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("evidence-bundle-{}.tar.gz", time.strftime("%Y%m%d-%H%M%S"))
}
