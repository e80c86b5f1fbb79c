//! `evidence upload`, and the upload step of `collect --upload`: check the bundle on this machine, then upload exactly
//! these bytes.
//!
//! The checked bytes are sent from the same open file, so a file that changes in between is not accepted. The local
//! bundle is deleted only if that is configured and the platform reports the bundle as verified.

use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::Path;
use std::sync::Arc;

use evidence_bundle::hashing::Hashing;
use evidence_bundle::key::{KeyId, PublicKey};
use evidence_bundle::read::{Expectations, Failure, Limits};
use evidence_bundle::text::{Chain, Printable};
use evidence_bundle::trust::TrustRoot;
use evidence_os::shell;
use evidence_os::{file, input};

use super::trust;
use crate::bundle_file::BUFFER;
use crate::cli::{CollectArgs, TrustArgs, UploadArgs};
use crate::config::upload::{endpoint, tag};
use crate::config::{Complaint, Config, ConfigFile, UploadConfig};
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::platform::{Upload, UploadError, UploadTarget, Uploaded};
use crate::report::{Event, LocalResult, Quiet, Reporter, Terminal, Uploading};
use evidence_http::{Proxy, UploadFile};
use evidence_screen::{self, Screen};

/// What an upload does not use of a configuration that was found. Its keys are not trusted: see [`trust::trust_root`].
const UNUSED: &[&str] = &["sources", "bundle"];

/// The same with `--endpoint`, which takes the place of the configured platform.
const UNUSED_WITH_ENDPOINT: &[&str] = &["sources", "bundle", "upload.api_url", "upload.platform_url"];

/// The parts of the run that an upload needs.
pub(super) struct UploadContext<'a> {
    pub(super) env: &'a Env,
    pub(super) interrupt: &'a Interrupt,
    pub(super) screen: &'a Screen,
    pub(super) reporter: &'a Arc<dyn Reporter>,
}

/// A newly collected bundle.
pub(super) struct NewBundle<'a> {
    pub(super) bundle: &'a Path,
    pub(super) complete: bool,
    /// The key that signed it.
    pub(super) key: PublicKey,
    /// The command that retries the upload.
    pub(super) again: String,
}

/// Runs `evidence upload`.
pub(super) fn run(args: &UploadArgs, env: &Env) -> Result<Exit, Error> {
    // 1. The platform, its API key and the trusted keys: everything that can be checked before reading the bundle.
    let config = configuration(args, env)?;
    let verify_here = config.verify_before_upload;
    let target = target(config, env, false)?;
    let trust = if verify_here { Some(trusted(args, env)?) } else { None };

    let reporter: Arc<dyn Reporter> =
        if args.quiet { Arc::new(Quiet::default()) } else { Arc::new(Terminal::new(false)) };
    let screen = Arc::new(evidence_screen::shared().clone());
    target.register_secret(&screen);
    reporter.screen(&screen);
    reporter.event(Event::Origins(&[target.origin(env)]));
    let interrupt = Interrupt::watch().map_err(Error::System)?;

    // 2. The bundle.
    let checked = check_bundle(&args.bundle, trust.as_ref(), &interrupt);
    if let Some(exit) = interrupt.raised() {
        return Err(failed(UploadError::Interrupted(exit), &args.bundle, again(args)));
    }
    let checked = checked.map_err(|failure| unsent(failure, &args.bundle))?;
    reporter.event(Event::Upload(Uploading::Checked {
        bundle: &args.bundle,
        bytes: checked.parcel.bytes(),
        found: checked.found(),
    }));

    // 3. The platform.
    let context = UploadContext { env, interrupt: &interrupt, screen: &screen, reporter: &reporter };
    let uploaded = deliver(&target, &args.bundle, &checked, &context)
        .map_err(|failure| failed(failure, &args.bundle, again(args)))?;
    if args.quiet {
        // Ignore a closed pipe.
        let _ = writeln!(io::stdout(), "{}", uploaded.url);
    }
    Ok(Exit::Success)
}

