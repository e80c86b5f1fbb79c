//! Runs the commands: opens the platform, then serves or changes it. The only module that prints, with its children.

mod fleet;
mod output;
mod retention;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use clap::CommandFactory as _;
use evidence_bundle::text::saturating_usize;
use evidence_bundle::{PublicKey, TrustRoot};
use evidence_cli::Pages;
use evidence_os::input;
use evidence_os::secret::Secret;
use evidence_os::signal::Signals;

use self::output::{print, put, say};
use crate::api::administration::audit_line;
use crate::api::status::{OrganizationStatus, StatusView};
use crate::blobs::{Blobs, BucketAccess};
use crate::cli::{Cli, Command, End, PlaceArgs, ServeArgs, TrustCommand, WebhookCommand};
use crate::error::Error;
use crate::fleet_file;
use crate::rounds;
use crate::server::{Limits, Server};
use crate::service::{Changed, CheckPlan, CheckReport, Operator, Service, Settings, Window};
use crate::spool::UploadLimits;
use crate::store::{
    AuditRecord, Damage, DatabaseUrl, Held, Position, Store, StrayBlob, TrustedKeyRow, Webhook,
};
use crate::time::Clock;

/// File descriptors that are not connections: database, blobs, spool, the log.
const OTHER_FILES: u64 = 512;

/// The largest public key file; a larger one is not a key file.
const KEY_FILE_LIMIT: u64 = 1024 * 1024;

/// The variable with the address of the database.
const DATABASE: &str = "EVIDENCE_PLATFORM_DATABASE";

/// How many records to read at once.
const AUDIT_BATCH: u32 = 500;

/// How long the server may take to answer a health check.
const HEALTH_PATIENCE: Duration = Duration::from_secs(3);

/// Runs a command.
///
/// # Errors
/// Returns the error to show to the user.
pub async fn run(cli: Cli) -> Result<(), Error> {
    let existing = || open(&cli.place, Absent::Refuse, Settings::default(), 2);
    match cli.command {
        Command::Serve(serve) => serve_all(&cli.place, serve).await,
        Command::Init => init(&cli.place).await,
        Command::Organization(command) => fleet::organization(&existing().await?, command).await,
        Command::Group(command) => fleet::group(&existing().await?, command).await,
        Command::Apply { file, dry_run, prune, keys } => {
            let wanted = fleet_file::read(&file)?;
            fleet::apply(&existing().await?, &wanted, (dry_run, prune), keys.as_deref()).await
        }
        Command::Key(command) => fleet::key(&existing().await?, command).await,
        Command::Retention(command) => retention::retention(&existing().await?, command).await,
        Command::Hold(command) => retention::hold(&existing().await?, command).await,
        Command::Webhook(command) => webhook(&existing().await?, command).await,
        Command::Status { json } => status(&existing().await?, json).await,
        Command::Check { restart, pace, .. } => check(&existing().await?, restart, pace).await,
        Command::AuditLog { organization, limit, jsonl } => {
            audit_log(&existing().await?, organization.as_deref(), limit.unwrap_or(100), jsonl).await
        }
        Command::Trust(command) => trust(&existing().await?, command).await,
        Command::Health(place) => health(place.listen).await,
        Command::Completions { shell } => {
            put(&String::from_utf8_lossy(&evidence_cli::completions(Cli::command(), shell)))
        }
        Command::Man { output } => man(&output),
    }
}

/// What to do if there is no platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Create,
    Refuse,
}

/// Opens the platform at the place that the arguments name.
async fn open(
    place: &PlaceArgs,
    absent: Absent,
    settings: Settings,
    connections: u32,
) -> Result<Service, Error> {
    if absent == Absent::Create {
        // Bundles reveal the settings of an organization, so only the user that runs the platform may read them.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.data).map_err(|error| {
            Error::unusable(format!("cannot create the data directory {}", place.data.display()), error)
        })?;
    }
    // The variable itself is a command-line option, and takes precedence over a file.
    let file = Secret::read(DATABASE, |name| std::env::var_os(name))
        .map_err(|error| Error::unusable("no database", error))?;
    let database = match place.database.as_deref().or_else(|| Some(file.as_ref()?.text())) {
        Some(url) => DatabaseUrl::postgres(url)?,
        None => DatabaseUrl::sqlite(&place.data)?,
    };
    let database = if absent == Absent::Refuse { database.existing(&place.data)? } else { database };
    let blobs = match place.storage.as_deref() {
        Some(address) if address.starts_with("s3://") => {
            Blobs::bucket(address, &BucketAccess::from_variables(|name| std::env::var_os(name))?)?
        }
        Some(address) if address.contains("://") => {
            return Err(Error::Invalid("the storage must be a directory or s3://bucket/prefix".into()));
        }
        Some(directory) => Blobs::directory(directory.as_ref())?,
        None => Blobs::directory(&place.data.join("blobs"))?,
    };
    let store = Store::open(&database, connections).await?;
    Service::new(store, blobs, &place.data.join("spool"), Clock::system(), settings)
}

