//! The WebAssembly interface: bytes in, bytes out, without logic.
//!
//! Written by hand, since the bindings of a library need a program of the same version at build time. The page writes a
//! question to the address from [`input`], calls [`ask`], and reads the answer from the addresses that the four
//! functions below it return. Rust never follows an address that the page provides.
#![allow(
    unsafe_code,
    reason = "WebAssembly exports and imports by unmangled names, which the lint counts as unsafe"
)]

use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Answer, Session};

/// The state between two calls. WebAssembly has one thread, so the lock is always free.
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
    /// Writes the next bytes of the bundle to `place`, at most `length`. Returns their number, 0 at the end, -1 for an
    /// error.
    fn read(place: *mut u8, length: usize) -> isize;
}

/// The bundle, as the page reads it.
struct Bundle;

impl Read for Bundle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the page writes at most `length` bytes to `place`, which is exactly this buffer, and returns before
        // the buffer is used again.
        let count = unsafe { read(buffer.as_mut_ptr(), buffer.len()) };
        match usize::try_from(count) {
            Ok(count) if count <= buffer.len() => Ok(count),
            _ => Err(io::Error::other("the browser could not read the file")),
        }
    }
}

/// Allocates a question of this many bytes, and returns its address.
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
    // Free the previous answer first, since the next one may be as large.
    state.answer = Answer::default();
    state.answer = state.session.get_or_insert_default().ask(&question, Bundle);
}

/// The address of the answer's document.
#[unsafe(no_mangle)]
extern "C" fn document() -> *const u8 {
    state().answer.document.as_ptr()
}

/// The length of the answer's document.
#[unsafe(no_mangle)]
extern "C" fn document_length() -> usize {
    state().answer.document.len()
}

/// The address of the answer's bytes.
#[unsafe(no_mangle)]
extern "C" fn bytes() -> *const u8 {
    state().answer.bytes.as_ptr()
}

/// The number of the answer's bytes.
#[unsafe(no_mangle)]
extern "C" fn bytes_length() -> usize {
    state().answer.bytes.len()
}
