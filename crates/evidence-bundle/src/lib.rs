//! The signed evidence bundle.
