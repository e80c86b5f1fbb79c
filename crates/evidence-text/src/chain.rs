//! An error with its causes.

use std::error::Error;
use std::fmt;

/// Displays an error and its causes, each after a colon. Omits a cause that the text before it already contains, since
/// errors of some libraries repeat theirs.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'a>(pub &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = self.0.to_string();
        f.write_str(&before)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !before.contains(&text) {
                write!(f, ": {text}")?;
            }
            before = text;
            cause = error.source();
        }
        Ok(())
    }
}
