//! JSON Web Tokens signed with RS256 (RFC 7515): the assertions that providers exchange for access tokens.
//!
//! Pure except for the random blinding of the signature. It sends nothing and reads no clock.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pkcs8::SecretDocument;
use ring::rand::SystemRandom;
use ring::rsa::KeyPair;
use ring::signature::RSA_PKCS1_SHA256;
use serde::Serialize;
use zeroize::Zeroizing;

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

/// The claims, signed with `key`, whose id the header names if there is one.
///
/// # Errors
///
/// Fails if the key cannot sign. The message contains no part of the key.
pub(crate) fn signed(
    key_id: Option<&str>,
    claims: &impl Serialize,
    key: &KeyPair,
) -> Result<Zeroizing<String>, String> {
    let header = Header { alg: "RS256", typ: "JWT", kid: key_id };
    let mut text = Zeroizing::new(format!("{}.{}", part(&header)?, part(claims)?));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| "the private key cannot sign".to_string())?;
    text.push('.');
    text.push_str(&URL_SAFE_NO_PAD.encode(signature));
    Ok(text)
}

/// The part of a token without which the rest is worthless: its signature.
pub(crate) fn signature(token: &str) -> &str {
    token.rsplit('.').next().unwrap_or(token)
}

fn part<T: Serialize>(value: &T) -> Result<String, String> {
    let json = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    Ok(URL_SAFE_NO_PAD.encode(json))
}

/// An RSA private key in PEM form: PKCS#1, as the code host makes it, or PKCS#8.
///
/// # Errors
///
/// The text continues a sentence that begins with the key's place, and contains no part of it.
pub(crate) fn private_key(pem: &str) -> Result<KeyPair, String> {
    let pem = pem.trim();
    if pem.starts_with("-----BEGIN ENCRYPTED") || pem.contains("Proc-Type: 4,ENCRYPTED") {
        return Err("is encrypted; it must be a key without a passphrase".to_string());
    }
    if pem.contains("\\n") {
        return Err("has `\\n` instead of line breaks, as when a key passes through a shell".to_string());
    }
    if pem.starts_with("-----BEGIN OPENSSH") {
        return Err("is a key of OpenSSH; it must be an RSA key in PEM form".to_string());
    }
    let (label, document) =
        SecretDocument::from_pem(pem).map_err(|_| "is not a private key in PEM form".to_string())?;
    // The reason is one of a fixed set of words, never a part of the key.
    let unusable = |reason| format!("is not a usable RSA key ({reason})");
    match label {
        "RSA PRIVATE KEY" => KeyPair::from_der(document.as_bytes()).map_err(unusable),
        "PRIVATE KEY" => KeyPair::from_pkcs8(document.as_bytes()).map_err(unusable),
        "PUBLIC KEY" | "RSA PUBLIC KEY" => Err("is a public key; it must be the private one".to_string()),
        "CERTIFICATE" => Err("is a certificate; it must be the private key".to_string()),
        _ => Err("is not an RSA private key in PEM form".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;

    const KEY: &str = include_str!("../../evidence-bundle/tests/keys/rsa.pem");

    /// The same key in the form of PKCS#1, as the code host makes it: PKCS#8 has it after 26 bytes.
    fn pkcs1() -> String {
        let text: String = KEY.lines().filter(|line| !line.starts_with("-----")).collect();
        let der = STANDARD.decode(text).unwrap();
        let lines = STANDARD.encode(&der[26..]);
        let lines: Vec<&str> =
            lines.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n", lines.join("\n"))
    }

    #[test]
    fn both_forms_of_a_key_make_the_same_signature() {
        let claims = serde_json::json!({"iss": 1});
        let tokens = [KEY.to_string(), pkcs1()].map(|pem| {
            let key = private_key(&pem).unwrap();
            let token = signed(None, &claims, &key).unwrap();
            let (text, _) = token.rsplit_once('.').unwrap();
            let bytes = URL_SAFE_NO_PAD.decode(signature(&token)).unwrap();
            UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public().as_ref())
                .verify(text.as_bytes(), &bytes)
                .unwrap();
            token
        });
        assert_eq!(tokens[0], tokens[1]);
        let header = tokens[0].split('.').next().unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(header).unwrap(), br#"{"alg":"RS256","typ":"JWT"}"#);
    }

    #[test]
    fn what_is_no_usable_key_is_named_and_never_shown() {
        let body = "c2VjcmV0IHNlY3JldA==";
        let pem = |label: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
        for (text, said) in [
            ("", "not a private key in PEM form"),
            ("c2VjcmV0", "not a private key in PEM form"),
            (pem("ENCRYPTED PRIVATE KEY").as_str(), "encrypted"),
            (pem("OPENSSH PRIVATE KEY").as_str(), "OpenSSH"),
            (KEY.replace('\n', "\\n").as_str(), "`\\n`"),
            (pem("PRIVATE KEY").as_str(), "PEM form"),
            (pkcs1().replace("RSA PRIVATE", "PUBLIC").as_str(), "public key"),
            (pkcs1().replace("RSA PRIVATE KEY", "CERTIFICATE").as_str(), "certificate"),
            (pkcs1().replace("RSA PRIVATE", "PRIVATE").as_str(), "not a usable RSA key"),
        ] {
            let error = private_key(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
            assert!(!error.contains(body), "{error}");
        }
    }
}