async fn serve_all(place: &PlaceArgs, serve: ServeArgs) -> Result<(), Error> {
    if serve.min_retention_days.is_some_and(|least| serve.retention_days < least) {
        return Err(Error::Invalid("--retention-days must be at least --min-retention-days".into()));
    }
    let defaults = Settings::default();
    let settings = Settings {
        patience: UploadLimits { bytes: serve.max_bundle_size, ..defaults.patience },
        retention_days: serve.retention_days,
        min_retention_days: serve.min_retention_days,
        purge_after_days: serve.purge_after_days,
        uploads: saturating_usize(serve.max_uploads),
        inflated_bytes: serve.max_inflated_size,
        readers: serve.max_verifications.map_or(defaults.readers, saturating_usize),
        rows_bytes: serve.max_rows_size,
        require_judgement: serve.require_judgement,
        private_webhooks: serve.private_webhooks,
        revoked: revoked(serve.revoked_keys.as_deref())?,
        ..defaults
    };
    let service = open(place, Absent::Create, settings, serve.max_database_connections).await?;
    if serve.accept_clock {
        service.accept_clock().await?;
    }
    let limits = Limits {
        connections: connections(serve.max_connections),
        https: serve.secure_cookies,
        proxies: serve.trusted_proxies,
        host_names: serve.host_names,
        ..Limits::default()
    };
    let server = Server::bind(serve.place.listen, service.clone(), limits).await?;
    announce(format!("listening at http://{}\n{}", server.address()?, first_steps(&service).await?));
    // Log a store that refuses writes now, not at the first upload.
    let first = service.clone();
    tokio::spawn(async move { first.ready().await });
    let sweeper = tokio::spawn(rounds::sweep(service.clone()));
    let minutes = tokio::spawn(rounds::minutes(service.clone()));
    let messenger = tokio::spawn(rounds::messages(service.clone()));
    let checker = tokio::spawn(rounds::checks(service.clone(), serve.check_every, serve.check_pace));
    let filler = tokio::spawn(rounds::fill(service.clone(), serve.fill_pace));
    server.run(stop_signal()?).await;
    sweeper.abort();
    minutes.abort();
    checker.abort();
    filler.abort();
    messenger.abort();
    service.end_minute().await;
    service.close().await;
    Ok(())
}

/// The list of revoked keys. Without a list that can be read, the platform does not start.
fn revoked(path: Option<&Path>) -> Result<TrustRoot, Error> {
    let mut trust = TrustRoot::new();
    if let Some(path) = path {
        let shown = path.display().to_string();
        let unread = |error| Error::unusable(format!("cannot read the list of revoked keys {shown}"), error);
        let (contents, _) = input::read(path, KEY_FILE_LIMIT).map_err(unread)?;
        trust
            .add_revoked_keys(shown, &contents)
            .map_err(|error| Error::unusable("cannot read the list of revoked keys", error))?;
    }
    Ok(trust)
}

async fn init(place: &PlaceArgs) -> Result<(), Error> {
    let service = open(place, Absent::Create, Settings::default(), 2).await?;
    let data = std::path::absolute(&place.data)?;
    say(&format!("the platform is in {}", data.display()))?;
    put(first_steps(&service).await?)
}

/// What to do while there is no organization.
async fn first_steps(service: &Service) -> Result<&'static str, Error> {
    Ok(match Operator::of(service).organizations().await?.is_empty() {
        true => {
            "no organization yet; create one, a key for it, and trust the key that signs its bundles:\n  \
             evidence-platform organization create \"ACME Corp\" --slug acme\n  \
             evidence-platform key create --organization acme --role upload\n  \
             evidence-platform trust add --organization acme evidence-signing-key.pub.pem\n"
        }
        false => "",
    })
}

/// Prints in a thread of its own: a pipe that is full and unread must not keep the server from serving.
fn announce(text: String) {
    let print = move || {
        if let Err(error) = print(&text) {
            tracing::warn!(%error, "standard output takes nothing");
        }
    };
    if let Err(error) = std::thread::Builder::new().spawn(print) {
        tracing::warn!(%error, "cannot print");
    }
}

