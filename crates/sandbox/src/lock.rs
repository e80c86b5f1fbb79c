//! Locks of state that tests share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panicking test thread cannot poison for the others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
