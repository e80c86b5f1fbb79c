//! The follow-up commands that `collect` prints. They work when pasted into the shell that ran `collect`.

use std::path::{Path, PathBuf};

use evidence_bundle::key::PublicKey;
use evidence_os::input;
use evidence_os::shell;
use evidence_view::terms::KEY_FILE_BYTES;

use super::keygen::public_path;
use crate::config::{KeySource, SigningConfig};
use crate::env::Env;

/// The commands, ready to paste.
pub(super) struct Next {
    pub(super) verify: String,
    pub(super) show: String,
    pub(super) upload: String,
}

/// The commands for a bundle that `key` has just signed, with the configuration in `config`.
pub(super) fn next(
    bundle: &Path,
    config: &Path,
    signing: &SigningConfig,
    key: &PublicKey,
    env: &Env,
) -> Next {
    let bundle = shell::path(bundle);
    let config = format!("--config {}", shell::path(config));
    // The first place that names trusted keys wins, so the configuration's key may not be consulted.
    let overruled = !signing.trusted_keys.is_empty() || env.var_os("EVIDENCE_TRUSTED_KEYS").is_some();
    let trust = match public_file(&signing.key, key) {
        Some(path) => format!("-k {}", shell::path(&path)),
        None if overruled => format!("--fingerprint {}", key.key_id()),
        None => config.clone(),
    };
    Next {
        verify: format!("evidence verify {bundle} {trust}"),
        show: format!("evidence show {bundle} {trust}"),
        upload: format!("evidence upload {bundle} {config}"),
    }
}

/// The public key file next to the private one, as `evidence keygen` or `ssh-keygen` names it.
fn public_file(private: &KeySource, key: &PublicKey) -> Option<PathBuf> {
    let private = match private {
        KeySource::File(path) => path,
        KeySource::Env(_) => return None,
    };
    let mut openssh = private.clone().into_os_string();
    openssh.push(".pub");
    [public_path(private), PathBuf::from(openssh)].into_iter().find(|path| {
        let contents = input::read(path, KEY_FILE_BYTES);
        contents.is_ok_and(|(bytes, _)| PublicKey::parse_all(&bytes).is_ok_and(|keys| keys.contains(key)))
    })
}
