//! Workload identity federation: the file that says where a token of another identity provider is, and how the provider
//! exchanges it.
//!
//! The file has no key. It may have the headers of a request for the token, which are as secret as one. Nothing here sends.

use std::fmt;
use std::path::{Path, PathBuf};

use evidence_os::input;
use evidence_settings::format::is_loopback;
use serde_json::{Map, Value};
use url::Url;
use zeroize::Zeroizing;

use super::credentials_file::{CredentialsError, object, text};
use crate::origin::OwnHosts;
use evidence_http::call::encoded;

/// The only supported kind of file.
const KIND: &str = "external_account";

/// The largest token in a file or an answer.
pub(crate) const TOKEN_LIMIT: usize = 64 * 1024;

/// The address at which a machine's own service may be without TLS.
const MACHINE: &str = "169.254.169.254";

/// The provider's own hosts that exchange tokens of other providers.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://sts.googleapis.com`",
    is_own: |host| host == "sts.googleapis.com",
    mistaken: |_| None,
};

/// The fixed part of the exchange (RFC 8693), form-encoded.
const EXCHANGE: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange\
     &requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token";

/// The file.
#[derive(Clone)]
pub(crate) struct Federation {
    /// The identity provider, by its full name at the cloud provider.
    pub(crate) audience: String,
    /// The type of the token, a URN.
    kind: String,
    /// The address of the exchange.
    pub(crate) token_url: Url,
    /// Where the token is.
    pub(crate) place: TokenPlace,
    /// The field that holds the token, if it is in a JSON object.
    field: Option<String>,
}

/// Where a token of the identity provider is.
#[derive(Clone)]
pub(crate) enum TokenPlace {
    File(PathBuf),
    Address(Url, Vec<(String, Zeroizing<String>)>),
}

impl fmt::Debug for Federation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Federation").field("audience", &self.audience).finish_non_exhaustive()
    }
}

impl Federation {
    /// The values of headers, which may be tokens themselves.
    pub(crate) fn secrets(&self) -> Vec<String> {
        match &self.place {
            TokenPlace::File(_) => Vec::new(),
            TokenPlace::Address(_, headers) => {
                let word = |value: &str| value.rsplit(' ').next().unwrap_or(value).to_string();
                headers.iter().map(|(_, value)| word(value)).collect()
            }
        }
    }

    /// Where the token is, for a message.
    pub(crate) fn shown(&self) -> String {
        match &self.place {
            TokenPlace::File(path) => format!("the file {}", path.display()),
            TokenPlace::Address(url, _) => format!("the address {}", url.origin().ascii_serialization()),
        }
    }

    /// The token in what the file or the address holds. The `Err` text continues a sentence that begins with the place.
    pub(crate) fn token(&self, bytes: &[u8]) -> Result<Zeroizing<String>, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "does not hold text".to_string())?;
        let token = match &self.field {
            None => Zeroizing::new(text.trim().to_string()),
            Some(field) => {
                let tree: Value =
                    serde_json::from_str(text).map_err(|_| "does not hold a JSON object".to_string())?;
                let token = tree.get(field).and_then(Value::as_str);
                Zeroizing::new(token.ok_or_else(|| format!("has no text in the field {field}"))?.to_string())
            }
        };
        let is_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if is_word { Ok(token) } else { Err("does not hold a token of one word".to_string()) }
    }

    /// The token in the file.
    pub(crate) fn read(&self, path: &Path) -> Result<Zeroizing<String>, String> {
        let limit = u64::try_from(TOKEN_LIMIT).unwrap_or(u64::MAX);
        let (bytes, _) = input::read(path, limit).map_err(|error| format!("cannot be read: {error}"))?;
        self.token(&bytes)
    }

    /// The question to the exchange, for an access token with `scope`.
    pub(crate) fn question(&self, token: &str, scope: &str) -> Vec<u8> {
        let Federation { audience, kind, .. } = self;
        let fields = [("audience", audience.as_str()), ("scope", scope), ("subject_token_type", kind)];
        let mut body = EXCHANGE.to_string();
        for (name, value) in fields.into_iter().chain([("subject_token", token)]) {
            body.push_str(&format!("&{name}={}", encoded(value)));
        }
        body.into_bytes()
    }
}