/// The platform that the collection will be uploaded to, if any, before anything is collected.
pub(super) fn intended(
    args: &CollectArgs,
    config: &Config,
    env: &Env,
    reporter: &dyn Reporter,
) -> Result<Option<UploadTarget>, Error> {
    if !args.upload {
        return Ok(None);
    }
    let upload =
        config.upload.clone().ok_or_else(|| Error::UploadNotConfigured { config: config.path.clone() })?;
    let target = target(upload, env, true)?;
    reporter.event(Event::Upload(Uploading::Intended));
    Ok(Some(target))
}

/// Signs in, and asks whether the platform would accept a bundle signed with this key.
///
/// # Errors
///
/// Fails if it would not. A platform that does not answer now may do so after the collection: that is an error in a dry
/// run only.
pub(super) fn check(
    target: &UploadTarget,
    signer: &KeyId,
    dry_run: bool,
    context: &UploadContext<'_>,
) -> Result<(), Error> {
    let brief = target.clone().briefly();
    let target = if dry_run { target } else { &brief };
    let upload =
        Upload::new(target, context.env, context.screen, context.reporter).map_err(Error::UploadCheck)?;
    match block_on(context.interrupt, upload.check(signer)) {
        Err(UploadError::Interrupted(exit)) => Err(Error::Interrupted { exit, help: None }),
        Err(failure) if !dry_run && failure.is_silence() => {
            let text = format!("{failure}; the upload is tried again after the collection");
            context.reporter.event(Event::Upload(Uploading::Unanswered(&text)));
            Ok(())
        }
        checked => checked.map_err(Error::UploadCheck),
    }
}

/// Runs `work` until it finishes or a signal arrives.
fn block_on<T>(
    interrupt: &Interrupt,
    work: impl Future<Output = Result<T, UploadError>>,
) -> Result<T, UploadError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        UploadError::Client(format!("cannot start: the operating system refused a resource: {error}"))
    })?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = work => outcome,
            exit = interrupt.wait() => Err(UploadError::Interrupted(exit)),
        }
    });
    // Dropping the runtime would wait for a pending name resolution, even after Ctrl-C.
    runtime.shutdown_background();
    outcome
}

/// Uploads the new bundle, unless it is incomplete and only complete bundles may be uploaded.
pub(super) fn collected(
    target: &UploadTarget,
    new: &NewBundle<'_>,
    context: &UploadContext<'_>,
) -> Result<(), Error> {
    let over = |uploaded| {
        let kept = new.bundle.symlink_metadata().is_ok();
        context.reporter.event(Event::Upload(Uploading::Over { uploaded, kept }));
    };
    if !new.complete && target.config.require_complete {
        let text = "not uploaded: the bundle is incomplete, and upload.require_complete is set";
        context.reporter.event(Event::Upload(Uploading::Note(text)));
        over(false);
        return Ok(());
    }
    let mut trust = TrustRoot::new();
    trust.add_key("your own signing key", new.key);
    let trust = target.config.verify_before_upload.then_some(&trust);
    let uploaded = check_bundle(new.bundle, trust, context.interrupt)
        .map_err(|failure| match context.interrupt.raised() {
            Some(exit) => UploadError::Interrupted(exit),
            None => UploadError::Local(Chain(&failure).to_string()),
        })
        .and_then(|checked| deliver(target, new.bundle, &checked, context));
    over(uploaded.is_ok());
    uploaded.map(|_| ()).map_err(|failure| failed(failure, new.bundle, new.again.clone()))
}

fn failed(failure: UploadError, bundle: &Path, again: String) -> Error {
    Error::Upload { failure, bundle: bundle.to_path_buf(), again }
}

