//! Normal output of an upload: progress on stderr, the result on stdout.

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use super::event::{LocalResult, Uploading};
use super::style::{BOLD, DIM, GREEN, YELLOW};
use super::terminal::{State, Terminal};
use super::wait::again_text;
use crate::console;
use evidence_text::shown::bytes;
use evidence_text::{Safe, safe};

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
                // `collect --upload` signs in before and after the collection.
                if state.platform.as_ref() != Some(&text) {
                    self.item(&mut state, "platform", GREEN, "ok", &text);
                }
                state.platform = Some(text);
            }
            Uploading::Signer { key, known: true } => {
                let text = self.safe(&format!("trusts the signing key {key}"));
                self.item(&mut state, "platform", GREEN, "ok", &text);
            }
            Uploading::Signer { key, known: false } => {
                let text = self.safe(&format!("does not report whether it trusts the signing key {key}"));
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
                self.item(&mut state, "platform", DIM, "", &safe!("sending {}", bytes(*size)));
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
                // An empty line separates this from the bundle's lines on stdout, if any.
                let gap = if state.upload_intended { "\n" } else { "" };
                if !state.upload_intended {
                    self.line(&state, &Safe::default());
                }
                console::print(&safe!(
                    "{gap}{BOLD}Upload{BOLD:#}\n  {url}\n  {line}, {GREEN}verified{GREEN:#}\n";
                    gap, BOLD, url, line, GREEN
                ));
            }
            Uploading::Unanswered(text) => {
                self.section(&mut state, "Platform");
                self.item(&mut state, "platform", YELLOW, "warn", &self.safe(text));
            }
            Uploading::Note(text) => {
                self.section(&mut state, "Platform");
                self.item(&mut state, "platform", YELLOW, "note", &self.safe(text));
            }
            Uploading::Over { uploaded, kept } => {
                let next = state.next.take().filter(|_| *kept);
                if let Some((check, upload)) = next {
                    let upload = if *uploaded { Safe::default() } else { safe!("\n  {upload}"; upload) };
                    console::print(&safe!("\n{BOLD}Next{BOLD:#}\n  {check}{upload}\n"; BOLD, check, upload));
                }
            }
        }
    }

    fn checked(&self, state: &mut State, bundle: &Path, size: u64, found: LocalResult<'_>) {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str()).to_string_lossy();
        self.section(state, "Platform");
        let name = self.safe(&name);
        let (style, word, text) = match found {
            LocalResult::Verified { trusted_by, complete } => {
                let missing = if complete { "" } else { "; marked incomplete" };
                (GREEN, "ok", safe!("verified, trusted by {}{missing}", self.safe(trusted_by); missing))
            }
            LocalResult::NotAuthenticated => {
                (YELLOW, "warn", "intact, not authenticated: no trusted key was given".into())
            }
            LocalResult::NotVerified => {
                (YELLOW, "warn", "not verified here (upload.verify_before_upload)".into())
            }
        };
        self.item(state, "local", style, word, &safe!("{name}, {}, {text}", bytes(size); name, text));
    }
}