/// Parses the file. Every message continues a sentence that begins with the file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Federation, CredentialsError> {
    let fields = object(bytes, wrong)?;
    match fields.get("type").and_then(Value::as_str) {
        Some(KIND) => {}
        Some("service_account") => {
            return Err(CredentialsError {
                message: "is the key of a service account".to_string(),
                help: vec![
                    "write `mode: service_account` to sign with the key, or use the file of a workload identity pool"
                        .to_string(),
                ],
            });
        }
        _ => return Err(wrong(format!("is not of type {KIND}"))),
    }
    let word = |name: &str| {
        let value = text(&fields, name, wrong)?;
        let is_word = value.len() <= 1_024 && value.bytes().all(|byte| byte.is_ascii_graphic());
        if is_word { Ok(value.to_string()) } else { Err(wrong(format!("has an invalid {name}"))) }
    };
    let token_url = address(text(&fields, "token_url", wrong)?, false)
        .map_err(|what| wrong(format!("has a token_url that {what}")))?;
    let Some(Value::Object(source)) = fields.get("credential_source") else {
        return Err(wrong("has no credential_source".to_string()));
    };
    let (place, field) = (place(source)?, field(source)?);
    Ok(Federation { audience: word("audience")?, kind: word("subject_token_type")?, token_url, place, field })
}

fn place(source: &Map<String, Value>) -> Result<TokenPlace, CredentialsError> {
    let refused = [
        ("executable", "runs a program, which the tool does not do"),
        ("environment_id", "signs with the keys of AWS, which the tool does not do"),
        ("certificate", "signs in with a certificate, which the tool does not do"),
    ];
    for (name, what) in refused {
        if source.contains_key(name) {
            let help = "have the program or a job write an OIDC token to a file, and create the file again with \
                        `--credential-source-file`";
            let message = format!("has a credential_source of the kind {name}, which {what}");
            return Err(CredentialsError { message, help: vec![help.to_string()] });
        }
    }
    if source.contains_key("file") {
        return Ok(TokenPlace::File(text(source, "file", wrong)?.into()));
    }
    let url = address(text(source, "url", wrong)?, true)
        .map_err(|what| wrong(format!("has a credential_source whose url {what}")))?;
    let mut headers = Vec::new();
    match source.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(given)) => {
            for (name, value) in given {
                let value =
                    value.as_str().filter(|value| value.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
                let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                let Some(value) = value.filter(|_| is_name && !name.is_empty()) else {
                    return Err(wrong("has invalid headers in credential_source".to_string()));
                };
                headers.push((name.to_ascii_lowercase(), Zeroizing::new(value.to_string())));
            }
        }
        Some(_) => return Err(wrong("has headers in credential_source that are not an object".to_string())),
    }
    Ok(TokenPlace::Address(url, headers))
}

/// The field of the token, if the place holds JSON.
fn field(source: &Map<String, Value>) -> Result<Option<String>, CredentialsError> {
    let Some(format) = source.get("format").and_then(Value::as_object) else { return Ok(None) };
    match format.get("type").and_then(Value::as_str) {
        None | Some("text") => Ok(None),
        Some("json") => Ok(Some(text(format, "subject_token_field_name", wrong)?.to_string())),
        Some(_) => Err(wrong("has a credential_source whose format is neither text nor json".to_string())),
    }
}

/// An address with TLS or on this machine, and with `of_machine` also that of the machine's own service.
fn address(text: &str, of_machine: bool) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    let is_local = is_loopback(&url) || (of_machine && url.host_str() == Some(MACHINE));
    if !(url.scheme() == "https" || (url.scheme() == "http" && is_local)) {
        return Err("is not https");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("has a user or a fragment");
    }
    Ok(url)
}

