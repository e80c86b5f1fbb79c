//! Whom the caller trusts, and what a bundle must be: the options that `verify` shares with other commands.
//!
//! Only what the caller names counts. Nothing of a bundle is looked at here.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence_bundle::read::Expectations;
use evidence_bundle::text::Chain;
use evidence_bundle::trust::{TrustError, TrustRoot};
use evidence_os::input;
use zeroize::Zeroizing;

use crate::cli::TrustArgs;
use crate::config::Config;
use crate::env::Env;
use crate::error::Error;
use crate::signing;

/// Files with public keys are small; one that is not is another file.
pub(super) const KEY_FILE_LIMIT: u64 = 1024 * 1024;

/// What a bundle is held against.
pub(super) struct Terms {
    pub(super) trust: TrustRoot,
    pub(super) expectations: Expectations,
}

/// The trust root and the expectations that these options name.
pub(super) fn terms(args: &TrustArgs, env: &Env) -> Result<Terms, Error> {
    let trust = trust_root(args, env)?;
    let expectations = Expectations {
        organization: args.expect_org.clone(),
        max_age: args.max_age.as_deref().map(parse_age).transpose()?,
        now: Some(env.clock.now().as_second()),
    };
    Ok(Terms { trust, expectations })
}

/// The first place that names a key decides; they do not mix. Only what the caller names counts, never what happens to
/// be in the working directory: that may be a stranger's folder, with a configuration and a key of the stranger's.
pub(super) fn trust_root(args: &TrustArgs, env: &Env) -> Result<TrustRoot, Error> {
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
        let signing = Config::load(path, env).map_err(Error::Config)?.bundle.signing;
        if signing.trusted_keys.is_empty() {
            let key = signing::load(&signing, env).map_err(Error::Signing)?.key.public_key();
            trust.add_key(format!("the signing key of {}", path.display()), key);
        } else {
            add_keys(&mut trust, &signing.trusted_keys)?;
        }
    }
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
    input::read(path, KEY_FILE_LIMIT).map(|(bytes, _)| bytes).map_err(|error| Error::Usage {
        message: match error.kind() {
            io::ErrorKind::FileTooLarge => format!("the key file {shown} is too large"),
            _ => format!("cannot read the key file {shown}: {error}"),
        },
        help: "give the signer's public key, in PEM or OpenSSH form".to_string(),
    })
}

fn trust_error(error: TrustError) -> Error {
    Error::Usage {
        message: format!("cannot trust this key: {}", Chain(&error)),
        help: "a bundle is signed with Ed25519; give the signer's public key, in PEM or OpenSSH form"
            .to_string(),
    }
}

/// `90m`, `36h`, `7d`, `2w`; a number alone would be anybody's guess.
fn parse_age(text: &str) -> Result<Duration, Error> {
    let invalid = || Error::Usage {
        message: format!("--max-age {text} is not a duration"),
        help: "write a number and a unit: 90m, 36h, 7d or 2w".to_string(),
    };
    let unit = text.chars().next_back().ok_or_else(invalid)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(invalid()),
    };
    let number: u64 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(invalid)?;
    Ok(Duration::from_secs(number.checked_mul(seconds).ok_or_else(invalid)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, seconds) in
            [("90s", 90), ("90m", 5_400), ("36h", 129_600), ("7d", 604_800), ("2w", 1_209_600)]
        {
            assert_eq!(parse_age(text).unwrap(), Duration::from_secs(seconds));
        }
        for text in
            ["", "7", "d", "7 d", "-1d", "7days", "99999999999999999999d", "18446744073709551615w", "7é"]
        {
            assert!(parse_age(text).is_err(), "{text:?}");
        }
    }
}
