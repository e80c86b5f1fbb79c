//! `bundle`: how the bundle is signed, its maximum size, and the files written next to it.

use std::path::PathBuf;

use evidence_settings::declare::{DefaultValue, Format, PATH, Section, Shape, VARIABLE};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::keys;

/// `bundle`
#[derive(Debug, Clone)]
pub struct BundleConfig {
    /// `bundle.signing`
    pub signing: SigningConfig,
    /// `bundle.max_size_mb` in bytes (1 MB = 1,000,000 bytes) of the finished archive.
    pub max_size_bytes: u64,
    /// `bundle.detached_signature`: whether to write an OpenSSH signature over the archive next to it.
    pub detached_signature: bool,
    /// `bundle.keep`
    pub keep: Option<Keep>,
}

/// `bundle.keep`: which bundles of the series stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The newest.
    Bundles(usize),
    /// Those that are not older.
    Days(u32),
}

/// `bundle.signing`
#[derive(Debug, Clone)]
pub struct SigningConfig {
    /// Where the private key is.
    pub key: KeySource,
    /// `passphrase_env`: the variable that holds the passphrase of an encrypted key.
    pub passphrase_env: Option<String>,
    /// `trusted_keys`: public keys that `evidence verify` trusts when no flag names one.
    pub trusted_keys: Vec<PathBuf>,
}

/// Where the private signing key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// `private_key_path`, with `~` expanded, relative to the working directory.
    File(PathBuf),
    /// `private_key_env`: a variable that holds the PEM, or base64 of it.
    Env(String),
}

/// Bytes in one MB: the unit of `max_size_mb` is decimal.
const BYTES_PER_MB: u64 = 1_000_000;

keys! {
    SIGNING = section("signing", &SIGNING_SECTION)
        also &["sign", "signature"];
    MAX_SIZE_MB = integer("max_size_mb", 50, 1..=1_000_000,
        "The maximum size of the bundle, in MB (1 MB = 1,000,000 bytes).")
        example "50", also &["max_size", "size_limit"];
    DETACHED_SIGNATURE = boolean("detached_signature", false,
        "Also write OpenSSH's signature over the whole bundle beside it, as `<bundle>.sig`, which `ssh-keygen -Y verify` checks on macOS and Windows.")
        example "true", also &["detached", "sshsig", "ssh_signature"];
}

keys! {
    KEEP = optional("keep",
        Shape::OrSection { plain: &Shape::Integer { minimum: 1, maximum: 100_000 }, section: &KEEP_SECTION },
        "How many bundles of the series stay in the output directory: a number, or those of a number of days. After a run that ends with code 0, older ones are removed.")
        rule "nothing is removed without this key; only bundles of the same organization and framework that verify with the signing key or `trusted_keys` are removed, and never the one that the oldest remaining bundle follows",
        example "30", also &["retention", "keep_bundles", "retain"];
    DAYS = required("days", Shape::Integer { minimum: 1, maximum: 36_500 }, "The number of days.")
        example "30", also &["day"];
}

/// `bundle.keep`, as a mapping
static KEEP_SECTION: Section = Section::new("bundle.keep", "The bundles that stay, by age.", &[&DAYS]);

/// `bundle`
pub(super) static SECTION: Section = Section::new(
    "bundle",
    "The bundle the run creates.",
    &[&SIGNING, &MAX_SIZE_MB, &DETACHED_SIGNATURE, &KEEP],
);

keys! {
    PRIVATE_KEY_PATH = optional("private_key_path", PATH,
        "The file with the Ed25519 private key (PKCS#8 PEM).")
        rule "exactly one of `private_key_path` and `private_key_env`",
        example "~/.config/evidence/signing-key.pem",
        also &["private_key", "key", "key_path", "key_file", "private_key_file", "path"];
    PRIVATE_KEY_ENV = optional("private_key_env", VARIABLE,
        "The environment variable that holds the private key (PEM, or base64 of it).")
        rule "a name, never the key itself; exactly one of `private_key_path` and `private_key_env`",
        example "EVIDENCE_SIGNING_KEY", also &["key_env"];
    PASSPHRASE_ENV = optional("passphrase_env", VARIABLE,
        "The environment variable that holds the passphrase of an encrypted private key.")
        rule "a name, never the passphrase itself", example "EVIDENCE_KEY_PASSPHRASE",
        also &["passphrase", "password", "password_env"];
    TRUSTED_KEYS = default("trusted_keys", DefaultValue::Empty("[]"), Shape::List { of: Format::Path, may_be_empty: true },
        "Files with the public keys that `verify` and `upload` trust with `--config`, instead of the signing key. `collect` continues a series of bundles that they signed.")
        rule "each once", example "[evidence.pub]", also &["public_keys", "public_key", "trusted_key"];
}

/// `bundle.signing`
static SIGNING_SECTION: Section = Section::new(
    "bundle.signing",
    "The key that signs the bundle.",
    &[&PRIVATE_KEY_PATH, &PRIVATE_KEY_ENV, &PASSPHRASE_ENV, &TRUSTED_KEYS],
)
.exactly_one(&[&PRIVATE_KEY_PATH, &PRIVATE_KEY_ENV]);

/// The bundle's configuration.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<BundleConfig> {
    let signing = decoder.section(fields, &SIGNING).map(|fields| signing(decoder, &fields));
    let max_size_mb = decoder.integer::<u64>(fields, &MAX_SIZE_MB);
    let detached_signature = decoder.boolean(fields, &DETACHED_SIGNATURE);
    let keep = keep(decoder, fields);
    Some(BundleConfig {
        keep: keep?,
        signing: signing??,
        max_size_bytes: max_size_mb?.checked_mul(BYTES_PER_MB)?,
        detached_signature: detached_signature?,
    })
}

/// `None` if the value is wrong; `Some(None)` without one.
fn keep(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Option<Keep>> {
    if !fields.has(&KEEP) {
        return Some(None);
    }
    if fields.has_mapping(&KEEP) {
        let fields = decoder.section(fields, &KEEP)?;
        return decoder.integer(&fields, &DAYS).map(|days| Some(Keep::Days(days)));
    }
    decoder.integer(fields, &KEEP).map(|bundles| Some(Keep::Bundles(bundles)))
}

fn signing(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<SigningConfig> {
    let file = decoder.path(fields, &PRIVATE_KEY_PATH).map(KeySource::File);
    let variable = decoder.text(fields, &PRIVATE_KEY_ENV).map(|text| KeySource::Env(text.value));
    let passphrase_env = decoder.text(fields, &PASSPHRASE_ENV).map(|text| text.value);
    let trusted_keys = decoder.paths(fields, &TRUSTED_KEYS);
    Some(SigningConfig { key: file.or(variable)?, passphrase_env, trusted_keys: trusted_keys? })
}
