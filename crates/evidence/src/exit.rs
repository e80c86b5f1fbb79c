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
    /// Two bundles differ, or a gate given by `--fail-on` is not met.
    Differs,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// Every outcome, in the order of the documents.
    pub const ALL: [Exit; 11] = [
        Exit::Success,
        Exit::Configuration,
        Exit::Connection,
        Exit::Collection,
        Exit::Policy,
        Exit::Bundle,
        Exit::Upload,
        Exit::NotVerified,
        Exit::Differs,
        Exit::Interrupted,
        Exit::Terminated,
    ];

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
            Exit::Differs => 8,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }

    /// Its name in the documents and in `--help`.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Success => "success",
            Exit::Configuration => "configuration",
            Exit::Connection => "connection",
            Exit::Collection => "collection",
            Exit::Policy => "forbidden data",
            Exit::Bundle => "bundle",
            Exit::Upload => "upload",
            Exit::NotVerified => "not verified",
            Exit::Differs => "differs",
            Exit::Interrupted => "interrupted",
            Exit::Terminated => "terminated",
        }
    }

    /// What it means, for the documents and the manual pages.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Success => {
                "The command did everything you asked for. For `collect`: the bundle is written and complete."
            }
            Exit::Configuration => {
                "The command line, the configuration or the signing key is invalid; or a command that verifies \
                 bundles reached no verdict."
            }
            Exit::Connection => {
                "A credential is not set, or a host did not accept the connection test. For `collect` with several \
                 sources: it could not connect to at least one of them."
            }
            Exit::Collection => {
                "Something is missing: an artifact could not be obtained, the credentials may not read it, or the list \
                 of repositories is partial or cannot be confirmed."
            }
            Exit::Policy => "The run left out at least one artifact because it contained a credential.",
            Exit::Bundle => "The run could not create or write the bundle.",
            Exit::Upload => {
                "The platform did not accept or verify the bundle, or would not: then nothing was collected. A bundle \
                 that exists is kept."
            }
            Exit::NotVerified => {
                "A command that verifies bundles: a bundle, or with `--signature` the file, is not what a trusted key \
                 signed, or does not meet your expectations. With `--chain`: or a bundle is missing or in the wrong place."
            }
            Exit::Differs => {
                "`diff`: the bundles differ in what `--fail-on` names. `collect`, `show`: the gate given by `--fail-on` is not \
                 met. Only with that option; the codes 1 to 7 take precedence."
            }
            Exit::Interrupted => "Ctrl-C (SIGINT); on Windows also Ctrl-Break.",
            Exit::Terminated => "SIGTERM; on Windows a closed console window.",
        }
    }

    /// What to do about it, for the documents.
    pub fn remedy(self) -> &'static str {
        match self {
            Exit::Success => "Nothing. Read the results: failed checks do not change the code.",
            Exit::Configuration => {
                "Correct what the message names, then run again. Without a verdict: name a key with `--public-key`."
            }
            Exit::Connection => {
                "Set or replace the credential, or check the address, the network and the proxy. See whether there is \
                 an incomplete bundle."
            }
            Exit::Collection => {
                "Grant the permission that the message names, or collect again if the host failed."
            }
            Exit::Policy => "Remove the credential where it is stored, revoke it, and collect again.",
            Exit::Bundle => {
                "Free disk space, choose another directory with `--output`, or raise `bundle.max_size_mb`."
            }
            Exit::Upload => {
                "Follow the message, then run `evidence upload` with the bundle, or collect again if there is none."
            }
            Exit::NotVerified => {
                "Do not rely on the bundle. Ask the sender, and check that you have the right key."
            }
            Exit::Differs => "Read what differs or fails, and repair it or record a waiver.",
            Exit::Interrupted | Exit::Terminated => {
                "Run again, with `--resume` if `revalidate: true` is set."
            }
        }
    }

    /// Every code with its name, for the end of `--help`.
    pub fn summary() -> String {
        let each = Exit::ALL.map(|exit| format!("{} {}", exit.code(), exit.name()));
        format!("Exit codes: {}", each.join(", "))
    }
}
