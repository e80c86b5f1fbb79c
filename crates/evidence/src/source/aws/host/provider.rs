//! Where credentials come from, besides the configured variables: a program, an identity provider's token, a container, an
//! instance, or the first of these that is there, in the order of the provider's own tools.

use std::path::PathBuf;
use std::sync::Arc;

use evidence_os::input;
use futures_util::FutureExt as _;
use url::Url;
use zeroize::Zeroizing;

use super::api::Hosts;
use super::command;
use super::login::Renewal;
use super::metadata::{of_container, of_instance};
use super::sign::Credentials;
use super::sts::{SESSION_NAME, assume_by_token};
use crate::env::Env;
use crate::source::RunContext;
use crate::source::aws::config::{AssumedRole, Mode};
use evidence_http::{CallError, FailureKind, RequestFailure};
use evidence_settings::format::is_loopback;

/// The provider's usual variables.
const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION: &str = "AWS_SESSION_TOKEN";
const PROFILE: &str = "AWS_PROFILE";
const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
const ROLE_ARN: &str = "AWS_ROLE_ARN";
const ROLE_SESSION: &str = "AWS_ROLE_SESSION_NAME";
const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const AUTHORIZATION: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
const AUTHORIZATION_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
const INSTANCE: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
const INSTANCE_DISABLED: &str = "AWS_EC2_METADATA_DISABLED";

/// The address of the container's service, and where else it may be without TLS.
const CONTAINER_HOST: &str = "http://169.254.170.2";
const CONTAINER_HOSTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// The address of the instance's service.
const INSTANCE_HOST: &str = "http://169.254.169.254";

/// The largest token in a file.
const TOKEN_LIMIT: u64 = 64 * 1024;

/// A place that credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Provider {
    /// The provider's usual variables.
    Variables,
    /// A program.
    Command(Vec<String>),
    /// A token of an identity provider in this file, for this role.
    WebIdentity { file: PathBuf, role: AssumedRole, session: String },
    /// A container's service, and where its token is.
    Container { url: Url, authorization: Option<Authorization> },
    /// An instance's service.
    Instance(Url),
}

/// Where the token for a container's service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Authorization {
    Variable,
    File(PathBuf),
}

/// A message, and what to do.
pub(crate) type Problem = (String, Vec<String>);

/// The place that the configuration and the variables name; `None` for the configured variables. Sends nothing.
pub(crate) fn find(mode: &Mode, duration: u32, env: &Env) -> Result<Option<Provider>, Problem> {
    match mode {
        Mode::Variables => Ok(None),
        Mode::Command(command) => Ok(Some(Provider::Command(command.clone()))),
        Mode::WebIdentity => web_identity(env, duration)?.map(Some).ok_or_else(|| {
            (
                format!("`mode: web_identity` needs {TOKEN_FILE} and {ROLE_ARN}, which are not set"),
                vec![format!("in a cluster, the annotation of the service account sets both; elsewhere: export {TOKEN_FILE}=PATH {ROLE_ARN}=arn:...")],
            )
        }),
        Mode::Container => container(env)?.map(Some).ok_or_else(|| {
            (
                format!("`mode: container` needs {RELATIVE} or {FULL}, which are not set"),
                vec!["ECS and EKS Pod Identity set them for containers with a role".to_string()],
            )
        }),
        Mode::Instance => Ok(Some(Provider::Instance(instance(env)?))),
        Mode::Default => first(env, duration).map(Some),
    }
}

