//! Writes the files, their checksums, the signature, and the archive.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use ed25519_dalek::{Signer as _, SigningKey};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::Outcome;

/// Any key will do: only the cost of signing is measured.
const KEY: [u8; 32] = *b"a made-up key, for measurements!";

/// The collected files.
pub(crate) struct Files {
    directory: PathBuf,
    written: Vec<(Box<str>, [u8; 32])>,
}

impl Files {
    pub(crate) fn new(directory: PathBuf) -> Outcome<Files> {
        fs::create_dir_all(directory.join("files"))?;
        Ok(Files { directory, written: Vec::new() })
    }

    pub(crate) fn count(&self) -> usize {
        self.written.len()
    }

    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> Outcome<()> {
        fs::write(self.directory.join("files").join(name), bytes)?;
        self.written.push((name.into(), Sha256::digest(bytes).into()));
        Ok(())
    }

    /// Adds checksums, signature and archive, and returns the archive's size.
    pub(crate) fn pack(mut self) -> Outcome<u64> {
        self.written.sort();
        let mut checksums = String::new();
        for (name, sum) in &self.written {
            checksums.push_str(&format!("{}  files/{name}\n", hex::encode(sum)));
        }
        let signature = SigningKey::from_bytes(&KEY).sign(checksums.as_bytes());
        let signature = hex::encode(signature.to_bytes());

        let path = self.directory.join("floor.tar.gz");
        let out = BufWriter::with_capacity(256 * 1024, File::create(&path)?);
        let mut archive = tar::Builder::new(GzEncoder::new(out, Compression::new(6)));
        for (name, bytes) in [("checksums.sha256", checksums), ("checksums.sha256.sig", signature)] {
            let mut header = tar::Header::new_ustar();
            header.set_size(u64::try_from(bytes.len())?);
            header.set_mode(0o644);
            archive.append_data(&mut header, name, bytes.as_bytes())?;
        }
        for (name, _) in &self.written {
            let bytes = fs::read(self.directory.join("files").join(&**name))?;
            let mut header = tar::Header::new_ustar();
            header.set_size(u64::try_from(bytes.len())?);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("files/{name}"), bytes.as_slice())?;
        }
        let mut out = archive.into_inner()?.finish()?;
        out.flush()?;
        Ok(fs::metadata(path)?.len())
    }
}
