//! The hosts as state behind real ports.
