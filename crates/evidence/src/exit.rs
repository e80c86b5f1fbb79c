//! How the process ends.

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, and nothing is missing.
    Success,
    /// Usage or configuration.
    Configuration,
    /// Credentials, authentication, network.
    Connection,
    /// An artifact could not be obtained.
    Collection,
    /// An artifact was left out as forbidden data.
    Policy,
    /// The bundle could not be made.
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
