//! Judging what was collected: one control, one file.

pub mod codeowners;