/// The requested number of connections, or fewer if the system limits open files.
fn connections(asked: u32) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = u64::from(asked).saturating_add(OTHER_FILES);
    let allowed = limit.maximum.map_or(wanted, |most| most.min(wanted));
    let mut current = limit.current.unwrap_or(u64::MAX);
    if current < allowed {
        let raised = rustix::process::Rlimit { current: Some(allowed), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            current = allowed;
        }
    }
    let free = current.saturating_sub(OTHER_FILES).clamp(16, u64::from(asked));
    saturating_usize(free)
}

/// Completes on SIGTERM or SIGINT.
fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let mut signals = Signals::listen()?;
    Ok(async move {
        signals.next().await;
    })
}

/// Checks everything. What is damaged is an error, so that a scheduler notices.
async fn check(service: &Service, restart: bool, pace: Option<u64>) -> Result<(), Error> {
    let pace = pace.map(|megabytes| megabytes.saturating_mul(rounds::MEGABYTE));
    let report = service.check_all(CheckPlan { pace, restart }).await?;
    let CheckReport { bundles, bytes, resumed, damaged, strays } = &report;
    for Damage { slug, bundle_id, reason, detail, .. } in damaged {
        say(&format!("{slug}  {bundle_id}  {reason}  {detail}"))?;
    }
    for StrayBlob { organization, digest, size_bytes } in strays {
        say(&format!("{organization}  {digest}  blob-without-bundle  {size_bytes} bytes"))?;
    }
    let how = if *resumed { ", the rest of an interrupted check" } else { "" };
    say(&format!(
        "checked {bundles} bundles ({bytes} bytes){how}: {} damaged, {} blobs without a bundle",
        damaged.len(),
        strays.len()
    ))?;
    match damaged.len() {
        0 => Ok(()),
        1 => Err(Error::Unsound("1 stored bundle is damaged; restore its bytes from a copy".to_owned())),
        several => Err(Error::Unsound(format!(
            "{several} stored bundles are damaged; restore their bytes from a copy"
        ))),
    }
}

/// A row per organization. An organization that is late is an error, so that a scheduler notices.
async fn status(service: &Service, json: bool) -> Result<(), Error> {
    let held = Operator::of(service).held().await?;
    let mut late = Vec::new();
    let mut rows = Vec::new();
    for Held { slug, freshness, bundles, bytes, .. } in &held {
        let since = freshness.late_since();
        if let Some(since) = since {
            late.push(format!("{slug} since {since}"));
        }
        let state = since.map_or_else(String::new, |since| format!("  LATE since {since}"));
        rows.push(format!("{slug}  {}  {bundles} bundles  {bytes} bytes{state}", freshness.words()));
    }
    if json {
        let organizations = held
            .iter()
            .map(|held| OrganizationStatus::new(&held.slug, &held.name, &held.freshness))
            .collect();
        let text = serde_json::to_string_pretty(&StatusView { organizations })
            .map_err(|error| Error::internal("the status could not be written", error))?;
        put(&format!("{text}\n"))?;
    } else {
        rows.iter().try_for_each(|row| say(row))?;
    }
    match late.is_empty() {
        true => Ok(()),
        false => Err(Error::Late(format!("late: {}", late.join(", ")))),
    }
}

async fn webhook(service: &Service, command: WebhookCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    match command {
        WebhookCommand::Create { organization, url, events } => {
            let made = operator.create_webhook(&organization, &url, &events).await?;
            // Alone on standard output, so that a script can capture it.
            print(&format!("{}\n", made.secret)).map_err(|error| {
                let lost =
                    format!("{} is created, but its secret cannot be printed: remove it", made.webhook.id);
                Error::unusable(lost, error)
            })
        }
        WebhookCommand::List { organization } => {
            for Webhook { id, url, events, waiting, delivered_at, failure, .. } in
                operator.webhooks(&organization).await?
            {
                let events = if events.is_empty() { "all events".to_owned() } else { events.join(",") };
                let last =
                    delivered_at.map_or("never delivered".to_owned(), |time| format!("delivered {time}"));
                let failed = if failure.is_empty() { failure } else { format!("  FAILED {failure}") };
                say(&format!("{id}  {url}  {events}  {last}  {waiting} waiting{failed}"))?;
            }
            Ok(())
        }
        WebhookCommand::Remove { organization, webhook } => {
            operator.remove_webhook(&organization, &webhook).await?;
            say(&format!("removed {webhook}"))
        }
    }
}

