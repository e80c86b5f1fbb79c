//! `--quiet`: on stdout the path of the bundle and nothing else.
//!
//! Errors are not this reporter's: a run that fails says why on stderr, quiet or not.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use super::{Event, Reporter};
use crate::screen::Screen;

/// Prints the path of the bundle.
#[derive(Debug, Default)]
pub struct Quiet;

impl Reporter for Quiet {
    fn event(&self, event: Event<'_>) {
        if let Event::Delivered { path, .. } = event {
            // The path's own bytes: a script must be able to open what it reads here. A closed pipe is the reader's
            // business.
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(path.as_os_str().as_bytes()).and_then(|()| out.write_all(b"\n"));
        }
    }

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}
