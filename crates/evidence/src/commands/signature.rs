//! `evidence verify --signature`: checks that a trusted key signed this file.
//!
//! For files other than bundles, such as the SHA256SUMS of a release. The signature has the format of a bundle's: 64
//! bytes, Ed25519 over the file's own bytes.

use std::io::IsTerminal as _;
use std::path::Path;

use evidence_bundle::Reason;
use evidence_bundle::trust::Revocation;
use evidence_os::input;
use evidence_text::{Safe, safe};

use super::trust::trust_root;
use super::verify::{GREEN, RED, file_name};
use crate::cli::VerifyArgs;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// The maximum file size: Ed25519 needs the whole message at once.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Runs the command.
pub(super) fn run(args: &VerifyArgs, signature: &Path, env: &Env) -> Result<Exit, Error> {
    let trust = trust_root(&args.trust, env)?;
    if trust.is_empty() {
        return Err(Error::Usage {
            message: "no key to check the signature with".to_string(),
            help: "name the signer's public key with --public-key".to_string(),
        });
    }
    let [file] = args.bundles.as_slice() else {
        return Err(Error::Usage {
            message: "--signature checks one file".to_string(),
            help: "run the command once for each file".to_string(),
        });
    };
    let message = read(file)?;
    let bytes = read(signature)?;
    let signature = bytes.as_slice().try_into().map_err(|_| Error::Usage {
        message: format!("{} is not an Ed25519 signature of 64 bytes", shown(signature)),
        help: "check OpenSSH's signature of a bundle with `ssh-keygen -Y verify`".to_string(),
    })?;
    let now = env.clock.now().as_second();
    let signer =
        trust.keys().iter().find(|entry| entry.is_valid_at(now) && entry.key.verifies(&message, &signature));
    let name = file_name(file);
    let revoked = signer.and_then(|entry| trust.revocation(&entry.key));
    let signer = signer.filter(|_| revoked.is_none());
    let text = match signer {
        None if let Some(Revocation { label, why, .. }) = revoked => Err(safe!(
            "{RED}FAILED{RED:#} {}: the key that signed this file is revoked: {} ({})\n",
            Safe::of(&Reason::KeyRevoked.to_string()),
            Safe::of(why),
            Safe::of(label);
            RED
        )),
        Some(entry) => Ok(safe!(
            "  signature   {GREEN}OK{GREEN:#}   {}\n  key         {}\n{GREEN}SIGNED{GREEN:#}\n",
            Safe::of(&entry.label),
            Safe::of(&entry.key.key_id().to_string());
            GREEN
        )),
        None => Err(safe!("{RED}FAILED{RED:#}: no trusted key signed this file, or it was changed\n"; RED)),
    };
    if !args.quiet {
        let (text, advice) = match &text {
            Ok(text) => (text, ""),
            Err(text) => (text, "  Do not rely on it.\n"),
        };
        console::print(&safe!("{name}\n{text}{advice}"; name, text, advice));
    }
    if let Err(cause) = text
        && (args.quiet || !std::io::stdout().is_terminal())
    {
        console::note(&safe!("{name}: {cause}"; name, cause));
    }
    signer.map(|_| Exit::Success).ok_or(Error::NotVerified)
}

fn read(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
    input::read(path, FILE_BYTES).map(|(bytes, _)| bytes).map_err(|error| Error::Usage {
        message: format!("cannot read {}: {error}", shown(path)),
        help: "give a file, and with --signature the file of its signature".to_string(),
    })
}

fn shown(path: &Path) -> Safe {
    Safe::of(&path.to_string_lossy())
}
