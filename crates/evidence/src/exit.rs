//! Exit codes.

/// The outcome of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success, with nothing missing.
    Success,
    /// A usage or configuration error.
    Configuration,
    /// A credential, authentication or network error.
    Connection,
    /// An artifact could not be obtained.
    Collection,
    /// An artifact was excluded because it held forbidden data.
    Policy,
    /// The bundle could not be created.
    Bundle,
    /// The upload failed.
    Upload,
    /// `verify`: the bundle was not signed by a trusted key, or was changed.
    NotVerified,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Configuration => 1,
            Exit::Connection => 2,
            Exit::Collection => 3,
            Exit::Policy => 4,
            Exit::Bundle => 5,
            Exit::Upload => 6,
            Exit::NotVerified => 7,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}
