//! `mode` and its keys: how the run signs in to the code host.

use std::path::PathBuf;

use evidence_settings::declare::{CustomFormat, Format, Key, PATH, Shape, VARIABLE};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// `mode` and its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignIn {
    /// `mode: token`, with the variable that holds the token: `token_env`.
    Token(String),
    /// `mode: app`
    App(AppSettings),
}

/// The keys of `mode: app`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSettings {
    /// `app_id` or `client_id`
    pub issuer: Issuer,
    /// `private_key_path` or `private_key_env`
    pub key: AppKey,
    /// `installation_id`, if it is configured.
    pub installation: Option<u64>,
}

/// By what an app names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issuer {
    /// `app_id`
    AppId(u64),
    /// `client_id`
    ClientId(String),
}

/// Where the app's private key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppKey {
    /// `private_key_path`
    File(PathBuf),
    /// `private_key_env`
    Variable(String),
}

impl SignIn {
    /// The variable or the file that holds the secret.
    pub(in super::super) fn holder(&self) -> String {
        match self {
            SignIn::Token(variable) => variable.clone(),
            SignIn::App(AppSettings { key: AppKey::Variable(variable), .. }) => variable.clone(),
            SignIn::App(AppSettings { key: AppKey::File(path), .. }) => path.display().to_string(),
        }
    }
}

/// The largest number that the host gives an app or an installation: its numbers have at most 10 digits so far.
const LARGEST_ID: i64 = 1_000_000_000_000;

/// The client id of an app, which begins with `Iv`.
static CLIENT: CustomFormat = CustomFormat {
    noun: "the client id of an app",
    shown: "text",
    hint: Some("copy it from the page of the app's settings"),
    ignores_case: false,
    check: check_client,
    pattern: "^Iv[A-Za-z0-9.]{1,62}$",
    max_length: Some(64),
};

fn check_client(text: &str) -> Result<(), Complaint> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    if text.starts_with("Iv") && (3..=64).contains(&text.len()) && text.bytes().all(good) {
        return Ok(());
    }
    let complaint = Complaint::new(format!("{} is not the client id of an app", quote(text)));
    Err(if text.bytes().all(|byte| byte.is_ascii_digit()) {
        complaint.help(format!("a number is the app's id: write `app_id: {text}`"))
    } else {
        complaint.help("copy it from the page of the app's settings: it begins with `Iv`")
    })
}

keys! {
    pub(super) MODE = required("mode", Shape::Text(Format::Choice(&["token", "app"])),
        "How the tool authenticates: with a token, or as an app, which gets a token with only the permissions \
         that the rules need.")
        example "token", also &["auth", "auth_mode"];
    pub(super) TOKEN_ENV = variable("token_env", "CODEHOST_TOKEN",
        "The environment variable that holds the token.")
        rule "a name, never the token itself; only with `mode: token`", example "CODEHOST_TOKEN",
        also &["token", "access_token", "api_token", "github_token", "pat"];
    pub(super) APP_ID = optional("app_id", Shape::Integer { minimum: 1, maximum: LARGEST_ID },
        "The number of the app.")
        rule "with `mode: app`, exactly one of `app_id` and `client_id`", example "123456",
        also &["app", "github_app_id", "application_id"];
    pub(super) CLIENT_ID = optional("client_id", Shape::Text(Format::Custom(&CLIENT)),
        "The client id of the app, instead of its number.")
        rule "begins with `Iv`; with `mode: app`, exactly one of `app_id` and `client_id`",
        example "Iv23liAbCdEfGhIjKlMn", also &["app_client_id"];
    pub(super) APP_KEY_PATH = optional("private_key_path", PATH,
        "The file with the app's private key (RSA, PEM), as the host creates it.")
        rule "with `mode: app`, exactly one of `private_key_path` and `private_key_env`",
        example "~/.config/evidence/app.private-key.pem",
        also &["private_key", "key_path", "private_key_file", "app_key", "pem"];
    pub(super) APP_KEY_ENV = optional("private_key_env", VARIABLE,
        "The environment variable that holds the app's private key (RSA, PEM).")
        rule "a name, never the key itself; with `mode: app`, exactly one of `private_key_path` and \
              `private_key_env`",
        example "CODEHOST_APP_KEY", also &["key_env", "app_key_env"];
    pub(super) INSTALLATION_ID = optional("installation_id",
        Shape::Integer { minimum: 1, maximum: LARGEST_ID },
        "The number of the app's installation, if it is not that of `org`'s whole account.")
        rule "only with `mode: app`; the tool finds it by `org`", example "7654321",
        also &["installation", "app_installation_id"];
}

/// The keys that only `mode: app` has.
static OF_APP: [&Key; 5] = [&APP_ID, &CLIENT_ID, &APP_KEY_PATH, &APP_KEY_ENV, &INSTALLATION_ID];

/// How to sign in. Decodes every key before it judges, so that all problems are found.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<SignIn> {
    let mode = decoder.text(fields, &MODE);
    let token_env = decoder.text(fields, &TOKEN_ENV);
    let app_id = decoder.integer::<u64>(fields, &APP_ID);
    let client_id = decoder.text(fields, &CLIENT_ID);
    let key_path = decoder.path(fields, &APP_KEY_PATH);
    let key_variable = decoder.text(fields, &APP_KEY_ENV);
    let installation = decoder.integer::<u64>(fields, &INSTALLATION_ID);
    if mode?.value == "token" {
        return alone(decoder, fields, &OF_APP, "token", "app").then_some(SignIn::Token(token_env?.value));
    }
    let mut good = alone(decoder, fields, &[&TOKEN_ENV], "app", "token");
    for (first, second) in [(&APP_ID, &CLIENT_ID), (&APP_KEY_PATH, &APP_KEY_ENV)] {
        let complaint = match (fields.has(first), fields.has(second)) {
            (true, true) => {
                Complaint::new(format!("`{}` and `{}` exclude each other", first.name, second.name))
                    .help("remove one of them")
            }
            (false, false) => {
                Complaint::new(format!("`mode: app` needs `{}` or `{}`", first.name, second.name))
                    .help(format!("add `{}: {}`, with the value of your app", first.name, first.example))
            }
            _ => continue,
        };
        good = false;
        decoder.problems.add(fields.place(), path(fields, first), complaint);
    }
    // A key that is there and has no value has been reported.
    good &= installation.is_some() || !fields.has(&INSTALLATION_ID);
    let issuer = app_id.map(Issuer::AppId).or_else(|| Some(Issuer::ClientId(client_id?.value)));
    let key = key_path.map(AppKey::File).or_else(|| Some(AppKey::Variable(key_variable?.value)));
    good.then_some(())?;
    Some(SignIn::App(AppSettings { issuer: issuer?, key: key?, installation }))
}

/// The dotted path of a key of the section.
fn path(fields: &Fields, key: &Key) -> String {
    format!("{}.{}", fields.path(), key.name)
}

/// Whether none of these keys is there, which have no meaning with this mode.
fn alone(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    keys: &[&'static Key],
    mode: &str,
    other: &str,
) -> bool {
    let mut alone = true;
    for key in keys.iter().filter(|key| fields.has(key)) {
        alone = false;
        let complaint = Complaint::new(format!("`{}` has no meaning with `mode: {mode}`", key.name))
            .help(format!("write `mode: {other}`, or remove the key"));
        decoder.problems.add(fields.place(), path(fields, key), complaint);
    }
    alone
}