fn wrong(message: String) -> CredentialsError {
    let help = "create it with `gcloud iam workload-identity-pools create-cred-config` and use it unchanged";
    CredentialsError { message, help: vec![help.to_string()] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AUDIENCE: &str =
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/o";

    fn file(source: Value) -> Value {
        json!({
            "type": "external_account", "audience": AUDIENCE, "universe_domain": "googleapis.com",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": "https://sts.googleapis.com/v1/token", "credential_source": source,
        })
    }

    fn parsed(file: &Value) -> Result<Federation, CredentialsError> {
        parse(file.to_string().as_bytes())
    }

    #[test]
    fn the_exchange_asks_in_the_form_of_the_standard() {
        let federation = parsed(&file(json!({"file": "/token"}))).unwrap();
        let asked = federation.question("eyJ.a+b.c", "https://www.googleapis.com/auth/iam");
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(&asked).into_owned().collect();
        let expected = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("audience", AUDIENCE),
            ("scope", "https://www.googleapis.com/auth/iam"),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
            ("subject_token", "eyJ.a+b.c"),
        ];
        let expected = expected.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(pairs, expected);
    }

    #[test]
    fn a_token_is_found_as_the_file_says_and_never_shown() {
        let text = parsed(&file(json!({"file": "/token"}))).unwrap();
        assert_eq!(text.token(b" eyJ.a.b\n").unwrap().as_str(), "eyJ.a.b");
        let format = json!({"type": "json", "subject_token_field_name": "value"});
        let headers = json!({"Authorization": "Bearer not-a-real-request-token", "Metadata": "True"});
        let url = json!({"url": "https://id.example/token?x=1", "headers": headers, "format": format});
        let json = parsed(&file(url)).unwrap();
        assert_eq!(json.token(br#"{"count": 1, "value": "eyJ.a.b"}"#).unwrap().as_str(), "eyJ.a.b");
        assert!(json.secrets().contains(&"not-a-real-request-token".to_string()));
        assert_eq!(json.shown(), "the address https://id.example");
        assert!(!format!("{json:?}").contains("not-a-real"));
        for (federation, bytes) in [
            (&text, &b"secret secret"[..]),
            (&text, b""),
            (&text, b"\xff secret"),
            (&json, b"secret"),
            (&json, br#"{"value": 7}"#),
            (&json, br#"{"token": "secret"}"#),
            (&json, br#"["secret"]"#),
        ] {
            let error = federation.token(bytes).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn every_way_to_be_wrong_is_said() {
        let with = |name: &str, value: Value| {
            let mut file = file(json!({"file": "/token"}));
            file[name] = value;
            file
        };
        let source = |source: Value| file(source);
        let format = json!({"type": "json"});
        for (file, said) in [
            (with("type", json!("service_account")), "the key of a service account"),
            (with("type", json!("authorized_user")), "not of type external_account"),
            (with("audience", Value::Null), "audience"),
            (with("subject_token_type", json!("two words")), "invalid subject_token_type"),
            (with("token_url", json!("http://sts.googleapis.com/v1/token")), "token_url that is not https"),
            (with("credential_source", Value::Null), "no credential_source"),
            (source(json!({"executable": {"command": "/bin/x"}})), "runs a program"),
            (source(json!({"environment_id": "aws1"})), "keys of AWS"),
            (source(json!({"certificate": {}})), "certificate"),
            (source(json!({})), "has no url"),
            (source(json!({"url": "http://id.example/"})), "whose url is not https"),
            (source(json!({"url": "https://id.example/", "headers": {"a b": "c"}})), "invalid headers"),
            (source(json!({"url": "https://id.example/", "headers": {"a": "b\nc"}})), "invalid headers"),
            (source(json!({"file": "/t", "format": {"type": "xml"}})), "neither text nor json"),
            (source(json!({"file": "/t", "format": format})), "no subject_token_field_name"),
        ] {
            let error = parsed(&file).unwrap_err();
            assert!(error.message.contains(said), "{said}: {error:?}");
            assert!(!error.help.is_empty());
        }
        assert!(parsed(&source(json!({"url": "http://169.254.169.254/metadata/identity"}))).is_ok());
        let error = parse(b"-----BEGIN PRIVATE KEY-----").unwrap_err();
        assert!(error.message.contains("PEM form"), "{error:?}");
    }
}
