//! Reports to the configured addresses how a collection ended (`notify`): one bounded POST with the exit code and nothing
//! else. A failure here is a warning, and changes no exit code.

use std::sync::Arc;
use std::time::Duration;

use evidence_bundle::document::Warning;
use evidence_http::quota::QuotaReading;
use evidence_http::retry::Class;
use evidence_http::{
    Anonymous, Answer, Client, ClientSettings, Dialect, Meaning, Proxy, RequestFailure, UploadClient,
    UploadRequest, Watch,
};
use url::Url;

use crate::config::{Config, NotifyConfig};
use crate::env::Env;
use crate::exit::Exit;
use crate::report::{Event, Reporter};

/// The time for everything, so that a receiver that hangs does not keep a run from ending.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time for one attempt.
const ATTEMPT: Duration = Duration::from_secs(6);
const ATTEMPTS: u32 = 2;
/// The most bytes read of an answer, which nobody needs.
const ANSWER_LIMIT: usize = 16 * 1024;

/// Who is to learn how the run ended.
pub(super) struct Notifier(NotifyConfig);

impl Notifier {
    /// The receivers that the configuration names. A dry run has none.
    pub(super) fn of(config: &Config, dry_run: bool) -> Option<Notifier> {
        let NotifyConfig { success_url, failure_url } = &config.notify;
        let some = success_url.is_some() || failure_url.is_some();
        (some && !dry_run).then(|| Notifier(config.notify.clone()))
    }

    /// Sends the notification for this outcome. After Ctrl-C or SIGTERM there is none: the missing success says enough.
    pub(super) fn send(&self, exit: Exit, env: &Env, reporter: &dyn Reporter) {
        let NotifyConfig { success_url, failure_url } = &self.0;
        let url = match exit {
            Exit::Success => success_url,
            Exit::Interrupted | Exit::Terminated => &None,
            _ => failure_url,
        };
        let Some(url) = url else { return };
        if let Err(text) = post(url, exit, env) {
            // The path often is a secret.
            let host = url.host_str().unwrap_or_default();
            reporter.event(Event::Warning(&Warning {
                code: "notification_failed".to_string(),
                message: format!("{host} did not take the notification of how this run ended: {text}"),
                source: None,
                subject: None,
            }));
        }
    }
}

fn post(url: &Url, exit: Exit, env: &Env) -> Result<(), String> {
    let settings = ClientSettings {
        timeout: ATTEMPT,
        attempts: ATTEMPTS,
        proxy: Proxy::from_env(env),
        plain: url.scheme() == "http",
        ..ClientSettings::default()
    };
    let client = Client::new(
        settings,
        Arc::new(Receiver),
        Arc::new(Anonymous),
        env.clock.clone(),
        Arc::new(Receiver),
    )?;
    let client = UploadClient::new(client);
    let text = format!("evidence collect: exit code {} ({})\n", exit.code(), exit.name());
    let note = UploadRequest::note(url.clone(), text);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the operating system refused a resource: {error}"))?;
    let sent = runtime.block_on(async {
        tokio::time::timeout(PATIENCE, client.send(&note, ANSWER_LIMIT, &|_| Ok(()))).await
    });
    // Dropping the runtime would wait for a pending name resolution.
    runtime.shutdown_background();
    match sent {
        Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
        Ok(Ok(Ok(_))) => Ok(()),
        Ok(Ok(Err(refused))) => Err(format!("HTTP {}", refused.meta.status)),
        Ok(Err(RequestFailure { kind, .. })) => Err(RequestFailure::local(kind).to_string()),
    }
}

/// Any host: only the status of its answer counts.
struct Receiver;

impl Dialect for Receiver {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let class = match answer.status {
            200..=299 => Class::Success,
            301 | 302 | 303 | 307 | 308 => Class::Redirect,
            408 | 500..=599 => Class::HostFault { retry_after: None },
            _ => Class::Unexpected,
        };
        Meaning {
            class,
            code: None,
            message: None,
            request_id: None,
            permission: None,
            reading: QuotaReading::default(),
        }
    }
}

impl Watch for Receiver {}
