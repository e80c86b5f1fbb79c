//! `bundle`: how the bundle is signed, its maximum size, and the files written next to it.

use super::{BundleConfig, KeySource, SigningConfig};
use evidence_settings::declare::{DefaultValue, Format, Key, Presence, Section, Shape};
use evidence_settings::decode::{Decoder, Fields};

/// Bytes in one MB: the unit of `max_size_mb` is decimal.
const BYTES_PER_MB: u64 = 1_000_000;

static SIGNING: Key = Key {
    name: "signing",
    presence: Presence::Required,
    shape: Shape::Section(&SIGNING_SECTION),
    summary: SIGNING_SECTION.summary,
    rule: "",
    example: "",
    synonyms: &["sign", "signature"],
};

static MAX_SIZE_MB: Key = Key {
    name: "max_size_mb",
    presence: Presence::Default(DefaultValue::Integer(50)),
    shape: Shape::Integer { minimum: 1, maximum: 1_000_000 },
    summary: "The maximum size of the bundle, in MB (1 MB = 1,000,000 bytes).",
    rule: "",
    example: "50",
    synonyms: &["max_size", "size_limit"],
};

static DETACHED_SIGNATURE: Key = Key {
    name: "detached_signature",
    presence: Presence::Default(DefaultValue::Boolean(false)),
    shape: Shape::Boolean,
    summary: "Also write OpenSSH's signature over the whole bundle beside it, as `<bundle>.sig`, which `ssh-keygen -Y verify` checks on macOS and Windows.",
    rule: "",
    example: "true",
    synonyms: &["detached", "sshsig", "ssh_signature"],
};

/// `bundle`
pub(super) static SECTION: Section = Section {
    path: "bundle",
    summary: "The bundle the run creates.",
    keys: &[&SIGNING, &MAX_SIZE_MB, &DETACHED_SIGNATURE],
    exactly_one: &[],
    planned: &[],
    not_empty: false,
};

static PRIVATE_KEY_PATH: Key = Key {
    name: "private_key_path",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Path),
    summary: "The file with the Ed25519 private key (PKCS#8 PEM).",
    rule: "exactly one of `private_key_path` and `private_key_env`",
    example: "~/.config/evidence/signing-key.pem",
    synonyms: &["private_key", "key", "key_path", "key_file", "private_key_file", "path"],
};

static PRIVATE_KEY_ENV: Key = Key {
    name: "private_key_env",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the private key (PEM, or base64 of it).",
    rule: "a name, never the key itself; exactly one of `private_key_path` and `private_key_env`",
    example: "EVIDENCE_SIGNING_KEY",
    synonyms: &["key_env"],
};

static PASSPHRASE_ENV: Key = Key {
    name: "passphrase_env",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the passphrase of an encrypted private key.",
    rule: "a name, never the passphrase itself",
    example: "EVIDENCE_KEY_PASSPHRASE",
    synonyms: &["passphrase", "password", "password_env"],
};

static TRUSTED_KEYS: Key = Key {
    name: "trusted_keys",
    presence: Presence::Default(DefaultValue::Empty("[]")),
    shape: Shape::List { of: Format::Path, may_be_empty: true },
    summary: "Files with the public keys that `verify` and `upload` trust with `--config`, instead of the signing key. `collect` continues a series of bundles that they signed.",
    rule: "each once",
    example: "[evidence.pub]",
    synonyms: &["public_keys", "public_key", "trusted_key"],
};

/// `bundle.signing`
static SIGNING_SECTION: Section = Section {
    path: "bundle.signing",
    summary: "The key that signs the bundle.",
    keys: &[&PRIVATE_KEY_PATH, &PRIVATE_KEY_ENV, &PASSPHRASE_ENV, &TRUSTED_KEYS],
    exactly_one: &[&PRIVATE_KEY_PATH, &PRIVATE_KEY_ENV],
    planned: &[],
    not_empty: false,
};

/// The bundle's configuration.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<BundleConfig> {
    let signing = decoder.section(fields, &SIGNING).map(|fields| signing(decoder, &fields));
    let max_size_mb = decoder.integer::<u64>(fields, &MAX_SIZE_MB);
    let detached_signature = decoder.boolean(fields, &DETACHED_SIGNATURE);
    Some(BundleConfig {
        signing: signing??,
        max_size_bytes: max_size_mb?.checked_mul(BYTES_PER_MB)?,
        detached_signature: detached_signature?,
    })
}

fn signing(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<SigningConfig> {
    let file = decoder.path(fields, &PRIVATE_KEY_PATH).map(KeySource::File);
    let variable = decoder.text(fields, &PRIVATE_KEY_ENV).map(|text| KeySource::Env(text.value));
    let passphrase_env = decoder.text(fields, &PASSPHRASE_ENV).map(|text| text.value);
    let trusted_keys = decoder.paths(fields, &TRUSTED_KEYS);
    Some(SigningConfig { key: file.or(variable)?, passphrase_env, trusted_keys: trusted_keys? })
}
