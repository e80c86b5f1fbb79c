//! The normal output of an upload: how it goes on stderr, what came of it on stdout.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use evidence_bundle::text::Printable;
use indicatif::{ProgressBar, ProgressStyle};

use super::format::bytes;
use super::style::{BOLD, DIM, GREEN, YELLOW};
use super::terminal::{State, Terminal};
use super::wait::again_text;

/// How an upload goes.
#[derive(Debug)]
pub enum Uploading<'a> {
    /// The bundle of this collection is meant for a platform.
    Intended,
    /// The bundle was looked at on this machine.
    Checked {
        /// The file.
        bundle: &'a Path,
        /// Its size.
        bytes: u64,
        /// What was found.
        found: LocalResult<'a>,
    },
    /// The platform knows the key.
    Authenticated {
        /// The organization it belongs to.
        organization: &'a str,
        /// The platform.
        api_url: &'a str,
        /// What the key may do.
        role: Option<&'a str>,
    },
    /// A dry run: the platform trusts the signing key, or does not say whether it does.
    Signer {
        /// The name of the key.
        key: &'a str,
        /// Whether it says so.
        known: bool,
    },
    /// A bundle of this size is on its way.
    Sending(u64),
    /// So much of it has left.
    Sent(u64),
    /// It is no longer on its way.
    SendingOver,
    /// An attempt failed, and there will be another.
    Again {
        /// Why it failed.
        text: &'a str,
        /// Which attempt it was.
        attempt: u32,
        /// How many there are at most.
        of: u32,
        /// How long until the next.
        wait: Duration,
    },
    /// The platform has the bundle, and has verified it.
    Done {
        /// Where a person finds it.
        url: &'a str,
        /// Its id, from its manifest if that was read.
        bundle_id: &'a str,
        /// The organization it belongs to.
        organization: &'a str,
        /// It was there before.
        already: bool,
    },
    /// Something else worth knowing.
    Note(&'a str),
    /// There will be no upload any more, or it has failed or succeeded: what comes next.
    Over {
        /// The platform has it.
        uploaded: bool,
        /// The local bundle is still there.
        kept: bool,
    },
}

/// What the look at a bundle on this machine brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalResult<'a> {
    /// A trusted key signed it.
    Verified {
        /// Who trusts the key.
        trusted_by: &'a str,
        /// Everything that was asked for is in it.
        complete: bool,
    },
    /// It is whole, and no key to trust was named.
    NotAuthenticated,
    /// It was not looked at.
    NotVerified,
}

impl Terminal {
    pub(super) fn uploading(&self, event: &Uploading<'_>) {
        let mut state = self.state();
        match event {
            Uploading::Intended => state.upload_intended = true,
            Uploading::Checked { bundle, bytes: size, found } => {
                self.checked(&mut state, bundle, *size, *found)
            }
            Uploading::Authenticated { organization, api_url, role } => {
                self.section(&mut state, "Platform");
                let role = role.map(|role| format!(", role {role}")).unwrap_or_default();
                let text = self.safe(&format!("{organization} at {api_url}{role}"));
                self.item(&mut state, "platform", GREEN, "ok", &text);
            }
            Uploading::Signer { key, known: true } => {
                let text = format!("trusts the signing key {key}");
                self.item(&mut state, "platform", GREEN, "ok", &text);
            }
            Uploading::Signer { key, known: false } => {
                let text = format!("does not report whether it trusts the signing key {key}");
                self.item(&mut state, "platform", YELLOW, "note", &text);
            }
            Uploading::Sending(size) if self.is_terminal => {
                let bar = ProgressBar::new(*size);
                let style = ProgressStyle::with_template(
                    "  platform  {bar:30} {decimal_bytes} of {decimal_total_bytes}",
                )
                .unwrap_or_else(|_| ProgressStyle::default_bar());
                bar.set_style(style.progress_chars("━╸ "));
                state.sending = Some(bar);
            }
            Uploading::Sending(size) => {
                self.item(&mut state, "platform", DIM, "", &format!("sending {}", bytes(*size)));
            }
            Uploading::Sent(sent) => state.sending.iter().for_each(|bar| bar.set_position(*sent)),
            Uploading::SendingOver => {
                if let Some(bar) = state.sending.take() {
                    bar.finish_and_clear();
                }
            }
            Uploading::Again { text, attempt, of, wait } => {
                self.section(&mut state, "Platform");
                let text = again_text(&self.safe(text), *attempt, *of, *wait);
                self.item(&mut state, "platform", YELLOW, "wait", &text);
            }
            Uploading::Done { url, bundle_id, organization, already } => {
                let already = if *already { ", already stored" } else { "" };
                let line = self.safe(&format!("{organization}, bundle id {bundle_id}{already}"));
                let url = self.safe(url);
                // Behind a bundle's lines on stdout, or behind nothing there.
                let gap = if state.upload_intended { "\n" } else { "" };
                if !state.upload_intended {
                    self.line(&state, "");
                }
                // A closed pipe is the reader's business.
                let _ = writeln!(
                    anstream::stdout(),
                    "{gap}{BOLD}Upload{BOLD:#}\n  {url}\n  {line}, {GREEN}verified{GREEN:#}",
                );
            }
            Uploading::Note(text) => {
                self.section(&mut state, "Platform");
                self.item(&mut state, "platform", YELLOW, "note", &self.safe(text));
            }
            Uploading::Over { uploaded, kept } => {
                let next = state.next.take().filter(|_| *kept);
                if let Some((look, upload)) = next {
                    let upload = if *uploaded { String::new() } else { format!("\n  {upload}") };
                    let _ = writeln!(anstream::stdout(), "\n{BOLD}Next{BOLD:#}\n  {look}{upload}");
                }
            }
        }
    }

    fn checked(&self, state: &mut State, bundle: &Path, size: u64, found: LocalResult<'_>) {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
        self.section(state, "Platform");
        let name = self.safe(&Printable(&name).to_string());
        let (style, word, text) = match found {
            LocalResult::Verified { trusted_by, complete } => {
                let missing = if complete { "" } else { "; marked incomplete" };
                (GREEN, "ok", format!("verified, trusted by {}{missing}", self.safe(trusted_by)))
            }
            LocalResult::NotAuthenticated => {
                (YELLOW, "warn", "intact, not authenticated: no trusted key was given".to_string())
            }
            LocalResult::NotVerified => {
                (YELLOW, "warn", "not verified here (upload.verify_before_upload)".to_string())
            }
        };
        self.item(state, "local", style, word, &format!("{name}, {}, {text}", bytes(size)));
    }
}