/// The first place that is there, in the order of the provider's tools.
fn first(env: &Env, duration: u32) -> Result<Provider, Problem> {
    if env.var(KEY_ID).is_some() && env.var(SECRET).is_some() {
        return Ok(Provider::Variables);
    }
    // Skipping the profile could read another account than the provider's tools would.
    if let Some(profile) = env.var(PROFILE) {
        let profile = evidence_http::single_line(profile);
        return Err((
            format!("{PROFILE} is set, and `mode: default` does not read profiles"),
            vec![format!(
                "write `mode: command` and `credentials_command: [aws, configure, export-credentials, --profile, \
                 {profile}]` in sources.cloud, or unset {PROFILE}"
            )],
        ));
    }
    if let Some(found) = web_identity(env, duration)? {
        return Ok(found);
    }
    if let Some(found) = container(env)? {
        return Ok(found);
    }
    if env.var(INSTANCE_DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err((
            "no credentials: neither variables, web identity nor a container, and the instance's service is disabled"
                .to_string(),
            vec![format!("export {KEY_ID} and {SECRET}, or unset {INSTANCE_DISABLED}")],
        ));
    }
    Ok(Provider::Instance(instance(env)?))
}

fn web_identity(env: &Env, duration: u32) -> Result<Option<Provider>, Problem> {
    let (Some(file), Some(arn)) = (env.var(TOKEN_FILE), env.var(ROLE_ARN)) else { return Ok(None) };
    if crate::source::aws::names::check_role(arn).is_err() {
        return Err((
            format!("{ROLE_ARN} is not the ARN of a role"),
            vec![format!("export {ROLE_ARN}=arn:aws:iam::ACCOUNT:role/NAME")],
        ));
    }
    let role = AssumedRole { arn: arn.to_string(), external_id: None, duration };
    let session = env.var(ROLE_SESSION).unwrap_or(SESSION_NAME).to_string();
    Ok(Some(Provider::WebIdentity { file: file.into(), role, session }))
}

fn container(env: &Env) -> Result<Option<Provider>, Problem> {
    let (name, address) = match (env.var(RELATIVE), env.var(FULL)) {
        (Some(path), _) => (RELATIVE, format!("{CONTAINER_HOST}{path}")),
        (None, Some(url)) => (FULL, url.to_string()),
        (None, None) => return Ok(None),
    };
    let url = Url::parse(&address)
        .map_err(|_| (format!("{name} is not an address"), vec![format!("correct {name}")]))?;
    let is_known = url.host_str().is_some_and(|host| CONTAINER_HOSTS.contains(&host)) || is_loopback(&url);
    if !(url.scheme() == "https" || (url.scheme() == "http" && is_known)) {
        return Err((
            format!("{name} names an address without TLS that is not a container's service"),
            vec![format!("without TLS, only {} and loopback are accepted", CONTAINER_HOSTS.join(", "))],
        ));
    }
    let authorization = match (env.var(AUTHORIZATION_FILE), env.var(AUTHORIZATION)) {
        (Some(path), _) => Some(Authorization::File(path.into())),
        (None, Some(_)) => Some(Authorization::Variable),
        (None, None) => None,
    };
    Ok(Some(Provider::Container { url, authorization }))
}

fn instance(env: &Env) -> Result<Url, Problem> {
    let address = env.var(INSTANCE).unwrap_or(INSTANCE_HOST);
    let url =
        Url::parse(address).ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    url.ok_or_else(|| {
        (format!("{INSTANCE} is not an address"), vec![format!("correct {INSTANCE}, or unset it")])
    })
}