/// Sends the parcel and reports the result.
fn deliver(
    target: &UploadTarget,
    bundle: &Path,
    checked: &CheckedBundle,
    context: &UploadContext<'_>,
) -> Result<Uploaded, UploadError> {
    let upload = Upload::new(target, context.env, context.screen, context.reporter)?;
    let uploaded = block_on(context.interrupt, upload.run(&checked.parcel, checked.signer()))?;
    let bundle_id = checked.bundle_id().unwrap_or(&uploaded.bundle_id);
    context.reporter.event(Event::Upload(Uploading::Done {
        url: &uploaded.url,
        bundle_id,
        organization: &uploaded.organization,
        already: uploaded.already,
    }));
    if bundle_id != uploaded.bundle_id {
        let text = format!("the platform uses its own id for the bundle: {}", uploaded.bundle_id);
        context.reporter.event(Event::Upload(Uploading::Note(&text)));
    }
    if target.config.delete_after_upload {
        let text = match delete(bundle, &checked.file) {
            Ok(()) => "the local bundle was deleted (upload.delete_after_upload)".to_string(),
            Err(error) => format!("the local bundle was not deleted: {error}"),
        };
        context.reporter.event(Event::Upload(Uploading::Note(&text)));
    }
    Ok(uploaded)
}

/// Deletes the bundle, if the path still refers to the file that was sent.
fn delete(bundle: &Path, sent: &File) -> io::Result<()> {
    if !file::is_named(sent, bundle)? {
        return Err(io::Error::other("the path now names another file, or a link"));
    }
    fs::remove_file(bundle)
}

/// The configuration, overridden by the command line.
fn configuration(args: &UploadArgs, env: &Env) -> Result<UploadConfig, Error> {
    let unused = if args.endpoint.is_some() { UNUSED_WITH_ENDPOINT } else { UNUSED };
    let file = ConfigFile::new(args.config.as_deref(), unused);
    let file = Some(file).filter(|file| args.config.is_some() || file.path().exists());
    let configured = file.map(|file| Config::load(file, env)).transpose().map_err(Error::Config)?;
    let usage = |flag: &str, complaint: Complaint, help: &str| Error::Usage {
        message: format!("{flag}: {}", complaint.message),
        help: complaint.help.unwrap_or_else(|| help.to_string()),
    };
    let named = match &args.endpoint {
        Some(text) => {
            let help = "write it in full, for example `https://evidence.example.com`";
            Some(endpoint(text).map_err(|complaint| usage("--endpoint", complaint, help))?)
        }
        None => None,
    };
    let mut upload = match (configured.as_ref().and_then(|config| config.upload.clone()), named) {
        (Some(upload), None) => upload,
        (Some(upload), Some(url)) if upload.api_url == url && args.config.is_some() => upload,
        // The configured `platform_url` belongs to another platform, or was not approved.
        (Some(upload), Some(url)) => UploadConfig { platform_url: url.clone(), api_url: url, ..upload },
        (None, Some(url)) => UploadConfig::at(url),
        (None, None) => return Err(no_platform(file.map(ConfigFile::path))),
    };
    if let Some(organization) = &args.organization {
        upload.organization_id = Some(organization.clone());
    }
    for text in &args.tag {
        let (name, value) =
            tag(text).map_err(|complaint| usage("--tag", complaint, "write `--tag name=text`"))?;
        upload.tags.insert(name, value);
    }
    Ok(upload)
}

fn no_platform(config: Option<&Path>) -> Error {
    let help = match config {
        Some(path) => format!(
            "set --endpoint, or add an `upload:` section with `api_url` to {}",
            Printable(&path.to_string_lossy())
        ),
        None => "set --endpoint, or name a configuration with --config".to_string(),
    };
    Error::Usage { message: "no evidence platform is configured".to_string(), help }
}

fn target(config: UploadConfig, env: &Env, collecting: bool) -> Result<UploadTarget, Error> {
    Proxy::from_env(env).check([&config.api_url]).map_err(Error::Proxy)?;
    UploadTarget::new(config, env).map_err(|source| Error::ApiKey { source, collecting })
}

/// The keys that `evidence verify` would trust: a configuration counts only if it was given explicitly.
fn trusted(args: &UploadArgs, env: &Env) -> Result<TrustRoot, Error> {
    trust::trust_root(&TrustArgs { config: args.config.clone(), ..TrustArgs::default() }, env)
}

