//! Which keys a command trusts, and what a bundle must be.

use std::path::PathBuf;

use clap::Args;

/// What decides which keys are trusted.
macro_rules! trust_help {
    () => {
        "The first of these that is given supplies the trusted keys; they are not combined: \
         --public-key, --allowed-signers or --fingerprint; the variable EVIDENCE_TRUSTED_KEYS \
         (files, separated as in PATH); bundle.signing.trusted_keys of the configuration in \
         --config, or else its signing key. ./evidence.yaml is read only if you name it with \
         --config. The key inside a bundle is never trusted."
    };
}

/// Whom to trust, and what a bundle must be.
#[derive(Debug, Default, Args)]
pub struct TrustArgs {
    /// A file of public keys to trust, PEM or OpenSSH's one-line form; may be repeated.
    #[arg(short = 'k', long, value_name = "FILE")]
    pub public_key: Vec<PathBuf>,
    /// Keys to trust, with their validity: OpenSSH's allowed_signers file, namespace evidence-bundle.
    #[arg(long, value_name = "FILE", conflicts_with = "public_key")]
    pub allowed_signers: Option<PathBuf>,
    /// The fingerprint of a key to trust: sha256:HEX, or OpenSSH's SHA256:BASE64.
    #[arg(long, value_name = "FINGERPRINT", conflicts_with_all = ["public_key", "allowed_signers"])]
    pub fingerprint: Vec<String>,
    /// Keys that no longer count, whatever time a bundle claims: one FINGERPRINT SINCE WHY per line, # for comments.
    #[arg(long, value_name = "FILE")]
    pub revoked_keys: Option<PathBuf>,
    /// The organization that the bundle must describe; case is ignored.
    #[arg(long, value_name = "ORGANIZATION")]
    pub expect_org: Option<String>,
    /// The maximum age of the bundle: 36h, 7d, 90m.
    #[arg(long, value_name = "DURATION")]
    pub max_age: Option<String>,
    /// Configuration file with the trusted keys; no configuration is read without this option.
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
