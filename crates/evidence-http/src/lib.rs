//! Requests to hosts over HTTP: the only crate that names the HTTP client.
//!
//! The parts that decide (`link`, `redirect`, `retry`, `quota`, `pace`, `concurrency`, `standing`, `circuit`) are pure: they take
//! headers and times, and never send, sleep or read a clock. `gate` holds their state for all workers; `client` sends, and `understand` reads what came back.
//! `proxy` knows the proxy of the environment, `permanent` why a connection failed. `cache` keeps answers, and
//! `revalidate` asks the host whether they still hold.
//!
//! Callers provide what differs between hosts as a [`Dialect`], a [`Credential`] and a list of [`Call`]s, and receive
//! waits and requests through a [`Watch`]. The crate depends on no particular host, no configuration and no use of an answer.
//!
//! It never sends a host anything but GET and questions by POST, follows a redirect away from the host's origin,
//! prints, shows a credential, or reads more of a body than the caller allows. Only an [`UploadClient`] sends something for
//! the host to keep, and a source has none.

mod beside;
mod budgets;
pub mod cache;
pub mod call;
mod circuit;
pub mod client;
pub mod clock;
pub mod concurrency;
mod credential;
mod exchange;
mod framing;
mod gate;
pub mod link;
mod login;
pub mod pace;
mod permanent;
pub mod proxy;
pub mod quota;
mod redirect;
pub mod reply;
pub mod request;
pub mod retry;
pub mod revalidate;
mod settings;
mod setup;
mod standing;
mod trail;
mod understand;
mod upload;
mod upload_client;
mod watch;
mod words;
mod work;

pub use budgets::Budgets;
pub use call::{AskedAbout, Call, Keeping, Subject};
pub use circuit::GivenUp;
pub use client::Client;
pub use credential::{Anonymous, Credential};
pub use gate::PAUSE_THRESHOLD;
pub use login::{Lease, Login, Renewal, RenewalTerms, bearer};
pub use permanent::{HelpTarget, PermanentFailure};
pub use proxy::{Proxy, Variables};
pub use quota::Budget;
pub use reply::{Answered, CallError, FailureKind, Meta, Refused, Reply, RequestFailure};
pub use request::{Answer, Dialect, Meaning, Method, ParseError, Request};
pub use settings::ClientSettings;
pub use standing::Standing;
pub use trail::{Asked, recorded, replay};
pub use upload::{Invalidated, UploadFile};
pub use upload_client::{UploadClient, UploadRequest};
pub use watch::{Exchanged, WaitReason, Watch};
pub use words::single_line;