impl Provider {
    /// Its name in messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Provider::Variables => format!("{KEY_ID} and {SECRET}"),
            Provider::Command(command) => {
                format!(
                    "the program {}",
                    evidence_http::single_line(command.first().map_or("", String::as_str))
                )
            }
            Provider::WebIdentity { .. } => format!("the token that {TOKEN_FILE} names"),
            Provider::Container { url, .. } => format!("the container's service at {url}"),
            Provider::Instance(url) => format!("the instance's service at {url}"),
        }
    }

    /// The variable or the key whose value, or what was obtained with it, is sent.
    pub(crate) fn holder(&self) -> &'static str {
        match self {
            Provider::Variables => KEY_ID,
            Provider::Command(_) => "credentials_command",
            Provider::WebIdentity { .. } => TOKEN_FILE,
            Provider::Container { authorization: Some(Authorization::File(_)), .. } => AUTHORIZATION_FILE,
            Provider::Container { .. } => AUTHORIZATION,
            Provider::Instance(_) => "the instance's role",
        }
    }

    /// What to do if it gives no credentials.
    pub(crate) fn help(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Provider::Variables => &["set the variables again, without quotes or spaces"],
            Provider::Command(_) => {
                &["run the program by hand: it must print the JSON object of `credential_process`"]
            }
            Provider::WebIdentity { .. } => &[
                "name the identity provider and its subject in the role's trust policy",
                "check that the token has not expired",
            ],
            Provider::Container { .. } => {
                &["run in a container with a task role or a pod identity, or choose another `mode`"]
            }
            Provider::Instance(_) => &[
                "run on an instance with a role, or choose another `mode`",
                "in a container on an instance, the hop limit of the metadata service must be 2",
            ],
        };
        lines.iter().map(|line| (*line).to_string()).collect()
    }

    async fn fetch(&self, hosts: &Hosts, run: &RunContext) -> Result<Credentials, CallError> {
        match self {
            Provider::Variables => of_variables(&run.env).map_err(local),
            Provider::Command(command) => {
                let command = command.clone();
                let ran = tokio::task::spawn_blocking(move || command::run(&command)).await;
                ran.unwrap_or_else(|_| Err("the program could not be run".to_string())).map_err(local)
            }
            Provider::WebIdentity { file, role, session } => {
                let token = token_in(file).map_err(local)?;
                run.screen.learn([token.as_bytes()]);
                assume_by_token(hosts.sts(), role, session, &token).await
            }
            Provider::Container { url, authorization } => {
                let authorization = match authorization {
                    None => None,
                    Some(Authorization::Variable) => {
                        run.env.var(AUTHORIZATION).map(|text| Zeroizing::new(text.to_string()))
                    }
                    Some(Authorization::File(file)) => Some(token_in(file).map_err(local)?),
                };
                of_container(url, authorization.as_ref().map(|text| text.as_str()), run).await
            }
            Provider::Instance(url) => of_instance(url, run).await,
        }
    }

    /// Fetches the first credentials, and returns the hosts, called with them; they are renewed before they expire. `hosts`
    /// signs nothing.
    pub(crate) async fn sign_in(self, hosts: Arc<Hosts>, run: &RunContext) -> Result<Hosts, CallError> {
        let first = self.fetch(&hosts, run).await?;
        run.screen.learn(first.secrets());
        let (skew, clock, screen) = (hosts.shared_skew(), run.env.clock.clone(), Arc::clone(&run.screen));
        let (provider, run, asked) = (Arc::new(self), Arc::new(run.clone()), Arc::clone(&hosts));
        let ask = move || {
            let (provider, hosts, run) = (Arc::clone(&provider), Arc::clone(&asked), Arc::clone(&run));
            async move { provider.fetch(&hosts, &run).await }.boxed()
        };
        let now = move || skew.by_provider(clock.now());
        let login = Renewal { ask: Box::new(ask), now: Box::new(now), screen }.login(first);
        Ok(hosts.with_login(login))
    }
}

fn of_variables(env: &Env) -> Result<Credentials, String> {
    let (id, secret) = (env.var(KEY_ID).unwrap_or_default(), env.var(SECRET).unwrap_or_default());
    Credentials::new(id, secret, env.var(SESSION))
        .map_err(|error| format!("the credentials in {KEY_ID} and {SECRET} are invalid: {error}"))
}

fn token_in(file: &std::path::Path) -> Result<Zeroizing<String>, String> {
    let (bytes, _) = input::read(file, TOKEN_LIMIT)
        .map_err(|error| format!("cannot read the token {}: {error}", file.display()))?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(format!("the file {} does not hold a token", file.display()));
    }
    Ok(Zeroizing::new(text.to_string()))
}

fn local(text: String) -> CallError {
    CallError::Failed(RequestFailure::local(FailureKind::Transport(text)))
}

