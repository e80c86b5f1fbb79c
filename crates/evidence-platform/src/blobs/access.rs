//! How to reach a bucket: its address and credentials. The variables have the names that the provider's own tools use.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use evidence_os::secret::Secret;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

use crate::error::Error;

/// The supported variables and their settings. The library knows others that would weaken the platform's guarantees:
/// plain HTTP, unsigned requests, unconditional writes.
const VARIABLES: [(&str, Key); 16] = [
    ("AWS_REGION", Key::Region),
    ("AWS_DEFAULT_REGION", Key::DefaultRegion),
    ("AWS_ENDPOINT_URL", Key::Endpoint),
    ("AWS_ENDPOINT_URL_S3", Key::S3Endpoint),
    ("AWS_ACCESS_KEY_ID", Key::AccessKeyId),
    ("AWS_SECRET_ACCESS_KEY", Key::SecretAccessKey),
    ("AWS_SESSION_TOKEN", Key::Token),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", Key::WebIdentityTokenFile),
    ("AWS_ROLE_ARN", Key::RoleArn),
    ("AWS_ROLE_SESSION_NAME", Key::RoleSessionName),
    ("AWS_ENDPOINT_URL_STS", Key::StsEndpoint),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
    ("AWS_EC2_METADATA_SERVICE_ENDPOINT", Key::MetadataEndpoint),
    ("AWS_IMDSV1_FALLBACK", Key::ImdsV1Fallback),
];

/// How long the service may take to answer a request, including its body, and between two parts of an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// How to reach a bucket. Never printed as a whole: it holds credentials.
#[derive(Clone)]
pub struct BucketAccess {
    settings: Vec<(Key, String)>,
    /// How long the service may take to answer.
    pub patience: Duration,
}

impl fmt::Debug for BucketAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketAccess").field("credentials", &self.credentials()).finish_non_exhaustive()
    }
}

impl BucketAccess {
    /// Reads these variables. Empty ones count as unset. Files can hold the keys.
    ///
    /// # Errors
    /// Fails with [`Error::Unusable`] if a key cannot be read.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<BucketAccess, Error> {
        let mut settings = Vec::new();
        for (name, key) in &VARIABLES {
            let value = match key {
                Key::AccessKeyId | Key::SecretAccessKey | Key::Token => Secret::read(name, &variable)
                    .map_err(|error| Error::unusable("the bucket cannot be used", error))?
                    .map(|secret| secret.text().to_owned()),
                _ => variable(name)
                    .and_then(|value| value.into_string().ok())
                    .filter(|value| !value.is_empty()),
            };
            settings.extend(value.map(|value| (*key, value)));
        }
        Ok(BucketAccess { settings, patience: PATIENCE })
    }

    /// The source of the credentials, in the order of the provider's own tools.
    pub fn credentials(&self) -> &'static str {
        let has = |key: Key| self.get(key).is_some();
        if has(Key::AccessKeyId) || has(Key::SecretAccessKey) {
            "keys in variables"
        } else if has(Key::WebIdentityTokenFile) && has(Key::RoleArn) {
            "web identity"
        } else if has(Key::ContainerCredentialsRelativeUri)
            || (has(Key::ContainerCredentialsFullUri) && has(Key::ContainerAuthorizationTokenFile))
        {
            "container role"
        } else {
            "instance role"
        }
    }

    /// The address of the service; `None` for the provider's default.
    pub(super) fn endpoint(&self) -> Option<&str> {
        self.get(Key::S3Endpoint).or_else(|| self.get(Key::Endpoint))
    }

    pub(super) fn builder(&self) -> AmazonS3Builder {
        let settings = self.settings.iter();
        settings.fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(*key, value))
    }

    fn get(&self, key: Key) -> Option<&str> {
        self.settings.iter().find(|(found, _)| *found == key).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evidence_bundle::text::Chain;

    use super::*;

    #[test]
    fn credentials_are_those_the_provider_s_tools_would_use() {
        let cases: [(&[(&str, &str)], &str); 6] = [
            (&[], "instance role"),
            (&[("AWS_ACCESS_KEY_ID", ""), ("AWS_ROLE_ARN", "arn:x")], "instance role"),
            (&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")], "container role"),
            (
                &[
                    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/x"),
                    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/x"),
                ],
                "container role",
            ),
            (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/x"), ("AWS_ROLE_ARN", "arn:x")], "web identity"),
            (&[("AWS_SECRET_ACCESS_KEY", "hidden"), ("AWS_ROLE_ARN", "arn:x")], "keys in variables"),
        ];
        for (variables, credentials) in cases {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let access = BucketAccess::from_variables(variable).unwrap();
            assert_eq!(access.credentials(), credentials, "{variables:?}");
            assert!(!format!("{access:?}").contains("hidden"));
        }
    }

    #[test]
    fn keys_can_be_in_files() {
        let directory = tempfile::tempdir().unwrap();
        let names = [
            ("AWS_ACCESS_KEY_ID", Key::AccessKeyId),
            ("AWS_SECRET_ACCESS_KEY", Key::SecretAccessKey),
            ("AWS_SESSION_TOKEN", Key::Token),
        ];
        for (name, _) in names {
            std::fs::write(directory.path().join(format!("{name}_FILE")), format!("made up for {name}\n"))
                .unwrap();
        }
        let file = |name: &str| {
            name.ends_with("_FILE")
                .then(|| directory.path().join(name).into_os_string())
                .filter(|path| Path::new(path).exists())
        };
        let access = BucketAccess::from_variables(file).unwrap();
        for (name, key) in names {
            assert_eq!(access.get(key), Some(format!("made up for {name}").as_str()));
        }
        assert_eq!(access.credentials(), "keys in variables");
        let both = |name: &str| file(name).or_else(|| (name == "AWS_SESSION_TOKEN").then(|| "hidden".into()));
        let error = Chain(&BucketAccess::from_variables(both).unwrap_err()).to_string();
        assert!(error.contains("AWS_SESSION_TOKEN_FILE") && !error.contains("hidden"), "{error}");
    }
}
