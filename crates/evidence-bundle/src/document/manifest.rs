//! `manifest.json`: what is in the bundle, who signed it, and what is not in it and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The manifest. Its long lists are parameters so that a writer can stream them and a reader can skip them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Manifest")]
#[serde(deny_unknown_fields)]
pub struct Manifest<
    A = Vec<ArtifactRecord>,
    F = Vec<FileRecord>,
    W = Vec<Warning>,
    X = Vec<Excluded>,
    E = Vec<ErrorRecord>,
> {
    /// The version of the bundle format, `1.0`.
    pub bundle_version: String,
    /// The version of the tool that wrote the bundle.
    pub tool_version: String,
    /// When the bundle was made, RFC 3339 UTC in whole seconds; the time of every entry of the archive.
    pub created_at: String,
    /// The compliance framework, such as `soc2_type1`.
    pub framework: String,
    /// The identifiers of the controls that were asked for.
    pub controls: Vec<String>,
    /// The sources that were asked.
    #[serde(deserialize_with = "crate::json::objects")]
    pub sources: Vec<SourceRecord>,
    /// Every collected artifact: exactly the files under `sources/`.
    pub artifacts: A,
    /// The key that signed the list of checksums. A hint: trust comes from outside the bundle.
    pub signer: SignerRecord,
    /// The id of the bundle; see [`is_bundle_id`].
    pub bundle_id: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// Whether everything that was asked for was collected.
    pub complete: bool,
    /// Every file of the bundle but the list, the signature and the manifest, in the order of the archive.
    pub files: F,
    /// What a reader should know.
    pub warnings: W,
    /// What was left out because it held forbidden data.
    pub excluded: X,
    /// What could not be collected.
    pub errors: E,
    /// The bundle before this one, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
}

/// Whether the text can be the id of a bundle: 1 to 128 letters, digits, dots, underscores and hyphens of ASCII, and not
/// dots alone. Such an id is one segment of an address, whatever reads it.
pub fn is_bundle_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(allowed) && text.bytes().any(|byte| byte != b'.')
}

/// A source that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    /// The name that every other row gives the source, such as `codehost`. Its artifacts are in `sources/<id>/`.
    pub id: String,
    /// What it is: `codehost`, `cloud` or `altcloud`.
    pub kind: String,
}

/// One collected artifact. The requests behind it are those of its observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactRecord {
    /// The full path inside the bundle, such as `sources/codehost/org_settings.json`.
    pub filename: String,
    /// The name of the source, such as `codehost`.
    pub source: String,
    /// The kind of artifact, such as `branch_protection`.
    pub artifact_type: String,
    /// When the source answered, RFC 3339 UTC.
    pub collected_at: String,
    /// The controls that the artifact is evidence for.
    pub controls: Vec<String>,
    /// The SHA-256 of the file, 64 lower-case hex digits.
    pub checksum: String,
    /// The size of the file in bytes.
    pub size_bytes: u64,
    /// What the artifact is about, such as `acme/payments`.
    pub subject: String,
}

/// The key that signed the list of checksums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignerRecord {
    /// The algorithm, `Ed25519`.
    pub algorithm: String,
    /// The base64 of the DER SubjectPublicKeyInfo (RFC 8410, section 4).
    pub public_key: String,
    /// `sha256:` and the hex SHA-256 of that DER.
    pub key_id: String,
}

impl SignerRecord {
    /// The record of this key.
    pub fn of(key: &crate::key::PublicKey) -> SignerRecord {
        SignerRecord {
            algorithm: crate::key::ALGORITHM.to_owned(),
            public_key: key.to_spki_base64(),
            key_id: key.key_id().to_string(),
        }
    }
}

/// One file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// The path inside the bundle.
    pub path: String,
    /// The SHA-256 of the file, 64 lower-case hex digits.
    pub sha256: String,
    /// The size of the file in bytes.
    pub size: u64,
}

/// Something a reader of the bundle should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// A stable code.
    pub code: String,
    /// The warning in words.
    pub message: String,
    /// The source it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// An artifact that was left out because it held forbidden data. Neither the data nor its hash is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// The path that the artifact would have had.
    pub filename: String,
    /// The rule that it broke.
    pub rule: String,
}

/// Something that could not be collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorRecord {
    /// A stable code.
    pub code: String,
    /// The error in words.
    pub message: String,
    /// The source that was asked.
    pub source: String,
    /// What was asked for.
    pub subject: String,
    /// The HTTP status of the last answer, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The source's own name for the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The bundle before this one: a chain in which a removed bundle leaves a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Previous {
    /// Its id.
    pub bundle_id: String,
    /// The SHA-256 of its `checksums.sha256`, 64 lower-case hex digits.
    pub checksums_sha256: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_segment_of_an_address() {
        let long = "a".repeat(128);
        for id in ["0192f3a4-0000-8000-8000-000000000000", "a", "bundle_1.v2", "...a", &long] {
            assert!(is_bundle_id(id), "{id}");
        }
        let longer = "a".repeat(129);
        for id in ["", ".", "..", "a/b", "a?b", "a#b", "a b", "a%2fb", "é", "a\n", "\u{1b}[2J", &longer] {
            assert!(!is_bundle_id(id), "{id:?}");
        }
    }
}