/// The usual variables that are set and not read, each with the line that uses it.
pub(crate) fn noticed(env: &Env) -> Vec<String> {
    let lines = [
        (
            PROFILE,
            "mode: command` and `credentials_command: [aws, configure, export-credentials, --profile, NAME]",
        ),
        (TOKEN_FILE, "mode: web_identity"),
        (RELATIVE, "mode: container"),
        (FULL, "mode: container"),
    ];
    let set = lines.into_iter().filter(|(name, _)| env.var(name).is_some());
    set.map(|(name, line)| format!("{name} is set but not read: to use it, write `{line}` in sources.cloud"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Clock;

    fn env(variables: &[(&str, &str)]) -> Env {
        Env::new(variables.iter().copied(), Clock::System)
    }

    fn found(variables: &[(&str, &str)]) -> Provider {
        find(&Mode::Default, 900, &env(variables)).unwrap().unwrap()
    }

    const ARN: &str = "arn:aws:iam::123456789012:role/evidence";

    #[test]
    fn the_default_is_the_first_in_the_order_of_the_provider_s_tools() {
        let keys = [(KEY_ID, "AKIA"), (SECRET, "s")];
        let token = [(TOKEN_FILE, "/token"), (ROLE_ARN, ARN)];
        let relative = [(RELATIVE, "/v2/x")];
        let all: Vec<_> = keys.iter().chain(&token).chain(&relative).copied().collect();
        assert_eq!(found(&all), Provider::Variables);
        assert!(matches!(found(&all[1..]), Provider::WebIdentity { .. }), "half a key is none");
        assert!(matches!(found(&all[3..]), Provider::Container { .. }));
        let Provider::Instance(url) = found(&[]) else { panic!() };
        assert_eq!(url.as_str(), "http://169.254.169.254/");
        let refused = |variables: &[(&str, &str)]| find(&Mode::Default, 900, &env(variables)).unwrap_err();
        let (message, help) = refused(&[(PROFILE, "audit"), (TOKEN_FILE, "/t"), (ROLE_ARN, ARN)]);
        assert!(
            message.starts_with("AWS_PROFILE is set") && help[0].contains("--profile, audit"),
            "{help:?}"
        );
        assert!(refused(&[(INSTANCE_DISABLED, "TRUE")]).0.starts_with("no credentials"));
    }

    #[test]
    fn a_container_s_address_is_its_own_service_or_has_tls() {
        for (url, good) in [
            ("http://169.254.170.2/v2/x", true),
            ("http://169.254.170.23/v1/credentials", true),
            ("http://[fd00:ec2::23]/v1/credentials", true),
            ("http://127.0.0.1:9/x", true),
            ("https://credentials.example/x", true),
            ("http://credentials.example/x", false),
            ("http://169.254.170.2.example/x", false),
            ("file:///etc/passwd", false),
            ("nothing", false),
        ] {
            let found = find(&Mode::Container, 900, &env(&[(FULL, url)]));
            assert_eq!(found.is_ok(), good, "{url}: {found:?}");
        }
        let Some(Provider::Container { url, authorization }) =
            find(&Mode::Container, 900, &env(&[(RELATIVE, "/v2/x"), (AUTHORIZATION, "t")])).unwrap()
        else {
            panic!()
        };
        assert_eq!(
            (url.as_str(), authorization),
            ("http://169.254.170.2/v2/x", Some(Authorization::Variable))
        );
    }

    #[test]
    fn what_is_set_and_not_read_is_named_with_the_line_that_uses_it() {
        let lines = noticed(&env(&[(PROFILE, "audit"), (TOKEN_FILE, "/t"), (FULL, "http://h")]));
        assert_eq!(lines.len(), 3);
        assert!(lines[0].contains("credentials_command: [aws, configure, export-credentials"), "{lines:?}");
        assert!(lines[1].contains("`mode: web_identity`"), "{lines:?}");
        for (mode, name) in [(Mode::WebIdentity, TOKEN_FILE), (Mode::Container, RELATIVE)] {
            assert!(find(&mode, 900, &env(&[])).unwrap_err().0.contains(name));
        }
    }
}