async fn audit_log(
    service: &Service,
    organization: Option<&str>,
    limit: u32,
    jsonl: bool,
) -> Result<(), Error> {
    let operator = Operator::of(service);
    let mut after = Position::start();
    let mut left = if jsonl { u32::MAX } else { limit };
    while left > 0 {
        let some = left.min(AUDIT_BATCH);
        let records = operator.audit_log_of(organization, &after, some).await?;
        let Some(last) = records.last() else { return Ok(()) };
        after = Position { time: last.at, id: last.id.clone() };
        for record in records {
            if jsonl {
                put(&audit_line(record)?)?;
                continue;
            }
            let AuditRecord { at, actor, action, target, detail, request_id, .. } = record;
            say(format!("{at}  {action}  {actor}  {detail}  {target}  {request_id}").trim_end())?;
        }
        left = left.saturating_sub(some);
    }
    Ok(())
}

async fn trust(service: &Service, command: TrustCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    match command {
        TrustCommand::Add { organization, name, valid_from, valid_until, file } => {
            let window =
                Window { from: valid_from.map(|when| when.first), until: valid_until.map(|when| when.last) };
            add_trust(&operator, &organization, name, window, &file).await
        }
        TrustCommand::Update { organization, valid_from, valid_until, key } => {
            let from = valid_from.map(|End(when)| when.map(|when| when.first));
            let until = valid_until.map(|End(when)| when.map(|when| when.last));
            let Changed { row, outside } = operator.update_trust(&organization, &key, from, until).await?;
            say(&trusted(&row))?;
            warn_outside(outside)
        }
        TrustCommand::Revoke { organization, since, reason, key } => {
            let Changed { row, outside } =
                operator.revoke_trust(&organization, &key, since.first, &reason).await?;
            say(&trusted(&row))?;
            warn_outside(outside)
        }
        TrustCommand::List { organization } => {
            operator.trusted_keys(&organization).await?.iter().try_for_each(|row| say(&trusted(row)))
        }
        TrustCommand::Remove { organization, key } => {
            say(&format!("removed {}", operator.remove_trust(&organization, &key).await?))
        }
    }
}

/// How many stored bundles a change of dates left without a valid signer.
fn warn_outside(bundles: u64) -> Result<(), Error> {
    match bundles {
        0 => Ok(()),
        1 => say("1 stored bundle by this key was received later and no longer verifies"),
        _ => say(&format!("{bundles} stored bundles by this key were received later and no longer verify")),
    }
}

fn trusted(row: &TrustedKeyRow) -> String {
    let mut line = format!("{}  {}  {}", row.key_id, row.fingerprint, row.label);
    if let Some(from) = row.valid_from {
        line.push_str(&format!("  from {from}"));
    }
    if let Some(until) = row.valid_until {
        line.push_str(&format!("  until {until}"));
    }
    if let Some((since, reason)) = &row.revoked {
        line.push_str(&format!("  REVOKED since {since}: {reason}"));
    }
    line
}

async fn add_trust(
    operator: &Operator,
    organization: &str,
    name: Option<String>,
    window: Window,
    file: &Path,
) -> Result<(), Error> {
    let shown = file.display().to_string();
    let (contents, _) =
        input::read(file, KEY_FILE_LIMIT).map_err(|error| Error::unusable(shown.as_str(), error))?;
    let keys = PublicKey::parse_all(&contents).map_err(|error| Error::unusable(shown.as_str(), error))?;
    let name = name.or_else(|| Some(file.file_name()?.to_str()?.to_owned())).unwrap_or_default();
    for (index, key) in keys.iter().enumerate() {
        let name = if index == 0 { name.clone() } else { format!("{name} ({})", index + 1) };
        let added = operator.add_trusted_key_within(organization, &key.to_spki_pem(), &name, window).await?;
        say(&format!("{} {}", if added.1 { "trusted" } else { "trusted already:" }, added.0.key_id))?;
    }
    Ok(())
}

/// Checks that a server answers at this address. Opens none of the server's files.
async fn health(listen: SocketAddr) -> Result<(), Error> {
    let mut address = listen;
    if listen.ip().is_unspecified() {
        address.set_ip(match listen {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    // The client panics without a cryptography provider, although it does not use TLS here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ask = async {
        let client = reqwest::Client::builder().no_proxy().timeout(HEALTH_PATIENCE).build()?;
        client.get(format!("http://{address}/healthz")).send().await?.error_for_status()
    };
    let failed = |error: reqwest::Error| {
        Error::unusable(format!("the server at {address} is not healthy"), error.without_url())
    };
    ask.await.map_err(failed)?;
    say(&format!("the server at {address} is healthy"))
}

fn man(directory: &Path) -> Result<(), Error> {
    let date = std::env::var(evidence_cli::SOURCE_DATE_EPOCH).ok().filter(|text| !text.is_empty());
    let pages = Pages { directory, sections: &crate::manual::sections };
    evidence_cli::write_manual(Cli::command(), &pages, date.as_deref(), Clock::system().now().0 / 1_000)
        .map_err(|error| Error::unusable("no manual pages", error))
}
