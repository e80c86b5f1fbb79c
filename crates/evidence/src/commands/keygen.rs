//! `evidence keygen`: creates a key pair in standard formats.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use evidence_bundle::key::SigningKey;
use evidence_bundle::trust::NAMESPACE;
use evidence_os::file::{self, Readers};
use evidence_text::{Safe, safe};

use crate::cli::KeygenArgs;
use crate::console;
use crate::error::Error;
use crate::exit::Exit;
use crate::signing;

/// Runs the command.
pub(super) fn run(args: &KeygenArgs) -> Result<Exit, Error> {
    let pair = write_key_pair(&args.output)?;
    console::print(&pair.describe());
    pair.warn();
    Ok(Exit::Success)
}

/// A key pair on disk.
pub(super) struct KeyPair {
    private: PathBuf,
    public: PathBuf,
    key_id: String,
    fingerprint: String,
    allowed_signer: String,
}

impl KeyPair {
    /// The paths and identifiers of the keys.
    pub(super) fn describe(&self) -> Safe {
        safe!(
            "private key  {}  (keep it secret; anyone who has it can sign as you)\n\
             public key   {}  (give it to your auditor, through a separate channel)\n\
             key id       {}\n\
             fingerprint  {}\n\
             OpenSSH      {}\n",
            Safe::of(&self.private.to_string_lossy()),
            Safe::of(&self.public.to_string_lossy()),
            Safe::of(&self.key_id),
            Safe::of(&self.fingerprint),
            Safe::of(&self.allowed_signer)
        )
    }

    /// Warns on standard error if `collect` will refuse the key at its location.
    pub(super) fn warn(&self) {
        let Ok(Some(weakness)) = signing::weakness(&self.private) else { return };
        let mut text = safe!(
            "note: other users could replace this key, so `evidence collect` will refuse it: {}\n",
            Safe::of(&weakness.to_string())
        );
        weakness.help().iter().for_each(|line| text.push(&safe!("  help: {}\n", Safe::of(line))));
        console::note(&text);
    }
}

/// Creates a key pair: the private key readable by its owner alone, the public key next to it.
pub(super) fn write_key_pair(private: &Path) -> Result<KeyPair, Error> {
    let public = public_path(private);
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source: io::Error| Error::Write {
            help: (source.kind() == io::ErrorKind::AlreadyExists)
                .then(|| "existing keys are never overwritten".into()),
            path,
            source,
        }
    };
    if public.symlink_metadata().is_ok() {
        return Err(failed(&public)(taken()));
    }
    let key = SigningKey::generate().map_err(|error| failed(private)(io::Error::other(error.to_string())))?;
    let pem = key.to_pkcs8_v1_pem().map_err(|error| failed(private)(io::Error::other(error.to_string())))?;
    write_new(private, pem.as_bytes(), Readers::Owner).map_err(failed(private))?;
    let verifying = key.public_key();
    write_new(&public, verifying.to_spki_pem().as_bytes(), Readers::Everyone).map_err(failed(&public))?;
    Ok(KeyPair {
        private: private.to_path_buf(),
        public,
        key_id: verifying.key_id().to_string(),
        fingerprint: verifying.ssh_fingerprint(),
        allowed_signer: format!("signer namespaces=\"{NAMESPACE}\" {}", verifying.to_openssh()),
    })
}

/// `acme.pem` → `acme.pub.pem`
pub(super) fn public_path(private: &Path) -> PathBuf {
    let mut name = private.file_stem().unwrap_or_default().to_os_string();
    name.push(".pub.pem");
    private.with_file_name(name)
}

/// The error for an existing file; the standard message speaks of an "entity".
pub(super) fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it already exists")
}

/// Writes a file that must not exist yet.
pub(super) fn write_new(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let mut file = file::create_new(path, readers)?;
    file.write_all(bytes)?;
    file.sync_all()
}
