//! Ed25519 keys (RFC 8032): file formats, key ids, signing and strict verification.
//!
//! Nothing here opens a file, asks for a passphrase or prints a private key.

mod error;
mod id;
mod kind;
mod pem;
#[cfg(feature = "sign")]
mod private;
mod public;

pub use error::KeyError;
pub use id::{KeyId, NotAKeyId};
pub use kind::KeyKind;
pub(crate) use kind::is_ssh_algorithm;
#[cfg(feature = "sign")]
pub use private::{SigningKey, is_encrypted};
pub use public::{ALGORITHM, PublicKey, SIGNATURE_BYTES};
