//! The code host: organizations, repositories, tokens and limits, with the answers of the real service.
//!
//! The state is plain data with a builder; serving it changes nothing in it except the limits' counters. Comments
//! mark texts and rules of the real host that are not known for certain.

mod access;
mod app;
mod app_endpoints;
mod change;
mod contents;
mod endpoints;
mod file;
mod fleet;
mod fnmatch;
mod limits;
mod live;
mod organization;
mod organization_body;
mod paging;
mod part;
mod parts;
mod permission;
mod protection;
mod quota;
mod reply;
mod repository;
mod repository_body;
mod routes;
mod ruleset;
mod state;
mod token;
mod version;
mod world;

pub use crate::fault::{BadLink, Body, Fault, FaultKind};
pub use crate::server::{Identity, Request};
pub use app::{App, Installation};
pub use change::{Change, Pushed};
pub use file::File;
pub(crate) use fleet::Fleet;
pub use limits::{Limits, Primary, Reset, Secondary};
pub(crate) use live::Live;
pub use organization::{Affiliation, Organization, Person, Sso};
pub use permission::{Endpoint, Permission};
pub use protection::{Actors, Protection, Reviews, StatusChecks};
pub(crate) use quota::{USER_IN_LIMIT_MESSAGES, primary_limit_body, secondary_limit_body};
pub(crate) use reply::moved_body;
pub use repository::{Repository, Visibility};
pub use ruleset::{Bypass, BypassMode, Enforcement, Ruleset, Target};
pub use state::CodeHost;
pub use token::{Role, Selection, Token, TokenKind};

use crate::clock::Clock;
use crate::server;
use std::io;
use std::sync::Arc;

/// A running code host.
pub type Server = server::Server<CodeHost>;

impl CodeHost {
    /// Serves it on a loopback port until the server is dropped.
    ///
    /// # Errors
    /// Fails if no port or thread is available.
    pub fn serve(self) -> io::Result<Server> {
        let clock = Clock::new(self.hands.clone());
        clock.set_offset(self.clock_offset_seconds);
        Server::start(self.settings(), clock.clone(), move |url| {
            let live = Arc::new(Live::new(self, url, clock));
            (live.clone(), Some(live))
        })
    }
}
