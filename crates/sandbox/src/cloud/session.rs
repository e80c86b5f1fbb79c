//! Issued temporary credentials. They are stored beside the state and expire by themselves.

use crate::lock::lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// All issued credentials.
#[derive(Default)]
pub(super) struct Sessions {
    issued: Mutex<HashMap<String, Issued>>,
    number: AtomicU64,
}

/// One issued credential. No `Debug`.
#[derive(Clone)]
pub(super) struct Issued {
    pub(super) access_key: String,
    pub(super) secret: String,
    pub(super) token: String,
    /// The account of the role.
    pub(super) account: String,
    pub(super) role: String,
    pub(super) session_name: String,
    /// Seconds since 1970.
    pub(super) expires: i64,
}

impl Sessions {
    pub(super) fn issue(&self, account: &str, role: &str, session_name: &str, expires: i64) -> Issued {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let seed =
            format!("{account} {role} {session_name} {expires} {number} {:?}", std::time::Instant::now());
        let long: Vec<u8> = (0u8..12).flat_map(|part| digest(part, &seed)).collect();
        let issued = Issued {
            access_key: identifier("ASIA", 16, &seed),
            secret: STANDARD.encode(digest(100, &seed)).chars().take(40).collect(),
            token: format!("IQoJb3JpZ2luX2VjE{}", STANDARD.encode(long)),
            account: account.to_owned(),
            role: role.to_owned(),
            session_name: session_name.to_owned(),
            expires,
        };
        lock(&self.issued).insert(issued.access_key.clone(), issued.clone());
        issued
    }

    pub(super) fn find(&self, access_key: &str) -> Option<Issued> {
        lock(&self.issued).get(access_key).cloned()
    }
}

fn digest(salt: u8, seed: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update([salt]);
    hasher.update(seed.as_bytes());
    hasher.finalize().into()
}

/// An identifier in the provider's form: a prefix and upper-case base 32, derived from the seed.
pub(super) fn identifier(prefix: &str, length: usize, seed: &str) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let letters = digest(101, seed).into_iter().chain(digest(102, seed));
    let letters =
        letters.filter_map(|byte| ALPHABET.get(usize::from(byte % 32)).map(|letter| char::from(*letter)));
    prefix.chars().chain(letters.take(length)).collect()
}