/// The command that repeats this upload.
fn again(args: &UploadArgs) -> String {
    let mut text = format!("evidence upload {}", shell::path(&args.bundle));
    let config = args.config.as_ref().map(|config| format!(" --config {}", shell::path(config)));
    let endpoint = args.endpoint.as_ref().map(|endpoint| format!(" --endpoint {}", shell::word(endpoint)));
    let organization =
        args.organization.as_ref().map(|name| format!(" --organization {}", shell::word(name)));
    let tags = args.tag.iter().map(|tag| format!(" --tag {}", shell::word(tag)));
    text.extend(config.into_iter().chain(endpoint).chain(organization).chain(tags));
    Printable(&text).to_string()
}

/// A checked bundle, still open.
struct CheckedBundle {
    file: Arc<File>,
    parcel: UploadFile,
    judged: LocalVerdict,
}

/// The result of the check.
#[derive(Debug)]
enum LocalVerdict {
    Verified { signer: KeyId, bundle_id: String, trusted_by: String, complete: bool },
    NotAuthenticated { signer: KeyId, bundle_id: String },
    NotVerified,
}

impl CheckedBundle {
    /// The key that signed it, if known.
    fn signer(&self) -> Option<&KeyId> {
        match &self.judged {
            LocalVerdict::Verified { signer, .. } | LocalVerdict::NotAuthenticated { signer, .. } => {
                Some(signer)
            }
            LocalVerdict::NotVerified => None,
        }
    }

    /// The id in its manifest, if known.
    fn bundle_id(&self) -> Option<&str> {
        match &self.judged {
            LocalVerdict::Verified { bundle_id, .. } | LocalVerdict::NotAuthenticated { bundle_id, .. } => {
                Some(bundle_id)
            }
            LocalVerdict::NotVerified => None,
        }
    }

    fn found(&self) -> LocalResult<'_> {
        match &self.judged {
            LocalVerdict::Verified { trusted_by, complete, .. } => {
                LocalResult::Verified { trusted_by, complete: *complete }
            }
            LocalVerdict::NotAuthenticated { .. } => LocalResult::NotAuthenticated,
            LocalVerdict::NotVerified => LocalResult::NotVerified,
        }
    }
}

/// The error for a bundle that is not sent at all.
fn unsent(failure: Failure, bundle: &Path) -> Error {
    let bundle = bundle.to_path_buf();
    let help = match failure {
        Failure::NotWhatWasSigned(source) => return Error::Tampered { bundle, source },
        Failure::NewerVersion(_) => {
            "install a newer version of evidence, or upload with the version that wrote the bundle; nothing was sent"
        }
        Failure::IntactNotAuthenticated(_) | Failure::CannotJudge(_) => {
            "name a bundle written by `evidence collect`; nothing was sent"
        }
    };
    Error::NotJudged { bundle, source: failure, help }
}

/// Opens the bundle, verifies it if there is a trust root, and computes its digest in the same pass, so that the bytes
/// sent later are the bytes verified.
fn check_bundle(
    bundle: &Path,
    trust: Option<&TrustRoot>,
    interrupt: &Interrupt,
) -> Result<CheckedBundle, Failure> {
    let file = Arc::new(input::open(bundle).map_err(Failure::CannotJudge)?);
    let mut reader = Hashing::new(interrupt.guard(&*file));
    let judged = match trust {
        None => LocalVerdict::NotVerified,
        Some(trust) => {
            let buffered = BufReader::with_capacity(BUFFER, &mut reader);
            let verdict =
                evidence_rules::repeat::verify(buffered, trust, &Expectations::default(), &Limits::default());
            match verdict {
                Ok(bundle) => LocalVerdict::Verified {
                    signer: bundle.key_id,
                    bundle_id: bundle.manifest.bundle_id,
                    trusted_by: bundle.trusted_by,
                    complete: bundle.manifest.complete,
                },
                Err(Failure::IntactNotAuthenticated(intact)) => {
                    LocalVerdict::NotAuthenticated { signer: intact.key_id, bundle_id: intact.bundle_id }
                }
                Err(failure) => return Err(failure),
            }
        }
    };
    // Reads an unverified bundle; verification has read a verified one to its end.
    io::copy(&mut reader, &mut io::sink()).map_err(Failure::CannotJudge)?;
    let (sha256, bytes) = reader.finish();
    let parcel = UploadFile::new(Arc::clone(&file), bytes, sha256);
    Ok(CheckedBundle { file, parcel, judged })
}
