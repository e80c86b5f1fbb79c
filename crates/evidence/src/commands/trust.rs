//! The trusted keys and the expectations about a bundle: options that `verify` shares with other commands.
//!
//! Only the caller's options count. Nothing here reads the bundle.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence_bundle::key::PublicKey;
use evidence_bundle::read::Expectations;
use evidence_bundle::trust::{TrustError, TrustRoot};
use evidence_os::input;
use evidence_view::terms;
use zeroize::Zeroizing;

use crate::cli::TrustArgs;
use crate::config::{Config, ConfigFile, SigningConfig};
use crate::env::Env;
use crate::error::Error;
use crate::signing;

/// The requirements for a bundle.
pub(super) struct VerifyOptions {
    pub(super) trust: TrustRoot,
    pub(super) expectations: Expectations,
}

/// The trust root and the expectations from these options.
pub(super) fn terms(args: &TrustArgs, env: &Env) -> Result<VerifyOptions, Error> {
    let trust = trust_root(args, env)?;
    let expectations = Expectations {
        organization: args.expect_org.clone(),
        max_age: args.max_age.as_deref().map(parse_age).transpose()?,
        now: Some(env.clock.now().as_second()),
        judgement: false,
    };
    Ok(VerifyOptions { trust, expectations })
}

/// The trusted keys, and those that are revoked.
pub(super) fn trust_root(args: &TrustArgs, env: &Env) -> Result<TrustRoot, Error> {
    let mut trust = trusted_keys(args, env)?;
    if let Some(path) = &args.revoked_keys {
        let shown = path.to_string_lossy();
        let unusable = |message| Error::Usage { message, help: terms::REVOKED_HELP.to_string() };
        let (contents, _) = input::read(path, terms::KEY_FILE_BYTES)
            .map_err(|error| unusable(format!("cannot read the list of revoked keys {shown}: {error}")))?;
        trust.add_revoked_keys(shown, &contents).map_err(|error| unusable(terms::cannot_revoke(&error)))?;
    }
    Ok(trust)
}

/// The first place that names a key wins; places are not combined. Only the caller's choice counts, never the contents
/// of the working directory: that may be untrusted, with a configuration and a key of its own.
fn trusted_keys(args: &TrustArgs, env: &Env) -> Result<TrustRoot, Error> {
    let mut trust = TrustRoot::new();
    if !args.public_key.is_empty() {
        add_keys(&mut trust, &args.public_key)?;
        return Ok(trust);
    }
    if let Some(path) = &args.allowed_signers {
        let contents = read_key_file(path)?;
        trust.add_allowed_signers(path.display().to_string(), &contents).map_err(trust_error)?;
        return Ok(trust);
    }
    if !args.fingerprint.is_empty() {
        for fingerprint in &args.fingerprint {
            trust.add_fingerprint(fingerprint).map_err(trust_error)?;
        }
        return Ok(trust);
    }
    if let Some(paths) = env.var_os("EVIDENCE_TRUSTED_KEYS") {
        let paths: Vec<PathBuf> =
            std::env::split_paths(paths).filter(|path| !path.as_os_str().is_empty()).collect();
        add_keys(&mut trust, &paths)?;
        return Ok(trust);
    }
    if let Some(path) = &args.config {
        let signing = Config::load(ConfigFile::Named(path), env).map_err(Error::Config)?.bundle.signing;
        if signing.trusted_keys.is_empty() {
            let key = signing::load(&signing, env).map_err(Error::Signing)?.key.public_key();
            trust.add_key(format!("the signing key of {}", path.display()), key);
        } else {
            add_keys(&mut trust, &signing.trusted_keys)?;
        }
    }
    Ok(trust)
}

/// The keys that may have signed the bundles of this configuration: its signing key, and those it trusts.
pub(super) fn own(key: &PublicKey, signing: &SigningConfig) -> Result<TrustRoot, Error> {
    let mut trust = TrustRoot::new();
    trust.add_key("your own signing key", *key);
    add_keys(&mut trust, &signing.trusted_keys)?;
    Ok(trust)
}

fn add_keys(trust: &mut TrustRoot, paths: &[PathBuf]) -> Result<(), Error> {
    for path in paths {
        let contents = read_key_file(path)?;
        trust.add_public_keys(path.display().to_string(), &contents).map_err(trust_error)?;
    }
    Ok(())
}

fn read_key_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let shown = path.to_string_lossy();
    input::read(path, terms::KEY_FILE_BYTES).map(|(bytes, _)| bytes).map_err(|error| Error::Usage {
        message: match error.kind() {
            io::ErrorKind::FileTooLarge => terms::too_large(&shown),
            _ => format!("cannot read the key file {shown}: {error}"),
        },
        help: "give the signer's public key, in PEM or OpenSSH form".to_string(),
    })
}

fn trust_error(error: TrustError) -> Error {
    Error::Usage { message: terms::cannot_trust(&error), help: terms::KEY_HELP.to_string() }
}

fn parse_age(text: &str) -> Result<Duration, Error> {
    terms::age(text).ok_or_else(|| Error::Usage {
        message: format!("--max-age {text} is not a duration"),
        help: terms::AGE_HELP.to_string(),
    })
}
