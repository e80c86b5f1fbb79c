//! What WebAssembly calls: bytes in, bytes out. Nothing is decided here.
//!
//! Written by hand, since the glue of a library needs a program of the same version at build time. The page writes a
//! question where [`input`] says, calls [`ask`], and reads the answer where the four functions behind it say. Rust never
//! follows an address that the page gives.
#![allow(
    unsafe_code,
    reason = "WebAssembly exports and imports by unmangled names, which the lint counts as unsafe"
)]

use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Answer, Session};

/// Everything between two calls. WebAssembly has one thread, so that the lock is always free.
#[derive(Default)]
struct State {
    session: Option<Session>,
    question: Vec<u8>,
    answer: Answer,
}

static STATE: Mutex<State> = Mutex::new(State {
    session: None,
    question: Vec::new(),
    answer: Answer { document: Vec::new(), bytes: Vec::new() },
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Puts the next bytes of the bundle at `place`, at most `length`. Gives their number, 0 at the end, -1 for an error.
    fn read(place: *mut u8, length: usize) -> isize;
}

/// The bundle, as the page reads it.
struct Bundle;

impl Read for Bundle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the page writes at most `length` bytes at `place`, which is exactly this buffer; it returns before the
        // buffer is used again.
        let count = unsafe { read(buffer.as_mut_ptr(), buffer.len()) };
        match usize::try_from(count) {
            Ok(count) if count <= buffer.len() => Ok(count),
            _ => Err(io::Error::other("the browser could not read the file")),
        }
    }
}

/// Makes room for a question of this many bytes, and says where.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    let mut state = state();
    state.question = vec![0; length];
    state.question.as_mut_ptr()
}

/// Answers the question.
#[unsafe(no_mangle)]
extern "C" fn ask() {
    let mut state = state();
    let question = std::mem::take(&mut state.question);
    // What was answered before is given back first, since the next answer may be as large.
    state.answer = Answer::default();
    state.answer = state.session.get_or_insert_default().ask(&question, Bundle);
}

/// Where the document of the answer is.
#[unsafe(no_mangle)]
extern "C" fn document() -> *const u8 {
    state().answer.document.as_ptr()
}

/// How many bytes the document of the answer has.
#[unsafe(no_mangle)]
extern "C" fn document_length() -> usize {
    state().answer.document.len()
}

/// Where the bytes of the answer are.
#[unsafe(no_mangle)]
extern "C" fn bytes() -> *const u8 {
    state().answer.bytes.as_ptr()
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
extern "C" fn bytes_length() -> usize {
    state().answer.bytes.len()
}
